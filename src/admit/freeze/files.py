"""The register's file: read whole, replaced whole (boundary: files)."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from typing import TYPE_CHECKING, Final

from admit.errors import InputError, LedgerError
from admit.freeze.register import HORIZON_DAYS, Register, read_register

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

MAX_BYTES: Final = 16_000_000
"""Larger than any register that a person can review; beyond, it is not read."""


def load_register(path: Path, *, now: datetime, horizon_days: int = HORIZON_DAYS) -> Register:
    """Return what the register in a file says.

    Raises:
        InputError: the file cannot be read, or is not TOML (contract U4: missing).
    """
    return read_register(read_text(path), str(path), now=now, horizon_days_default=horizon_days)


def read_text(path: Path) -> str:
    """Return a file's text, line ends as they are.

    Raises:
        InputError: absent, unreadable, not a regular file, larger than MAX_BYTES, or not UTF-8.
    """
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # asked before it is opened: opening a pipe would wait for ever
            raise InputError(str(path), "not a regular file", do="name the register")
        with open(path, "rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except FileNotFoundError as error:
        do = "create it with admit init or admit freeze add"
        raise InputError(str(path), "no such file", do=do) from error
    except OSError as error:
        raise InputError(str(path), f"cannot be read: {error.strerror}", do="make it a readable file") from error
    return decoded(raw, str(path))


def decoded(raw: bytes, where: str) -> str:
    """Return the text that a register's bytes hold.

    Raises:
        InputError: larger than MAX_BYTES, a byte order mark, or not UTF-8.
    """
    if len(raw) > MAX_BYTES:
        raise InputError(where, f"larger than {MAX_BYTES} bytes", do="thaw what is over")
    if raw.startswith(b"\xef\xbb\xbf"):
        raise InputError(where, "starts with a byte order mark", do="save it as UTF-8 without one")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise InputError(f"{where} line {line}", "bytes that are not UTF-8", do="save it as UTF-8") from error


def replace_text(path: Path, text: str, *, was: str | None) -> None:
    """Replace a file's text at once, or not at all; its mode stays.

    Args:
        path: the file; a symbolic link is followed only within its own folder, so that the edit stays there.
        text: what it is to hold.
        was: what it held when it was read, None where there was none; if it holds something else now, it is left alone.

    Raises:
        InputError: the file changed since it was read, or is a link that leads elsewhere.
        LedgerError: it could not be written.
    """
    target = _target(path)
    if (read_text(target) if target.exists() else None) != was:
        raise InputError(str(path), "changed while it was being edited", do="run the command again")
    try:
        _write(target, text.encode("utf-8"))
    except OSError as error:
        raise LedgerError(str(path), f"cannot be written: {error.strerror}", do="nothing was changed") from error


def _target(path: Path) -> Path:
    if not path.is_symlink():
        return path
    try:
        target = path.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise InputError(str(path), "a symbolic link that leads nowhere", do="name the register itself") from error
    if not target.is_relative_to(path.parent.resolve()):
        raise InputError(str(path), f"a symbolic link that leads out, to {target}", do="name the register itself")
    return target


def _write(target: Path, raw: bytes) -> None:
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            if target.exists():
                os.fchmod(file.fileno(), stat.S_IMODE(target.stat().st_mode))
            file.write(raw)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
