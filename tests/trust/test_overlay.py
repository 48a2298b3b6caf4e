"""Worktrees of a run on a base, made by the real git (contract T7)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from admit.errors import InputError
from admit.trust.overlay import PREFIX, Worktrees

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from admit.repository import Change


def git(root: Path, *words: str) -> str:
    who = ("-c", "user.name=n", "-c", "user.email=n@example.invalid", "-c", "commit.gpgsign=false")
    return subprocess.run(
        ["git", "-c", "protocol.file.allow=always", *who, *words], cwd=root, check=True, capture_output=True, text=True
    ).stdout.strip()


def commit(root: Path, files: dict[str, str | None]) -> str:
    """Return a commit with files written, and those that are None removed."""
    for name, text in files.items():
        path = root / name
        if text is None:
            path.unlink()
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    git(root, "add", "-A")
    git(root, "commit", "-q", "--allow-empty", "-m", "x")
    return git(root, "rev-parse", "HEAD")


def is_test(change: Change) -> bool:
    return change.path.split("/")[0] in {"tests", "conftest.py"}


@pytest.fixture(autouse=True)
def temporary(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path_factory.mktemp("temporary")
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q", "-b", "main")
    commit(tmp_path, {"a.py": "a", "tests/test_a.py": "old", "tests/gone.txt": "gone"})
    return tmp_path


@pytest.fixture
def base(root: Path) -> str:
    return git(root, "rev-parse", "HEAD")


def files(tree: Path) -> dict[str, str]:
    return {
        str(path.relative_to(tree)): path.read_text()
        for path in sorted(tree.rglob("*"))
        if path.is_file() and ".git" not in path.parts
    }


def worktrees(root: Path) -> int:
    return git(root, "worktree", "list").count("\n") + 1


def test_the_base_s_tests_lie_over_the_patch_s_code_t7(root: Path, base: str) -> None:
    head = commit(root, {"a.py": "b", "tests/test_a.py": "new", "tests/gone.txt": None, "conftest.py": "x"})
    with Worktrees(root) as trees:
        tree = trees.judged(base, head, is_test)
        assert files(tree.path) == {"a.py": "b", "tests/test_a.py": "old", "tests/gone.txt": "gone"}
        assert tree.laid == ("conftest.py", "tests/gone.txt", "tests/test_a.py")
        assert git(tree.path, "status", "--porcelain") == ""
        assert git(tree.path, "rev-parse", "HEAD^") == head


def test_the_same_patch_gives_the_same_commit(root: Path, base: str) -> None:
    head = commit(root, {"tests/test_a.py": "new"})
    with Worktrees(root) as one, Worktrees(root) as two:
        assert one.judged(base, head, is_test).commit == two.judged(base, head, is_test).commit


def test_a_patch_that_leaves_the_instrument_alone_is_judged_as_it_is(root: Path, base: str) -> None:
    head = commit(root, {"a.py": "b"})
    with Worktrees(root) as trees:
        assert trees.judged(base, head, is_test).commit == head


def test_the_checkout_its_index_and_its_branch_stay_as_they_are(root: Path, base: str) -> None:
    head = commit(root, {"a.py": "b", "tests/test_a.py": "new"})
    (root / "a.py").write_text("not committed")
    with Worktrees(root) as trees:
        trees.plain(base)
        trees.judged(base, head, is_test)
    assert git(root, "status", "--porcelain") == "M a.py"
    assert git(root, "rev-parse", "main") == head
    assert worktrees(root) == 1


def test_a_link_in_the_place_of_a_folder_with_tests_gives_way_to_them(root: Path, base: str) -> None:
    git(root, "rm", "-rq", "tests")
    (root / "tests").symlink_to("a.py")
    head = commit(root, {})
    with Worktrees(root) as trees:
        tree = trees.judged(base, head, lambda change: change.path.startswith("tests/"))
        assert files(tree.path) == {"a.py": "a", "tests/test_a.py": "old", "tests/gone.txt": "gone"}


def test_a_folder_in_the_place_of_a_test_gives_way_to_it(root: Path, base: str) -> None:
    (root / "tests" / "test_a.py").unlink()
    head = commit(root, {"tests/test_a.py/x.py": "new"})
    with Worktrees(root) as trees:
        tree = trees.judged(base, head, lambda change: change.path == "tests/test_a.py")
        assert (tree.path / "tests" / "test_a.py").read_text() == "old"


def test_links_modes_and_odd_names_survive(root: Path, base: str) -> None:
    (root / "tests" / "link").symlink_to("test_a.py")
    (root / "tests" / "run.sh").write_text("#!")
    (root / "tests" / "run.sh").chmod(0o755)
    odd = os.fsencode(root / "tests") + b"/new\nline \xff"
    with open(odd, "wb") as file:
        file.write(b"odd")
    one = commit(root, {})
    git(root, "rm", "-rq", "tests")
    two = commit(root, {"a.py": "b"})
    with Worktrees(root) as trees:
        tests = trees.judged(one, two, is_test).path / "tests"
        assert os.readlink(tests / "link") == "test_a.py"
        assert os.access(tests / "run.sh", os.X_OK)
        assert os.path.exists(os.fsencode(tests) + b"/new\nline \xff")


def test_a_second_commit_leaves_nothing_of_a_run_on_the_first(root: Path, base: str) -> None:
    (root / ".gitignore").write_text("*.log\n")
    head = commit(root, {"a.py": "b"})
    with Worktrees(root) as trees:
        tree = trees.plain(head)
        for name in ("new.py", "out.log", "deep/er/x"):
            (tree.path / name).parent.mkdir(parents=True, exist_ok=True)
            (tree.path / name).write_text("x")
        (tree.path / "tests" / "test_a.py").write_text("moved")
        assert files(trees.plain(base).path) == {"a.py": "a", "tests/test_a.py": "old", "tests/gone.txt": "gone"}


def test_what_the_patch_s_code_did_to_its_tree_does_not_reach_the_next_one(root: Path, base: str) -> None:
    head = commit(root, {"a.py": "b"})
    with Worktrees(root) as trees:
        tree = trees.judged(base, head, is_test)
        (tree.path / "tests" / "test_a.py").write_text("hollow")
        git(tree.path, "update-index", "--skip-worktree", "tests/test_a.py")
        assert (trees.plain(base).path / "tests" / "test_a.py").read_text() == "old"


def test_untracked_folders_that_tests_need_are_linked_and_stay_ignored(root: Path) -> None:
    head = commit(root, {".gitignore": "venv/\n"})
    (root / "venv" / "lib").mkdir(parents=True)
    (root / "venv" / "lib" / "x.py").write_text("x")
    with Worktrees(root, bring=["venv", "absent", "no/folder"]) as trees:
        for tree in (trees.plain(head), trees.plain(head), trees.judged(head, head, is_test), trees.plain(head)):
            assert (tree.path / "venv" / "lib").resolve() == root / "venv" / "lib"
            assert git(tree.path, "status", "--porcelain") == ""
    assert (root / "venv" / "lib" / "x.py").exists()


def test_a_folder_that_the_patch_commits_is_not_linked_back_after_it_was_taken_out(root: Path, base: str) -> None:
    head = commit(root, {".venv/lib/sitecustomize.py": "evil"})
    with Worktrees(root, bring=[".venv"]) as trees:
        tree = trees.judged(base, head, lambda change: True)
        assert not os.path.lexists(tree.path / ".venv")


def test_no_hook_of_the_repository_runs(root: Path, base: str) -> None:
    hook = root / ".git" / "hooks" / "post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {root}/hooked\n")
    hook.chmod(0o755)
    with Worktrees(root) as trees:
        trees.plain(base)
    assert not (root / "hooked").exists()


def test_everything_is_taken_away_after_an_error_read_only_folders_too(root: Path, base: str, temporary: Path) -> None:
    def fail() -> None:
        with Worktrees(root) as trees:
            tree = trees.plain(base)
            (tree.path / "shut").mkdir()
            (tree.path / "shut" / "x").write_text("x")
            (tree.path / "shut").chmod(0o500)
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert list(temporary.iterdir()) == []
    assert worktrees(root) == 1


@pytest.fixture
def running(root: Path, base: str, temporary: Path) -> Iterator[subprocess.Popen[str]]:
    code = f"""
