"""Files are read to their end while they stay the same, or told as what they are (contract L6)."""

from __future__ import annotations

import hashlib
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.lock.hashing import (
    BUFFER_BYTES,
    FIRST_BYTES,
    LFS_START,
    Job,
    _line_end_digests,
    new_buffer,
    observe,
    observe_beneath,
    read_job,
)
from admit.lock.manifest import read_manifest
from admit.lock.observed import Observed, Read

HOUR_NS = 3_600_000_000_000


@contextmanager
def opened(folder: Path) -> Iterator[int]:
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield fd
    finally:
        os.close(fd)


def read(root: Path, *names: str, folder: str = "", later: bool = True, reports_all: bool = False) -> Read:
    """Read a job as if an hour had passed since the files were written (`later`), or at once."""

    def clock() -> int:
        return time.time_ns() + (HOUR_NS if later else 0)

    job = Job(folder.encode(), [name.encode() for name in names], reports_all)
    with opened(root) as fd:
        return read_job(fd, job, new_buffer(), clock=clock)


def look(root: Path, name: str, expected: bytes = b"") -> Observed:
    with opened(root) as fd:
        return observe(fd, name.encode(), name.encode(), new_buffer(), expected)


SIZES = [0, 1, FIRST_BYTES - 1, FIRST_BYTES, FIRST_BYTES + 1, BUFFER_BYTES, FIRST_BYTES + BUFFER_BYTES, 1_000_003]


@pytest.mark.parametrize("later", [pytest.param(True, id="settled"), pytest.param(False, id="fresh")])
@pytest.mark.parametrize("reports_all", [pytest.param(True, id="reported"), pytest.param(False, id="counted")])
def test_files_of_any_size_have_the_digest_of_their_content(tmp_path: Path, later: bool, reports_all: bool) -> None:
    contents = {f"{size:07}": os.urandom(size) for size in SIZES}
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    found = read(tmp_path, *contents, later=later, reports_all=reports_all)
    assert read_manifest(found.text) == {n.encode(): hashlib.sha256(c).digest() for n, c in contents.items()}
    assert (found.files, found.total_bytes, found.executable) == (len(SIZES), sum(SIZES), [])
    assert [one.path.decode() for one in found.odd] == (list(contents) if reports_all else [])


@pytest.mark.parametrize("later", [pytest.param(True, id="settled"), pytest.param(False, id="fresh")])
def test_execute_bits_are_the_owners(tmp_path: Path, later: bool) -> None:
    for name, mode in {"a": 0o644, "b": 0o744, "c": 0o655, "d": 0o100}.items():
        (tmp_path / name).write_bytes(b"")
        (tmp_path / name).chmod(mode)
    assert sorted(read(tmp_path, "a", "b", "c", later=later).executable) == [b"b"]


@pytest.mark.parametrize("later", [pytest.param(True, id="settled"), pytest.param(False, id="fresh")])
@pytest.mark.parametrize(
    ("content", "is_pointer"),
    [
        pytest.param(LFS_START + b"\noid sha256:0\nsize 1\n", True, id="pointer"),
        pytest.param(LFS_START + b"\r\noid sha256:0\r\nsize 1\r\n", True, id="pointer with CRLF"),
        pytest.param(b"# " + LFS_START, False, id="text about one"),
        pytest.param(LFS_START + b"\n" + b"x" * 1024, False, id="too large for one"),
    ],
)
def test_a_git_lfs_pointer_is_told(tmp_path: Path, content: bytes, is_pointer: bool, later: bool) -> None:
    (tmp_path / "x").write_bytes(content)
    found = read(tmp_path, "x", later=later)
    assert [one.is_lfs_pointer for one in found.odd] == [True] * is_pointer
    assert found.files == 1


def test_what_is_no_file_by_now_is_told_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "file").write_bytes(b"x")
    found = read(tmp_path, "pipe", "folder", "link", "none", "file")
    assert [(one.path, one.outcome, one.error) for one in found.odd] == [
        (b"pipe", "not_a_file", "something that is no regular file"),
        (b"folder", "not_a_file", "a directory"),
        (b"link", "unreadable", "a symbolic link by now"),
        (b"none", "unreadable", "No such file or directory"),
    ]
    assert (found.files, found.total_bytes) == (1, 1)
    assert list(read_manifest(found.text)) == [b"file"]


def test_what_cannot_be_read_is_an_error(
    tmp_path: Path, as_nobody: Callable[[Path], AbstractContextManager[None]]
) -> None:
    (tmp_path / "x").write_bytes(b"x")
    (tmp_path / "x").chmod(0)
    tmp_path.chmod(0o755)
    with as_nobody(tmp_path):
        found = read(Path(), "x")
    assert [(one.outcome, one.error) for one in found.odd] == [("unreadable", "Permission denied")]
    assert (found.files, found.text) == (0, b"")


