"""The map on disk: one file of blocks, of which a question reads those of the files that change (boundary: files).

`admit.scope/1`, a line end, eight bytes that tell the header's length, the header, the blocks, and the SHA-256 of all
that. Header and blocks are JSON, packed by zlib. A file that is torn, edited, of another format or of anything else is
no map, with the reason; it never takes a node out of scope. The same content gives the same bytes.
"""

from __future__ import annotations

import json
import os
import re
import zlib
from bisect import bisect_left
from hashlib import sha256
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from admit.errors import LedgerError
from admit.scope.columns import OUTSIDE, Column, Columns, columns_of
from admit.scope.kinds import folders_of
from admit.scope.map import TRACERS, Function, Shape
from admit.scope.reach import NoMap

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from admit.scope.map import ScopeMap

FORMAT: Final = b"admit.scope/1\n"
MOST_BYTES: Final = 1_000_000_000
"""A larger file, or a larger block once it is unpacked, is not read."""

_END: Final = "\0"
"""What ends one path or id in a list of them; none of them holds it."""

_LENGTH: Final = 8
_DIGEST: Final = 32
_BROKEN: Final = (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError, OverflowError)
"""What reading raises where a block is not as it was written, once its digest fits: somebody else made it."""


# ---------------------------------------------------------------- writing


def map_bytes(scope_map: ScopeMap) -> bytes:
    """Return a map as it lies on disk."""
    # no id or path has a null byte: what is left out is in scope
    columns = columns_of(_without_nulls(scope_map))
    blocks: list[bytes] = []

    def add(tree: object) -> int:
        blocks.append(_packed(tree if isinstance(tree, bytes) else _json(tree)))
        return len(blocks[-1])

    header = {
        "base": columns.base,
        "tracer": columns.tracer,
        "python": columns.python,
        "complete": columns.complete,
        "is_owned": columns.is_owned,
        "shared": sorted(columns.shared),
        "files": [add(_column_tree(column)) for column in columns.files.values()],
        "paths": add(_joined(columns.files)),
        "ids": add(_joined(columns.nodes)),
        "nodes": add(
            {
                "blind": _runs(columns.blind),
                "spawned": sorted(columns.spawned.items()),
                "own": _turned(columns.own),
                "opened": _turned(columns.opened),
                "listed": _turned(columns.listed),
            }
        ),
    }
    head = _packed(_json(header))
    whole = b"".join((FORMAT, len(head).to_bytes(_LENGTH, "big"), head, *blocks))
    return whole + sha256(whole).digest()


def write_map(path: Path, scope_map: ScopeMap) -> None:
    """Write a map at once, or not at all; its folder is made.

    Raises:
        LedgerError: it could not be written.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(map_bytes(scope_map))
        os.replace(temporary, path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise LedgerError(
            str(path), f"cannot be written: {error.strerror}", do="the map that was there stands"
        ) from error


def _packed(raw: bytes) -> bytes:
    return zlib.compress(raw, 6)


def _json(tree: object) -> bytes:
    return json.dumps(tree, separators=(",", ":"), sort_keys=True).encode("ascii")


def _joined(texts: Iterable[str]) -> bytes:
    return _END.join(texts).encode("utf-8", "surrogatepass")


def _without_nulls(scope_map: ScopeMap) -> ScopeMap:
    nodes = {node: one for node, one in scope_map.nodes.items() if node and _END not in node}
    return scope_map._replace(nodes=nodes)


def _turned(held: Mapping[str, Iterable[int]]) -> dict[str, list[int]]:
    return {path: _runs(numbers) for path, numbers in held.items()}


def _runs(numbers: Iterable[int]) -> list[int]:
    """Return numbers as the first and the count of each run of them, one after the other."""
    made: list[int] = []
    for number in sorted(numbers):
        if made and number == made[-2] + made[-1]:
            made[-1] += 1
        else:
            made += [number, 1]
    return made


def _column_tree(column: Column) -> dict[str, Any]:
    """Return a file's block; nodes that ran the same lines stand together."""
    shape = column.shape
    alike: dict[int, list[int]] = {}
    for number in sorted(column.hits):
        alike.setdefault(column.hits[number], []).append(number)
    words = sorted(set(shape.marks))
    at = {word: number for number, word in enumerate(words)}
    return {
        "blob": shape.blob,
        "functions": shape.functions,
        "executable": f"{shape.executable:x}",
        "words": words,
        "marks": [at[mark] for mark in shape.marks],
        "imports": sorted(shape.imports),
        "unreadable": shape.unreadable,
        "hits": sorted([_runs(numbers), f"{bits:x}"] for bits, numbers in alike.items()),
    }


# ---------------------------------------------------------------- reading


