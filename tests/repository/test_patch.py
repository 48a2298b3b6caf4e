"""What git says of a patch, asked of the real git."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from admit.errors import InputError
from admit.repository import Change, blob, blobs, changes, merge_base, names, resolve, trailers

if TYPE_CHECKING:
    from pathlib import Path


def git(root: Path, *words: str) -> str:
    who = ("-c", "user.name=n", "-c", "user.email=n@example.invalid", "-c", "commit.gpgsign=false")
    done = subprocess.run(["git", *who, *words], cwd=root, check=True, capture_output=True)
    return done.stdout.decode("utf-8", "surrogateescape").strip()


def commit(root: Path, message: str = "x") -> str:
    git(root, "add", "-A")
    git(root, "commit", "-q", "--allow-empty", "-m", message)
    return git(root, "rev-parse", "HEAD")


def written(root: Path) -> str:
    """Return a commit of what the index holds, whatever lies in the working tree."""
    return git(root, "commit-tree", git(root, "write-tree"), "-m", "x")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q", "-b", "main")
    (tmp_path / "a.py").write_text("a\n")
    (tmp_path / "b.py").write_text("b\n")
    commit(tmp_path, "one")
    return tmp_path


def test_each_changed_added_and_deleted_file_is_told_with_modes_and_blobs(root: Path) -> None:
    base = resolve(root, "HEAD")
    (root / "a.py").write_text("other\n")
    (root / "b.py").unlink()
    (root / "c.sh").write_text("c\n")
    (root / "c.sh").chmod(0o755)
    head = commit(root)
    a, b, c = changes(root, base, head)
    assert (a.path, a.old_mode, a.new_mode) == ("a.py", "100644", "100644")
    assert blobs(root, [a.old_blob, a.new_blob]) == {a.old_blob: b"a\n", a.new_blob: b"other\n"}
    assert (b.path, b.new_mode, b.new_blob, b.is_deleted, b.is_added) == ("b.py", "000000", None, True, False)
    assert (c.path, c.old_mode, c.new_mode, c.old_blob, c.is_added) == ("c.sh", "000000", "100755", None, True)


def test_a_rename_is_a_file_that_went_and_one_that_came(root: Path) -> None:
    git(root, "config", "diff.renames", "copies")
    base = resolve(root, "HEAD")
    git(root, "mv", "a.py", "z.py")
    assert [(c.path, c.is_deleted, c.is_added) for c in changes(root, base, commit(root))] == [
        ("a.py", True, False),
        ("z.py", False, True),
    ]


def test_a_submodule_that_moved_is_a_change_whatever_the_configuration_says(root: Path) -> None:
    git(root, "config", "diff.ignoreSubmodules", "all")
    one, two = "1" * 40, "2" * 40
    git(root, "update-index", "--add", "--cacheinfo", f"160000,{one},vendor/lib")
    base = written(root)
    git(root, "update-index", "--cacheinfo", f"160000,{two},vendor/lib")
    head = written(root)
    assert changes(root, base, head) == (Change("vendor/lib", "160000", "160000", one, two),)


def test_a_link_in_the_place_of_a_file_shows_in_the_modes(root: Path) -> None:
    base = resolve(root, "HEAD")
    (root / "a.py").unlink()
    (root / "a.py").symlink_to("b.py")
    (change,) = changes(root, base, commit(root))
    assert change.modes == {"100644", "120000"}


def test_names_with_newlines_and_bytes_that_are_not_utf8_survive(root: Path) -> None:
    base = resolve(root, "HEAD")
    odd = [b"new\nline.py", b"\xff\xfe.py", "tab\tä".encode()]
    for name in odd:
        with open(os.path.join(os.fsencode(root), name), "wb") as file:
            file.write(name)
    head = commit(root)
    found = {c.path.encode("utf-8", "surrogateescape") for c in changes(root, base, head)}
    assert found == set(odd)
    assert [blob(root, head, name.decode("utf-8", "surrogateescape")) for name in odd] == odd


def test_paths_count_from_the_top_also_in_a_folder_below_it(root: Path) -> None:
    git(root, "config", "diff.relative", "true")
    base = resolve(root, "HEAD")
    (root / "sub").mkdir()
    (root / "sub" / "x.py").write_text("x")
    (root / "y.py").write_text("y")
    head = commit(root)
    assert [c.path for c in changes(root / "sub", base, head)] == ["sub/x.py", "y.py"]
    assert blob(root / "sub", head, "sub/x.py") == b"x"
    assert names(root / "sub", head) == {"a.py", "b.py", "sub", "y.py"}


def test_a_file_that_a_commit_does_not_have_is_none_and_so_is_a_folder(root: Path) -> None:
    (root / "sub").mkdir()
    (root / "sub" / "x").write_text("x")
    head = commit(root)
    assert [blob(root, head, path) for path in ("sub", "sub/y", "*.py", "")] == [None] * 4
    assert blob(root, head, "a.py") == b"a\n"


def test_what_stands_in_a_folder_is_listed_by_path(root: Path) -> None:
    (root / "src" / "shop").mkdir(parents=True)
    (root / "src" / "shop" / "x").write_text("x")
    head = commit(root)
    assert names(root, head) == {"a.py", "b.py", "src"}
    assert names(root, head, "src") == {"src/shop"}
    assert names(root, head, "lib") == frozenset()


def test_a_blob_that_is_missing_is_refused_and_not_called_absent(root: Path) -> None:
    with pytest.raises(InputError, match="no such blob in this repository; fetch the whole history"):
        blobs(root, ["1" * 40])


def test_many_blobs_of_any_content_come_from_one_child(root: Path) -> None:
    for number, content in enumerate([b"", b"\n\n", b"a\0b", b"x" * 100_000]):
        (root / f"f{number}").write_bytes(content)
    base = resolve(root, "HEAD")
    added = changes(root, base, commit(root))
    held = blobs(root, [c.new_blob for c in added])
    assert [held[c.new_blob] for c in added] == [b"", b"\n\n", b"a\0b", b"x" * 100_000]
    assert blobs(root, []) == {}


def test_the_merge_base_is_where_two_lines_parted(root: Path) -> None:
    parted = resolve(root, "HEAD")
    git(root, "checkout", "-qb", "patch")
    commit(root, "there")
    git(root, "checkout", "-q", "main")
    commit(root, "here")
    assert merge_base(root, "main", "patch") == parted


def test_lines_with_nothing_in_common_are_refused_with_what_to_do(root: Path) -> None:
    git(root, "checkout", "-q", "--orphan", "alone")
    commit(root)
    with pytest.raises(InputError, match="no commit in common; name a base that the patch started from"):
        merge_base(root, "main", "alone")


def test_a_shallow_clone_without_the_base_says_how_to_get_it(root: Path, tmp_path: Path) -> None:
    old = resolve(root, "HEAD")
    commit(root)
    shallow = tmp_path / "shallow"
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{root}", str(shallow))
    with pytest.raises(InputError, match="this clone is shallow: fetch the whole history"):
        changes(shallow, old, "HEAD")


def test_replacements_and_grafts_do_not_change_what_a_commit_is(root: Path) -> None:
    base = resolve(root, "HEAD")
    (root / "a.py").write_text("broken\n")
    head = commit(root)
    honest = changes(root, base, head)
    git(root, "replace", head, base)
    (root / ".git" / "info" / "grafts").write_text(f"{head}\n")
    assert changes(root, base, head) == honest
    assert merge_base(root, base, head) == base


def test_trailers_are_read_from_the_commits_of_the_patch_alone_oldest_first(root: Path) -> None:
    commit(root, "b\n\nAdmit-Rename: not => mine")
    base = resolve(root, "HEAD")
    commit(root, "c\n\nAdmit-Rename: a => b\nAdmit-Rename: c =>\n  d\nOther: x")
    commit(root, "d\n\nadmit-rename: e => f")
    commit(root, "no trailer\n\nAdmit-Rename: is in the text\n\nand not at its end")
    assert trailers(root, base, "HEAD", "Admit-Rename") == ("a => b", "c => d", "e => f")


def test_configuration_changes_no_trailer(root: Path) -> None:
    base = resolve(root, "HEAD")
    commit(root, "c\n\nAdmit-Rename: a => b")
    for key, value in (("trailer.separators", "="), ("log.showSignature", "true"), ("core.commentChar", "A")):
        git(root, "config", key, value)
    assert trailers(root, base, "HEAD", "Admit-Rename") == ("a => b",)


def test_a_key_that_could_be_a_format_is_refused() -> None:
    from pathlib import Path

    with pytest.raises(InputError, match="cannot be the name of a trailer"):
        trailers(Path(), "a", "b", "x,valueonly=no)%H")
