"""Spreads the reading over all cores (boundary: processes, threads).

Child processes are forked for many files where that is safe, threads started for few and large ones. A child only reads
files and writes what it found into a pipe.
"""

from __future__ import annotations

import contextlib
import gc
import marshal
import os
import select
import signal
import struct
import sys
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, NoReturn, TypeAlias

from admit.errors import InputError
from admit.lock.hashing import new_buffer, read_job
from admit.lock.observed import Observed, Read, joined

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from admit.lock.hashing import Job

Way: TypeAlias = Literal["here", "threads", "children"]

Progress: TypeAlias = "Callable[[int, int, int], None]"
"""Called now and then with the files read, the files to read, and the bytes read."""

BATCH_FILES: Final = 256
MANY_FILES: Final = 2048
"""With fewer files than this, their sizes say whether more than one worker pays."""
LARGE_BYTES: Final = 1 << 24

_LINE_BYTES: Final = 64 + 2 + 1
"""What a line of a manifest has beside the path: the digest, two spaces, the end."""

AS_EXPECTED: Final = b"as expected"
"""This very object in the place of a text says that the text is the expected one."""

_INDEX: Final = struct.Struct("=I")
_PER_CORE: Final = 4
_MOST: Final = 16
"""Processes a core, and at most, where files have to come from a disk: most of them wait then. Otherwise one a core."""

_PROBES: Final = 16
"""How many files are asked whether they are in memory; half a millisecond."""


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _most_children() -> int:
    return max(cores(), min(_MOST, _PER_CORE * cores()))


class Batch(NamedTuple):
    """Files that one worker reads at a time; `start` and `end` say where their lines stand in the expected manifest."""

    jobs: list[Job]
    start: int
    end: int

    @property
    def files(self) -> int:
        """Return how many there are."""
        return sum(len(job.names) for job in self.jobs)


class Work(NamedTuple):
    """Everything to read beneath a root, and the manifest that it should make (empty if there is none to expect)."""

    root_fd: int
    batches: list[Batch]
    expected: bytes