class MapFile(NamedTuple):
    """A map that was read and whose digest fits; its blocks are unpacked when they are asked for."""

    header: Mapping[str, Any]
    body: memoryview

    @property
    def base(self) -> str:
        """The commit that the map was recorded on."""
        return str(self.header["base"])

    def columns(self, paths: Iterable[str] | None = None) -> Columns | NoMap:
        """Return the map with what it has of some files and of the folders that they are in, or with all of it."""
        try:
            return self._columns(None if paths is None else list(paths))
        except (*_BROKEN, zlib.error) as error:
            return NoMap(f"a block is not as admit writes it ({type(error).__name__})")

    def _columns(self, wanted: list[str] | None) -> Columns:
        header, files = self.header, self.header["files"]
        lengths = (*files, header["paths"], header["ids"], header["nodes"])
        ends = [0, *accumulate(lengths)]
        if min(lengths) < 0 or ends[-1] != len(self.body):
            raise ValueError("lengths")
        *starts, at_paths, at_ids, at_nodes, _ = ends
        paths, ids = _texts(self._block(at_paths, at_ids)), _texts(self._block(at_ids, at_nodes))
        nodes = json.loads(self._block(at_nodes, ends[-1]))
        if len(paths) != len(files) or any(list(texts) != sorted(texts) for texts in (paths, ids)):
            raise ValueError("ids")
        columns = {}
        for path in paths if wanted is None else wanted:
            number = bisect_left(paths, path)
            if number < len(paths) and paths[number] == path:
                columns[path] = _column(
                    json.loads(self._block(starts[number], starts[number] + files[number])), len(ids)
                )
        return Columns(
            _text(header["base"]),
            TRACERS[TRACERS.index(header["tracer"])],
            _text(header["python"]),
            _flag(header["complete"]),
            ids,
            _numbers(nodes["blind"], len(ids)),
            {number: _text(what) for number, what in nodes["spawned"] if _numbers([number, 1], len(ids))},
            _flag(header["is_owned"]),
            frozenset(map(_text, header["shared"])),
            columns,
            _some(nodes["own"], wanted, len(ids)),
            _some(nodes["opened"], wanted, len(ids)),
            _some(nodes["listed"], None if wanted is None else _folders(wanted), len(ids)),
        )

    def _block(self, first: int, end: int) -> bytes:
        return _unpacked(self.body[first:end])


def _folders(paths: Iterable[str]) -> set[str]:
    return {folder for path in paths for folder in folders_of(path)}


def _some(tree: Mapping[str, Any], wanted: Iterable[str] | None, count: int) -> dict[str, frozenset[int]]:
    paths = tree if wanted is None else [path for path in wanted if path in tree]
    return {path: _numbers(tree[path], count) for path in paths}


def read_map(path: Path | str) -> MapFile | NoMap:
    """Return the map that lies at a path, or why there is none."""
    try:
        if os.path.islink(path) or not os.path.isfile(path):
            return NoMap(f"{path}: {'no file of its own' if os.path.lexists(path) else 'no such file'}")
        if os.path.getsize(path) > MOST_BYTES:
            return NoMap(f"{path}: larger than {MOST_BYTES} bytes")
        with open(path, "rb") as file:
            raw = file.read()
    except OSError as error:
        return NoMap(f"{path}: cannot be read: {error.strerror}")
    found = map_in(raw)
    return found if isinstance(found, MapFile) else NoMap(f"{path}: {found.why}")


def map_in(raw: bytes) -> MapFile | NoMap:
    """Return the map that bytes are, or why they are none."""
    view, start = memoryview(raw), len(FORMAT) + _LENGTH
    if raw[: len(FORMAT)] != FORMAT:
        name = raw[:40].partition(b"\n")[0]
        other = name.decode("ascii", "replace") if name.startswith(b"admit.scope/") else "something else"
        return NoMap(f"not a map of format admit.scope/1, but {other}")
    if len(raw) < start + _DIGEST or sha256(view[:-_DIGEST]).digest() != raw[-_DIGEST:]:
        return NoMap("torn or edited: its digest does not fit")
    ends = start + int.from_bytes(raw[len(FORMAT) : start], "big")
    try:
        header = json.loads(_unpacked(view[start:ends]))
        found = MapFile(header, view[ends:-_DIGEST])
        _checked(header)
    except (*_BROKEN, zlib.error) as error:
        return NoMap(f"its header is not as admit writes it ({type(error).__name__})")
    return found


def _checked(header: Mapping[str, Any]) -> None:
    if not re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", _text(header["base"])):
        raise ValueError("base")


def _unpacked(raw: memoryview) -> bytes:
    unpacking = zlib.decompressobj()
    made = unpacking.decompress(raw, MOST_BYTES)
    if not unpacking.eof or unpacking.unused_data:
        raise ValueError("block")
    return made


def _column(tree: Mapping[str, Any], count: int) -> Column:
    words = tuple(map(_text, tree["words"]))
    get: Callable[[int], str] = words.__getitem__
    shape = Shape(
        _text(tree["blob"]),
        tuple(Function(*one) for one in tree["functions"]),
        int(tree["executable"], 16),
        tuple(map(get, tree["marks"])),
        frozenset(map(_text, tree["imports"])),
        _text(tree["unreadable"]),
    )
    hits: dict[int, int] = {}
    for numbers, bits in tree["hits"]:
        hits.update(dict.fromkeys(_numbers(numbers, count), int(bits, 16)))
    return Column(shape, hits)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("text")
    return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError("flag")
    return value


def _texts(raw: bytes) -> tuple[str, ...]:
    return tuple(raw.decode("utf-8", "surrogatepass").split(_END)) if raw else ()


def _numbers(runs: Any, count: int) -> frozenset[int]:
    """Return the numbers of nodes that runs stand for."""
    found: set[int] = set()
    for first, many in zip(runs[::2], runs[1::2], strict=True):
        if not (type(first) is type(many) is int and first >= OUTSIDE and many > 0 and first + many <= count):
            raise ValueError("numbers")
        found.update(range(first, first + many))
    return frozenset(found)
