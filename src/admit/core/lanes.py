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

    Elsewhere it gives no verdict. Where a trusted lane speaks of it as well, that alone is what is said of it, if both
    documents call it timing-sensitive: else a mark in one of them could silence a failure in the other.

    Args:
        documents: of one patch.
        patterns: node-id patterns of timing-sensitive nodes, by the trusted files: every document's own word. Beside
            them stand the nodes that a document itself calls so, which holds for the node in every other.
        lanes: the lanes that the policy trusts for them.
    """
    told = [(document, _called_so(document, patterns)) for document in documents]
    sensitive = frozenset().union(*(called_so for _, called_so in told))
    if not sensitive:
        return tuple(documents)
    heard: dict[str, set[str]] = {}
    for document, called_so in told:
        if document.opening.lane in lanes:
            heard.setdefault(document.opening.gate, set()).update(called_so & document.codes.keys())
    return tuple(
        document
        if document.opening.lane in lanes or document.opening.gate == FREEZE_GATE
        else _without_timing(
            document, sensitive, called_so=called_so, left_out=called_so & heard.get(document.opening.gate, set())
        )
        for document, called_so in told
    )


def _called_so(document: Document, patterns: Collection[str]) -> frozenset[str]:
    """Return the nodes that a document or the trusted files call timing-sensitive."""
    if not patterns:
        return document.timing
    return document.timing.union(
        node for node in document.codes if any(fnmatchcase(node, pattern) for pattern in patterns)
    )


def _without_timing(
    document: Document, sensitive: frozenset[str], *, called_so: frozenset[str], left_out: frozenset[str]
) -> Document:
    codes = {node: code for node, code in document.codes.items() if node not in left_out}
    details = {node: detail for node, detail in document.details.items() if node not in left_out}
    for node in sensitive & codes.keys():
        codes[node] = (codes[node] & ~(PASS | FAIL)) | HARD
        said = f"it ran on the lane {document.opening.lane}"
        if node not in called_so:
            said += ", and another document calls it timing-sensitive"
        details[node] = _no_verdict(node, details.get(node), said)
    return document._replace(codes=codes, details=details)


def _no_verdict(node: str, detail: NodeRecord | None, message: str) -> NodeRecord:
    record = NodeRecord(node, "not_run", "match", "stable") if detail is None else detail
    return record._replace(check="not_run", why="uncontrolled_lane", message=message, counterexample="", flaky=False)
