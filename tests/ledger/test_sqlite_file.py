"""What may stand where the ledger is opened, and what is refused with one clear line (contract G1, exit 74)."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from datetime import datetime
from pathlib import Path

import pytest

from admit.errors import LedgerError
from admit.ledger.base import Entry, Ledger
from admit.ledger.chain import first_misfit
from admit.ledger.migrations import MIGRATIONS, Execute
from admit.ledger.sqlite import SqliteLedger
from admit.ledger.sqlite_file import create

Fill = Callable[[Ledger, int], list[Entry]]


def refusal(path: Path, *, read_only: bool = False) -> str:
    """Return the one line that opening `path` is refused with."""
    with pytest.raises(LedgerError) as caught:
        SqliteLedger(path, read_only=read_only, busy_timeout_s=0)
    line = str(caught.value)
    assert caught.value.exit_code == 74
    assert line.startswith(f"{path}: ")
    assert "\n" not in line
    return line


def test_the_folder_and_the_file_are_made(tmp_path: Path, fill: Fill) -> None:
    path = tmp_path / "deep" / ".admit" / "ledger.db"

    with closing(SqliteLedger(path)) as ledger:
        fill(ledger, 1)

    assert [entry.name for entry in path.parent.iterdir()] == ["ledger.db"]


def test_a_ledger_is_whole_before_it_has_its_name(tmp_path: Path) -> None:
    """One file, no companions, and write-ahead logging (2, 2) already in its header."""
    create(str(tmp_path / "ledger.db"), MIGRATIONS)

    assert [entry.name for entry in tmp_path.iterdir()] == ["ledger.db"]
    assert (tmp_path / "ledger.db").read_bytes()[18:20] == b"\2\2"


def test_whoever_is_first_keeps_the_name(tmp_path: Path, fill: Fill) -> None:
    """Another ledger appears, with entries, between the look and the making."""
    path = tmp_path / "ledger.db"

    def make_another(_: Execute) -> None:
        with closing(SqliteLedger(path)) as ledger:
            fill(ledger, 3)

    create(str(path), (MIGRATIONS[0]._replace(fill=make_another),))

    with closing(SqliteLedger(path)) as ledger:
        assert len(list(ledger.entries())) == 3


def test_the_file_outlives_its_process(ledger_file: Path) -> None:
    with closing(SqliteLedger(ledger_file)) as ledger:
        assert [entry.seq for entry in ledger.entries()] == [1, 2, 3, 4, 5]
        assert first_misfit(ledger.entries()) is None


@pytest.mark.parametrize("name", ["a b.db", "what?mode=memory", "50%25.db", "x#y", "é.db", os.fsdecode(b"\xff.db")])
def test_a_path_means_itself_and_nothing_to_sqlite(tmp_path: Path, fill: Fill, name: str) -> None:
    path = tmp_path / name

    with closing(SqliteLedger(path)) as ledger:
        fill(ledger, 2)

    assert [entry.name for entry in tmp_path.iterdir()] == [name]
    with closing(SqliteLedger(path)) as ledger:
        assert len(list(ledger.entries())) == 2


def test_a_relative_path_is_read_once(tmp_path: Path, fill: Fill, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    with closing(SqliteLedger(".admit/ledger.db")) as ledger:
        monkeypatch.chdir(tmp_path / "elsewhere")
        fill(ledger, 2)

    assert (tmp_path / ".admit" / "ledger.db").is_file()


def test_a_link_to_a_ledger_is_followed(tmp_path: Path, ledger_file: Path, now: datetime) -> None:
    link = tmp_path / "link.db"
    link.symlink_to(ledger_file)

    with closing(SqliteLedger(link)) as ledger:
        ledger.append("decision", b'{"n":4}', now=now, key="fill-4")
        assert ledger.append("decision", b"{}", now=now, key="new").seq == 6


# What stands at the path, and what the one line says.


def a_folder(path: Path) -> None:
    path.mkdir()


def a_pipe(path: Path) -> None:
    os.mkfifo(path)


def a_link_to_nothing(path: Path) -> None:
    path.symlink_to(path.with_name("nothing"))


def a_link_to_itself(path: Path) -> None:
    path.symlink_to(path)


def an_empty_file(path: Path) -> None:
    path.touch()


def some_text(path: Path) -> None:
    path.write_text("This is no database.\n" * 400)


def half_a_header(path: Path) -> None:
    path.write_bytes(b"SQLite format 3\0\x10\x00")


def zeros(path: Path) -> None:
    path.write_bytes(bytes(20480))


def another_database(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE entry (seq INTEGER PRIMARY KEY, body TEXT)")


def a_ledger_without_a_schema(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA application_id = 0x61646D74")


def a_newer_ledger(path: Path) -> None:
    SqliteLedger(path).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {MIGRATIONS[-1].number + 1}")


@pytest.mark.parametrize("read_only", [pytest.param(False, id="write"), pytest.param(True, id="read")])
@pytest.mark.parametrize(
    ("plant", "says"),
    [
        pytest.param(a_folder, "is a directory; move it away, or name another ledger", id="folder"),
        pytest.param(a_pipe, "is not a file; move it away", id="pipe"),
        pytest.param(a_link_to_nothing, "is a symbolic link to nothing; move it away", id="link-to-nothing"),
        pytest.param(a_link_to_itself, "is a symbolic link to nothing; move it away", id="link-to-itself"),
        pytest.param(an_empty_file, "is empty, which a ledger never is: its entries are gone; restore", id="empty"),
        pytest.param(some_text, "is not an SQLite database (SQLITE_NOTADB", id="text"),
        pytest.param(half_a_header, "is not an SQLite database (SQLITE_NOTADB", id="half-a-header"),
        pytest.param(zeros, "is not an SQLite database (SQLITE_NOTADB", id="zeros"),
        pytest.param(another_database, "is an SQLite database, but no ledger of admit", id="another-database"),
        pytest.param(a_ledger_without_a_schema, "has the schema 0; allowed: 1 to", id="no-schema"),
        pytest.param(a_newer_ledger, "; use the version of admit that wrote it, or a newer one", id="newer"),
    ],
)
def test_what_is_no_ledger_is_refused_and_left_as_it_is(
    tmp_path: Path, plant: Callable[[Path], None], says: str, read_only: bool
) -> None:
    path = tmp_path / "ledger.db"
    plant(path)
    before = path.lstat(), path.read_bytes() if stat.S_ISREG(path.lstat().st_mode) else b""

    assert says in refusal(path, read_only=read_only)

    after = path.lstat(), path.read_bytes() if stat.S_ISREG(path.lstat().st_mode) else b""
    assert (before[0].st_ino, before[0].st_mode, before[1]) == (after[0].st_ino, after[0].st_mode, after[1])
    assert [entry.name for entry in tmp_path.iterdir()] == ["ledger.db"]


def test_a_nul_in_the_path_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="is no path: it holds a NUL"):
        SqliteLedger(f"{tmp_path}/a\0b")


@pytest.mark.parametrize(
    ("plant", "says"),
    [
        pytest.param(lambda folder: folder.touch(), "cannot be used (File exists)", id="file"),
        pytest.param(lambda folder: folder.symlink_to("nowhere"), "cannot be used (File exists)", id="link-to-nothing"),
    ],
)
def test_a_folder_that_cannot_be_one_is_refused(tmp_path: Path, plant: Callable[[Path], None], says: str) -> None:
    plant(tmp_path / ".admit")

    assert says in refusal(tmp_path / ".admit" / "ledger.db")


def test_reading_makes_nothing(tmp_path: Path) -> None:
    assert "cannot be used (No such file or directory)" in refusal(tmp_path / "ledger.db", read_only=True)

    assert list(tmp_path.iterdir()) == []


def test_a_ledger_open_for_reading_cannot_be_appended_to(ledger_file: Path, now: datetime) -> None:
    with closing(SqliteLedger(ledger_file, read_only=True)) as ledger:
        with pytest.raises(LedgerError, match=r"cannot be written \(SQLITE_READONLY"):
            ledger.append("decision", b"{}", now=now, key="k")
        assert len(ledger.last(9)) == 5


DROP_AND_OPEN = """
import os, sys
from datetime import UTC, datetime
from admit.errors import LedgerError
from admit.ledger.sqlite import SqliteLedger
from admit.ledger.sqlite_file import create
if os.getuid() == 0:
    os.setgroups([]), os.setgid(65534), os.setuid(65534)
