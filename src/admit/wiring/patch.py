"""What a patch changes, sorted by what it may change, and what a reviewer let stand (contract T1, T3, T7)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from admit.errors import InputError
from admit.repository import blob, blobs, names, tracked, trailers
from admit.wiring.base import base_moved_on
from admit.wiring.trusted import control_files

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from datetime import datetime
    from pathlib import Path

    from admit.policy import Policy
    from admit.repository import Change
    from admit.trust.approvals import Approved
    from admit.trust.assembly import Parts, Review
    from admit.trust.instrument import Measure, Rules
    from admit.wiring.base import Based

RENAME = "Admit-Rename"
"""The trailer of a commit message that declares a rename: `Admit-Rename: OLD => NEW` (contract T2)."""


class Sorted(NamedTuple):
    """A patch's changes: to files under review, to how tests are run, to tests and what they read, caches, the rest."""

    control: tuple[Change, ...]
    runner: tuple[Change, ...]
    tests: tuple[Change, ...]
    caches: tuple[Change, ...]
    product: tuple[Change, ...]

    def is_instrument(self, change: Change) -> bool:
        """Return whether the base's form of a file is laid over the patch's code."""
        return change not in self.product

    def test_files(self, patch: Based) -> tuple[str, ...]:
        """Return the test files that the patch adds or changes, from the workspace, as far as they can be run."""
        mine = [change for change in self.tests if change.new_blob is not None and change.path.endswith(".py")]
        return tuple(change.path.removeprefix(patch.prefix) for change in mine if change.path.startswith(patch.prefix))


def rules_of(patch: Based, command: tuple[str, ...] = ()) -> Rules:
    """Return what counts as instrument in this repository, by the base's settings and the command of the run."""
    from admit.trust.instrument import Rules, named_in

    settings = patch.space.settings
    return Rules(
        control=frozenset(patch.in_top(name) for name in control_files(patch.space)),
        tests=tuple(patch.in_top(pattern) for pattern in settings.words("trust.tests")),
        runner=tuple(patch.in_top(pattern) for pattern in settings.words("trust.runner")),
        prefix=patch.prefix,
        standing=_standing(patch),
        command=named_in((*settings.words("run.command"), *command), patch.prefix),
    )


def _standing(patch: Based) -> frozenset[str]:
    """Return what the base has beside a name of the runner's that the patch adds to; mostly it adds to none."""
    from admit.trust.instrument import shadow_places

    folders = {folder for change in patch.changes for folder, _ in shadow_places(change, patch.prefix)}
    return frozenset().union(*(names(patch.top, patch.base, folder) for folder in sorted(folders)))


def sorted_changes(patch: Based, command: tuple[str, ...] = ()) -> Sorted:
    """Return a patch's changes by what they are to the measurement (contract T3)."""
    from admit.trust.instrument import measure_of

    rules = rules_of(patch, command)
    own = f"{patch.prefix}.admit/"
    by: dict[str, list[Change]] = {"control": [], "runner": [], "test": [], "cache": [], "product": []}
    for change in patch.changes:
        if not change.path.startswith(own):  # admit's own folder: nothing that a commit holds there is read
            by[_measure(patch, change, measure_of(change, rules))].append(change)
    return Sorted(*(tuple(by[kind]) for kind in ("control", "runner", "test", "cache", "product")))


def laid_over(patch: Based, changed: Sorted, approved: Approved) -> tuple[Change, ...]:
    """Return the changes that are undone where the patch is judged: the instrument's but what a reviewer let stand.

    Rules are the base's in any case; of files under review the manifest alone can stand as the patch has it (L5, T7).
    """
    lock = {patch.in_top(patch.space.settings.text(key)) for key in ("lock.manifest", "lock.file")}
    return tuple(
        change
        for change in patch.changes
        if changed.is_instrument(change)
        and not (approved.allows(change) and (change not in changed.control or change.path in lock))
    )


def instrument_state(patch: Based, tree: Path) -> dict[str, tuple[int, int, int]]:
    """Return what tells that a file of the instrument was written in a worktree: size, time of change, place.

    What is written and put back before anybody looks again has its old content, and a new time of change.
    """
    from admit.repository import Change
    from admit.repository.submodules import tracked_names
    from admit.trust.instrument import measure_of

    rules, found = rules_of(patch), {}
    for path in tracked_names(tree):
        if measure_of(Change(path, "100644", "100644", "0", "0"), rules) != "product":
            try:
                seen = (tree / path).lstat()
            except OSError:
                continue
            found[path] = (seen.st_size, seen.st_ctime_ns, seen.st_ino)
    return found


