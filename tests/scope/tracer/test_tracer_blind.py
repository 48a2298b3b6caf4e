"""Where a tracer was disturbed, or could not follow, it says so, or is right: never silently wrong (contract S2)."""

from __future__ import annotations

import sys
from typing import Any

import pytest

M = "def f():\n    return 1\n\ndef g():\n    return 2\n"

DISTURBING = {
    "settrace": "import sys; sys.settrace(lambda *a: None); import m; m.f()",
    "settrace, put back": "import sys, m; old = sys.gettrace(); sys.settrace(None); m.f(); sys.settrace(old)",
    "settrace, in a thread": """
        import sys, threading, m
        def run():
            sys.settrace(None)
            m.f()
        one = threading.Thread(target=run); one.start(); one.join()
    """,
    "threading.settrace, put back": """
        import threading, m
        old = threading.gettrace(); threading.settrace(lambda *a: None)
        one = threading.Thread(target=m.f); one.start(); one.join()
        threading.settrace(old)
    """,
    "setprofile": "import sys, m; sys.setprofile(lambda *a: None); m.f(); sys.setprofile(None)",
    "profiler": "import cProfile, m; p = cProfile.Profile(); p.enable(); m.f(); p.disable()",
    "coverage": """
        import coverage, m
        c = coverage.Coverage(data_file=None, config_file=False); c.start(); m.f(); c.stop()
    """,
    "coverage that goes on": "import coverage, m; c = coverage.Coverage(data_file=None); c.start(); m.f()",
    "coverage by sys.monitoring": """
        import coverage, m, os, sys
        os.environ["COVERAGE_CORE"] = "sysmon" if hasattr(sys, "monitoring") else "ctrace"
        c = coverage.Coverage(data_file=None, config_file=False); c.start(); m.f(); c.stop()
    """,
    "raw threads": """
        import _thread, m
        done = _thread.allocate_lock(); done.acquire()
        def run():
            m.f(); done.release()
        _thread.start_new_thread(run, ()); done.acquire()
    """,
}

MONITORING = {
    "events switched off": "import sys, m; [sys.monitoring.set_events(t, 0) for t in (4, 5)]; m.f()",
    "tools freed": "import sys, m; [sys.monitoring.free_tool_id(t) for t in (4, 5)]; m.f()",
    "tools taken": """
        import sys, m
        for t in (4, 5):
            sys.monitoring.free_tool_id(t)
            sys.monitoring.use_tool_id(t, "mine")
        m.f()
    """,
    "callbacks replaced": """
        import sys, m
        for t in (4, 5):
            for e in (sys.monitoring.events.LINE, sys.monitoring.events.PY_START):
                sys.monitoring.register_callback(t, e, None)
        m.f()
    """,
    "a tool of its own, by the book": """
        import sys, m
        t = next(t for t in range(6) if sys.monitoring.get_tool(t) is None)
        sys.monitoring.use_tool_id(t, "mine")
        e = sys.monitoring.events
        sys.monitoring.register_callback(t, e.LINE, lambda *a: sys.monitoring.DISABLE)
        sys.monitoring.set_events(t, e.LINE | e.PY_START)
        m.f()
        sys.monitoring.set_events(t, 0); sys.monitoring.free_tool_id(t)
    """,
    "everything restarted": "import sys, m; m.f(); sys.monitoring.restart_events(); m.f()",
}


def alive_or_right(steps: Any, what: str) -> None:
    steps.write("m.py", M)
    found = steps.run("# untraced\nimport m", what, "import m; m.f()", "import m; m.g()")
    for name, line in (("step-2", 2), ("step-3", 2), ("step-4", 5)):
        one = found[name]
        assert line in one.lines.get("m.py", []) or not one.alive or one.spawned, (name, one)


@pytest.mark.parametrize("what", list(DISTURBING), ids=lambda name: name.replace(" ", "-"))
def test_a_step_that_disturbs_the_tracer_is_traced_all_the_same_or_counts_as_not_traced(steps: Any, what: str) -> None:
    if "coverage" in what:
        pytest.importorskip("coverage", reason="coverage.py is not installed")
    alive_or_right(steps, DISTURBING[what])


@pytest.mark.skipif(not hasattr(sys, "monitoring"), reason="sys.monitoring is new in Python 3.12")
@pytest.mark.parametrize("what", list(MONITORING), ids=lambda name: name.replace(" ", "-"))
def test_a_step_that_uses_monitoring_itself_is_traced_or_counts_as_not_traced(steps_of: Any, what: str) -> None:
    alive_or_right(steps_of("monitoring"), MONITORING[what])


@pytest.mark.skipif(not hasattr(sys, "monitoring"), reason="sys.monitoring is new in Python 3.12")
@pytest.mark.parametrize("what", ["events switched off", "tools freed", "callbacks replaced"])
def test_the_step_after_one_that_took_the_tools_away_is_traced_again(steps_of: Any, what: str) -> None:
    steps = steps_of("monitoring")
    steps.write("m.py", M)
    found = steps.run("# untraced\nimport m", MONITORING[what], "import m; m.f(); m.g()")
    assert not found["step-2"].alive
    assert found["step-3"].alive
    assert {2, 5} <= set(found["step-3"].lines["m.py"])


