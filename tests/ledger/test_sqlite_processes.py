"""Many processes on one ledger: killed, racing, out of space; nothing acknowledged is lost (contract G1)."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from admit.ledger.base import Entry
from admit.ledger.chain import first_misfit
from admit.ledger.sqlite import SqliteLedger

WRITER = Path(__file__).with_name("append_entries.py")


def started(path: Path, names: list[str], number: int, output: int) -> list[subprocess.Popen[bytes]]:
    """Start a writer a name, all of them saying on `output` what was acknowledged to them."""
    return [
        subprocess.Popen([sys.executable, WRITER, path, name, str(number)], stdout=output, stderr=subprocess.DEVNULL)
        for name in names
    ]


def lines(pipe: int) -> Iterator[str]:
    """Yield whole lines of a pipe until every writer is gone."""
    with open(pipe, encoding="utf-8", closefd=False) as text:
        for line in text:
            yield line.removesuffix("\n")


def read_whole(path: Path) -> list[Entry]:
    """Return every entry of a ledger that must be sound."""
    with closing(SqliteLedger(path)) as ledger:
        ledger.check_file()
        entries = list(ledger.entries())
    assert first_misfit(entries) is None
    return entries


def test_killing_every_writer_at_any_instant_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    """Eight rounds on one file: the first ones hit its making, the others the middle of appends."""
    path = tmp_path / ".admit" / "ledger.db"
    acknowledged: set[str] = set()
    for round_, lines_before_the_kill in enumerate([1, 4, 5, 6, 11, 30, 70, 25]):
        reader, writer = os.pipe()
        children = started(path, [f"r{round_}w{n}" for n in range(4)], 0, writer)
        os.close(writer)
        output = lines(reader)
        said = [next(output) for _ in range(lines_before_the_kill)]
        for child in children:
            child.send_signal(signal.SIGKILL)
        for child in children:
            assert child.wait() == -signal.SIGKILL
        said += output
        os.close(reader)
        acknowledged |= {line for line in said if not line.startswith("started ")}

        if lines_before_the_kill > 4 or path.exists():
            keys = {entry.key for entry in read_whole(path)}
            assert acknowledged <= keys
            assert len(keys) - len(acknowledged) <= 4 * (round_ + 1)  # written, and killed before it could be said

    assert len(acknowledged) > 100


def test_a_retry_after_a_kill_makes_no_second_entry(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    reader, writer = os.pipe()
    (child,) = started(path, ["w"], 0, writer)
    os.close(writer)
    output = lines(reader)
    for _ in range(20):
        next(output)
    child.kill()
    child.wait()
    os.close(reader)
    before = read_whole(path)

    done = subprocess.run([sys.executable, WRITER, path, "w", str(len(before) + 3)], capture_output=True, check=True)

    after = read_whole(path)
    assert after[: len(before)] == before
    assert [entry.key for entry in after] == [f"w-{n}" for n in range(len(before) + 3)]
    assert done.stdout.decode().splitlines()[1:] == [entry.key for entry in after]


def test_processes_that_start_together_make_one_ledger_and_one_chain(tmp_path: Path) -> None:
    path = tmp_path / "new" / ".admit" / "ledger.db"
    reader, writer = os.pipe()
    children = started(path, [f"w{n}" for n in range(8)], 25, writer)
    os.close(writer)
    said = [line for line in lines(reader) if not line.startswith("started ")]
    os.close(reader)

    assert [child.wait() for child in children] == [0] * 8
    entries = read_whole(path)
    assert [entry.key for entry in entries if entry.key.startswith("w3-")] == [f"w3-{n}" for n in range(25)]
    assert sorted(said) == sorted(entry.key for entry in entries)
    assert len(entries) == 200
    assert [name.name for name in path.parent.iterdir()] == ["ledger.db"]


@pytest.mark.parametrize(
    "limit", [pytest.param(0, id="no-file"), pytest.param(9000, id="half-a-ledger"), pytest.param(60_000, id="some")]
)
def test_a_file_that_may_not_grow_refuses_the_append_and_keeps_the_rest(tmp_path: Path, limit: int) -> None:
    path = tmp_path / "ledger.db"

    child = subprocess.run(
        [sys.executable, WRITER, path, "w", "0", str(limit)], capture_output=True, text=True, check=False
    )

    _, *said, refused = child.stdout.splitlines()
    assert child.returncode == 74
    assert refused.startswith(f"refused: {path}: ")
    assert re.search(r"the disk failed|the disk is full|cannot be opened", refused)
    assert (len(said) > 3) == (limit > 50_000)
    assert [entry.key for entry in read_whole(path)] == said


FULL_DISK = """
set -e
mount -t tmpfs -o size={size}k none "$1"
set +e
"$2" "$3" "$1/ledger.db" w 0
echo "exit $?"
mount -o remount,size=4096k "$1"
"$2" "$3" "$1/ledger.db" after 3
echo "exit $?"
cp "$1"/ledger.db "$4"
"""


@pytest.mark.parametrize("size", [pytest.param(4, id="nothing-fits"), pytest.param(300, id="some-fit")])
def test_a_full_disk_refuses_the_append_and_goes_on_once_there_is_space(tmp_path: Path, size: int) -> None:
    if not shutil.which("unshare") or subprocess.run(["unshare", "-rm", "true"], check=False).returncode:
        pytest.skip("this machine lets nobody mount a small disk of their own")
    disk, saved = tmp_path / "disk", tmp_path / "saved.db"
    disk.mkdir()

    child = subprocess.run(
        ["unshare", "-rm", "sh", "-c", FULL_DISK.format(size=size), "sh", disk, sys.executable, WRITER, saved],
        capture_output=True,
        text=True,
        check=True,
    )

    said = [line for line in child.stdout.splitlines() if not line.startswith("started ")]
    refused = said.index("exit 74") - 1
    assert said[refused].startswith(f"refused: {disk}/ledger.db: ")
    assert re.search(r"the disk is full|No space left on device|cannot be opened|the disk failed", said[refused])
    assert (refused > 3) == (size > 100)
    assert said[refused + 2 :] == ["after-0", "after-1", "after-2", "exit 0"]
    assert [entry.key for entry in read_whole(saved)] == [*said[:refused], "after-0", "after-1", "after-2"]


def traced(arguments: list[str], path: Path, log: Path) -> subprocess.CompletedProcess[str]:
    """Run a writer of three entries under strace, or skip where that is not possible."""
    command = ["strace", "-f", "-y", "-o", str(log)]
    if not shutil.which("strace") or subprocess.run([*command, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this machine has no strace that works")
    return subprocess.run(
        [*command, *arguments, sys.executable, WRITER, path, "w", "3"], capture_output=True, text=True, check=False
    )


def test_an_append_is_acknowledged_only_after_the_disk_has_it(tmp_path: Path) -> None:
    """The log is synced between one acknowledgement and the next; so is the folder before the first."""
    path, log = tmp_path / "ledger.db", tmp_path / "trace"

    child = traced(["-e", "trace=fsync,fdatasync,write"], path, log)

    assert child.returncode == 0
    calls = log.read_text()
    steps = re.split(r'write\(1<[^>]*>, "w-\d\\n"', calls)
    assert len(steps) == 4
    for step in steps[:3]:
        assert re.search(rf"(fsync|fdatasync)\(\d+<{re.escape(str(path))}-wal>\) += 0", step)
    assert re.search(rf"fsync\(\d+<{re.escape(str(tmp_path))}>\) += 0", steps[0].rpartition("ledger.db-wal>")[2])


@pytest.mark.parametrize(
    "calls", [pytest.param("fsync,fdatasync", id="of-anything"), pytest.param("fsync", id="of-the-folder")]
)
def test_a_disk_that_fails_to_sync_is_never_acknowledged(tmp_path: Path, calls: str) -> None:
    path = tmp_path / "ledger.db"
    SqliteLedger(path).close()

    child = traced(["-e", f"inject={calls}:error=EIO"], path, tmp_path / "trace")

    _, refused = child.stdout.splitlines()
    assert child.returncode == 74
    assert refused.startswith(f"refused: {path}: ")
    assert re.search("the disk failed|Input/output error", refused)


def test_a_repeated_append_syncs_what_a_killed_writer_may_not_have(tmp_path: Path) -> None:
    path, log = tmp_path / "ledger.db", tmp_path / "trace"
    subprocess.run([sys.executable, WRITER, path, "w", "3"], capture_output=True, check=True)
    with closing(SqliteLedger(path)) as holder:  # keeps the log from being folded in and removed
        holder.last(1)

        child = traced(["-e", "trace=fsync,fdatasync,write"], path, log)

    assert child.returncode == 0
    steps = re.split(r'write\(1<[^>]*>, "w-\d\\n"', log.read_text())
    assert len(steps) == 4
    for step in steps[:3]:
        assert re.search(rf"fsync\(\d+<{re.escape(str(path))}-wal>\) += 0", step)
