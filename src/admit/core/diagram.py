"""Sets of combinations as hash-consed multi-valued decision diagrams: exact differences, counts and witnesses."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from admit.core.ladder import Box, States
    from admit.core.signals import Signal

EMPTY: Final = 0
"""The diagram of no combination."""

FULL: Final = 1
"""The diagram of every combination."""


class TooLargeError(Exception):
    """The steps that a question was allowed are used up before its answer was found."""


class Budget:
    """How many steps may still be taken; a step is one node, or one pair of nodes, looked into for the first time.

    Steps and not seconds, so that the same policy gets the same answer on every machine.
    """

    __slots__ = ("allowed", "used")

    def __init__(self, allowed: int) -> None:
        self.allowed, self.used = allowed, 0

    def spend(self) -> None:
        """Take one step.

        Raises:
            TooLargeError: none is left.
        """
        if self.used >= self.allowed:
            raise TooLargeError
        self.used += 1


class Worsening(NamedTuple):
    """The steps from one set into another by making exactly one signal worse: how many, and the smallest.

    `cost` orders witnesses: the better combination nearest to clean first, then the worse one.
    """

    number: int
    cost: int
    witness: tuple[States, States] | None


class _Step(NamedTuple):
    """Where the cheapest worsening below a pair of nodes goes: state `better` in one, `worse` in the other."""

    number: int
    cost: int | None
    better: int
    worse: int


_NO_STEP: Final = _Step(0, None, 0, 0)


class Space:
    """Every combination of some signals, and the diagrams of its subsets.

    A diagram is a number; two sets are equal exactly when their numbers are. A node has one child a state of the signal
    at its level; a signal on which nothing depends has no node. `order` says which signal each level looks at: it
    changes how large diagrams get and nothing else.
    """

    def __init__(self, signals: Sequence[Signal], order: Sequence[int], budget: Budget) -> None:
        self.signals, self.order, self.budget = tuple(signals), tuple(order), budget
        self._arity = [len(signals[position].states) for position in order]
        depth = len(self._arity)
        self._level: list[int] = [depth, depth]
        self._children: list[tuple[int, ...]] = [(), ()]
        self._known: dict[tuple[int, tuple[int, ...]], int] = {}
        self._differences: dict[int, int] = {}
        self._size = prod(self._arity)
        self._counts: dict[int, int] = {EMPTY: 0, FULL: self._size}
        self._nearest: dict[int, tuple[int, int]] = {}
        self._costs, self._above_all = self._price()

    def _price(self) -> tuple[list[list[int]], int]:
        """Return the price of each state at each level, and a number above every sum of prices.

        A signal that is not clean costs more than all positions together; then the earlier signal and the better
        state are cheaper. So the cheapest combination has the fewest signals away from clean, then comes first.
        """
        weights, weight = [0] * len(self.signals), 1
        for position in reversed(range(len(self.signals))):
            weights[position] = weight
            weight *= len(self.signals[position].states)
        costs = []
        for position in self.order:
            signal = self.signals[position]
            prices = [
                (0 if state in signal.clean else weight) + index * weights[position]
                for index, state in enumerate(signal.states)
            ]
            costs.append([price - min(prices) for price in prices])
        return costs, weight * (len(self.signals) + 2)

    def _node(self, level: int, children: tuple[int, ...]) -> int:
        """Return the one number of this node."""
        first = children[0]
        if children.count(first) == len(children):
            return first
        key = (level, children)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = len(self._level)
            self._level.append(level)
            self._children.append(children)
        return known

    def _below(self, node: int, level: int) -> tuple[int, ...]:
        """Return the children of a node as seen from `level`, where it may depend on nothing."""
        return self._children[node] if self._level[node] == level else (node,) * self._arity[level]

    def box(self, box: Box) -> int:
        """Return the set of a product of state sets, one a signal in the order of the signals."""
        node = FULL
        for level in reversed(range(len(self.order))):
            position = self.order[level]
            allowed = box[position]
            node = self._node(level, tuple(node if s in allowed else EMPTY for s in self.signals[position].states))
        return node

    def boxes(self, boxes: Iterable[Box]) -> int:
        """Return the union of products."""
        outside = FULL
        for box in boxes:
            outside = self.minus(outside, self.box(box))
        return self.minus(FULL, outside)

    def minus(self, one: int, other: int) -> int:
        """Return what is in `one` and not in `other`.

        Raises:
            TooLargeError: the budget is used up.
        """
        self._differences.clear()
        return self._minus(one, other)

    def meet(self, one: int, other: int) -> int:
        """Return what is in both."""
        return self.minus(one, self.minus(one, other))

    def join(self, one: int, other: int) -> int:
        """Return what is in either."""
        return self.minus(FULL, self.minus(self.minus(FULL, one), other))

    def _minus(self, one: int, other: int) -> int:
        if one == EMPTY or other in (FULL, one):
            return EMPTY
        if other == EMPTY:
            return one
        key = one << 40 | other
        found = self._differences.get(key)
        if found is not None:
            return found
        self.budget.spend()
        level = min(self._level[one], self._level[other])
        ours, theirs = self._below(one, level), self._below(other, level)
        node = self._node(level, tuple(map(self._minus, ours, theirs)))
        self._differences[key] = node
        return node

    def count(self, node: int) -> int:
        """Return how many combinations are in a set, exactly."""
        found = self._counts.get(node)
        if found is None:
            self.budget.spend()
            below = sum(map(self.count, self._children[node]))
            found = self._counts[node] = below // self._arity[self._level[node]]
        return found

    def smallest(self, node: int) -> States | None:
        """Return the combination with the fewest signals away from clean, then the first in order; None if empty."""
        if node == EMPTY:
            return None
        picks: dict[int, int] = {}
        self._descend(node, picks)
        return self._spell(picks)

    def _descend(self, node: int, picks: dict[int, int]) -> None:
        """Note the state that the smallest combination of a set that is not empty has at each level that matters."""
        while node != FULL:
            _, index = self._cheapest(node)
            picks[self._level[node]] = index
            node = self._children[node][index]

    def _cheapest(self, node: int) -> tuple[int, int]:
        """Return the price of the smallest combination of a set that is not empty, and its state at the top."""
        if node == FULL:
            return 0, 0
        found = self._nearest.get(node)
        if found is None:
            self.budget.spend()
            prices = self._costs[self._level[node]]
            found = self._nearest[node] = min(
                (prices[index] + self._cheapest(child)[0], index)
                for index, child in enumerate(self._children[node])
                if child != EMPTY
            )
        return found

    def _spell(self, picks: dict[int, int]) -> States:
        """Return the combination with these states, and the cheapest ones at all other levels."""
        states = [""] * len(self.signals)
        for level, position in enumerate(self.order):
            index = picks.get(level, self._costs[level].index(0))
            states[position] = self.signals[position].states[index]
        return tuple(states)

    def worsenings(self, better: int, worse: int) -> Worsening:
        """Return the steps from a combination of `better` to one of `worse` that make exactly one signal worse.

        The two sets have nothing in common. A step may skip states: from a signal's first to its third is one step.

        Raises:
            TooLargeError: the budget is used up.
        """
        steps: dict[tuple[int, int], _Step] = {}
        top = self._steps(better, worse, steps)
        if top.cost is None:
            return Worsening(0, 0, None)
        ours: dict[int, int] = {}
        theirs: dict[int, int] = {}
        while True:
            found = steps[better, worse]
            level = min(self._level[better], self._level[worse])
            ours[level], theirs[level] = found.better, found.worse
            better = self._below(better, level)[found.better]
            worse = self._below(worse, level)[found.worse]
            if found.better != found.worse:
                break
        rest: dict[int, int] = {}
        self._descend(self.meet(better, worse), rest)
        return Worsening(top.number, top.cost, (self._spell(ours | rest), self._spell(theirs | rest)))

    def _steps(self, better: int, worse: int, steps: dict[tuple[int, int], _Step]) -> _Step:
        """Count the worsenings below a pair of nodes, and find the cheapest."""
        if EMPTY in (better, worse):
            return _NO_STEP
        found = steps.get((better, worse))
        if found is not None:
            return found
        self.budget.spend()
        level = min(self._level[better], self._level[worse])
        ours, theirs = self._below(better, level), self._below(worse, level)
        kept = [
            self._on_both_sides(level, index, self._steps(one, other, steps))
            for index, (one, other) in enumerate(zip(ours, theirs, strict=True))
        ]
        taken = [
            self._across(level, (i, j), self.meet(ours[i], theirs[j]))
            for j in range(len(theirs))
            for i in range(j)
            if ours[i] != EMPTY and theirs[j] != EMPTY
        ]
        every = kept + taken
        number = sum(step.number for step in every) // self._arity[level]
        cheapest = min(((step.cost, step) for step in every if step.cost is not None), default=(0, _NO_STEP))[1]
        found = steps[better, worse] = cheapest._replace(number=number)
        return found

    def _on_both_sides(self, level: int, index: int, below: _Step) -> _Step:
        """Return a worsening that happens further down, as seen from here: both have the same state at this level."""
        if below.cost is None:
            return below
        return _Step(below.number, below.cost + self._costs[level][index] * (self._above_all + 1), index, index)

    def _across(self, level: int, states: tuple[int, int], rest: int) -> _Step:
        """Return the worsenings at this level between two states, `rest` being what may follow on both sides."""
        if rest == EMPTY:
            return _NO_STEP
        prices, (better, worse) = self._costs[level], states
        shared, _ = self._cheapest(rest)
        cost = prices[better] * self._above_all + prices[worse] + shared * (self._above_all + 1)
        return _Step(self.count(rest), cost, better, worse)
