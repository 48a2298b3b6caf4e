"""What the parts of a run on a base collect, run and send to their parent (contract T2, T7, P3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.pytest_plugin.conftest import Parent

XDIST = ("xdist", "xdist.looponfail")

SOME = """
    import pytest
    from hypothesis import given, strategies as st
    def test_a(): raise SystemExit("ran")
    @pytest.mark.slow
    def test_slow(): pass
    @given(st.integers())
    def test_p(n): assert 0
    @pytest.mark.slow
    @given(st.integers())
    def test_slow_p(n): pass
"""


def some(parent: Parent) -> None:
    parent.project.write("pytest.ini", "[pytest]\nmarkers = slow\n")
    parent.project.write("test_a.py", SOME)


@pytest.mark.parametrize("extra", [(), ("-n2",)], ids=["alone", "xdist"])
def test_the_inventory_plans_every_node_and_runs_none(parent: Parent, extra: tuple[str, ...]) -> None:
    some(parent)
    tried = parent.run("inventory", "-q", "-m", "not slow", *extra, plugins=XDIST)
    assert (tried.session.exit_code, tried.problems, tried.ended()) == (0, (), ["finished"])
    assert sorted(tried.planned("fixture_check")) == ["test_a.py::test_a", "test_a.py::test_slow"]
    assert sorted(tried.planned("property_check")) == ["test_a.py::test_p", "test_a.py::test_slow_p"]
    assert tried.verdicts() == {
        "test_a.py::test_a": ("not_run", "never_ran"),
        "test_a.py::test_p": ("not_run", "never_ran"),
        "test_a.py::test_slow": ("not_run", "deselected"),
        "test_a.py::test_slow_p": ("not_run", "deselected"),
    }


def test_an_inventory_of_nothing_but_deselected_nodes_finishes(parent: Parent) -> None:
    some(parent)
    tried = parent.run("inventory", "-q", "-k", "nothing")
    assert (tried.session.exit_code, tried.ended()) == (5, ["finished"])
    assert len(tried.planned()) == 4


def test_a_judged_run_leaves_nothing_but_what_its_parent_received(parent: Parent) -> None:
    parent.project.write("test_a.py", "def test_a(): pass\n")
    tried = parent.run("judged", "-q")
    assert tried.verdicts() == {"test_a.py::test_a": ("pass", None)}
    assert [path.name for path in parent.project.folder.iterdir()] == ["context.json"]
    assert {line["nonce"] for line in tried.lines("fixture_check") if line["record"] == "opening"} == {"secret"}


@pytest.mark.parametrize("extra", [("-x",), ("--maxfail=1",), ("--sw",), ("-x", "-n2")], ids=" ".join)
def test_no_option_cuts_a_judged_run_short(parent: Parent, extra: tuple[str, ...]) -> None:
    parent.project.write(
        "test_a.py", "import pytest\n@pytest.mark.parametrize('n', range(9))\ndef test_n(n): assert n\n"
    )
    command = parent.project.command(*extra, plugins=XDIST)
    at = command.index("no:cacheprovider")  # which --sw needs
    tried = parent.run("judged", command=command[: at - 1] + command[at + 1 :])
    assert sorted(check for check, _ in tried.verdicts().values()) == ["fail", *["pass"] * 8], tried.session.stderr
    assert tried.ended() == ["finished"]


def three(parent: Parent) -> None:
    for name in "abc":
        parent.project.write(f"tests/test_{name}.py", f"import ran\nran.mark('{name}')\ndef test_{name}(value): pass\n")
    parent.project.write("tests/conftest.py", "import pytest\n@pytest.fixture\ndef value(): pass\n")
    parent.project.write("tests/__init__.py", "")
    parent.project.write("ran.py", "def mark(name): open(f'ran-{name}', 'w').close()\n")


ARGS = [
    pytest.param((), id="no argument"),
    pytest.param(("tests",), id="a folder"),
    pytest.param(("tests/test_a.py", "tests/test_b.py"), id="files"),
    pytest.param(("tests/test_a.py::test_a", "tests/test_b.py::test_b"), id="nodes"),
    pytest.param(("-n2",), id="xdist"),
]


@pytest.mark.parametrize("args", ARGS)
@pytest.mark.parametrize("part", ["proposals", "base"])
def test_only_the_files_that_are_asked_for_are_imported(parent: Parent, part: str, args: tuple[str, ...]) -> None:
    three(parent)
    asked = {"files": ("tests/test_b.py",)} if part == "proposals" else {"only": ("tests/test_b.py::test_b",)}
    tried = parent.run(part, "-q", *args, plugins=XDIST, **asked)  # type: ignore[arg-type]
    assert tried.verdicts() == {"tests/test_b.py::test_b": ("pass", None)}, tried.session.stdout
    assert (tried.ended(), tried.problems) == (["finished"], ())
    assert [path.name for path in parent.project.root.glob("ran-*")] == ["ran-b"]


@pytest.mark.parametrize("extra", [(), ("-n2", "--dist=loadgroup")], ids=["alone", "xdist"])
def test_the_base_runs_the_nodes_in_question_and_says_nothing_of_others(parent: Parent, extra: tuple[str, ...]) -> None:
    parent.project.write(
        "test_a.py",
        """
        import pytest
        pytestmark = pytest.mark.xdist_group("g")
        @pytest.mark.parametrize("n", range(4))
        def test_n(n): assert n == 1
        def test_other(): assert 0
        """,
    )
    only = ("test_a.py::test_n[1]", "test_a.py::test_n[2]")
    tried = parent.run("base", "-q", "-p", "no:warnings", *extra, plugins=XDIST, only=only)
    assert tried.verdicts() == {only[0]: ("pass", None), only[1]: ("fail", None)}, tried.session.stdout
    assert sorted(tried.planned()) == sorted(only)


def test_a_node_in_question_that_is_deselected_there_says_so(parent: Parent) -> None:
    some(parent)
    tried = parent.run("base", "-q", "-m", "not slow", only=("test_a.py::test_slow",))
    assert tried.verdicts() == {"test_a.py::test_slow": ("not_run", "deselected")}


def test_sessions_of_one_run_may_follow_each_other(parent: Parent) -> None:
    parent.project.write("test_a.py", "def test_a(): pass\n")
    parent.project.write("test_b.py", "def test_b(): assert 0\n")
    parent.project.write(
        "twice.py",
        """
        import subprocess, sys
        for name in sys.argv[1:]:
            subprocess.run([sys.executable, "-m", "pytest", "-p", "admit", name])
        """,
    )
    import sys

    addopts = {"PYTEST_ADDOPTS": f"-p no:cacheprovider --admit={parent.project.folder}"}
    tried = parent.run("judged", command=[sys.executable, "twice.py", "test_a.py", "test_b.py"], env=addopts)
    assert tried.problems == ()
    assert tried.verdicts() == {"test_a.py::test_a": ("pass", None), "test_b.py::test_b": ("fail", None)}
    assert len(tried.channel.sessions) == 2


def test_asking_for_the_version_is_no_session(parent: Parent) -> None:
    tried = parent.run("judged", "--version")
    assert (tried.problems, tried.channel.sessions) == ((), ())


@pytest.mark.parametrize("keeps", ["everything", "the option", "nothing"])
@pytest.mark.parametrize("extra", [(), ("-n1",)], ids=["alone", "xdist"])
def test_a_session_nested_in_a_test_sends_nothing(parent: Parent, extra: tuple[str, ...], keeps: str) -> None:
    parent.project.write(
        "test_a.py",
        f"""
        import os, subprocess, sys
        def test_nested(tmp_path):
            keeps = {keeps!r}
            env = dict(os.environ)
            if keeps != "everything":
                env = {{k: v for k, v in env.items() if not k.startswith("ADMIT")}}
            if keeps == "nothing":
                env = {{k: v for k, v in env.items() if not k.startswith("PYTEST")}}
            (tmp_path / "test_in.py").write_text("def test_in(): assert 0")
            command = [sys.executable, "-m", "pytest", "-p", "admit", str(tmp_path)]
            assert subprocess.run(command, env=env, cwd=tmp_path).returncode == 1
        """,
    )
    import sys

    addopts = {"PYTEST_ADDOPTS": f"-p no:cacheprovider --admit={parent.project.folder}"}
    plugins = [part for plugin in XDIST for part in ("-p", plugin)] if extra else []
    command = [sys.executable, "-m", "pytest", "-p", "admit", *plugins, *extra]
    tried = parent.run("judged", command=command, env=addopts)
    assert tried.verdicts() == {"test_a.py::test_nested": ("pass", None)}, tried.session.stdout
    assert (tried.problems, len(tried.channel.sessions)) == ((), 1)
    assert [path.name for path in parent.project.folder.iterdir()] == ["context.json"]


def test_a_session_without_its_parent_never_looks_like_a_clean_run(parent: Parent) -> None:
    parent.project.write("test_a.py", "def test_a(): pass\n")
    tried = parent.run("judged", channel="/nowhere/s")
    assert tried.channel.sessions == ()
    assert (
        "admit: recording failed, the gates count as not run: LedgerError: channel: cannot be reached"
        in tried.session.stderr
    )
    assert [path.name for path in parent.project.folder.iterdir()] == ["context.json"]


def test_conftests_find_the_channel_connected_already(parent: Parent) -> None:
    forged = """
        import json, os, socket
        folder = os.path.join(os.path.dirname(os.path.dirname(__file__)), "evidence")
        path = json.load(open(os.path.join(folder, "context.json")))["trial"]["channel"]
        link = socket.socket(socket.AF_UNIX)
        link.connect(path)
        context = json.load(open(os.path.join(folder, "context.json")))
        keys = "patch_id head base run_id nonce lane shard shards attempt dirty".split()
        opening = {"record": "opening", "schema": "admit.evidence/1", "gate": "fixture_check", "tool": "pytest",
            "tool_version": "9.2.0", **{key: context[key] for key in keys}}
        link.sendall(json.dumps(opening).encode() + b"\\n")
    """
    parent.project.write("conftest.py", forged)
    parent.project.write("test_a.py", "def test_a(): assert 0\n")
    tried = parent.run("judged", "-q")
    assert any("second document of fixture_check" in problem for problem in tried.problems), tried.session.stderr
