"""Rules as written to rules of a ladder: the boxes that each covers, and its condition in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from admit.core.ladder import Ladder, Rule
from admit.policy.document import CLEAN

if TYPE_CHECKING:
    from admit.core.ladder import Box
    from admit.core.signals import Signal
    from admit.policy.document import Document, Places, RuleText


def ladder_of(document: Document) -> Ladder:
    """Compile a document to its ladder; whether that is sound is asked elsewhere."""
    signals = document.signals
    outcomes = {outcome.name: outcome for outcome in document.outcomes}
    noun = "gate" if document.rules_on == "patch" else "signal"
    rules = tuple(
        Rule(
            number, boxes_of(rule, signals), outcomes[rule.outcome], rule.reason, rule.look_first, words_of(rule, noun)
        )
        for number, rule in enumerate(document.rules, start=1)
    )
    return Ladder(
        document.name,
        signals,
        outcomes=document.outcomes,
        rules=rules,
        worse=frozenset(document.worse),
        accept_region=tuple(_narrowed(_whole(signals), places, signals) for places in document.region),
    )


def boxes_of(rule: RuleText, signals: tuple[Signal, ...]) -> tuple[Box, ...]:
    """Return the boxes that a rule covers: one, or with `any` up to one a signal; none if it contradicts itself."""
    box = _narrowed(_whole(signals), rule.when, signals)
    if rule.all:
        box = tuple(states & _meant(rule.all, signal) for states, signal in zip(box, signals, strict=True))
    boxes = [box]
    if rule.any:
        boxes = [
            (*box[:place], box[place] & _meant(rule.any, signal), *box[place + 1 :])
            for place, signal in enumerate(signals)
        ]
    return tuple(dict.fromkeys(box for box in boxes if all(box)))


def _whole(signals: tuple[Signal, ...]) -> Box:
    """Return the box of every combination."""
    return tuple(frozenset(signal.states) for signal in signals)


def _narrowed(box: Box, places: Places, signals: tuple[Signal, ...]) -> Box:
    """Return the part of a box in which the named signals have the named states."""
    named = dict(places)
    return tuple(
        states & _meant(named[signal.name], signal) if signal.name in named else states
        for states, signal in zip(box, signals, strict=True)
    )


def _meant(states: tuple[str, ...], signal: Signal) -> frozenset[str]:
    """Return the states of one signal that these words mean."""
    return frozenset(states) & frozenset(signal.states) | (signal.clean if CLEAN in states else frozenset())


def words_of(rule: RuleText, noun: str) -> str:
    """Return a rule's condition in words; a signal's name always stands between spaces."""
    parts = [f"any {noun} is {_either(rule.any)}"] if rule.any else []
    parts += [f"every {noun} is {_either(rule.all)}"] if rule.all else []
    parts += [f"{signal} is {_either(states)}" for signal, states in rule.when]
    return " and ".join(parts) or "anything else"


def _either(states: tuple[str, ...]) -> str:
    """Return states in words."""
    return " or ".join(states)
