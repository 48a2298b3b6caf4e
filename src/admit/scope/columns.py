"""The map by file: who reaches what, as a question wants it and as it lies on disk (contract S1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from admit.scope.kinds import test_stem

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from admit.scope.map import ScopeMap, Shape, Tracer

OUTSIDE: Final = -1
"""The number, among those of nodes, of what runs while no node does."""

ANY: Final = "*"
"""Among the stems of shared test files: any of them may be."""


class Column(NamedTuple):
    """One Python file: its shape, and by the number of a node a bit for each line that ran."""

    shape: Shape
    hits: Mapping[int, int]


class Columns(NamedTuple):
    """A map by file; nodes go by their place in the order of their ids, and `OUTSIDE`.

    `blind` are those in which tracing was not alive, `spawned` says what of one could not be followed. `is_owned` says
    that every node has a file of its own. `shared` are the module names of test files that another file imports.
    `files` has all Python files, or those that somebody asked for; so have `own` the nodes of each test file, `opened`
    and `listed` those that opened a file or listed a folder.
    """

    base: str
    tracer: Tracer
    python: str
    complete: bool
    nodes: tuple[str, ...]
    blind: frozenset[int]
    spawned: Mapping[int, str]
    is_owned: bool
    shared: frozenset[str]
    files: Mapping[str, Column]
    own: Mapping[str, frozenset[int]]
    opened: Mapping[str, frozenset[int]]
    listed: Mapping[str, frozenset[int]]


def columns_of(scope_map: ScopeMap) -> Columns:
    """Return a map by file."""
    nodes = tuple(sorted(scope_map.nodes))
    reaches = [(OUTSIDE, scope_map.outside), *((number, scope_map.nodes[node]) for number, node in enumerate(nodes))]
    paths = sorted(scope_map.files)
    hits: list[dict[int, int]] = [{} for _ in paths]
    for number, reach in reaches:
        for file, bits in reach.lines.items():
            if bits:
                hits[file][number] = bits
    return Columns(
        scope_map.base,
        scope_map.tracer,
        scope_map.python,
        scope_map.complete,
        nodes,
        frozenset(number for number, reach in reaches if not reach.alive),
        {number: reach.spawned for number, reach in reaches if reach.spawned},
        all(one.file for one in scope_map.nodes.values()),
        shared_stems(scope_map.files),
        {path: Column(scope_map.files[path], hits[file]) for file, path in enumerate(paths)},
        _turned((reach.file, number) for number, reach in reaches if number != OUTSIDE and reach.file),
        _turned((path, number) for number, reach in reaches for path in reach.opened),
        _turned((path, number) for number, reach in reaches for path in reach.listed),
    )


def _turned(pairs: Iterable[tuple[str, int]]) -> dict[str, frozenset[int]]:
    held: dict[str, set[int]] = {}
    for path, number in pairs:
        held.setdefault(path, set()).add(number)
    return {path: frozenset(held[path]) for path in sorted(held)}


def shared_stems(files: Mapping[str, Shape]) -> frozenset[str]:
    """Return the module names of test files that another file imports, as far as their sources say; `*` for any.

    What a product file imports by a computed name is taken for no test file; what a test file does may be one.
    """
    found: set[str] = set()
    for path, shape in files.items():
        is_test = bool(test_stem(path)) or path.rpartition("/")[2] == "conftest.py" or "tests" in path.split("/")
        for word in shape.imports:
            if (is_test or shape.unreadable) if word == ANY else test_stem(f"{word}.py"):
                found.add(word)
    return frozenset(found)


def rows_of(columns: Columns) -> ScopeMap:
    """Return a map node by node; `columns` have to have all of its files."""
    from admit.scope.map import NodeReach, ScopeMap

    numbers = (OUTSIDE, *range(len(columns.nodes)))
    lines: dict[int, dict[int, int]] = {number: {} for number in numbers}
    opened: dict[int, set[str]] = {number: set() for number in numbers}
    listed: dict[int, set[str]] = {number: set() for number in numbers}
    for file, path in enumerate(sorted(columns.files)):
        for number, bits in columns.files[path].hits.items():
            lines[number][file] = bits
    for held, rows in ((columns.opened, opened), (columns.listed, listed)):
        for path, reached in held.items():
            for number in reached:
                rows[number].add(path)
    places = {number: path for path, reached in columns.own.items() for number in reached}
    reaches = {
        number: NodeReach(
            number not in columns.blind,
            columns.spawned.get(number, ""),
            lines[number],
            frozenset(opened[number]),
            frozenset(listed[number]),
            places.get(number, ""),
        )
        for number in numbers
    }
    return ScopeMap(
        columns.base,
        columns.tracer,
        columns.python,
        {path: columns.files[path].shape for path in sorted(columns.files)},
        {node: reaches[number] for number, node in enumerate(columns.nodes)},
        reaches[OUTSIDE],
        columns.complete,
    )
