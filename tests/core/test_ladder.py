"""Ladders: first match wins, one lookup, and never an answer for what is not there."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from admit.core.ladder import EAGER, Ladder, Rule, Table, UncoveredError, UnknownStateError, describe
from admit.core.signals import Outcome, Signal

YES, WAIT = Outcome("YES", "accept"), Outcome("WAIT", "hold")


def ladder_of(*boxes, signals):
    """Return a ladder with a rule a box, the last one accepting."""
    rules = [Rule(n, (box,), WAIT, f"r{n}", "", "") for n, box in enumerate(boxes[:-1], start=1)]
    rules.append(Rule(len(boxes), (boxes[-1],), YES, "last", "", ""))
    return Ladder("x", signals, outcomes=(YES, WAIT), rules=tuple(rules))


def signals_of(count, states="abc"):
    """Return signals of the same states, the first one clean."""
    return tuple(Signal(f"s{n}", tuple(states), frozenset(states[0])) for n in range(count))


def box(*states):
    """Return a box from strings of one-letter states."""
    return tuple(frozenset(one) for one in states)


@given(st.lists(st.tuples(*(st.frozensets(st.sampled_from("abc")) for _ in range(3))), min_size=1, max_size=5))
@settings(max_examples=50)
def test_the_filled_table_is_what_the_rules_say_one_after_the_other(boxes):
    """Section 2: the first that matches wins, whichever way the table was written."""
    signals = signals_of(3)
    ladder = ladder_of(*boxes, signals=signals)
    for states in ladder.combinations():
        first = next((rule for rule in ladder.rules if rule.covers(states)), None)
        if first is None:
            with pytest.raises(UncoveredError, match=f"s0={states[0]}"):
                ladder.decide(*states)
        else:
            assert ladder.decide(*states) is first
            assert ladder.rule_on(dict(zip(["s0", "s1", "s2"], states))) is first


def test_a_large_ladder_rules_on_what_it_is_asked_and_remembers_it():
    """R6: any number of gates."""
    signals = signals_of(9)
    ladder = ladder_of(box(*["b"] + ["abc"] * 8), box(*["abc"] * 9), signals=signals)
    assert ladder.size == 3**9 > EAGER
    assert len(ladder.table) == 0
    assert ladder.decide(*"b" * 9).number == 1
    assert ladder.decide(*"a" * 9).number == 2
    assert len(ladder.table) == 2
    assert ladder.decide(*"b" * 9) is ladder.rules[0]


def test_the_largest_ladder_that_is_filled_when_it_is_made_has_as_many_combinations_as_it_says():
    """Up to that many one lookup is enough from the start."""
    signals = signals_of(12, states="ab")
    ladder = ladder_of(box(*["ab"] * 12), signals=signals)
    assert ladder.size == len(ladder.table) == EAGER


@pytest.mark.parametrize("count", [pytest.param(2, id="small, filled"), pytest.param(9, id="large, asked")])
def test_a_word_that_only_a_box_has_is_not_ruled_on(count):
    """E4: a stray word in a rule opens nothing."""
    ladder = ladder_of(box(*["abcz"] * count), signals=signals_of(count))
    with pytest.raises(UnknownStateError, match="s0 is 'z'; allowed: a, b, c"):
        ladder.decide(*"z" * count)


def test_a_signal_that_is_not_given_is_not_taken_for_anything():
    """E1: whoever reads evidence says missing; the ladder does not guess."""
    ladder = ladder_of(box("abc", "abc"), signals=signals_of(2))
    with pytest.raises(UnknownStateError, match="no state for the signal s1"):
        ladder.rule_on({"s0": "a"})


def test_a_signal_more_than_the_ladder_has_changes_nothing():
    """The ladder asks for what it rules on."""
    ladder = ladder_of(box("abc", "abc"), signals=signals_of(2))
    assert ladder.rule_on({"s0": "a", "s1": "a", "s2": "z"}).number == 1


def test_the_first_hold_answers_inadmissible_evidence():
    """R5: whatever else a policy lists."""
    one, other = Outcome("ONE", "hold"), Outcome("OTHER", "hold")
    ladder = Ladder("x", signals_of(1), outcomes=(YES, one, other), rules=())
    assert ladder.hold == one


def test_the_accept_region_is_the_clean_combinations_unless_declared():
    """V1."""
    signals = signals_of(2)
    assert ladder_of(box("abc", "abc"), signals=signals).accept_region == (box("a", "a"),)
    declared = Ladder("x", signals, outcomes=(YES, WAIT), rules=(), accept_region=(box("a", "ab"),))
    assert declared.accept_region == (box("a", "ab"),)


@pytest.mark.parametrize(
    ("kind", "code"),
    [pytest.param("accept", 0, id="R5: 0"), pytest.param("reject", 1, id="R5: 1"), pytest.param("hold", 2, id="R5: 2")],
)
def test_an_outcomes_exit_code_says_what_it_means_whatever_its_name(kind, code):
    """R5."""
    assert Outcome("WHATEVER", kind).exit_code == code


def test_a_combination_is_described_by_signal():
    """Messages name states with their signals."""
    assert describe(signals_of(2), ("a", "c")) == "s0=a, s1=c"


def test_what_does_not_fit_together_is_not_cut_to_fit():
    """A combination, a box and the signals have one length; the shortest never decides."""
    rule = Rule(1, (box("abc", "abc"),), WAIT, "r", "", "")
    with pytest.raises(ValueError, match="zip"):
        rule.covers(("a",))
    with pytest.raises(ValueError, match="zip"):
        describe(signals_of(2), ("a",))
    with pytest.raises(ValueError, match="zip"):
        ladder_of(box("abc"), signals=signals_of(2))


@pytest.mark.parametrize(
    ("states", "message"),
    [
        pytest.param("a", "1 states for 2 signals", id="too few"),
        pytest.param("aaa", "3 states for 2 signals", id="too many"),
        pytest.param("az", "s1 is 'z'; allowed: a, b, c", id="an unknown word"),
    ],
)
def test_a_lookup_that_fails_says_why(states, message):
    """E4."""
    with pytest.raises(UnknownStateError) as failed:
        ladder_of(box("abc", "abc"), signals=signals_of(2)).decide(*states)
    assert str(failed.value) == message


def test_a_combination_that_no_rule_covers_is_named():
    """V1."""
    with pytest.raises(UncoveredError) as failed:
        ladder_of(box("a", "abc"), signals=signals_of(2)).decide("b", "c")
    assert str(failed.value) == "s0=b, s1=c"


def test_a_table_without_signals_has_one_combination():
    """The empty product is one, not none."""
    rule = Rule(1, ((),), WAIT, "r", "", "")
    assert dict(Table((), (rule,))) == {(): rule}
