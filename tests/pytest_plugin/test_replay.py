"""On the base a counterexample passes only where it ran whole and did not fail (contract T7)."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import hypothesis
import pytest

from admit.pytest_plugin.replay import parsed

if TYPE_CHECKING:
    from tests.pytest_plugin.conftest import Parent, Tried

    from admit.core.records import NodeRecord

NODE = "test_a.py::test_p"

NOT_SEVEN = """
    from hypothesis import example, given, strategies as st
    @given({})
    def test_p(n): {}
"""


def failed_on_the_patch(parent: Parent, text: str, node: str = NODE) -> NodeRecord:
    parent.project.write("test_a.py", text)
    record = parent.run("judged", "-q").records()[node]
    assert record.check == "fail"
    assert record.reproduce
    return record


def on_the_base(parent: Parent, text: str, reproduce: str, node: str = NODE) -> Tried:
    parent.project.write("test_a.py", text)
    return parent.run("base", "-q", only=(node,), replay={node: reproduce})


def played(parent: Parent, patch: tuple[str, str], base: tuple[str, str]) -> NodeRecord:
    """Return what the base shows of what a property's counterexample was on the patch: (strategy, body) of each."""
    found = failed_on_the_patch(parent, NOT_SEVEN.format(*patch))
    return on_the_base(parent, NOT_SEVEN.format(*base), found.reproduce).records()[NODE]


SMALL = "st.integers(0, 9)"
BROKEN = (SMALL, "assert n < 5")


def test_a_counterexample_that_does_not_fail_on_the_base_passes_there(parent: Parent) -> None:
    record = played(parent, BROKEN, (SMALL, "assert n < 6"))  # which a search would falsify
    assert (record.check, record.why, record.examples) == ("pass", None, (1, 1, 25))


def test_a_counterexample_that_fails_on_the_base_fails_there(parent: Parent) -> None:
    record = played(parent, BROKEN, (SMALL, "assert n != 5, 'still'"))
    assert (record.check, record.why) == ("fail", None)
    assert "still" in record.message


@pytest.mark.parametrize(
    "base",
    [
        pytest.param(("st.text()", "pass"), id="another type"),
        pytest.param(("st.tuples(st.integers(), st.integers())", "pass"), id="another shape"),
        pytest.param((SMALL, "__import__('hypothesis').assume(False)"), id="not valid there"),
        pytest.param((f"{SMALL}.filter(lambda n: n < 3)", "pass"), id="out of bounds"),
        pytest.param((f"{SMALL}.filter(lambda n: n % 2 == 0)", "pass"), id="filtered out"),
        pytest.param(("st.just(1)", "pass"), id="draws less"),
    ],
)
def test_a_counterexample_that_does_not_fit_the_base_gives_no_verdict(parent: Parent, base: tuple[str, str]) -> None:
    record = played(parent, BROKEN, base)
    assert (record.check, record.why) == ("not_run", "no_verdict"), record


def blob(raw: bytes) -> bytes:
    return base64.b64encode(raw)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("@reproduce_failure('5.0.0', b'AAEF')", id="another version"),
        pytest.param(f"@reproduce_failure({hypothesis.__version__!r}, b'%%%')", id="not base64"),
        pytest.param(f"@reproduce_failure({hypothesis.__version__!r}, {blob(b'zzz')!r})", id="no blob"),
        pytest.param("@reproduce_failure(open('ran', 'w').close(), b'')", id="code"),
        pytest.param("__import__('os').mkdir('ran')", id="other code"),
    ],
)
def test_what_cannot_be_replayed_gives_no_verdict_and_is_never_run(parent: Parent, text: str) -> None:
    tried = on_the_base(parent, NOT_SEVEN.format(SMALL, "open('ran', 'w').close()"), text)
    assert tried.verdicts() == {NODE: ("not_run", "no_verdict")}
    assert not (parent.project.root / "ran").exists()


TWO = """
    from hypothesis import given, strategies as st
    import pytest
    class TestIt:
        @pytest.mark.parametrize("k", [1])
        @given(n=st.integers())
        def test_p(self, n, k):
            {}
            {}
"""
FIRST, SECOND = "if n > 1000: raise ValueError", "if n < -1000: raise KeyError"
METHOD = "test_a.py::TestIt::test_p[1]"


