"""The map of what each node reaches, recorded on one commit: its values, and how they are combined (contract S1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias, get_args

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

Tracer: TypeAlias = Literal["monitoring", "coverage"]
"""What saw the lines: `sys.monitoring` (Python 3.12 and newer), or coverage.py's C tracer."""

TRACERS: Final[tuple[Tracer, ...]] = get_args(Tracer)


class Function(NamedTuple):
    """One function of a file: where its definition and its body stand, lines counted from 1, both ends included.

    The definition starts with the first decorator. The body starts after the docstring, which is part of the
    definition: what reads `__doc__` runs no line. A function whose body starts on the line of its signature does not
    stand here: all of it counts as import-time.

    `name` is the qualified name, with `#2` after the second one of that name in its file. `kind` says what the
    compiler makes of the function as a whole (a generator or not, which names are its own, see `shape.py`): where that
    changes, every line of it does. `is_cached` says that a decorator keeps what it returned, so that later callers run
    no line of it.
    """

    name: str
    first: int
    last: int
    body_first: int
    body_last: int
    kind: str
    is_cached: bool = False


class Shape(NamedTuple):
    """What of one Python file runs when: from its source alone, which is compiled and never run.

    `blob` is git's id of the content. `functions` stand in the order of their first lines, outer before inner.
    `executable` has a bit for each line inside a body that has bytecode. `marks` has a word a line (see `shape.py`);
    whatever is in no body runs when the file is imported. `imports` are the parts of the names that it imports.
    `unreadable` says why there is no shape: the file does not compile, and nothing is known of its lines.
    """

    blob: str
    functions: tuple[Function, ...] = ()
    executable: int = 0
    marks: tuple[str, ...] = ()
    imports: frozenset[str] = frozenset()
    unreadable: str = ""


class NodeReach(NamedTuple):
    """What one node reached while it ran, the wider fixtures that it uses included.

    `alive` needs evidence: the tracer's own sentinel was seen at the node's end. `spawned` says what the tracer could
    not follow (a process, a thread that outlived the node, native code), empty where there was nothing.
    `lines` has, by the file's number (`numbers`), a bit for each line that ran; lines outside of bodies do no harm.
    `opened` are the paths inside the repository, from its top, that were opened for reading, also in vain; a source
    that is only imported does not count. `listed` are the folders that were listed, the top being the empty text; what
    pytest itself lists to collect does not count. `file` is the path of the node's own file from the top.
    """

    alive: bool
    spawned: str
    lines: Mapping[int, int]
    opened: frozenset[str]
    listed: frozenset[str]
    file: str = ""


class ScopeMap(NamedTuple):
    """What every node of a commit reaches.

    `base` is the full commit id, `python` the version that ran it (`3.13.0`). `files` has a shape for every Python file
    of the commit, imported or not; a file's number is its place in the order of paths. `outside` is what ran while no
    node did: imports at collection, the start of the session, and bodies that ran under the import of a module even
    when a node caused it. What it reached is in scope of every node. `complete` says that the run ended by itself.
    """

    base: str
    tracer: Tracer
    python: str
    files: Mapping[str, Shape]
    nodes: Mapping[str, NodeReach]
    outside: NodeReach
    complete: bool


NOTHING: Final = NodeReach(True, "", {}, frozenset(), frozenset())
"""What a node reaches that ran, under a live tracer, no line of the repository: the neutral element of `plus`."""


def numbers(paths: Iterable[str]) -> dict[str, int]:
    """Return the number of each file of a map: its place in the order of paths."""
    return {path: number for number, path in enumerate(sorted(paths))}


def plus(one: NodeReach, other: NodeReach) -> NodeReach:
    """Return what both reached together, alive only where both were: a node and its fixture, or two runs of a node.

    It is associative and idempotent, and commutative but for `file` and the words of `spawned`, which are the first's.
    """
    lines = dict(one.lines)
    for number, bits in other.lines.items():
        lines[number] = lines.get(number, 0) | bits
    return NodeReach(
        one.alive and other.alive,
        one.spawned or other.spawned,
        lines,
        one.opened | other.opened,
        one.listed | other.listed,
        one.file or other.file,
    )


def bits_of(lines: Iterable[int]) -> int:
    """Return the set of line numbers as an integer with a bit a line."""
    bits = 0
    for line in lines:
        bits |= 1 << line
    return bits


def span(first: int, last: int) -> int:
    """Return the set of the lines from `first` to `last`, both included; empty where they stand the other way round."""
    return ((1 << (last - first + 1)) - 1) << first if last >= first else 0


def lines_of(bits: int) -> Iterator[int]:
    """Yield the line numbers of a set in order."""
    while bits:
        low = bits & -bits
        yield low.bit_length() - 1
        bits ^= low
