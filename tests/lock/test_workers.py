"""Any number of workers, of whatever kind, read the same (contract L6)."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.errors import InputError
from admit.lock.hashing import Job
from admit.lock.manifest import manifest_lines
from admit.lock.workers import (
    LARGE_BYTES,
    MANY_FILES,
    Batch,
    Work,
    _read_here,
    _read_in_threads,
    _way,
    _would_wait,
    batches_of,
    read_all,
)

jobs = st.lists(st.builds(Job, st.sampled_from([b"", b"a"]), st.lists(st.binary(max_size=1), max_size=700)), max_size=4)


@given(jobs)
def test_batches_hold_every_file_once_in_order(some: list[Job]) -> None:
    def flat(each: list[Job]) -> list[tuple[bytes, bytes]]:
        return [(job.folder, name) for job in each for name in job.names]

    parts = batches_of(some)
    assert flat([job for part in parts for job in part.jobs]) == flat(some)
    assert all(0 < part.files <= 256 for part in parts)
    assert sum(part.files for part in parts) == sum(len(job.names) for job in some)


@given(st.lists(st.tuples(st.sampled_from([b"", b"a", b"b/c"]), st.lists(st.sampled_from([b"x", b"yy"]), max_size=40))))
def test_each_batch_knows_where_the_lines_of_its_files_stand(some: list[tuple[bytes, list[bytes]]]) -> None:
    made = [Job(folder, names) for folder, names in some]

    def lines(jobs: list[Job]) -> bytes:
        return b"".join(manifest_lines(job.prefix, job.names, [bytes(32)] * len(job.names)) for job in jobs)

    for batch in batches_of(made):
        assert lines(made)[batch.start : batch.end] == lines(batch.jobs)


def test_small_folders_share_a_batch() -> None:
    assert len(batches_of([Job(b"%d" % number, [b"x"]) for number in range(5000)])) < 1000


def tree(root: Path) -> list[Job]:
    made = []
    for folder in ("a", "b/c", "d"):
        (root / folder).mkdir(parents=True)
        names = [f"{number:03}" for number in range(90)]
        for name in names:
            (root / folder / name).write_bytes(name.encode() * int(name))
        (root / folder / "005").chmod(0o755)
        os.mkfifo(root / folder / "pipe")
        made.append(Job(folder.encode(), [name.encode() for name in [*names, "none", "pipe"]]))
    return made


SCRIPT = """
import os, signal, sys
from admit.lock.hashing import Job
from admit.lock.workers import AS_EXPECTED, Work, _can_fork, _read_here, _read_in_children, batches_of
how = sys.argv[1]
names = {folder: sorted(os.fsencode(name) for name in os.listdir(folder)) for folder in ("a", "b/c", "d")}
odd = {b"pipe"} if how == "expecting" else set()
jobs = [Job(folder.encode(), [name for name in each if name not in odd]) for folder, each in names.items()]
work = Work(os.open(".", os.O_RDONLY), batches_of(jobs), b"")
if how == "expecting":
    text = b"".join(read.text for _, read in _read_here(work))
    work = work._replace(expected=text.replace(b"d/005", b"d/xxx"))
here = dict(_read_here(work))
assert {read.text is AS_EXPECTED for read in here.values()} == {how == "expecting", False}
if how == "kill":
    children = f"/proc/{os.getpid()}/task/{os.getpid()}/children"
    reads = _read_in_children(work)
    found = dict([next(reads)])
    with open(children) as file:
        for pid in file.read().split():
            os.kill(int(pid), signal.SIGKILL)
    for index, read in reads:
        assert index not in found
        found[index] = read
else:
    assert _can_fork()
    found = dict(_read_in_children(work))
assert found == here, "different"
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    print("same, and nobody left behind")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="children are forked on Linux only")
@pytest.mark.parametrize(
    "how",
    [
        pytest.param("", id="all live"),
        pytest.param("expecting", id="expecting nearly all"),
        pytest.param("kill", id="all killed on the way"),
    ],
)
def test_forked_children_read_what_one_process_reads(tmp_path: Path, how: str) -> None:
    """In a process of its own, since one with threads does not fork."""
    tree(tmp_path)
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT, how], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (ran.stdout, ran.stderr) == ("same, and nobody left behind\n", "")


@pytest.fixture
def root_fd(tmp_path: Path) -> Iterator[int]:
    fd = os.open(tmp_path, os.O_RDONLY)
    yield fd
    os.close(fd)


