"""Damage and tampering: nothing is read that was not written, unless the chain names it (contract G1)."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from admit.errors import LedgerError
from admit.ledger.base import Entry, Ledger
from admit.ledger.chain import Misfit, digest_of, first_misfit
from admit.ledger.sqlite import SqliteLedger

Fill = Callable[[Ledger, int], list[Entry]]

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
NO_TRIGGERS = "DROP TRIGGER entry_is_never_changed; DROP TRIGGER entry_is_never_removed;"


def altered(path: Path, script: str) -> None:
    """Run SQL as somebody would who owns the file and has taken the guard rails away."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.executescript(NO_TRIGGERS + script)


def verified(path: Path) -> Misfit | None:
    with closing(SqliteLedger(path)) as ledger:
        return first_misfit(ledger.entries())


@pytest.mark.parametrize(
    ("script", "seq", "why"),
    [
        pytest.param("UPDATE entry SET body = x'7b7d' WHERE seq = 2", 2, "digest", id="body"),
        pytest.param(
            "UPDATE entry SET body = CAST(body || x'20' AS BLOB) WHERE seq = 3", 3, "digest", id="one-byte-more"
        ),
        pytest.param("UPDATE entry SET kind = 'override' WHERE seq = 3", 3, "digest", id="kind"),
        pytest.param("UPDATE entry SET kind = CAST(x'ff' AS TEXT) WHERE seq = 3", 3, "digest", id="not-utf-8"),
        pytest.param("UPDATE entry SET key = 'other' WHERE seq = 5", 5, "digest", id="key"),
        pytest.param("UPDATE entry SET appended_at = '' WHERE seq = 1", 1, "digest", id="appended-at"),
        pytest.param("UPDATE entry SET digest = zeroblob(32) WHERE seq = 5", 5, "digest", id="digest"),
        pytest.param("UPDATE entry SET previous = zeroblob(32) WHERE seq = 4", 4, "previous", id="previous"),
        pytest.param("DELETE FROM entry WHERE seq = 3", 4, "gap", id="removed"),
        pytest.param("DELETE FROM entry WHERE seq = 1", 2, "gap", id="first-removed"),
        pytest.param("UPDATE entry SET seq = 9 WHERE seq = 5", 9, "gap", id="moved"),
        pytest.param("UPDATE entry SET seq = 0 WHERE seq = 1", 2, "gap", id="moved-out-of-sight"),
    ],
)
def test_the_entry_that_was_altered_is_named(ledger_file: Path, script: str, seq: int, why: str) -> None:
    altered(ledger_file, script)

    misfit = verified(ledger_file)

    assert misfit is not None
    assert (misfit.seq, misfit.why) == (seq, why)


@pytest.mark.parametrize(
    "script",
    [
        pytest.param("UPDATE entry SET body = CAST(body AS TEXT) WHERE seq = 2", id="body"),
        pytest.param("UPDATE entry SET kind = CAST(kind AS BLOB) WHERE seq = 2", id="kind"),
        pytest.param("UPDATE entry SET digest = 'x' WHERE seq = 2", id="digest"),
    ],
)
def test_a_value_of_another_type_is_refused_by_the_number_of_its_entry(ledger_file: Path, script: str) -> None:
    altered(ledger_file, script)

    with pytest.raises(LedgerError, match="entry 2 holds a value of another type than was written"):
        verified(ledger_file)


def test_nothing_is_appended_behind_a_last_entry_that_was_altered(ledger_file: Path, now: datetime) -> None:
    altered(ledger_file, "UPDATE entry SET body = x'7b7d' WHERE seq = 5")

    with closing(SqliteLedger(ledger_file)) as ledger:
        with pytest.raises(LedgerError, match="ledger entry 5: does not fit its own digest") as caught:
            ledger.append("decision", b"{}", now=now, key="k")
        assert len(list(ledger.entries())) == 5

    assert caught.value.exit_code == 74


