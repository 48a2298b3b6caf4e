"""Exact questions about a ladder: total, dead rules, accept region, monotone, counts, what changed (contract V1)."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from admit.core.diagram import EMPTY, FULL, Budget, Space, TooLargeError
from admit.core.signal_order import signal_order

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from admit.core.ladder import Box, Ladder, Rule, States
    from admit.core.signals import Outcome

Guarantee: TypeAlias = Literal["total", "no-dead-rule", "accept-region", "accept-monotone", "order-monotone"]
"""What a ladder can be verified to keep, in the order in which it is asked."""

Held: TypeAlias = Literal["yes", "no", "not-obtained"]
"""Whether a guarantee holds. Past the budget the answer is not known, which is neither yes nor no."""

GUARANTEES: Final[dict[Guarantee, str]] = {
    "total": "every combination is ruled on",
    "no-dead-rule": "every rule rules on some combination",
    "accept-region": "only combinations inside the declared region accept",
    "accept-monotone": "making a signal worse never turns a combination that does not accept into one that does",
    "order-monotone": "making a signal worse never gives an outcome that is better in the declared order",
}
"""Each guarantee in words."""

STEPS: Final = 2_000_000
"""The default budget: seconds of work, and far more than a ladder that people can review needs."""


class Answer(NamedTuple):
    """What is known of one guarantee.

    `witness` is the smallest combination that breaks it, or for the monotone guarantees the smallest pair of
    combinations, better first, one signal apart. Smallest: the fewest signals away from clean, then first in order.
    `broken` counts the combinations (or steps, or dead rules) that break it.
    """

    guarantee: Guarantee
    held: Held
    witness: tuple[States, ...] = ()
    broken: int = 0


class DeadRule(NamedTuple):
    """A rule that can never match, and the earlier rules that take every combination that it covers."""

    rule: Rule
    taken_by: tuple[int, ...]


class Verification(NamedTuple):
    """Everything that was found out about a ladder, and how many steps it took.

    `counts` says how many combinations each rule rules on, exactly, in the order of the rules; None if not obtained.
    """

    answers: tuple[Answer, ...]
    dead: tuple[DeadRule, ...]
    counts: tuple[int, ...] | None
    steps: int

    @property
    def holds(self) -> bool:
        """Return whether every guarantee was obtained and holds."""
        return all(answer.held == "yes" for answer in self.answers)

    def answer(self, guarantee: Guarantee) -> Answer:
        """Return what is known of one guarantee."""
        return next(answer for answer in self.answers if answer.guarantee == guarantee)


class Change(NamedTuple):
    """How many combinations had one outcome under the old ladder and have another under the new, and the smallest."""

    old: Outcome
    new: Outcome
    combinations: int
    witness: States


def verify(ladder: Ladder, *, steps: int = STEPS) -> Verification:
    """Answer every question about a ladder exactly, or say which answers the budget did not reach (contract V1)."""
    proof = _Proof(ladder, steps)
    questions: tuple[Callable[[], Answer], ...] = (
        proof.total,
        proof.no_dead_rule,
        proof.accept_region,
        proof.accept_monotone,
        proof.order_monotone,
    )
    answers = tuple(
        _within_budget(question, guarantee) for question, guarantee in zip(questions, GUARANTEES, strict=True)
    )
    return Verification(answers, tuple(proof.dead), proof.counts(), proof.space.budget.used)


def census(ladder: Ladder, counts: Iterable[int]) -> dict[Outcome, int]:
    """Return how many combinations get each outcome, in the policy's order, from the counts of the rules."""
    total = dict.fromkeys(ladder.outcomes, 0)
    for rule, count in zip(ladder.rules, counts, strict=True):
        total[rule.outcome] += count
    return total


