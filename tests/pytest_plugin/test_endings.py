"""How sessions end, and what a session that did not get to its end leaves behind (contract E3, E9, U3)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.pytest_plugin.conftest import Project, Session

    from admit.core.context import RunContext

GATES = ("fixture_check", "property_check", "flaky_freeze")

THREE = """
    import os, signal, sys, time, pytest
    def test_1(): pass
    def test_2(): {}
    def test_3(): pass
"""


def play(project: Project, body: str, *args: str, plugins: tuple[str, ...] = ()) -> Session:
    project.write("test_a.py", THREE.format(body))
    return project.run("-q", *args, plugins=plugins)


def checks(session: Session) -> list[tuple[str, str | None]]:
    """Return check and why of test_1 to test_3."""
    return [session.verdict("fixture_check", f"test_a.py::test_{n}")[:2] for n in (1, 2, 3)]


NEVER = ("not_run", "never_ran")
PASS = ("pass", None)
FAIL = ("fail", None)
INTERRUPTED = ("not_run", "interrupted")


@pytest.mark.parametrize(
    ("body", "args", "exit_code", "ended", "seen"),
    [
        pytest.param("pass", (), 0, "finished", [PASS, PASS, PASS], id="green"),
        pytest.param("assert 0", (), 1, "finished", [PASS, FAIL, PASS], id="red"),
        pytest.param("assert 0", ("-x",), 1, "finished", [PASS, FAIL, NEVER], id="exitfirst"),
        pytest.param("assert 0", ("--maxfail=1",), 1, "finished", [PASS, FAIL, NEVER], id="maxfail"),
        pytest.param("raise KeyboardInterrupt", (), 2, "interrupted", [PASS, INTERRUPTED, NEVER], id="interrupt"),
        pytest.param("pytest.exit('bye')", (), 2, "interrupted", [PASS, INTERRUPTED, NEVER], id="exit"),
        pytest.param("pytest.exit('b', 0)", (), 0, "interrupted", [PASS, INTERRUPTED, NEVER], id="exit-green"),
        pytest.param("pass", ("--collect-only",), 0, "finished", [NEVER, NEVER, NEVER], id="collect-only"),
        pytest.param("pass", ("--setup-only",), 0, "finished", [NEVER, NEVER, NEVER], id="setup-only"),
    ],
)
def test_a_session_says_how_it_ended(
    project: Project, body: str, args: tuple[str, ...], exit_code: int, ended: str, seen: list[tuple[str, str | None]]
) -> None:
    session = play(project, body, *args)
    assert (session.exit_code, session.ended()) == (exit_code, ended)
    assert checks(session) == seen
    assert session.planned("fixture_check") == [f"test_a.py::test_{n}" for n in (1, 2, 3)]
    closings = {(c.ended, c.exit_code) for gate in GATES if (c := session.document(gate).closing)}
    assert closings == {(ended, exit_code)}


def test_an_interruption_in_set_up_names_the_node_that_ran(project: Project) -> None:
    project.write("conftest.py", "import pytest\n@pytest.fixture\ndef stop(): raise KeyboardInterrupt\n")
    project.write("test_a.py", "def test_1(): pass\ndef test_2(stop): pass\ndef test_3(): pass\n")
    assert checks(project.run("-q")) == [PASS, INTERRUPTED, NEVER]


@pytest.mark.parametrize(
    ("body", "exit_code"),
    [
        pytest.param("os._exit(0)", 0, id="os._exit"),
        pytest.param("os.kill(os.getpid(), signal.SIGSEGV)", -signal.SIGSEGV, id="segfault"),
        pytest.param("os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL, id="kill-9"),
    ],
)
def test_a_run_that_died_leaves_its_records_and_no_end(project: Project, body: str, exit_code: int) -> None:
    session = play(project, body)
    assert session.exit_code == exit_code
    assert session.names("fixture_check") == ["test_a.py::test_1"]
    assert len(session.planned("fixture_check")) == 3
    for gate in GATES:
        assert session.ended(gate) is None
        assert session.document(gate).closing is None


def test_a_timeout_by_signal_is_no_verdict(project: Project) -> None:
    session = play(project, "time.sleep(30)", "--timeout=0.3", "--timeout-method=signal", plugins=("timeout",))
    assert checks(session) == [PASS, ("not_run", "timeout"), PASS]
    assert "Timeout" in session.node("fixture_check", "test_a.py::test_2")["message"]
    assert (session.exit_code, session.ended()) == (1, "finished")


def test_a_timeout_by_thread_kills_the_run(project: Project) -> None:
    session = play(project, "time.sleep(30)", "--timeout=0.3", "--timeout-method=thread", plugins=("timeout",))
    assert (session.exit_code, session.ended()) == (1, None)
    assert session.document("fixture_check").closing is None


def test_an_exit_status_that_a_hook_rewrote_disagrees(project: Project) -> None:
    project.write("conftest.py", "def pytest_sessionfinish(session): session.exitstatus = 0\n")
    session = play(project, "assert 0")
    assert (session.exit_code, session.ended()) == (0, "exit_disagrees")
    assert checks(session) == [PASS, FAIL, PASS]


def test_a_red_session_without_a_red_report_disagrees(project: Project) -> None:
    project.write("conftest.py", "def pytest_sessionfinish(session): session.exitstatus = 1\n")
    assert play(project, "pass").ended() == "exit_disagrees"


def test_an_internal_error_is_a_crash(project: Project) -> None:
    project.write("conftest.py", "def pytest_runtest_logfinish(nodeid): assert 'test_2' not in nodeid\n")
    session = play(project, "pass")
    assert (session.exit_code, session.ended()) == (3, "crashed")
    assert checks(session)[2] == NEVER


def test_a_collection_error_is_no_verdict_in_both_gates(project: Project) -> None:
    project.write("test_b.py", "import no_such_module\ndef test_b(): pass\n")
    session = play(project, "pass")
    for gate in ("fixture_check", "property_check"):
        message = "ModuleNotFoundError: No module named 'no_such_module'"
        assert session.verdict(gate, "test_b.py") == ("not_run", "error_collect", message)
    assert (session.exit_code, session.ended()) == (2, "interrupted")
    assert checks(session) == [NEVER, NEVER, NEVER]


def test_other_tests_count_where_pytest_goes_on_after_a_collection_error(project: Project) -> None:
    project.write("test_b.py", "syntax error\n")
    session = play(project, "pass", "--continue-on-collection-errors")
    assert session.node("property_check", "test_b.py")["why"] == "error_collect"
    assert (session.exit_code, session.ended()) == (1, "finished")
    assert checks(session) == [PASS, PASS, PASS]


def test_a_module_that_skips_itself_is_no_verdict_in_both_gates(project: Project) -> None:
    project.write("test_b.py", "import pytest\npytest.skip('no  such: platform', allow_module_level=True)\n")
    project.write("test_c.py", "import pytest\npytest.importorskip('no_such_module')\n")
    session = play(project, "pass")
    for gate in ("fixture_check", "property_check"):
        assert session.verdict(gate, "test_b.py") == ("not_run", "skip", "no  such: platform")
        assert session.verdict(gate, "test_c.py")[2].startswith("could not import 'no_such_module'")
    assert (session.exit_code, session.ended()) == (0, "finished")


def test_a_session_that_collects_nothing_leaves_sealed_documents_without_records(project: Project) -> None:
    session = project.run("-q")
    assert (session.exit_code, session.ended()) == (5, "finished")
    for gate in GATES:
        assert session.names(gate) == []
        closing = session.document(gate).closing
        assert closing is not None
        assert (closing.node_count, closing.ended) == (0, "finished")


def test_deselected_nodes_are_recorded(project: Project) -> None:
    session = play(project, "pass", "-k", "test_2")
    assert session.verdict("fixture_check", "test_a.py::test_1") == ("not_run", "deselected", "deselected")
    assert checks(session)[1] == PASS
    assert session.planned("fixture_check") == ["test_a.py::test_2"]


def test_a_selection_that_selects_nothing_records_what_it_left_out(project: Project) -> None:
    session = play(project, "pass", "-k", "no_such_test")
    assert checks(session) == [("not_run", "deselected")] * 3
    assert (session.exit_code, session.ended()) == (5, "finished")


def test_a_node_that_a_hook_takes_out_without_a_word_is_recorded(project: Project) -> None:
    project.write("conftest.py", "def pytest_collection_modifyitems(items): del items[1]\n")
    session = play(project, "assert 0")
    message = "taken out of the collection without being deselected"
    assert session.verdict("fixture_check", "test_a.py::test_2") == ("not_run", "deselected", message)
    assert session.exit_code == 0


def test_a_launched_session_leaves_the_seal_to_its_parent(project: Project, context: Callable[..., RunContext]) -> None:
    project.write("test_a.py", THREE.format("pass"))
    session = project.run("-q", context=context(launched=True))
    assert session.ended() == "finished"
    assert session.document("fixture_check").closing is None
    assert [line["record"] for line in session.lines("fixture_check")][-2:] == ["node", "finish"]


def test_each_session_of_one_command_has_its_own_documents(project: Project) -> None:
    project.write("test_a.py", THREE.format("pass"))
    project.run("-q", "-k", "test_1")
    program = f"import pytest; [pytest.main(['-q', '--admit={project.folder}', '-p', 'admit']) for _ in range(2)]"
    subprocess.run(
        [sys.executable, "-c", program], cwd=project.root, env=project.environment(), check=True, capture_output=True
    )
    for gate in GATES:
        assert len(list(project.folder.glob(f"{gate}.*.jsonl"))) == 3


def test_the_option_arrives_through_the_environment(project: Project) -> None:
    project.write("test_a.py", THREE.format("pass"))
    project.run("-q", "-k", "none")  # writes the context
    env = project.environment(PYTEST_ADDOPTS=f"-p admit --admit={project.folder}")
    subprocess.run([sys.executable, "-m", "pytest"], cwd=project.root, env=env, check=True, capture_output=True)
    assert len(list(project.folder.glob("fixture_check.*.jsonl"))) == 2


def test_a_session_nested_in_a_test_records_nothing(project: Project) -> None:
    project.write(
        "test_a.py",
        """
        import subprocess, sys
        pytest_plugins = ["pytester"]
        def test_subprocess(tmp_path):
            (tmp_path / "test_in.py").write_text("def test_in(): assert 0")
            assert subprocess.run([sys.executable, "-m", "pytest", str(tmp_path)]).returncode == 1
        def test_in_process(pytester):
            pytester.makepyfile("def test_in(): assert 0")
            pytester.runpytest_inprocess().assert_outcomes(failed=1)
        """,
    )
    addopts = f"-p admit --admit={project.folder}"
    session = project.run("-q", env={"PYTEST_ADDOPTS": addopts})
    assert session.exit_code == 0, session.stdout
    assert session.names("fixture_check") == ["test_a.py::test_subprocess", "test_a.py::test_in_process"]


def test_without_the_option_nothing_is_recorded_or_imported(project: Project) -> None:
    project.write(
        "test_a.py",
        """
        import sys
        def test_a():
            assert "admit.pytest_plugin" in sys.modules
            heavy = ("admit.pytest_plugin.", "admit.core", "admit.evidence", "msgspec")
            assert not [name for name in sys.modules if name.startswith(heavy)]
        """,
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "admit", "-q"],
        cwd=project.root,
        env=project.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "admit" not in done.stdout + done.stderr
    assert os.listdir(project.folder) == []


FAILING_DISK = """
    import admit.evidence.write as write
    real, count = write._write, 0
    def failing(fd, line, path):
        global count
        count += line.startswith(b'{"record":"node"')
        if count > 1:
            raise OSError(28, "No space left on device")
        real(fd, line, path)
    write._write = failing
