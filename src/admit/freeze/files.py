"""The register's file: read whole, replaced whole (boundary: files)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from admit import filetext
from admit.errors import InputError
from admit.freeze.register import HORIZON_DAYS, Register, read_register

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path


def load_register(path: Path, *, now: datetime, horizon_days: int = HORIZON_DAYS) -> Register:
    """Return what the register in a file says.

    Raises:
        InputError: the file cannot be read, or is not TOML (contract U4: missing).
    """
    return read_register(read_text(path), str(path), now=now, horizon_days_default=horizon_days)


def read_text(path: Path) -> str:
    """Return a register's text, line ends as they are.

    Raises:
        InputError: absent, or as `admit.filetext.read_text`.
    """
    text = filetext.read_text(path)
    if text is None:
        raise InputError(str(path), "no such file", do="create it with admit init or admit freeze add")
    return text


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
    filetext.replace_text(target, text)


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
