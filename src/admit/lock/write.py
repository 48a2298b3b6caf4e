"""Writes the lock: a person's act, never a side effect of a run (contract L5; boundary: files)."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Final, NamedTuple

from admit.errors import InputError, LedgerError
from admit.lock import compare
from admit.lock.hashing import Job
from admit.lock.manifest import NAME as MANIFEST_NAME
from admit.lock.manifest import digest_text, read_manifest
from admit.lock.observed import STANDING_WORDS
from admit.lock.paths import CACHE_NAMES, name_of, shown, twins
from admit.lock.pinned import NAME, Instrument, Lock, LockText, PinnedSet, checked_sets, lock_text
from admit.lock.walk import look_at_gone, walk
from admit.lock.workers import read_all

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from admit.lock.globs import Globs
    from admit.lock.observed import Observed, Walked
    from admit.lock.workers import Progress


class LockNames(NamedTuple):
    """Where the two files lie under the repository's root."""

    manifest: str = MANIFEST_NAME
    lock: str = NAME


NAMES: Final = LockNames()


def write(
    root: str,
    sets: Sequence[PinnedSet],
    *,
    instrument: Instrument,
    names: LockNames = NAMES,
    progress: Progress | None = None,
) -> Lock:
    """Pin what the sets take now, and write both files, each of them whole or not at all.

    Raises:
        InputError: as `draft`.
        LedgerError: a file cannot be written.
    """
    lock, text = draft(root, sets, instrument=instrument, names=names, progress=progress)
    # the manifest first: stopped between the two, the old lock file does not fit it, and that is drift
    _replace(root, names.manifest, text.manifest or b"")
    _replace(root, names.lock, text.lock or b"")
    return lock


def draft(
    root: str,
    sets: Sequence[PinnedSet],
    *,
    instrument: Instrument,
    names: LockNames = NAMES,
    progress: Progress | None = None,
) -> tuple[Lock, LockText]:
    """Return the lock of what is there now, as a value and as the two texts, without writing anything.

    Args:
        root: the repository's root.
        sets: what to pin, and which nodes it is tied to.
        instrument: seed, Hypothesis settings and versions to pin.
        names: where the two files lie; no set takes them.
        progress: called now and then with files read, files to read, bytes read.

    Raises:
        InputError: a set is empty or takes what cannot be pinned: a Git LFS pointer, a pipe, socket or device, a folder
            that tools rewrite, two names that some file systems cannot tell apart, a link that leads out of the
            repository or to something unpinned, a file that cannot be read or does not stay the same.
    """
    ordered = tuple(sorted(sets))
    globs = checked_sets(ordered, "lock.sets")
    top = os.fsencode(root)
    walked = walk(top, globs, hidden=[os.fsencode(names.manifest), os.fsencode(names.lock)])
    _refuse_unpinnable(top, walked, globs, ordered)
    read = read_all(top, [Job(folder.path, folder.names) for folder in walked.folders], progress=progress)
    _refuse_odd(read.odd)
    lock = Lock(
        manifest=digest_text(read.text),
        files=read.files,
        total_bytes=read.total_bytes,
        sets=ordered,
        links=tuple(sorted((name_of(link.path), name_of(link.target)) for link in walked.links)),
        executable=tuple(sorted(name_of(path) for path in read.executable)),
        instrument=instrument,
    )
    pinned = compare.Pinned(read_manifest(read.text), lock, globs)
    loose = [found.text for link in walked.links for found in compare.target_differences(link, pinned)]
    _refuse(
        loose, "pin what the link leads to in the same set, or leave the link out with a pattern that begins with !"
    )
    return lock, LockText(read.text, lock_text(lock), names.manifest, names.lock)


def _refuse(found: Iterable[str], do: str) -> None:
    first, *more = [*found] or [""]
    if first:
        rest = f" (and {len(more)} more)" if more else ""
        raise InputError("", f"cannot be pinned: {first}{rest}", do=do)


def _refuse_unpinnable(top: bytes, walked: Walked, globs: dict[str, Globs], sets: tuple[PinnedSet, ...]) -> None:
    """Refuse what no reading is needed for."""
    _refuse(
        (f"{shown(one.path)}: cannot be read: {one.error}" for one in walked.refused if one.error),
        "make it readable, or leave it out with a pattern that begins with !",
    )
    _refuse(
        (f"{shown(one.path)} is {STANDING_WORDS[one.stands]}" for one in walked.refused if not one.error),
        "leave it out with a pattern that begins with !",
    )
    paths = [
        *(folder.prefix + name for folder in walked.folders for name in folder.names),
        *(link.path for link in walked.links),
    ]
    caches = (folder.path for folder in walked.folders if not set(CACHE_NAMES).isdisjoint(folder.path.split(b"/")))
    _refuse(
        (f"{shown(path)} is rewritten by every run" for path in caches),
        "leave it out with a pattern such as !__pycache__/",
    )
    _refuse(
        (f"{shown(one)} and {shown(other)} are one name to some file systems" for one, other in twins(paths)),
        "rename one of the two",
    )
    taken = compare.files_by_set(globs, walked.counts())
    for one in sets:
        if not taken[one.name]:
            raise InputError(
                f"lock.sets.{one.name}",
                f"no file for {', '.join(one.paths)}{_linked_start(top, one.paths)}",
                do="correct the paths: a set without files pins nothing, and its nodes would hold as missing",
            )


def _linked_start(top: bytes, patterns: Sequence[str]) -> str:
    """Return, in words, the symbolic link that a pattern would have had to follow."""
    for pattern in patterns:
        plain = pattern.strip("/").split("/")
        at = next((at for at, part in enumerate(plain) if set(part) & set("*?[\\!")), len(plain))
        if plain[:at]:
            found = look_at_gone(top, "/".join([*plain[:at], "x"]).encode("utf-8", "surrogateescape"))
            if found.via:
                return f"; {shown(found.via)} is a symbolic link, and links are not followed"
    return ""


def _refuse_odd(odd: Sequence[Observed]) -> None:
    """Refuse what reading has shown."""
    _refuse(
        (
            f"{shown(one.path)}: {one.error or 'changed while it was read, twice'}"
            for one in odd
            if one.outcome != "read"
        ),
        "make it a readable file that nothing writes to",
    )
    _refuse(
        (f"{shown(one.path)} is a Git LFS pointer instead of the file" for one in odd if one.is_lfs_pointer),
        "run git lfs pull first",
    )


def _replace(root: str, name: str, text: bytes) -> None:
    """Replace a file at once; after a crash it holds the old text or the new one."""
    path = os.path.join(root, name)
    temporary = f"{path}.{os.urandom(4).hex()}.tmp"
    try:
        try:
            with open(temporary, "xb") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)
    except OSError as error:
        raise LedgerError(name, f"cannot be written: {error.strerror}", do="the file is as it was") from error