try:
    SqliteLedger(sys.argv[1]).append("decision", b"{}", now=datetime(2026, 1, 1, tzinfo=UTC), key="k")
except LedgerError as error:
    print(error)
    sys.exit(error.exit_code)
"""


@pytest.mark.parametrize("exists", [pytest.param(False, id="no-ledger-yet"), pytest.param(True, id="ledger-there")])
def test_a_folder_that_cannot_be_written_is_refused(
    tmp_path_factory: pytest.TempPathFactory, ledger_file: Path, exists: bool
) -> None:
    """The child gives up root's rights, to which a read-only folder means nothing."""
    folder = tmp_path_factory.mktemp("shared")
    for parent in (folder, *folder.parents):
        if parent.owner() == ledger_file.owner() and parent.stat().st_mode & 0o5 != 0o5:
            parent.chmod(parent.stat().st_mode | 0o5)
    if exists:
        shutil.copy(ledger_file, folder / "ledger.db")
        (folder / "ledger.db").chmod(0o444)
    folder.chmod(0o555)

    child = subprocess.run(
        [sys.executable, "-c", DROP_AND_OPEN, folder / "ledger.db"], capture_output=True, text=True, check=False
    )

    assert (child.returncode, child.stderr) == (74, "")
    assert child.stdout.startswith(f"{folder / 'ledger.db'}: cannot be ")
    assert "writable" in child.stdout


