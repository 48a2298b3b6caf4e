"""The parts of a policy file as written, and the words and limits of the format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from admit.core.signals import FLAKE_STATES, INSTRUMENT_STATES, LOCK_STATES, PROVENANCE_STATES

if TYPE_CHECKING:
    from admit.core.signals import Outcome, Signal
    from admit.policy.model import EvidenceOptions, RulesOn, TrustOptions

SCHEMA: Final = "admit.policy/1"

CLEAN: Final = "clean"
"""Stands for a signal's clean states wherever a rule names states, so no state can be called that."""

ALL_CLEAN: Final = "all-clean"
"""The region of the combinations in which every signal is clean."""

MAX_SIGNALS: Final = 200
MAX_RULES: Final = 2000

KEYS: Final[dict[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "patch": (
        ("schema", "name", "rules_on", "signal", "outcome", "rule"),
        ("about", "required", "waived", "order", "accept", "evidence", "trust"),
    ),
    "node": (("schema", "name", "rules_on", "check", "signal", "outcome", "rule"), ("about", "order", "accept")),
}
"""Keys at the top of a policy: those that must be there, and those that may."""

SIGNAL_KEYS: Final = (("name", "states", "clean"), ())
OUTCOME_KEYS: Final = (("name", "means"), ())
RULE_KEYS: Final = (("outcome", "reason"), ("any", "all", "when", "look_first"))
EVIDENCE_KEYS: Final = ((), ("flaky", "no_base", "base_moved_commits", "base_moved_hours"))
TRUST_KEYS: Final = ((), ("approvers", "evidence", "timing_lanes", "instrument_edits"))

RESERVED: Final = (
    "attempts", "base", "counterexample", "examples", "fixture_lock", "fixture_manifest", "flake_status", "flaky",
    "freeze_expires", "gate", "head", "instrument", "message", "node", "patch_id", "provenance", "record", "reproduce",
    "schema", "seed", "settings", "why",
)  # fmt: skip
"""Keys of evidence documents, which no gate can be called: the two could not be told apart."""

MAX_GATE: Final = 100
"""The longest name of a gate, in characters: evidence takes no longer one."""

OWN_GATES: Final = ("property_check", "fixture_check", "flaky_freeze")
"""The gates that admit itself brings: a policy requires each, or waives it in words (contract R7)."""

NODE_SIGNALS: Final[dict[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "fixture_lock": (LOCK_STATES, ("match",)),
    "flake_status": (FLAKE_STATES, ("stable",)),
    "instrument": (INSTRUMENT_STATES, ("intact",)),
    "provenance": (PROVENANCE_STATES, ("established", "proven")),
}
"""The signals that a node has beside its check: their states, and the clean ones. The contract says which these are."""

Places: TypeAlias = tuple[tuple[str, tuple[str, ...]], ...]
"""Signals and the states that are meant of each, as written: (signal, states) pairs."""


class RuleText(NamedTuple):
    """One rule as written: what must hold of any signal, of all signals, of named ones; all three must."""

    any: tuple[str, ...]
    all: tuple[str, ...]
    when: Places
    outcome: str
    reason: str
    look_first: str


class Document(NamedTuple):
    """A policy file whose every key and word is known; whether its rules are sound is asked later."""

    name: str
    rules_on: RulesOn
    check: str
    about: str
    required: tuple[str, ...]
    waived: tuple[tuple[str, str], ...]
    signals: tuple[Signal, ...]
    outcomes: tuple[Outcome, ...]
    worse: tuple[tuple[str, str], ...]
    region: tuple[Places, ...]
    options: EvidenceOptions
    trust: TrustOptions
    rules: tuple[RuleText, ...]
