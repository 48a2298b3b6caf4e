"""Find and read report files: regular files only, each once, none older than the run (boundary: files)."""

from __future__ import annotations

import glob
import os
import stat
from datetime import datetime
from typing import TYPE_CHECKING, Final, NamedTuple

from admit.errors import EvidenceError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Self

_FLAGS: Final = sum(getattr(os, name, 0) for name in ("O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK", "O_NOCTTY", "O_BINARY"))
_RUN_AGAIN: Final = "a report that is not there is no report of success; see that the runner wrote it"


class Since(NamedTuple):
    """From when on a report counts: nanoseconds since the epoch, and where that was said."""

    time_ns: int
    said: str


def since(text: str) -> Since:
    """Return the instant that `--newer-than` names: when a file was last written, or an instant in ISO 8601.

    Raises:
        UsageError: it is neither.
    """
    try:
        return Since(os.stat(text).st_mtime_ns, f"the file {text}")
    except (OSError, ValueError):
        pass
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        when = None
    if when is None or when.tzinfo is None:
        raise UsageError(
            "--newer-than", repr(text), allowed="a file that exists, or an instant such as 2026-12-01T08:00:00Z"
        )
    return Since(int(when.timestamp() * 1_000_000_000), text)


def find_reports(names: Sequence[str]) -> list[str]:
    """Return the files that names and patterns stand for, in the order given, those of one pattern sorted.

    Raises:
        EvidenceError: a name or pattern stands for nothing, because then a report is missing (contract E8).
    """
    found: list[str] = []
    for name in names:
        if os.path.lexists(name) or not glob.has_magic(name):
            found.append(name)
            continue
        matches = sorted(glob.glob(name, recursive=True))
        if not matches:
            raise EvidenceError(name, "no file fits this pattern", do=_RUN_AGAIN)
        found += matches
    return found


def read_reports(paths: Sequence[str], *, limit: int, newer_than: Since | None = None) -> Iterator[tuple[str, bytes]]:
    """Yield each report with its bytes; a file named twice is read once.

    Args:
        paths: the files.
        limit: the largest size that is read, in bytes.
        newer_than: a report last written before this is of an earlier run.

    Raises:
        EvidenceError: a report is not there, no regular file, unreadable, too large, or older than the run.
    """
    seen: set[tuple[int, int]] = set()
    for path in paths:
        with _Opened(path) as opened:
            if opened.identity in seen:
                continue
            seen.add(opened.identity)
            if newer_than is not None and opened.written_ns < newer_than.time_ns:
                raise EvidenceError(
                    path,
                    f"it was written before {newer_than.said}",
                    do="it is of an earlier run; delete it and run again",
                )
            yield path, opened.read(limit)


class _Opened:
    """One report, open: a regular file, never a link, never a wait."""

    def __init__(self, path: str) -> None:
        self._path, self._fd = path, -1
        try:
            if not stat.S_ISREG(os.lstat(path).st_mode):
                raise EvidenceError(
                    path, _kind(os.lstat(path).st_mode), allowed="regular files, or a pattern in quotes"
                )
            self._fd = os.open(path, os.O_RDONLY | _FLAGS)
            status = os.fstat(self._fd)
        except (OSError, ValueError) as error:  # a name with a NUL is a ValueError
            self.close()
            words = error.strerror if isinstance(error, OSError) else str(error)
            raise EvidenceError(path, f"cannot be read: {words}", do=_RUN_AGAIN) from error
        self.identity = (status.st_dev, status.st_ino)
        self.written_ns = status.st_mtime_ns

    def read(self, limit: int) -> bytes:
        """Return the file's bytes.

        Raises:
            EvidenceError: it is larger than `limit`, or reading fails.
        """
        parts: list[bytes] = []
        size = 0
        try:
            while part := os.read(self._fd, 1 << 24):
                parts.append(part)
                size += len(part)
                if size > limit:
                    raise EvidenceError(self._path, f"more than {limit} bytes", allowed=f"{limit} bytes")
        except OSError as error:
            raise EvidenceError(self._path, f"cannot be read: {error.strerror}") from error
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def close(self) -> None:
        """Let go of the file."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


def _kind(mode: int) -> str:
    if stat.S_ISDIR(mode):
        return "it is a folder"
    return "it is a symbolic link" if stat.S_ISLNK(mode) else "it is no regular file"
