"""The order in which a diagram looks at signals: those that rules tie together stand together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from admit.core.ladder import Box
    from admit.core.signals import Signal

EFFORT: Final = 1_000_000
"""How many looks at a tie the search for an order may take; at least one order is always grown."""


def signal_order(signals: Sequence[Signal], boxes: Iterable[Box]) -> tuple[int, ...]:
    """Return the positions of signals in the order in which a diagram of these boxes stays small.

    A box ties the signals that it constrains. Between two levels a diagram has to remember every box that is tied to
    both sides, so its width grows with two to that number; an order is grown greedily from each start, and the cheapest
    one wins. The written order takes part, so no order is worse than that by this measure.
    """
    size = len(signals)
    ties = _ties(signals, boxes)
    starts = min(size, max(1, EFFORT // (size * size * len(ties)))) if ties else 0
    orders = [tuple(range(size)), *(_grown(start, size, ties) for start in range(starts))]
    return min(orders, key=lambda order: _width(order, ties))


def _ties(signals: Sequence[Signal], boxes: Iterable[Box]) -> list[int]:
    """Return the distinct groups of signals that boxes tie, as bits; one signal alone, or all of them, says nothing."""
    groups: dict[int, None] = {}
    for box in boxes:
        tied = [i for i, signal in enumerate(signals) if not box[i].issuperset(signal.states)]
        if 1 < len(tied) < len(signals):
            groups[sum(1 << i for i in tied)] = None
    return list(groups)


def _grown(start: int, size: int, ties: list[int]) -> tuple[int, ...]:
    """Return the order that begins with `start` and then always takes the signal that leaves the fewest ties open."""
    order, placed = [start], 1 << start
    while len(order) < size:
        rest = (i for i in range(size) if not placed >> i & 1)
        _, best = min((_open(placed | 1 << i, ties), i) for i in rest)
        order.append(best)
        placed |= 1 << best
    return tuple(order)


def _open(placed: int, ties: list[int]) -> int:
    """Return how many ties have a signal on both sides of the cut."""
    return sum(1 for tie in ties if tie & placed and tie & ~placed)


def _width(order: tuple[int, ...], ties: list[int]) -> int:
    """Return what a diagram may cost in this order: over all cuts, two to the number of ties that are open there."""
    placed = width = 0
    for position in order:
        placed |= 1 << position
        width += 1 << _open(placed, ties)
    return width