import sys, time
from pathlib import Path
from admit.trust.overlay import Worktrees
with Worktrees(Path({str(root)!r})) as trees:
    print(trees.plain({base!r}).path, flush=True)
    time.sleep(60)
"""
    env = {**os.environ, "TMPDIR": str(temporary)}
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=env) as child:
        assert child.stdout
        assert child.stdout.readline()
        yield child
        child.kill()


def test_a_request_to_end_takes_everything_away(root: Path, temporary: Path, running: subprocess.Popen[str]) -> None:
    running.send_signal(signal.SIGTERM)
    assert running.wait(30) == 128 + signal.SIGTERM
    assert (list(temporary.iterdir()), worktrees(root)) == ([], 1)


def test_what_a_killed_run_left_is_taken_away_by_the_next_and_a_live_one_s_is_not(
    root: Path, base: str, temporary: Path, running: subprocess.Popen[str]
) -> None:
    with Worktrees(root) as trees:
        trees.plain(base)
        assert worktrees(root) == 3
    running.kill()
    running.wait(30)
    with Worktrees(root):
        assert (len(list(temporary.iterdir())), worktrees(root)) == (1, 1)


def test_a_worktree_of_somebody_else_that_is_missing_stays_known(root: Path, base: str, tmp_path_factory) -> None:
    other = tmp_path_factory.mktemp("other") / "tree"
    git(root, "worktree", "add", "--detach", "-q", str(other))
    other.rename(other.with_name("away"))
    with Worktrees(root) as trees:
        trees.plain(base)
    assert worktrees(root) == 2


@pytest.fixture
def library(root: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the base that has a submodule, checked out."""
    source = tmp_path_factory.mktemp("library")
    git(source, "init", "-q")
    commit(source, {"lib.py": "one", ".gitignore": "*.log\n"})
    git(root, "submodule", "add", "-q", str(source), "lib")
    return commit(root, {})


