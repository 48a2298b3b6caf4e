"""The abstentions file: read whole, replaced whole (boundary: files)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from admit import filetext
from admit.abstain.file import Abstentions, read_abstentions, rendered
from admit.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path


def load_abstentions(path: Path) -> Abstentions:
    """Return what the file declares; nothing where there is no file.

    Raises:
        InputError: the file cannot be read, or is not what `read_abstentions` accepts.
    """
    text = filetext.read_text(path)
    return Abstentions(str(path), {}) if text is None else read_abstentions(text, str(path))


def write(path: Path, abstentions: Abstentions) -> bool:
    """Replace the file at once, or not at all, and return whether its bytes changed; its mode stays.

    Raises:
        InputError: the path is a symbolic link, which an edit in a repository must not follow out of it.
        LedgerError: it could not be written.
    """
    if path.is_symlink():
        raise InputError(str(path), "a symbolic link", do="name the file itself")
    text = rendered(abstentions)
    if filetext.read_text(path) == text:
        return False
    filetext.replace_text(path, text)
    return True
