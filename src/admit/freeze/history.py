"""Flake history: whether evidence shows a node that both passed and failed on one commit (contract F4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from admit.core import records as r
from admit.core.signals import FREEZE_GATE
from admit.freeze.instant import Refused, counted
from admit.freeze.reach import parts_of, reached

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from admit.core.records import Document

NAMED = 4
"""So many documents are named by digest in what is recorded; beyond, they are counted."""


class Sighting(NamedTuple):
    """What the runs of one gate on one commit showed of a node, all attempts together."""

    commit: str
    gate: str
    code: int
    digests: tuple[str, ...]

    @property
    def text(self) -> str:
        """Return what was seen, in words."""
        attempts = r.attempts_of(self.code)
        return (
            f"{_verdicts(self.code)} on commit {self.commit} ({self.gate}, {attempts} attempt{'s' * (attempts != 1)})"
        )


class History(NamedTuple):
    """What usable documents show of one node, by gate and commit; what was left out and why.

    `counterexample` is what a failing property reported, empty where none did.
    """

    node: str
    sightings: tuple[Sighting, ...]
    left_out: tuple[str, ...]
    counterexample: str
    flaky_cases: tuple[str, ...]


def history_of(node: str, documents: Iterable[Document]) -> History:
    """Return what documents show of a node.

    Left out is what cannot show a flake: a document without its closing record (the run died), one for no commit or for
    a tree with uncommitted changes (two of them may hold different code), and one whose fixtures had moved for the node
    (it did not measure the same thing, contract A1).
    """
    unique = {document.digest: document for document in documents if document.opening.gate != FREEZE_GATE}
    usable, left_out = [], []
    for document in unique.values():
        if why := _unusable(document, node):
            left_out.append(f"{document.source}: {why}")
        else:
            usable.append(document)
    shown = sorted({document.details[node].counterexample for document in usable if node in document.details})
    return History(
        node,
        _sightings(node, usable),
        tuple(sorted(left_out)),
        next((text for text in shown if text), ""),
        _flaky_cases(node, usable),
    )


def _unusable(document: Document, node: str) -> str:
    if document.closing is None:
        return "no closing record, the run died"
    if document.opening.head is None or document.opening.dirty:
        return "evidence for no commit"
    code = document.codes.get(node)
    if code is not None and (state := r.lock_of(code)) != "match":
        return f"fixtures {state}"
    return ""


def _sightings(node: str, documents: Sequence[Document]) -> tuple[Sighting, ...]:
    found: dict[tuple[str, str], Sighting] = {}
    for document in documents:
        if (code := document.codes.get(node)) is None or document.opening.head is None:
            continue
        key = document.opening.head, document.opening.gate
        one = found.get(key)
        joined = r.joined(one.code, code) if one else code
        digests = (*one.digests, document.digest) if one else (document.digest,)
        found[key] = Sighting(*key, joined, tuple(sorted(digests)))
    # the commit with most attempts says most; the rest of the key makes the order the same for any order of documents
    return tuple(sorted(found.values(), key=lambda one: (-r.attempts_of(one.code), one.commit, one.gate)))


def _flaky_cases(node: str, documents: Sequence[Document]) -> tuple[str, ...]:
    wanted = parts_of(node)
    if wanted.case is not None:
        return ()
    stem = f"{node}["
    cases = {name for document in documents for name in document.codes if name.startswith(stem)}
    seen = {name: _sightings(name, documents) for name in cases}
    return tuple(sorted(name for name, found in seen.items() if any(r.is_flaky(one.code) for one in found)))


def _verdicts(code: int) -> str:
    words = {r.PASS: "passed", r.FAIL: "failed", r.PASS | r.FAIL: "passed and failed"}
    return words.get(code & (r.PASS | r.FAIL), "gave no verdict")


def flake_seen(history: History) -> str | Refused:
    """Return what to record of a flake that was seen, or why the history shows none.

    A node that failed every time on a commit is consistent, and freezing it would hide a defect.
    """
    flaky = [one for one in history.sightings if r.is_flaky(one.code)]
    if not flaky:
        return _not_flaky(history)
    first = flaky[0]
    more = len(first.digests) - NAMED
    named = ", ".join(first.digests[:NAMED]) + (f" and {more} more" if more > 0 else "")
    others = f"; and on {counted(len(flaky) - 1, 'other commit')}" if len(flaky) > 1 else ""
    return f"{first.text}: {named}{others}"


def _not_flaky(history: History) -> Refused:
    seen = history.sightings
    if not seen:
        return _not_seen(history)
    failed = [one for one in seen if one.code & r.FAIL]
    if not failed:
        return Refused(
            f"{seen[0].text}: no failure was seen", "a freeze is for a node that flakes; hand in the runs that failed"
        )
    if any(one.code & r.PASS for one in seen):
        passed = next(one for one in seen if one.code & r.PASS)
        return Refused(
            f"{failed[0].text} and {passed.text}: a change between commits, not a flake", "find the change and fix it"
        )
    return Refused(f"{failed[0].text} and never passed: consistent, not flaky", "find the defect and fix it")


def _not_seen(history: History) -> Refused:
    if history.flaky_cases:
        cases = ", ".join(history.flaky_cases[:3]) + ("…" if len(history.flaky_cases) > 3 else "")
        return Refused("no document names the node, but cases of it flaked", f"freeze the case: {cases}")
    if history.left_out:
        left = "; ".join(history.left_out[:3]) + ("…" if len(history.left_out) > 3 else "")
        return Refused(
            f"no usable document names the node (left out: {left})", "hand in runs on a commit, to their end"
        )
    return Refused("no document names the node", "write it as the evidence does")


def orphans(frozen: Collection[str], documents: Iterable[Document]) -> tuple[str, ...]:
    """Return the frozen nodes of which no document speaks: renamed or deleted, so that their freeze reaches nothing."""
    left = set(frozen)
    for document in documents:
        if document.opening.gate == FREEZE_GATE:
            continue
        left -= document.codes.keys()
        # a whole test, or a wide entry, is named by no document but reached by what it names
        while hit := set(reached({entry: entry for entry in left}, document.codes).values()):
            left -= hit
    return tuple(sorted(left))
