"""Fold a document's lines, block by block, into what a roll-up needs (contract E3, E4, E9)."""

from __future__ import annotations

import hashlib
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

from admit.core.records import Document
from admit.errors import EvidenceError
from admit.evidence import fields
from admit.evidence.marks import RECORDS, closing_of, ended_of, finish_of, opening_of, plan_of
from admit.evidence.record import node_record
from admit.evidence.strict import read_object
from admit.evidence.tally import NodeTally
from admit.evidence.typed import record_of, typed_reader

if TYPE_CHECKING:
    from collections.abc import Iterable

    from admit.core.records import Closing, NodeRecord, Opening
    from admit.evidence.strict import Limits
    from admit.evidence.wire import Finish

_AGAIN: Final = "run the gate again"
_DEEPEST: Final = 1  # an array or an object in a line's own object


def fold_blocks(blocks: Iterable[bytes], source: str, *, limits: Limits) -> Document:
    """Return the document whose bytes come in blocks of whole lines; a last block without a newline is a torn record.

    Args:
        blocks: the bytes, in order.
        source: the document's name, for errors and for the decision.
        limits: what is too large.

    Raises:
        EvidenceError: anything that is not what the format says (contract E4). A document that only lacks its end is
            none of that: it comes without a closing record, its passes taken for lost (contract U3).
    """
    parts = iter(blocks)
    first, newline, rest = next(parts, b"").partition(b"\n")
    if not newline:
        found = "the opening record is torn" if first else "the document is empty"
        raise EvidenceError(source, found, do=f"its run died before it began; {_AGAIN}")
    fold = _Fold(_opening(first, source, limits), source, limits)
    fold.hash_line(first)
    if rest:
        fold.feed(rest)
    for block in parts:
        fold.feed(block)
    return fold.document()


def _opening(line: bytes, source: str, limits: Limits) -> Opening:
    keys = _parsed(line, source, 1, limits=limits)
    if keys["record"] != "opening":
        raise EvidenceError(f"{source}:1", f"the first record is {keys['record']}", allowed="opening")
    return opening_of(keys, f"{source}:1")


def _parsed(line: bytes, source: str, number: int, *, limits: Limits) -> dict[str, Any]:
    where = f"{source}:{number}"
    if len(line) > limits.line_bytes:
        raise EvidenceError(where, f"a line of {len(line)} bytes", allowed=f"{limits.line_bytes} bytes")
    if not line.strip():
        raise EvidenceError(where, "a blank line", allowed="one record a line")
    keys = read_object(line, source, limits=limits, line=number)
    fields.word(keys, "record", RECORDS, where)
    return keys


class _Fold:
    """One document on its way: the lines read so far, in order."""

    def __init__(self, opening: Opening, source: str, limits: Limits) -> None:
        self._opening, self._source, self._limits = opening, source, limits
        self._tally = NodeTally()
        self._typed = typed_reader(opening.gate)
        self._most = min(limits.line_bytes, limits.string_chars) if limits.depth > _DEEPEST else 0
        self._sha = hashlib.sha256()
        self._finish: Finish | None = None
        self._closing: Closing | None = None
        self._timing: set[str] = set()
        self._node_count = 0
        self._line_count = 1

    def hash_line(self, line: bytes) -> None:
        self._sha.update(line + b"\n")

    def feed(self, block: bytes) -> None:
        if not block.endswith(b"\n"):
            # a torn record counts for nothing; only a run that died leaves one, and that is what the document says
            self._check_open(f"{self._source}:{self._line_count + 1}")
            self._sha.update(block)
            return
        if not self._feed_written(block):
            self._feed_lines(block)
        self._sha.update(block)
        count = max(len(self._tally.codes), len(self._timing))
        if count > self._limits.nodes:
            where = f"{self._source}:{self._line_count}"
            raise EvidenceError(where, f"{count} nodes", allowed=f"{self._limits.nodes}")

    def document(self) -> Document:
        if self._closing is None:
            self._tally.demote_passes()
        self._tally.add_never_ran()
        return Document(
            opening=self._opening,
            codes=self._tally.codes,
            details=self._tally.details,
            closing=None if self._closing is None else ended_of(self._finish, self._closing),
            digest="sha256:" + self._sha.hexdigest(),
            source=self._source,
            timing=frozenset(self._timing),
        )

    def _feed_written(self, block: bytes) -> bool:
        """Fold a block of written node records at once; return False if it has to be read line by line."""
        if self._finish is not None or self._closing is not None or len(block) > self._most:
            return False
        found = self._typed.read(block)
        if found is None:
            return False
        self._tally.meet(found.nodes)
        self._tally.add_plain(found.plain)
        for place, one in found.others:
            record = record_of(one)
            if record is None:
                number = self._line_count + place + 1
                record = self._strict_record(self._parsed(block.split(b"\n")[place], number), number)
            self._tally.add(record)
        self._node_count += len(found.nodes)
        self._line_count += len(found.nodes)
        return True

    def _feed_plan(self, line: bytes) -> bool:
        if self._finish is not None or len(line) > self._most:
            return False
        nodes = self._typed.read_plan(line)
        if nodes is None:
            return False
        self._tally.plan(nodes)
        return True

    def _feed_lines(self, block: bytes) -> None:
        done = 0
        for line in BytesIO(block):
            number = self._line_count + 1
            where = f"{self._source}:{number}"
            self._check_open(where)
            if not self._feed_written(line) and not self._feed_plan(line):
                keys = self._parsed(line, number)
                if keys["record"] == "closing":
                    self._close(keys, self._sha_up_to(block, done), where)
                else:
                    self._strict_line(keys, number)
            self._line_count = number
            done += len(line)

    def _parsed(self, line: bytes, number: int) -> dict[str, Any]:
        return _parsed(line, self._source, number, limits=self._limits)

    def _strict_line(self, keys: dict[str, Any], number: int) -> None:
        record, where = keys["record"], f"{self._source}:{number}"
        if record == "opening":
            raise EvidenceError(
                where, "a second opening record", allowed="one, first", do=f"one run, one file; {_AGAIN}"
            )
        if self._finish is not None:
            raise EvidenceError(where, f"{record} after the run's own end mark", allowed="closing", do=_AGAIN)
        if record == "plan":
            self._tally.plan(plan_of(keys, where))
        elif record == "timing":
            self._timing.update(plan_of(keys, where))
        elif record == "finish":
            self._finish = finish_of(keys, where)
        else:
            one = self._strict_record(keys, number)
            self._tally.meet([one.node])
            self._tally.add(one)
            self._node_count += 1

    def _strict_record(self, keys: dict[str, Any], number: int) -> NodeRecord:
        del keys["record"]
        return node_record(keys, f"{self._source}:{number}", gate=self._opening.gate)

    def _close(self, keys: dict[str, Any], digest: str, where: str) -> None:
        closing = closing_of(keys, where)
        if closing.node_count != self._node_count:
            found = f"count is {closing.node_count}, and {self._node_count} node records came before"
            raise EvidenceError(where, found, do=f"records were lost or added; {_AGAIN}")
        if closing.digest != digest:
            found = f"digest is {closing.digest}, and what came before has {digest}"
            raise EvidenceError(where, found, do=f"the document was changed after it was sealed; {_AGAIN}")
        self._closing = closing

    def _sha_up_to(self, block: bytes, end: int) -> str:
        sha = self._sha.copy()
        sha.update(block[:end])
        return "sha256:" + sha.hexdigest()

    def _check_open(self, where: str) -> None:
        if self._closing is not None:
            raise EvidenceError(where, "more after the closing record", allowed="nothing", do=_AGAIN)
