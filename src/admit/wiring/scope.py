"""The question of scope put together: the map, what git says of the patch, and what the base calls inert (S1, S4)."""

from __future__ import annotations

import os
from itertools import takewhile
from typing import TYPE_CHECKING, Final, NamedTuple

from admit.errors import InputError
from admit.repository.hunks import begin_commits, begin_contents, left_at, lines_that_differ
from admit.scope.effects import Diff
from admit.scope.hunks import read_edits
from admit.scope.kinds import kind_of
from admit.scope.mapfile import MapFile, read_map
from admit.scope.reach import NoMap, answers
from admit.scope.splice import new_shape
from admit.settings import FILE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from admit.scope.columns import Columns
    from admit.scope.hunks import Edit
    from admit.scope.map import Shape
    from admit.scope.reach import Answers

MAP: Final = ".admit/scope/map"
"""Where a map lies, from the workspace, if nobody says otherwise; git does not track it."""


class Scoped(NamedTuple):
    """A patch, and what each node of the map reaches of it."""

    diff: Diff
    answers: Answers


def scope_of(start: str, environ: Mapping[str, str], *, base: str | None = None, path: str | None = None) -> Scoped:
    """Return what the nodes reach of the commit that is checked out.

    Args:
        start: a folder of the checkout.
        environ: what CI says of a base.
        base: what the patch is compared with, from where it left it; by default what CI names, else the map's own.
        path: where the map lies.

    Raises:
        InputError: no repository, no such commit, an `admit.toml` of the base that cannot be read.
    """
    here = os.path.realpath(start)
    named = base or _named(environ, here)
    ends = begin_commits(here, "HEAD", *([named] if named else []))  # git is at work while we read
    root = _workspace_root(here)
    place = os.path.join(root, MAP) if path is None else os.path.join(here, path)
    found = read_map(place)
    top, (head, *tips) = ends()
    since = left_at(here, tips[0], head) if tips else found.base if isinstance(found, MapFile) else head
    return _asked(_Ends(here, top, root, since, head), place, found)


class _Ends(NamedTuple):
    """Where somebody asks, the tops of repository and workspace, the two commits of the patch."""

    here: str
    top: str
    root: str
    since: str
    head: str


def _asked(ends: _Ends, place: str, found: MapFile | NoMap) -> Scoped:
    here, since, head = ends.here, ends.since, ends.head
    edits: tuple[Edit, ...] = ()
    if since != head:
        try:
            edits = read_edits(lines_that_differ(here, since, head))
        except InputError:
            if isinstance(found, MapFile) and since != found.base:
                raise
            # the map may be of a commit that was never fetched: then it is of no use, and no error
            found, since = NoMap(f"{place}: of {since[:12]}, a commit that is not here"), head
    config = f"{since}:{_inside(os.path.join(ends.root, FILE), ends.top)}"
    own = _in_commit(place, ends.top, head)
    begun = begin_contents(here, [config, *own, *_sources(edits)])
    columns = found.columns(edit.path for edit in edits) if isinstance(found, MapFile) else found
    held = begun()
    if isinstance(found, MapFile) and (_is_others(place, ends.top) or any(held[name] is not None for name in own)):
        columns = NoMap(f"{place}: git tracks it, so that a patch could bring its own")
    diff = Diff(since, head, edits, _shapes(edits, held, columns), _inert(held[config], config))
    return Scoped(diff, answers(diff, columns))


def _workspace_root(here: str) -> str:
    """Return the nearest folder, from `here` upwards, with an `admit.toml`, else the repository's top."""
    for folder in _upwards(here):
        if os.path.isfile(os.path.join(folder, FILE)) or os.path.exists(os.path.join(folder, ".git")):
            return folder
    return here


def _upwards(path: str) -> Iterator[str]:
    while True:
        yield path
        above = os.path.dirname(path)
        if above == path:
            return
        path = above


def _named(environ: Mapping[str, str], here: str) -> str | None:
    if not {"GITHUB_ACTIONS", "GITLAB_CI"} & environ.keys():
        return None
    from pathlib import Path

    from admit.wiring.base import found_base

    return found_base(environ, Path(here))


# ---------------------------------------------------------------- what git holds


def _inside(path: str, top: str) -> str:
    """Return a path from the repository's top; it begins with `..` where it lies outside."""
    return os.path.relpath(path, top).replace(os.sep, "/")


def _in_commit(place: str, top: str, head: str) -> list[str]:
    """Return the name by which git has a file of the commit, none where it lies outside of the repository."""
    inside = _inside(os.path.realpath(place), top)
    return [] if inside.startswith("../") else [f"{head}:{inside}"]


def _is_others(place: str, top: str) -> bool:
    """Say whether a file lies in another repository inside of this one, whose commits a patch may name."""
    folders = _upwards(os.path.dirname(os.path.realpath(place)))
    inside = takewhile(lambda folder: folder != top, folders) if _in_commit(place, top, "") else ()
    return any(os.path.exists(os.path.join(folder, ".git")) for folder in inside)


def _sources(edits: tuple[Edit, ...]) -> list[str]:
    """Return the blobs to compile: the new side of every Python file that is on both."""
    return [
        edit.new_blob
        for edit in edits
        if edit.old_blob and edit.new_blob and not edit.is_binary and kind_of(edit.path) == "python"
    ]


def _shapes(edits: tuple[Edit, ...], held: Mapping[str, bytes | None], columns: Columns | NoMap) -> dict[str, Shape]:
    """Return the new shapes of files that the map has; of others the question asks nothing."""
    found = {}
    for edit in edits:
        column = None if isinstance(columns, NoMap) else columns.files.get(edit.path)
        source = held.get(edit.new_blob or "")
        if column is not None and source is not None and column.shape.blob == edit.old_blob:
            found[edit.path] = new_shape(column.shape, edit.hunks, source, edit.new_blob or "")
    return found


def _inert(raw: bytes | None, where: str) -> tuple[str, ...]:
    """Return the path patterns that the base calls inert; without `admit.toml` there are none."""
    if raw is None or b"scope" not in raw:  # the rest of it is none of the question's business
        return ()
    from admit.settings import read_settings

    return read_settings(raw, where).words("scope.inert")
