"""Which nodes a patch reaches, and why; whatever is not known is in scope (contract S1, S2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.scope.columns import Columns, columns_of, shared_stems
from admit.scope.effects import Diff
from admit.scope.hunks import Edit, Hunk
from admit.scope.kinds import kind_of
from admit.scope.map import NodeReach, ScopeMap, Shape, bits_of
from admit.scope.reach import NoMap, answers, reach_of
from admit.scope.reasons import KINDS, Reach
from admit.scope.shape import outline_of, shape_of

SOURCE = """\
import os


def f(x):
    \"\"\"Docstring.\"\"\"
    a = max(1, 2)
    # a comment
    if x:
        b = (2 +
             3)
        c = 4
    else:
        d = 5
    return a


class A:
    y = 6

    @staticmethod
    def m(z):
        return z


@lru_cache
def kept():
    return 1


def at_import():
    return 2
"""
LINES = SOURCE.split("\n")
IF, ELSE = [6, 8, 9, 10, 11, 14], [6, 8, 13, 14]


def reached(
    lines: Iterable[int] = (),
    *,
    opened: Iterable[str] = (),
    listed: Iterable[str] = (),
    file: str = "tests/test_a.py",
    alive: bool = True,
    spawned: str = "",
) -> NodeReach:
    bits = {0: bits_of(lines)} if lines else {}
    return NodeReach(alive, spawned, bits, frozenset(opened), frozenset(listed), file)


NODES = {
    "if": reached(IF),
    "else": reached(ELSE),
    "m": reached([22]),
    "none": reached(),
    "reader": reached(opened=["data/a.json"]),
    "lister": reached(listed=["data"]),
    "other": reached(file="tests/test_b.py"),
    "blind": reached(alive=False),
    "spawns": reached(spawned="subprocess.Popen"),
}
OUTSIDE = reached([31], opened=["data/import.json"])
PLAIN = shape_of(b"x = 1\n", "plain")


def mapped(nodes: Mapping[str, NodeReach] = NODES, **more: object) -> Columns:
    files = {
        "a.py": shape_of(SOURCE.encode(), "old"),
        "bad.py": shape_of(b"def f(:\n", "bad"),
        "tests/test_a.py": PLAIN,
        "tests/test_b.py": PLAIN,
        "tests/test_helped.py": PLAIN,
        "tests/test_uses.py": shape_of(b"from tests.test_helped import x\n", "uses"),
    }
    made = ScopeMap("base", "monitoring", "3.13.0", files, nodes, OUTSIDE, True)
    return columns_of(made._replace(**more))


def diff(*edits: Edit, shapes: Mapping[str, Shape] = {}, inert: tuple[str, ...] = ()) -> Diff:
    return Diff("base", "head", edits, shapes, inert)


def file(path: str, old: str | None = "plain", new: str | None = "new", mode: str = "100644") -> Edit:
    return Edit(path, mode if old else "000000", mode if new else "000000", old, new)


def change(first: int, count: int, *new: str, source: list[str] = LINES) -> Diff:
    """Return the patch that puts lines in the place of `count` lines from `first`."""
    made = "\n".join([*source[: first - 1], *new, *source[first - 1 + count :]])
    hunk = Hunk(first if count else first - 1, count, first if new else first - 1, len(new))
    edit = Edit("a.py", "100644", "100644", "old", "new", False, (hunk,))
    return diff(edit, shapes={"a.py": outline_of(made.encode(), "new")})


def kinds(asked: Diff, columns: Columns | None = None) -> dict[str, str]:
    """Return each node's reason, those of `blind` and `spawns` left out where nothing else is known of them."""
    held = columns or mapped()
    found = answers(asked, held)
    said = {node: found.of(node).reason.kind for node in held.nodes}
    return {node: kind for node, kind in said.items() if kind not in {"blind", "spawned", "apart"}}


