"""What the base's own evidence names, held against the patch's: documents in, documents out (contract T2, P3)."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Final, NamedTuple

from admit.core import records as r
from admit.core.fold import contradictions, fold
from admit.core.records import Closing, Document, NodeRecord
from admit.core.signals import FREEZE_GATE, PROVENANCE_STATES
from admit.trust.edits import gone_on

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence


class Inventory(NamedTuple):
    """What a base's evidence names: each gate's nodes with their fold codes.

    `problem` says why the evidence is no inventory, empty where it is one; half an inventory is none. `digest` is the
    SHA-256 of its documents' digests, sorted, one a line.
    """

    commit: str
    nodes: Mapping[str, Mapping[str, int]]
    document_count: int = 0
    digest: str = ""
    problem: str = ""


class Leave(NamedTuple):
    """What a node of the base may be gone by: a rename that the patch declares (old name to new), a reviewer's word."""

    renames: Mapping[str, str]
    approved: frozenset[str] = frozenset()


class Compared(NamedTuple):
    """The patch's documents as the base's evidence leaves them, and what is to be said aloud."""

    documents: tuple[Document, ...]
    notes: tuple[str, ...]


def inventory_of(documents: Sequence[Document], commit: str) -> Inventory:
    """Return what a base's evidence names, or why it cannot tell: a run that lost a part would excuse what it lost.

    Args:
        documents: all that was kept of the base's evidence.
        commit: the base.
    """
    against = contradictions(documents)
    folded = [fold(gate, mine, against) for gate, mine in sorted(_by_gate(documents).items())]
    nodes = {one.gate: one.codes for one in folded if one.gate != FREEZE_GATE}
    gaps = [f"{one.gate}: {one.gap or one.unfinished}" for one in folded if one.gap or one.unfinished]
    problem = next(iter((*_of_others(documents, commit), *gaps)), "")
    if not problem and not any(_ran(code) for codes in nodes.values() for code in codes.values()):
        problem = "it names no test that ran" if documents else "it holds no document"
    digests = sorted({document.digest for document in documents})
    return Inventory(commit, {} if problem else nodes, len(digests), _digest(digests), problem)


def compared(documents: Sequence[Document], inventory: Inventory, leave: Leave) -> Compared:
    """Return the patch's documents with what vanished as nodes that did not run, and what is new as proposals.

    What the base's evidence names without a verdict (a skip) may go, and is no proposal where it stays. Documents that
    the base's instrument made know by its own collection what is new, and are left as they are.

    Args:
        documents: the patch's evidence.
        inventory: the base's, without a problem.
        leave: by what a node may be gone.
    """
    vanished: list[Document] = []
    heirs: dict[str, dict[str, str]] = {}
    notes = [_said(inventory)]
    by_gate = _by_gate(documents)
    for gate, known in sorted(inventory.nodes.items()):
        mine = by_gate.get(gate, [])
        there = frozenset[str]().union(*(document.codes for document in mine))
        gone = known.keys() - there
        heirs[gate] = gone_on(gone, there, known, renames=leave.renames)
        missed = sorted(node for node in gone - heirs[gate].keys() if _ran(known[node]))
        lost = [node for node in missed if node not in leave.approved]
        if len(lost) < len(missed):
            notes.append(f"{len(missed) - len(lost)} nodes of {gate} are gone with a reviewer's approval")
        if lost and mine:
            vanished.append(_vanished(lost, mine, inventory.commit))
        elif lost:
            notes.append(f"{len(lost)} nodes of {gate} ran on the base, and this patch has no document of that gate")
    marked = (_marked(one, inventory.nodes, frozenset(heirs.get(one.opening.gate, {}).values())) for one in documents)
    declared = sorted(pair for of_gate in heirs.values() for pair in of_gate.items())
    return Compared((*vanished, *marked), (*notes, *_renames_said(declared)))


def _by_gate(documents: Iterable[Document]) -> dict[str, list[Document]]:
    found: dict[str, list[Document]] = {}
    for document in documents:
        found.setdefault(document.opening.gate, []).append(document)
    return found


def _of_others(documents: Iterable[Document], commit: str) -> Iterator[str]:
    """Yield what is evidence of something else than the base."""
    for document in documents:
        head, is_dirty = document.opening.head, document.opening.dirty
        if head != commit:
            yield f"{document.source} is for {head or 'no commit'}, and the patch left its base at {commit}"
        elif is_dirty:
            yield f"{document.source} is of a working tree with uncommitted changes"


def _ran(code: int) -> bool:
    return bool(code & (r.PASS | r.FAIL))


def _vanished(lost: Sequence[str], beside: Sequence[Document], commit: str) -> Document:
    """Return a document that says of each node that it vanished.

    It is a run of its own, red and at its end, in the place of one that is there: so it neither fills a lost run nor
    explains another's exit code.
    """
    details = {node: NodeRecord(node, "not_run", "match", "stable", why="vanished", message=_GONE) for node in lost}
    opening = min(beside, key=lambda document: document.digest).opening._replace(
        tool="admit-inventory", tool_version="", run_id=f"inventory:{commit}", nonce=""
    )
    return Document(
        opening=opening,
        codes={node: r.code_of(record) for node, record in details.items()},
        details=details,
        closing=Closing(len(lost), "finished", 1, None, "inventory", ""),
        digest=_digest((opening.gate, *lost)),
        source=f"the base's evidence of {opening.gate}",
    )


_GONE: Final = "it ran on the base, and this run does not have it"


def _marked(document: Document, nodes: Mapping[str, Mapping[str, int]], heirs: frozenset[str]) -> Document:
    """Return a document whose nodes are proposals where the base does not have them (contract P3)."""
    opening, codes = document.opening, document.codes
    if opening.gate == FREEZE_GATE or opening.instrument_of is not None:
        return document
    strangers = codes.keys() - nodes.get(opening.gate, {}).keys() - heirs
    if not strangers and not any(r.provenance_of(code) == "proven" for code in set(codes.values())):
        return document
    return document._replace(
        codes={node: _proposed(code) if node in strangers else _unclaimed(code) for node, code in codes.items()}
    )


_UNPROVEN: Final = PROVENANCE_STATES.index("unproven") << r.PROVENANCE_SHIFT


def _proposed(code: int) -> int:
    return code & ~r.PROVENANCE_MASK | max(code & r.PROVENANCE_MASK, _UNPROVEN)


def _unclaimed(code: int) -> int:
    # whoever wrote the document says that it was proven; nobody here saw that, so it gives no verdict
    return code & ~r.CHECKS | r.HARD if r.provenance_of(code) == "proven" else code


def _said(inventory: Inventory) -> str:
    ran = sum(_ran(code) for codes in inventory.nodes.values() for code in codes.values())
    documents = f"{inventory.document_count} document{'' if inventory.document_count == 1 else 's'}"
    return f"inventory: {ran} nodes ran on the base {inventory.commit[:12]} ({documents}, {inventory.digest})"


def _renames_said(declared: Sequence[tuple[str, str]]) -> list[str]:
    said = [f"renamed, as the patch declares: {old} => {new}" for old, new in declared[:_SHOWN]]
    more = len(declared) - _SHOWN
    return [*said, f"and {more} more renames that the patch declares"] if more > 0 else said


_SHOWN: Final = 10


def _digest(lines: Iterable[str]) -> str:
    return "sha256:" + sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()
