"""The map on disk: the same content gives the same bytes, and what is not whole is no map (contract S1, S2)."""

from __future__ import annotations

import json
import os
import stat
import zlib
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.errors import LedgerError
from admit.scope.columns import Columns, columns_of, rows_of
from admit.scope.kinds import folders_of
from admit.scope.map import NodeReach, ScopeMap, Shape, bits_of
from admit.scope.mapfile import FORMAT, MapFile, map_bytes, map_in, read_map, write_map
from admit.scope.reach import NoMap
from admit.scope.shape import shape_of

SOURCE = b"import b\n@cache\ndef f(x):\n    a = 1\n    return a\n"
PATHS = st.text(st.characters(exclude_characters="\0"), min_size=1, max_size=8)
LINES = st.frozensets(st.integers(1, 300), min_size=1).map(bits_of)
SHAPES = st.sampled_from(
    [shape_of(SOURCE, "b" * 40), Shape("c" * 40, unreadable="it does not compile"), shape_of(b"", "d")]
)


def reaches(files: int) -> st.SearchStrategy[NodeReach]:
    lines = st.dictionaries(st.integers(0, files - 1), LINES) if files else st.just({})
    texts = st.frozensets(PATHS, max_size=3)
    return st.builds(
        NodeReach, st.booleans(), st.text(max_size=5), lines, texts, texts, st.sampled_from(["", "t.py", "u.py"])
    )


@st.composite
def maps(draw: Any) -> ScopeMap:
    files = draw(st.dictionaries(PATHS, SHAPES, max_size=4))
    nodes = draw(st.dictionaries(PATHS, reaches(len(files)), max_size=5))
    outside = draw(reaches(len(files)))._replace(file="")
    tracer = draw(st.sampled_from(["monitoring", "coverage"]))
    return ScopeMap("e" * 40, tracer, "3.13.0", files, nodes, outside, draw(st.booleans()))


def held(raw: bytes) -> MapFile:
    found = map_in(raw)
    assert isinstance(found, MapFile), found
    return found


def columns_in(raw: bytes, paths: list[str] | None = None) -> Columns:
    found = held(raw).columns(paths)
    assert isinstance(found, Columns), found
    return found


SAMPLE = ScopeMap(
    "e" * 40,
    "monitoring",
    "3.13.0",
    {"a.py": shape_of(SOURCE, "b" * 40), "b.py": shape_of(b"x = 1\n", "c" * 40)},
    {
        "t.py::a": NodeReach(True, "", {0: 48}, frozenset({"d.json"}), frozenset({""}), "t.py"),
        "t.py::b": NodeReach(False, "os.fork", {0: 48, 1: 2}, frozenset(), frozenset({"d"}), "t.py"),
    },
    NodeReach(True, "", {0: 2, 1: 2}, frozenset(), frozenset()),
    True,
)


@given(maps())
def test_a_map_comes_back_as_it_was_written(scope_map: ScopeMap) -> None:
    assert rows_of(columns_in(map_bytes(scope_map))) == scope_map


def test_a_node_whose_id_cannot_be_written_is_left_out_and_so_in_scope() -> None:
    scope_map = SAMPLE._replace(nodes={**SAMPLE.nodes, "t.py::\0": SAMPLE.outside, "": SAMPLE.outside})
    assert rows_of(columns_in(map_bytes(scope_map))) == SAMPLE


@given(maps())
def test_the_same_content_gives_the_same_bytes(scope_map: ScopeMap) -> None:
    turned = scope_map._replace(
        files=dict(reversed(scope_map.files.items())),
        nodes={
            node: one._replace(lines=dict(reversed(one.lines.items())))
            for node, one in reversed(scope_map.nodes.items())
        },
    )
    assert map_bytes(turned) == map_bytes(scope_map)


@given(maps(), st.data())
def test_a_part_of_a_map_is_the_whole_but_for_the_other_files(scope_map: ScopeMap, data: st.DataObject) -> None:
    wanted = data.draw(st.lists(st.sampled_from([*scope_map.files, "not there"])))
    whole, part = columns_of(scope_map), columns_in(map_bytes(scope_map), wanted)
    folders = {folder for path in wanted for folder in folders_of(path)}
    assert part == whole._replace(
        files={path: one for path, one in whole.files.items() if path in wanted},
        own={path: one for path, one in whole.own.items() if path in wanted},
        opened={path: one for path, one in whole.opened.items() if path in wanted},
        listed={path: one for path, one in whole.listed.items() if path in folders},
    )


