"""What a policy is once it is read: a ladder, its digest, and what it asks of evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from admit.core.ladder import Ladder

RulesOn: TypeAlias = Literal["patch", "node"]
"""What a policy rules on: a patch, by the states of its gates, or one node."""

Flaky: TypeAlias = Literal["fail", "unknown"]
"""What a node is that both failed and passed on one commit (contract U5). It cannot be a pass."""

NoBase: TypeAlias = Literal["say", "hold"]
"""What a decision without a base does: say so, or hold (contract 2.3)."""

InstrumentEdits: TypeAlias = Literal["hold", "say"]
"""What a patch that edits the instrument does: hold until a reviewer approves, or say so (contract T1, T7)."""

SHIPPED: Final = ("router", "arbiter", "trusted-arbiter")
"""The policies that come with the package, by name."""


class EvidenceOptions(NamedTuple):
    """What a patch policy asks of evidence before it rules.

    `base_moved_commits` and `base_moved_hours` bound how far the base may have moved since (contract E5); None is
    no bound.
    """

    flaky: Flaky = "fail"
    no_base: NoBase = "say"
    base_moved_commits: int | None = None
    base_moved_hours: int | None = None


class TrustOptions(NamedTuple):
    """Whom a patch policy trusts: keys as `ed25519:` and 64 hexadecimal digits, lanes by name (T5, T7, T8, L5).

    `approvers` are the keys whose approvals count. `evidence` pairs a gate with the keys of which one must have signed
    its documents; the documents of a gate that is not named may be unsigned. `timing_lanes` are the lanes on which
    timing-sensitive nodes count.
    """

    approvers: tuple[str, ...] = ()
    evidence: tuple[tuple[str, tuple[str, ...]], ...] = ()
    timing_lanes: tuple[str, ...] = ()
    instrument_edits: InstrumentEdits = "hold"


TRUST: Final = TrustOptions()
"""What a policy without a [trust] table trusts: nobody's keys, no lane."""


class Policy(NamedTuple):
    """A policy that was read and verified.

    `digest` (`sha256:…`) names what it decides by; `about` and comments are no part of it. `required` and `waived`
    (pairs of gate and reason) are a patch policy's, `check` is a node policy's: the signal that is spelled like the
    gate whose records are ruled on. `source` is the shipped name or the path that it was read from.
    """

    ladder: Ladder
    digest: str
    rules_on: RulesOn
    required: tuple[str, ...]
    waived: tuple[tuple[str, str], ...]
    options: EvidenceOptions
    about: str
    source: str
    check: str
    trust: TrustOptions = TRUST
