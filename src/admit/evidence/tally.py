"""What one document said of each node, as fold codes, while it is read: planned, seen, lost (contract U3, U5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from admit.core.records import (
    CLEAN_CODE,
    FAIL,
    GAP,
    HARD,
    PASS,
    NodeRecord,
    attempts_of,
    code_of,
    joined,
    spokesman,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

PLANNED: Final = 0
"""The code of a node that was planned and not seen yet; no record's code is 0."""


class NodeTally:
    """A fold code a node, and the record that speaks for a node wherever there is more to say than that it passed."""

    __slots__ = ("_owed", "_started", "codes", "details")

    def __init__(self) -> None:
        self.codes: dict[str, int] = _roomy()
        self.details: dict[str, NodeRecord] = {}
        self._owed: dict[str, int] = {}  # nodes planned more than once: how many records are still to come after one
        self._started = False

    def plan(self, nodes: Iterable[str]) -> None:
        """Expect `nodes`, each as often as it stands there; in a plan that comes after the first record, once."""
        codes = self.codes
        for node in nodes:
            if node not in codes:
                codes[node] = PLANNED
            elif not self._started:
                self._owed[node] = self._owed.get(node, 0) + 1

    def add(self, record: NodeRecord) -> None:
        """Fold one record."""
        self._started = True
        node = record.node
        self._add_code(node, code_of(record))
        if has_more_to_say(record):
            known = self.details.get(node)
            self.details[node] = record if known is None else spokesman(known, record)

    def add_plain(self, nodes: Iterable[str]) -> None:
        """Fold plain passes: one attempt, lock match, stable, nothing else said."""
        self._started = True
        codes, put = self.codes, self.codes.setdefault
        size = len(codes)
        for node in nodes:
            known = put(node, CLEAN_CODE)  # one look into a large table a node, which is what a million nodes cost
            if len(codes) != size:
                size += 1
            elif known == PLANNED:
                codes[node] = CLEAN_CODE
            else:
                self._add_code(node, CLEAN_CODE)

    def demote_passes(self) -> None:
        """Take every pass for a verdict that was lost: the run died, so nobody knows what else it would have said."""
        for node, code in self.codes.items():
            if code & PASS:
                self.codes[node] = (code & ~PASS) | GAP
                known = self.details.get(node)
                if known is None:
                    self.details[node] = _lost(node, code)
                elif known.check == "pass" and not code & FAIL:
                    self.details[node] = known._replace(check="not_run", why="truncated")

    def add_never_ran(self) -> None:
        """Give a record to every node that was planned and of which too little was seen.

        A node of which nothing was seen is a gap, which a later attempt on the same commit fills (contract U5). One
        that was collected twice and seen once is not: nobody can tell which of the two a later pass would speak of.
        """
        for node, code in self.codes.items():
            if code == PLANNED:
                self.codes[node] = GAP
                self.details[node] = _never_ran(node)
            elif node in self._owed:
                self.codes[node] = code | HARD
                self.details[node] = spokesman(self.details.get(node, _never_ran(node)), _never_ran(node))

    def _add_code(self, node: str, code: int) -> None:
        known = self.codes.get(node)
        if not known:
            self.codes[node] = code
            return
        self.codes[node] = joined(known, code)
        if node in self._owed:
            self._owed[node] -= 1
            if not self._owed[node]:
                del self._owed[node]


def _roomy() -> dict[str, int]:
    """Return an empty table that keeps its keys' hashes beside them.

    CPython leaves them out of a table that never held anything but strings, and then fetches every string that it only
    passes by: with a million nodes that is a third of the time of a look-up.
    """
    table: dict[object, int] = {None: PLANNED}
    del table[None]
    return cast("dict[str, int]", table)


def has_more_to_say(record: NodeRecord) -> bool:
    """Return whether a record says more than that its node passed, under a matching lock and no freeze."""
    return not (
        record.check == "pass"
        and record.fixture_lock == "match"
        and record.flake_status == "stable"
        and not (record.flaky or record.why or record.message or record.counterexample)
    )


def _never_ran(node: str) -> NodeRecord:
    # the lock's state was not seen; match is what joins with any other state without changing it
    return NodeRecord(node, "not_run", "match", "stable", why="never_ran", attempts=0)


def _lost(node: str, code: int) -> NodeRecord:
    return NodeRecord(node, "not_run", "match", "stable", why="truncated", attempts=attempts_of(code))
