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
from hashlib import sha256
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from admit.errors import LedgerError
from admit.scope.columns import OUTSIDE, Column, Columns, columns_of
from admit.scope.map import TRACERS, Function, Shape
from admit.scope.reach import NoMap

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from admit.scope.map import ScopeMap

FORMAT: Final = b"admit.scope/1\n"
MOST_BYTES: Final = 1_000_000_000
"""A larger file, or a larger block once it is unpacked, is not read."""

_LENGTH: Final = 8
_DIGEST: Final = 32
_BROKEN: Final = (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError, OverflowError)
"""What reading raises where a block is not as it was written, once its digest fits: somebody else made it."""


# ---------------------------------------------------------------- writing


def map_bytes(scope_map: ScopeMap) -> bytes:
    """Return a map as it lies on disk."""
    columns = columns_of(scope_map)
    blocks: list[bytes] = []
    at = 0

    def place(tree: object) -> list[int]:
        nonlocal at
        raw = _packed(tree)
        blocks.append(raw)
        at += len(raw)
        return [at - len(raw), len(raw)]

    header = {
        "base": columns.base,
        "tracer": columns.tracer,
        "python": columns.python,
        "complete": columns.complete,
        "count": len(columns.nodes),
        "shared": sorted(columns.shared),
        "files": {path: place(_column_tree(column)) for path, column in columns.files.items()},
        "nodes": place(
            {
                "ids": columns.nodes,
                "blind": sorted(columns.blind),
                "spawned": sorted(columns.spawned.items()),
                "own": _listed(columns.own),
            }
        ),
        "paths": place({"opened": _listed(columns.opened), "listed": _listed(columns.listed)}),
    }
    head = _packed(header)
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


def _packed(tree: object) -> bytes:
    return zlib.compress(json.dumps(tree, separators=(",", ":"), sort_keys=True).encode("ascii"), 6)


def _listed(held: Mapping[str, Iterable[int]]) -> dict[str, list[int]]:
    return {path: sorted(numbers) for path, numbers in held.items()}


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
        "hits": sorted([numbers, f"{bits:x}"] for bits, numbers in alike.items()),
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

    @property
    def paths(self) -> frozenset[str]:
        """Every Python file that the map has."""
        return frozenset(self.header["files"])

    def columns(self, paths: Iterable[str] | None = None) -> Columns | NoMap:
        """Return the map with those of some files that it has, or with all of its files."""
        try:
            return self._columns(self.header["files"] if paths is None else paths)
        except (*_BROKEN, zlib.error) as error:
            return NoMap(f"a block is not as admit writes it ({type(error).__name__})")

    def _columns(self, paths: Iterable[str]) -> Columns:
        header, count = self.header, int(self.header["count"])
        nodes, held = self._block(header["nodes"]), self._block(header["paths"])
        ids = tuple(map(_text, nodes["ids"]))
        if len(ids) != count or any(one >= other for one, other in pairwise(ids)):
            raise ValueError("ids")
        files = {path: _column(self._block(header["files"][path]), count) for path in paths if path in header["files"]}
        return Columns(
            _text(header["base"]),
            TRACERS[TRACERS.index(header["tracer"])],
            _text(header["python"]),
            _flag(header["complete"]),
            ids,
            _numbers(nodes["blind"], count),
            {number: _text(what) for number, what in nodes["spawned"] if _numbers([number], count)},
            {path: _numbers(held, count) for path, held in nodes["own"].items()},
            frozenset(map(_text, header["shared"])),
            files,
            {path: _numbers(numbers, count) for path, numbers in held["opened"].items()},
            {path: _numbers(numbers, count) for path, numbers in held["listed"].items()},
        )

    def _block(self, place: Any) -> Any:
        first, length = place
        if not 0 <= first <= first + length <= len(self.body):
            raise ValueError("place")
        return _unpacked(self.body[first : first + length])


def read_map(path: Path) -> MapFile | NoMap:
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
        header = _unpacked(view[start:ends])
        found = MapFile(header, view[ends:-_DIGEST])
        _checked(header)
    except (*_BROKEN, zlib.error) as error:
        return NoMap(f"its header is not as admit writes it ({type(error).__name__})")
    return found


def _checked(header: Mapping[str, Any]) -> None:
    if not re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", _text(header["base"])):
        raise ValueError("base")
    if not isinstance(header["files"], dict) or header["count"] != int(header["count"]):
        raise ValueError("header")


def _unpacked(raw: memoryview) -> Any:
    unpacking = zlib.decompressobj()
    text = unpacking.decompress(raw, MOST_BYTES)
    if not unpacking.eof or unpacking.unused_data:
        raise ValueError("block")
    return json.loads(text)


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


def _numbers(values: Any, count: int) -> frozenset[int]:
    """Return numbers of nodes."""
    found = frozenset(values)
    if found and not (set(map(type, found)) == {int} and min(found) >= OUTSIDE and max(found) < count):
        raise ValueError("numbers")
    return found