"""


def test_an_error_of_the_recorder_leaves_the_documents_open_and_the_tests_alone(project: Project) -> None:
    project.write("conftest.py", FAILING_DISK)
    session = play(project, "pass")
    assert session.exit_code == 0
    assert "3 passed" in session.stdout
    assert session.stderr == (
        "admit: recording failed, the gates count as not run: OSError: [Errno 28] No space left on device\n"
    )
    for gate in GATES:
        assert session.document(gate).closing is None
        assert session.ended(gate) is None


@pytest.mark.parametrize(
    "hook",
    [
        pytest.param("pytest_plugin.calls.reading_of", id="reading-a-report"),
        pytest.param("pytest_plugin.observer.name_of", id="collecting"),
        pytest.param("pytest_plugin.recorder.session_ended", id="ending"),
        pytest.param("pytest_plugin.recorder.Documents", id="opening"),
    ],
)
def test_a_bug_in_the_recorder_never_looks_like_a_clean_run(project: Project, hook: str) -> None:
    module, _, name = hook.rpartition(".")
    project.write("conftest.py", f"import admit.{module} as module\nmodule.{name} = None\n")
    session = play(project, "assert 0")
    assert session.exit_code == 1
    assert "1 failed, 2 passed" in session.stdout
    assert "admit: recording failed" in session.stderr
    for gate in GATES:
        assert all(session.ended(gate) is None for _ in session.paths(gate))


def test_a_context_that_cannot_be_read_is_said_and_nothing_is_recorded(project: Project) -> None:
    project.write("test_a.py", THREE.format("pass"))
    (project.folder / "context.json").write_text('{"schema": "admit.context/1"}', encoding="utf-8")
    done = subprocess.run(
        project.command("-q"), cwd=project.root, env=project.environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0
    assert "3 passed" in done.stdout
    assert done.stderr.startswith("admit: nothing is recorded, the gates count as not run: ")
    assert "context.json" in done.stderr
    assert os.listdir(project.folder) == ["context.json"]


def test_a_folder_that_pytest_would_take_for_a_test_path_is_refused(project: Project) -> None:
    project.write("test_a.py", THREE.format("pass"))
    command = [part for part in project.command("-q") if not part.startswith("--admit")]
    done = subprocess.run(
        [*command, "--admit", str(project.folder)],
        cwd=project.root,
        env=project.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0
    assert "write --admit=DIR, with an equals sign" in done.stderr
    assert os.listdir(project.folder) == []
