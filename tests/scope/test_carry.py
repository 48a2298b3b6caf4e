"""A map brought along to a later commit: what is not reached moves, what may be runs again (contract S1, S2)."""

from __future__ import annotations

from admit.scope.carry import carried
from admit.scope.effects import Diff
from admit.scope.hunks import Edit, Hunk
from admit.scope.map import NodeReach, ScopeMap, bits_of, lines_of
from admit.scope.shape import outline_of, shape_of

OLD = "import os\n\ndef f():\n    return 1\n\ndef g():\n    return 2\n"


def node(**lines: list[int]) -> NodeReach:
    files = {"a": 0, "b": 1}
    reached = {files[name]: bits_of(held) for name, held in lines.items()}
    return NodeReach(True, "", reached, frozenset({"d.json"}), frozenset(), "tests/test_a.py")


NODES = {"f": node(a=[4]), "g": node(a=[7], b=[1]), "blind": node(a=[7])._replace(alive=False)}
MAP = ScopeMap(
    "base",
    "monitoring",
    "3.13.0",
    {"a.py": shape_of(OLD.encode(), "old"), "b.py": shape_of(b"x = 1\n", "b")},
    NODES,
    node(a=[1, 7]),
    True,
)


def patch(new: str, *hunks: Hunk) -> Diff:
    edit = Edit("a.py", "100644", "100644", "old", "new", False, hunks)
    return Diff("base", "head", (edit,), {"a.py": outline_of(new.encode(), "new")})


LONGER = patch(OLD.replace("    return 1\n", "    # why\n    x = 1\n    return x\n"), Hunk(4, 1, 4, 3))


def test_nodes_that_the_patch_does_not_reach_move_with_their_lines() -> None:
    found = carried(MAP, LONGER, ["0.py", "a.py", "b.py"])
    assert found.again == {"f", "blind"}
    assert found.nodes == {"g": NODES["g"]._replace(lines={1: bits_of([9]), 2: bits_of([1])})}
    assert found.outside.lines == {1: bits_of([1, 9])}


def test_lines_of_a_file_that_went_are_dropped() -> None:
    gone = Edit("tests/test_z.py", "100644", "000000", "z", None, False, (Hunk(1, 1, 0, 0),))
    files = {**MAP.files, "tests/test_z.py": shape_of(b"x = 1\n", "z")}
    old = MAP._replace(files=files, nodes={"z": node(a=[4])._replace(lines={0: 16, 2: 2})})
    found = carried(old, Diff("base", "head", (gone,), {}), ["a.py", "b.py"])
    assert found.nodes["z"].lines == {0: 16}


def test_after_a_patch_that_reaches_everybody_everybody_runs_again() -> None:
    found = carried(MAP, patch(OLD.replace("import os", "import sys"), Hunk(1, 1, 1, 1)), ["a.py", "b.py"])
    assert (found.nodes, found.again) == ({}, frozenset(NODES))


def test_a_patch_of_another_base_carries_nothing() -> None:
    assert carried(MAP, LONGER._replace(base="other"), ["a.py", "b.py"]).again == frozenset(NODES)


def test_what_was_carried_over_nothing_is_what_it_was() -> None:
    found = carried(MAP, Diff("base", "head", (), {}), ["a.py", "b.py"])
    assert found.nodes == {"f": NODES["f"], "g": NODES["g"]}
    assert list(lines_of(found.outside.lines[0])) == [1, 7]
