"""Checks the working tree against the lock, always reading every byte (boundary: files)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from admit.errors import InputError
from admit.lock import compare
from admit.lock.difference import Difference
from admit.lock.hashing import Job, new_buffer, observe_beneath
from admit.lock.manifest import NAME as MANIFEST_NAME
from admit.lock.manifest import digest_text, manifest_text, read_manifest
from admit.lock.paths import name_of, path_of
from admit.lock.pinned import NAME, InForce, LockText, checked_sets, read_lock
from admit.lock.report import COMPARED, LockReport, report_of
from admit.lock.walk import look_at_gone, look_at_link, walk
from admit.lock.workers import read_all

if TYPE_CHECKING:
    from admit.lock.observed import Observed, Read, Walked
    from admit.lock.pinned import Lock
    from admit.lock.workers import Progress


def read_lock_files(root: str, *, manifest_name: str = MANIFEST_NAME, lock_name: str = NAME) -> LockText:
    """Return the two files as they lie in the working tree. A gate reads them from the base commit instead (L5).

    Raises:
        InputError: one that is there cannot be read, or is no regular file.
    """
    return LockText(_bytes_of(root, manifest_name), _bytes_of(root, lock_name), manifest_name, lock_name)


def _bytes_of(root: str, name: str) -> bytes | None:
    try:
        fd = os.open(os.path.join(root, name), os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
        with os.fdopen(fd, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(name, f"cannot be read: {error.strerror}", do="make it a readable regular file") from error


def check(
    root: str,
    text: LockText,
    *,
    in_force: InForce | None = None,
    fast_cache: str | None = None,
    progress: Progress | None = None,
) -> LockReport:
    """Return what is different between what is pinned and what is there (contract L2 to L6).

    Args:
        root: the repository's root.
        text: the manifest and the lock file, from wherever is trusted.
        in_force: seed, Hypothesis settings and versions where the tests run; None where they are not known, which the
            report says.
        fast_cache: file of the stat cache, for a person who wants a quick answer; the report is then no evidence.
        progress: called now and then with files read, files to read, bytes read.

    Raises:
        InputError: manifest or lock file cannot be understood, or the root cannot be opened.
    """
    if text.manifest is None or text.lock is None:
        return _nothing_pinned(text)
    lock = read_lock(text.lock, text.lock_name)
    globs = checked_sets(lock.sets, text.lock_name)
    top = os.fsencode(root)
    walked = walk(top, globs, hidden=[os.fsencode(text.manifest_name), os.fsencode(text.lock_name)])
    jobs = [Job(folder.path, folder.names) for folder in walked.folders]
    if fast_cache is None:
        read = read_all(top, jobs, expected=text.manifest, progress=progress)
    else:
        from admit.lock.statcache import read_with_cache

        read = read_with_cache(top, jobs, fast_cache, progress=progress)
    found, unknown = compare.instrument_differences(lock.instrument, in_force or InForce())
    digest = lock.manifest
    if not _is_exactly_as_pinned(text.manifest, lock, walked, read):
        pinned = compare.Pinned(read_manifest(text.manifest, text.manifest_name), lock, globs)
        digest = digest_text(manifest_text(pinned.manifest))
        present = _look_closer(top, pinned, walked, read)
        found += compare.disagreements(pinned, present, text.manifest_name, digest)
        found += compare.differences(pinned, present)
    files = compare.files_by_set(globs, walked.counts())
    sets = [(one, files[one.name]) for one in lock.sets]
    counts = (read.files, read.total_bytes)
    report = report_of(sets, found, not_compared=unknown, manifest=digest, counts=counts)
    return report._replace(cached=fast_cache is not None)


def _is_exactly_as_pinned(manifest: bytes, lock: Lock, walked: Walked, read: Read) -> bool:
    """Return whether nothing needs a comparison: what was read makes the same manifest, and there are no links.

    Equal texts name the same files with the same digests, and a text that was made from names and digests is a
    manifest. Most checks end here, and spare themselves taking two large texts apart.
    """
    return (
        read.text == manifest
        and digest_text(manifest) == lock.manifest
        and (read.files, read.total_bytes) == (lock.files, lock.total_bytes)
        and 0 not in compare.files_by_set([one.name for one in lock.sets], walked.counts()).values()
        and {name_of(path) for path in read.executable} == set(lock.executable)
        and not (read.odd or walked.refused or walked.links or lock.links)
    )


def diff(root: str, text: LockText) -> tuple[Difference, ...]:
    """Return every difference in files and links, in the order of kinds and paths.

    Raises:
        InputError: as `check`.
    """
    return check(root, text).differences


def _nothing_pinned(text: LockText) -> LockReport:
    found = []
    if text.manifest is None:
        found.append(Difference("manifest-missing", text.manifest_name))
    if text.lock is None:
        found.append(Difference("lock-missing", text.lock_name))
    return report_of((), found, not_compared=COMPARED, manifest=None, counts=(0, 0))


def _look_closer(top: bytes, pinned: compare.Pinned, walked: Walked, read: Read) -> compare.Present:
    """Return what is there, and look again at everything that is not simply as pinned.

    Pinned files and links that no pattern takes are looked for too.
    """
    digests, odd = read_manifest(read.text), {seen.path: seen for seen in read.odd}
    files = pinned.manifest.keys() - digests.keys() - odd.keys()
    links = {path_of(name) for name, _ in pinned.lock.links} - {link.path for link in walked.links}
    gone, strays = [], []
    for path in sorted(files | links):
        found = look_at_gone(top, path)
        if found.stands == "file" and path in files:
            folder, _, name = path.rpartition(b"/")
            strays.append(Job(folder, [name]))
        elif found.stands == "link" and path in links:
            walked.links.append(look_at_link(top, path, 0))
        else:
            gone.append(found)
    more = read_all(top, strays)
    digests |= read_manifest(more.text)
    odd |= {seen.path: seen for seen in more.odd}
    closer = _read_again(top, {path: pinned.manifest[path] for path in compare.changed_paths(pinned.manifest, digests)})
    executable = frozenset([*read.executable, *more.executable])
    return compare.Present(
        digests,
        read.total_bytes + more.total_bytes,
        executable,
        odd,
        closer,
        gone,
        walked,
    )


def _read_again(top: bytes, expected: dict[bytes, bytes]) -> dict[bytes, Observed]:
    """Return a second reading of each file that tells what is different about it, given the digests expected."""
    buffer = new_buffer()
    root_fd = os.open(top, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        return {path: observe_beneath(root_fd, path, buffer, digest) for path, digest in expected.items()}
    finally:
        os.close(root_fd)
