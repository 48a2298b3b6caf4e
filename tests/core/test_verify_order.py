"""The order of a diagram's levels: what rules tie together stands together, whatever the file's order (contract V1)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.core.ladder import Ladder, Rule
from admit.core.signal_order import _open, _ties, _width, signal_order
from admit.core.signals import Outcome, Signal
from admit.core.verify import verify

EVERY = frozenset("abc")


def signals_of(count):
    """Return signals of three states."""
    return tuple(Signal(f"s{n}", ("a", "b", "c"), frozenset("a")) for n in range(count))


def tie(count, *places):
    """Return a box that constrains some signals."""
    return tuple(frozenset("bc") if n in places else EVERY for n in range(count))


@given(st.lists(st.sets(st.integers(0, 5), max_size=4), max_size=6))
def test_every_signal_has_one_level(groups):
    """Whatever ties them."""
    order = signal_order(signals_of(6), [tie(6, *group) for group in groups])
    assert sorted(order) == list(range(6))


@pytest.mark.parametrize(
    ("size", "groups"),
    [
        pytest.param(20, [(a, b) for a in range(20) for b in range(a)], id="many ties"),
        pytest.param(200, [(0, 199), (1, 198)], id="many signals"),
    ],
)
def test_where_not_every_start_can_be_tried_there_still_is_an_order(size, groups):
    """V1: the effort is bounded, the answer is not."""
    order = signal_order(signals_of(size), [tie(size, *group) for group in groups])
    assert sorted(order) == list(range(size))


def test_signals_that_are_tied_crosswise_are_brought_together():
    """The worst case for the written order: s0 with s5, s1 with s6, and so on."""
    order = signal_order(signals_of(10), [tie(10, n, n + 5) for n in range(5)])
    assert all(abs(order.index(n) - order.index(n + 5)) == 1 for n in range(5))


@pytest.mark.parametrize(
    "boxes",
    [
        pytest.param([], id="no rules"),
        pytest.param([tie(4, 2)], id="one signal"),
        pytest.param([tie(4, 0, 1, 2, 3)], id="all signals"),
    ],
)
def test_where_nothing_is_tied_the_written_order_stays(boxes):
    """One signal alone, or all of them, says nothing about who stands beside whom."""
    assert signal_order(signals_of(4), boxes) == (0, 1, 2, 3)


def test_a_box_ties_some_signals_together_but_not_one_and_not_all_of_them():
    """Each group once, as bits."""
    boxes = [tie(3, 0), tie(3, 0, 1, 2), tie(3), tie(3, 0, 1), tie(3, 0, 1), tie(3, 2, 0)]
    assert _ties(signals_of(3), boxes) == [0b011, 0b101]


def test_a_tie_is_open_where_the_cut_goes_through_it():
    """The first is behind the cut, the second goes over it, the third is before it."""
    assert _open(0b0011, [0b0011, 0b0110, 0b1100]) == 1


@pytest.mark.parametrize(
    ("order", "width"),
    [
        pytest.param((0, 1, 2), 2 + 1 + 1, id="side by side"),
        pytest.param((0, 2, 1), 2 + 2 + 1, id="one between"),
    ],
)
def test_an_order_costs_two_to_the_number_of_open_ties_over_all_cuts(order, width):
    """One tie, of the first two signals."""
    assert _width(order, [0b011]) == width


def test_the_order_in_the_file_does_not_change_an_answer():
    """V1: the same ladder with its signals written the other way round."""
    outcomes = (Outcome("YES", "accept"), Outcome("NO", "reject"), Outcome("WAIT", "hold"))
    signals = signals_of(6)
    boxes = [tie(6, n, n + 3) for n in range(3)] + [(frozenset("a"),) * 6, (EVERY,) * 6]

    def counts(turn):
        rules = tuple(
            Rule(n, (turn(box),), outcomes[1 if n <= 3 else 0 if n == 4 else 2], "r", "", "")
            for n, box in enumerate(boxes, start=1)
        )
        return verify(Ladder("x", turn(signals), outcomes=outcomes, rules=rules)).counts

    assert counts(lambda one: one) == counts(lambda one: one[::-1])
