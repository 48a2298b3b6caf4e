"""A cache of file times for a person's machine: what it answers is never evidence (contract L6; boundary: files)."""

from __future__ import annotations

import contextlib
import os
import re
import stat
import time
from typing import TYPE_CHECKING, Final, NamedTuple

from admit.lock.hashing import SETTLED_NS, Job, stamp
from admit.lock.manifest import manifest_text, read_manifest
from admit.lock.observed import Observed, Read
from admit.lock.workers import read_all

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from admit.lock.workers import Progress

NAME: Final = ".admit/lock.cache"
"""Where the cache lies under the repository's root; it is never committed."""

_SCHEMA: Final = b"admit.lock.cache/1"
_LINE: Final = re.compile(rb"([0-9a-f]{64}) ([0-9_]+) (.+)", re.DOTALL)


class Entry(NamedTuple):
    """The digest (hexadecimal) that a file had while its times were these."""

    digest: bytes
    stamp: bytes


class Seen(NamedTuple):
    """What a look at a file says without reading it."""

    size: int
    is_executable: bool


def _here(root: bytes) -> bytes:
    """Return what the cache is bound to: this tree on this machine since it started (inode numbers are reused)."""
    try:
        with open("/proc/sys/kernel/random/boot_id", "rb") as file:
            boot = file.read().strip()
    except OSError:
        boot = b"-"
    return b" ".join([_SCHEMA, os.fsencode(os.uname().nodename), boot, os.path.realpath(root).hex().encode("ascii")])


def _stamp_text(values: tuple[int, ...]) -> bytes:
    return b"_".join([b"%d" % value for value in values])


def read_cache(root: bytes, path: str) -> dict[bytes, Entry]:
    """Return the entries of a cache that was written here; none if it is absent, foreign, or in any way odd."""
    try:
        with open(path, "rb") as file:
            head, *lines, end = file.read().split(b"\n")
    except (OSError, ValueError):
        return {}
    found = [_LINE.fullmatch(line) for line in lines]
    if head != _here(root) or end or None in found:
        return {}
    return {one[3]: Entry(one[1], one[2]) for one in found if one is not None}


def current(root: bytes, path: bytes, entry: Entry) -> Seen | None:
    """Return what a file is like if its size, times, identity and mode are those of the entry, else None."""
    try:
        times = os.lstat(os.path.join(root, path))
    except OSError:
        return None
    if _stamp_text(stamp(times)) != entry.stamp:
        return None
    return Seen(times.st_size, bool(times.st_mode & stat.S_IXUSR))


def write_cache(root: bytes, path: str, kept: Mapping[bytes, Entry], read: Iterable[Observed], *, started: int) -> None:
    """Write what is known now; a cache that cannot be written is only slower.

    Args:
        root: the repository's root.
        path: the cache's file.
        kept: entries that still hold.
        read: files that were read.
        started: nanoseconds on the clock of file times when the reading began. A file that changed since shortly before
            then could change again without its times telling, and is left out.
    """
    entries = dict(kept)
    for one in read:
        is_settled = one.outcome == "read" and max(one.stamp[1:3]) < started - SETTLED_NS
        if is_settled and not one.is_lfs_pointer and b"\n" not in one.path:
            entries[one.path] = Entry(one.digest.hex().encode("ascii"), _stamp_text(one.stamp))
    lines = [b"%b %b %b" % (entry.digest, entry.stamp, name) for name, entry in sorted(entries.items())]
    temporary = f"{path}.{os.urandom(4).hex()}"
    with contextlib.suppress(OSError):
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with open(temporary, "xb") as file:
            file.write(b"\n".join([_here(root), *lines, b""]))
        os.replace(temporary, path)


def read_with_cache(root: bytes, jobs: Sequence[Job], path: str, *, progress: Progress | None = None) -> Read:
    """Return what reading some jobs gives, reading only what the cache at a path cannot answer for; write it anew."""
    started = time.time_ns()
    known = read_cache(root, path)
    kept: dict[bytes, Entry] = {}
    digests: dict[bytes, bytes] = {}
    executable: list[bytes] = []
    unread: list[Job] = []
    total = 0
    for job in jobs:
        left = []
        for name in job.names:
            file = job.prefix + name
            entry = known.get(file)
            seen = current(root, file, entry) if entry is not None else None
            if entry is None or seen is None:
                left.append(name)
                continue
            kept[file], digests[file], total = entry, bytes.fromhex(entry.digest.decode("ascii")), total + seen.size
            if seen.is_executable:
                executable.append(file)
        unread.append(Job(job.folder, left, reports_all=True))
    read = read_all(root, unread, progress=progress)
    write_cache(root, path, kept, read.odd, started=started)
    digests |= read_manifest(read.text)
    odd = [seen for seen in read.odd if seen.is_odd]
    return Read(manifest_text(digests), len(digests), total + read.total_bytes, executable + read.executable, odd)
