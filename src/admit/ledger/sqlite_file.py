"""The ledger's file: made whole or not at all, checked before it is trusted, grown step by step. Boundary."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import stat
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

from admit.errors import LedgerError
from admit.ledger.base import Entry
from admit.ledger.chain import digest_of
from admit.ledger.migrations import APPLICATION_ID, Migration, pending

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "SELECT",
    "check_length",
    "checked_inode",
    "checked_version",
    "connect",
    "create",
    "entry_of",
    "sync_file",
    "sync_folder",
    "upgrade",
    "writing",
]

SELECT: Final = "SELECT seq, previous, digest, appended_at, kind, key, body FROM entry"
_TYPES: Final = (int, bytes, bytes, str, str, str, bytes)
# FULL: a commit in WAL mode returns after fsync. fullfsync: macOS needs it to reach the disk; elsewhere it is ignored.
# The last two: a file that somebody else wrote may be hostile (https://www.sqlite.org/security.html).
_SETTINGS: Final = (
    "PRAGMA synchronous = FULL",
    "PRAGMA fullfsync = ON",
    "PRAGMA checkpoint_fullfsync = ON",
    "PRAGMA trusted_schema = OFF",
    "PRAGMA cell_size_check = ON",
)


def create(path: str, migrations: tuple[Migration, ...]) -> None:
    """Make a whole, empty ledger appear at `path` in one step, unless something is there already.

    The ledger is written under a name of its own and then linked into place, which fails where somebody else was
    first. So nobody ever opens half a ledger, and an empty file at `path` is known to be damage.
    """
    if os.path.lexists(path):
        return
    _make_folder(os.path.dirname(path))
    draft = f"{path}.{os.getpid()}-{os.urandom(4).hex()}.new"
    try:
        with closing(_connection(draft, mode="rwc", busy_timeout_s=0)) as connection:
            upgrade(connection, path, migrations)
            # Last, so that the draft is one file that stands by itself: the header keeps the mode for whoever opens it.
            _use_wal(connection, path)
        with suppress(FileExistsError):
            os.link(draft, path)
    finally:
        for suffix in ("", "-journal", "-wal", "-shm"):
            with suppress(FileNotFoundError):
                os.unlink(draft + suffix)


def checked_inode(path: str) -> tuple[int, int]:
    """Return device and inode of the file at `path`, and refuse what cannot be a ledger before SQLite touches it."""
    do = "move it away, or name another ledger"
    if os.path.islink(path) and not os.path.exists(path):
        raise LedgerError(path, "is a symbolic link to nothing", do=do)
    found = os.stat(path)
    if stat.S_ISDIR(found.st_mode):
        raise LedgerError(path, "is a directory", do=do)
    if not stat.S_ISREG(found.st_mode):
        raise LedgerError(path, "is not a file", do=do)
    if found.st_size == 0:
        raise LedgerError(
            path, "is empty, which a ledger never is: its entries are gone", do=f"restore a copy, or {do}"
        )
    return found.st_dev, found.st_ino


def connect(
    path: str, *, read_only: bool, busy_timeout_s: float, migrations: tuple[Migration, ...]
) -> sqlite3.Connection:
    """Open the ledger at `path`, checked and at the newest schema.

    Raises:
        LedgerError: something else than a ledger is there, or its schema is not one that this version can use.
    """
    connection = _connection(path, mode="rw", busy_timeout_s=busy_timeout_s)
    try:
        # Not SQLite's own read-only mode, which leaves the files beside the ledger behind.
        connection.execute(f"PRAGMA query_only = {read_only:d}")
        if _pragma(connection, "application_id") != APPLICATION_ID:
            raise LedgerError(
                path, "is an SQLite database, but no ledger of admit", do="move it away, or name another ledger"
            )
        version, latest = checked_version(connection, path, migrations), migrations[-1].number
        if read_only and version < latest:
            do = "run a command that writes to it once, to upgrade it"
            raise LedgerError(path, f"has the older schema {version}", allowed=f"{latest} for reading", do=do)
        if not read_only:
            _use_wal(connection, path)
            upgrade(connection, path, migrations)
    except BaseException:
        connection.close()
        raise
    return connection


def upgrade(connection: sqlite3.Connection, path: str, migrations: tuple[Migration, ...]) -> None:
    """Run the migrations that are still needed, all in one transaction, and prove that every entry is as it was."""
    if _pragma(connection, "user_version") == migrations[-1].number:
        return
    with writing(connection):
        version: int = _pragma(connection, "user_version")  # again, under the lock: somebody may have been first
        before = _fingerprint(connection, path) if version else ""
        for step in pending(version, migrations):
            for statement in step.statements:
                connection.execute(statement)
            if step.fill is not None:
                step.fill(connection.execute)
            connection.execute(f"PRAGMA user_version = {step.number:d}")
        checked_version(connection, path, migrations)
        if version and _fingerprint(connection, path) != before:
            found = f"would lose or change entries in the upgrade from schema {version}"
            raise LedgerError(path, found, do="report this as a bug; the ledger is as it was")


def checked_version(connection: sqlite3.Connection, path: str, migrations: tuple[Migration, ...]) -> int:
    """Return the schema's number, 1 or more, and refuse one that this version of admit does not know."""
    version: int = _pragma(connection, "user_version")
    if not 1 <= version <= migrations[-1].number:
        do = "use the version of admit that wrote it, or a newer one"
        raise LedgerError(path, f"has the schema {version}", allowed=f"1 to {migrations[-1].number}", do=do)
    return version


