"""Retries never launder a failure: the worst of all attempts is recorded, and how many there were (contract U5)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.pytest_plugin.conftest import Project, Session

GATE = "fixture_check"

RERUNS = """
    import unittest
    import pytest

    counts = {}
    def nth(name):
        counts[name] = counts.get(name, 0) + 1
        return counts[name]

    def test_pass(): pass
    def test_fails_then_passes(): assert nth("a") > 1
    def test_fails_always(): assert 0
    @pytest.fixture
    def shaky():
        if nth("b") == 1: raise RuntimeError("no connection")
    def test_setup_error_then_pass(shaky): pass
    @pytest.fixture
    def leaky():
        yield
        if nth("c") == 1: raise RuntimeError("left open")
    def test_teardown_error_then_pass(leaky): pass
    def test_subtests_then_pass(subtests):
        n = nth("d")
        for i in range(3):
            with subtests.test(i=i):
                assert n > 1 or i != 1
    class TestUnittest(unittest.TestCase):
        def test_subtest_then_pass(self):
            n = nth("e")
            for i in range(3):
                with self.subTest(i=i):
                    assert n > 1 or i != 1
    def test_skips(): pytest.skip("not here")
"""


@pytest.fixture(scope="module")
def reruns(new_project: Callable[[], Project]) -> Session:
    project = new_project()
    project.write("test_a.py", RERUNS)
    return project.run("-q", "--reruns=2", plugins=("rerunfailures",))


@pytest.mark.parametrize(
    ("node", "check", "why", "message", "attempts", "flaky"),
    [
        ("test_pass", "pass", None, "", 1, False),
        ("test_fails_then_passes", "fail", None, "AssertionError: assert 1 > 1 + where 1 = nth('a')", 2, True),
        ("test_fails_always", "fail", None, "AssertionError: assert 0", 3, False),
        ("test_setup_error_then_pass", "not_run", "error_setup", "RuntimeError: no connection", 2, False),
        ("test_teardown_error_then_pass", "fail", "error_teardown", "RuntimeError: left open", 2, True),
        ("test_subtests_then_pass", "fail", None, "AssertionError: assert (1 > 1 or 1 != 1)", 2, True),
        # the plugin does not rerun for a failed subTest
        ("TestUnittest::test_subtest_then_pass", "fail", None, "AssertionError: assert (1 > 1 or 1 != 1)", 1, False),
        ("test_skips", "not_run", "skip", "not here", 1, False),
    ],
)
def test_reruns_of_pytest_rerunfailures_are_attempts(
    reruns: Session, node: str, check: str, why: str | None, message: str, attempts: int, flaky: bool
) -> None:
    record = reruns.node(GATE, f"test_a.py::{node}")
    assert (record["check"], record.get("why"), record.get("message", "")) == (check, why, message)
    assert (record.get("attempts", 1), record.get("flaky", False)) == (attempts, flaky)


def test_the_end_mark_goes_by_what_pytest_counts(reruns: Session) -> None:
    assert (reruns.exit_code, reruns.ended()) == (1, "finished")


def test_a_green_session_with_a_rerun_is_finished_and_its_node_failed(project: Project) -> None:
    project.write("test_a.py", "n = 0\ndef test_a():\n    global n\n    n += 1\n    assert n > 1\n")
    session = project.run("-q", "--reruns=2", plugins=("rerunfailures",))
    assert (session.exit_code, session.ended()) == (0, "finished")
    assert session.node(GATE, "test_a.py::test_a")["check"] == "fail"


FLAKY = """
    from flaky import flaky
    import pytest

    counts = {}
    def nth(name):
        counts[name] = counts.get(name, 0) + 1
        return counts[name]

    @flaky
    def test_fails_then_passes(): assert nth("a") > 1
    @flaky(max_runs=3)
    def test_fails_always(): assert 0
    @flaky(max_runs=3, min_passes=2)
    def test_passes_twice(): nth("b")
    @flaky(max_runs=3, min_passes=2)
    def test_fails_between(): assert nth("c") != 2
    @pytest.fixture
    def shaky():
        if nth("d") == 1: raise RuntimeError("no connection")
    @flaky
    def test_setup_error_then_pass(shaky): pass
    def test_plain(): pass
