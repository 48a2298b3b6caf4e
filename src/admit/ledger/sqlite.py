"""The ledger in an SQLite file: one durable transaction an entry, any number of processes. Boundary."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from admit.errors import LedgerError
from admit.ledger.chain import check_words, next_entry, repeated
from admit.ledger.migrations import MIGRATIONS, Migration
from admit.ledger.sqlite_errors import clear_errors
from admit.ledger.sqlite_file import (
    SELECT,
    check_length,
    checked_inode,
    checked_version,
    connect,
    create,
    entry_of,
    sync_file,
    sync_folder,
    writing,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from admit.ledger.base import Entry

__all__ = ["SqliteLedger"]


class SqliteLedger:
    """Keep the ledger in the SQLite file at `path`.

    Args:
        path: the file, made with its folder where nothing is there, unless `read_only`.
        read_only: never create, upgrade or append.
        busy_timeout_s: how long, in seconds, to wait for other writers.
        migrations: the schema's history; another one is for tests of upgrades.

    Raises:
        LedgerError: the file cannot be used (exit 74). So do all methods.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        read_only: bool = False,
        busy_timeout_s: float = 30.0,
        migrations: tuple[Migration, ...] = MIGRATIONS,
    ) -> None:
        self._path = os.fspath(path)
        if "\0" in self._path:
            raise LedgerError(self._path, "is no path: it holds a NUL")
        with clear_errors(self._path):
            self._path = os.path.abspath(path)
            if not read_only:
                create(self._path, migrations)
            self._inode = checked_inode(self._path)
            self._connection = connect(
                self._path, read_only=read_only, busy_timeout_s=busy_timeout_s, migrations=migrations
            )
        self._migrations = migrations
        self._is_first = True

    def append(self, kind: str, body: bytes, *, now: datetime, key: str) -> Entry:
        """Store an entry and return it once it is on the disk, as `base.Ledger` says (contract G1)."""
        check_words(kind, key)
        with clear_errors(self._path):
            with writing(self._connection):
                # A newer version of admit may have upgraded the file since it was opened here.
                checked_version(self._connection, self._path, self._migrations)
                self._check_in_place()
                if self._is_first:
                    check_length(self._connection, self._path)
                earlier = self._row("WHERE key = ?", key)
                entry = repeated(earlier, kind, body) if earlier else self._chained(kind, body, now=now, key=key)
            self._sync(is_repeat=earlier is not None)
        return entry

    def entries(self, start: int = 1, limit: int | None = None) -> Iterator[Entry]:
        """Yield the entries from `start` on, all from one moment, without holding them in memory."""
        with clear_errors(self._path):
            at_most = -1 if limit is None else max(limit, 0)
            # The end is fixed first, so that an append by whoever is reading does not turn up in what is read.
            end: int = self._connection.execute("SELECT coalesce(max(seq), 0) FROM entry").fetchone()[0]
            found = f"{SELECT} WHERE seq BETWEEN ? AND ? ORDER BY seq LIMIT ?"
            for row in self._connection.execute(found, (start, end, at_most)):
                yield entry_of(row, self._path)

    def last(self, n: int) -> tuple[Entry, ...]:
        """Return the last `n` entries, oldest of them first."""
        with clear_errors(self._path):
            rows = self._connection.execute(f"{SELECT} ORDER BY seq DESC LIMIT ?", (max(n, 0),)).fetchall()
        return tuple(entry_of(row, self._path) for row in reversed(rows))

    def check_file(self) -> None:
        """Refuse a file whose pages or indexes do not agree; the chain sees only what SQLite still finds."""
        with clear_errors(self._path):
            found = self._connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
        if found != "ok":
            raise LedgerError(self._path, f"is damaged ({found})", do="keep the file for a person to look at")

    def close(self) -> None:
        """Let go of the file; the last one to do so leaves a single file without companions."""
        with clear_errors(self._path):
            self._connection.close()

    def _row(self, where: str, *parameters: str) -> Entry | None:
        row = self._connection.execute(f"{SELECT} {where}", parameters).fetchone()
        return entry_of(row, self._path) if row else None

    def _chained(self, kind: str, body: bytes, *, now: datetime, key: str) -> Entry:
        entry = next_entry(self._row("ORDER BY seq DESC LIMIT 1"), kind, body, now=now, key=key)
        self._connection.execute(
            "INSERT INTO entry (seq, previous, digest, appended_at, kind, key, body) VALUES (?, ?, ?, ?, ?, ?, ?)",
            entry,
        )
        # Read back: a file with a foreign trigger could drop the row and report success.
        if self._row("ORDER BY seq DESC LIMIT 1") != entry:
            raise LedgerError(self._path, f"did not keep entry {entry.seq}", do="look at the file's schema")
        return entry

    def _check_in_place(self) -> None:
        if not os.path.exists(self._path) or checked_inode(self._path) != self._inode:
            do = "run again; what was appended before is in the file that was there"
            raise LedgerError(self._path, "was moved, removed or replaced while it was open", do=do)

    def _sync(self, *, is_repeat: bool) -> None:
        if not (self._is_first or is_repeat):
            return
        real = os.path.realpath(self._path)  # SQLite keeps its log next to the file, not next to a link to it
        if is_repeat:
            # Whoever wrote the entry may have been killed after writing it and before it was on the disk.
            sync_file(real + "-wal")
        if self._is_first:
            sync_folder(real)  # the names of the file and of its log, whoever made them
            self._is_first = False
