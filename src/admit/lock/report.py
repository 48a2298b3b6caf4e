"""What a check of the lock found: a state for everything, for each set, and so for each node (contract L2, L4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from admit.core.context import LockedNodes
from admit.core.signals import LOCK_STATES, LockState
from admit.lock.ties import EVERY_NODE, as_fnmatch, is_tied

if TYPE_CHECKING:
    from collections.abc import Iterable

    from admit.lock.difference import Difference
    from admit.lock.pinned import PinnedSet

Compared: TypeAlias = Literal["seed", "settings", "versions"]
COMPARED: Final[tuple[Compared, ...]] = ("seed", "settings", "versions")


class SetReport(NamedTuple):
    """One pinned set: the nodes that it is tied to, its state, and how many files and links it has now."""

    name: str
    nodes: tuple[str, ...]
    state: LockState
    files: int


class LockReport(NamedTuple):
    """What a check found.

    `state` is the worst of all. `not_compared` names what was pinned but not known here (`InForce`). `files` and
    `total_bytes` are what was compared; `manifest` is the digest that evidence names (`fixture_manifest`). `cached`
    says that a stat cache stood in for reading some files, which is for a person only.
    """

    state: LockState
    sets: tuple[SetReport, ...]
    differences: tuple[Difference, ...]
    not_compared: tuple[Compared, ...]
    manifest: str | None
    files: int
    total_bytes: int
    cached: bool = False

    @property
    def is_evidence(self) -> bool:
        """Return whether a gate may use the report: every byte was read (contract L6)."""
        return not self.cached

    @property
    def summary(self) -> str:
        """Return the report in one line, the mark `cached` and what was not compared included."""
        mark = " (cached, not evidence)" if self.cached else ""
        drift = f", differences: {len(self.differences)}" if self.differences else ""
        gap = f", not compared: {', '.join(self.not_compared)}" if self.not_compared else ""
        return f"{self.state}{mark}: {_counted(self.files, 'file')}, {_counted(self.total_bytes, 'byte')}{drift}{gap}"


def _counted(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def worst(states: Iterable[LockState]) -> LockState:
    """Return the worst of some states, match where there are none."""
    return max(states, key=LOCK_STATES.index, default="match")


def report_of(
    sets: Iterable[tuple[PinnedSet, int]],
    differences: Iterable[Difference],
    *,
    not_compared: tuple[Compared, ...],
    manifest: str | None,
    counts: tuple[int, int],
) -> LockReport:
    """Return the report that some differences make.

    Args:
        sets: each pinned set with the number of its files and links.
        differences: in any order.
        not_compared: what was pinned but is not known.
        manifest: digest of the manifest, None without one.
        counts: files and bytes compared.
    """
    found = tuple(sorted(set(differences)))
    reports = tuple(
        SetReport(one.name, one.nodes, worst(d.state for d in found if not d.sets or one.name in d.sets), files)
        for one, files in sets
    )
    state = worst(difference.state for difference in found)
    return LockReport(state, reports, found, not_compared, manifest, *counts)


def lock_state_of(report: LockReport, node: str) -> LockState:
    """Return the state of what one node was pinned to: the worst of the sets that are tied to it (contract L4).

    What concerns every set, such as another seed or a missing manifest, holds every node.
    """
    overall = worst(difference.state for difference in report.differences if not difference.sets)
    return worst([overall, *(one.state for one in report.sets if is_tied(one.nodes, node))])


def locked_nodes(report: LockReport) -> tuple[LockState, tuple[LockedNodes, ...]]:
    """Return the state that holds for every node, and the states of the sets that are tied to some only.

    This is `lock_state_of` for a reader who has the node's id but not the report (`core.context.RunContext`); its
    patterns are to be read by `fnmatch.fnmatchcase`.
    """
    overall = worst(difference.state for difference in report.differences if not difference.sets)
    general = [one.state for one in report.sets if EVERY_NODE in one.nodes]
    special = [LockedNodes(as_fnmatch(one.nodes), one.state) for one in report.sets if EVERY_NODE not in one.nodes]
    return worst([overall, *general]), tuple(special)


def is_repin(against_base: LockReport, against_head: LockReport) -> bool:
    """Return whether a patch changed pinned files and the lock together, on purpose (contract L5, `fixture_repinned`).

    Args:
        against_base: the patch's files checked against the base's lock.
        against_head: the same files checked against the lock that the patch brings.
    """
    has_both = bool(against_base.sets and against_head.sets)  # a base without a lock has nothing to pin anew
    return has_both and against_base.state != "match" and against_head.state == "match"
