"""Under pytest-xdist the controller alone records, and loses nothing that its workers saw (contract E3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.pytest_plugin.conftest import Project, Session

GATE = "fixture_check"
XDIST = ("xdist", "xdist.looponfail")

MANY = """
    import unittest
    import pytest
    from hypothesis import given, seed, strategies as st

    counts = {}
    def test_pass(): pass
    def test_fail(): raise ValueError("ünlucky ☃")
    @pytest.fixture
    def broken(): raise RuntimeError("no database")
    def test_setup_error(broken): pass
    def test_skip(): pytest.skip("not   here")
    @pytest.mark.xfail(reason="known")
    def test_xfail(): assert 0
    @pytest.mark.xfail(reason="known")
    def test_xpass(): pass
    def test_subtests(subtests):
        with subtests.test(i=0): assert 0
        with subtests.test(i=1): pass
    def test_rerun():
        counts["a"] = counts.get("a", 0) + 1
        assert counts["a"] > 1, "first"
    @given(st.integers())
    def test_property(n): pass
    @given(st.integers())
    def test_falsified(n): assert n < 5
    @seed(7)
    @given(st.integers())
    def test_own_seed(n): pass
    class TestUnittest(unittest.TestCase):
        def test_subtest(self):
            with self.subTest(i=0): assert 0
    @pytest.mark.slow
    def test_deselected(): pass
    @pytest.mark.slow
    @given(st.integers())
    def test_deselected_property(n): pass
"""


@pytest.fixture(scope="module")
def session(new_project: Callable[[], Project]) -> Session:
    project = new_project()
    project.write("pytest.ini", "[pytest]\nmarkers = slow\n")
    project.write("test_a.py", MANY)
    project.write("test_b.py", "import pytest\npytest.skip('no module', allow_module_level=True)\n")
    project.write("test_c.py", "def test_c(): pass\n")
    project.write("conftest.py", "from hypothesis import settings\nsettings.load_profile('ci')\n")
    plugins = (*XDIST, "rerunfailures", "hypothesispytest")
    return project.run("-q", "-n2", "--reruns=1", "-m", "not slow", plugins=plugins, env={"CI": "1"})


@pytest.mark.parametrize(
    ("gate", "node", "check", "why", "message"),
    [
        (GATE, "test_a.py::test_pass", "pass", None, ""),
        (GATE, "test_a.py::test_fail", "fail", None, "ValueError: ünlucky ☃"),
        (GATE, "test_a.py::test_setup_error", "not_run", "error_setup", "RuntimeError: no database"),
        (GATE, "test_a.py::test_skip", "not_run", "skip", "not   here"),
        (GATE, "test_a.py::test_xfail", "not_run", "xfail", "known"),
        (GATE, "test_a.py::test_xpass", "not_run", "xpass", "known"),
        (GATE, "test_a.py::test_subtests", "fail", None, "AssertionError: assert 0"),
        (GATE, "test_a.py::test_rerun", "fail", None, "AssertionError: first assert 1 > 1"),
        (GATE, "test_a.py::TestUnittest::test_subtest", "fail", None, "AssertionError: assert 0"),
        (GATE, "test_a.py::test_deselected", "not_run", "deselected", "deselected"),
        (GATE, "test_b.py", "not_run", "skip", "no module"),
        (GATE, "test_c.py::test_c", "pass", None, ""),
        ("property_check", "test_a.py::test_property", "pass", None, ""),
        ("property_check", "test_a.py::test_falsified", "fail", None, "AssertionError: assert 5 < 5"),
        ("property_check", "test_a.py::test_deselected_property", "not_run", "deselected", "deselected"),
        ("property_check", "test_b.py", "not_run", "skip", "no module"),
    ],
)
def test_what_workers_saw_is_recorded_once(
    session: Session, gate: str, node: str, check: str, why: str | None, message: str
) -> None:
    assert session.verdict(gate, node) == (check, why, message)


def test_only_the_controller_writes_and_nothing_else_is_left(session: Session) -> None:
    left = sorted(path.name.partition(".")[0] for path in session.folder.iterdir())
    assert left == ["context", "fixture_check", "flaky_freeze", "property_check"]
    assert (session.exit_code, session.ended()) == (1, "finished")


def test_the_plan_of_each_gate_is_what_the_workers_collected(session: Session) -> None:
    assert session.planned("property_check") == [
        f"test_a.py::test_{name}" for name in ("property", "falsified", "own_seed")
    ]
    assert len(session.planned(GATE)) == 10


def test_what_was_in_force_in_the_workers_is_recorded(session: Session) -> None:
    record = session.node("property_check", "test_a.py::test_property")
    assert (record["seed"], record["fixture_lock"]) == (0, "match")
    assert record["examples"] == {"ran": 25, "valid": 25, "max": 25}
    falsified = session.node("property_check", "test_a.py::test_falsified")
    assert "n=5" in falsified["counterexample"]
    assert falsified["reproduce"].startswith("@reproduce_failure(")
    assert session.node("property_check", "test_a.py::test_own_seed")["fixture_lock"] == "drifted"


CRASH = """
    import os, pytest
    @pytest.mark.parametrize("n", range(6))
    def test_n(n):
        if n == 1: os._exit(0)
