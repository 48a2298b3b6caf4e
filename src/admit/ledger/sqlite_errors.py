"""What SQLite and the file system say when they fail, in words that help. Boundary."""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from admit.errors import LedgerError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["clear_errors"]

# Primary result code (https://www.sqlite.org/rescode.html) → what was found, what to do.
_CAUSES: Final[dict[int, tuple[str, str]]] = {
    sqlite3.SQLITE_BUSY: ("is locked by another program", "let that program finish or stop it, then run again"),
    sqlite3.SQLITE_LOCKED: ("is locked by another program", "let that program finish or stop it, then run again"),
    sqlite3.SQLITE_READONLY: ("cannot be written", "make the file and its folder writable, or name another ledger"),
    sqlite3.SQLITE_PERM: ("cannot be written", "make the file and its folder writable, or name another ledger"),
    sqlite3.SQLITE_CANTOPEN: ("cannot be opened", "make the file and its folder writable, or name another ledger"),
    sqlite3.SQLITE_FULL: ("does not fit: the disk is full", "free some space, then run again; what is there is intact"),
    sqlite3.SQLITE_IOERR: ("the disk failed", "check the disk and its quota, then run again"),
    sqlite3.SQLITE_PROTOCOL: ("is too busy", "run again when fewer programs write to it"),
    sqlite3.SQLITE_CORRUPT: ("is damaged", "keep it for a person to look at, and restore a copy"),
    sqlite3.SQLITE_NOTADB: ("is not an SQLite database", "move it away, or name another ledger"),
}
_OTHER: Final = ("SQLite refuses", "keep the file for a person to look at")


@contextmanager
def clear_errors(path: str) -> Iterator[None]:
    """Turn every failure of SQLite and of the file system into one `LedgerError` about `path`."""
    try:
        yield
    except sqlite3.Error as error:
        code: int = getattr(error, "sqlite_errorcode", 0)  # absent where Python itself refused, as on a closed ledger
        found, do = _CAUSES.get(code & 0xFF, _OTHER)
        name: str = getattr(error, "sqlite_errorname", type(error).__name__)
        raise LedgerError(path, f"{found} ({name}: {error})", do=do) from error
    except UnicodeDecodeError as error:  # what SQLite says of a damaged schema; of an entry no text is read this way
        found, do = _CAUSES[sqlite3.SQLITE_CORRUPT]
        raise LedgerError(path, f"{found} (its schema is not text)", do=do) from error
    except OSError as error:
        do = "make the folder exist and writable, or name another ledger"
        raise LedgerError(path, f"cannot be used ({error.strerror})", do=do) from error