@pytest.mark.parametrize("folder", ["way", "d/way", "way/d"])
def test_no_link_on_the_way_is_followed(tmp_path: Path, folder: str) -> None:
    """Contract L2: not even one that was put there after the walk."""
    (tmp_path / "d/d").mkdir(parents=True)
    (tmp_path / "d/x").write_bytes(b"")
    (tmp_path / "d/d/x").write_bytes(b"")
    (tmp_path / "way").symlink_to("d")
    (tmp_path / "d/way").symlink_to("d")
    found = read(tmp_path, "x", folder=folder)
    assert (found.files, [one.outcome for one in found.odd]) == (0, ["unreadable"])
    assert read(tmp_path, "x", folder="d/d").files == 1
    with opened(tmp_path) as fd:
        assert observe_beneath(fd, f"{folder}/x".encode(), new_buffer(), b"").outcome == "unreadable"


@contextmanager
def touched_all_the_time(path: Path) -> Iterator[None]:
    stop = threading.Event()

    def touch() -> None:
        times = 0
        while not stop.is_set():
            times += 1
            os.utime(path, ns=(times, times))

    thread = threading.Thread(target=touch)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def test_a_file_that_changes_while_it_is_read_is_told_even_if_its_content_stays(tmp_path: Path) -> None:
    """Contract L6."""
    with open(tmp_path / "x", "wb") as file:
        file.truncate(1 << 26)
    with touched_all_the_time(tmp_path / "x"):
        found = read(tmp_path, "x", later=False)
    assert [one.outcome for one in found.odd] == ["changing"]
    assert (found.files, found.text) == (0, b"")


def test_a_file_that_is_not_as_long_as_it_says_is_told() -> None:
    """Files of /proc say that they are empty; their content is whatever it is when it is read."""
    if not os.path.exists("/proc/self/stat"):
        pytest.skip("no /proc here")
    assert look(Path("/proc/self"), "stat").outcome == "changing"
    assert [one.outcome for one in read(Path("/proc/self"), "stat").odd] == ["changing"]


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="no /proc here")
def test_a_file_that_changed_during_one_reading_only_is_read_again(tmp_path: Path) -> None:
    with open(tmp_path / "x", "wb") as file:
        file.truncate(1 << 26)

    is_over = threading.Event()

    def is_open() -> bool:
        for fd in os.listdir("/proc/self/fd"):
            with suppress(OSError):  # the one that listed them is closed by now
                if os.readlink(f"/proc/self/fd/{fd}") == str(tmp_path / "x"):
                    return True
        return False

    def touch_once_it_is_open() -> None:
        while not is_over.is_set():
            if is_open():
                os.utime(tmp_path / "x")
                return

    thread = threading.Thread(target=touch_once_it_is_open)
    thread.start()
    found = look(tmp_path, "x")
    is_over.set()
    thread.join()
    assert (found.outcome, found.size) == ("read", 1 << 26)


def test_a_file_that_changed_shortly_before_is_read_with_care(tmp_path: Path) -> None:
    """Its times could not tell a change during the reading; that the second reading happens shows in what it finds."""
    (tmp_path / "x").write_bytes(b"before")
    readings = []

    def clock() -> int:
        readings.append(1)
        if len(readings) == 2:  # after the quick reading, before the careful one
            (tmp_path / "x").write_bytes(b"after")
        return time.time_ns()

    with opened(tmp_path) as fd:
        found = read_job(fd, Job(b"", [b"x"]), new_buffer(), clock=clock)
    assert read_manifest(found.text) == {b"x": hashlib.sha256(b"after").digest()}


def test_when_the_clock_was_set_back_every_file_is_read_with_care(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"before")
    ticks = iter([time.time_ns() + 2 * HOUR_NS, time.time_ns() + HOUR_NS])

    def clock() -> int:
        now = next(ticks)
        if now < time.time_ns() + HOUR_NS:
            (tmp_path / "x").write_bytes(b"after")
        return now

    with opened(tmp_path) as fd:
        found = read_job(fd, Job(b"", [b"x"]), new_buffer(), clock=clock)
    assert read_manifest(found.text) == {b"x": hashlib.sha256(b"after").digest()}


lines = st.lists(st.sampled_from([b"a", b"\n", b"\r\n", b"\r", b""]), max_size=12).map(b"".join)


@given(lines, st.integers(1, 5))
def test_line_ends_are_told_apart_wherever_a_part_ends(content: bytes, part: int) -> None:
    with tempfile.TemporaryFile() as file:
        file.write(content)
        file.flush()
        lf, crlf = _line_end_digests(file.fileno(), memoryview(bytearray(part)))
    unix = content.replace(b"\r\n", b"\n")
    assert lf == hashlib.sha256(unix).digest()
    assert crlf == hashlib.sha256(unix.replace(b"\n", b"\r\n")).digest()


def test_other_line_ends_are_worked_out_only_for_a_digest_that_was_not_expected(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"a\r\nb\r\n")
    own, unix = hashlib.sha256(b"a\r\nb\r\n").digest(), hashlib.sha256(b"a\nb\n").digest()
    assert look(tmp_path, "x", own).lf_digest == b""
    assert look(tmp_path, "x", unix).lf_digest == unix
    assert look(tmp_path, "x").lf_digest == b""
