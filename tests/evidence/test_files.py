"""Evidence files and folders (contract E4): regular files alone, never a wait, nothing passed over in silence."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING

import pytest

from admit.errors import EvidenceError
from admit.evidence.files import BLOCK_BYTES, blocks_of, open_evidence, read_whole
from admit.evidence.read import find_documents, read_document
from admit.evidence.strict import LIMITS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def a_link(path: Path) -> None:
    (path.parent / "target").write_bytes(b"{}")
    path.symlink_to(path.parent / "target")


def a_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as end:
        end.bind(str(path))


@pytest.mark.parametrize(
    ("make", "says"),
    [
        pytest.param(a_link, "is a symbolic link; allowed: a regular file", id="link"),
        pytest.param(lambda path: path.symlink_to(path.parent / "gone"), "is a symbolic link", id="dangling-link"),
        pytest.param(lambda path: path.mkdir(), "is a folder", id="folder"),
        pytest.param(os.mkfifo, "is a pipe", id="pipe-that-nobody-writes"),
        pytest.param(a_socket, "is a socket", id="socket"),
        pytest.param(lambda path: None, "cannot be read: No such file or directory", id="absent"),
    ],
)
def test_what_is_no_regular_file_is_refused_and_not_waited_for(
    tmp_path: Path, make: Callable[[Path], None], says: str
) -> None:
    path = tmp_path / "e"
    make(path)
    for read in (lambda: read_whole(path, limits=LIMITS), lambda: read_document(path)):
        with pytest.raises(EvidenceError) as caught:
            read()
        assert caught.value.where == str(path)
        assert says in str(caught.value)


@pytest.mark.parametrize("device", ["/dev/null", "/dev/zero", "/dev/tty"])
def test_a_device_is_refused(device: str) -> None:
    with pytest.raises(EvidenceError, match="is a device"):
        read_whole(device, limits=LIMITS)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_may_not_be_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "e"
    path.touch(mode=0)
    with pytest.raises(EvidenceError, match="cannot be read: Permission denied"):
        read_whole(path, limits=LIMITS)


def test_a_name_that_no_file_can_have_is_refused() -> None:
    with pytest.raises(EvidenceError, match="cannot be read: .*null"):
        read_whole("a\0b", limits=LIMITS)


def test_a_file_is_read_whole_up_to_its_limit(tmp_path: Path) -> None:
    path = tmp_path / "e"
    path.write_bytes(b"x" * (3 * BLOCK_BYTES))
    size = path.stat().st_size
    assert read_whole(path, limits=LIMITS._replace(value_bytes=size)) == path.read_bytes()
    with pytest.raises(EvidenceError, match=f"{size} bytes; allowed: {size - 1} bytes; split it, or raise the limit"):
        read_whole(path, limits=LIMITS._replace(value_bytes=size - 1))


def test_a_file_that_grows_while_it_is_read_is_held_to_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "e"
    path.write_bytes(b"x\n")
    with open_evidence(path, limit=10) as stream:
        path.write_bytes(b"x\n" * 10)
        with pytest.raises(EvidenceError, match="allowed: 10 bytes"):
            list(blocks_of(stream, str(path), limits=LIMITS._replace(document_bytes=10)))


@pytest.mark.skipif(not os.path.exists("/proc/cpuinfo"), reason="needs a file that is larger than it says")
def test_a_file_that_is_larger_than_it_says_is_held_to_the_limit() -> None:
    with pytest.raises(EvidenceError, match="more than .* bytes; allowed: 10 bytes"):
        read_whole("/proc/cpuinfo", limits=LIMITS._replace(value_bytes=10))


@pytest.mark.skipif(not os.path.exists("/proc/self/mem"), reason="needs a file that cannot be read at its start")
def test_a_file_that_fails_while_it_is_read_is_refused() -> None:
    with pytest.raises(EvidenceError, match="/proc/self/mem: cannot be read: Input/output error"):
        read_whole("/proc/self/mem", limits=LIMITS)


@pytest.mark.parametrize("line", [1, 100, BLOCK_BYTES - 1, BLOCK_BYTES, BLOCK_BYTES + 1, 3 * BLOCK_BYTES])
@pytest.mark.parametrize("tail", [b"", b"torn"])
def test_blocks_are_whole_lines_and_give_the_file_back(tmp_path: Path, line: int, tail: bytes) -> None:
    path = tmp_path / "e"
    path.write_bytes((b"x" * (line - 1) + b"\n") * 5 + tail)
    with open_evidence(path, limit=1 << 30) as stream:
        blocks = list(blocks_of(stream, "e", limits=LIMITS))
    assert b"".join(blocks) == path.read_bytes()
    assert all(block.endswith(b"\n") for block in blocks[: -1 if tail else None])


def test_a_line_without_end_is_refused_before_it_fills_the_memory(tmp_path: Path) -> None:
    path = tmp_path / "e"
    path.write_bytes(b"x\n" + b"y" * 1_000_000)
    with (
        open_evidence(path, limit=1 << 30) as stream,
        pytest.raises(EvidenceError, match="e:2: a line of more than 100000 bytes"),
    ):
        list(blocks_of(stream, "e", limits=LIMITS._replace(line_bytes=100_000)))


def test_a_file_is_let_go_of_when_it_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "e"
    path.write_bytes(b"x" * 100)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        with pytest.raises(EvidenceError):
            open_evidence(path, limit=1)
    assert len(os.listdir("/proc/self/fd")) == before


# folders


def test_a_folders_documents_come_sorted_and_what_is_none_is_a_problem(tmp_path: Path) -> None:
    for name in ("property_check.b.jsonl", "fixture_check.a.jsonl", "property_check.a.jsonl", "context.json"):
        (tmp_path / name).touch()
    for name in ("notes.txt", "property_check.jsonl", "property_check.c.jsonl.part", ".hidden"):
        (tmp_path / name).touch()
    (tmp_path / "flaky_freeze.d.jsonl").mkdir()
    (tmp_path / "property_check.link.jsonl").symlink_to(tmp_path / "property_check.a.jsonl")
    os.mkfifo(tmp_path / "property_check.pipe.jsonl")
    found = find_documents(tmp_path)
    assert [os.path.basename(path) for path in found.documents] == [
        "fixture_check.a.jsonl",
        "property_check.a.jsonl",
        "property_check.b.jsonl",
    ]
    assert [problem.removeprefix(f"{tmp_path}/").partition(": ")[::2] for problem in found.problems] == [
        (".hidden", "not named <gate>.<anything>.jsonl"),
        ("flaky_freeze.d.jsonl", "not a regular file"),
        ("notes.txt", "not named <gate>.<anything>.jsonl"),
        ("property_check.c.jsonl.part", "not named <gate>.<anything>.jsonl"),
        ("property_check.jsonl", "not named <gate>.<anything>.jsonl"),
        ("property_check.link.jsonl", "not a regular file"),
        ("property_check.pipe.jsonl", "not a regular file"),
    ]


def test_a_context_that_is_no_file_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "context.json").mkdir()
    assert len(find_documents(tmp_path).problems) == 1


@pytest.mark.parametrize("make", [lambda path: None, lambda path: path.touch()], ids=["absent", "file"])
def test_a_folder_that_cannot_be_read_is_refused(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "folder")
    with pytest.raises(EvidenceError, match="the evidence folder cannot be read: .*; run the gates first"):
        find_documents(tmp_path / "folder")
