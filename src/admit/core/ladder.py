"""Ordered rules, first match wins, compiled to a table so that a decision is one lookup."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from admit.core.signals import Outcome, Signal

States = tuple[str, ...]
"""One combination: a state a signal, in the order of the ladder's signals."""

Box = tuple[frozenset[str], ...]
"""A product of state sets, one a signal: the combinations whose every state lies in its set."""

EAGER: Final = 4096
"""Up to so many combinations the table is filled when the ladder is made; beyond, as combinations are asked for."""


class Rule(NamedTuple):
    """One rule of a ladder: where it applies, what it gives, why, and where to look first.

    `boxes` is the union of products that it covers; `text` says the condition in words, as the policy wrote it.
    """

    number: int
    boxes: tuple[Box, ...]
    outcome: Outcome
    reason: str
    look_first: str
    text: str

    def covers(self, states: States) -> bool:
        """Return whether the rule applies to this combination."""
        return any(all(state in allowed for state, allowed in zip(states, box, strict=True)) for box in self.boxes)


class UnknownStateError(LookupError):
    """A combination holds a word that its signal does not have, or the wrong number of words."""


class UncoveredError(LookupError):
    """No rule covers a combination: the ladder is not total, which a policy's reader refuses."""


class Table(dict[States, Rule]):
    """Combination to rule, filled on first use, so that it serves ladders of any size.

    A miss is never a default: an unknown word raises, and so does a combination that no rule covers (contract E4, V1).
    """

    __slots__ = ("_rules", "_signals")

    def __init__(self, signals: tuple[Signal, ...], rules: tuple[Rule, ...]) -> None:
        super().__init__()
        self._signals, self._rules = signals, rules
        if combination_count(signals) <= EAGER:
            self._fill()

    def _fill(self) -> None:
        """Write the last rule first, so that each earlier rule writes over what it takes from a later one.

        Only words of the signals' own vocabularies enter, whatever a box names.
        """
        vocabularies = [frozenset(signal.states) for signal in self._signals]
        for rule in reversed(self._rules):
            for box in rule.boxes:
                known = (states & allowed for states, allowed in zip(vocabularies, box, strict=True))
                self.update(dict.fromkeys(product(*known), rule))

    def __missing__(self, states: States) -> Rule:
        """Rule on a combination that was not asked for before."""
        if len(states) != len(self._signals):
            raise UnknownStateError(f"{len(states)} states for {len(self._signals)} signals")
        for signal, state in zip(self._signals, states, strict=True):
            if state not in signal.states:
                raise UnknownStateError(f"{signal.name} is {state!r}; allowed: {', '.join(signal.states)}")
        for rule in self._rules:
            if rule.covers(states):
                self[states] = rule
                return rule
        raise UncoveredError(describe(self._signals, states))


class Ladder:
    """Signals, outcomes and ordered rules; the order is the policy (contract section 2).

    Args:
        name: the policy's name.
        signals: the inputs, in the order in which combinations name their states.
        outcomes: every outcome that a rule may give; the first hold is the answer to inadmissible evidence.
        rules: first match wins.
        worse: pairs (better, worse) of outcome names: the declared, possibly partial, order of outcomes.
        accept_region: the boxes inside which alone a rule may accept (contract V1).
    """

    __slots__ = ("accept_region", "name", "outcomes", "rules", "signals", "table", "worse")

    def __init__(
        self,
        name: str,
        signals: tuple[Signal, ...],
        *,
        outcomes: tuple[Outcome, ...],
        rules: tuple[Rule, ...],
        worse: frozenset[tuple[str, str]] = frozenset(),
        accept_region: tuple[Box, ...] = (),
    ) -> None:
        self.name, self.signals, self.outcomes, self.rules = name, signals, outcomes, rules
        self.worse = worse
        self.accept_region = accept_region or (tuple(signal.clean for signal in signals),)
        self.table: Mapping[States, Rule] = Table(signals, rules)

    @property
    def size(self) -> int:
        """Return the number of combinations."""
        return combination_count(self.signals)

    @property
    def hold(self) -> Outcome:
        """Return the outcome that answers inadmissible evidence: the first hold that the policy lists."""
        return next(outcome for outcome in self.outcomes if outcome.kind == "hold")

    def combinations(self) -> Iterator[States]:
        """Yield every combination, best states first."""
        return product(*(signal.states for signal in self.signals))

    def decide(self, *states: str) -> Rule:
        """Return the rule that rules on this combination, one state a signal in the ladder's order.

        Raises:
            UnknownStateError: a word that is not in its signal's vocabulary (contract E4).
        """
        return self.table[states]

    def rule_on(self, states: Mapping[str, str]) -> Rule:
        """Return the rule for states given by signal name.

        Raises:
            UnknownStateError: a signal is absent or holds an unknown word.
        """
        try:
            return self.table[tuple(states[signal.name] for signal in self.signals)]
        except KeyError as error:
            raise UnknownStateError(f"no state for the signal {error.args[0]}") from error


def combination_count(signals: tuple[Signal, ...]) -> int:
    """Return how many combinations signals have, exactly."""
    count = 1
    for signal in signals:
        count *= len(signal.states)
    return count


def describe(signals: tuple[Signal, ...], states: States) -> str:
    """Return a combination in words: `a=pass, b=fail`."""
    return ", ".join(f"{signal.name}={state}" for signal, state in zip(signals, states, strict=True))