def written(before: Mapping[str, object], after: Mapping[str, object]) -> dict[str, str]:
    """Return which files of the instrument were written between two looks, in the words of a finding."""
    names = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
    return {"instrument-moved": f"written while the tests ran: {', '.join(names[:3])}"} if names else {}


def holds_compiled(tree: Path) -> bool:
    """Return whether a worktree holds compiled modules of its commit's, which Python would run instead of a source."""
    from admit.repository.submodules import tracked_names

    return any(name.endswith((".pyc", ".pyo")) for name in tracked_names(tree))


def review_of(
    patch: Based, changed: Sorted, parts: Parts, approved: Approved, collected: Collection[str] | None = None
) -> Review:
    """Return what the patch did to the base's tests, and what a reviewer let stand (contract T2, T7).

    Args:
        patch: the patch.
        changed: its changes, sorted.
        parts: what the parts of the run saw.
        approved: what reviewers approved.
        collected: all that the patch's own tests collect; None where it changes none, so that it loses none.
    """
    from admit.trust.assembly import Review
    from admit.trust.edits import edited_nodes, lost_nodes

    by_file = _nodes_by_file(parts.inventory)
    touched = [change for change in changed.tests if change.old_blob is not None]
    contents = blobs(patch.top, {key for change in touched for key in (change.old_blob, change.new_blob) if key})
    edited: set[str] = set()
    mine: set[str] = set()
    for change in touched:
        nodes = _nodes_of(change, patch, by_file)
        mine |= nodes
        old, new = (contents.get(key) if key else None for key in (change.old_blob, change.new_blob))
        edited |= edited_nodes(change.path, old, new, nodes)
    there = {node for records in parts.proposals.values() for node in records}
    renames = dict(declared_renames(patch))
    lost = lost_nodes(mine, there, renames)
    if collected is not None:  # a case goes with what it is made from, wherever that stands
        lost |= lost_nodes(parts.inventory, there.union(collected), renames)
    let_stand = {
        node
        for change in touched
        for node in _nodes_of(change, patch, by_file)
        if approved.allows(change) or approved.allows_node(node, change)
    }
    # with a change of the product beside it, nobody can tell what a case went with
    if touched and not changed.product and all(approved.allows(change) for change in touched):
        let_stand |= lost
    return Review(frozenset(edited), frozenset(lost), frozenset(let_stand))


def moved_tests(patch: Based, changed: Sorted, nodes: Iterable[str], approved: Approved) -> dict[str, str]:
    """Return which of the base's tests stand in a submodule that the patch moves: no base's form was laid over them.

    A submodule is judged at the patch's commit as the product that it mostly is, whole.
    """
    from admit.repository.patch import SUBMODULE

    moved = [one for one in changed.product if SUBMODULE in one.modes and not approved.allows(one)]
    places = tuple({f"{one.path.removeprefix(start)}/" for one in moved for start in ("", patch.prefix)})
    if not (inside := sorted(node for node in nodes if places and node.startswith(places))):
        return {}
    return {"instrument-edited": f"{inside[0]} ({len(inside)} in all) is in a submodule that the patch moves"}