def changed(old: Ladder, new: Ladder, *, steps: int = STEPS) -> tuple[Change, ...]:
    """Return which outcomes changed into which between two ladders over the same signals, with exact counts.

    Raises:
        ValueError: the ladders do not have the same signals with the same states.
        TooLargeError: the budget is used up.
    """
    places = [_place(old, new, position) for position in range(len(old.signals))]
    if len(old.signals) != len(new.signals):
        raise ValueError("the ladders have different signals")
    moved = [tuple(tuple(box[place] for place in places) for box in rule.boxes) for rule in new.rules]
    boxes = [box for rule in old.rules for box in rule.boxes] + [box for rule in moved for box in rule]
    space = Space(old.signals, signal_order(old.signals, boxes), Budget(steps))
    before = _outcome_sets(space, [(rule.outcome, rule.boxes) for rule in old.rules])
    after = _outcome_sets(space, [(rule.outcome, boxes) for rule, boxes in zip(new.rules, moved, strict=True)])
    changes = []
    for one, was in before.items():
        for other, becomes in after.items():
            both = space.meet(was, becomes) if one != other else EMPTY
            witness = space.smallest(both)
            if witness is not None:
                changes.append(Change(one, other, space.count(both), witness))
    return tuple(changes)


def _place(old: Ladder, new: Ladder, position: int) -> int:
    """Return where a signal of the old ladder stands in the new one."""
    wanted = old.signals[position]
    for place, signal in enumerate(new.signals):
        if signal.name == wanted.name and set(signal.states) == set(wanted.states):
            return place
    raise ValueError(f"the new ladder has no signal {wanted.name} with the same states")


def _outcome_sets(space: Space, rules: Iterable[tuple[Outcome, tuple[Box, ...]]]) -> dict[Outcome, int]:
    """Return the combinations of each outcome: what its rules cover and no earlier rule takes."""
    left = FULL
    sets: dict[Outcome, int] = {}
    for outcome, boxes in rules:
        rest = left
        for box in boxes:
            rest = space.minus(rest, space.box(box))
        sets[outcome] = space.join(sets.get(outcome, EMPTY), space.minus(left, rest))
        left = rest
    return sets


def _within_budget(question: Callable[[], Answer], guarantee: Guarantee) -> Answer:
    """Return the answer, or that it was not obtained."""
    try:
        return question()
    except TooLargeError:
        return Answer(guarantee, "not-obtained")