"""


@pytest.fixture(scope="module")
def flaky(new_project: Callable[[], Project]) -> Session:
    project = new_project()
    project.write("test_a.py", FLAKY)
    return project.run("-q", plugins=("flaky.flaky_pytest_plugin",))


@pytest.mark.parametrize(
    ("node", "check", "why", "message", "attempts", "flaky_record"),
    [
        ("test_fails_then_passes", "fail", None, "AssertionError: assert 1 > 1 + where 1 = nth('a')", 2, True),
        ("test_fails_always", "fail", None, "AssertionError: assert 0", 3, False),
        ("test_passes_twice", "pass", None, "", 2, False),
        ("test_fails_between", "fail", None, "AssertionError: assert 2 != 2 + where 2 = nth('c')", 3, True),
        ("test_setup_error_then_pass", "not_run", "error_setup", "RuntimeError: no connection", 2, False),
        ("test_plain", "pass", None, "", 1, False),
    ],
)
def test_attempts_that_the_flaky_plugin_hides_are_recorded(
    flaky: Session, node: str, check: str, why: str | None, message: str, attempts: int, flaky_record: bool
) -> None:
    record = flaky.node(GATE, f"test_a.py::{node}")
    assert (record["check"], record.get("why"), record.get("message", "")) == (check, why, message)
    assert (record.get("attempts", 1), record.get("flaky", False)) == (attempts, flaky_record)


def test_a_property_that_failed_once_failed(project: Project) -> None:
    project.write(
        "test_a.py",
        """
        from hypothesis import given, strategies as st
        n = 0
        def setup_function():
            global n
            n += 1
        @given(st.integers())
        def test_p(i): assert n > 1 or i < 5
        """,
    )
    session = project.run("-q", "--reruns=1", plugins=("rerunfailures", "hypothesispytest"))
    record = session.node("property_check", "test_a.py::test_p")
    assert (record["check"], record["attempts"], record["flaky"]) == ("fail", 2, True)
    assert "i=5" in record["counterexample"]


def test_two_nodes_of_one_name_have_one_record_each(project: Project) -> None:
    project.write(
        "conftest.py",
        """
        import pytest
        @pytest.hookimpl(tryfirst=True)
        def pytest_pycollect_makeitem(collector, name, obj):
            if name == "test_twice":
                return [pytest.Function.from_parent(collector, name=name, callobj=obj) for _ in range(2)]
        """,
    )
    project.write("test_a.py", "n = 0\ndef test_twice():\n    global n\n    n += 1\n    assert n > 1\n")
    session = project.run("-q")
    records = session.every(GATE, "test_a.py::test_twice")
    assert [record[GATE] for record in records] == ["fail", "pass"]
    assert all(record.get("attempts", 1) == 1 for record in records)
    assert session.planned(GATE) == ["test_a.py::test_twice"] * 2


@pytest.mark.parametrize("hook", ["pytest_runtest_makereport", "pytest_runtest_logreport"])
def test_a_hook_that_turns_failures_green_does_not_make_a_pass(project: Project, hook: str) -> None:
    hooks = {
        "pytest_runtest_makereport": """
            import pytest
            @pytest.hookimpl(hookwrapper=True)
            def pytest_runtest_makereport(item, call):
                outcome = yield
                outcome.get_result().outcome = "passed"
        """,
        "pytest_runtest_logreport": """
            import pytest
            @pytest.hookimpl(tryfirst=True)
            def pytest_runtest_logreport(report):
                report.outcome = "passed"
        """,
    }
    project.write("conftest.py", hooks[hook])
    project.write("test_a.py", "def test_a(): assert 0\ndef test_b(): pass\n")
    session = project.run("-q")
    expected = {
        "pytest_runtest_makereport": ("not_run", "conflict"),
        "pytest_runtest_logreport": ("fail", None),
    }
    assert session.verdict(GATE, "test_a.py::test_a")[:2] == expected[hook]
    assert session.node(GATE, "test_a.py::test_b")["check"] == "pass"
