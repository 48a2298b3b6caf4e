"""What differs between two commits is read strictly, and lines are moved along (contract S1)."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.errors import InputError
from admit.repository.hunks import lines_that_differ
from admit.scope.hunks import Edit, Hunk, read_edits, shifted, unchanged
from admit.scope.map import bits_of, lines_of

Commit = Callable[[], str]
Git = Callable[..., str]


def edits(root: Path, old: str, new: str = "HEAD") -> dict[str, Edit]:
    return {edit.path: edit for edit in read_edits(lines_that_differ(root, old, new))}


def hunks_of(edit: Edit) -> list[tuple[int, ...]]:
    return [tuple(hunk) for hunk in edit.hunks]


def rebuilt(old: list[bytes], new: list[bytes], edit: Edit) -> list[bytes]:
    """Return the new lines, taken from the old ones wherever the hunks say that nothing changed."""
    made: list[bytes | None] = [None] * len(new)
    for first, to, count in unchanged(edit.hunks, len(old)):
        made[to - 1 : to - 1 + count] = old[first - 1 : first - 1 + count]
    for hunk in edit.hunks:
        span = slice(hunk.new_start - 1, hunk.new_start - 1 + hunk.new_count)
        made[span] = new[span]
    return [line if line is not None else b"?" for line in made]


def test_a_file_is_its_old_lines_with_the_hunks_in_their_place(repository: Path, commit: Commit) -> None:
    draw = random.Random(5)
    ends = (b"\n", b"\r\n", b"")
    pieces = [
        b"a",
        b"b",
        b"c",
        b"@@ -1 +1 @@",
        b"diff --git a/f0 b/f0",
        b"--- a/f0",
        b"\\ No newline at end of file",
        b"",
    ]

    def content() -> bytes:
        end = draw.choice(ends[:2])
        return end.join(draw.choices(pieces, k=draw.randrange(30))) + draw.choice(ends)

    old = {f"f{n}": content() for n in range(60)}
    new = {name: content() if draw.random() < 0.9 else raw for name, raw in old.items()}
    for name, raw in old.items():
        (repository / name).write_bytes(raw)
    base = commit()
    for name, raw in new.items():
        (repository / name).write_bytes(raw)
    commit()
    found = edits(repository, base)
    assert found.keys() == {name for name in old if old[name] != new[name]}
    for name, edit in found.items():
        before, after = old[name].splitlines(keepends=True), new[name].splitlines(keepends=True)
        assert rebuilt(before, after, edit) == after, (before, after, edit)


def test_an_added_a_deleted_and_an_empty_file_say_so(repository: Path, commit: Commit) -> None:
    (repository / "gone").write_text("a\nb\n")
    base = commit()
    (repository / "gone").unlink()
    (repository / "new").write_text("a")
    (repository / "empty").touch()
    commit()
    found = edits(repository, base)
    assert (found["gone"].new_blob, hunks_of(found["gone"])) == (None, [(1, 2, 0, 0)])
    assert (found["new"].old_blob, hunks_of(found["new"])) == (None, [(0, 0, 1, 1)])
    assert (found["empty"].old_blob, hunks_of(found["empty"])) == (None, [])


def test_a_renamed_file_is_one_that_went_and_one_that_came(repository: Path, commit: Commit, git: Git) -> None:
    (repository / "old.py").write_text("a\n" * 50)
    base = commit()
    git("config", "diff.renames", "copies")
    (repository / "old.py").rename(repository / "new.py")
    commit()
    found = edits(repository, base)
    assert (found["old.py"].new_blob, found["new.py"].old_blob) == (None, None)


def test_modes_links_and_binary_files_are_told(repository: Path, commit: Commit) -> None:
    for name in ("mode", "both", "link"):
        (repository / name).write_text("a\n")
    (repository / "binary").write_bytes(b"a\0")
    base = commit()
    (repository / "mode").chmod(0o755)
    (repository / "both").chmod(0o755)
    (repository / "both").write_text("b\n")
    (repository / "link").unlink()
    (repository / "link").symlink_to("mode")
    (repository / "binary").write_bytes(b"b\0")
    commit()
    found = edits(repository, base)
    assert found["mode"] == Edit("mode", "100644", "100755", found["mode"].old_blob, found["mode"].old_blob)
    assert (found["both"].new_mode, hunks_of(found["both"])) == ("100755", [(1, 1, 1, 1)])
    assert (found["link"].new_mode, hunks_of(found["link"])) == ("120000", [(1, 1, 0, 0), (0, 0, 1, 1)])
    assert (found["binary"].is_binary, hunks_of(found["binary"])) == (True, [])


def test_a_submodule_is_told_by_its_mode(repository: Path, commit: Commit, git: Git) -> None:
    base = commit()
    git("update-index", "--add", "--cacheinfo", f"160000,{base},sub")
    git("commit", "-q", "-m", "a submodule")
    assert edits(repository, base)["sub"].new_mode == "160000"


HOSTILE = [
    "with space",
    "tab\there",
    "new\nline",
    "new\n@@ -1 +1 @@\n+x",
    "x\ndiff --git a/f b/f",
    'quote"back\\slash',
    "-dash",
    ":colon",
    "*",
    "ümlaut",
    "\x01\x7f",
    "a b/a b",
    "a/x b/a/x",
]


@pytest.mark.parametrize("setting", ["true", "false"])
def test_no_name_of_a_file_confuses_the_reading(repository: Path, commit: Commit, git: Git, setting: str) -> None:
    names = [*HOSTILE, os.fsdecode(b"\xff\xfe")]
    for name in names:
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / name).write_text("a\nb\n")
    base = commit()
    git("config", "core.quotePath", setting)
    for name in names:
        (repository / name).write_text("a\nc\n")
    commit()
    found = edits(repository, base)
    assert {name: hunks_of(edit) for name, edit in found.items()} == {
        name.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape"): [(2, 1, 2, 1)] for name in names
    }


def test_nothing_that_a_repository_configures_hides_a_line(repository: Path, commit: Commit, git: Git) -> None:
    (repository / "a.py").write_text("a = 1\n")
    (repository / "b.py").write_text("a = 1\n")
    base = commit()
    (repository / ".gitattributes").write_text("a.py diff=mine\nb.py -diff\n")
    (repository / "a.py").write_text("a  = 1\n")
    (repository / "b.py").write_text("b = 1\n")
    commit()
    for key, value in {
        "diff.mine.textconv": "true",
        "diff.mine.command": "true",
        "diff.external": "true",
        "diff.noprefix": "true",
        "diff.mnemonicPrefix": "true",
        "diff.context": "9",
        "diff.interHunkContext": "9",
        "color.diff": "always",
        "diff.ignoreSubmodules": "all",
        "core.whitespace": "trailing-space",
    }.items():
        git("config", key, value)
    found = edits(repository, base)
    assert hunks_of(found["a.py"]) == [(1, 1, 1, 1)]
    assert found["b.py"].is_binary


def test_no_difference_is_no_edit(repository: Path, commit: Commit) -> None:
    base = commit()
    assert read_edits(lines_that_differ(repository, base, base)) == ()


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(lambda out: b"?" + out, id="something before the table"),
        pytest.param(lambda out: out + b"?", id="something after the last hunk"),
        pytest.param(lambda out: out[:-3], id="a line too few"),
        pytest.param(lambda out: out + b"+B\n", id="a line too many"),
        pytest.param(lambda out: out.replace(b" M\0", b" X\0"), id="a kind of change that there is not"),
        pytest.param(lambda out: out.replace(b"b/a.py\nindex", b"b/b.py\nindex"), id="the lines of another file"),
        pytest.param(lambda out: out[: out.index(b"\0\0") - 3], id="a table that ends early"),
    ],
)
def test_what_git_did_not_write_is_refused(repository: Path, commit: Commit, broken: Callable[[bytes], bytes]) -> None:
    (repository / "a.py").write_text("a\nb\nc\n")
    base = commit()
    (repository / "a.py").write_text("a\nB\nc\n")
    commit()
    out = lines_that_differ(repository, base, "HEAD")
    assert len(read_edits(out)) == 1
    with pytest.raises(InputError, match="git diff-tree: unexpected at byte"):
        read_edits(broken(out))


# ---------------------------------------------------------------- lines that stay

GAPS = st.lists(st.tuples(st.integers(1, 9), st.integers(0, 4), st.integers(0, 4)), max_size=5)


def made_of(gaps: list[tuple[int, int, int]]) -> tuple[Hunk, ...]:
    """Return hunks as git writes them: sorted, apart, never empty on both sides."""
    hunks, old, new = [], 1, 1
    for gap, minus, plus in gaps:
        if minus or plus:
            old, new = old + gap, new + gap
            hunks.append(Hunk(old if minus else old - 1, minus, new if plus else new - 1, plus))
            old, new = old + minus, new + plus
    return tuple(hunks)


def by_one(line: int, hunks: tuple[Hunk, ...]) -> int | None:
    """Return where one line went, the plain way."""
    delta = 0
    for hunk in hunks:
        if hunk.old_count and hunk.old_first <= line < hunk.old_first + hunk.old_count:
            return None
        if line >= hunk.old_start:
            delta += hunk.new_count - hunk.old_count
    return line + delta


def turned(hunks: tuple[Hunk, ...]) -> tuple[Hunk, ...]:
    return tuple(Hunk(one.new_first, one.new_count, one.old_first, one.old_count) for one in hunks)


LINES = st.frozensets(st.integers(1, 120))


@given(GAPS, LINES)
def test_a_line_moves_by_what_came_and_went_before_it(gaps: list[tuple[int, int, int]], lines: frozenset[int]) -> None:
    hunks = made_of(gaps)
    wanted = [to for line in sorted(lines) if (to := by_one(line, hunks)) is not None]
    assert list(lines_of(shifted(bits_of(lines), hunks))) == wanted


@given(LINES)
def test_without_a_hunk_no_line_moves(lines: frozenset[int]) -> None:
    assert shifted(bits_of(lines), ()) == bits_of(lines)


@given(GAPS, LINES, LINES)
def test_sets_move_apart_as_they_move_together(
    gaps: list[tuple[int, int, int]], a: frozenset[int], b: frozenset[int]
) -> None:
    hunks = made_of(gaps)
    assert shifted(bits_of(a | b), hunks) == shifted(bits_of(a), hunks) | shifted(bits_of(b), hunks)


@given(GAPS, LINES)
def test_what_moved_and_moves_back_is_what_stayed(gaps: list[tuple[int, int, int]], lines: frozenset[int]) -> None:
    hunks = made_of(gaps)
    stayed = bits_of(line for line in lines if by_one(line, hunks) is not None)
    assert shifted(shifted(bits_of(lines), hunks), turned(hunks)) == stayed
