"""The abstentions file: read whole, replaced whole (boundary: files)."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from typing import TYPE_CHECKING, Final

from admit.abstain.file import Abstentions, read_abstentions, rendered
from admit.errors import InputError, LedgerError

if TYPE_CHECKING:
    from pathlib import Path

MAX_BYTES: Final = 16_000_000
"""Larger than any file that a person can review; beyond, it is not read."""


def load_abstentions(path: Path) -> Abstentions:
    """Return what the file declares; nothing where there is no file.

    Raises:
        InputError: the file cannot be read, or is not what `read_abstentions` accepts.
    """
    text = read_text(path)
    return Abstentions(str(path), {}) if text is None else read_abstentions(text, str(path))


def read_text(path: Path) -> str | None:
    """Return the file's text, None where there is no file.

    Raises:
        InputError: unreadable, not a regular file, larger than MAX_BYTES, or not UTF-8.
    """
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # asked before it is opened: opening a pipe would wait for ever
            raise InputError(str(path), "not a regular file", do="name the abstentions file")
        with open(path, "rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        if os.path.islink(path):
            raise InputError(str(path), "a symbolic link that leads nowhere", do="name the file itself") from None
        return None
    except OSError as error:
        raise InputError(str(path), f"cannot be read: {error.strerror}", do="make it a readable file") from error
    return decoded(raw, str(path))


def decoded(raw: bytes, where: str) -> str:
    """Return the text that the file's bytes hold.

    Raises:
        InputError: larger than MAX_BYTES, a byte order mark, or not UTF-8.
    """
    if len(raw) > MAX_BYTES:
        raise InputError(where, f"larger than {MAX_BYTES} bytes", do="split the suite, not the file")
    if raw.startswith(b"\xef\xbb\xbf"):
        raise InputError(where, "starts with a byte order mark", do="save it as UTF-8 without one")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise InputError(f"{where} line {line}", "bytes that are not UTF-8", do="save it as UTF-8") from error


def write(path: Path, abstentions: Abstentions) -> bool:
    """Replace the file at once, or not at all, and return whether its bytes changed; its mode stays.

    Raises:
        InputError: the path is a symbolic link, which an edit in a repository must not follow out of it.
        LedgerError: it could not be written.
    """
    if path.is_symlink():
        raise InputError(str(path), "a symbolic link", do="name the file itself")
    text = rendered(abstentions)
    if read_text(path) == text:
        return False
    try:
        _replace(path, text.encode("utf-8"))
    except OSError as error:
        raise LedgerError(str(path), f"cannot be written: {error.strerror}", do="nothing was changed") from error
    return True


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
