"""Documents of one gate as one: attempts and shards fold node by node, and what is wrong with the set is said."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from admit.core import records as r
from admit.core.signals import FREEZE_GATE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from admit.core.records import Document, NodeRecord

NOTHING: Final[Mapping[str, str]] = {}


class Folded(NamedTuple):
    """All documents of one gate as one: a code a node, and what is wrong with the set.

    `gap` says why the gate is missing, `unfinished` why it cannot pass, `filled` which lost runs were filled later;
    each is empty where there is nothing to say.
    """

    gate: str
    codes: Mapping[str, int]
    details: Mapping[str, NodeRecord]
    documents: tuple[Document, ...]
    gap: str
    unfinished: str
    filled: str


def fold(gate: str, documents: Iterable[Document], contradictions: Mapping[str, str] = NOTHING) -> Folded:
    """Return the documents of one gate as one, whatever the order they came in (contract E6).

    A document counts once however often it is handed in, so folding is idempotent.

    Args:
        gate: the gate.
        documents: its documents.
        contradictions: why a document cannot be what it says, by digest (`contradictions`).
    """
    unique = {document.digest: document for document in documents}
    ordered = tuple(unique[digest] for digest in sorted(unique))
    if not ordered:
        return Folded(gate, {}, {}, (), "no document", "", "")
    codes, details = _folded_nodes(ordered)
    return Folded(gate, codes, details, ordered, *_completeness(ordered, contradictions))


def contradictions(documents: Iterable[Document]) -> dict[str, str]:
    """Return why documents cannot be what they say, by digest: a run's end against its nodes (contract E9)."""
    runs: dict[tuple[str, int, int, str], list[Document]] = {}
    for document in documents:
        start = document.opening
        runs.setdefault((start.run_id, start.attempt, start.shard, start.lane), []).append(document)
    found: dict[str, str] = {}
    for run in runs.values():
        tests = [document.codes for document in run if document.opening.gate != FREEZE_GATE]
        codes = {code for of_one in tests for code in set(of_one.values())}  # few differ, however many nodes there are
        is_red = any(r.check_of(code) != "pass" for code in codes)
        for document in run:
            if why := _contradiction(document, is_empty=not codes, is_red=is_red):
                found[document.digest] = why
    return found


def _contradiction(document: Document, *, is_empty: bool, is_red: bool) -> str:
    closing, shards = document.closing, document.opening.shards
    if closing is None or closing.ended != "finished":
        return ""
    if closing.signal is not None:
        return f"it says that it finished, and that signal {closing.signal} ended it"
    if closing.exit_code is None and document.opening.gate != FREEZE_GATE:
        return "no exit code of the run is known: its report may be clean and the run not (--exit-code)"
    if is_empty and shards > 1:
        return f"shard {document.opening.shard} of {shards} selected nothing"
    if closing.exit_code not in {None, 0, 5 if is_empty else 0} and not is_red:
        return f"exit code {closing.exit_code}, and nothing recorded that would explain it"
    return ""


def _folded_nodes(documents: tuple[Document, ...]) -> tuple[Mapping[str, int], Mapping[str, NodeRecord]]:
    """Return a code and a record a node: attempts one after the other, what lies side by side joined."""
    if len(documents) == 1:
        return documents[0].codes, documents[0].details
    details: dict[str, NodeRecord] = {}
    for document in documents:
        for node, record in document.details.items():
            details[node] = r.spokesman(details[node], record) if node in details else record
    lanes: dict[str, dict[int, list[Mapping[str, int]]]] = {}
    for document in documents:
        attempts = lanes.setdefault(document.opening.lane, {})
        attempts.setdefault(document.opening.attempt, []).append(document.codes)
    rows = [
        _merged([_merged(attempts[number], r.joined) for number in sorted(attempts)], r.followed)
        for attempts in lanes.values()
    ]
    return _merged(rows, r.joined), details


def _merged(rows: list[Mapping[str, int]], combine: Callable[[int, int], int]) -> Mapping[str, int]:
    first, *rest = rows
    if not rest:
        return first
    codes = dict(first)
    for row in rest:
        for node, code in row.items():
            codes[node] = combine(codes[node], code) if node in codes else code
    return codes


def _completeness(documents: tuple[Document, ...], contradictions: Mapping[str, str]) -> tuple[str, str, str]:
    """Return why the gate is missing, why it cannot pass, and which lost runs were filled, each empty where not so.

    Every shard of every lane needs a run that finished. A run that was lost counts as filled only by a later attempt
    (contract U3, U5); one that contradicts itself is never filled (E9).
    """
    answers: list[_Shard] = []
    for lane in sorted({document.opening.lane for document in documents}):
        mine = [document for document in documents if document.opening.lane == lane]
        totals = sorted({document.opening.shards for document in mine})
        if len(totals) > 1:
            return f"documents disagree about the number of shards: {', '.join(map(str, totals))}", "", ""
        stray = [document.opening.shard for document in mine if not 1 <= document.opening.shard <= totals[0]]
        if stray:
            return f"shard {min(stray)} of {totals[0]} does not exist", "", ""
        for shard in range(1, totals[0] + 1):
            name = f"shard {shard} of {totals[0]}" if totals[0] > 1 else "the run"
            runs = _runs([document for document in mine if document.opening.shard == shard], contradictions)
            answers.append(_shard(name, runs))
    gaps, unfinished, filled = ([text for text in column if text] for column in zip(*answers, strict=True))
    return "; ".join(gaps[:1]), "; ".join(unfinished[:1]), "; ".join(filled)


class _Shard(NamedTuple):
    gap: str = ""
    unfinished: str = ""
    filled: str = ""


class _Run(NamedTuple):
    attempt: int
    ended: str  # empty where one of its documents has no closing record
    why: str
    source: str


def _runs(documents: list[Document], contradictions: Mapping[str, str]) -> list[_Run]:
    """Return the runs of one shard, each with the worst end that its documents tell."""
    runs: dict[tuple[int, str], list[_Run]] = {}
    for document in documents:
        start, closing = document.opening, document.closing
        why = contradictions.get(document.digest, "")
        ended = "exit_disagrees" if why else closing.ended if closing else ""
        run = _Run(start.attempt, ended, why or (closing.reason if closing else ""), document.source)
        runs.setdefault((start.attempt, start.run_id), []).append(run)
    return [min(run, key=lambda one: (_SEVERITY.get(one.ended, 2), one)) for _, run in sorted(runs.items())]


_NEVER_FILLED: Final = frozenset({"exit_disagrees", "disturbed", "unknown"})
_SEVERITY: Final = {"exit_disagrees": 0, "disturbed": 0, "unknown": 0, "": 1, "finished": 3}


def _shard(name: str, runs: list[_Run]) -> _Shard:
    whole = max((run.attempt for run in runs if run.ended == "finished"), default=0)
    for run in runs:
        if run.ended in _NEVER_FILLED:
            return _Shard(unfinished=f"{name} ended: {run.ended}{f' ({run.why})' if run.why else ''}")
    lost = [run for run in runs if run.ended != "finished"]
    for run in lost:
        if run.attempt >= whole:
            if not run.ended:
                return _Shard(gap=f"{name} died: {run.source} has no closing record")
            return _Shard(unfinished=f"{name} ended: {run.ended}{f' ({run.why})' if run.why else ''}")
    if not whole:
        return _Shard(gap=f"{name} left no document")
    return _Shard(filled=f"attempt {lost[-1].attempt} of {name} was lost, attempt {whole} filled it" if lost else "")