@pytest.mark.parametrize(
    ("base", "check"), [(("pass", "pass"), "pass"), ((FIRST, "pass"), "fail"), (("pass", SECOND), "fail")]
)
def test_of_several_counterexamples_none_may_fail(parent: Parent, base: tuple[str, str], check: str) -> None:
    found = failed_on_the_patch(parent, TWO.format(FIRST, SECOND), METHOD)
    assert found.reproduce.count("@reproduce_failure") == 2
    record = on_the_base(parent, TWO.format(*base), found.reproduce, METHOD).records()[METHOD]
    assert record.check == check
    assert record.examples == (2, 2, 25) or check == "fail"


CASE = """
    import unittest
    from hypothesis import given, strategies as st
    class TestIt(unittest.TestCase):
        @given(n=st.integers(0, 9))
        def test_p(self, n):
            {}
"""
CASE_NODE = "test_a.py::TestIt::test_p"


@pytest.mark.parametrize(
    ("body", "seen"),
    [
        pytest.param("self.assertLess(n, 6)", ("pass", None), id="passes"),
        pytest.param("self.assertNotEqual(n, 5)", ("fail", None), id="fails"),
        pytest.param("self.skipTest('no')", ("not_run", "skip"), id="skips"),
    ],
)
def test_a_property_of_a_test_case_is_replayed_too(parent: Parent, body: str, seen: tuple[str, str | None]) -> None:
    found = failed_on_the_patch(parent, CASE.format("assert n < 5"), CASE_NODE)
    tried = on_the_base(parent, CASE.format(body), found.reproduce, CASE_NODE)
    assert tried.verdicts() == {CASE_NODE: seen}, tried.session.stdout


MACHINE = """
    from hypothesis import strategies as st
    from hypothesis.stateful import RuleBasedStateMachine, rule
    class Counter(RuleBasedStateMachine):
        total = 0
        @rule(n=st.integers(0, 9))
        def add(self, n):
            self.total += n
            assert self.total < {}
    TestCounter = Counter.TestCase
"""
MACHINE_NODE = "test_a.py::TestCounter::runTest"


@pytest.mark.parametrize(
    ("limit", "seen"),
    [
        pytest.param(20, ("fail", None), id="fails"),
        # it would go on, with steps that the counterexample does not hold: Hypothesis has no answer then
        pytest.param(21, ("not_run", "no_verdict"), id="goes on"),
    ],
)
def test_a_state_machine_is_replayed_too(parent: Parent, limit: int, seen: tuple[str, str | None]) -> None:
    found = failed_on_the_patch(parent, MACHINE.format(20), MACHINE_NODE)
    assert "@reproduce_failure" in found.reproduce
    tried = on_the_base(parent, MACHINE.format(limit), found.reproduce, MACHINE_NODE)
    assert tried.verdicts() == {MACHINE_NODE: seen}, tried.session.stdout


def test_a_plain_test_has_no_counterexample_to_replay(parent: Parent) -> None:
    text = "def test_p(): pass\n"
    tried = on_the_base(parent, text, "@reproduce_failure('6.0.0', b'AAEF')")
    assert tried.verdicts() == {NODE: ("not_run", "skip")}


def test_decorators_are_read_and_never_evaluated() -> None:
    assert parsed("@reproduce_failure('6.1', b'AB=')\n@reproduce_failure('6.1', b'CD')") == [
        ("6.1", b"AB="),
        ("6.1", b"CD"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "reproduce_failure('6.1', b'A')",
        "@reproduce_failure('6.1', 'A')",
        "@reproduce_failure(6.1, b'A')",
        "@reproduce_failure('6.1', b'A', 1)",
        "@reproduce_failure('6.1', blob=b'A')",
        "@reproduce_failure('6.1', b'A') or print()",
        "@other('6.1', b'A')",
        "@a.reproduce_failure('6.1', b'A')",
        "@reproduce_failure('6.1', b'A'\n)",
        "@" + "(" * 5000,
        "\0",
    ],
)
def test_nothing_else_is_a_decorator(text: str) -> None:
    with pytest.raises(ValueError, match="not a decorator"):
        parsed(text)