def test_threads_read_what_one_process_reads(tmp_path: Path, root_fd: int) -> None:
    work = Work(root_fd, batches_of(tree(tmp_path)), b"")
    assert dict(_read_in_threads(work)) == dict(_read_here(work))


def test_an_error_in_a_thread_reaches_the_caller(root_fd: int) -> None:
    broken = Batch([Job(b"", [None])], 0, 0)  # type: ignore[list-item]
    with pytest.raises(TypeError):
        list(_read_in_threads(Work(root_fd, [broken], b"")))


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param(lambda text: text, id="nothing"),
        pytest.param(lambda text: b"", id="nothing expected"),
        pytest.param(lambda text: text.replace(b"a/005", b"a/xxx"), id="one name"),
        pytest.param(lambda text: text + b"more", id="more at the end"),
        pytest.param(lambda text: text[:-9], id="less at the end"),
        pytest.param(lambda text: b"x" + text, id="everything later"),
        pytest.param(lambda text: text.swapcase(), id="everything"),
    ],
)
def test_what_is_expected_changes_nothing(tmp_path: Path, wrong: Callable[[bytes], bytes]) -> None:
    jobs = [job._replace(names=job.names[:-2]) for job in tree(tmp_path)]
    read = read_all(os.fsencode(tmp_path), jobs)
    assert read.files == 270
    assert read_all(os.fsencode(tmp_path), jobs, expected=wrong(read.text)) == read


def test_what_is_expected_changes_nothing_where_files_cannot_be_read(tmp_path: Path) -> None:
    jobs = tree(tmp_path)
    read = read_all(os.fsencode(tmp_path), jobs)
    assert read_all(os.fsencode(tmp_path), jobs, expected=read.text) == read


def test_the_way_fits_the_files(tmp_path: Path) -> None:
    with open(tmp_path / "large", "wb") as file:
        file.truncate(LARGE_BYTES)
    (tmp_path / "small").write_bytes(b"x")
    root = os.fsencode(tmp_path)
    many = [Job(b"", [b"none"] * MANY_FILES)]
    several = hasattr(os, "sched_getaffinity") and len(os.sched_getaffinity(0)) > 1
    assert _way(root, [Job(b"", [b"small", b"none"])]) == "here"
    assert _way(root, [Job(b"", [b"large", b"none"])]) == ("threads" if several else "here")
    assert _way(root, many) in (("threads", "children") if several else ("here",))


@pytest.mark.skipif(sys.platform != "linux", reason="asked on Linux only")
def test_whether_a_file_is_in_memory_is_known(tmp_path: Path, root_fd: int) -> None:
    (tmp_path / "x").write_bytes(b"x" * 4096)
    assert not _would_wait(root_fd, b"x")
    assert not _would_wait(root_fd, b"none")
    with open(tmp_path / "x", "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    kind = subprocess.run(["stat", "-f", "-c", "%T", tmp_path], capture_output=True, text=True, check=True).stdout
    if kind.strip() not in ("ext2/ext3", "xfs", "btrfs"):
        pytest.skip("this file system may keep it in memory all the same")
    assert _would_wait(root_fd, b"x")


def test_progress_ends_with_everything(tmp_path: Path) -> None:
    calls: list[tuple[int, int, int]] = []
    made = tree(tmp_path)
    read = read_all(os.fsencode(tmp_path), made, progress=lambda *numbers: calls.append(numbers))
    assert calls == sorted(calls)
    assert calls[-1] == (sum(len(job.names) for job in made), sum(len(job.names) for job in made), read.total_bytes)


def test_a_root_that_is_none_is_taught(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="none: cannot be opened: No such file"):
        read_all(os.fsencode(tmp_path / "none"), [])


MEMORY = """
import os, resource, sys
from admit.lock.hashing import Job
from admit.lock.workers import read_all
read_all(os.fsencode(sys.argv[1]), [Job(b"", [b"small"])])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
read_all(os.fsencode(sys.argv[1]), [Job(b"", [b"large", b"other"])])
after = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
print((after - before) // 1024)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="counts memory in the unit of Linux")
def test_memory_does_not_grow_with_the_size_of_a_file(tmp_path: Path) -> None:
    """Contract L6: 256 MiB read in a process that grows by less than 8."""
    (tmp_path / "small").write_bytes(b"x")
    for name in ("large", "other"):
        with open(tmp_path / name, "wb") as file:
            file.truncate(1 << 27)
    ran = subprocess.run([sys.executable, "-c", MEMORY, tmp_path], capture_output=True, text=True, check=True)
    assert int(ran.stdout) < 8
