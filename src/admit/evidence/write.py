"""Append a gate's document as its run goes, and seal it at the end (boundary: files)."""

from __future__ import annotations

import contextlib
import hashlib
import os
from io import BytesIO
from typing import TYPE_CHECKING, Final, NamedTuple

from admit.core.records import Closing
from admit.errors import EvidenceError, LedgerError
from admit.evidence.files import blocks_of, open_evidence
from admit.evidence.marks import finish_of
from admit.evidence.strict import LIMITS, read_object
from admit.evidence.wire import Finish, check_gate_name, closing_line, finish_line, node_line, opening_line, plan_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from socket import socket
    from types import TracebackType
    from typing import BinaryIO, Self

    from admit.core.records import NodeRecord, Opening
    from admit.core.signals import Ended
    from admit.evidence.strict import Limits

_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)
_NODE: Final = b'{"record":"node",'
_FINISH: Final = b'{"record":"finish",'
_CLOSING: Final = b'{"record":"closing",'
_OPENING: Final = b'{"record":"opening",'
_KNOWN: Final = (_NODE, _FINISH, b'{"record":"plan",', b'{"record":"timing",', _OPENING)


class DocumentWriter:
    """One gate's document, written a record at a time so that a killed run leaves what it got to (contract E3).

    Creates the file, which must not be there yet, and writes the opening. Leaving a `with` block only lets go of the
    file: a document is sealed by `close`, and one that nobody sealed counts as a run that died.

    Args:
        path: where; by convention `<gate>.<anything>.jsonl` in an evidence folder.
        opening: what the document speaks of.
        link: a connected stream socket that takes the records in place of a file; its other end keeps and seals them.

    Raises:
        EvidenceError: the opening's gate cannot name a gate.
        LedgerError: the file exists already or cannot be written (also raised by every method).
    """

    __slots__ = ("_fd", "_gate", "_hash", "_link", "node_count", "path")

    def __init__(self, path: str | os.PathLike[str], opening: Opening, link: socket | None = None) -> None:
        self.path = os.fspath(path)
        self._gate = check_gate_name(opening.gate, self.path)
        self._hash = hashlib.sha256()
        self._link = link
        self.node_count = 0
        try:
            self._fd = os.open(self.path, _NEW, 0o644) if link is None else link.fileno()
        except OSError as error:
            raise _unwritable(self.path, error, "an evidence folder serves one run; give each run a new one") from error
        self._append(opening_line(opening))

    def plan(self, nodes: Sequence[str]) -> None:
        """Write down what was collected, before anything runs; a node stands as often as it was collected."""
        for line in plan_lines(nodes):
            self._append(line)

    def timing(self, nodes: Iterable[str]) -> None:
        """Write down which nodes are timing-sensitive by their markers (contract T8)."""
        for line in plan_lines(sorted(nodes), "timing"):
            self._append(line)

    def node(self, record: NodeRecord) -> None:
        """Append what one finished node showed, with one write to the file."""
        self._append(node_line(self._gate, record))
        self.node_count += 1

    def finish(self, *, exit_code: int, ended: Ended) -> None:
        """Append the run's own end mark. It is not the seal: whoever watches the run writes that (contract E9)."""
        self._append(finish_line(Finish(exit_code, ended)))

    def close(
        self, *, ended: Ended, exit_code: int | None, signal: int | None, closed_by: str, reason: str = ""
    ) -> Closing:
        """Seal the document with its closing record, flush it to the disk, and let go of the file."""
        digest = "sha256:" + self._hash.hexdigest()
        closing = Closing(self.node_count, ended, exit_code, signal, closed_by, digest, reason)
        self._append(closing_line(closing))
        _sync(self._fd, self.path)
        self.release()
        return closing

    def release(self) -> None:
        """Let go of the file without sealing it; does nothing the second time."""
        if self._fd < 0:
            return
        self._fd, fd = -1, self._fd
        if self._link is None:
            os.close(fd)
        else:
            _hang_up(self._link)

    def __enter__(self) -> Self:
        """Return the writer itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let go of the file; seal nothing."""
        self.release()

    def _append(self, line: bytes) -> None:
        if self._fd < 0:
            raise LedgerError(self.path, "the document is closed; nothing can be appended to it")
        _write(self._fd, line, self.path)
        self._hash.update(line)


