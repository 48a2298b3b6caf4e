"""Walks the patterns of pinned sets over the working tree (boundary: folders, links; nothing is opened)."""

from __future__ import annotations

import os
import stat
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from admit.lock.observed import Folder, Gone, LinkSeen, Refused, Standing, Walked
from admit.lock.paths import SKIPPED_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from admit.lock.globs import Globs, State

Sets = tuple["tuple[int, Globs, State]", ...]
"""The sets that are still alive in a folder: bit, patterns, how far these have got."""


class _Listing(NamedTuple):
    """One folder's names by kind, each in the order of its bytes; `error` where it could not be listed."""

    files: list[bytes]
    folders: list[bytes]
    others: list[bytes]
    error: str


def walk(root: bytes, globs: Mapping[str, Globs], *, hidden: Iterable[bytes] = ()) -> Walked:
    """Return everything that the sets' patterns take. Symbolic links are reported, never followed.

    Args:
        root: the repository's root.
        globs: the patterns of each set; the place of a set in the mapping is its bit in `sets`.
        hidden: paths that no set takes, the manifest and the lock file themselves.
    """
    found = Walked([], [], [])
    skipped = frozenset(hidden)
    start: Sets = tuple((1 << at, one, one.start) for at, one in enumerate(globs.values()))
    waiting: list[Folder | tuple[bytes, Sets]] = [(b"", start)]
    while waiting:
        piece = waiting.pop()
        if isinstance(piece, Folder):
            found.folders.append(piece)
            continue
        folder, sets = piece
        prefix = folder + b"/" if folder else b""
        listing = _listing(os.path.join(root, folder) if folder else root)
        if listing.error:
            found.refused.append(Refused(folder, _bits(sets), "directory", listing.error))
            continue
        own = {*SKIPPED_NAMES, *(path[len(prefix) :] for path in skipped if path.rpartition(b"/")[0] == folder)}
        for name in listing.others:
            if name not in own and (bits := _bits_of(name, sets)):
                _look_at_other(root, prefix + name, bits, found)
        waiting.extend(reversed(list(_pieces(folder, listing, sets, own))))
    return found


def _pieces(folder: bytes, listing: _Listing, sets: Sets, own: set[bytes]) -> Iterator[Folder | tuple[bytes, Sets]]:
    """Yield a folder's files and inner folders in the order in which a sorted list of all paths has them."""
    prefix = folder + b"/" if folder else b""
    inner = [name + b"/" for name in listing.folders if name not in own]
    files = listing.files if own.isdisjoint(listing.files) else [name for name in listing.files if name not in own]
    if not inner:
        yield from _taken(folder, files, sets)
        return
    for is_inner, names in groupby(sorted([*files, *inner]), lambda name: name.endswith(b"/")):
        if not is_inner:
            yield from _taken(folder, list(names), sets)
            continue
        for name in names:
            if alive := _entered(name[:-1], sets):
                yield prefix + name[:-1], alive


def _listing(path: bytes) -> _Listing:
    folders: list[bytes] = []
    others: list[bytes] = []
    try:
        with os.scandir(path) as iterator:
            entries = list(iterator)
        files = [entry.name for entry in entries if entry.is_file(follow_symlinks=False)]
        if len(files) != len(entries):
            folders = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
            others = list({entry.name for entry in entries}.difference(files, folders))
    except OSError as error:
        return _Listing([], [], [], error.strerror or str(error))
    # by name is, after a checkout, nearly by place on the disk: a cold read in this order is twice as fast
    files.sort()
    folders.sort()
    others.sort()
    return _Listing(files, folders, others, "")


def _bits(sets: Sets) -> int:
    return sum(bit for bit, _, _ in sets)


def _bits_of(name: bytes, sets: Sets) -> int:
    """Return the sets that take a file of this name in a folder."""
    return sum(bit for bit, globs, state in sets if globs.rule(state).takes(name))


