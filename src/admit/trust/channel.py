"""The channel: a test run's records reach its parent over a socket, into a folder that the run cannot name (boundary).

Every connection carries one document. A test session sends one for each gate; several sessions may follow each other
in one run, as when `make test` calls pytest twice, but only where all documents of the session before ended with the
run's word that it finished, and only over connections that were made after that. Everything else is a problem: a run
with problems has a broken instrument (contract T4).
"""

from __future__ import annotations

import contextlib
import os
import selectors
import shutil
import socket
import tempfile
import threading
import time
from typing import TYPE_CHECKING, Final, NamedTuple

from admit.errors import AdmitError, LaunchError, one_line

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import TracebackType
    from typing import Self

BLOCK_BYTES: Final = 1 << 16
OPENING_BYTES: Final = 1 << 16
"""Longest opening line."""

CONNECTIONS: Final = 64
"""Most connections that one run may make; a session needs three."""

PROBLEMS: Final = 20
"""Most problems that are kept; the first says enough."""

DRAIN_S: Final = 5.0
"""How long what a dead run left in its connections is read."""


class Terms(NamedTuple):
    """What a channel is told of documents.

    `gates` are the documents of one session. `adopted` turns an opening line into its gate and the line that is kept.
    `has_finished` says whether a document that came to its end has its run's word that it finished. Both raise
    `AdmitError` where it is none of ours. `document_bytes` bounds one document.
    """

    gates: tuple[str, ...]
    adopted: Callable[[bytes], tuple[str, bytes]]
    has_finished: Callable[[str], bool]
    document_bytes: int


