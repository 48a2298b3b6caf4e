"""The three gates' documents of one pytest session (boundary: files)."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING, Final

from admit.core.context import opening_of
from admit.core.records import NodeRecord, Opening
from admit.core.signals import FREEZE_GATE, LOCK_STATES
from admit.evidence.write import DocumentWriter
from admit.pytest_plugin.execution import Standing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from socket import socket

    from admit.core.context import RunContext
    from admit.core.records import Closing
    from admit.core.signals import Ended, Why

PROPERTY_GATE: Final = "property_check"
FIXTURE_GATE: Final = "fixture_check"
GATES: Final = (PROPERTY_GATE, FIXTURE_GATE, FREEZE_GATE)
"""The documents of a session."""


class Document:
    """One gate's document: what it planned, and what it said of the nodes so far."""

    __slots__ = ("planned", "recorded", "writer")

    def __init__(self, path: str, opening: Opening, link: socket | None) -> None:
        self.writer = DocumentWriter(path, opening, link)
        self.planned: Counter[str] = Counter()
        self.recorded: dict[str, int] = {}

    def plan(self, nodes: list[str]) -> None:
        """Write down the nodes that will run, as often as they were collected."""
        if nodes:
            self.planned.update(nodes)
            self.writer.plan(nodes)

    def node(self, record: NodeRecord) -> None:
        """Append one record."""
        self.writer.node(record)
        self.recorded[record.node] = self.recorded.get(record.node, 0) + 1

    def unseen(self) -> list[str]:
        """Return the planned nodes without a record, as often as one is wanting."""
        return [node for node, times in self.planned.items() for _ in range(times - self.recorded.get(node, 0))]


class Documents:
    """Create the documents of a session, fill in what the context knows, and end them.

    With `links`, connections of a channel in the order of `GATES`, they take the documents in place of files.

    Raises:
        EvidenceError, LedgerError: a document cannot be created or written (every method).
    """

    def __init__(
        self, folder: str, context: RunContext, tool_version: str, links: Sequence[socket] | None = None
    ) -> None:
        self.context = context
        os.makedirs(folder, exist_ok=True)
        stem = _free_stem(folder, f"{context.run_id}-{os.getpid()}")
        self._documents = {
            gate: Document(
                os.path.join(folder, f"{gate}.{stem}.jsonl"),
                opening_of(context, gate, tool="pytest", tool_version=tool_version),
                link,
            )
            for gate, link in zip(GATES, links or (None, None, None), strict=True)
        }
        self._expiry = _expiries(context)
        self._plain = None if context.locked or context.frozen else Standing(context.lock, "stable", None)
        register = self._documents[FREEZE_GATE]
        register.plan([record.node for record in context.register])
        for record in context.register:
            register.node(record)

    def __getitem__(self, gate: str) -> Document:
        """Return one gate's document."""
        return self._documents[gate]

    def standing(self, node: str) -> Standing:
        """Return what the trusted files say of a node; of several pinned sets that it uses the worst speaks."""
        if self._plain is not None:
            return self._plain
        from fnmatch import fnmatchcase

        context = self.context
        locks = [part.state for part in context.locked if any(fnmatchcase(node, p) for p in part.patterns)]
        lock = max((context.lock, *locks), key=LOCK_STATES.index)
        expires = self._expiry(node)  # a freeze of a test reaches its cases, too
        return Standing(lock, "stable" if expires is None else "frozen", expires)

    def not_run(self, gates: Iterable[str], node: str, *, why: Why, message: str) -> None:
        """Append that a node gave no verdict, to the documents of these gates."""
        record = NodeRecord(
            node, "not_run", *self.standing(node), self.context.fixture_manifest, why=why, message=message
        )
        for gate in gates:
            self._documents[gate].node(record)

    def end(self, *, exit_code: int, ended: Ended) -> None:
        """Append each document's end mark, and seal it where no parent process watches the run."""
        for document in self._documents.values():
            document.writer.finish(exit_code=exit_code, ended=ended)
        for document in self._documents.values():
            if not self.context.launched:
                self._seal(document, exit_code, ended)
            document.writer.release()

    def _seal(self, document: Document, exit_code: int, ended: Ended) -> Closing:
        return document.writer.close(ended=ended, exit_code=exit_code, signal=None, closed_by="plugin")

    def abandon(self) -> None:
        """Let go of the files without an end mark or a seal: they count as those of a run that died."""
        for document in self._documents.values():
            document.writer.release()


def _expiries(context: RunContext) -> Callable[[str], str | None]:
    if not context.frozen:
        return lambda _node: None
    from admit.freeze.reach import finder

    return finder(context.frozen)


def _free_stem(folder: str, stem: str) -> str:
    # several sessions of one process (pytest.main twice) have one run id and one pid
    taken = {name.partition(".")[2] for name in os.listdir(folder)}
    number, free = 1, stem
    while f"{free}.jsonl" in taken:
        number += 1
        free = f"{stem}-{number}"
    return free
