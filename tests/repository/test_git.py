"""What git says of a checkout, asked of the real git."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from admit.errors import InputError
from admit.repository import distance, look, resolve, toplevel

if TYPE_CHECKING:
    from pathlib import Path


def git(root: Path, *words: str) -> str:
    who = ("-c", "user.name=n", "-c", "user.email=n@example.invalid", "-c", "commit.gpgsign=false")
    return subprocess.run(["git", *who, *words], cwd=root, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q", "-b", "main")
    (tmp_path / "a.txt").write_text("a\n")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "one")
    return tmp_path


def test_a_clean_checkout_has_a_head_a_tree_a_branch_and_nothing_dirty(root: Path) -> None:
    seen = look(root)
    assert seen.head == git(root, "rev-parse", "HEAD")
    assert seen.tree == git(root, "rev-parse", "HEAD^{tree}")
    assert (seen.branch, seen.dirty) == ("main", ())
    assert toplevel(root) == root.resolve()


@pytest.mark.parametrize(
    ("change", "dirty"),
    [
        pytest.param(lambda root: (root / "a.txt").write_text("b\n"), ("a.txt",), id="changed"),
        pytest.param(lambda root: (root / "new.txt").write_text("b\n"), ("new.txt",), id="untracked"),
        pytest.param(lambda root: (root / "a.txt").unlink(), ("a.txt",), id="deleted"),
        pytest.param(lambda root: git(root, "mv", "a.txt", "b.txt"), ("b.txt",), id="renamed"),
        pytest.param(lambda root: (root / "ä \n.txt").write_text("b\n"), ("ä \n.txt",), id="a name with a newline"),
    ],
)
def test_every_uncommitted_change_makes_the_tree_dirty_e5(root: Path, change: object, dirty: tuple[str, ...]) -> None:
    change(root)
    assert look(root).dirty == dirty


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_a_file_that_git_was_told_not_to_look_at_is_dirty_e5(root: Path, flag: str) -> None:
    git(root, "update-index", flag, "a.txt")
    (root / "a.txt").write_text("something else\n")
    assert look(root).dirty == ("a.txt (hidden from git status)",)


def test_an_ignored_file_is_not_dirty(root: Path) -> None:
    (root / ".gitignore").write_text("out/\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "two")
    (root / "out").mkdir()
    (root / "out" / "x").write_text("x")
    assert look(root).dirty == ()


def test_a_folder_outside_of_git_has_no_head(tmp_path: Path) -> None:
    assert look(tmp_path) == (tmp_path, None, None, None, ())


def test_a_repository_without_a_commit_has_no_head_and_its_files_are_dirty(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "a").write_text("a")
    assert look(tmp_path).head is None
    assert look(tmp_path).dirty == ("a",)


def test_a_repository_that_git_cannot_read_is_not_called_clean(root: Path) -> None:
    (root / ".git" / "index").write_bytes(b"garbage")
    assert look(root).dirty == ("(git status gave no answer)",)


@pytest.mark.parametrize("ref", ["no-such", "--all", "HEAD:a.txt"])
def test_a_ref_that_names_no_commit_is_refused_with_what_to_do(root: Path, ref: str) -> None:
    with pytest.raises(InputError, match="no such commit in this repository"):
        resolve(root, ref)


def test_variables_that_point_git_elsewhere_are_not_followed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    head = look(root).head
    monkeypatch.setenv("GIT_DIR", str(root / "nowhere"))
    assert look(root).head == head


def test_the_distance_between_commits_is_counted(root: Path) -> None:
    old = look(root).head
    for text in "bc":
        (root / "a.txt").write_text(text)
        git(root, "commit", "-qam", text)
    moved = distance(root, old, look(root).head)
    assert moved.commits == 2
    assert moved.hours >= 0
