"""What a proof is made of: the two commits, the files of its tests, what is laid over the parent, the seed (P1, P2)."""

from __future__ import annotations

import os
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple, cast

from admit.errors import InputError
from admit.prove.nodes import Named, named
from admit.prove.record import Commit, Measured
from admit.repository import Change, blob, blobs, changes, merge_base, names, resolve, toplevel
from admit.repository.process import DEEPEN, ask, demand, is_shallow, text_of
from admit.settings import FILE, Settings, read_settings
from admit.wiring.base import Based, control_space, found_base
from admit.wiring.instrument import pinned_instrument
from admit.wiring.patch import rules_of, sorted_changes
from admit.wiring.space import Workspace

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from admit.core.context import RunContext, Scalar
    from admit.prove.answers import Changed
    from admit.prove.record import Origin
    from admit.trust.instrument import Rules

_CONFIGURED = ("pytest.ini", ".pytest.ini", "pytest.toml", "pyproject.toml", "tox.ini", "setup.cfg", "setup.py")
"""Files that make a folder the one in which tests are run, where nobody configured admit."""


class Pair(NamedTuple):
    """A patch and its parent, seen as a patch on its base: settings and files under review are the parent's."""

    based: Based
    patch: Commit
    parent: Commit


class Target(NamedTuple):
    """Tests to prove, by name, and the file that they are in: its blob, and its bytes where no commit has them yet."""

    named: Named
    blob: str
    loose: bytes | None = None

    @property
    def origin(self) -> Origin:
        """Return where the bytes came from."""
        return "patch" if self.loose is None else "working-tree"


def pair_of(start: Path, environ: Mapping[str, str], *, patch: str = "HEAD", parent: str | None = None) -> Pair:
    """Return the two commits of a proof.

    Args:
        start: a folder of the checkout.
        environ: what CI says of a base.
        patch: the patch.
        parent: what it is compared with; by default where it left the base that CI names, else its first parent.

    Raises:
        InputError: no repository, no such commit, a commit without a parent, two commits that are one, an `admit.toml`
            of the parent that cannot be read.
    """
    here = start.resolve()
    top = toplevel(here)
    if top is None:
        raise InputError(str(start), "no repository of git", do="run in a checkout of the patch")
    new = resolve(top, patch)
    old = resolve(top, parent) if parent else _parent_of(top, new, environ)
    if new == old:
        raise InputError(f"{patch} {parent}", "patch and parent are one commit", do="name two")
    space, prefix = _space_of(here, top, new=new, old=old)
    based = Based(space, top, prefix, new, old, old, changes(top, old, new))
    return Pair(based, Commit(new, _tree(top, new)), Commit(old, _tree(top, old)))