class Survey(NamedTuple):
    """What stands in a document that is still open: node records, the run's own end mark, digest of the whole."""

    node_count: int
    finish: Finish | None
    digest: str


def survey(path: str | os.PathLike[str], *, limits: Limits = LIMITS) -> Survey:
    """Return what a document that a writer of ours left unsealed holds, for whoever watched the run and will seal it.

    Raises:
        EvidenceError: the file cannot be read, is sealed already, ends in the middle of a record, or holds lines that
            no writer of ours appends. Such a document is left as it is: without its seal it counts as a run that died.
    """
    name = os.fspath(path)
    with open_evidence(name, limit=limits.document_bytes) as stream:
        return _survey(stream, name, limits)


def close_document(
    path: str | os.PathLike[str],
    *,
    ended: Ended,
    exit_code: int | None,
    signal: int | None,
    closed_by: str,
    reason: str = "",
    limits: Limits = LIMITS,
) -> Closing:
    """Seal a document that another process wrote and left open.

    Args:
        path: the document.
        ended: how the run ended, as the closer saw it; only `finished` lets the gate pass.
        exit_code: the process's exit code, or None where a signal ended it.
        signal: the signal's number, or None.
        closed_by: who saw it: `launcher`, a collector's name, …
        reason: why the run did not finish, in words.
        limits: a larger document is not sealed.

    Raises:
        EvidenceError: as `survey`.
        LedgerError: the file cannot be written.
    """
    name = os.fspath(path)
    with open_evidence(name, limit=limits.document_bytes, writable=True) as stream:
        found = _survey(stream, name, limits)
        closing = Closing(found.node_count, ended, exit_code, signal, closed_by, found.digest, reason)
        _write(stream.fileno(), closing_line(closing), name)
        _sync(stream.fileno(), name)
        return closing


def _survey(stream: BinaryIO, name: str, limits: Limits) -> Survey:
    sha, count, number, last = hashlib.sha256(), 0, 0, b""
    for block in blocks_of(stream, name, limits=limits):
        sha.update(block)
        for last in BytesIO(block):
            number += 1
            _check_line(last, f"{name}:{number}", first=number == 1)
            count += last.startswith(_NODE)
    if not number:
        raise EvidenceError(name, "the document is empty", do="its run wrote no opening record; run the gate again")
    return Survey(count, _finish_of(last, f"{name}:{number}", limits), "sha256:" + sha.hexdigest())


def _check_line(line: bytes, where: str, *, first: bool) -> None:
    if not line.endswith(b"\n"):
        raise EvidenceError(where, "the last record is torn", do="run the gate again")
    if line.startswith(_CLOSING):
        raise EvidenceError(where, "the document has its closing record already", do="a document is sealed once")
    if not line.startswith(_KNOWN) or line.startswith(_OPENING) is not first:
        raise EvidenceError(where, f"{line[:60]!r} is not a line that a recorder writes here", do="run the gate again")


def _finish_of(line: bytes, where: str, limits: Limits) -> Finish | None:
    if not line.startswith(_FINISH):
        return None
    return finish_of(read_object(line, where, limits=limits), where)


def _write(fd: int, line: bytes, path: str) -> None:
    try:
        done = os.write(fd, line)
        while done < len(line):  # a signal or a nearly full disk cuts a write short; the rest follows or raises
            done += os.write(fd, line[done:])
    except OSError as error:
        raise _unwritable(path, error, "the document stays without its seal and counts as a run that died") from error


def _hang_up(link: socket) -> None:
    """Say that nothing follows, and wait until the other end has taken everything and lets go."""
    with link, contextlib.suppress(OSError):
        link.shutdown(1)  # a child that a test left behind may hold the socket too, so closing it would say nothing
        link.recv(1)


def _sync(fd: int, path: str) -> None:
    try:
        os.fsync(fd)
    except OSError as error:
        raise _unwritable(path, error, "what was written may be lost; run the gate again") from error


def _unwritable(path: str, error: OSError, do: str) -> LedgerError:
    return LedgerError(path, f"cannot be written: {error.strerror}", do=do)