"""


def test_a_node_that_crashed_its_worker_is_no_verdict_and_the_others_go_on(project: Project) -> None:
    project.write("test_a.py", CRASH)
    session = project.run("-q", "-n2", plugins=XDIST)
    check, why, message = session.verdict(GATE, "test_a.py::test_n[1]")
    assert (check, why) == ("not_run", "crashed")
    assert "crashed while running" in message
    assert [session.node(GATE, f"test_a.py::test_n[{n}]")["check"] for n in (0, 2, 3, 4, 5)] == ["pass"] * 5
    assert (session.exit_code, session.ended()) == (1, "finished")
    assert len(session.planned(GATE)) == 6


def test_without_a_new_worker_the_nodes_that_were_left_never_ran(project: Project) -> None:
    project.write("test_a.py", CRASH)
    session = project.run("-q", "-n1", "--max-worker-restart=0", plugins=XDIST)
    assert session.verdict(GATE, "test_a.py::test_n[1]")[:2] == ("not_run", "crashed")
    assert session.node(GATE, "test_a.py::test_n[0]")["check"] == "pass"
    for n in (2, 3, 4, 5):
        assert session.verdict(GATE, f"test_a.py::test_n[{n}]")[:2] == ("not_run", "never_ran")


def test_a_crash_that_is_rerun_stays_no_verdict(project: Project) -> None:
    project.write(
        "test_a.py",
        "import os, pathlib\ndef test_a():\n    if not os.path.exists('mark'):\n        open('mark', 'w').close()\n"
        "        os._exit(1)\ndef test_b(): pass\n",
    )
    session = project.run("-q", "-n1", "--reruns=1", plugins=(*XDIST, "rerunfailures"))
    code = session.document(GATE).codes["test_a.py::test_a"]
    from admit.core.records import check_of

    assert check_of(code) == "not_run"
    assert session.node(GATE, "test_a.py::test_b")["check"] == "pass"


def test_load_groups_do_not_change_the_names_of_nodes(project: Project) -> None:
    project.write("pytest.ini", "[pytest]\nmarkers = xdist_group\n")
    project.write(
        "test_a.py",
        """
        import pytest
        pytestmark = pytest.mark.xdist_group("g")
        def test_a(): pass
        def test_b(): assert 0
        """,
    )
    session = project.run("-q", "-n2", "--dist=loadgroup", plugins=XDIST)
    assert session.planned(GATE) == ["test_a.py::test_a", "test_a.py::test_b"]
    assert session.node(GATE, "test_a.py::test_a")["check"] == "pass"
    assert session.node(GATE, "test_a.py::test_b")["check"] == "fail"
    assert len(session.names(GATE)) == 2


def test_each_worker_of_dist_each_is_recorded(project: Project) -> None:
    project.write("test_a.py", "import os\ndef test_a(): assert os.environ['PYTEST_XDIST_WORKER'] == 'gw0'\n")
    session = project.run("-q", "-n2", "--dist=each", plugins=XDIST)
    records = session.every(GATE, "test_a.py::test_a")
    assert sorted(record[GATE] for record in records) == ["fail", "pass"]
    assert session.planned(GATE) == ["test_a.py::test_a"] * 2


def test_a_collection_error_is_recorded_once(project: Project) -> None:
    project.write("test_a.py", "import no_such_module\n")
    project.write("test_b.py", "def test_b(): pass\n")
    session = project.run("-q", "-n2", plugins=XDIST)
    for gate in (GATE, "property_check"):
        assert session.verdict(gate, "test_a.py")[:2] == ("not_run", "error_collect")
    assert session.node(GATE, "test_b.py::test_b")["check"] == "pass"
    assert (session.exit_code, session.ended()) == (1, "finished")


def test_a_session_that_stops_at_the_first_failure_is_interrupted(project: Project) -> None:
    project.write("test_a.py", "import pytest\n@pytest.mark.parametrize('n', range(40))\ndef test_n(n): assert n\n")
    session = project.run("-q", "-n2", "-x", plugins=XDIST)
    assert (session.exit_code, session.ended()) == (2, "interrupted")
    whys = {session.verdict(GATE, f"test_a.py::test_n[{n}]")[:2] for n in range(40)}
    assert {("fail", None), ("pass", None)} <= whys
    assert whys <= {("fail", None), ("pass", None), ("not_run", "never_ran"), ("not_run", "interrupted")}


def test_a_bug_in_a_workers_observer_never_looks_like_a_clean_run(project: Project) -> None:
    project.write("conftest.py", "import admit.pytest_plugin.calls as module\nmodule.reading_of = None\n")
    project.write("test_a.py", "def test_a(): assert 0\n")
    session = project.run("-q", "-n1", plugins=XDIST)
    assert session.exit_code == 1
    assert "admit: recording failed" in session.stderr
    assert session.ended() is None


def test_a_session_nested_in_a_worker_records_nothing(project: Project) -> None:
    project.write(
        "test_a.py",
        """
        import subprocess, sys
        def test_nested(tmp_path):
            (tmp_path / "test_in.py").write_text("def test_in(): assert 0")
            assert subprocess.run([sys.executable, "-m", "pytest", "-n1", str(tmp_path)]).returncode == 1
        """,
    )
    addopts = f"-p admit -p xdist -p xdist.looponfail --admit={project.folder}"
    session = project.run("-q", "-n1", plugins=XDIST, env={"PYTEST_ADDOPTS": addopts})
    assert session.exit_code == 0, session.stdout
    assert session.names(GATE) == ["test_a.py::test_nested"]
    assert len(list(project.folder.iterdir())) == 4