def test_a_map_that_is_torn_or_edited_at_any_byte_is_no_map() -> None:
    raw = map_bytes(SAMPLE)
    for at in range(len(raw)):
        assert isinstance(map_in(raw[:at]), NoMap), at
        for bit in (1, 128):
            edited = bytearray(raw)
            edited[at] ^= bit
            assert isinstance(map_in(bytes(edited)), NoMap), at
    for added in (raw + b"\0", b"\0" + raw, raw + raw):
        assert isinstance(map_in(added), NoMap)


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        pytest.param(b"", "something else", id="empty"),
        pytest.param(b"SQLite format 3\0", "something else", id="another program's"),
        pytest.param(map_bytes(SAMPLE).replace(b"scope/1", b"scope/2", 1), "but admit.scope/2", id="another version"),
        pytest.param(FORMAT, "torn or edited", id="its first line alone"),
        pytest.param(map_bytes(SAMPLE)[:-1], "torn or edited", id="a byte too few"),
    ],
)
def test_what_is_no_map_says_what_it_is(raw: bytes, why: str) -> None:
    found = map_in(raw)
    assert isinstance(found, NoMap)
    assert why in found.why


def forged(**changes: Any) -> bytes:
    """Return a file whose digest fits and whose header says something that admit does not write."""
    raw = map_bytes(SAMPLE)
    start = len(FORMAT) + 8
    ends = start + int.from_bytes(raw[len(FORMAT) : start], "big")
    header = json.loads(zlib.decompress(raw[start:ends])) | changes
    head = zlib.compress(json.dumps(header).encode())
    whole = FORMAT + len(head).to_bytes(8, "big") + head + raw[ends:-32]
    return whole + sha256(whole).digest()


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"base": 5}, id="a base that is no text"),
        pytest.param({"base": "HEAD"}, id="a base that is no id"),
        pytest.param({"files": {}}, id="files that are no list"),
        pytest.param({"files": [10**9, 1]}, id="a block beyond the end"),
        pytest.param({"files": [1, 1]}, id="blocks that are too short"),
        pytest.param({"files": [-1, 1]}, id="a block that ends before it begins"),
        pytest.param({"files": "x"}, id="a length that is none"),
        pytest.param({"ids": "many"}, id="ids that are no length"),
        pytest.param({"complete": "yes"}, id="complete by another word"),
        pytest.param({"tracer": "guess"}, id="a tracer that there is not"),
        pytest.param({"shared": 7}, id="shared that is no list"),
        pytest.param({"nodes": 0}, id="an empty block"),
    ],
)
def test_a_file_that_fits_its_digest_and_is_of_another_making_is_no_map(changes: dict[str, Any]) -> None:
    found = map_in(forged(**changes))
    assert isinstance(found if isinstance(found, NoMap) else found.columns(["a.py"]), NoMap)
    assert isinstance(held(forged()).columns(["a.py"]), Columns)


def test_a_file_is_written_at_once_in_a_folder_that_is_made(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "map"
    write_map(path, SAMPLE)
    assert path.read_bytes() == map_bytes(SAMPLE)
    assert [one.name for one in path.parent.iterdir()] == ["map"]
    assert isinstance(read_map(path), MapFile)


def test_a_map_that_cannot_be_written_says_so_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "map").mkdir()
    with pytest.raises(LedgerError, match="cannot be written"):
        write_map(tmp_path / "map", SAMPLE)
    assert [one.name for one in tmp_path.iterdir()] == ["map"]


@pytest.mark.parametrize("kind", ["nothing", "folder", "pipe", "link"])
def test_what_is_no_file_of_its_own_is_no_map(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "map"
    match kind:
        case "folder":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
            assert stat.S_ISFIFO(path.stat().st_mode)
        case "link":
            write_map(tmp_path / "other", SAMPLE)
            path.symlink_to("other")
    found = read_map(path)
    assert isinstance(found, NoMap)
    assert "no such file" in found.why if kind == "nothing" else "no file of its own" in found.why