def check_length(connection: sqlite3.Connection, path: str) -> None:
    """Refuse a file that was cut short inside its last page: SQLite reads the missing part as zeros.

    To be called under the write lock, where nobody moves pages from an empty log into the file.
    """
    log = os.path.realpath(path) + "-wal"
    if os.path.exists(log) and os.path.getsize(log):
        return  # what the file lacks, the log may still hold
    whole: int = _pragma(connection, "page_count") * _pragma(connection, "page_size")
    if os.path.getsize(path) != whole:
        found = f"is damaged: {os.path.getsize(path)} bytes of {whole}"
        raise LedgerError(path, found, do="keep it for a person to look at, and restore a copy")


@contextmanager
def writing(connection: sqlite3.Connection) -> Iterator[None]:
    """Hold the write lock; commit at the end, roll back on any failure."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def entry_of(row: tuple[Any, ...], path: str) -> Entry:
    """Return a row of `SELECT` as an entry, or refuse one that the ledger cannot have written."""
    if tuple(map(type, row)) != _TYPES:
        raise LedgerError(path, f"entry {row[0]} holds a value of another type than was written", do="look at the file")
    return Entry._make(row)


def sync_file(path: str) -> None:
    """Wait until what was written to `path` is on the disk; a file that is gone has nothing left to write."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_folder(path: str) -> None:
    """Wait until the names in the folder of `path` are on the disk."""
    sync_file(os.path.dirname(path))


def _connection(path: str, *, mode: str, busy_timeout_s: float) -> sqlite3.Connection:
    quoted = "".join("/" if byte == ord("/") else f"%{byte:02X}" for byte in os.fsencode(path))
    uri = f"file://{quoted}?mode={mode}"
    connection = sqlite3.connect(uri, uri=True, timeout=busy_timeout_s, isolation_level=None)
    # Text that is not UTF-8 is damage; it has to reach the chain, which names the entry, and not stop the reading here.
    connection.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
    try:
        for setting in _SETTINGS:
            connection.execute(setting)
    except BaseException:
        connection.close()
        raise
    return connection


def _use_wal(connection: sqlite3.Connection, path: str) -> None:
    mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
    if mode != "wal":
        do = "keep the ledger on a local disk"
        raise LedgerError(path, f"the file system allows only the journal mode {mode}", allowed="wal", do=do)


def _pragma(connection: sqlite3.Connection, name: str) -> Any:
    return connection.execute(f"PRAGMA {name}").fetchone()[0]


def _fingerprint(connection: sqlite3.Connection, path: str) -> str:
    entries = hashlib.sha256()
    for row in connection.execute(f"{SELECT} ORDER BY seq"):
        entry = entry_of(row, path)
        entries.update(digest_of(entry) + entry.digest)
    return entries.hexdigest()


def _make_folder(folder: str) -> None:
    if os.path.isdir(folder):
        return
    parent = os.path.dirname(folder)
    _make_folder(parent)
    try:
        os.mkdir(folder)
    except FileExistsError:
        if not os.path.isdir(folder):
            raise
    sync_folder(folder)
