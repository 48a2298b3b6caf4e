"""Hypothesis tests: what was in force, what ran, and which answers are verdicts (contract L3, E8)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.pytest_plugin.conftest import Project, Session

GATE = "property_check"

PROPERTIES = """
    import time
    import unittest

    import pytest
    from hypothesis import HealthCheck, Phase, Verbosity, assume, example, given, note, seed, settings, strategies as st
    from hypothesis import reproduce_failure
    from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

    @given(st.integers())
    def test_holds(n): pass

    @given(st.integers(), st.text())
    def test_falsified(n, text):
        note("seen by the test")
        assert n < 100

    @example(7)
    @given(st.integers(0, 3))
    def test_explicit_example_fails(n): assert n < 7

    @given(st.integers())
    def test_two_bugs(n):
        if n > 1000: raise ValueError("big")
        if n < -1000: raise KeyError("small")

    @reproduce_failure("VERSION", b"AEFkgA==")
    @given(st.integers())
    def test_reproduced(n): assert n < 0

    @reproduce_failure("VERSION", b"AEFkgA==")
    @given(st.integers())
    def test_did_not_reproduce(n): pass

    count = 0
    @given(st.integers())
    def test_flaky(n):
        global count
        count += 1
        assert count != 5

    @settings(deadline=1)
    @given(st.integers(0, 1))
    def test_deadline(n): time.sleep(0.05)

    @settings(deadline=10_000)
    @given(st.integers())
    def test_deadline_and_bug(n): assert n < 5

    @given(st.integers())
    def test_health_check(n): assume(False)

    @settings(suppress_health_check=list(HealthCheck))
    @given(st.integers())
    def test_unsatisfiable(n): assume(False)

    @settings(max_examples=5)
    def test_misused(): pass

    @st.composite
    def test_strategy(draw): return 1

    @settings(phases=[])
    @given(st.integers())
    def test_told_to_run_nothing(n): pass

    @example(1)
    @settings(phases=[Phase.explicit])
    @given(st.integers())
    def test_explicit_only(n): pass

    @example(1)
    @settings(phases=[Phase.explicit])
    @given(st.integers())
    def test_explicit_rejected(n): assume(False)

    @example(-1)
    @given(st.integers(0, 50))
    def test_explicit_and_generated(n): pass

    @settings(max_examples=3)
    @given(st.integers())
    def test_own_settings(n): pass

    @seed(99)
    @given(st.integers())
    def test_own_seed(n): pass

    @settings(derandomize=True)
    @given(st.integers())
    def test_derandomized(n): pass

    @settings(settings.get_profile("ci"), max_examples=9)
    @given(st.integers())
    def test_other_profile(n): pass

    @given(st.integers())
    def test_skips(n): pytest.skip("not here")

    @pytest.mark.xfail(reason="known")
    @given(st.integers())
    def test_xfails(n): assert n < 5

    @pytest.mark.parametrize("p", ["a"])
    @given(st.integers())
    def test_parametrised(p, n): pass

    @pytest.fixture
    def broken(): raise RuntimeError("no database")
    @given(st.integers())
    def test_setup_error(broken, n): pass

    class Machine(RuleBasedStateMachine):
        total = 0
        @rule(k=st.integers(0, 5))
        def add(self, k): self.total += k
        @invariant()
        def small(self): assert self.total < 7
    TestMachine = Machine.TestCase

    class Sound(RuleBasedStateMachine):
        @rule(k=st.integers(0, 5))
        def add(self, k): pass
    TestSound = Sound.TestCase

    class TestUnittest(unittest.TestCase):
        @given(st.integers())
        def test_falsified(self, n): self.assertLess(n, 50)
        @given(st.integers())
        def test_subtests(self, n):
            with self.subTest(n=n):
                pass

    class TestMethods:
        @given(st.integers())
        def test_method(self, n): pass

    def test_fixture(): pass
