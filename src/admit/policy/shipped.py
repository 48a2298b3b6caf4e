"""The shipped policies, built from generated tuples, so that a command starts without reading TOML or verifying.

Plain tuples, and not a class of their own: defining one more class would cost more than building the policy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from admit.core.ladder import Ladder, Rule
from admit.core.signals import Outcome, Signal
from admit.policy.model import TRUST, EvidenceOptions, Policy

if TYPE_CHECKING:
    from typing import TypeAlias

    from admit.core.ladder import Box
    from admit.core.signals import Kind
    from admit.policy.model import Flaky, NoBase, RulesOn

    PackedBox: TypeAlias = tuple[tuple[int, tuple[str, ...]], ...]
    """A box as (position of a signal, its states) pairs; signals that it does not constrain are left out."""

    PackedSignal: TypeAlias = tuple[str, tuple[str, ...], tuple[str, ...]]
    """Name, states, clean states."""

    PackedRule: TypeAlias = tuple[str, str, str, str, tuple[PackedBox, ...]]
    """Outcome, reason, where to look first, the condition in words, boxes."""

    PackedLadder: TypeAlias = tuple[
        str,
        tuple[PackedSignal, ...],
        tuple[tuple[str, Kind], ...],
        tuple[tuple[str, str], ...],
        tuple[PackedBox, ...],
        tuple[PackedRule, ...],
    ]
    """A ladder in the order of LADDER_FIELDS."""

    Packed: TypeAlias = tuple[
        PackedLadder,
        str,
        RulesOn,
        tuple[str, ...],
        tuple[tuple[str, str], ...],
        tuple[Flaky, NoBase, int | None, int | None],
        str,
        str,
    ]
    """A policy in the order of FIELDS."""

FIELDS: Final = ("ladder", "digest", "rules_on", "required", "waived", "options", "about", "check")
LADDER_FIELDS: Final = ("name", "signals", "outcomes", "worse", "region", "rules")


def pack(policy: Policy) -> Packed:
    """Return a policy as plain tuples, everything in a fixed order."""
    assert policy.trust == TRUST, "a shipped policy knows nobody's keys"
    options = policy.options
    return (
        _pack_ladder(policy.ladder),
        policy.digest,
        policy.rules_on,
        policy.required,
        policy.waived,
        (options.flaky, options.no_base, options.base_moved_commits, options.base_moved_hours),
        policy.about,
        policy.check,
    )


def _pack_ladder(ladder: Ladder) -> PackedLadder:
    """Return a ladder as plain tuples."""
    signals = ladder.signals
    return (
        ladder.name,
        tuple((signal.name, signal.states, _in_order(signal, signal.clean)) for signal in signals),
        tuple((outcome.name, outcome.kind) for outcome in ladder.outcomes),
        tuple(sorted(ladder.worse)),
        tuple(_pack_box(box, signals) for box in ladder.accept_region),
        tuple(_pack_rule(rule, signals) for rule in ladder.rules),
    )


def _pack_rule(rule: Rule, signals: tuple[Signal, ...]) -> PackedRule:
    """Return a rule as plain tuples."""
    boxes = tuple(_pack_box(box, signals) for box in rule.boxes)
    return rule.outcome.name, rule.reason, rule.look_first, rule.text, boxes


def _pack_box(box: Box, signals: tuple[Signal, ...]) -> PackedBox:
    """Return the constrained signals of a box."""
    return tuple(
        (position, _in_order(signal, states))
        for position, (states, signal) in enumerate(zip(box, signals, strict=True))
        if len(states) < len(signal.states)
    )


def _in_order(signal: Signal, states: frozenset[str]) -> tuple[str, ...]:
    """Return a set of states from best to worst."""
    return tuple(state for state in signal.states if state in states)


def unpack(packed: Packed) -> Policy:
    """Return the policy that was packed, its name as its source."""
    ladder, digest, rules_on, required, waived, options, about, check = packed
    name = ladder[0]
    return Policy(
        _unpack_ladder(ladder), digest, rules_on, required, waived, EvidenceOptions(*options), about, name, check
    )


def _unpack_ladder(packed: PackedLadder) -> Ladder:
    """Return the ladder that was packed."""
    name, packed_signals, packed_outcomes, worse, region, packed_rules = packed
    signals = tuple(Signal(name, states, frozenset(clean)) for name, states, clean in packed_signals)
    outcomes = {outcome: Outcome(outcome, kind) for outcome, kind in packed_outcomes}
    whole = [frozenset(signal.states) for signal in signals]
    rules = tuple(
        Rule(number, tuple(_unpack_box(box, whole) for box in boxes), outcomes[outcome], reason, look_first, text)
        for number, (outcome, reason, look_first, text, boxes) in enumerate(packed_rules, start=1)
    )
    return Ladder(
        name,
        signals,
        outcomes=tuple(outcomes.values()),
        rules=rules,
        worse=frozenset(worse),
        accept_region=tuple(_unpack_box(box, whole) for box in region),
    )


def _unpack_box(packed: PackedBox, whole: list[frozenset[str]]) -> Box:
    """Return a box with every signal in it."""
    box = whole.copy()
    for position, states in packed:
        box[position] = frozenset(states)
    return tuple(box)