def test_a_ledger_that_was_restored_from_a_plain_copy_is_durable_again(ledger_file: Path, now: datetime) -> None:
    with closing(sqlite3.connect(ledger_file)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")

    with closing(SqliteLedger(ledger_file)) as ledger:
        assert ledger.append("decision", b"{}", now=now, key="k").seq == 6
        assert ledger._connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_every_connection_waits_for_the_disk(ledger_file: Path) -> None:
    with closing(SqliteLedger(ledger_file)) as ledger:
        found = {
            name: ledger._connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in (
                "journal_mode",
                "synchronous",
                "fullfsync",
                "checkpoint_fullfsync",
                "trusted_schema",
                "cell_size_check",
            )
        }

    assert found == {
        "journal_mode": "wal",
        "synchronous": 2,
        "fullfsync": 1,
        "checkpoint_fullfsync": 1,
        "trusted_schema": 0,
        "cell_size_check": 1,
    }


@pytest.mark.parametrize(
    ("statement", "says"),
    [
        pytest.param("UPDATE entry SET body = x'7b7d' WHERE seq = 2", "is never changed", id="update"),
        pytest.param("UPDATE OR IGNORE entry SET kind = 'x'", "is never changed", id="update-or-ignore"),
        pytest.param("DELETE FROM entry WHERE seq = 5", "is never removed", id="delete"),
        pytest.param("DELETE FROM entry", "is never removed", id="delete-all"),
        pytest.param("REPLACE INTO entry SELECT * FROM entry WHERE seq = 2", "follows the last one", id="replace"),
        pytest.param(
            "INSERT OR REPLACE INTO entry SELECT 6, digest, digest, '', '', key, body FROM entry WHERE seq = 5",
            "follows the last one",
            id="replace-by-key",
        ),
        pytest.param(
            "INSERT INTO entry SELECT 7, digest, digest, '', '', 'k', body FROM entry WHERE seq = 5",
            "follows the last one",
            id="gap",
        ),
        pytest.param(
            "INSERT INTO entry SELECT 6, previous, digest, '', '', 'k', body FROM entry WHERE seq = 5",
            "follows the last one",
            id="fork",
        ),
        pytest.param(
            "INSERT INTO entry SELECT NULL, digest, digest, '', '', 'k', body FROM entry WHERE seq = 5",
            "follows the last one",
            id="no-seq",
        ),
        pytest.param(
            "INSERT INTO entry SELECT 6, digest, digest, '', '', 'k', 'text' FROM entry WHERE seq = 5",
            "CHECK constraint failed",
            id="text-for-a-body",
        ),
        pytest.param(
            "INSERT INTO entry SELECT 6, digest, x'00', '', '', 'k', body FROM entry WHERE seq = 5",
            "CHECK constraint failed",
            id="short-digest",
        ),
    ],
)
def test_the_file_itself_refuses_a_slip_of_the_hand(ledger_file: Path, statement: str, says: str) -> None:
    before = ledger_file.read_bytes()
    with (
        closing(sqlite3.connect(ledger_file)) as connection,
        pytest.raises(sqlite3.IntegrityError, match=says),
        connection,
    ):
        connection.execute(statement)

    assert ledger_file.read_bytes() == before


def test_what_somebody_else_holds_is_said_to_be_locked(ledger_file: Path, now: datetime) -> None:
    with closing(sqlite3.connect(ledger_file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with closing(SqliteLedger(ledger_file, busy_timeout_s=0)) as ledger:
            with pytest.raises(LedgerError, match="is locked by another program .*; let that program finish") as caught:
                ledger.append("decision", b"{}", now=now, key="k")
            other.execute("ROLLBACK")
            assert ledger.append("decision", b"{}", now=now, key="k").seq == 6

    assert caught.value.exit_code == 74


def test_what_somebody_else_holds_alone_is_said_to_be_locked(ledger_file: Path) -> None:
    with closing(sqlite3.connect(ledger_file, isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")

        assert "is locked by another program" in refusal(ledger_file)


def test_a_file_that_is_removed_under_an_open_ledger_takes_no_more_entries(ledger_file: Path, now: datetime) -> None:
    with closing(SqliteLedger(ledger_file)) as ledger:
        ledger_file.unlink()

        with pytest.raises(LedgerError, match="was moved, removed or replaced while it was open"):
            ledger.append("decision", b"{}", now=now, key="k")


def test_a_file_that_is_replaced_under_an_open_ledger_takes_no_more_entries(
    tmp_path: Path, ledger_file: Path, now: datetime
) -> None:
    with closing(SqliteLedger(ledger_file)) as ledger:
        shutil.copy(ledger_file, tmp_path / "copy")
        (tmp_path / "copy").rename(ledger_file)

        with pytest.raises(LedgerError, match="was moved, removed or replaced while it was open"):
            ledger.append("decision", b"{}", now=now, key="k")
        assert len(list(ledger.entries())) == 5


@pytest.mark.parametrize(
    "trigger",
    [
        pytest.param("BEFORE INSERT ON entry BEGIN SELECT RAISE(IGNORE); END", id="drops-the-row"),
        pytest.param(
            "AFTER INSERT ON entry BEGIN UPDATE entry SET body = x'7b7d' WHERE seq = NEW.seq; END", id="changes-the-row"
        ),
    ],
)
def test_a_file_whose_schema_loses_entries_is_not_believed(ledger_file: Path, now: datetime, trigger: str) -> None:
    with closing(sqlite3.connect(ledger_file)) as connection:
        connection.executescript(f"DROP TRIGGER entry_is_never_changed; CREATE TRIGGER a_foreign_one {trigger};")

    with closing(SqliteLedger(ledger_file)) as ledger:
        with pytest.raises(LedgerError, match="did not keep entry 6"):
            ledger.append("decision", b'{"n":6}', now=now, key="k")
        assert len(list(ledger.entries())) == 5
