"""Closed vocabularies: the words that evidence, ladders and decisions are made of."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple, TypeAlias, get_args

CheckState: TypeAlias = Literal["pass", "not_run", "fail"]
"""What a gate's check says of one node. Only an executed failure is a fail (contract A3)."""

LockState: TypeAlias = Literal["match", "missing", "drifted"]
"""What the fixture lock says of what one node was pinned to (contract L2)."""

FlakeState: TypeAlias = Literal["stable", "frozen"]
"""Whether a freeze makes one node's verdict inadmissible for now (contract A2)."""

InstrumentState: TypeAlias = Literal["intact", "edited", "compromised"]
"""Whether what measured one node is what the base measures with (contract 2.3)."""

ProvenanceState: TypeAlias = Literal["established", "proven", "unproven", "broken_on_base"]
"""Where one node comes from: the base has it, or a proposal that was or was not proven; the first two are clean."""

GateState: TypeAlias = Literal["pass", "unknown", "missing", "fail"]
"""What a gate says of one patch (contract R1). These four stay four."""

Kind: TypeAlias = Literal["accept", "reject", "hold"]
"""What an outcome means, whatever a policy calls it."""

Why: TypeAlias = Literal[
    "skip",
    "xfail",
    "xpass",
    "error",
    "error_setup",
    "error_teardown",
    "error_collect",
    "timeout",
    "crashed",
    "interrupted",
    "never_ran",
    "deselected",
    "no_cases",
    "flaky",
    "deadline",
    "health_check",
    "unsatisfiable",
    "vacuous",
    "invalid_test",
    "truncated",
    "conflict",
    "no_verdict",
    "todo",
    "aborted",
    "disabled",
    "vanished",
    "uncontrolled_lane",
]
"""The sub-reason of a node that is not a plain pass or fail."""

Ended: TypeAlias = Literal["finished", "interrupted", "timeout", "crashed", "exit_disagrees", "disturbed", "unknown"]
"""How a run ended. Only `finished` lets its gate pass (contract E9).

`disturbed`: it came to its end, and whoever closed the document saw what makes it inadmissible, such as files that
moved while tests ran; the reason begins with that code of `admit.core.decision.INADMISSIBLE`.
"""

CHECK_STATES: Final[tuple[CheckState, ...]] = get_args(CheckState)
LOCK_STATES: Final[tuple[LockState, ...]] = get_args(LockState)
FLAKE_STATES: Final[tuple[FlakeState, ...]] = get_args(FlakeState)
INSTRUMENT_STATES: Final[tuple[InstrumentState, ...]] = get_args(InstrumentState)
PROVENANCE_STATES: Final[tuple[ProvenanceState, ...]] = get_args(ProvenanceState)
GATE_STATES: Final[tuple[GateState, ...]] = get_args(GateState)
WHYS: Final[tuple[Why, ...]] = get_args(Why)
ENDS: Final[tuple[Ended, ...]] = get_args(Ended)

EXIT_OF_KIND: Final[dict[Kind, int]] = {"accept": 0, "reject": 1, "hold": 2}
"""The exit code is the API (contract R5)."""

KIND_OF_EXIT: Final[dict[int, Kind]] = {code: kind for kind, code in EXIT_OF_KIND.items()}

FREEZE_GATE: Final = "flaky_freeze"
"""The gate whose nodes are the entries of the freeze register."""


class Signal(NamedTuple):
    """A named input of a ladder: its states from best to worst, and which of them are clean."""

    name: str
    states: tuple[str, ...]
    clean: frozenset[str]


class Outcome(NamedTuple):
    """What a ladder gives, in the policy's own word; `kind` says what it means and so its exit code."""

    name: str
    kind: Kind

    @property
    def exit_code(self) -> int:
        """Return 0, 1 or 2."""
        return EXIT_OF_KIND[self.kind]
