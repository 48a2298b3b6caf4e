"""Recording a map of scope: what the commit holds, what an older map still knows, what the run left (contract S1)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from admit.errors import InputError
from admit.repository import edited, look
from admit.repository.hunks import contents, lines_that_differ
from admit.repository.process import ask, bytes_of, demand, text_of
from admit.scope.carry import carried
from admit.scope.columns import rows_of
from admit.scope.effects import Diff
from admit.scope.hunks import read_edits
from admit.scope.map import NodeReach, ScopeMap, numbers, plus
from admit.scope.mapfile import MapFile, read_map
from admit.scope.reach import NoMap
from admit.scope.shape import shape_of
from admit.scope.told import Told
from admit.scope.traced import joined
from admit.scope.traces import PART
from admit.wiring.scope import MAP
from admit.wiring.space import Workspace, workspace

if TYPE_CHECKING:
    from collections.abc import Mapping

    from admit.scope.carry import Carried
    from admit.scope.map import Shape
    from admit.scope.traced import Traced

_REGULAR = frozenset({"100644", "100755"})
_AS_NAMED = {"GIT_LITERAL_PATHSPECS": "0"}


class Recording(NamedTuple):
    """A map that is about to be recorded.

    `top` is the repository's top, `head` the commit, `place` where the map goes. `files` has the shape of every Python
    file of the commit. `kept` is what an older map still knows, None where all nodes have to run; `why` says in words
    why. `is_done` says that the older map is of this commit already.
    """

    space: Workspace
    top: Path
    head: str
    place: Path
    files: Mapping[str, Shape]
    kept: Carried | None
    why: str
    is_done: bool

    def told(self, out: Path) -> Told:
        """Return what the run is told."""
        without = () if self.kept is None else tuple(sorted(self.kept.nodes))
        return Told(str(self.top), str(out), tuple(self.files), without=without)


def recording_of(start: Path, *, path: Path | None = None, is_full: bool = False) -> Recording:
    """Return what there is to record on the commit that is checked out.

    Args:
        start: a folder of the checkout.
        path: where the map goes.
        is_full: whether an older map is left alone.

    Raises:
        InputError: no commit, or files that differ from it; a place that git tracks; an `admit.toml` that cannot be
            read.
    """
    space = workspace(start)
    checkout = look(space.root)
    if checkout.head is None:
        raise InputError(str(space.root), "no commit to record a map of", do="commit first")
    if checkout.dirty:
        named = ", ".join(checkout.dirty[:3]) + (f" and {len(checkout.dirty) - 3} more" if checkout.dirty[3:] else "")
        raise InputError(named, "not as the commit has it, and a map is of a commit", do="commit, ignore or remove it")
    top = Path(text_of(demand(space.root, "rev-parse", "--show-toplevel")).removesuffix("\n"))
    place = (space.root / MAP if path is None else start.resolve() / path).absolute()
    _check_place(place, top)
    old = NoMap("a full map was asked for") if is_full else read_map(place)
    blobs = _python_files(top, checkout.head)
    shapes = _shapes(top, blobs, old)
    kept, why = _kept(old, top, checkout.head, shapes)
    is_done = isinstance(old, MapFile) and old.base == checkout.head and kept is not None and not kept.again
    return Recording(space, top, checkout.head, place, shapes, kept, why, is_done)


def _check_place(place: Path, top: Path) -> None:
    """Refuse a place in which a commit could bring a map along, or from which git would commit this one."""
    real = place.resolve()
    if not real.is_relative_to(top):
        return
    name = real.relative_to(top).as_posix()
    if demand(top, "ls-files", "-z", "--", name):
        raise InputError(str(place), "git tracks it", do="take it out of the repository, or name another place")
    # this one of git's words takes names as they are, and fails where it is told to
    if not ask(top, "check-ignore", "-z", "--stdin", stdin=bytes_of(name) + b"\0", variables=_AS_NAMED).out:
        raise InputError(
            str(place), "git does not ignore it", do=f"add {name} to .gitignore, or name a place elsewhere"
        )


def _python_files(top: Path, head: str) -> dict[str, str]:
    """Return the blob of each Python file of a commit, in the order of paths; links and submodules are none."""
    found = {}
    for entry in demand(top, "ls-tree", "-r", "-z", "--full-tree", head).split(b"\0"):
        words, _, name = entry.partition(b"\t")
        path = text_of(name)
        if words[:6].decode("ascii") in _REGULAR and path.endswith((".py", ".pyw")):
            found[path] = words.split(b" ")[2].decode("ascii")
    return dict(sorted(found.items()))


def _shapes(top: Path, blobs: Mapping[str, str], old: MapFile | NoMap) -> dict[str, Shape]:
    """Return the shape of each file, from the older map where the file is the same."""
    columns = old.columns() if isinstance(old, MapFile) else old
    known = {} if isinstance(columns, NoMap) else {path: column.shape for path, column in columns.files.items()}
    held = contents(top, [blob for path, blob in blobs.items() if path not in known or known[path].blob != blob])
    return {path: shape_of(held[blob] or b"", blob) if blob in held else known[path] for path, blob in blobs.items()}


def _kept(old: MapFile | NoMap, top: Path, head: str, shapes: Mapping[str, Shape]) -> tuple[Carried | None, str]:
    """Return what an older map still knows at a commit, or nothing and why."""
    columns = old.columns() if isinstance(old, MapFile) else old
    if isinstance(columns, NoMap):
        return None, columns.why
    if not columns.complete:
        return None, "the older map is not complete"
    if ask(top, "cat-file", "-e", f"{columns.base}^{{commit}}").exit_code != 0:
        return None, f"the older map is of {columns.base[:12]}, a commit that is not here"
    edits = read_edits(lines_that_differ(top, columns.base, head)) if columns.base != head else ()
    changed = {edit.path: shapes[edit.path] for edit in edits if edit.path in shapes and edit.old_blob}
    kept = carried(rows_of(columns), Diff(columns.base, head, edits, changed), shapes)
    return kept, f"the map of {columns.base[:12]} still knows {len(kept.nodes)} tests"


class Recorded(NamedTuple):
    """A map that was recorded, how many of its nodes ran, why some were not traced, and what else went wrong."""

    map: ScopeMap
    ran: int
    why: Mapping[str, str]
    problems: tuple[str, ...]


def recorded(recording: Recording, out: Path) -> Recorded:
    """Return the map that a run's parts make, with what an older map still knows.

    Args:
        recording: what was to be recorded.
        out: the folder with the parts.

    Raises:
        InputError: the run left nothing, did not end by itself, ran on other files, or imported other files.
    """
    known = numbers(recording.files)
    traced = joined(((path.name, path.read_bytes()) for path in sorted(out.glob(f"{PART}*.jsonl"))), known)
    _check(traced, recording)
    assert traced.tracer is not None
    nodes: dict[str, NodeReach] = dict(traced.nodes)
    outside = traced.outside
    if recording.kept is not None:
        nodes |= {node: recording.kept.nodes[node] for node in traced.left_out}
        outside = plus(outside, recording.kept.outside)
    made = ScopeMap(recording.head, traced.tracer, traced.python, recording.files, nodes, outside, traced.complete)
    return Recorded(made, len(traced.nodes), traced.why, traced.problems)


def _check(traced: Traced, recording: Recording) -> None:
    do = "see what it prints"
    if traced.tracer is None:
        do = "does it run pytest, with admit installed beside it?"
        raise InputError("the test command", "left no trace", do=do)
    if not traced.complete:
        found = "; ".join(("its tests did not run to their end", *traced.problems))
        raise InputError("the test command", found, do=f"{do}; an older map stands as it was")
    if traced.strangers:
        found = f"imported from somewhere else than the checkout: {', '.join(traced.strangers)}"
        raise InputError("the test command", found, do="install the checkout in editable form, so that its files run")
    if changed := edited(recording.top):
        raise InputError(changed[0], "changed while the tests ran", do="commit, or let no test write to it")