class _Proof:
    """One verification under way: what each rule leaves to the next, as sets, and the answers that follow from it."""

    def __init__(self, ladder: Ladder, steps: int) -> None:
        self.ladder = ladder
        order = signal_order(ladder.signals, (box for rule in ladder.rules for box in rule.boxes))
        self.space = Space(ladder.signals, order, Budget(steps))
        self.dead: list[DeadRule] = []
        self._left = [FULL]
        self._sets: dict[str, int] = {}
        self._monotone: Answer | None = None

    def left(self) -> list[int]:
        """Return what is not ruled on before each rule, and at last what no rule covers; goes on where it stopped."""
        for rule in self.ladder.rules[len(self._left) - 1 :]:
            rest = self._left[-1]
            for box in rule.boxes:
                rest = self.space.minus(rest, self.space.box(box))
            self._left.append(rest)
        return self._left

    def counts(self) -> tuple[int, ...] | None:
        """Return how many combinations each rule rules on; None past the budget."""
        try:
            sizes = [self.space.count(rest) for rest in self.left()]
        except TooLargeError:
            return None
        return tuple(one - other for one, other in pairwise(sizes))

    def _taken(self, index: int) -> int:
        """Return the combinations that a rule rules on."""
        return self.space.meet(self.space.boxes(self.ladder.rules[index].boxes), self.left()[index])

    def _given(self, outcome: str) -> int:
        """Return the combinations that get an outcome, by its name."""
        if outcome not in self._sets:
            given = EMPTY
            for index, rule in enumerate(self.ladder.rules):
                if rule.outcome.name == outcome:
                    given = self.space.join(given, self._taken(index))
            self._sets[outcome] = given
        return self._sets[outcome]

    def _accepted(self) -> int:
        """Return the combinations that accept."""
        accepted = EMPTY
        for outcome in self.ladder.outcomes:
            if outcome.kind == "accept":
                accepted = self.space.join(accepted, self._given(outcome.name))
        return accepted

    def _empty(self, guarantee: Guarantee, node: int) -> Answer:
        """Answer yes if a set is empty, else no with its smallest combination."""
        witness = self.space.smallest(node)
        if witness is None:
            return Answer(guarantee, "yes")
        return Answer(guarantee, "no", (witness,), self.space.count(node))

    def total(self) -> Answer:
        """Ask whether every combination is ruled on."""
        return self._empty("total", self.left()[-1])

    def no_dead_rule(self) -> Answer:
        """Ask whether every rule rules on some combination."""
        left = self.left()
        found = [index for index in range(len(self.ladder.rules)) if left[index] == left[index + 1]]
        self.dead = [DeadRule(self.ladder.rules[index], self._taken_by(index)) for index in found]
        return Answer("no-dead-rule", "no" if found else "yes", broken=len(found))

    def _taken_by(self, index: int) -> tuple[int, ...]:
        """Return the numbers of the earlier rules that rule on what this rule covers; all of them past the budget."""
        earlier = self.ladder.rules[:index]
        taken_by = []
        try:
            rest = self.space.boxes(self.ladder.rules[index].boxes)
            for rule in earlier:
                before, rest = rest, self.space.minus(rest, self.space.boxes(rule.boxes))
                if rest != before:
                    taken_by.append(rule.number)
        except TooLargeError:
            return tuple(rule.number for rule in earlier)
        return tuple(taken_by)

    def accept_region(self) -> Answer:
        """Ask whether only combinations inside the declared region accept."""
        accepting = [rule for rule in self.ladder.rules if rule.outcome.kind == "accept"]
        if all(_inside(box, self.ladder.accept_region) for rule in accepting for box in rule.boxes):
            return Answer("accept-region", "yes")
        outside = self.space.minus(self._accepted(), self.space.boxes(self.ladder.accept_region))
        return self._empty("accept-region", outside)

    def accept_monotone(self) -> Answer:
        """Ask whether making a signal worse never turns a combination that does not accept into one that does."""
        if self._monotone is None:
            accepted = self._accepted()
            self._monotone = self._unbroken("accept-monotone", [(self.space.minus(FULL, accepted), accepted)])
        return self._monotone

    def order_monotone(self) -> Answer:
        """Ask whether making a signal worse never gives an outcome that is better in the declared order."""
        pairs = closure(self.ladder.worse)
        if pairs == self._accept_first() and self.left()[-1] == EMPTY:
            return self.accept_monotone()._replace(guarantee="order-monotone")
        return self._unbroken("order-monotone", [(self._given(bad), self._given(good)) for good, bad in sorted(pairs)])

    def _accept_first(self) -> frozenset[tuple[str, str]]:
        """Return the order that says no more than that accepting is better: on a total ladder, accept-monotone."""
        kinds = {outcome.name: outcome.kind for outcome in self.ladder.outcomes}
        accepting = [name for name, kind in kinds.items() if kind == "accept"]
        others = [name for name, kind in kinds.items() if kind != "accept"]
        return frozenset((good, bad) for good in accepting for bad in others)

    def _unbroken(self, guarantee: Guarantee, pairs: list[tuple[int, int]]) -> Answer:
        """Answer yes if no worsening leads from the first set of a pair into its second, else no with the smallest."""
        found = [self.space.worsenings(bad, good) for bad, good in pairs]
        broken = sum(one.number for one in found)
        if not broken:
            return Answer(guarantee, "yes")
        smallest = min((one.cost, one.witness) for one in found if one.witness is not None)[1]
        return Answer(guarantee, "no", smallest, broken)


def closure(worse: Iterable[tuple[str, str]]) -> frozenset[tuple[str, str]]:
    """Return every pair (better, worse) that follows from the declared ones."""
    pairs = set(worse)
    while True:
        more = {(one, four) for one, two in pairs for three, four in pairs if two == three} - pairs
        if not more:
            return frozenset(pairs)
        pairs |= more


def _inside(box: Box, region: tuple[Box, ...]) -> bool:
    """Return whether one box of the region alone holds the whole box."""
    return any(all(one <= other for one, other in zip(box, place, strict=True)) for place in region)
