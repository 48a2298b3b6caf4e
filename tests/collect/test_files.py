"""Report files: what is not there, not a file or of an earlier run is never success (contract E8, R1)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from admit.collect.files import Since, find_reports, read_reports, since
from admit.errors import EvidenceError, UsageError


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("a/TEST-1.xml", "a/TEST-2.xml", "b/c/TEST-3.xml", "b/other.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def contents(names: list[str], **more) -> list[bytes]:
    return [raw for _, raw in read_reports(find_reports(names), limit=more.pop("limit", 1000), **more)]


@pytest.mark.parametrize(
    ("names", "found"),
    [
        pytest.param(["a/TEST-2.xml", "a/TEST-1.xml"], [b"a/TEST-2.xml", b"a/TEST-1.xml"], id="names, in their order"),
        pytest.param(["a/*.xml"], [b"a/TEST-1.xml", b"a/TEST-2.xml"], id="a pattern, sorted"),
        pytest.param(["**/TEST-*.xml"], [b"a/TEST-1.xml", b"a/TEST-2.xml", b"b/c/TEST-3.xml"], id="folders in folders"),
        pytest.param(["a/TEST-1.xml", "a/*.xml"], [b"a/TEST-1.xml", b"a/TEST-2.xml"], id="one file named twice"),
        pytest.param(["a/TEST-1.xml", "./a/../a/TEST-1.xml"], [b"a/TEST-1.xml"], id="one file by two paths"),
    ],
)
def test_names_and_patterns_stand_for_files_and_each_is_read_once(folder: Path, names: list[str], found) -> None:
    assert contents(names) == found


def test_files_of_one_name_in_two_folders_are_two(folder: Path) -> None:
    (folder / "b" / "TEST-1.xml").write_text("other")
    assert contents(["a/TEST-1.xml", "b/TEST-1.xml"]) == [b"a/TEST-1.xml", b"other"]


def test_a_file_whose_name_looks_like_a_pattern_is_that_file(folder: Path) -> None:
    (folder / "r[1].xml").write_text("x")
    assert contents(["r[1].xml"]) == [b"x"]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        pytest.param("gone.xml", "cannot be read: No such file", id="a file that is not there"),
        pytest.param("gone/*.xml", "no file fits this pattern", id="a pattern that fits nothing"),
        pytest.param("a", "it is a folder", id="a folder"),
        pytest.param("b/c*", "it is a folder", id="a pattern that fits a folder"),
        pytest.param("pipe", "it is no regular file", id="a pipe"),
        pytest.param("link.xml", "it is a symbolic link", id="a link"),
        pytest.param("dangling.xml", "it is a symbolic link", id="a dangling link"),
        pytest.param("a\0b", "cannot be read", id="a name with a NUL"),
        pytest.param("a/TEST-1.xml/x", "cannot be read: Not a directory", id="a file taken for a folder"),
    ],
)
def test_what_is_no_report_file_is_refused_with_its_name(folder: Path, name: str, found: str) -> None:
    os.mkfifo("pipe")
    os.symlink("a/TEST-1.xml", "link.xml")
    os.symlink("nowhere", "dangling.xml")
    with pytest.raises(EvidenceError, match=found):
        contents(["a/TEST-1.xml", name])


def test_a_file_larger_than_the_limit_is_refused(folder: Path) -> None:
    with pytest.raises(EvidenceError, match="more than 5 bytes"):
        contents(["a/TEST-1.xml"], limit=5)


def test_a_report_written_before_the_run_is_refused_and_one_written_since_is_read(folder: Path) -> None:
    """A report has to be bound to its run: an old green one must not stand in for it."""
    os.utime("a/TEST-1.xml", ns=(10**18, 10**18))
    assert contents(["a/TEST-1.xml"], newer_than=Since(10**18, "start"))
    with pytest.raises(EvidenceError, match="it was written before start"):
        contents(["a/TEST-1.xml"], newer_than=Since(10**18 + 1, "start"))


def test_since_names_a_file_or_an_instant(folder: Path) -> None:
    os.utime("a/TEST-1.xml", ns=(5, 7))
    assert since("a/TEST-1.xml") == Since(7, "the file a/TEST-1.xml")
    assert since("1970-01-01T01:00:00+01:00").time_ns == 0
    assert since("2026-12-01T08:00:00Z").time_ns == 1_796_112_000 * 10**9


@pytest.mark.parametrize("text", ["gone", "2026-12-01T08:00:00", "12345", "", "a\0b"])
def test_since_refuses_what_is_neither(folder: Path, text: str) -> None:
    with pytest.raises(UsageError, match="--newer-than"):
        since(text)
