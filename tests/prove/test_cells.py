"""Four cells from what a test did on two commits, and what leaves none of them (contract P1, P2)."""

from __future__ import annotations

from itertools import product
from typing import get_args

import pytest

from admit.core.signals import WHYS
from admit.prove.cells import ANSWERS, EXPECTS, SHOWN, Answer, Cell, Run, Side, cell_of, replayed, side_of

PASS = Run("pass")
FAIL = Run("fail", None, "AssertionError: 3 != 4", "AssertionError")
SKIP = Run("not_run", "skip", "no network")

SIDES = {word: Side(word, "why" if word in {"flaky", "cannot_run"} else "") for word in SHOWN}


@pytest.mark.parametrize(
    ("patch", "parent", "expect", "answer", "direction"),
    [
        ("fails", "passes", "either", "proven", "fails-on-patch"),
        ("fails", "passes", "fails-on-patch", "proven", "fails-on-patch"),
        ("fails", "passes", "fails-on-parent", "inverted", "fails-on-patch"),
        ("passes", "fails", "either", "proven", "fails-on-parent"),
        ("passes", "fails", "fails-on-parent", "proven", "fails-on-parent"),
        ("passes", "fails", "fails-on-patch", "inverted", "fails-on-parent"),
        ("passes", "passes", "either", "tautology", None),
        ("fails", "fails", "either", "already_broken", None),
    ],
)
def test_two_verdicts_are_one_of_four_cells_p1_p2(patch, parent, expect, answer, direction) -> None:
    found = cell_of(SIDES[patch], SIDES[parent], expect=expect)
    assert (found.answer, found.direction) == (answer, direction)


def test_nothing_but_a_pass_and_a_failure_is_ever_proven() -> None:
    for patch, parent, expect in product(SHOWN, SHOWN, EXPECTS):
        found = cell_of(SIDES[patch], SIDES[parent], expect=expect)
        is_apart = {patch, parent} == {"passes", "fails"}
        assert (found.answer in {"proven", "inverted"}) == is_apart
        assert (found.direction is not None) == is_apart
        assert cell_of(SIDES[patch], SIDES[parent], expect=expect, vacuous="reads").answer not in {"proven", "inverted"}


def test_every_answer_has_its_words() -> None:
    assert tuple(ANSWERS) == get_args(Answer)


def test_a_side_that_gives_no_verdict_is_named_before_one_that_is_flaky() -> None:
    assert cell_of(SIDES["flaky"], SIDES["cannot_run"]) == Cell("cannot_run", None, "cannot run on the parent: why")
    assert cell_of(SIDES["cannot_run"], SIDES["flaky"]).reason == "cannot run on the patch: why"
    assert cell_of(SIDES["passes"], SIDES["flaky"]) == Cell("flaky", None, "on the parent: why")


def test_vacuity_is_said_of_what_would_be_a_proof_or_a_tautology_and_never_hides_a_failure_on_both() -> None:
    assert cell_of(SIDES["passes"], SIDES["fails"], vacuous="reads a.py") == Cell("vacuous", None, "reads a.py")
    assert cell_of(SIDES["passes"], SIDES["passes"], vacuous="reads a.py").answer == "vacuous"
    assert cell_of(SIDES["fails"], SIDES["fails"], vacuous="reads a.py").answer == "already_broken"


@pytest.mark.parametrize(("reaches", "answer"), [(None, "tautology"), (True, "tautology"), (False, "vacuous")])
def test_a_pass_on_both_sides_that_ran_nothing_of_the_change_is_vacuous(reaches: bool | None, answer: str) -> None:
    assert cell_of(SIDES["passes"], SIDES["passes"], reaches=reaches).answer == answer
    assert cell_of(SIDES["fails"], SIDES["passes"], reaches=reaches).answer == "proven"
    assert cell_of(SIDES["fails"], SIDES["fails"], reaches=reaches).answer == "already_broken"


@pytest.mark.parametrize(
    ("runs", "shown", "reason"),
    [
        pytest.param((PASS, PASS, PASS), "passes", "", id="passes"),
        pytest.param((FAIL, FAIL, FAIL), "fails", "", id="fails"),
        pytest.param((PASS, FAIL, PASS), "flaky", "it failed 1 of 3 times: AssertionError: 3 != 4", id="now and then"),
        pytest.param(
            (FAIL, FAIL._replace(exception="KeyError"), FAIL),
            "flaky",
            "it failed for several reasons: AssertionError, KeyError",
            id="several reasons",
        ),
        pytest.param((FAIL, FAIL._replace(message="AssertionError: 5 != 4"), FAIL), "fails", "", id="another message"),
        pytest.param((PASS, PASS), "cannot_run", "it ran 2 of 3 times", id="too few"),
        pytest.param((), "cannot_run", "it ran 0 of 3 times", id="none"),
        pytest.param((SKIP, SKIP, SKIP), "cannot_run", "skip: no network", id="skipped"),
        pytest.param((PASS, SKIP, PASS), "cannot_run", "skip: no network", id="skipped once"),
        pytest.param((FAIL, PASS, SKIP), "cannot_run", "skip: no network", id="no verdict outranks flaky"),
        pytest.param(
            (Run("fail", None, "ImportError: no b", "ImportError", True),) * 3,
            "cannot_run",
            "an import fails: ImportError: no b",
            id="import error",
        ),
        pytest.param((Run("not_run", "flaky", "Flaky: x"),) * 3, "flaky", "Flaky: x", id="flaky for Hypothesis"),
        pytest.param(
            (Run("fail", "error_teardown", "OSError: gone"),) * 3,
            "cannot_run",
            "error teardown: OSError: gone",
            id="a fixture's end",
        ),
    ],
)
def test_executions_on_one_side_have_to_say_the_same(runs, shown, reason) -> None:
    found = side_of(runs, repeat=3)
    assert (found.shown, found.reason) == (shown, reason)


@pytest.mark.parametrize("why", WHYS)
def test_an_execution_without_a_verdict_is_never_a_pass_or_a_failure(why: str) -> None:
    assert side_of((Run("not_run", why, "m"),) * 3, repeat=3).shown in {"cannot_run", "flaky"}


def test_of_a_failure_the_first_execution_speaks() -> None:
    first = Run("fail", None, "E: 1", "E", False, "f(1)", "@r")
    found = side_of((first, first._replace(message="E: 2"), first), repeat=3)
    assert found == Side("fails", "", "E", "E: 1", "f(1)", "@r")


def test_no_execution_at_all_is_no_pass_however_few_were_asked_for() -> None:
    assert side_of((), repeat=0).shown == "cannot_run"


@pytest.mark.parametrize(
    ("runs", "shown", "reason"),
    [
        ((), "passes", ""),
        ((PASS,), "passes", ""),
        ((FAIL,), "fails", "the other side's counterexample fails here, too"),
        (
            (Run("not_run", "no_verdict", "it draws something else"),),
            "cannot_run",
            "the other side's counterexample cannot be replayed: no verdict: it draws something else",
        ),
    ],
)
def test_the_other_sides_counterexample_has_to_pass_too(runs, shown, reason) -> None:
    found = replayed(Side("passes"), runs)
    assert (found.shown, found.reason) == (shown, reason)


@pytest.mark.parametrize("shown", ["fails", "flaky", "cannot_run"])
def test_a_replay_takes_nothing_back(shown: str) -> None:
    assert replayed(SIDES[shown], (PASS,)) == SIDES[shown]
