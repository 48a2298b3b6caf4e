"""Writing a document as a run goes, and sealing it (contract E3)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from admit.core import records as r
from admit.core.records import NodeRecord
from admit.errors import EvidenceError, LedgerError
from admit.evidence.read import read_document
from admit.evidence.strict import LIMITS
from admit.evidence.wire import Finish
from admit.evidence.write import DocumentWriter, close_document, survey

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from admit.core.records import Opening

    Make = Callable[..., NodeRecord]

NAME = "property_check.main.jsonl"
SEAL = {"ended": "finished", "exit_code": 0, "signal": None, "closed_by": "launcher"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / NAME


def left_open(path: Path, opening: Opening, *records: NodeRecord, finish: int | None = None) -> None:
    with DocumentWriter(path, opening) as writer:
        for record in records:
            writer.node(record)
        if finish is not None:
            writer.finish(exit_code=finish, ended="finished")


def test_a_document_that_a_writer_closed_reads_back(path: Path, opening: Opening, passed: Make) -> None:
    writer = DocumentWriter(path, opening)
    writer.plan(["a", "b"])
    writer.timing({"b", "c"})
    writer.timing(())
    writer.node(passed("a"))
    writer.node(passed("b", check="fail", message="boom"))
    writer.finish(exit_code=1, ended="finished")
    closing = writer.close(ended="finished", exit_code=1, signal=None, closed_by="pytest")
    found = read_document(path)
    assert found.opening == opening
    assert found.closing == closing
    assert found.closing[:5] == (2, "finished", 1, None, "pytest")
    assert {node: r.check_of(code) for node, code in found.codes.items()} == {"a": "pass", "b": "fail"}
    assert found.timing == {"b", "c"}
    assert found.source == str(path)


def test_every_record_is_on_disk_as_soon_as_it_is_written(path: Path, opening: Opening, passed: Make) -> None:
    writer = DocumentWriter(path, opening)
    sizes = [path.stat().st_size]
    for number in range(3):
        writer.node(passed(str(number)))
        sizes.append(path.stat().st_size)
    writer.release()
    assert sizes == sorted(set(sizes))
    assert sizes[0] > 0


def test_leaving_a_with_block_seals_nothing(path: Path, opening: Opening, passed: Make) -> None:
    left_open(path, opening, passed("a"))
    assert read_document(path).closing is None


def test_a_run_that_is_killed_leaves_what_it_got_to_and_no_seal(path: Path) -> None:
    script = """
import os, signal, sys
from admit.core.records import NodeRecord, Opening
from admit.evidence.write import DocumentWriter
writer = DocumentWriter(sys.argv[1], Opening("property_check", "p", None, None, "t", "1", "r", "n"))
writer.plan(["a", "b", "c"])
writer.node(NodeRecord("a", "pass", "match", "stable"))
writer.node(NodeRecord("b", "fail", "match", "stable"))
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", script, str(path)], check=False)
    assert done.returncode == -signal.SIGKILL
    found = read_document(path)
    assert found.closing is None
    assert {node: r.check_of(code) for node, code in found.codes.items()} == {
        "a": "not_run",
        "b": "fail",
        "c": "not_run",
    }


def test_a_document_is_never_written_over(path: Path, opening: Opening) -> None:
    left_open(path, opening)
    before = path.read_bytes()
    with pytest.raises(LedgerError, match="cannot be written: File exists; an evidence folder serves one run"):
        DocumentWriter(path, opening)
    assert path.read_bytes() == before


def test_a_writer_does_not_follow_a_link(path: Path, opening: Opening, tmp_path: Path) -> None:
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(LedgerError):
        DocumentWriter(path, opening)
    assert not (tmp_path / "elsewhere").exists()


def test_a_folder_that_is_not_there_is_an_error_that_teaches(tmp_path: Path, opening: Opening) -> None:
    with pytest.raises(LedgerError, match="cannot be written: No such file or directory"):
        DocumentWriter(tmp_path / "no" / NAME, opening)


def test_a_gate_that_cannot_be_named_is_refused_before_a_file_exists(path: Path, opening: Opening) -> None:
    with pytest.raises(EvidenceError, match="cannot name a gate"):
        DocumentWriter(path, opening._replace(gate="node"))
    assert not path.exists()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_a_full_disk_is_an_error_that_teaches(tmp_path: Path, opening: Opening, passed: Make) -> None:
    writer = DocumentWriter(tmp_path / NAME, opening)
    full = os.open("/dev/full", os.O_WRONLY)
    os.dup2(full, writer._fd)
    os.close(full)
    with pytest.raises(LedgerError, match="No space left on device; the document stays without its seal"):
        writer.node(passed("a"))