# ---------------------------------------------------------------- lines


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        pytest.param(change(6, 1, "    a = 2"), {"if": "line", "else": "line"}, id="a line that both ran"),
        pytest.param(change(11, 1, "        c = 5"), {"if": "line"}, id="a line of one branch"),
        pytest.param(change(10, 1, "             4)"), {"if": "line"}, id="a later line of a statement"),
        pytest.param(change(13, 1, "        d = 6", "        return d"), {"else": "line"}, id="one line becomes two"),
        pytest.param(change(11, 1), {"if": "line"}, id="a line goes"),
        pytest.param(change(22, 1, "        return 1"), {"m": "line"}, id="a method"),
        pytest.param(change(11, 2, "        c = 5"), {"if": "function", "else": "function"}, id="an else goes along"),
        pytest.param(change(8, 1, "    if not x:"), {"if": "function", "else": "function"}, id="a condition"),
        pytest.param(change(9, 0, "        b = 1"), {"if": "function", "else": "function"}, id="a line comes"),
        pytest.param(change(15, 0, "    return 1"), {"if": "function", "else": "function"}, id="one at the end"),
        pytest.param(change(11, 1, "        yield 4"), {"if": "function", "else": "function"}, id="a generator now"),
        pytest.param(
            change(11, 1, "        max = 4"), {"if": "function", "else": "function"}, id="a name becomes local"
        ),
        pytest.param(change(11, 1, "        e = 4"), {"if": "line"}, id="a local name that nothing else uses"),
        pytest.param(change(7, 1, "    # another"), {}, id="a comment"),
        pytest.param(change(7, 1), {}, id="a comment goes"),
        pytest.param(change(2, 0, "", "# a remark"), {}, id="blank lines and a comment come"),
        pytest.param(change(7, 1, "    e = 1"), {"if": "function", "else": "function"}, id="a comment becomes code"),
        pytest.param(
            change(6, 0, '    """Text."""'), {"if": "function", "else": "function"}, id="a text, no docstring"
        ),
    ],
)
def test_a_changed_line_of_a_body_reaches_who_ran_it(asked: Diff, wanted: dict[str, str]) -> None:
    assert kinds(asked) == wanted


EVERYONE = set(NODES)


@pytest.mark.parametrize(
    ("asked", "kind"),
    [
        pytest.param(change(1, 1, "import sys"), "import", id="a line of the module"),
        pytest.param(change(4, 1, "def f(x, y=1):"), "import", id="a signature"),
        pytest.param(change(5, 1, '    """Other."""'), "import", id="a docstring"),
        pytest.param(change(18, 1, "    y = 7"), "import", id="a line of a class"),
        pytest.param(change(20, 1, "    @classmethod"), "import", id="a decorator"),
        pytest.param(change(16, 0, "def new():", "    pass", ""), "import", id="a new function"),
        pytest.param(change(4, 11), "import", id="a function goes"),
        pytest.param(
            change(14, 1, "    return a", "z = 1"), "import", id="a line of the module along with one of a body"
        ),
        pytest.param(change(27, 1, "    return 2"), "kept", id="a function whose results are kept"),
        pytest.param(change(31, 1, "    return 3"), "outside", id="a function that ran at import"),
    ],
)
def test_what_runs_for_everybody_reaches_everybody(asked: Diff, kind: str) -> None:
    found = answers(asked, mapped())
    assert {found.of(node).reason.kind for node in EVERYONE} == {kind}
    assert {found.of(node).word for node in EVERYONE} == {"covers"}


def test_a_text_that_swallows_lines_that_stay_makes_the_file_count_as_a_whole() -> None:
    source = ["def f():", "    a = 1", "    b = 2", '    c = """', '    """', "", "def g():", "    return 1"]
    old = shape_of("\n".join(source).encode(), "old")
    made = [*source]
    made[1:2], made[3:4] = ['    a = """'], ['    c = """ + """']
    edit = Edit("a.py", "100644", "100644", "old", "new", False, (Hunk(2, 1, 2, 1), Hunk(4, 1, 4, 1)))
    new = outline_of("\n".join(made).encode(), "new")
    assert not new.unreadable
    columns = columns_of(ScopeMap("base", "monitoring", "3", {"a.py": old}, {"n": reached()}, reached(), True))
    reason = answers(diff(edit, shapes={"a.py": new}), columns).of("n").reason
    assert (reason.kind, reason.line) == ("import", 3)


def test_a_statement_of_which_no_line_can_be_seen_to_run_counts_with_its_function() -> None:
    source = ["def f():", "    global g", "    a = 1", "def h():", "    pass"]
    columns = columns_of(
        ScopeMap(
            "base",
            "monitoring",
            "3",
            {"a.py": shape_of("\n".join(source).encode(), "old")},
            {"f": reached([3]), "h": reached([5])},
            reached(),
            True,
        )
    )
    assert kinds(change(2, 1, "    global k", source=source), columns) == {"f": "function"}


