"""The schema grows and keeps every entry (contract G1: nothing is updated in place)."""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import datetime
from pathlib import Path

import pytest

from admit.errors import LedgerError
from admit.ledger.base import Entry, Ledger
from admit.ledger.chain import first_misfit
from admit.ledger.migrations import MIGRATIONS, Execute, Migration, pending
from admit.ledger.sqlite import SqliteLedger

Fill = Callable[[Ledger, int], list[Entry]]

VERSION_1 = Path(__file__).with_name("samples") / "ledger-version-1.db"


def fill_lengths(execute: Execute) -> None:
    """Add to every entry what SQL alone could not."""
    for seq, body in list(execute("SELECT seq, body FROM entry")):
        execute("INSERT INTO length (seq, bytes) VALUES (?, ?)", (seq, len(body)))


GROWN = Migration(
    2,
    "a column and a table beside the entries, for this test",
    ("ALTER TABLE entry ADD COLUMN note TEXT", "CREATE TABLE length (seq INTEGER PRIMARY KEY, bytes INTEGER NOT NULL)"),
    fill_lengths,
)
REBUILT = Migration(
    3,
    "entries moved to a table with an index more, for this test",
    (
        "ALTER TABLE entry RENAME TO entry_before",
        "CREATE TABLE entry (seq INTEGER PRIMARY KEY, previous, digest UNIQUE, appended_at, kind, key UNIQUE, body)",
        "INSERT INTO entry SELECT seq, previous, digest, appended_at, kind, key, body FROM entry_before",
        "DROP TABLE entry_before",
    ),
)


