"""What one document said of each node, as fold codes, while it is read: planned, seen, lost (contract U3, U5)."""

from __future__ import annotations

from collections import deque
from itertools import islice, repeat
from typing import TYPE_CHECKING, Final, cast

from admit.core.records import (
    CLEAN_CODE,
    FAIL,
    GAP,
    HARD,
    PASS,
    STATE_MASK,
    NodeRecord,
    attempts_of,
    code_of,
    joined,
    spokesman,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

PLANNED: Final = 0
"""The code of a node that was planned and not seen yet; no record's code is 0."""


class NodeTally:
    """A fold code a node, and the record that speaks for a node wherever there is more to say than that it passed.

    A run mostly goes through its nodes in the order of its plan. As long as it does, records are only compared with the
    next planned nodes; from the first that is another on, what is left of the plan is looked up node by node.
    """

    __slots__ = ("_met", "_owed", "_planned", "_started", "codes", "details")

    def __init__(self) -> None:
        self.codes: dict[str, int] = _roomy()
        self.details: dict[str, NodeRecord] = {}
        self._planned: list[str] | None = []  # while records come in its order, of which `_met` were met; then None
        self._met = 0
        self._owed: dict[str, int] = {}  # nodes planned more than once: how many records are still to come
        self._started = False

    def plan(self, nodes: Sequence[str]) -> None:
        """Expect `nodes`, each as often as it stands there; in a plan that comes after the first record, once."""
        if not self._started and self._planned is not None:
            self._planned += nodes
            return
        self._look_up_plan()
        for node in nodes:
            self.codes.setdefault(node, PLANNED)

    def meet(self, nodes: list[str]) -> None:
        """Take note of the nodes of the next records, in their order, before the records are added."""
        self._started = True
        if self._planned is not None:
            end = self._met + len(nodes)
            if self._planned[self._met : end] == nodes:
                self._met = end
                return
            self._look_up_plan()
        if self._owed:
            for node in nodes:
                if node in self._owed:
                    self._owed[node] -= 1
                    if not self._owed[node]:
                        del self._owed[node]

    def add(self, record: NodeRecord) -> None:
        """Fold one record, whose node was met."""
        node = record.node
        code, known = code_of(record), self.codes.get(node)
        self.codes[node] = joined(known, code) if known else code
        if has_more_to_say(record):
            speaker = self.details.get(node)
            self.details[node] = record if speaker is None else spokesman(speaker, record)

    def add_plain(self, nodes: Sequence[str]) -> None:
        """Fold plain passes, whose nodes were met: one attempt, lock match, stable, nothing else said."""
        codes = self.codes
        size = len(codes)
        # one look into a large table a node is what a million nodes cost, so the others wait until they are needed
        deque(map(codes.setdefault, nodes, repeat(CLEAN_CODE)), maxlen=0)
        if len(codes) == size + len(nodes):
            return
        fresh = set(islice(reversed(codes), len(codes) - size))
        for node in nodes:
            if node in fresh:
                fresh.remove(node)
            else:
                known = codes[node]
                codes[node] = joined(known, CLEAN_CODE) if known else CLEAN_CODE

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
        self._look_up_plan()
        for node, code in self.codes.items():
            if code == PLANNED:
                self.codes[node] = GAP
                self.details[node] = _never_ran(node)
            elif node in self._owed:
                self.codes[node] = code | HARD
                self.details[node] = spokesman(self.details.get(node, _never_ran(node)), _never_ran(node))

    def _look_up_plan(self) -> None:
        """Turn what is left of the plan into nodes that are expected and numbers of records that are owed."""
        left = [] if self._planned is None else self._planned[self._met :]
        self._planned = None
        for node in left:
            code = self.codes.get(node)
            if code is None:
                self.codes[node] = PLANNED
            else:  # planned once more than it was seen; the table alone speaks for a first record to come
                self._owed[node] = self._owed.get(node, int(code == PLANNED)) + 1


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
    said = bool(record.why or record.message or record.counterexample or record.examples is not None)
    return said or code_of(record) & STATE_MASK != PASS


def _never_ran(node: str) -> NodeRecord:
    # the lock's state was not seen; match is what joins with any other state without changing it
    return NodeRecord(node, "not_run", "match", "stable", why="never_ran", attempts=0)


def _lost(node: str, code: int) -> NodeRecord:
    return NodeRecord(node, "not_run", "match", "stable", why="truncated", attempts=attempts_of(code))
