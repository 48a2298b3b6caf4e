"""Diagrams asked directly: exact counts, smallest steps in any order of levels, each pair looked into once."""

from __future__ import annotations

import pytest

from admit.core.diagram import EMPTY, FULL, Budget, Space, Worsening
from admit.core.signals import Signal


def space_of(*cleans, order=None, budget=10_000):
    """Return the space of signals of three states, a signal for each set of clean ones."""
    signals = [Signal(f"s{n}", ("a", "b", "c"), frozenset(clean)) for n, clean in enumerate(cleans)]
    return Space(signals, order or range(len(signals)), Budget(budget))


def box(*states):
    return tuple(map(frozenset, states))


@pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=["written order", "turned order"])
@pytest.mark.parametrize(
    ("clean", "witness"),
    [
        pytest.param("ab", (("b", "a"), ("b", "b")), id="a step to a clean state is smaller"),
        pytest.param("a", (("b", "a"), ("c", "a")), id="a step that stays away from clean is smaller"),
    ],
)
def test_the_order_of_levels_does_not_change_which_step_is_the_smallest(clean, order, witness):
    """V1: of two steps from one combination, the one to the combination nearer to clean, then first in order."""
    space = space_of("a", clean, order=order)
    better, worse = space.box(box("b", "a")), space.boxes([box("b", "b"), box("c", "a")])
    found = space.worsenings(better, worse)
    assert (found.number, found.witness) == (2, witness)


@pytest.mark.parametrize(("better", "worse"), [(EMPTY, FULL), (FULL, EMPTY)], ids=["from nothing", "into nothing"])
def test_where_there_is_no_step_none_is_counted(better, worse):
    """V1: nothing, and no witness."""
    assert space_of("a", "a").worsenings(better, worse) == Worsening(0, 0, None)


def test_a_smaller_step_costs_less():
    """V1: of the steps that several pairs of sets allow, the cheapest is the witness."""
    space = space_of("a", "a")
    near = space.worsenings(space.box(box("a", "a")), space.box(box("a", "b")))
    far = space.worsenings(space.box(box("b", "a")), space.box(box("b", "b")))
    assert 0 < near.cost < far.cost


def test_steps_are_counted_exactly_beyond_what_a_float_can_hold():
    """V1: 3**39 steps, to the last one."""
    space = space_of(*["a"] * 40)
    rest = ["abc"] * 39
    found = space.worsenings(space.box(box("a", *rest)), space.box(box("b", *rest)))
    assert found.number == 3**39


def test_two_sets_are_equal_exactly_when_their_numbers_are():
    """Whatever they were made of."""
    space = space_of("a", "a")
    assert space.box(box("ab", "bc")) == space.box(box("ab", "bc")) != space.box(box("ab", "b"))
    assert space.boxes([box("a", "abc"), box("b", "abc")]) == space.box(box("ab", "abc"))


def test_a_set_is_counted_exactly_beyond_what_a_float_can_hold():
    """V1: to the last combination."""
    space = space_of(*["a"] * 40)
    assert space.count(space.box(box("ab", *["abc"] * 39))) == 2 * 3**39


def test_one_signal_away_from_clean_is_dearer_than_all_positions_together():
    """V1: the last of the clean combinations comes before the first that is not clean."""
    space = space_of("bc", "abc")
    assert space.smallest(space.boxes([box("a", "a"), box("c", "c")])) == ("c", "c")


def test_a_signal_of_one_state_decides_nothing():
    """The whole set, or nothing."""
    space = Space([Signal("s0", ("a",), frozenset("a"))], [0], Budget(10))
    assert space.box(box("a")) == FULL
    assert space.box(box("")) == EMPTY


def odd_of(space, count):
    """Return the combinations with an odd number of signals away from a: many ways lead down through few sets."""
    odd = EMPTY
    for place in range(count):
        away = space.box(box(*("bc" if n == place else "abc" for n in range(count))))
        odd = space.join(space.minus(odd, away), space.minus(away, odd))
    return odd


def test_a_pair_of_sets_is_looked_into_once_however_many_ways_lead_there():
    """V1: 2**11 ways down, and a few pairs on each level."""
    space = space_of(*["a"] * 12, budget=100_000)
    odd = odd_of(space, 12)
    before = space.budget.used
    found = space.worsenings(space.minus(FULL, odd), odd)
    assert found.witness == (("a",) * 12, ("a",) * 11 + ("b",))
    assert space.budget.used - before < 2**11


def test_a_set_is_looked_into_once_for_its_smallest_combination_and_for_its_count():
    """V1: two sets on each level."""
    space = space_of(*["a"] * 12, budget=100_000)
    odd = odd_of(space, 12)
    before = space.budget.used
    assert space.smallest(odd) == ("a",) * 11 + ("b",)
    assert space.budget.used - before <= 24
    assert space.count(odd) == (3**12 - (1 - 2) ** 12) // 2
    assert space.budget.used - before <= 48