def test_a_function_of_which_no_line_can_be_seen_to_run_is_in_scope_of_everybody() -> None:
    source = ["def f():", "    global g", "def h():", "    pass"]
    old = shape_of("\n".join(source).encode(), "old")
    columns = columns_of(ScopeMap("base", "monitoring", "3", {"a.py": old}, {"n": reached()}, reached(), True))
    assert kinds(change(2, 1, "    global k", source=source), columns) == {"n": "import"}


def test_the_reason_names_the_file_the_line_and_the_function() -> None:
    assert reach_of("if", change(11, 1, "        c = 5"), mapped()).reason == ("line", "a.py", 11, "f")


# ---------------------------------------------------------------- files


@pytest.mark.parametrize(
    ("edit", "wanted"),
    [
        pytest.param(file("data/a.json"), {"reader": "data"}, id="data changes"),
        pytest.param(file("data/a.json", new=None), {"reader": "data", "lister": "folder"}, id="data goes"),
        pytest.param(file("data/b.json", old=None), {"lister": "folder"}, id="data comes"),
        pytest.param(file("data/x/b.json", old=None), {"lister": "folder"}, id="data comes in a new folder beneath"),
        pytest.param(file("data/a.json", old=None), {"reader": "data", "lister": "folder"}, id="looked for in vain"),
        pytest.param(file("data/b.json"), {}, id="data that nobody opened"),
        pytest.param(file("README.md"), {}, id="a page"),
        pytest.param(file("tests/test_b.py", new=None), {"other": "import"}, id="a test file goes"),
        pytest.param(file("tests/test_c.py", old=None), {}, id="a test file comes"),
        pytest.param(file("tests/test_b.py", new=None, old="plain"), {"other": "import"}, id="its own nodes alone"),
    ],
)
def test_a_file_reaches_who_opened_it_or_listed_its_folder(edit: Edit, wanted: dict[str, str]) -> None:
    assert kinds(diff(edit)) == wanted


def test_data_that_is_read_while_no_node_runs_reaches_everybody() -> None:
    found = answers(diff(file("data/import.json")), mapped())
    assert {found.of(node).reason.kind for node in EVERYONE} == {"outside"}


@pytest.mark.parametrize(
    ("edit", "kind"),
    [
        pytest.param(file("b.py", old=None), "import", id="a new module"),
        pytest.param(file("a.py", old="old", new=None), "import", id="a module goes"),
        pytest.param(file("tests/test_helped.py", new=None), "import", id="a test file that another one imports"),
        pytest.param(file("unseen.py"), "unseen", id="a file that the map has never seen"),
        pytest.param(file("a.py", old="another"), "differs", id="a file of another content"),
        pytest.param(file("a.py", old="old"), "unreadable", id="a file whose new shape nobody told"),
        pytest.param(file("bad.py", old="bad"), "unreadable", id="a file that does not compile"),
        pytest.param(file("conftest.py"), "configuration", id="conftest.py"),
        pytest.param(file("sub/pyproject.toml"), "configuration", id="pyproject.toml"),
        pytest.param(file(".github/workflows/ci.yml"), "configuration", id="how gates run"),
        pytest.param(file("requirements-dev.txt"), "dependencies", id="pins"),
        pytest.param(file("uv.lock"), "dependencies", id="a lock file"),
        pytest.param(file("x.dist-info/entry_points.txt"), "dependencies", id="entry points"),
        pytest.param(file("fast.so"), "native", id="a compiled module"),
        pytest.param(file("fast.c"), "native", id="its source"),
        pytest.param(file("fast.pyx"), "generated", id="Cython"),
        pytest.param(file("sub", mode="160000"), "submodule", id="a submodule"),
        pytest.param(file("data/a.json", mode="120000"), "link", id="a link"),
        pytest.param(file("x.txt", old=None, mode="120000"), "link", id="a new link"),
        pytest.param(Edit("x.sh", "100644", "100755", "a", "a"), "mode", id="a mode"),
        pytest.param(
            Edit("a.py", "100644", "100644", "old", "new", True), "binary", id="a source that git calls binary"
        ),
    ],
)
def test_what_no_map_can_tell_is_in_scope_of_everybody(edit: Edit, kind: str) -> None:
    found = answers(diff(edit), mapped())
    assert {found.of(node).reason.kind for node in EVERYONE} == {kind}
    assert all(found.of(node).is_in_scope for node in EVERYONE)