def batches_of(jobs: Sequence[Job]) -> list[Batch]:
    """Return the same files, in the same order, in batches small enough to be shared out evenly.

    Where their lines stand is right if no name needs escaping; elsewhere nothing will fit there, which costs time only.
    """
    files = sum(len(job.names) for job in jobs)
    size = max(1, min(BATCH_FILES, files // (8 * _most_children())))
    shares: list[list[Job]] = []
    room = 0
    for job in jobs:
        at = 0
        while at < len(job.names):
            if room == 0:
                shares.append([])
                room = size
            names = job.names[at : at + room]
            shares[-1].append(job._replace(names=names))
            at, room = at + len(names), room - len(names)
    made = []
    end = 0
    for share in shares:
        start = end
        end += sum(len(job.names) * (len(job.prefix) + _LINE_BYTES) + sum(map(len, job.names)) for job in share)
        made.append(Batch(share, start, end))
    return made


def read_all(root: bytes, jobs: Sequence[Job], *, expected: bytes = b"", progress: Progress | None = None) -> Read:
    """Return what reading every file of some jobs gave, in the order of the jobs.

    Memory does not grow with the size of the files: a worker holds `BUFFER_BYTES` and one batch.

    Args:
        root: the repository's root.
        jobs: the files.
        expected: the manifest that they should make; it changes nothing but how much workers have to tell.
        progress: called now and then.

    Raises:
        InputError: the root cannot be opened.
    """
    try:
        root_fd = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise InputError(os.fsdecode(root), f"cannot be opened: {error.strerror}", do="name the root") from error
    try:
        work = Work(root_fd, batches_of(jobs), expected)
        files = sum(batch.files for batch in work.batches)
        reads: dict[int, Read] = {}
        looked_at = total = 0
        for index, read in _READ[_way(root, jobs)](work):
            reads[index] = read
            if progress is not None:
                looked_at += work.batches[index].files
                total += read.total_bytes
                progress(looked_at, files, total)
    finally:
        os.close(root_fd)
    return _put_together(work, [reads[index] for index in range(len(reads))])


def _put_together(work: Work, reads: list[Read]) -> Read:
    """Return one reading; the text of a worker that read what was expected is taken from there."""
    if all(read.text is AS_EXPECTED for read in reads) and work.batches and work.batches[-1].end == len(work.expected):
        return joined(reads)._replace(text=work.expected)  # most checks end here, without a copy of the text
    told = zip(reads, work.batches, strict=True)
    texts = [work.expected[batch.start : batch.end] if read.text is AS_EXPECTED else read.text for read, batch in told]
    return joined(reads)._replace(text=b"".join(texts))


def _way(root: bytes, jobs: Sequence[Job]) -> Way:
    """Return how to read these files.

    Many files want processes, since threads of Python take turns at everything but the hashing of large parts. Few and
    large ones want threads, which start at no cost. For the rest neither pays.
    """
    if cores() == 1:
        return "here"
    if sum(len(job.names) for job in jobs) >= MANY_FILES:
        return "children" if _can_fork() else "threads"
    size = 0
    for job in jobs:
        for name in job.names:
            try:
                size += os.lstat(os.path.join(root, job.prefix + name)).st_size
            except OSError:
                continue  # whoever reads it says why
    return "threads" if size >= LARGE_BYTES else "here"


def _read_here(work: Work) -> Iterator[tuple[int, Read]]:
    """Yield each batch's number and reading."""
    buffer = new_buffer()
    for index in range(len(work.batches)):
        yield index, _read_batch(work, index, buffer)


def _read_batch(work: Work, index: int, buffer: memoryview, *, is_alone: bool = False) -> Read:
    """Return what reading a batch gave, its text replaced by a mark if it is the expected one."""
    batch = work.batches[index]
    read = joined(read_job(work.root_fd, job, buffer, is_alone=is_alone) for job in batch.jobs)
    is_expected = len(read.text) == batch.end - batch.start and work.expected.startswith(read.text, batch.start)
    return read._replace(text=AS_EXPECTED) if is_expected else read


def _can_fork() -> bool:
    """Return whether a child of a fork can rely on what it inherits: Linux, and no other thread that holds a lock."""
    if sys.platform != "linux":
        return False
    try:
        return len(os.listdir("/proc/self/task")) == 1
    except OSError:
        return False


def _read_in_threads(work: Work) -> Iterator[tuple[int, Read]]:
    """Yield each batch's number and reading, in any order, from a thread a core."""
    from collections import deque
    from queue import SimpleQueue
    from threading import Thread

    turns = deque(range(len(work.batches)))
    done: SimpleQueue[tuple[int, Read] | BaseException] = SimpleQueue()

    def serve() -> None:
        try:
            buffer = new_buffer()
            with contextlib.suppress(IndexError):  # no turn is left
                while True:
                    index = turns.popleft()
                    done.put((index, _read_batch(work, index, buffer)))
        except BaseException as error:  # noqa: BLE001 - raised again where it can be caught
            done.put(error)

    threads = [Thread(target=serve, daemon=True) for _ in range(cores())]
    try:
        for thread in threads:
            thread.start()
        for _ in work.batches:
            read = done.get()
            if isinstance(read, BaseException):
                raise read
            yield read
    finally:
        turns.clear()
        for thread in threads:
            thread.join()


def _read_in_children(work: Work) -> Iterator[tuple[int, Read]]:
    """Yield each batch's number and reading, in any order, from forked children.

    What a child that died has left, this process reads itself.
    """
    left = set(range(len(work.batches)))
    turns = _turns(len(work.batches))
    children: dict[int, int] = {}
    try:
        wanted = cores() if _is_in_memory(work) else _most_children()
        for _ in range(min(wanted, len(work.batches))):
            _start_child(work, turns, children)
        for index, read in _received(children):
            if index in left:  # where a position is not moved in one step, two children may read one batch: once counts
                left.remove(index)
                yield index, read
    finally:
        _end(children)
        os.close(turns)
    buffer = new_buffer()
    for index in sorted(left):
        yield index, _read_batch(work, index, buffer)


def _is_in_memory(work: Work) -> bool:
    """Return whether most of some files, here and there among all, can be read without waiting for a disk."""
    step = max(1, len(work.batches) // _PROBES)
    jobs = [batch.jobs[0] for batch in work.batches[::step]]
    waits = [_would_wait(work.root_fd, job.prefix + job.names[0]) for job in jobs]
    return sum(waits) * 4 <= len(waits)


def _would_wait(root_fd: int, path: bytes) -> bool:
    """Return whether a file's first bytes would have to come from a disk; no where that cannot be asked."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW, dir_fd=root_fd)
    except OSError:
        return False
    try:
        os.preadv(fd, [bytearray(1)], 0, os.RWF_NOWAIT)
    except OSError as error:
        return isinstance(error, BlockingIOError)
    finally:
        os.close(fd)
    return False


def _start_child(work: Work, turns: int, children: dict[int, int]) -> None:
    """Fork one child and add it under the pipe that it writes to; without room for more processes, do not."""
    out, into = os.pipe()
    try:
        pid = os.fork()
    except OSError:
        os.close(out)
        os.close(into)
        return
    if pid == 0:
        _serve(work, turns, into)
    os.close(into)
    children[out] = pid


def _turns(number: int) -> int:
    """Return a file that hands out the numbers of the batches: forked children share its position, each takes the next.

    Linux mostly reads and moves the position in one step; where it does not, a batch is read twice and none left out.
    """
    fd = os.memfd_create("admit-jobs")
    with os.fdopen(os.dup(fd), "wb") as file:
        file.write(b"".join(_INDEX.pack(index) for index in range(number)))
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def _serve(work: Work, turns: int, into: int) -> NoReturn:
    """Read batches until none is left, then end this process without running anything that it inherited."""
    try:
        gc.disable()  # a collection would copy the memory that is shared with the parent
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        buffer = new_buffer()
        while len(turn := os.read(turns, _INDEX.size)) == _INDEX.size:
            (index,) = _INDEX.unpack(turn)
            text, files, total, executable, odd = _read_batch(work, index, buffer, is_alone=True)
            told = None if text is AS_EXPECTED else text
            message = marshal.dumps((index, told, files, total, executable, [tuple(seen) for seen in odd]))
            _write_all(into, _INDEX.pack(len(message)) + message)
        os._exit(0)
    finally:
        os._exit(1)  # the parent reads what is left, and meets the same error where it can be reported


def _write_all(fd: int, text: bytes) -> None:
    left = memoryview(text)
    while left:
        left = left[os.write(fd, left) :]


def _received(children: dict[int, int]) -> Iterator[tuple[int, Read]]:
    """Yield what the children send, whole messages only, until all have closed their end."""
    texts = {fd: bytearray() for fd in children}
    poll = select.poll()
    for fd in children:
        poll.register(fd, select.POLLIN)
    while texts:
        for fd, _ in poll.poll():
            part = os.read(fd, 1 << 16)
            if not part:
                poll.unregister(fd)
                del texts[fd]
                continue
            texts[fd] += part
            yield from _messages(texts[fd])


def _messages(text: bytearray) -> Iterator[tuple[int, Read]]:
    """Take every whole message off the front of what one child has sent so far."""
    at = 0
    while len(text) - at >= _INDEX.size:
        (size,) = _INDEX.unpack_from(text, at)
        end = at + _INDEX.size + size
        if len(text) < end:
            break
        message = bytes(text[at + _INDEX.size : end])
        index, told, files, total, executable, odd = marshal.loads(message)  # noqa: S302 - our own child wrote it
        lines = AS_EXPECTED if told is None else told
        yield index, Read(lines, files, total, executable, [Observed(*seen) for seen in odd])
        at = end
    del text[:at]


def _end(children: dict[int, int]) -> None:
    for out, pid in children.items():
        os.close(out)
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


_READ: Final[dict[Way, Callable[[Work], Iterator[tuple[int, Read]]]]] = {
    "here": _read_here,
    "threads": _read_in_threads,
    "children": _read_in_children,
}
