"""What tests are measured with: the lock, and the seed, settings and versions beside it (contract section 6)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from admit.settings import hypothesis_profile

if TYPE_CHECKING:
    from collections.abc import Callable

    from admit.lock.pinned import Instrument, LockText
    from admit.lock.report import LockReport
    from admit.wiring.space import Workspace

    Progress = Callable[[int, int, int], None]


def _instrument(space: Workspace) -> Instrument:
    """Return what the settings say that tests are measured with, and the versions installed here (L3)."""
    from importlib.metadata import PackageNotFoundError, version

    from admit.lock.pinned import instrument

    versions: dict[str, str] = {}
    for name in space.settings.words("lock.versions"):
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue  # what is not installed measures nothing; pinned and gone, it is a difference
    return instrument(space.settings.number("hypothesis.seed"), hypothesis_profile(space.settings), versions)


def pinned_instrument(space: Workspace) -> Instrument:
    """Return what the lock file pins that tests are measured with; what the settings say where there is no lock."""
    from admit.lock.pinned import read_lock

    text = _lock_text(space)
    return _instrument(space) if text.lock is None else read_lock(text.lock, text.lock_name).instrument


def _lock_text(space: Workspace) -> LockText:
    from admit.lock.check import read_lock_files

    names = space.settings.text("lock.manifest"), space.settings.text("lock.file")
    return read_lock_files(os.fspath(space.root), manifest_name=names[0], lock_name=names[1])


def check_lock(space: Workspace, *, fast: bool = False, progress: Progress | None = None) -> LockReport:
    """Return what differs between what is pinned and what is there (contract L2).

    Args:
        space: the workspace.
        fast: trust a stat cache; the report is then no evidence (L6).
        progress: called with how far hashing is.

    Raises:
        InputError: manifest or lock file cannot be understood.
    """
    from admit.lock.check import check
    from admit.lock.pinned import InForce

    ours, text = _instrument(space), _lock_text(space)
    cache = os.fspath(space.root / ".admit" / "stat-cache") if fast else None
    report = check(
        os.fspath(space.root),
        text,
        in_force=InForce(ours.seed, ours.profile(), dict(ours.versions)),
        fast_cache=cache,
        progress=progress,
    )
    return _with_configured_sets(space, text, report)


def _with_configured_sets(space: Workspace, text: LockText, report: LockReport) -> LockReport:
    """Return the report, with a difference where the sets configured are not those that are pinned (contract L4)."""
    from admit.lock.difference import Difference
    from admit.lock.pinned import read_lock
    from admit.lock.report import worst

    if text.lock is None:
        return report
    pinned = {(one.name, one.paths, one.nodes) for one in read_lock(text.lock, text.lock_name).sets}
    configured = {(one.name, one.paths, one.nodes) for one in space.settings.sets}
    if not (names := sorted({name for name, *_ in pinned ^ configured})):
        return report
    found = Difference("setting", f"lock.sets.{names[0]}", pinned="as pinned", found="something else in admit.toml")
    return report._replace(state=worst([report.state, found.state]), differences=(*report.differences, found))


def write_lock(space: Workspace, progress: Progress | None = None) -> str:
    """Pin the configured sets and return what was pinned, in words (contract L5: a person's act).

    Raises:
        InputError: something cannot be pinned.
        LedgerError: a file cannot be written.
    """
    from admit.lock.pinned import PinnedSet
    from admit.lock.write import LockNames, write

    names = LockNames(space.settings.text("lock.manifest"), space.settings.text("lock.file"))
    sets = [PinnedSet(one.name, one.paths, one.nodes) for one in space.settings.sets]
    lock = write(os.fspath(space.root), sets, instrument=_instrument(space), names=names, progress=progress)
    return f"{names.manifest} and {names.lock}: {lock.files} files in {len(lock.sets)} sets, {len(lock.links)} links"