def _parent_of(top: Path, patch: str, environ: Mapping[str, str]) -> str:
    if base := found_base(environ, top):
        left = merge_base(top, base, patch)
        if left != patch:  # else it has landed already
            return left
    answer = ask(top, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{patch}^1^{{commit}}")
    if answer.exit_code == 0:
        return answer.text().strip()
    if is_shallow(top):
        raise InputError(patch, "its parent is not there", do=DEEPEN)
    raise InputError(patch, "a root commit: it has no parent to compare with", do="name a commit with --parent")


def _tree(top: Path, commit: str) -> str:
    return demand(top, "rev-parse", f"{commit}^{{tree}}").decode("ascii").strip()


def _space_of(here: Path, top: Path, *, new: str, old: str) -> tuple[Workspace, str]:
    """Return where tests are run, by the parent's settings, and the way there from the repository's top."""
    folders = [folder for folder in (here, *here.parents) if folder.is_relative_to(top)]
    prefixes = {folder: "" if folder == top else folder.relative_to(top).as_posix() + "/" for folder in folders}
    for folder, prefix in prefixes.items():
        if (raw := blob(top, old, prefix + FILE)) is not None:
            return Workspace(folder, read_settings(raw, f"{old[:12]}:{prefix}{FILE}"), True), prefix
    for folder, prefix in prefixes.items():
        if names(top, new, prefix).intersection(prefix + name for name in _CONFIGURED):
            return Workspace(folder, Settings(), False), prefix
    return Workspace(top, Settings(), False), ""


def targets_of(pair: Pair, start: Path, texts: Iterable[str]) -> tuple[Target, ...]:
    """Return the tests that names on the command line mean; a path may start here, at the workspace or at the top.

    Raises:
        InputError: there is no such file, in the patch or beside it.
    """
    return tuple(_target(pair, start.resolve(), text) for text in dict.fromkeys(texts))


def _target(pair: Pair, here: Path, text: str) -> Target:
    based, one = pair.based, named(text)
    starts = (here, based.space.root, based.top)
    paths = dict.fromkeys(os.path.normpath(start / one.path) for start in starts)
    inside = [os.path.relpath(path, based.top).replace(os.sep, "/") for path in paths]
    for path in inside:
        if (key := _blob_id(based.top, pair.patch.commit, path)) is not None:
            return Target(Named(path, one.rest), key)
    for path in inside:
        if not path.startswith("../") and (based.top / path).is_file():
            raw = (based.top / path).read_bytes()
            key = demand(based.top, "hash-object", "--stdin", stdin=raw).decode("ascii").strip()
            return Target(Named(path, one.rest), key, raw)
    raise InputError(
        text, "no such test file, in the patch or in the working tree", do="name a test as pytest does: FILE::NAME"
    )


def _blob_id(top: Path, commit: str, path: str) -> str | None:
    for line in demand(top, "ls-tree", "-z", "--full-tree", commit, "--", path).split(b"\0"):
        entry, _, name = line.partition(b"\t")
        if line and text_of(name) == path and entry.split(b" ")[1] == b"blob":
            return entry.split(b" ")[2].decode("ascii")
    return None


def laid_over(pair: Pair, targets: Sequence[Target]) -> dict[str, str | None]:
    """Return the paths on which the parent is given the patch's form, each with its blob: the same instrument judges.

    These are all that a run on a base lays the other way round (tests, what they read, how they are run), caches aside,
    and the files of the tests themselves, wherever they lie.
    """
    changed, tests = sorted_changes(pair.based), {target.named.path for target in targets}
    laid = {
        change.path: change.new_blob
        for change in pair.based.changes
        if change not in changed.caches and (changed.is_instrument(change) or change.path in tests)
    }
    return laid | {target.named.path: target.blob for target in targets if target.loose is not None}


def changed_lines(pair: Pair, laid: Mapping[str, str | None]) -> Changed | None:
    """Return the lines of code that differ, in files that both sides have; None where some run at import.

    What runs at import has run when a test begins: then nobody can tell that it does not matter to the test.

    Args:
        pair: the two commits.
        laid: what is the same on both sides.
    """
    from admit.prove.answers import Changed
    from admit.repository.hunks import lines_that_differ
    from admit.scope.hunks import read_edits

    top, base, head = pair.based.top, pair.parent.commit, pair.patch.commit
    edits = [edit for edit in read_edits(lines_that_differ(top, base, head)) if edit.path not in laid]
    code = [edit for edit in edits if edit.path.endswith(".py")]
    held = blobs(top, {key for edit in code for key in (edit.old_blob, edit.new_blob) if key})
    found = Changed({}, {})
    for edit in code:
        if edit.old_blob is None or edit.new_blob is None or edit.is_binary:
            return None
        new = _in_bodies(held[edit.new_blob], [(one.new_first, one.new_count) for one in edit.hunks])
        old = _in_bodies(held[edit.old_blob], [(one.old_first, one.old_count) for one in edit.hunks])
        if new is None or old is None:
            return None
        found.patch[edit.path], found.parent[edit.path] = new, old
    return found if any((*found.patch.values(), *found.parent.values())) else None


def _in_bodies(source: bytes, hunks: Iterable[tuple[int, int]]) -> int | None:
    """Return the lines of some hunks, comments and blank ones aside; None where one is in no function's body."""
    from admit.scope.map import bits_of
    from admit.scope.shape import AT_IMPORT, INERT, outline_of

    shape = outline_of(source, "")
    lines = [line for first, count in hunks for line in range(first, first + count)]
    if shape.unreadable or any(line > len(shape.marks) or shape.marks[line - 1] == AT_IMPORT for line in lines):
        return None
    return bits_of(line for line in lines if shape.marks[line - 1] != INERT)


def lay_loose(targets: Iterable[Target], tree: Path) -> None:
    """Write the test files that no commit has into a worktree.

    Raises:
        InputError: something else stands there.
    """
    for target in targets:
        if target.loose is not None:
            path = tree / target.named.path
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(target.loose)
            except OSError as error:
                raise InputError(target.named.path, f"cannot be laid over the parent: {error.strerror}") from error


def laid_tests(targets: Iterable[Target], tree: Path) -> dict[str, bytes]:
    """Return what the test files hold in a worktree, by path.

    Raises:
        InputError: one of them is not there.
    """
    try:
        return {target.named.path: (tree / target.named.path).read_bytes() for target in targets}
    except OSError as error:
        raise InputError(str(error.filename), f"cannot be read once it is laid out: {error.strerror}") from error


def check_same(one: Mapping[str, bytes], other: Mapping[str, bytes]) -> None:
    """Refuse to compare two sides whose test files differ by a byte.

    Raises:
        InputError: one does.
    """
    for path, raw in one.items():
        if other[path] != raw:
            raise InputError(path, "not the same on both sides once it is checked out", do="see .gitattributes")


def told(pair: Pair, private: Path) -> RunContext:
    """Return what the runs of a proof are told: the seed and the settings that the parent pins, and nothing else.

    Raises:
        InputError: a file under review of the parent cannot be read.
    """
    from admit.core.context import RunContext

    space, settings = pair.based.space, pair.based.space.settings
    control = control_space(pair.based, private) if space.is_initialised else Workspace(private, settings, False)
    pinned = pinned_instrument(control)
    return RunContext(
        patch_id="proof",
        head=pair.patch.commit,
        base=pair.parent.commit,
        dirty=False,
        run_id=f"proof-{os.urandom(4).hex()}",
        nonce=os.urandom(16).hex(),
        lane=settings.text("run.lane"),
        shard=1,
        shards=1,
        attempt=1,
        property_markers=settings.words("gates.property_markers"),
        property_paths=settings.words("gates.property_paths"),
        lock="match",
        locked=(),
        fixture_manifest=None,
        seed=pinned.seed or 0,
        profile=cast("Mapping[str, Scalar | tuple[str, ...]]", pinned.profile()),
        frozen={},
        register=(),
        launched=True,
    )


def measured(pair: Pair, context: RunContext, laid: Mapping[str, str | None], versions: Mapping[str, str]) -> Measured:
    """Return what a proof was measured with, for its record."""
    from admit import __version__

    digest = {key: _digest(pair, pair.based.space.settings.text(key)) for key in ("lock.manifest", "lock.file")}
    return Measured(
        manifest=digest["lock.manifest"],
        lock=digest["lock.file"],
        seed=context.seed,
        profile=context.profile,
        laid=laid,
        versions={"admit": __version__, **versions},
    )


def _digest(pair: Pair, name: str) -> str | None:
    based = pair.based
    raw = blob(based.top, pair.parent.commit, based.in_top(name)) if based.space.is_initialised else None
    return None if raw is None else "sha256:" + sha256(raw).hexdigest()


def product_of(pair: Pair, paths: Iterable[str]) -> dict[str, bool]:
    """Return for each path whether what stands there is measured, and no part of what measures (contract T3)."""
    rules = rules_of(pair.based)
    return {path: _is_product(path, rules) for path in paths}


def _is_product(path: str, rules: Rules) -> bool:
    from admit.trust.instrument import measure_of

    return measure_of(Change(path, "100644", "100644", "0", "0"), rules) == "product"