def test_an_inert_file_matters_to_nodes_that_open_it_alone() -> None:
    edits = (file("conftest.py"), file("docs/conf.py"), file("data/a.json"))
    assert kinds(diff(*edits, inert=("conftest.py", "docs/*", "data/*"))) == {"reader": "data"}


def test_every_file_that_a_run_on_a_base_takes_for_the_runner_is_configuration_here_too() -> None:
    from admit.trust.instrument import RUNNER_AT_THE_TOP, RUNNER_FOLDERS, RUNNER_NAMES, RUNNER_PATTERNS

    names = [*RUNNER_NAMES, *RUNNER_AT_THE_TOP, *(f"{name}/x.py" for name in RUNNER_FOLDERS)]
    names += [pattern.replace("*", "x") for pattern in RUNNER_PATTERNS]
    assert {name for name in names if kind_of(name) not in {"configuration", "dependencies"}} == set()


def test_a_test_file_is_for_its_own_nodes_only_if_every_node_says_whose_it_is() -> None:
    columns = mapped({**NODES, "stray": reached(file="")})
    assert answers(diff(file("tests/test_b.py", new=None)), columns).of("if").reason.kind == "import"


def test_which_test_files_others_import_is_told_by_their_sources() -> None:
    files = {
        "tests/test_a.py": shape_of(b"from .test_b import x\n", "a"),
        "pkg/loader.py": shape_of(b"import_module(name)\n", "b"),
        "pkg/x.py": shape_of(b"import test_c.d\n", "c"),
    }
    assert shared_stems(files) == {"test_b", "test_c"}
    assert "*" in shared_stems({**files, "tests/loader.py": files["pkg/loader.py"]})


# ---------------------------------------------------------------- what is not known

COVERED = change(11, 1, "        c = 5")


@pytest.mark.parametrize(
    ("node", "kind"), [("blind", "blind"), ("spawns", "spawned"), ("not there", "new_node"), ("none", "apart")]
)
def test_a_node_that_was_not_followed_is_in_scope(node: str, kind: str) -> None:
    assert reach_of(node, COVERED, mapped()).reason.kind == kind


def test_a_node_that_was_not_followed_to_its_end_still_covers_what_it_was_seen_to_run() -> None:
    columns = mapped({"n": reached(IF, alive=False)})
    assert reach_of("n", COVERED, columns).reason.kind == "line"


@pytest.mark.parametrize(
    ("columns", "kind"),
    [
        pytest.param(NoMap("it is torn"), "no_map", id="no map"),
        pytest.param(mapped(base="other"), "other_base", id="of another base"),
        pytest.param(mapped(complete=False), "incomplete", id="of a run that was stopped"),
        pytest.param(mapped(outside=reached(alive=False)), "blind_run", id="that does not know what imports ran"),
        pytest.param(mapped(outside=reached(spawned="git")), "blind_run", id="whose imports started a process"),
    ],
)
@pytest.mark.parametrize("asked", [COVERED, diff()], ids=["a change", "no change"])
def test_without_a_whole_map_everybody_is_in_scope(columns: Columns | NoMap, kind: str, asked: Diff) -> None:
    assert reach_of("none", asked, columns).reason.kind == kind
    assert reach_of("not there", asked, columns).is_in_scope


def test_no_change_reaches_nobody_who_was_followed() -> None:
    assert kinds(diff()) == dict.fromkeys(EVERYONE - {"blind", "spawns"}, "no_change")


def test_each_reason_gives_one_answer_and_says_why() -> None:
    assert {kind for kind, (word, _) in KINDS.items() if word == "does_not_cover"} == {"apart", "no_change"}
    assert len({text for _, text in KINDS.values()}) == len(KINDS)


# ---------------------------------------------------------------- properties

PATHS = st.sampled_from(
    ["a.py", "bad.py", "data/a.json", "data/b.json", "conftest.py", "new.py", "tests/test_b.py", "x.so"]
)
MODES = st.sampled_from(["100644", "100644", "100644", "100755", "120000", "160000"])
BLOBS = st.sampled_from(["old", "plain", "other", None])
SMALL = st.frozensets(st.integers(1, 32), max_size=12)


