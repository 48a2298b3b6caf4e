"""What a run is told before it starts: ids from git, states from the trusted files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, cast

from admit.core.context import RunContext
from admit.core.records import NodeRecord
from admit.errors import InputError
from admit.repository import look, resolve
from admit.wiring.instrument import check_lock, pinned_instrument
from admit.wiring.space import clock, rfc3339, workspace
from admit.wiring.trusted import read_register

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime
    from pathlib import Path

    from admit.core.context import LockedNodes, Scalar
    from admit.core.signals import LockState
    from admit.lock.report import LockReport
    from admit.wiring.space import Workspace

    Progress = Callable[[int, int, int], None]


def run_context(
    root: Path,
    *,
    patch_id: str | None = None,
    base: str | None = None,
    launched: bool = False,
    progress: Progress | None = None,
    bench: Workspace | None = None,
) -> RunContext:
    """Return what a run is told before it starts: ids from git, states from the trusted files, checked now.

    Args:
        root: a folder inside the repository.
        patch_id: the patch's id; the branch's name or the commit by default.
        base: the commit that the patch is to be merged into, if one is named.
        launched: whether a parent watches the run.
        progress: called with how far hashing is.
        bench: the worktree in which the base's instrument judges: files are read there.

    Raises:
        InputError: git or a control file cannot be read.
    """
    space = bench or workspace(root)
    checkout, now = look(root if bench else space.root), clock()
    report, lock, locked = _locked(space, progress)
    pinned, (frozen, register) = pinned_instrument(space), _freezes(space, now)
    return RunContext(
        patch_id=patch_id or checkout.branch or (checkout.head or "working-tree")[:12],
        head=checkout.head,
        base=resolve(space.root, base) if base else None,
        dirty=bool(checkout.dirty) and bench is None,  # a worktree holds what was committed, and nothing else
        run_id=f"{now:%Y%m%dT%H%M%SZ}-{os.urandom(4).hex()}",
        nonce=os.urandom(16).hex(),
        lane=space.settings.text("run.lane"),
        shard=1,
        shards=1,
        attempt=1,
        property_markers=space.settings.words("gates.property_markers"),
        timing_markers=space.settings.words("gates.timing_markers"),
        property_paths=space.settings.words("gates.property_paths"),
        lock=lock,
        locked=locked,
        fixture_manifest=report.manifest,
        seed=pinned.seed or 0,
        profile=cast("Mapping[str, Scalar | tuple[str, ...]]", pinned.profile()),
        frozen=frozen,
        register=register,
        launched=launched,
        lock_differences=tuple(f"lock: {one.text}" for one in report.differences[:5]),
    )


def _locked(space: Workspace, progress: Progress | None) -> tuple[LockReport, LockState, tuple[LockedNodes, ...]]:
    from admit.lock.report import locked_nodes

    report = check_lock(space, progress=progress)
    return report, *locked_nodes(report)


def _freezes(space: Workspace, now: datetime) -> tuple[dict[str, str], tuple[NodeRecord, ...]]:
    """Return the frozen nodes with their ends, and one record a register entry, no pass where it is unreadable."""
    from admit.freeze.register import in_force, records

    try:
        register = read_register(space, now)
    except InputError as error:
        name = space.settings.text("freeze.register")
        return {}, (NodeRecord(name, "not_run", "missing", "stable", why="error", message=str(error)),)
    return {node: rfc3339(entry.expires) for node, entry in in_force(register, now).items()}, records(register, now)