def _nodes_by_file(nodes: Iterable[str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for node in nodes:
        found.setdefault(node.partition("::")[0], set()).add(node)
    return found


def _nodes_of(change: Change, patch: Based, by_file: Mapping[str, set[str]]) -> set[str]:
    # a node id starts at pytest's root, which is the workspace or a folder above it
    return by_file.get(change.path, set()) | by_file.get(change.path.removeprefix(patch.prefix), set())


def declared_renames(patch: Based) -> list[tuple[str, str]]:
    """Return the renames that the patch's commit messages declare: `Admit-Rename: OLD => NEW`."""
    said = [value.partition("=>") for value in trailers(patch.top, patch.base, patch.head, RENAME)]
    return [(old.strip(), new.strip()) for old, arrow, new in said if arrow and old.strip() and new.strip()]


def inadmissible(patch: Based, changed: Sorted, approved: Approved, policy: Policy) -> dict[str, str]:
    """Return what waits for a reviewer, or for the patch to be brought up to date (contract T1, T3, L5)."""
    found: dict[str, str] = {}
    if moved := base_moved_on(patch):
        found["base-moved"] = moved
    control = [change for change in changed.control if not approved.allows(change)]
    pinned = [change for change in _pinned(patch, changed) if not approved.allows(change)]
    if control:
        found["control-files-touched"] = _named(control)
    if pinned:
        found["fixture_repinned"] = _named(pinned)
    runner = [change for change in changed.runner if not approved.allows(change)]
    if runner and policy.trust.instrument_edits == "hold":
        found["instrument-edited"] = _named(runner)
    return found


def _pinned(patch: Based, changed: Sorted) -> list[Change]:
    """Return the changes of files that the base's manifest pins, which is a repin with or without its change (L5)."""
    from admit.lock.manifest import read_manifest

    name = patch.space.settings.text("lock.manifest")
    raw = blob(patch.top, patch.base, patch.in_top(name))
    if raw is None:
        return []
    # a name that differs in case alone is the same file on some systems, and tests read its twin's content there
    pinned = {(patch.prefix + os.fsdecode(path)).casefold() for path in read_manifest(raw, name)}
    return [change for change in patch.changes if change.path.casefold() in pinned and change not in changed.control]


def not_yet_pinned(patch: Based) -> tuple[str, ...]:
    """Return what to say of files that the patch adds to a pinned set: they hold nobody, and drift the base (L2)."""
    from admit.lock.globs import Globs

    sets = [Globs(one.paths, one.name) for one in patch.space.settings.sets]
    own = (change for change in patch.changes if change.is_added and change.path.startswith(patch.prefix))
    files = [change for change in own if any(one.match(_within(change, patch)) for one in sets)]
    said = f"once merged, pinned sets hold files that nobody pinned: {_named(files)}; `admit lock write` pins them"
    return (said,) if files and not _repins(patch) else ()


def _within(change: Change, patch: Based) -> bytes:
    return os.fsencode(change.path.removeprefix(patch.prefix))


def _repins(patch: Based) -> bool:
    manifest = patch.in_top(patch.space.settings.text("lock.manifest"))
    return any(change.path == manifest for change in patch.changes)


def _named(changes: list[Change]) -> str:
    names = ", ".join(change.path for change in changes[:3])
    return names + (f" and {len(changes) - 3} more" if len(changes) > 3 else "")


def approvals_of(patch: Based, policy: Policy, now: datetime, given: Iterable[Path] = ()) -> Approved:
    """Return the approvals that count: of the policy's approvers, from files that the patch does not bring (T1).

    Args:
        patch: the patch; what its commit or the index tracks approves nothing.
        policy: names the approvers.
        now: the deciding host's clock.
        given: further files, named on the command line.

    Raises:
        InputError: one that is named is not there, or cannot be read.
    """
    from admit.trust.approvals import ApprovalFile, Approved, covering
    from admit.trust.signedfiles import read_small

    folder = patch.space.path("trust.approvals")
    kept = sorted(path for path in folder.glob("*.json") if path.is_file()) if folder.is_dir() else []
    given = list(given)
    if absent := [path for path in given if not path.exists()]:
        raise InputError(f"--approval {absent[0]}", "there is no such file", do="name what `admit approve` wrote")
    files = [*kept, *given]
    if not files or not policy.trust.approvers:
        return Approved()
    read = [
        ApprovalFile(os.fspath(path), read_small(os.fspath(path)) or b"", _is_tracked(patch, path)) for path in files
    ]
    return covering(read, policy.trust.approvers, now=now)


def _is_tracked(patch: Based, path: Path) -> bool:
    """Return whether the commit or the index brings a file along, or the link that leads to it."""
    top = patch.top.resolve()
    for place in (path.parent.resolve() / path.name, path.resolve()):
        if place.is_relative_to(top) and tracked(top, place.relative_to(top).as_posix()):
            return True
    return False


def _measure(patch: Based, change: Change, measure: Measure) -> Measure:
    """Return `product` for an edit of a configuration file that changes nothing about how tests are run."""
    from admit.trust.measuring import same_measure

    if measure != "runner" or change.old_blob is None or change.new_blob is None or change.old_mode != change.new_mode:
        return measure
    texts = blobs(patch.top, [change.old_blob, change.new_blob]) if change.path.endswith(_SHARED) else {}
    is_same = bool(texts) and same_measure(change.path, texts[change.old_blob], texts[change.new_blob])
    return "product" if is_same else measure


_SHARED = ("pyproject.toml", "setup.cfg", "tox.ini")
