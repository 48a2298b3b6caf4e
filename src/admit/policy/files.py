"""Reads policy files and tables of cases from the disk; the boundary part of this room."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from admit.errors import InputError

MAX_BYTES: Final = 1 << 20
"""A policy is a page that people review; a file of more than a mebibyte is something else."""


def read_text(path: str, what: str = "policy") -> str:
    """Return the text of a file that a person wrote.

    Args:
        path: where it is.
        what: what it should be, for messages.

    Raises:
        InputError: there is no such file, it cannot be read, is too large, or is not UTF-8.
    """
    try:
        with Path(path).open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise InputError(path, f"no {what} can be read there: {reason}", do="check the path") from error
    if len(content) > MAX_BYTES:
        raise InputError(path, f"more than {MAX_BYTES} bytes", do=f"check that it is a {what}")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise InputError(f"{path}:{line}", f"byte {error.start} is not UTF-8", do="save the file as UTF-8") from error


def shipped_text(name: str) -> str:
    """Return the file of a policy that comes with the package, to copy or compare."""
    return read_text(str(Path(__file__).with_name(f"{name}.toml")))