"""


@pytest.fixture(scope="module")
def session(new_project: Callable[[], Project]) -> Session:
    from hypothesis import __version__

    project = new_project()
    project.write("test_p.py", PROPERTIES.replace("VERSION", __version__))
    return project.run("-q", plugins=("hypothesispytest",), env={"CI": "true"})


@pytest.mark.parametrize(
    ("node", "check", "why", "message"),
    [
        ("test_holds", "pass", None, ""),
        ("test_falsified", "fail", None, "AssertionError: assert 100 < 100"),
        ("test_explicit_example_fails", "fail", None, "AssertionError: assert 7 < 7"),
        ("test_two_bugs", "fail", None, "ExceptionGroup: Hypothesis found 2 distinct failures"),
        ("test_reproduced", "fail", None, "AssertionError: assert 100 < 0"),
        ("test_did_not_reproduce", "not_run", "no_verdict", "DidNotReproduce: "),
        ("test_flaky", "not_run", "flaky", "FlakyFailure: "),
        ("test_deadline", "not_run", "deadline", "DeadlineExceeded: "),
        ("test_deadline_and_bug", "fail", None, "AssertionError: assert 5 < 5"),
        ("test_health_check", "not_run", "health_check", "FailedHealthCheck: "),
        ("test_unsatisfiable", "not_run", "unsatisfiable", "Unsatisfiable: "),
        ("test_misused", "not_run", "invalid_test", "InvalidArgument: Using `@settings`"),
        ("test_strategy", "not_run", "invalid_test", "InvalidArgument: "),
        ("test_told_to_run_nothing", "not_run", "no_cases", "Hypothesis has been told to run no test cases"),
        ("test_explicit_only", "pass", None, "settings of its own: phases=(explicit)"),
        ("test_explicit_rejected", "not_run", "vacuous", "no valid example was run"),
        ("test_explicit_and_generated", "pass", None, ""),
        ("test_own_settings", "pass", None, "settings of its own: max_examples=3"),
        ("test_skips", "not_run", "skip", "not here"),
        ("test_xfails", "not_run", "xfail", "known"),
        ("test_parametrised[a]", "pass", None, ""),
        ("test_setup_error", "not_run", "error_setup", "RuntimeError: no database"),
        ("TestMachine::runTest", "fail", None, "AssertionError: assert "),
        ("TestSound::runTest", "pass", None, "settings of its own: suppress_health_check="),
        ("TestUnittest::test_falsified", "fail", None, "AssertionError: 50 not less than 50"),
        ("TestUnittest::test_subtests", "pass", None, ""),
        ("TestMethods::test_method", "pass", None, ""),
    ],
)
def test_a_property_is_recorded_by_what_hypothesis_answers(
    session: Session, node: str, check: str, why: str | None, message: str
) -> None:
    found = session.verdict(GATE, f"test_p.py::{node}")
    assert found[:2] == (check, why)
    assert found[2].startswith(message)


def test_only_hypothesis_tests_are_in_the_property_gate(session: Session) -> None:
    assert session.names("fixture_check") == ["test_p.py::test_fixture"]
    assert "test_p.py::test_fixture" not in session.planned(GATE)


def test_the_minimal_counterexample_and_its_replay_are_recorded(session: Session) -> None:
    record = session.node(GATE, "test_p.py::test_falsified")
    assert record["counterexample"].startswith("Failing test case: test_falsified(\n    n=100,\n    text=''")
    assert record["counterexample"].endswith("seen by the test")
    assert record["reproduce"].startswith("@reproduce_failure(")


def test_two_bugs_have_two_counterexamples(session: Session) -> None:
    record = session.node(GATE, "test_p.py::test_two_bugs")
    assert "n=1001" in record["counterexample"]
    assert "n=-1001" in record["counterexample"]
    assert len(record["reproduce"].splitlines()) == 2
    assert "ValueError: big" in record["message"]
    assert "KeyError: 'small'" in record["message"]


def test_a_state_machine_is_recorded_step_by_step(session: Session) -> None:
    steps = session.node(GATE, "test_p.py::TestMachine::runTest")["counterexample"].splitlines()
    assert steps[:2] == ["Failing test case: <state machine>", "state = Machine()"]
    assert steps[-1] == "state.teardown()"


def test_a_failing_explicit_example_is_the_counterexample(session: Session) -> None:
    record = session.node(GATE, "test_p.py::test_explicit_example_fails")
    assert record["counterexample"] == "Failing explicit example: test_explicit_example_fails(\n    n=7,\n)"


@pytest.mark.parametrize(
    ("node", "ran", "valid", "maximum"),
    [
        ("test_holds", 25, 25, 25),
        ("test_own_settings", 3, 3, 3),
        ("test_explicit_only", 1, 1, 25),
        ("test_explicit_and_generated", 26, 26, 25),
        ("TestSound::runTest", 25, 25, 25),
    ],
)
def test_what_ran_is_counted(session: Session, node: str, ran: int, valid: int, maximum: int) -> None:
    examples = session.node(GATE, f"test_p.py::{node}")["examples"]
    assert examples == {"ran": ran, "valid": valid, "max": maximum}


@pytest.mark.parametrize(
    ("node", "lock", "seed", "message"),
    [
        ("test_holds", "match", 0, ""),
        ("test_own_settings", "match", 0, ""),
        ("TestSound::runTest", "match", 0, ""),
        ("test_own_seed", "drifted", 99, "the seed in force is 99, not 0"),
        ("test_derandomized", "drifted", "derandomized", "the seed in force is derandomized, not 0"),
        ("test_other_profile", "drifted", "derandomized", "settings of another profile"),
    ],
)
def test_another_seed_or_profile_than_the_gates_is_drift(
    session: Session, node: str, lock: str, seed: object, message: str
) -> None:
    record = session.node(GATE, f"test_p.py::{node}")
    assert (record["fixture_lock"], record.get("seed", 0)) == (lock, seed)
    assert message in record.get("message", "")