class _Connection:
    """One connection: the bytes before its opening is whole, then a file that grows."""

    __slots__ = ("before", "fd", "gate", "is_late", "left", "path", "peer")

    def __init__(self, peer: socket.socket, left: int, *, is_late: bool) -> None:
        self.peer, self.left, self.is_late = peer, left, is_late
        self.before = b""
        self.gate = self.path = ""
        self.fd = -1

    def release(self) -> None:
        """Let go of the file and, last, of the connection: its peer waits for that."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1
        self.peer.close()


class Channel:
    """Receive the documents of one run, in a thread of its own, until `finish`.

    Args:
        folder: where the documents are kept; private to the parent.
        run_id: names them: `<gate>.<run_id>-<n>.jsonl`, `n` counts the sessions.
        terms: what documents of this run are like.

    Raises:
        LaunchError: no socket can be made.
    """

    def __init__(self, folder: Path, run_id: str, terms: Terms) -> None:
        self._folder, self._run_id, self._terms = os.fspath(folder), run_id, terms
        self._problems: list[str] = []
        self._sessions: list[dict[str, str]] = []
        self._ended: set[str] = set()
        self._open: dict[socket.socket, _Connection] = {}
        self._accepted = 0
        self._stop_at = 0.0
        self._home = ""
        try:
            os.makedirs(self._folder, mode=0o700, exist_ok=True)
            # a socket's path holds 108 bytes at most, so it is made where paths are short
            self._home = tempfile.mkdtemp(prefix="admit-", dir="/tmp" if os.path.isdir("/tmp") else None)  # noqa: S108
            self.path = os.path.join(self._home, "s")
            self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self._listener.bind(self.path)
            self._listener.listen(CONNECTIONS)
        except OSError as error:
            shutil.rmtree(self._home, ignore_errors=True)
            raise LaunchError("channel", f"no socket can be made: {error}") from error
        self._listener.setblocking(False)
        self._woken, self._waker = socket.socketpair()
        self._ready = selectors.DefaultSelector()
        self._ready.register(self._listener, selectors.EVENT_READ)
        self._ready.register(self._woken, selectors.EVENT_READ)
        self._thread = threading.Thread(target=self._serve, name="admit-channel", daemon=True)
        self._thread.start()

    @property
    def problems(self) -> tuple[str, ...]:
        """Return what was not as a run's own recorder does it; complete after `finish`."""
        return tuple(self._problems)

    @property
    def sessions(self) -> tuple[tuple[str, ...], ...]:
        """Return the paths of the documents, session by session, in the order of the gates."""
        gates = self._terms.gates
        return tuple(tuple(one[gate] for gate in gates if gate in one) for one in self._sessions)

    def finish(self, timeout_s: float = DRAIN_S) -> None:
        """Stop accepting, read what is still to be read, and let go of everything; call it when the child has ended."""
        if not self._home:
            return
        self._stop_at = time.monotonic() + timeout_s
        self._waker.send(b"!")
        self._thread.join(timeout_s + DRAIN_S)
        if self._thread.is_alive():
            self._problem("the channel did not come to its end")
        for session in self._sessions:
            for gate in self._terms.gates:
                if gate not in session:
                    self._problem(f"a session left no document of {gate}")
        for connected in (self._woken, self._waker, self._listener):
            connected.close()
        shutil.rmtree(self._home, ignore_errors=True)
        self._home = ""

    def __enter__(self) -> Self:
        """Return the channel itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let go of everything; what came so far is kept."""
        self.finish()

    # ------------------------------------------------------------ the thread

    def _serve(self) -> None:
        try:
            stop_at: float | None = None
            while stop_at is None or (self._open and time.monotonic() < stop_at):
                ready = self._ready.select(None if stop_at is None else 0.05)
                sockets = [key.fileobj for key, _ in ready]
                # first who is new, then what came: a connection made during a session is known as one
                if self._listener in sockets or self._woken in sockets:
                    self._accept()
                if self._woken in sockets:
                    stop_at = self._stop_at
                    self._ready.unregister(self._woken)
                    self._ready.unregister(self._listener)
                    self._listener.close()
                for connection in [one for peer, one in list(self._open.items()) if peer in sockets]:
                    self._read(connection)
        except Exception as error:  # noqa: BLE001 - a thread that died must not look like a quiet run
            self._problem(f"the channel failed: {type(error).__name__}: {error}")
        finally:
            for connection in list(self._open.values()):
                self._drop(connection, "was still open when its run had ended")
            self._ready.close()

    def _accept(self) -> None:
        while True:
            try:
                peer, _ = self._listener.accept()
            except OSError:
                return
            self._accepted += 1
            if self._accepted > CONNECTIONS:
                self._problem(f"more than {CONNECTIONS} connections")
                peer.close()
                continue
            peer.setblocking(False)
            connection = _Connection(peer, self._terms.document_bytes, is_late=self._is_over())
            self._open[peer] = connection
            self._ready.register(peer, selectors.EVENT_READ)

    def _read(self, connection: _Connection) -> None:
        try:
            block = connection.peer.recv(BLOCK_BYTES)
        except BlockingIOError:
            return
        except OSError as error:
            self._drop(connection, f"was cut: {error.strerror}")
            return
        try:
            if not block:
                self._end(connection)
            elif connection.fd < 0:
                self._begin(connection, block)
            else:
                self._append(connection, block)
        except AdmitError as error:
            self._drop(connection, f"carries no document of this run: {error}")
        except OSError as error:
            self._drop(connection, f"could not be kept: {error.strerror}")

    def _begin(self, connection: _Connection, block: bytes) -> None:
        connection.before += block
        line, end, rest = connection.before.partition(b"\n")
        if not end:
            if len(line) > OPENING_BYTES:
                self._drop(connection, "carries no document of this run: its first line has no end")
            return
        connection.before = b""
        connection.gate, kept = self._terms.adopted(line + end)
        session = self._session_for(connection)
        if session is None:
            return
        name = f"{connection.gate}.{self._run_id}-{len(self._sessions)}.jsonl"
        connection.path = os.path.join(self._folder, name)
        connection.fd = os.open(connection.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        session[connection.gate] = connection.path
        self._append(connection, kept + rest)

    def _session_for(self, connection: _Connection) -> dict[str, str] | None:
        """Return the session that a document belongs to, a new one where that is allowed."""
        gate = connection.gate
        if gate not in self._terms.gates:
            self._drop(connection, f"carries a document of {gate}, which is no gate of this run")
            return None
        if self._sessions and not self._is_over() and gate not in self._sessions[-1] and not connection.is_late:
            return self._sessions[-1]
        if self._sessions and not (self._is_over() and connection.is_late):
            self._drop(connection, f"carries a second document of {gate}, beside a session that had not finished")
            return None
        self._sessions.append({})
        for other in self._open.values():
            other.is_late = False
        return self._sessions[-1]

    def _is_over(self) -> bool:
        """Return whether all documents of the last session came to their end, and say that it finished."""
        return bool(self._sessions) and self._ended.issuperset(
            self._sessions[-1].get(gate, "") for gate in self._terms.gates
        )

    def _append(self, connection: _Connection, block: bytes) -> None:
        connection.left -= len(block)
        if connection.left < 0:
            limit = self._terms.document_bytes
            self._drop(connection, f"carries more than the {limit} bytes that a document may hold")
            return
        while block:
            block = block[os.write(connection.fd, block) :]

    def _end(self, connection: _Connection) -> None:
        if connection.fd >= 0 and self._terms.has_finished(connection.path):
            self._ended.add(connection.path)
        if connection.before:
            self._drop(connection, "carries no document of this run: its first line has no end")
        else:
            self._release(connection)

    def _drop(self, connection: _Connection, why: str) -> None:
        name = os.path.basename(connection.path) or "a connection"
        self._problem(f"{name} {why}" if connection.fd >= 0 or not connection.gate else f"a connection {why}")
        self._release(connection)

    def _release(self, connection: _Connection) -> None:
        if self._open.pop(connection.peer, None) is not None:
            with contextlib.suppress(KeyError, ValueError):
                self._ready.unregister(connection.peer)
            connection.release()

    def _problem(self, text: str) -> None:
        if len(self._problems) < PROBLEMS:
            self._problems.append(one_line(text, 500))