@pytest.mark.skipif(not hasattr(sys, "monitoring"), reason="sys.monitoring is new in Python 3.12")
def test_without_a_free_tool_nothing_is_alive_and_the_reason_is_told(steps_of: Any) -> None:
    steps = steps_of("monitoring")
    steps.write("m.py", M)
    found = steps.run("import m; m.f()", before="import sys; sys.monitoring.use_tool_id(4, 'mine')")
    assert (found["step-1"].alive, found["step-1"].trouble) == (False, "no tool of sys.monitoring was free for it")


def test_a_process_that_is_not_disturbed_is_alive(steps: Any) -> None:
    steps.write("m.py", M)
    found = steps.run("import m; m.f()", "pass")
    assert [(one.alive, one.spawned, one.trouble) for one in found.values()] == [(True, "", "")] * 3


SPAWNING = {
    "subprocess": "import subprocess, sys; subprocess.run([sys.executable, '-c', ''])",
    "system": "import os; os.system('true')",
    "popen": "import os; p = os.popen('true'); p.read(); p.close()",
    "fork": "import os; pid = os.fork() or os._exit(0); os.waitpid(pid, 0)",
    "posix_spawn": "import os; os.waitpid(os.posix_spawn('/bin/sh', ['sh', '-c', 'true'], os.environ), 0)",
    "multiprocessing, forked": """
        import multiprocessing
        p = multiprocessing.get_context("fork").Process(target=print); p.start(); p.join()
    """,
    "multiprocessing, spawned": """
        import multiprocessing
        p = multiprocessing.get_context("spawn").Process(target=print); p.start(); p.join()
    """,
    "native code": "import ctypes; ctypes.CDLL('libc.so.6')",
    "a thread that goes on": """
        import threading, time
        threading.Thread(target=time.sleep, args=(1,), daemon=True).start()
    """,
}


@pytest.mark.parametrize("what", list(SPAWNING), ids=lambda name: name.replace(" ", "-"))
def test_what_a_step_starts_and_no_tracer_follows_is_said(steps: Any, what: str) -> None:
    found = steps.run("# untraced\nimport ctypes", SPAWNING[what], "pass")
    assert found["step-2"].spawned
    assert what == "a thread that goes on" or not found["step-3"].spawned


def test_whoever_runs_beside_a_process_of_another_step_is_not_followed_either(steps: Any) -> None:
    start = "import subprocess, builtins; builtins.kept = subprocess.Popen(['sleep', '2'])"
    found = steps.run(start, "pass", "import builtins; builtins.kept.kill(); builtins.kept.wait()", "pass")
    assert [bool(found[f"step-{n}"].spawned) for n in (1, 2, 3, 4)] == [True, True, False, False]


def test_files_that_are_read_and_folders_that_are_listed_are_the_steps_own(steps: Any) -> None:
    steps.write("data/a.json", "{}")
    steps.write("data/b.json", "{}")
    reads = "import os, pathlib, glob\n"
    reads += "open('data/a.json').read(); pathlib.Path('data/a.json').read_bytes(); glob.glob('data/*.json')"
    found = steps.run(reads, "open('data/b.json').close(); open('data/new.txt', 'w').close()", "pass")
    assert [found[f"step-{n}"].opened for n in (1, 2, 3)] == [["data/a.json"], ["data/b.json"], []]
    assert [found[f"step-{n}"].listed for n in (1, 2, 3)] == [["data"], [], []]


def test_a_file_that_is_opened_in_vain_counts_as_opened(steps: Any) -> None:
    assert steps.run("open('data/missing.json')")["step-1"].opened == ["data/missing.json"]


def test_a_link_to_a_file_of_the_tree_is_that_file_wherever_it_lies(steps: Any) -> None:
    steps.write("data/a.json", "{}")
    (steps.root / "link").symlink_to(steps.tree / "data" / "a.json")
    assert steps.run(f"open({str(steps.root / 'link')!r}).close()")["step-1"].opened == ["data/a.json"]


def test_files_outside_of_the_tree_are_nobodys(steps: Any) -> None:
    (steps.root / "out.txt").write_text("x")
    found = steps.run(f"import os; open({str(steps.root / 'out.txt')!r}).close(); os.listdir({str(steps.root)!r})")
    assert (found["step-1"].opened, found["step-1"].listed) == ([], [])


def test_what_an_import_reads_is_everybodys(steps: Any) -> None:
    steps.write("m.py", "import json, os\nT = json.load(open('table.json'))\nL = os.listdir('.')\n")
    steps.write("table.json", "{}")
    found = steps.run("import m")
    assert (found["outside"].opened, found["outside"].listed) == (["table.json"], [""])
    assert (found["step-1"].opened, found["step-1"].listed) == ([], [])


def test_a_source_is_opened_by_whoever_reads_it_as_text_each_time(steps: Any) -> None:
    steps.write("m.py", M)
    look = "import m, inspect; inspect.getsource(m.f)"
    found = steps.run("import m", look, look)
    assert [found[f"step-{n}"].opened for n in (1, 2, 3)] == [[], ["m.py"], ["m.py"]]


def test_a_database_counts_as_opened(steps: Any) -> None:
    assert steps.run("import sqlite3; sqlite3.connect('d.db').close()")["step-1"].opened == ["d.db"]


def test_a_name_that_no_file_can_have_is_the_steps_own_trouble(steps: Any) -> None:
    found = steps.run("import os\ntry:\n    os.listdir('a\\0b')\nexcept ValueError:\n    pass", "pass")
    assert found["step-2"].alive