def test_a_write_that_is_cut_short_is_gone_on_with_and_then_fails_in_words(path: Path) -> None:
    script = """
import resource, signal, sys
from admit.core.records import NodeRecord, Opening
from admit.errors import LedgerError
from admit.evidence.write import DocumentWriter
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
writer = DocumentWriter(sys.argv[1], Opening("property_check", "p", None, None, "t", "1", "r", "n"))
resource.setrlimit(resource.RLIMIT_FSIZE, (400, 400))
try:
    writer.node(NodeRecord("n" * 1000, "pass", "match", "stable"))
except LedgerError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", script, str(path)], check=True, capture_output=True, text=True)
    assert "cannot be written: File too large; the document stays without its seal" in done.stdout
    assert path.stat().st_size == 400
    assert read_document(path).closing is None


def test_a_seal_that_cannot_be_flushed_is_an_error_that_teaches(path: Path, opening: Opening) -> None:
    writer = DocumentWriter(path, opening)
    out, into = os.pipe()  # a pipe takes bytes and cannot be flushed to a disk
    os.dup2(into, writer._fd)
    with pytest.raises(LedgerError, match="cannot be written: Invalid argument; what was written may be lost"):
        writer.close(**SEAL)
    os.close(out)
    os.close(into)


def test_nothing_can_be_appended_after_the_seal(path: Path, opening: Opening, passed: Make) -> None:
    writer = DocumentWriter(path, opening)
    writer.close(**SEAL)
    before = path.read_bytes()
    for act in (lambda: writer.node(passed("a")), lambda: writer.plan(["a"]), lambda: writer.close(**SEAL)):
        with pytest.raises(LedgerError, match="the document is closed"):
            act()
    writer.release()
    assert path.read_bytes() == before


# sealing what another process wrote


def test_a_watcher_seals_what_a_run_left_open(path: Path, opening: Opening, passed: Make) -> None:
    with DocumentWriter(path, opening) as writer:
        writer.timing({"a"})
        writer.node(passed("a"))
        writer.node(passed("b"))
        writer.finish(exit_code=0, ended="finished")
    closing = close_document(path, **SEAL)
    found = read_document(path)
    assert found.closing == closing
    assert closing.node_count == 2
    assert all(code == r.CLEAN_CODE for code in found.codes.values())


def test_a_watcher_sees_how_many_nodes_ran_and_what_the_run_said_of_its_end(
    path: Path, opening: Opening, passed: Make
) -> None:
    left_open(path, opening, passed("a"), passed('"finish"'), finish=3)
    found = survey(path)
    assert found.node_count == 2
    assert found.finish == Finish(3, "finished")
    assert found.digest == close_document(path, **SEAL).digest


def test_a_run_that_left_before_its_end_has_no_end_mark(path: Path, opening: Opening, passed: Make) -> None:
    left_open(path, opening, passed("a"))
    assert survey(path).finish is None


def test_an_end_mark_that_is_not_last_is_none(path: Path, opening: Opening, passed: Make) -> None:
    with DocumentWriter(path, opening) as writer:
        writer.finish(exit_code=0, ended="finished")
        writer.node(passed("a"))
    assert survey(path).finish is None


@pytest.mark.parametrize(
    ("more", "says"),
    [
        pytest.param(b'{"record":"node","nod', "the last record is torn", id="torn"),
        pytest.param(b"\n", "is not a line that a recorder writes here", id="blank"),
        pytest.param(b"oops\n", "is not a line that a recorder writes here", id="garbage"),
        pytest.param(b'{"record": "node"}\n', "is not a line that a recorder writes here", id="by-hand"),
        pytest.param(b'{"record":"opening",}\n', "is not a line that a recorder writes here", id="second-opening"),
        pytest.param(b'{"record":"closing",}\n', "the document has its closing record already", id="sealed"),
        pytest.param(b'{"record":"finish","exit_code":"0","ended":"finished"}\n', 'exit_code is "0"', id="odd-finish"),
        pytest.param(b'{"record":"finish",\n', "ends in the middle of a value", id="broken-finish"),
    ],
)
def test_what_a_recorder_did_not_write_is_not_sealed(path: Path, opening: Opening, more: bytes, says: str) -> None:
    left_open(path, opening)
    path.write_bytes(path.read_bytes() + more)
    before = path.read_bytes()
    with pytest.raises(EvidenceError) as caught:
        close_document(path, **SEAL)
    assert says in str(caught.value)
    assert caught.value.where.startswith(f"{path}:2")
    assert path.read_bytes() == before


def test_an_empty_document_is_not_sealed(path: Path) -> None:
    path.touch()
    with pytest.raises(EvidenceError, match="the document is empty"):
        close_document(path, **SEAL)


def test_a_document_is_sealed_once(path: Path, opening: Opening) -> None:
    left_open(path, opening)
    close_document(path, **SEAL)
    with pytest.raises(EvidenceError, match="a document is sealed once"):
        close_document(path, **SEAL)
    assert read_document(path).closing is not None


def test_a_link_or_a_pipe_is_not_sealed(path: Path, opening: Opening, tmp_path: Path) -> None:
    left_open(path, opening)
    link, pipe = tmp_path / "link", tmp_path / "pipe"
    link.symlink_to(path)
    os.mkfifo(pipe)
    for odd in (link, pipe):
        with pytest.raises(EvidenceError, match="allowed: a regular file"):
            close_document(odd, **SEAL)
    assert read_document(path).closing is None


def test_a_document_over_the_limit_is_not_sealed(path: Path, opening: Opening) -> None:
    left_open(path, opening)
    with pytest.raises(EvidenceError, match="allowed: 10 bytes"):
        close_document(path, **SEAL, limits=LIMITS._replace(document_bytes=10))


def test_a_record_appended_behind_the_writers_back_breaks_its_seal(path: Path, opening: Opening, passed: Make) -> None:
    writer = DocumentWriter(path, opening)
    writer.node(passed("a", check="fail"))
    with open(path, "ab") as other:
        other.write(
            b'{"record":"node","node":"a","property_check":"pass","fixture_lock":"match","flake_status":"stable"}\n'
        )
    writer.close(**SEAL)
    with pytest.raises(EvidenceError, match="count is 1, and 2 node records came before"):
        read_document(path)