@st.composite
def edits(draw: object) -> Edit:
    old, new = draw(BLOBS), draw(BLOBS)
    if old is None and new is None:
        old = "old"
    count, at = draw(st.integers(0, 3)), draw(st.integers(1, 28))
    added = draw(st.integers(0 if count else 1, 3))
    hunk = Hunk(at if count else at - 1, count, at if added else at - 1, added)
    old_mode, new_mode = (draw(MODES) if blob else "000000" for blob in (old, new))
    return Edit(draw(PATHS), old_mode, new_mode, old, new, draw(st.booleans()), (hunk,))


@st.composite
def questions(draw: object) -> Diff:
    found = {edit.path: edit for edit in draw(st.lists(edits(), max_size=3))}
    shapes = {}
    for edit in found.values():
        hunk = edit.hunks[0]
        new = [f"    new = {n}" for n in range(hunk.new_count)]
        made = [*LINES[: hunk.old_start - 1], *new, *LINES[hunk.old_start - 1 + hunk.old_count :]]
        shapes[edit.path] = outline_of("\n".join(made).encode(), "new")
    return Diff(draw(st.sampled_from(["base", "base", "base", "other"])), "head", tuple(found.values()), shapes)


NODE_REACHES = st.builds(
    reached,
    SMALL,
    opened=st.frozensets(st.sampled_from(["data/a.json", "conftest.py", "a.py"])),
    listed=st.frozensets(st.sampled_from(["data", "", "tests"])),
    file=st.sampled_from(["tests/test_a.py", "tests/test_b.py", ""]),
    alive=st.booleans(),
    spawned=st.sampled_from(["", "", "os.fork"]),
)


@given(questions(), st.dictionaries(st.sampled_from("abcd"), NODE_REACHES), NODE_REACHES, st.booleans(), st.booleans())
def test_no_node_is_out_of_scope_while_anything_is_not_known(
    asked: Diff, nodes: dict[str, NodeReach], outside: NodeReach, complete: bool, has_map: bool
) -> None:
    columns = mapped(nodes, outside=outside, complete=complete)
    found = answers(asked, columns if has_map else NoMap("none"))
    known = (
        has_map
        and complete
        and asked.base == columns.base
        and outside.alive
        and not outside.spawned
        and all(_is_known(edit, asked, columns) for edit in asked.edits)
    )
    for node in [*nodes, "new"]:
        reach: Reach = found.of(node)
        if not known or node not in nodes or not nodes[node].alive or nodes[node].spawned:
            assert reach.is_in_scope, reach


def _is_known(edit: Edit, asked: Diff, columns: Columns) -> bool:
    if {edit.old_mode, edit.new_mode} & {"120000", "160000"} or edit.path in {"conftest.py", "x.so"}:
        return False
    if edit.old_blob and edit.new_blob and edit.old_mode != edit.new_mode:
        return False
    if not edit.path.endswith(".py") or edit.old_blob is None:
        return True
    column = columns.files.get(edit.path)
    if column is None or column.shape.blob != edit.old_blob:
        return False
    readable = not (edit.is_binary or column.shape.unreadable or asked.shapes[edit.path].unreadable)
    return edit.new_blob is None or readable


@given(questions(), NODE_REACHES, NODE_REACHES, NODE_REACHES)
def test_what_reaches_more_covers_no_less(asked: Diff, one: NodeReach, more: NodeReach, outside: NodeReach) -> None:
    from admit.scope.map import plus

    small = reach_of("n", asked, mapped({"n": one}, outside=outside))
    large = reach_of("n", asked, mapped({"n": plus(one, more._replace(file=""))}, outside=outside))
    if small.is_in_scope:
        assert large.is_in_scope


@given(questions(), questions(), NODE_REACHES, NODE_REACHES)
def test_a_larger_patch_reaches_no_less(one: Diff, more: Diff, node: NodeReach, outside: NodeReach) -> None:
    columns = mapped({"n": node}, outside=outside)
    both = {**{edit.path: edit for edit in more.edits}, **{edit.path: edit for edit in one.edits}}
    larger = one._replace(edits=tuple(both.values()), shapes={**more.shapes, **one.shapes})
    if reach_of("n", one, columns).is_in_scope:
        assert reach_of("n", larger, columns).is_in_scope
