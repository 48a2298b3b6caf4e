"""Timing-sensitive nodes count only from the lanes that a policy trusts for them (contract T8)."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, NamedTuple

from admit.core.records import FAIL, HARD, PASS, NodeRecord
from admit.core.signals import FREEZE_GATE

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from admit.core.records import Document


def on_trusted_lanes(
    documents: Sequence[Document], patterns: Collection[str], lanes: Collection[str]
) -> tuple[Document, ...]:
    """Return documents in which a timing-sensitive node has a verdict only from a lane that is trusted for it.

    Elsewhere it gives no verdict; where a trusted lane speaks of it as well, that alone is what is said of it.

    Args:
        documents: of one patch.
        patterns: node-id patterns of timing-sensitive nodes, beside those that a document itself calls so: what one
            document says of a node holds for it in every other.
        lanes: the lanes that the policy trusts for them.
    """
    marked = frozenset().union(*(document.timing for document in documents))
    if not patterns and not marked:
        return tuple(documents)
    trusted: dict[str, set[str]] = {}
    for document in documents:
        if document.opening.lane in lanes:
            trusted.setdefault(document.opening.gate, set()).update(document.codes)
    return tuple(
        document
        if document.opening.lane in lanes or document.opening.gate == FREEZE_GATE
        else _without_timing(document, Timing(marked, patterns), trusted.get(document.opening.gate, set()))
        for document in documents
    )


class Timing(NamedTuple):
    """Which nodes are timing-sensitive: those that a marker names, and those that fit a pattern."""

    marked: frozenset[str]
    patterns: Collection[str]

    def holds(self, node: str) -> bool:
        """Return whether a node is."""
        return node in self.marked or any(fnmatchcase(node, pattern) for pattern in self.patterns)


def _without_timing(document: Document, timing: Timing, spoken_of: Collection[str]) -> Document:
    codes: dict[str, int] = {}
    details: dict[str, NodeRecord] = {}
    for node, code in document.codes.items():
        detail = document.details.get(node)
        if not timing.holds(node):
            codes[node] = code
            if detail is not None:
                details[node] = detail
        elif node not in spoken_of:
            codes[node] = (code & ~(PASS | FAIL)) | HARD
            details[node] = _no_verdict(node, detail, document.opening.lane)
    return document._replace(codes=codes, details=details)


def _no_verdict(node: str, detail: NodeRecord | None, lane: str) -> NodeRecord:
    record = NodeRecord(node, "not_run", "match", "stable") if detail is None else detail
    return record._replace(
        check="not_run", why="uncontrolled_lane", message=f"it ran on the lane {lane}", counterexample="", flaky=False
    )
