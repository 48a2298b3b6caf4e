"""Text files under review: read whole and checked, replaced whole or not at all (boundary: files)."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from typing import TYPE_CHECKING, Final

from admit.errors import InputError, LedgerError

if TYPE_CHECKING:
    from pathlib import Path

MAX_BYTES: Final = 16_000_000
"""Larger than any file that a person can review; beyond, it is not read."""


def read_text(path: Path) -> str | None:
    """Return a file's text, line ends as they are; None where there is no file.

    Raises:
        InputError: unreadable, a link that leads nowhere, not a regular file, larger than MAX_BYTES, or not UTF-8.
    """
    where = str(path)
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # asked before it is opened: opening a pipe would wait for ever
            raise InputError(where, "not a regular file", do="name the file itself")
        with open(path, "rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        if os.path.islink(path):
            raise InputError(where, "a symbolic link that leads nowhere", do="name the file itself") from None
        return None
    except OSError as error:
        raise InputError(where, f"cannot be read: {error.strerror}", do="make it a readable file") from error
    return decoded(raw, where)


def decoded(raw: bytes, where: str) -> str:
    """Return the text that a file's bytes hold.

    Raises:
        InputError: larger than MAX_BYTES, a byte order mark, or not UTF-8.
    """
    if len(raw) > MAX_BYTES:
        raise InputError(where, f"larger than {MAX_BYTES} bytes", do="take out what is over, or split it")
    if raw.startswith(b"\xef\xbb\xbf"):
        raise InputError(where, "starts with a byte order mark", do="save it as UTF-8 without one")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise InputError(f"{where} line {line}", "bytes that are not UTF-8", do="save it as UTF-8") from error


def replace_text(path: Path, text: str) -> None:
    """Replace a file's text at once, or not at all; its mode stays.

    Raises:
        LedgerError: it could not be written.
    """
    try:
        _replace(path, text.encode("utf-8"))
    except OSError as error:
        raise LedgerError(str(path), f"cannot be written: {error.strerror}", do="nothing was changed") from error


def _replace(path: Path, raw: bytes) -> None:
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            if path.exists():
                os.fchmod(file.fileno(), stat.S_IMODE(path.stat().st_mode))
            file.write(raw)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
