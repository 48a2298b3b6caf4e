"""The workspace around a folder, the clock, and instants as text."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from admit.errors import InputError, UsageError
from admit.repository import toplevel
from admit.settings import FILE, Settings, read_settings


class Workspace(NamedTuple):
    """A repository as admit sees it: its root, its settings, and whether `admit.toml` stands there."""

    root: Path
    settings: Settings
    is_initialised: bool

    def path(self, key: str) -> Path:
        """Return the path that a setting names, from the root."""
        return self.root / self.settings.text(key)


_RFC3339 = r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)"


def clock() -> datetime:
    """Return the deciding host's time, UTC: read once a decision (contract A6)."""
    return datetime.now(UTC)


def instant(text: str | None) -> datetime:
    """Return the instant given for a replay, or the clock's.

    Raises:
        UsageError: the text is not an instant with an offset from UTC.
    """
    if text is None:
        return clock()
    allowed = "RFC 3339, such as 2026-12-01T00:00:00Z"
    try:
        given = datetime.fromisoformat(text)
        if given.tzinfo is not None and re.fullmatch(_RFC3339, text, re.ASCII):
            return given.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise UsageError("--now", f"{text[:60]!r} is not an instant", allowed=allowed) from error
    raise UsageError("--now", f"{text[:60]!r} is not an instant with an offset from UTC", allowed=allowed)


def rfc3339(now: datetime) -> str:
    """Return an instant as a decision writes it."""
    return now.astimezone(UTC).isoformat().replace("+00:00", "Z")


def initialised_root(start: Path) -> Path | None:
    """Return the nearest folder, from `start` upwards, that holds `admit.toml`; not past the repository's root."""
    for folder in (start, *start.parents):
        if (folder / FILE).is_file():
            return folder
        if (folder / ".git").exists():
            return None
    return None


def workspace(start: Path | None = None) -> Workspace:
    """Return the workspace around `start` (the current folder by default).

    Raises:
        InputError: `admit.toml` cannot be read.
    """
    here = (start or Path.cwd()).resolve()
    root = initialised_root(here)
    if root is not None:
        return Workspace(root, read_settings(_bytes_of(root / FILE), FILE), True)
    try:
        return Workspace(toplevel(here) or here, Settings(), False)
    except InputError:  # whoever needs a commit asks git again, and says then what is wrong
        return Workspace(here, Settings(), False)


def _bytes_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(str(path), f"cannot be read: {error.strerror}", do="make it a readable file") from error
