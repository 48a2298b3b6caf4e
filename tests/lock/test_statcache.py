"""A stat cache may serve a person; it says so, and trusts no time that could lie (contract L6)."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from admit.lock.check import check, read_lock_files
from admit.lock.hashing import SETTLED_NS, stamp
from admit.lock.observed import Observed
from admit.lock.report import LockReport
from admit.lock.statcache import Entry, current, read_cache, write_cache

Repository = Any  # conftest's
DIGEST = b"a" * 64


def fast(repository: Repository) -> LockReport:
    root = str(repository.root)
    return check(root, read_lock_files(root), fast_cache=str(repository / ".admit/lock.cache"))


def observed(root: Path, name: str) -> Observed:
    times = os.lstat(root / name)
    return Observed(name.encode(), "read", bytes.fromhex(DIGEST.decode()), times.st_size, stamp=stamp(times))


@pytest.fixture
def settled(pinned: Repository) -> Repository:
    """Return the pinned repository with a cache from a time when its files had long been as they are."""
    root = os.fsencode(pinned.root)
    read = [
        observed(pinned.root, line[66:])._replace(digest=bytes.fromhex(line[:64]))
        for line in (pinned / "admit.sha256").read_text().splitlines()
    ]
    write_cache(root, str(pinned / ".admit/lock.cache"), {}, read, started=time.time_ns() + 10 * SETTLED_NS)
    return pinned


def test_a_cached_answer_is_marked_and_is_no_evidence(settled: Repository) -> None:
    report = fast(settled)
    assert (report.state, report.cached, report.is_evidence, report.files) == ("match", True, False, 4)
    assert report._replace(cached=False) == settled.check()


def test_files_that_the_cache_holds_are_not_read(settled: Repository) -> None:
    """Seen from what a lie in the cache does: only `fast` believes it."""
    path = settled / ".admit/lock.cache"
    digest = (settled / "admit.sha256").read_bytes()[:64]
    path.write_bytes(path.read_bytes().replace(digest, DIGEST))
    assert [one.kind for one in fast(settled).differences] == ["changed-while-reading"]
    assert settled.check().state == "match"


@pytest.mark.parametrize(
    ("name", "how"),
    [
        pytest.param("data/a.txt", lambda p: p.write_bytes(b"six\ntwo\n"), id="the same size"),
        pytest.param("data/a.txt", lambda p: p.chmod(0o755), id="mode"),
        pytest.param("data/a.txt", lambda p: p.unlink(), id="removed"),
        pytest.param("data/in/new", lambda p: p.write_bytes(b""), id="added"),
        pytest.param("data/a.txt", lambda p: (p.unlink(), p.symlink_to("b.bin")), id="a link"),
    ],
)
def test_a_change_is_seen_beside_the_cache(settled: Repository, name: str, how: object) -> None:
    how(settled / name)  # type: ignore[operator]
    assert fast(settled).differences == settled.check().differences != ()


def test_a_rewrite_that_puts_size_and_time_back_is_seen(settled: Repository) -> None:
    """The kernel keeps the time of the last change to the file's own entry, which nobody can set."""
    path = settled / "data/a.txt"
    times = path.stat()
    path.write_bytes(b"six\ntwo\n")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert fast(settled).state == "drifted"


def test_the_cache_is_written_and_used_again(settled: Repository) -> None:
    path = settled / ".admit/lock.cache"
    before = path.read_bytes()
    fast(settled)
    assert path.read_bytes() == before
    path.unlink()
    fast(settled)
    assert path.read_bytes().count(b"\n") == 1, "files that are this fresh are not to be trusted"


@pytest.mark.parametrize(
    ("age_ns", "is_kept"),
    [
        pytest.param(SETTLED_NS + 1, True, id="settled"),
        pytest.param(SETTLED_NS, False, id="just not"),
        pytest.param(-SETTLED_NS, False, id="from the future"),
    ],
)
def test_a_file_whose_times_are_too_fresh_is_left_out(tmp_path: Path, age_ns: int, is_kept: bool) -> None:
    """Contract L6: what changes again within one tick of the clock has the same times."""
    (tmp_path / "x").write_bytes(b"x")
    one = observed(tmp_path, "x")
    cache = str(tmp_path / "cache")
    write_cache(os.fsencode(tmp_path), cache, {}, [one], started=max(one.stamp[1:3]) + age_ns)
    assert (b"x" in read_cache(os.fsencode(tmp_path), cache)) is is_kept


def test_entries_are_read_back(tmp_path: Path) -> None:
    entries = {b"a b": Entry(DIGEST, b"1_2"), b"\xff ": Entry(DIGEST, b"3")}
    cache = str(tmp_path / "in/cache")
    write_cache(os.fsencode(tmp_path), cache, entries, [], started=0)
    assert read_cache(os.fsencode(tmp_path), cache) == entries
    assert [path.name for path in (tmp_path / "in").iterdir()] == ["cache"]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"x\n", id="another head"),
        pytest.param(b"HEAD", id="no end"),
        pytest.param(b"HEAD\n" + DIGEST + b" 1_2 x", id="cut off"),
        pytest.param(b"HEAD\n" + DIGEST + b" 1_2 x\n" + DIGEST + b" 1_2 y", id="cut off later"),
        pytest.param(b"HEAD\n" + DIGEST + b" 1_2\n", id="no name"),
        pytest.param(b"HEAD\n" + b"g" * 64 + b" 1_2 x\n", id="no digest"),
        pytest.param(b"HEAD\n\n", id="an empty line"),
    ],
)
def test_an_odd_cache_is_none(tmp_path: Path, text: bytes) -> None:
    root, cache = os.fsencode(tmp_path), str(tmp_path / "cache")
    write_cache(root, cache, {}, [], started=0)
    head = Path(cache).read_bytes().rstrip(b"\n")
    Path(cache).write_bytes(text.replace(b"HEAD", head))
    assert read_cache(root, cache) == {}
    Path(cache).write_bytes(head + b"\n" + DIGEST + b" 1_2 x\n")
    assert read_cache(root, cache) == {b"x": Entry(DIGEST, b"1_2")}
    assert read_cache(os.fsencode(tmp_path.parent), cache) == {}, "of another tree"


def test_a_cache_that_cannot_be_written_is_only_slower(settled: Repository) -> None:
    root = str(settled.root)
    assert check(root, read_lock_files(root), fast_cache="/proc/none/cache").state == "match"


def test_a_git_lfs_pointer_is_never_cached(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"x")
    one = observed(tmp_path, "x")._replace(is_lfs_pointer=True)
    write_cache(os.fsencode(tmp_path), str(tmp_path / "cache"), {}, [one], started=2**62)
    assert read_cache(os.fsencode(tmp_path), str(tmp_path / "cache")) == {}


def test_an_entry_is_for_one_state_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"x")
    (tmp_path / "x").chmod(0o755)
    entry = Entry(DIGEST, b"_".join(b"%d" % part for part in observed(tmp_path, "x").stamp))
    root = os.fsencode(tmp_path)
    seen = current(root, b"x", entry)
    assert seen is not None
    assert (seen.size, seen.is_executable) == (1, True)
    assert current(root, b"x", entry._replace(stamp=entry.stamp + b"0")) is None
    assert current(root, b"none", entry) is None