def test_a_repeated_append_never_vouches_for_an_altered_entry(ledger_file: Path, now: datetime) -> None:
    altered(ledger_file, "UPDATE entry SET body = x'7b7d' WHERE seq = 2")

    with closing(SqliteLedger(ledger_file)) as ledger, pytest.raises(LedgerError, match="entry 2: does not fit"):
        ledger.append("decision", b"{}", now=now, key="fill-1")


CUTS = [pytest.param(lambda size, n=n: size * n // 16, id=f"{n}-of-16") for n in range(1, 16)]
CUTS.append(pytest.param(lambda size: size - 1, id="last-byte"))


@pytest.mark.parametrize("left", CUTS)
def test_nothing_is_appended_to_a_file_that_was_cut_short(
    ledger_file: Path, now: datetime, left: Callable[[int], int]
) -> None:
    """SQLite alone would read what is missing of the last page, here one of keys, as zeros."""
    whole = ledger_file.read_bytes()
    cut = whole[: left(len(whole))]
    ledger_file.write_bytes(cut)

    with (
        pytest.raises(LedgerError, match=r"is damaged|is not an SQLite database"),
        closing(SqliteLedger(ledger_file)) as ledger,
    ):
        ledger.append("decision", b'{"n":1}', now=now, key="fill-1")

    assert ledger_file.read_bytes() == cut


@pytest.mark.parametrize("left", CUTS)
def test_what_is_read_of_a_file_that_was_cut_short_is_what_was_written(
    ledger_file: Path, left: Callable[[int], int]
) -> None:
    with closing(SqliteLedger(ledger_file)) as ledger:
        entries = list(ledger.entries())
    whole = ledger_file.read_bytes()
    ledger_file.write_bytes(whole[: left(len(whole))])

    try:
        with closing(SqliteLedger(ledger_file)) as ledger:
            read = list(ledger.entries())
    except LedgerError:
        return

    assert read == entries or first_misfit(read) is not None


@pytest.mark.parametrize("page", [2, 3])
def test_a_page_that_was_overwritten_is_refused_on_append(ledger_file: Path, now: datetime, page: int) -> None:
    """Page 2 is the root of the entries, page 3 of their keys."""
    whole = bytearray(ledger_file.read_bytes())
    whole[(page - 1) * 4096 : page * 4096] = b"\xa5" * 4096
    ledger_file.write_bytes(whole)

    with (
        pytest.raises(LedgerError, match=r"is damaged \(SQLITE_CORRUPT"),
        closing(SqliteLedger(ledger_file)) as ledger,
    ):
        ledger.append("decision", b"{}", now=now, key="k")


class Sample:
    """A ledger's bytes, its log's, the log's length at each acknowledgement, and its entries; never printed."""

    def __init__(self, path: Path, bodies: list[bytes]) -> None:
        wal = Path(f"{path}-wal")
        with closing(SqliteLedger(path)) as ledger:
            self.sizes = []
            for n, body in enumerate(bodies):
                ledger.append("decision", body, now=NOW, key=f"k{n}")
                self.sizes.append(wal.stat().st_size)
            self.entries = list(ledger.entries())
            self.open_file, self.log = path.read_bytes(), wal.read_bytes()
        self.closed_file = path.read_bytes()


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    """Return a ledger of several pages, with one body that overflows its page."""
    bodies = [b'{"n":%d,"pad":"%s"}' % (n, b"x" * (9000 if n == 7 else 150)) for n in range(40)]
    return Sample(tmp_path_factory.mktemp("sample") / "ledger.db", bodies)


@settings(deadline=None, max_examples=150)
@given(st.data())
def test_a_flipped_bit_is_refused_or_named_or_harmless(sample: Sample, data: st.DataObject) -> None:
    damaged = bytearray(sample.closed_file)
    bit = data.draw(st.integers(0, len(damaged) * 8 - 1))
    damaged[bit // 8] ^= 1 << bit % 8
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.db"
        path.write_bytes(damaged)
        try:
            with closing(SqliteLedger(path)) as ledger:
                ledger.check_file()
                read = list(ledger.entries())
        except LedgerError:
            return

    assert read == sample.entries or first_misfit(read) is not None


@pytest.mark.parametrize("before", [30, 32, 33])
def test_a_schema_that_is_no_text_any_more_is_damage(sample: Sample, tmp_path: Path, before: int) -> None:
    damaged = bytearray(sample.closed_file)
    damaged[damaged.index(b"CREATE TABLE entry") - before] ^= 0x80
    (tmp_path / "ledger.db").write_bytes(damaged)
    with pytest.raises(LedgerError, match="is damaged"):
        SqliteLedger(tmp_path / "ledger.db")


def test_an_index_that_lost_an_entry_is_found_in_the_file(ledger_file: Path) -> None:
    """The chain reads the table alone; that the keys still agree with it is the file's own check."""
    altered(ledger_file, "")
    with closing(sqlite3.connect(ledger_file)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("DELETE FROM sqlite_schema WHERE name = 'sqlite_autoindex_entry_1'")
        connection.commit()

    with pytest.raises(LedgerError, match="is damaged"), closing(SqliteLedger(ledger_file)) as ledger:
        ledger.check_file()


def test_a_sound_file_passes_its_own_check(ledger_file: Path) -> None:
    with closing(SqliteLedger(ledger_file)) as ledger:
        ledger.check_file()


@pytest.fixture(scope="module")
def crashed(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    """Return a small ledger, to be used as a crash leaves it: with its log."""
    return Sample(tmp_path_factory.mktemp("crashed") / "ledger.db", [b'{"n":%d}' % n for n in range(12)])


def recovered(database: bytes, wal: bytes) -> list[Entry]:
    """Return what is read after a crash that left these two files."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.db"
        path.write_bytes(database)
        Path(f"{path}-wal").write_bytes(wal)
        with closing(SqliteLedger(path)) as ledger:
            return list(ledger.entries())


@settings(deadline=None, max_examples=80)
@given(st.data())
def test_a_log_torn_behind_what_was_acknowledged_loses_none_of_it(crashed: Sample, data: st.DataObject) -> None:
    """A power cut leaves what was synced and any part of the rest: cut off, garbled, or zeroed."""
    acknowledged = data.draw(st.integers(0, len(crashed.entries)), label="acknowledged")
    synced = crashed.sizes[acknowledged - 1] if acknowledged else 0
    cut = data.draw(st.integers(synced, len(crashed.log)), label="cut")
    tail = bytearray(crashed.log[synced:cut])
    for at in data.draw(st.lists(st.integers(0, max(len(tail) - 1, 0)), max_size=4), label="garbled"):
        tail[at : at + 512] = data.draw(st.sampled_from([b"\0", b"\xff", b"x"])) * len(tail[at : at + 512])

    read = recovered(crashed.open_file, crashed.log[:synced] + bytes(tail))

    assert read == crashed.entries[: len(read)]
    assert len(read) >= acknowledged


@settings(deadline=None, max_examples=40)
@given(st.data())
def test_a_log_torn_anywhere_never_yields_half_an_entry(crashed: Sample, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(crashed.log)))

    read = recovered(crashed.open_file, crashed.log[:cut])

    assert read == crashed.entries[: len(read)]


def test_a_rewritten_ledger_fits_and_only_a_digest_kept_elsewhere_shows_it(ledger_file: Path, tmp_path: Path) -> None:
    """The honest limit of a chain without a witness (docs/explanation/ledger.md)."""
    with closing(SqliteLedger(ledger_file)) as ledger:
        (kept,) = ledger.last(1)
    forged = tmp_path / "forged.db"
    with closing(SqliteLedger(forged)) as ledger:
        for n in range(5):
            ledger.append("decision", b"{}", now=NOW, key=f"fill-{n}")
    shutil.move(forged, ledger_file)

    assert verified(ledger_file) is None
    with closing(SqliteLedger(ledger_file)) as ledger:
        (last,) = ledger.last(1)
    assert last.digest != kept.digest
    assert digest_of(last) == last.digest
