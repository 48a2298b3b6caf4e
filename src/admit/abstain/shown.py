"""What evidence shows of nodes that give no verdict by design, against what is declared (contract U7)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from admit.abstain.file import BY_DESIGN, Abstentions, Declared
from admit.core import records as r
from admit.core.signals import FREEZE_GATE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from admit.core.records import Document, NodeRecord

DifferenceKind: TypeAlias = Literal[
    "passed", "failed", "other why", "other reason", "not clean", "not seen", "undeclared"
]
"""How evidence differs from the file. All but `not seen` hold a patch; `undeclared` is a node that is in no entry."""


class Proposed(NamedTuple):
    """A node that could be declared: all that the evidence shows of it is one no-verdict by design."""

    node: str
    declared: Declared


class Difference(NamedTuple):
    """One node of which evidence and file say different things."""

    kind: DifferenceKind
    node: str
    declared: Declared | None
    shown: str

    @property
    def text(self) -> str:
        """Return the difference in one sentence."""
        if self.declared is None:
            return f"{self.node}: {self.kind}: shows {self.shown}"
        said = f"declared {_words(self.declared.why, self.declared.reason)}"
        return f"{self.node}: {self.kind}: {said}" + (f", shows {self.shown}" if self.shown else "")


class Updated(NamedTuple):
    """A file brought up to date with evidence, and which nodes were added, changed and dropped."""

    abstentions: Abstentions
    added: tuple[str, ...]
    changed: tuple[str, ...]
    dropped: tuple[str, ...]


def is_shown(declared: Declared, record: NodeRecord, code: int | None = None) -> bool:
    """Return whether a node shows exactly what is declared, so that it leaves the sample (contract U7).

    Exactly: no verdict, for that sub-reason, with that reason, and nothing else wrong with it. A pass, a failure,
    another reason, fixtures that moved or a freeze are something else, and hold or vote as they would without the file.

    Args:
        declared: what the file says of the node.
        record: the record that speaks for the node.
        code: the fold code of all its attempts; where given, an attempt that passed or failed counts too.
    """
    if code is not None and (code & (r.PASS | r.FAIL | r.FROZEN) or r.lock_of(code) != "match"):
        return False
    return (
        record.check == "not_run"
        and not record.flaky
        and record.fixture_lock == "match"
        and record.flake_status == "stable"
        and (record.why, record.message) == (declared.why, declared.reason)
    )


def propose(documents: Iterable[Document]) -> list[Proposed]:
    """Return the nodes whose only state, in all documents, is one no-verdict by design, sorted.

    Never proposed: an error, a timeout, a crash, a node that never ran, a node that also passed or failed, or one that
    gave two reasons; and nothing from a run that did not finish.
    """
    unique = _test_documents(documents)
    finished = [document for document in unique if document.closing and document.closing.ended == "finished"]
    proposed: dict[str, Declared] = {}
    for document in finished:
        for node, record in document.details.items():
            if record.check == "not_run" and record.why in BY_DESIGN:
                proposed.setdefault(node, Declared(BY_DESIGN[record.why], record.message))
    return [
        Proposed(node, declared)
        for node, declared in sorted(proposed.items())
        if all(_shows_only(declared, node, document) for document in unique)
    ]


def _shows_only(declared: Declared, node: str, document: Document) -> bool:
    if (code := document.codes.get(node)) is None:
        return True
    record = document.details.get(node)
    return record is not None and code & r.CHECKS == r.HARD and is_shown(declared, record, code)


def check(abstentions: Abstentions, documents: Iterable[Document]) -> tuple[Difference, ...]:
    """Return where evidence and file differ, sorted by node."""
    unique = _test_documents(documents)
    found = [
        difference
        for node, declared in abstentions.by_node.items()
        if (difference := _difference(node, declared, unique)) is not None
    ]
    found += [
        Difference("undeclared", node, None, _words(declared.why, declared.reason))
        for node, declared in propose(unique)
        if node not in abstentions.by_node
    ]
    return tuple(sorted(found, key=lambda difference: difference.node))


def _difference(node: str, declared: Declared, documents: Sequence[Document]) -> Difference | None:
    codes = [document.codes[node] for document in documents if node in document.codes]
    if not codes:
        return Difference("not seen", node, declared, "")
    seen = [bits & r.CHECKS for bits in codes]
    if any(bits & r.FAIL for bits in seen):
        return Difference("failed", node, declared, "a failure")
    if any(bits & r.PASS for bits in seen):
        return Difference("passed", node, declared, "a pass")
    for document in documents:
        record = document.details.get(node)
        if record is not None and not is_shown(declared, record, document.codes.get(node)):
            return Difference(
                _kind(declared, record), node, declared, _words(record.why or "no verdict", record.message)
            )
    return None


def _kind(declared: Declared, record: NodeRecord) -> DifferenceKind:
    if record.why != declared.why:
        return "other why"
    return "other reason" if record.message != declared.reason else "not clean"


def updated(abstentions: Abstentions, documents: Iterable[Document]) -> Updated:
    """Return the file brought up to date: what is shown now is declared, what only passed is dropped.

    A node that no document names stays (it may be another platform's), and so does one that failed or gave no verdict
    for a reason that is not by design: that is for a person to look at. Notes stay with their nodes.
    """
    unique = _test_documents(documents)
    now = dict(abstentions.by_node)
    dropped = [node for node in now if _only_passed(node, unique)]
    for node in dropped:
        del now[node]
    added, changed = [], []
    for node, declared in propose(unique):
        before = now.get(node)
        if before is None:
            added.append(node)
        elif before[:2] != declared[:2]:
            changed.append(node)
        now[node] = declared._replace(note=before.note) if before else declared
    return Updated(abstentions._replace(by_node=now), tuple(added), tuple(changed), tuple(sorted(dropped)))


def _only_passed(node: str, documents: Sequence[Document]) -> bool:
    seen = [document.codes[node] & r.CHECKS for document in documents if node in document.codes]
    return bool(seen) and all(bits == r.PASS for bits in seen)


def _test_documents(documents: Iterable[Document]) -> list[Document]:
    # the freeze gate's nodes are entries of its register, not tests
    unique = {document.digest: document for document in documents if document.opening.gate != FREEZE_GATE}
    return list(unique.values())


def _words(why: str, reason: str) -> str:
    return f"{why} ({reason})" if reason else f"{why} without a reason"
