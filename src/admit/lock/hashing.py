"""Reads files in full and streaming (boundary: files, by descriptor, links never followed).

Most files take four system calls each. What may have changed while it was read, or is in any way odd, is read again
with care by `observe`.
"""

from __future__ import annotations

import errno
import mmap
import os
import stat
import time
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from admit.lock.manifest import manifest_lines
from admit.lock.observed import NOTHING_READ, Observed, Read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FIRST_BYTES: Final = 1 << 16
"""What the first call asks for: nearly every file is smaller, and is then known to be read to its end."""

BUFFER_BYTES: Final = 1 << 18
"""What one worker reads of larger files at a time. More is no faster, and this stays in the cache to be hashed."""


def new_buffer() -> memoryview:
    """Return `BUFFER_BYTES` bytes that begin where a page of memory begins.

    A large `bytearray` begins 16 bytes after one, which made the kernel's copying three times slower on the processor
    where this was measured; with the hashing, large files took 40 % longer.
    """
    return memoryview(mmap.mmap(-1, BUFFER_BYTES))


SETTLED_NS: Final = 2_000_000_000
"""How long before the reading a file must have changed last for one look at its times to be enough.

File times come from a coarse clock (milliseconds; up to two seconds on FAT), so that a change during the reading may
carry a time from shortly before it.
"""

LFS_START: Final = b"version https://git-lfs.github.com/spec/v1"
LFS_BYTES: Final = 1024
"""How every Git LFS pointer begins, and the size that it stays under (git-lfs, docs/spec.md)."""

MODE_BITS: Final = stat.S_IFMT(0o177777) | stat.S_IXUSR
"""The bits of a mode that are compared: the type, and the owner's execute bit, the one that git keeps too."""

_PLAIN: Final = stat.S_IFREG
_EXECUTABLE: Final = stat.S_IFREG | stat.S_IXUSR
_NO_DIGEST: Final = bytes(32)

# O_NONBLOCK: what became a pipe since the walk must not make us wait; on a regular file it means nothing
_OPEN_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
_OPEN_FOLDER: Final = getattr(os, "O_PATH", os.O_RDONLY) | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_DIRECTORY


class Job(NamedTuple):
    """Files of one folder to be read; `reports_all` wants an observation of each, whatever it is like."""

    folder: bytes
    names: list[bytes]
    reports_all: bool = False

    @property
    def prefix(self) -> bytes:
        """Return what stands before each name in its path."""
        return self.folder + b"/" if self.folder else b""


def read_job(
    root_fd: int, job: Job, buffer: memoryview, *, clock: Callable[[], int] = time.time_ns, is_alone: bool = False
) -> Read:
    """Read every file of a job; no error escapes, each is reported with its file.

    Args:
        root_fd: the repository's root; every folder is opened beneath it, one part at a time, so that no link on the
            way leads elsewhere.
        job: what to read.
        buffer: to read into, from `new_buffer`, used again and again.
        clock: nanoseconds on the clock that file times come from.
        is_alone: this process does nothing else, so that its current folder may be changed: names are found quicker.
    """
    names, prefix = job.names, job.prefix
    every = range(len(names))
    try:
        folder_fd = _open_beneath(root_fd, job.folder)
    except OSError as error:
        return NOTHING_READ._replace(odd=[_failed(prefix + name, error) for name in names])
    try:
        digests, total, executable, again = [_NO_DIGEST] * len(names), 0, list[int](), list(every)
        if not job.reports_all:
            started = clock()
            if is_alone:
                os.fchdir(folder_fd)
            opened = os.open if is_alone else partial(os.open, dir_fd=folder_fd)
            settled = _read_settled(opened, names, buffer, started - SETTLED_NS)
            if clock() >= started:  # else it was set back, and what changed since then may carry an older time
                digests, total, executable, again = settled
        seen = {at: observe(folder_fd, names[at], prefix + names[at], buffer) for at in again}
    finally:
        os.close(folder_fd)
    paths = [prefix + names[at] for at in executable]
    if not seen:
        return Read(manifest_lines(prefix, names, digests), len(names), total, paths, [])
    kept = [at for at in every if at not in seen or seen[at].outcome == "read"]
    each = [seen[at].digest if at in seen else digests[at] for at in kept]
    return Read(
        manifest_lines(prefix, [names[at] for at in kept], each),
        len(kept),
        total + sum(one.size for one in seen.values()),
        [*paths, *(one.path for one in seen.values() if one.is_executable)],
        [one for one in seen.values() if job.reports_all or one.is_odd],
    )


def _open_beneath(root_fd: int, folder: bytes) -> int:
    """Return a descriptor of a folder, opened part by part without following a link."""
    fd = os.open(b".", _OPEN_FOLDER, dir_fd=root_fd)
    for part in folder.split(b"/") if folder else ():
        try:
            inner = os.open(part, _OPEN_FOLDER, dir_fd=fd)
        finally:
            os.close(fd)
        fd = inner
    return fd


_Settled: TypeAlias = tuple[list[bytes], int, list[int], list[int]]


