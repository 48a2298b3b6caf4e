"""A walk finds what the patterns take, in the manifest's order, and follows no link (contract L2, L4)."""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from admit.lock.globs import Globs
from admit.lock.observed import Gone, LinkSeen, Walked
from admit.lock.walk import look_at_gone, look_at_link, walk


def walked(root: Path, *sets: tuple[str, ...], hidden: tuple[bytes, ...] = ()) -> Walked:
    globs = {f"s{at}": Globs(patterns, "w") for at, patterns in enumerate(sets or (("**",),))}
    return walk(os.fsencode(root), globs, hidden=hidden)


def files(found: Walked) -> list[tuple[bytes, int]]:
    return [(folder.prefix + name, folder.sets) for folder in found.folders for name in folder.names]


def put(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(b"")


def test_each_file_comes_with_its_sets(tmp_path: Path) -> None:
    put(tmp_path, "d/a.txt", "d/b.bin", "d/in/c.txt", "x/y.txt")
    found = walked(tmp_path, ("d/**",), ("**/*.txt", "!x/"))
    assert files(found) == [(b"d/a.txt", 3), (b"d/b.bin", 1), (b"d/in/c.txt", 3)]
    assert found.counts() == {3: 2, 1: 1}


names = st.lists(st.sampled_from(["a", "a.b", "a-b", "ab", "b", "\u00e9"]), min_size=1, max_size=3).map("/".join)


@given(st.sets(names, max_size=8), st.sampled_from([("**",), ("a/**", "a.b"), ("**", "!a/"), ("*b",)]))
@settings(max_examples=50)
def test_files_come_in_the_order_of_their_paths_bytes(paths: set[str], patterns: tuple[str, ...]) -> None:
    """Their lines then make a manifest's one text without being sorted."""
    with tempfile.TemporaryDirectory() as folder:
        kept = []
        for name in sorted(paths):
            if not any(name.startswith(f"{one}/") or one.startswith(f"{name}/") for one in kept):
                put(Path(folder), name)
                kept.append(name)
        found = [path for path, _ in files(walked(Path(folder), patterns))]
        globs = Globs(patterns, "w")
        assert found == sorted(name.encode() for name in kept if globs.match(name.encode()))


def test_git_and_admit_folders_and_hidden_files_are_never_taken(tmp_path: Path) -> None:
    put(tmp_path, ".git/config", "sub/.git", "sub/.git2", ".admit/x", "admit.lock", "sub/admit.lock", "deep/admit.lock")
    (tmp_path / "deep/.git").symlink_to("../.git")
    found = walked(tmp_path, hidden=(b"admit.lock", b"deep/admit.lock"))
    assert found.links == []
    assert files(found) == [(b"sub/.git2", 1), (b"sub/admit.lock", 1)]


def test_what_is_no_file_is_told_and_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Opening the pipe would wait for a writer for ever."""
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
    found = walked(tmp_path, ("pipe", "socket"), ("socket",))
    assert [(one.path, one.sets, one.stands) for one in found.refused] == [
        (b"pipe", 1, "pipe"),
        (b"socket", 3, "socket"),
    ]
    assert walked(tmp_path, ("other",)).refused == []


def test_a_device_is_told(tmp_path: Path) -> None:
    try:
        os.mknod(tmp_path / "null", 0o20666, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("only the superuser makes devices")
    assert [one.stands for one in walked(tmp_path).refused] == ["device"]


def test_a_folder_that_cannot_be_listed_is_an_error_for_the_sets_that_reach_it(
    tmp_path: Path, as_nobody: Callable[[Path], AbstractContextManager[None]]
) -> None:
    put(tmp_path, "d/closed/a", "d/b")
    tmp_path.chmod(0o755)
    (tmp_path / "d/closed").chmod(0)
    with as_nobody(tmp_path):
        found = walked(Path(), ("d/**",), ("d/b",), ("**/x",))
    (tmp_path / "d/closed").chmod(0o755)
    assert [(one.path, one.sets, one.error) for one in found.refused] == [(b"d/closed", 5, "Permission denied")]
    assert files(found) == [(b"d/b", 3)]


def test_links_are_told_with_where_they_end_and_never_followed(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    put(root, "d/a", "e/in/b")
    put(tmp_path, "outside")
    links = {
        "file": "d/a",
        "folder": "e",
        "chain": "file",
        "dangling": "nowhere",
        "loop": "loop",
        "up": "../outside",
        "back": "../tree/d/a",
        "absolute": str(root / "d/a"),
    }
    for name, target in links.items():
        (root / name).symlink_to(target)
    found = {one.path.decode(): one for one in walked(root).links}
    assert {name: one.target.decode() for name, one in found.items()} == links
    ends = {name: (one.leads_to, one.stands, one.beneath) for name, one in found.items()}
    assert ends == {
        "file": (b"d/a", "file", ()),
        "folder": (b"e", "directory", (b"e/in/b",)),
        "chain": (b"d/a", "file", ()),
        "dangling": (b"nowhere", "absent", ()),
        "loop": (b"loop", "absent", ()),
        "up": (None, "absent", ()),
        "back": (b"d/a", "file", ()),
        "absolute": (None, "absent", ()),
    }
    assert files(walked(root)) == [(b"d/a", 1), (b"e/in/b", 1)]


def test_a_link_through_a_folder_that_leads_out_leads_out(tmp_path: Path) -> None:
    put(tmp_path, "elsewhere/a")
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree/way").symlink_to("../elsewhere")
    (tmp_path / "tree/innocent").symlink_to("way/a")
    assert look_at_link(os.fsencode(tmp_path / "tree"), b"innocent", 1).leads_to is None


def test_a_root_that_is_itself_a_link_is_the_root(tmp_path: Path) -> None:
    put(tmp_path, "real/a")
    (tmp_path / "real/link").symlink_to("a")
    (tmp_path / "way").symlink_to("real")
    found = walked(tmp_path / "way")
    assert files(found) == [(b"a", 1)]
    assert found.links == [LinkSeen(b"link", b"a", 1, b"a", "file")]


def test_what_stands_at_a_path_that_was_not_met(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    put(root, "file", "folder/x")
    put(tmp_path, "outside/x")
    (root / "link").symlink_to("file")
    (root / "inner").symlink_to("folder")
    (root / "outer").symlink_to("../outside")
    os.mkfifo(root / "pipe")
    cases = {
        b"file": Gone(b"file", "file"),
        b"folder": Gone(b"folder", "directory"),
        b"link": Gone(b"link", "link"),
        b"pipe": Gone(b"pipe", "pipe"),
        b"none": Gone(b"none", "absent"),
        b"none/x": Gone(b"none/x", "absent"),
        b"file/x": Gone(b"file/x", "absent"),
        b"inner/x": Gone(b"inner/x", "behind-link", via=b"inner"),
        b"outer/x": Gone(b"outer/x", "behind-link", via=b"outer", is_outside=True),
    }
    assert {path: look_at_gone(os.fsencode(root), path) for path in cases} == cases