def version(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        found: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return found


def test_the_numbers_count_up_from_one() -> None:
    assert [step.number for step in MIGRATIONS] == list(range(1, len(MIGRATIONS) + 1))


def test_what_is_pending_follows_the_version() -> None:
    steps = (*MIGRATIONS[:1], GROWN, REBUILT)

    assert [pending(n, steps) for n in (0, 1, 2, 3, 9)] == [steps, steps[1:], steps[2:], (), ()]


def test_a_step_that_is_out_there_is_never_edited() -> None:
    """A ledger made by it exists; what it has to become is a step of its own."""
    (first, *_) = MIGRATIONS

    assert first.fill is None
    assert hashlib.sha256("\n".join(first.statements).encode()).hexdigest() == (
        "1fc1c4216104d4ce3a255e66d5e1a91249ddbe7150ad58ef5c2fd1c03352781c"
    )


def test_a_new_ledger_is_at_the_newest_version(ledger_file: Path) -> None:
    assert version(ledger_file) == MIGRATIONS[-1].number


@pytest.mark.parametrize(
    "steps",
    [pytest.param(MIGRATIONS, id="ours"), pytest.param((*MIGRATIONS[:1], GROWN, REBUILT), id="two-more-steps")],
)
def test_a_ledger_written_by_version_1_keeps_every_entry_and_goes_on(
    tmp_path: Path, now: datetime, steps: tuple[Migration, ...]
) -> None:
    """The sample was written by version 1 and is never made anew."""
    path = tmp_path / "ledger.db"
    shutil.copy(VERSION_1, path)

    with closing(SqliteLedger(path, migrations=steps)) as ledger:
        entries = list(ledger.entries())
        again = ledger.append("decision", b'{"patch_id":"pr-3"}', now=now, key="pr-3")
        new = ledger.append("decision", b"{}", now=now, key="pr-99")
        ledger.check_file()

    assert version(path) == steps[-1].number
    assert first_misfit([*entries, new]) is None
    assert [(entry.seq, entry.key, entry.body) for entry in entries] == [
        (n, f"pr-{n}", b'{"patch_id":"pr-%d"}' % n) for n in range(1, 31)
    ]
    assert entries[0].digest.hex() == "7ba96df43b632aafb619578f18e5931a7e727ab173e31036d2c8c55428ba2c9d"
    assert entries[-1].digest.hex() == "fbc2f9c581e419a6fedc2324d89121e56aea1b4ab1fda350ae93c6b9c3834ea8"
    assert (again, new.seq) == (entries[2], 31)


def test_a_step_may_fill_in_what_sql_cannot(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    shutil.copy(VERSION_1, path)

    SqliteLedger(path, migrations=(*MIGRATIONS[:1], GROWN)).close()

    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*), min(bytes), max(bytes) FROM length").fetchone() == (30, 19, 20)


@pytest.mark.parametrize(
    ("statements", "says"),
    [
        pytest.param(
            ("DROP TRIGGER entry_is_never_removed", "DELETE FROM entry WHERE seq = 30"),
            "lose or change",
            id="last-lost",
        ),
        pytest.param(
            ("DROP TRIGGER entry_is_never_changed", "UPDATE entry SET kind = 'x' WHERE seq = 3"),
            "lose or change",
            id="one-changed",
        ),
        pytest.param(("DELETE FROM entry",), "is never removed", id="stopped-by-the-guard-rail"),
        pytest.param(("CREATE TABLE new (x)", "no such SQL"), "syntax error", id="breaks-half-way"),
        pytest.param(("DROP TABLE entry",), "no such table", id="table-gone"),
    ],
)
def test_an_upgrade_that_would_harm_entries_does_not_happen(
    tmp_path: Path, now: datetime, statements: tuple[str, ...], says: str
) -> None:
    path = tmp_path / "ledger.db"
    shutil.copy(VERSION_1, path)

    with pytest.raises(LedgerError, match=says):
        SqliteLedger(path, migrations=(*MIGRATIONS[:1], Migration(2, "harm", statements)))

    assert version(path) == 1
    with closing(SqliteLedger(path, migrations=MIGRATIONS[:1])) as ledger:
        assert len(list(ledger.entries())) == 30
        assert ledger.append("decision", b"{}", now=now, key="k").seq == 31
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM sqlite_master WHERE type = 'table'").fetchone() == (1,)


def test_a_step_whose_filling_fails_does_not_happen(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    shutil.copy(VERSION_1, path)

    def broken(execute: Execute) -> None:
        execute("INSERT INTO length (seq, bytes) VALUES (1, 1)")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        SqliteLedger(path, migrations=(*MIGRATIONS[:1], GROWN._replace(fill=broken)))

    assert version(path) == 1


def test_an_older_admit_that_has_the_file_open_writes_nothing_into_a_newer_schema(
    ledger_file: Path, now: datetime
) -> None:
    with closing(SqliteLedger(ledger_file, migrations=MIGRATIONS[:1])) as older:
        older.append("decision", b"{}", now=now, key="before")
        SqliteLedger(ledger_file, migrations=(*MIGRATIONS[:1], GROWN)).close()

        with pytest.raises(LedgerError, match="has the schema 2; allowed: 1 to 1; use the version of admit"):
            older.append("decision", b"{}", now=now, key="after")
        assert [entry.key for entry in older.last(1)] == ["before"]


def test_reading_upgrades_nothing(ledger_file: Path) -> None:
    with pytest.raises(LedgerError, match="has the older schema 1; allowed: 2 for reading"):
        SqliteLedger(ledger_file, read_only=True, migrations=(*MIGRATIONS[:1], GROWN))

    assert version(ledger_file) == 1


def test_many_that_upgrade_at_once_upgrade_once(tmp_path: Path, now: datetime) -> None:
    """A second run of the step would fail: its table would be there already."""
    path = tmp_path / "ledger.db"
    shutil.copy(VERSION_1, path)

    def opened(n: int) -> int:
        with closing(SqliteLedger(path, migrations=(*MIGRATIONS[:1], GROWN))) as ledger:
            return ledger.append("decision", b"{}", now=now, key=f"k{n}").seq

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(opened, range(8))) == list(range(31, 39))