def _read_settled(
    opened: Callable[[bytes, int], int], names: list[bytes], buffer: memoryview, settled: int
) -> _Settled:
    """Return digests, the sum of the sizes, and the places of files with an execute bit and of those to be read again.

    One look at a file's times after the reading shows that it did not change meanwhile, if it changed last well before
    the reading began (`settled`, nanoseconds). This loop costs as little a file as Python allows: names are local,
    nothing is built that is not needed.
    """
    read, fstat, close, digest_of = os.read, os.fstat, os.close, sha256
    size_at = stat.ST_SIZE
    digests: list[bytes] = []
    executable: list[int] = []
    again: list[int] = []
    total = 0
    for name in names:
        try:
            fd = opened(name, _OPEN_FILE)
            try:
                first = read(fd, FIRST_BYTES)
                size = len(first)
                if size < FIRST_BYTES:
                    digest = digest_of(first).digest()
                else:
                    size, digest = _read_on(fd, first, buffer)
                times = fstat(fd)
            finally:
                close(fd)
        except OSError:
            again.append(len(digests))
            digests.append(_NO_DIGEST)
            continue
        mode = times.st_mode & MODE_BITS
        if (
            times[size_at] != size
            or times.st_ctime_ns >= settled
            or (mode != _PLAIN and mode != _EXECUTABLE)
            or (size < LFS_BYTES and first.startswith(LFS_START))
        ):
            again.append(len(digests))
        else:
            total += size
            if mode == _EXECUTABLE:
                executable.append(len(digests))
        digests.append(digest)
    return digests, total, executable, again


def _read_on(fd: int, first: bytes, buffer: memoryview) -> tuple[int, bytes]:
    """Return the size and digest of a file whose first bytes were read already."""
    hashed = sha256(first)
    total = len(first)
    for part in _parts(fd, buffer):
        hashed.update(part)
        total += len(part)
    return total, hashed.digest()


def _parts(fd: int, buffer: memoryview) -> Iterator[memoryview]:
    """Yield the rest of a file, each part in the same buffer."""
    while count := os.readv(fd, [buffer]):
        yield buffer[:count]


def observe(folder_fd: int, name: bytes, path: bytes, buffer: memoryview, expected: bytes = b"") -> Observed:
    """Read one file while its size, times and identity stay the same, twice if need be (contract L6).

    Args:
        folder_fd: the folder that it stands in.
        name: its name there.
        path: its path, for the report.
        buffer: to read into.
        expected: a digest; a file with another one is read once more for what it would be with other line ends.
    """
    try:
        seen = _read_whole(folder_fd, name, path, buffer, expected)
        return seen if seen.outcome != "changing" else _read_whole(folder_fd, name, path, buffer, expected)
    except OSError as error:
        return _failed(path, error)


def observe_beneath(root_fd: int, path: bytes, buffer: memoryview, expected: bytes) -> Observed:
    """Read one file as `observe` does, given its path from the root."""
    folder, _, name = path.rpartition(b"/")
    try:
        folder_fd = _open_beneath(root_fd, folder)
    except OSError as error:
        return _failed(path, error)
    try:
        return observe(folder_fd, name, path, buffer, expected)
    finally:
        os.close(folder_fd)


def _failed(path: bytes, error: OSError) -> Observed:
    # ELOOP is how an open without following says that a link stands there now
    text = "a symbolic link by now" if error.errno == errno.ELOOP else error.strerror or str(error)
    return Observed(path, "unreadable", error=text)


def _read_whole(folder_fd: int, name: bytes, path: bytes, buffer: memoryview, expected: bytes) -> Observed:
    fd = os.open(name, _OPEN_FILE, dir_fd=folder_fd)
    try:
        before = os.fstat(fd)
        if not stat.S_ISREG(before.st_mode):
            return Observed(path, "not_a_file", error=_kind(before.st_mode))
        hashed = sha256()
        total = 0
        start = b""
        for part in _parts(fd, buffer):
            hashed.update(part)
            start = start or bytes(part[: len(LFS_START)])
            total += len(part)
        digest = hashed.digest()
        lf, crlf = _line_end_digests(fd, buffer) if expected and digest != expected else (b"", b"")
        after = os.fstat(fd)
        if stamp(before) != stamp(after) or total != after.st_size:
            return Observed(path, "changing")
        is_pointer = total < LFS_BYTES and start == LFS_START
        is_executable = bool(after.st_mode & stat.S_IXUSR)
        return Observed(path, "read", digest, total, is_executable, is_pointer, lf, crlf, stamp=stamp(after))
    finally:
        os.close(fd)


def _kind(mode: int) -> str:
    return "a directory" if stat.S_ISDIR(mode) else "something that is no regular file"


def stamp(times: os.stat_result) -> tuple[int, ...]:
    """Return what is different after any change that the file system notices."""
    return (times.st_size, times.st_mtime_ns, times.st_ctime_ns, times.st_ino, times.st_dev, times.st_mode)


def _line_end_digests(fd: int, buffer: memoryview) -> tuple[bytes, bytes]:
    """Return the digests of a file's content with every line end made LF, and made CRLF."""
    os.lseek(fd, 0, os.SEEK_SET)
    lf, crlf = sha256(), sha256()
    held = b""  # a CR at the end of a part, until it is known whether a LF follows
    for part in _parts(fd, buffer):
        text = held + bytes(part)
        held = b"\r" if text.endswith(b"\r") else b""
        text = text[: len(text) - len(held)].replace(b"\r\n", b"\n")
        lf.update(text)
        crlf.update(text.replace(b"\n", b"\r\n"))
    lf.update(held)
    crlf.update(held)
    return lf.digest(), crlf.digest()