def test_a_submodule_is_in_every_tree_as_its_commit_has_it_and_the_tree_is_clean(root: Path, library: str) -> None:
    commit(root / "lib", {"lib.py": "two"})
    head = commit(root, {"a.py": "b", "tests/test_a.py": "new"})
    (root / "lib" / "lib.py").write_text("not committed")
    (root / "lib" / "loose.py").write_text("not committed")
    with Worktrees(root) as trees:
        makers = (
            (lambda: trees.plain(library), "one"),
            (lambda: trees.plain(head), "two"),
            (lambda: trees.plain(library), "one"),
            (lambda: trees.judged(library, head, is_test), "two"),
            (lambda: trees.plain(library), "one"),
        )
        for make, text in makers:
            tree = make()
            assert {path.name for path in (tree.path / "lib").iterdir()} == {".git", ".gitignore", "lib.py"}
            assert ((tree.path / "lib" / "lib.py").read_text(), tree.absent) == (text, ())
            assert git(tree.path, "status", "--porcelain", "--ignored") == ""
            (tree.path / "lib" / "lib.py").write_text("written by a test")
            assert git(tree.path, "status", "--porcelain") == "M lib"
            (tree.path / "lib" / "x.log").write_text("left by a test")
    assert (root / "lib" / "lib.py").read_text() == "not committed"
    assert worktrees(root) == 1


def test_a_submodule_that_the_patch_adds_or_takes_away_is_there_where_its_commit_has_it(
    root: Path, base: str, library: str
) -> None:
    with Worktrees(root) as trees:
        assert not (trees.plain(base).path / "lib").exists()
        assert (trees.plain(library).path / "lib" / "lib.py").exists()
        assert not (trees.plain(base).path / "lib").exists()
        assert (trees.judged(base, library, is_test).path / "lib" / "lib.py").exists()


def test_a_submodule_of_the_instrument_is_as_the_base_has_it(root: Path, library: str) -> None:
    commit(root / "lib", {"lib.py": "two"})
    head = commit(root, {})
    with Worktrees(root) as trees:
        tree = trees.judged(library, head, lambda change: change.path == "lib")
        assert ((tree.path / "lib" / "lib.py").read_text(), tree.laid) == ("one", ("lib",))


def test_a_submodule_whose_objects_are_not_here_stays_empty_and_says_so(root: Path, library: str) -> None:
    git(root, "update-index", "--cacheinfo", f"160000,{'1' * 40},lib")
    git(root, "commit", "-qm", "x")
    with Worktrees(root) as trees:
        tree = trees.plain("HEAD")
        assert list((tree.path / "lib").iterdir()) == []
        (said,) = tree.absent
        assert said.startswith("the tests ran without the submodule lib at 111111111111: ")
        assert git(tree.path, "status", "--porcelain") == ""
        assert (trees.plain(library).path / "lib" / "lib.py").exists()


def test_a_bare_repository_is_refused(root: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    bare = tmp_path_factory.mktemp("bare")
    git(root, "clone", "-q", "--bare", str(root), str(bare))
    with pytest.raises(InputError, match="no working tree of git; run in a clone that is not bare"):
        Worktrees(bare)


def test_a_shallow_clone_without_the_base_is_refused_with_what_to_do(
    root: Path, base: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    commit(root, {"a.py": "b"})
    shallow = tmp_path_factory.mktemp("shallow")
    git(root, "clone", "-q", "--depth=1", f"file://{root}", str(shallow))
    with Worktrees(shallow) as trees, pytest.raises(InputError, match="this clone is shallow"):
        trees.judged(base, "HEAD", is_test)


def test_the_folders_of_worktrees_are_told_by_their_names(root: Path, base: str) -> None:
    with Worktrees(root) as trees:
        assert trees.plain(base).path.parent.name.startswith(PREFIX)