def _entered(name: bytes, sets: Sets) -> Sets:
    inner = ((bit, globs, globs.entered(state, name)) for bit, globs, state in sets)
    return tuple((bit, globs, state) for bit, globs, state in inner if state is not None)


def _taken(folder: bytes, names: list[bytes], sets: Sets) -> Iterator[Folder]:
    """Yield the files of a folder that some set takes, together where they follow each other in the same sets."""
    if not names:
        return
    if all(globs.rule(state).takes_all for _, globs, state in sets):
        yield Folder(folder, names, _bits(sets))
        return
    for bits, taken in groupby(names, lambda name: _bits_of(name, sets)):
        if bits:
            yield Folder(folder, list(taken), bits)


def _look_at_other(root: bytes, path: bytes, bits: int, found: Walked) -> None:
    """Add what is neither file nor directory. It is not opened: a pipe would wait for a writer."""
    try:
        mode = os.lstat(os.path.join(root, path)).st_mode
        if stat.S_ISLNK(mode):
            found.links.append(look_at_link(root, path, bits))
        else:
            found.refused.append(Refused(path, bits, standing_of(mode)))
    except OSError as error:
        found.refused.append(Refused(path, bits, "absent", error.strerror or str(error)))


def standing_of(mode: int) -> Standing:
    """Return what a mode says stands there."""
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISLNK(mode):
        return "link"
    if stat.S_ISDIR(mode):
        return "directory"
    if stat.S_ISFIFO(mode):
        return "pipe"
    return "socket" if stat.S_ISSOCK(mode) else "device"


def look_at_link(root: bytes, path: bytes, bits: int) -> LinkSeen:
    """Return a link's target, and where it ends after every further link on the way.

    Raises:
        OSError: it is no link any more.
    """
    full = os.path.join(root, path)
    target = os.readlink(full)
    end = _within(root, os.path.realpath(full)) if not target.startswith(b"/") else None
    if end is None:
        return LinkSeen(path, target, bits, None, "absent")
    try:
        stands = standing_of(os.lstat(os.path.join(root, end)).st_mode)
    except OSError:
        return LinkSeen(path, target, bits, end, "absent")
    if stands == "link":  # links that lead to each other end nowhere
        return LinkSeen(path, target, bits, end, "absent")
    beneath = tuple(_beneath(root, end)) if stands == "directory" else ()
    return LinkSeen(path, target, bits, end, stands, beneath)


def _within(root: bytes, real: bytes) -> bytes | None:
    """Return a real path relative to the root, `b""` for the root itself, None outside of it."""
    top = os.path.realpath(root)
    if real == top:
        return b""
    inside = top.rstrip(b"/") + b"/"
    return real[len(inside) :] if real.startswith(inside) else None


def _beneath(root: bytes, folder: bytes) -> Iterator[bytes]:
    """Yield everything under a folder that is no directory; a folder that cannot be listed stands for what it hides."""
    waiting = [folder]
    while waiting:
        at = waiting.pop()
        prefix = at + b"/" if at else b""
        listing = _listing(os.path.join(root, at) if at else root)
        if listing.error:
            yield at
        yield from (prefix + name for name in (*listing.files, *listing.others))
        waiting.extend(prefix + name for name in listing.folders)


def look_at_gone(root: bytes, path: bytes) -> Gone:
    """Return what stands at a pinned path that the walk did not come by."""
    parts = path.split(b"/")
    at = b""
    for depth, part in enumerate(parts, 1):
        at = at + b"/" + part if at else part
        try:
            stands = standing_of(os.lstat(os.path.join(root, at)).st_mode)
        except (FileNotFoundError, NotADirectoryError):
            return Gone(path, "absent")
        except OSError as error:
            return Gone(path, "absent", error=error.strerror or str(error))
        if depth < len(parts) and stands == "link":
            is_outside = _within(root, os.path.realpath(os.path.join(root, at))) is None
            return Gone(path, "behind-link", via=at, is_outside=is_outside)
    return Gone(path, stands)
