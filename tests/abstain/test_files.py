"""The abstentions file on disk: read whole, replaced whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from admit.abstain.file import HEADER, Abstentions, Declared
from admit.abstain.files import load_abstentions, write
from admit.errors import InputError, LedgerError
from admit.filetext import MAX_BYTES, decoded, read_text

BY_NODE = {"a.py::test_x": Declared("skip", "needs a GPU")}


def test_no_file_declares_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    assert load_abstentions(path) == Abstentions(str(path), {}, HEADER)


def test_what_is_written_is_loaded_and_written_once(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    abstentions = Abstentions(str(path), BY_NODE)
    assert write(path, abstentions)
    assert load_abstentions(path) == abstentions
    before = path.stat()
    assert not write(path, abstentions)
    assert path.stat().st_ino == before.st_ino
    assert [one.name for one in tmp_path.iterdir()] == ["a.toml"]


def test_writing_keeps_the_mode_and_the_header(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text("# ours\n")
    path.chmod(0o640)
    write(path, load_abstentions(path)._replace(by_node=BY_NODE))
    assert path.read_text().startswith("# ours\n\n[[abstain]]\n")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_new_file_has_the_mode_that_the_umask_gives(tmp_path: Path) -> None:
    path, other = tmp_path / "a.toml", tmp_path / "other"
    other.write_text("")
    write(path, Abstentions("a.toml", BY_NODE))
    assert path.stat().st_mode == other.stat().st_mode


def test_a_link_is_not_written_through(tmp_path: Path) -> None:
    target, link = tmp_path / "elsewhere", tmp_path / "a.toml"
    target.write_text("")
    link.symlink_to(target)
    with pytest.raises(InputError, match="a symbolic link; name the file itself"):
        write(link, Abstentions("a.toml", BY_NODE))
    assert not target.read_text()


def test_a_link_that_leads_nowhere_is_not_a_file_that_is_absent(tmp_path: Path) -> None:
    link = tmp_path / "a.toml"
    link.symlink_to("gone")
    with pytest.raises(InputError, match="a symbolic link that leads nowhere; name the file itself"):
        load_abstentions(link)


def test_what_is_no_regular_file_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path):
        with pytest.raises(InputError, match="not a regular file; name the file itself"):
            read_text(path)


def test_a_path_through_a_file_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be read: Not a directory"):
        read_text(tmp_path / "file" / "a.toml")


def test_a_folder_that_is_not_there_is_a_record_that_could_not_be_written(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="cannot be written: No such file or directory; nothing was changed"):
        write(tmp_path / "none" / "a.toml", Abstentions("a.toml", BY_NODE))


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        pytest.param(b"a\nb\xff\n", "a.toml line 2: bytes that are not UTF-8; save it as UTF-8", id="latin-1"),
        pytest.param(
            b"\xef\xbb\xbfa", "a.toml: starts with a byte order mark; save it as UTF-8 without one", id="mark"
        ),
        pytest.param(
            b" " * (MAX_BYTES + 1),
            f"a.toml: larger than {MAX_BYTES} bytes; take out what is over, or split it",
            id="endless",
        ),
    ],
)
def test_bytes_that_are_no_text_are_refused_with_what_to_do(raw: bytes, expected: str) -> None:
    with pytest.raises(InputError) as caught:
        decoded(raw, "a.toml")
    assert str(caught.value) == expected
