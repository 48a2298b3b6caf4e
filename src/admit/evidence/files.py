"""Open evidence files without being led astray: regular files only, never a link, never a wait (boundary: files)."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, BinaryIO, Final

from admit.errors import EvidenceError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from admit.evidence.strict import Limits

BLOCK_BYTES: Final = 48 << 10
"""How much is read at a time: small enough for the processor's caches, and for blocks under the longest string."""

_FLAGS: Final = sum(getattr(os, name, 0) for name in ("O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK", "O_NOCTTY"))
_KINDS: Final = (
    (stat.S_ISLNK, "a symbolic link"),
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def open_evidence(path: str | os.PathLike[str], *, limit: int, writable: bool = False) -> BinaryIO:
    """Open a file of evidence for reading, unbuffered; with `writable` also for appending.

    Args:
        path: the file.
        limit: the largest size that is read, in bytes.
        writable: whether bytes will be appended as well.

    Raises:
        EvidenceError: it is not there, not a regular file (a link, a folder, a pipe, a device), unreadable or too
            large. A pipe is refused, not waited for.
    """
    name = os.fspath(path)
    fd = -1
    try:
        _check_kind(name, os.lstat(name).st_mode)
        fd = os.open(name, _FLAGS | (os.O_RDWR | os.O_APPEND if writable else 0))
        found = os.fstat(fd)
        _check_kind(name, found.st_mode)
        if found.st_size > limit:
            size = f"{found.st_size} bytes"
            raise EvidenceError(name, size, allowed=f"{limit} bytes", do="split it, or raise the limit")
        return open(fd, "r+b" if writable else "rb", buffering=0)
    except (OSError, ValueError) as error:  # a name with a NUL is a ValueError
        _close(fd)
        what = error.strerror if isinstance(error, OSError) else str(error)
        raise EvidenceError(name, f"cannot be read: {what}") from error
    except EvidenceError:
        _close(fd)
        raise


def read_whole(path: str | os.PathLike[str], *, limits: Limits) -> bytes:
    """Return the bytes of a small evidence file.

    Raises:
        EvidenceError: as `open_evidence`, or it grew beyond `limits.value_bytes` while it was read.
    """
    name = os.fspath(path)
    parts: list[bytes] = []
    size = 0
    with open_evidence(name, limit=limits.value_bytes) as stream:
        while part := read_some(stream, name):
            parts.append(part)
            size += len(part)
            if size > limits.value_bytes:
                raise EvidenceError(name, f"more than {size} bytes", allowed=f"{limits.value_bytes} bytes")
    return b"".join(parts)


def read_some(stream: BinaryIO, name: str, size: int = BLOCK_BYTES) -> bytes:
    """Return the next bytes of an open file, empty at its end.

    Raises:
        EvidenceError: the file cannot be read.
    """
    try:
        return stream.read(size) or b""
    except OSError as error:
        raise EvidenceError(name, f"cannot be read: {error.strerror}") from error


def blocks_of(stream: BinaryIO, name: str, *, limits: Limits) -> Iterator[bytes]:
    """Yield an open file in blocks of whole lines.

    What stands after the last newline comes last, as a block of its own.

    Raises:
        EvidenceError: the file cannot be read, a line or the whole is too large.
    """
    rest = b""
    size = number = 0
    while part := read_some(stream, name):
        size += len(part)
        if size > limits.document_bytes:
            raise EvidenceError(name, f"more than {size} bytes", allowed=f"{limits.document_bytes} bytes")
        end = part.rfind(b"\n") + 1
        if end:
            block = rest + part[:end]
            rest = part[end:]
            number += block.count(b"\n")
            yield block
        else:
            rest += part
        if len(rest) > limits.line_bytes:
            where = f"{name}:{number + 1}"
            raise EvidenceError(where, f"a line of more than {limits.line_bytes} bytes", allowed="shorter lines")
    if rest:
        yield rest


def _check_kind(name: str, mode: int) -> None:
    if stat.S_ISREG(mode):
        return
    kind = next((words for test, words in _KINDS if test(mode)), "no file")
    raise EvidenceError(name, f"is {kind}", allowed="a regular file", do="evidence is copied, not linked")


def _close(fd: int) -> None:
    if fd >= 0:
        os.close(fd)
