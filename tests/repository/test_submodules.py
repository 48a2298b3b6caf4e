"""Submodules of a worktree are filled from what the checkout has, with the real git and no network."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from admit.repository.submodules import Absent, empty, fill, submodules, tracked_names

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def git(root: Path, *words: str) -> str:
    who = ("-c", "user.name=n", "-c", "user.email=n@example.invalid", "-c", "commit.gpgsign=false")
    return subprocess.run(
        ["git", "-c", "protocol.file.allow=always", *who, *words], cwd=root, check=True, capture_output=True, text=True
    ).stdout.strip()


def commit(root: Path, **files: str) -> str:
    for name, text in files.items():
        (root / name).write_text(text)
    git(root, "add", "-A")
    git(root, "commit", "-qm", "x")
    return git(root, "rev-parse", "HEAD")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Give a checkout with a submodule that has one itself, in folders and under names of their own."""
    places = {name: tmp_path / name for name in ("inner", "outer", "checkout")}
    for place in places.values():
        place.mkdir()
        git(place, "init", "-q", "-b", "main")
    commit(places["inner"], inner="1")
    commit(places["outer"], outer="1")
    git(places["outer"], "submodule", "add", "-q", "--name", "in", str(places["inner"]), "deep/in")
    commit(places["outer"])
    commit(places["checkout"], top="1")
    git(places["checkout"], "submodule", "add", "-q", "--name", "some/out", str(places["outer"]), "vendor/out")
    git(places["checkout"], "submodule", "update", "-q", "--init", "--recursive")
    commit(places["checkout"])
    for name in ("inner", "outer"):
        places[name].rename(tmp_path / f"{name}-away")  # from there nothing can be fetched any more
    return places["checkout"]


@pytest.fixture
def tree(checkout: Path, tmp_path: Path) -> Path:
    place = tmp_path / "tree"
    git(checkout, "worktree", "add", "-q", "--detach", str(place))
    return place


FILES = [".gitmodules", "top", "vendor/out/.gitmodules", "vendor/out/deep/in/inner", "vendor/out/outer"]


def test_a_submodule_is_filled_with_those_inside_of_it(checkout: Path, tree: Path) -> None:
    assert sorted(tracked_names(tree)) == [".gitmodules", "top"]
    assert list(submodules(tree)) == ["vendor/out"]
    assert fill(tree, checkout) == ()
    assert sorted(tracked_names(tree)) == FILES
    assert (tree / "vendor" / "out" / "deep" / "in" / "inner").read_text() == "1"
    assert git(tree, "status", "--porcelain") == ""


@pytest.mark.parametrize(
    "left",
    [
        pytest.param(lambda root: git(root, "submodule", "-q", "deinit", "-f", "--all"), id="not checked out any more"),
        pytest.param(
            lambda root: (root / "vendor/out/deep/in/.git").unlink(), id="the inner one is not checked out any more"
        ),
    ],
)
def test_what_was_fetched_once_is_found_by_its_name(checkout: Path, tree: Path, left: Callable[[Path], object]) -> None:
    left(checkout)
    assert fill(tree, checkout) == ()
    assert sorted(tracked_names(tree)) == FILES


def test_from_a_worktree_of_the_user_s_it_is_filled_too(checkout: Path, tree: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    git(checkout, "worktree", "add", "-q", "--detach", str(other))
    assert fill(tree, other) == ()
    assert sorted(tracked_names(tree)) == FILES


def test_an_older_commit_is_checked_out_and_nothing_of_the_checkout_s_own_state(checkout: Path, tree: Path) -> None:
    commit(checkout / "vendor" / "out", outer="2")
    commit(checkout)
    (checkout / "vendor" / "out" / "outer").write_text("dirty")
    assert fill(tree, checkout) == ()
    assert (tree / "vendor" / "out" / "outer").read_text() == "1"
    (tree / "vendor" / "out" / "outer").write_text("written")
    assert (checkout / "vendor" / "out" / "outer").read_text() == "dirty"
    assert git(checkout / "vendor" / "out", "worktree", "list").count("\n") == 0


@pytest.mark.parametrize("is_inner", [False, True], ids=["outer", "inner"])
def test_a_commit_that_is_not_here_leaves_its_folder_empty(checkout: Path, tree: Path, is_inner: bool) -> None:
    gone = "f" * 40
    if is_inner:
        out = checkout / "vendor" / "out"
        git(out, "update-index", "--cacheinfo", f"160000,{gone},deep/in")
        git(out, "commit", "-qm", "x")
        gone_at, commit_of = "vendor/out/deep/in", git(out, "rev-parse", "HEAD")
    else:
        gone_at, commit_of = "vendor/out", gone
    git(tree, "update-index", "--cacheinfo", f"160000,{commit_of},vendor/out")
    assert fill(tree, checkout) == (Absent(gone_at, gone),)
    assert list((tree / gone_at).iterdir()) == []
    assert (tree / "vendor" / "out" / "outer").exists() is is_inner


def test_a_commit_whose_files_are_not_all_here_leaves_nothing_of_it(checkout: Path, tree: Path) -> None:
    out = checkout / "vendor" / "out"
    lost = git(out, "rev-parse", "HEAD:outer")
    store = checkout / ".git" / "modules" / "some" / "out" / "objects"
    for pack in [*store.glob("pack/*.pack")]:
        data = pack.read_bytes()
        for part in pack.parent.glob(f"{pack.stem}.*"):
            part.unlink()
        subprocess.run(["git", "unpack-objects", "-q"], cwd=out, input=data, check=True)
    (store / lost[:2] / lost[2:]).unlink()
    assert [one.path for one in fill(tree, checkout)] == ["vendor/out"]
    assert list((tree / "vendor" / "out").iterdir()) == []


def test_a_clone_without_submodules_says_which_are_absent(checkout: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", str(checkout), "clone")
    (absent,) = fill(tmp_path / "clone", tmp_path / "clone")
    assert absent.path == "vendor/out"


def test_a_name_that_leads_out_of_where_submodules_are_kept_is_not_followed(checkout: Path, tree: Path) -> None:
    git(checkout, "submodule", "-q", "deinit", "-f", "--all")
    (checkout / ".git" / "modules" / "some" / "out").rename(checkout / ".git" / "outside")
    for name in ("../outside", "x/../../outside", "/", ""):
        (tree / ".gitmodules").write_text(f'[submodule "{name}"]\n\tpath = vendor/out\n\turl = x\n')
        commit(tree)
        assert [one.path for one in fill(tree, checkout)] == ["vendor/out"]


def test_what_was_filled_is_taken_out_again(checkout: Path, tree: Path) -> None:
    fill(tree, checkout)
    empty(tree)
    assert not (tree / "vendor" / "out").exists()
    assert (checkout / "vendor" / "out" / "outer").exists()


def test_without_submodules_nothing_is_asked_but_the_index(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    commit(tmp_path, top="1")
    assert (fill(tmp_path, tmp_path / "nowhere"), submodules(tmp_path)) == ((), {})
