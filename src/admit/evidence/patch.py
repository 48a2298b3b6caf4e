"""The smallest evidence: one JSON object that says each gate's state for one patch (contract E1, E6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from admit.errors import EvidenceError
from admit.evidence import fields
from admit.evidence.strict import LIMITS, Limits, read_object

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Gates = Mapping[str, tuple[str, ...]]
    """The ladder's gates, each with its states from best to worst."""

ABSENT: Final = "missing"
"""The state of a gate that a patch document does not name (contract E1)."""


class PatchEvidence(NamedTuple):
    """What patch documents say of one patch: a state for every gate of the ladder.

    `absent` are the gates that no document named, whose state is `missing` for that reason.
    """

    patch_id: str
    states: dict[str, str]
    absent: frozenset[str] = frozenset()


class MixedEvidence(NamedTuple):
    """Documents that speak of different patches, which are evidence for none of them (contract E5)."""

    patch_ids: tuple[str, ...]

    def __str__(self) -> str:
        """Return what is wrong, in words."""
        return f"documents disagree about patch_id: {', '.join(map(repr, self.patch_ids))}"


def read_patch(raw: bytes, where: str, *, gates: Gates, limits: Limits = LIMITS) -> PatchEvidence:
    """Return what one patch document says.

    Args:
        raw: the document.
        where: its name, for errors.
        gates: the ladder's gates, each with its states from best to worst.
        limits: what is too large.

    Raises:
        EvidenceError: not one JSON object, no `patch_id`, an unknown key or state, a wrong type; or a gate is absent
            whose vocabulary has no word `missing`.
    """
    keys = read_object(raw, where, limits=limits)
    fields.only(keys, ("patch_id", *gates), where)
    patch_id = fields.text(keys, "patch_id", where)
    absent = frozenset(gate for gate, states in gates.items() if gate not in keys and ABSENT in states)
    states = {
        gate: ABSENT if gate in absent else fields.word(keys, gate, allowed, where) for gate, allowed in gates.items()
    }
    return PatchEvidence(patch_id, states, absent)


def merge_patches(parts: Sequence[PatchEvidence], *, gates: Gates) -> PatchEvidence | MixedEvidence:
    """Return several documents as one: two words for one gate join to the worse (contract E6).

    The order in which documents come, how they are grouped and how often one is handed in make no difference. A gate
    that one document leaves out takes the word of another.

    Args:
        parts: what `read_patch` or a merge gave, for the same gates.
        gates: the ladder's gates, each with its states from best to worst.

    Raises:
        EvidenceError: there is no document at all.
    """
    if not parts:
        raise EvidenceError("evidence", "there is no patch document", do="name at least one file")
    patch_ids = {part.patch_id for part in parts}
    if len(patch_ids) > 1:
        return MixedEvidence(tuple(sorted(patch_ids)))
    absent = frozenset.intersection(*(part.absent for part in parts))
    states = {
        gate: ABSENT
        if gate in absent
        else max((part.states[gate] for part in parts if gate not in part.absent), key=allowed.index)
        for gate, allowed in gates.items()
    }
    return PatchEvidence(parts[0].patch_id, states, absent)
