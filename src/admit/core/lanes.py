"""Timing-sensitive nodes count only from the lanes that a policy trusts for them (contract T8)."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

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
        patterns: node-id patterns of timing-sensitive nodes; none means that no node is.
        lanes: the lanes that the policy trusts for them.
    """
    if not patterns:
        return tuple(documents)
    trusted: dict[str, set[str]] = {}
    for document in documents:
        if document.opening.lane in lanes:
            trusted.setdefault(document.opening.gate, set()).update(document.codes)
    return tuple(
        document
        if document.opening.lane in lanes or document.opening.gate == FREEZE_GATE
        else _without_timing(document, patterns, trusted.get(document.opening.gate, set()))
        for document in documents
    )


def _without_timing(document: Document, patterns: Collection[str], spoken_of: Collection[str]) -> Document:
    codes: dict[str, int] = {}
    details: dict[str, NodeRecord] = {}
    for node, code in document.codes.items():
        detail = document.details.get(node)
        if not any(fnmatchcase(node, pattern) for pattern in patterns):
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
