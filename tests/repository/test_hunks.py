"""What is asked of git for the scope: commits in one go, contents in one go."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from admit.errors import InputError
from admit.repository.hunks import commits, contents


def git(root: Path, *words: str) -> str:
    who = ("-c", "user.name=n", "-c", "user.email=n@example.invalid", "-c", "commit.gpgsign=false")
    return subprocess.run(["git", *who, *words], cwd=root, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q", "-b", "main")
    (tmp_path / "a.py").write_text("a = 1\n")
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "b c.py").write_bytes(b"b\0\n\n")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "one")
    return tmp_path


def test_the_top_and_the_commits_are_found_from_a_folder_inside(root: Path) -> None:
    head = git(root, "rev-parse", "HEAD")
    assert commits(root / "deep", "HEAD", "main") == (os.path.realpath(root), (head, head))
    assert commits(root) == (os.path.realpath(root), ())


@pytest.mark.parametrize("ref", ["", "-x", "--all", "no-such", "HEAD:a.py", "HEAD..HEAD", "HEAD^{tree}", "a\nb"])
def test_what_names_no_commit_is_refused(root: Path, ref: str) -> None:
    with pytest.raises(InputError):
        commits(root, "HEAD", ref)


def test_a_folder_outside_of_any_repository_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no repository of git"):
        commits(tmp_path, "HEAD")


def test_contents_come_by_id_and_by_path_and_what_is_no_blob_is_none(root: Path) -> None:
    key = git(root, "rev-parse", "HEAD:a.py")
    names = [
        key,
        "HEAD:deep/b c.py",
        "HEAD:deep",
        "HEAD:none",
        "HEAD:x blob 3",
        "HEAD:x blob",
        "0" * 40,
        "main:a.py",
        key,
    ]
    assert contents(root, names) == {
        key: b"a = 1\n",
        "HEAD:deep/b c.py": b"b\0\n\n",
        "HEAD:deep": None,
        "HEAD:none": None,
        "HEAD:x blob 3": None,
        "HEAD:x blob": None,
        "0" * 40: None,
        "main:a.py": b"a = 1\n",
    }
    assert contents(root, []) == {}


def test_a_name_with_a_line_end_is_refused(root: Path) -> None:
    with pytest.raises(InputError, match="line end"):
        contents(root, ["HEAD:a\nb"])
