"""The register's file: read whole, replaced whole or not at all."""

from __future__ import annotations

import os
import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest

from admit.errors import InputError, LedgerError
from admit.filetext import MAX_BYTES, decoded
from admit.freeze.files import load_register, read_text, replace_text

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def test_a_register_is_loaded_under_its_path_and_the_configured_horizon(tmp_path: Path) -> None:
    path = tmp_path / "admit.freezes.toml"
    path.write_text('[[freeze]]\nnode = "a.py::test_x"\nreason = "r"\nowner = "o"\nexpires = 2026-12-20T00:00:00Z\n')
    assert load_register(path, now=NOW).state == "ok"
    assert load_register(path, now=NOW, horizon_days=7).problem.startswith(
        f"{path} line 1, entry 1 (a.py::test_x): expires"
    )


def test_a_register_that_is_not_there_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read_text(tmp_path / "none.toml")
    assert str(caught.value) == f"{tmp_path}/none.toml: no such file; create it with admit init or admit freeze add"


def test_what_is_no_regular_file_is_refused_without_waiting(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, tmp_path):
        with pytest.raises(InputError, match="not a regular file; name the file itself"):
            read_text(path)


def test_a_path_through_a_file_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be read: Not a directory"):
        read_text(tmp_path / "file" / "register")


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        pytest.param(b"a\nb\xff\n", "r.toml line 2: bytes that are not UTF-8; save it as UTF-8", id="latin-1"),
        pytest.param(
            b"\xef\xbb\xbfa", "r.toml: starts with a byte order mark; save it as UTF-8 without one", id="mark"
        ),
        pytest.param(
            b" " * (MAX_BYTES + 1),
            f"r.toml: larger than {MAX_BYTES} bytes; take out what is over, or split it",
            id="endless",
        ),
    ],
)
def test_bytes_that_are_no_text_are_refused_with_what_to_do(raw: bytes, expected: str) -> None:
    with pytest.raises(InputError) as caught:
        decoded(raw, "r.toml")
    assert str(caught.value) == expected


def test_a_file_is_read_only_as_far_as_it_may_be_large(tmp_path: Path) -> None:
    path = tmp_path / "r.toml"
    with path.open("wb") as file:
        file.truncate(1 << 40)  # a sparse file: reading all of it would not end
    with pytest.raises(InputError, match="larger than"):
        read_text(path)


def test_replacing_keeps_the_mode_the_line_ends_and_leaves_nothing_beside(tmp_path: Path) -> None:
    path = tmp_path / "r.toml"
    path.write_text("old")
    path.chmod(0o640)
    replace_text(path, "new\r\n", was="old")
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"new\r\n", 0o640)
    assert [one.name for one in tmp_path.iterdir()] == ["r.toml"]


def test_a_new_file_has_the_mode_that_the_umask_gives(tmp_path: Path) -> None:
    path, other = tmp_path / "r.toml", tmp_path / "other"
    other.write_text("")
    replace_text(path, "new", was=None)
    assert (path.read_text(), path.stat().st_mode) == ("new", other.stat().st_mode)


@pytest.mark.parametrize("was", [pytest.param("older", id="another-text"), pytest.param(None, id="no-file")])
def test_a_file_that_changed_since_it_was_read_is_left_alone(tmp_path: Path, was: str | None) -> None:
    path = tmp_path / "r.toml"
    path.write_text("old")
    with pytest.raises(InputError, match="changed while it was being edited; run the command again"):
        replace_text(path, "new", was=was)
    assert path.read_text() == "old"


def test_a_link_within_the_folder_is_followed_and_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    target, link = tmp_path / "etc" / "real.toml", tmp_path / "r.toml"
    target.write_text("old")
    link.symlink_to("etc/real.toml")
    replace_text(link, "new", was="old")
    assert (target.read_text(), link.is_symlink()) == ("new", True)


def test_a_link_that_leads_out_is_refused(tmp_path: Path) -> None:
    inside = tmp_path / "repository"
    inside.mkdir()
    target, link = tmp_path / "elsewhere.toml", inside / "r.toml"
    target.write_text("old")
    link.symlink_to(target)
    with pytest.raises(InputError) as caught:
        replace_text(link, "new", was="old")
    assert str(caught.value) == f"{link}: a symbolic link that leads out, to {target}; name the register itself"
    assert target.read_text() == "old"


def test_a_link_that_leads_nowhere_is_refused(tmp_path: Path) -> None:
    link = tmp_path / "r.toml"
    link.symlink_to("gone")
    with pytest.raises(InputError, match="a symbolic link that leads nowhere; name the register itself"):
        replace_text(link, "new", was=None)


def test_a_folder_that_is_not_there_is_a_record_that_could_not_be_written(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="cannot be written: No such file or directory; nothing was changed"):
        replace_text(tmp_path / "none" / "r.toml", "new", was=None)


def test_a_text_that_no_file_can_hold_leaves_the_old_file_and_nothing_beside(tmp_path: Path) -> None:
    path = tmp_path / "r.toml"
    path.write_text("old")
    with pytest.raises(UnicodeEncodeError):
        replace_text(path, "\udcff", was="old")
    assert [one.name for one in tmp_path.iterdir()] == ["r.toml"]
    assert path.read_text() == "old"
