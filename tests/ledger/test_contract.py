"""What every ledger keeps, on every backend (contract G1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from admit.errors import LedgerError
from admit.ledger.base import Entry, Ledger
from admit.ledger.chain import GENESIS, digest_of, first_misfit
from admit.ledger.memory import MemoryLedger
from admit.ledger.sqlite import SqliteLedger

Fill = Callable[[Ledger, int], list[Entry]]

BACKENDS: dict[str, Callable[[Path], Ledger]] = {
    "memory": lambda _: MemoryLedger(),
    "sqlite": lambda folder: SqliteLedger(folder / "ledger.db"),
}


@pytest.fixture(params=BACKENDS)
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ledger]:
    made = BACKENDS[request.param](tmp_path)
    yield made
    made.close()


def test_a_new_ledger_is_empty(ledger: Ledger) -> None:
    assert (list(ledger.entries()), ledger.last(3)) == ([], ())


def test_the_first_entry_starts_from_nothing(ledger: Ledger, now: datetime) -> None:
    entry = ledger.append("decision", b'{"a":1}', now=now, key="pr-1")

    assert entry[:2] == (1, GENESIS)
    assert entry[3:] == ("2026-11-30T12:00:00.000000Z", "decision", "pr-1", b'{"a":1}')
    assert entry.digest == digest_of(entry)


def test_what_was_appended_is_read_back_in_order_and_fits(ledger: Ledger, fill: Fill) -> None:
    appended = fill(ledger, 7)

    assert list(ledger.entries()) == appended
    assert first_misfit(ledger.entries()) is None


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b'{"b":1,"a":"\xc3\xa9"}', id="canonical-json"),
        pytest.param(b"\x00\xff\xfe not json \r\n", id="any-bytes"),
        pytest.param(bytes(range(256)) * 4000, id="a-megabyte"),
    ],
)
def test_a_body_is_kept_byte_for_byte(ledger: Ledger, now: datetime, body: bytes) -> None:
    ledger.append("decision", body, now=now, key="pr-1")

    assert [entry.body for entry in ledger.entries()] == [body]


@pytest.mark.parametrize("key", ["pr-1", "PR-1", "é", "e\u0301", "'); DROP TABLE entry;--", "%", "☃ 1", "x" * 512])
def test_keys_are_told_apart_exactly(ledger: Ledger, now: datetime, key: str) -> None:
    others = [ledger.append("decision", b"{}", now=now, key=other) for other in ("pr-01", "Pr-1", "E", "_")]

    entry = ledger.append("decision", b"{}", now=now, key=key)

    assert (entry.seq, entry.key) == (5, key)
    assert list(ledger.entries()) == [*others, entry]


def test_the_same_key_and_body_again_is_the_entry_that_is_there(ledger: Ledger, fill: Fill, now: datetime) -> None:
    entries = fill(ledger, 3)

    again = ledger.append("decision", b'{"n":1}', now=now + timedelta(days=1), key="fill-1")

    assert again == entries[1]
    assert list(ledger.entries()) == entries


@pytest.mark.parametrize(
    ("kind", "body"),
    [pytest.param("decision", b'{"n":2}', id="other-body"), pytest.param("override", b'{"n":1}', id="other-kind")],
)
def test_the_same_key_for_something_else_is_refused(
    ledger: Ledger, fill: Fill, now: datetime, kind: str, body: bytes
) -> None:
    entries = fill(ledger, 3)

    with pytest.raises(LedgerError, match="'fill-1': already names entry 2, which says something else"):
        ledger.append(kind, body, now=now, key="fill-1")

    assert list(ledger.entries()) == entries


def test_an_append_after_a_refused_one_goes_on_without_a_gap(ledger: Ledger, fill: Fill, now: datetime) -> None:
    fill(ledger, 2)
    with pytest.raises(LedgerError):
        ledger.append("decision", b"other", now=now, key="fill-1")

    assert ledger.append("decision", b"{}", now=now, key="next").seq == 3
    assert first_misfit(ledger.entries()) is None


def test_a_clock_that_goes_back_is_recorded_as_given_and_changes_no_order(ledger: Ledger, now: datetime) -> None:
    instants = [now, now - timedelta(days=400), now - timedelta(microseconds=1)]

    for n, instant in enumerate(instants):
        ledger.append("decision", b"{}", now=instant, key=f"k{n}")

    assert [(entry.seq, entry.appended_at[:4]) for entry in ledger.entries()] == [(1, "2026"), (2, "2025"), (3, "2026")]
    assert first_misfit(ledger.entries()) is None


@pytest.mark.parametrize(
    ("start", "limit", "seqs"),
    [
        pytest.param(1, None, [1, 2, 3, 4, 5], id="all"),
        pytest.param(3, None, [3, 4, 5], id="from-the-third"),
        pytest.param(2, 2, [2, 3], id="two"),
        pytest.param(1, 0, [], id="none"),
        pytest.param(6, None, [], id="past-the-end"),
        pytest.param(0, 2, [1, 2], id="before-the-start"),
        pytest.param(-3, None, [1, 2, 3, 4, 5], id="far-before-the-start"),
        pytest.param(1, -1, [], id="fewer-than-none"),
    ],
)
def test_entries_are_read_from_a_place_and_up_to_a_number(
    ledger: Ledger, fill: Fill, start: int, limit: int | None, seqs: list[int]
) -> None:
    fill(ledger, 5)

    assert [entry.seq for entry in ledger.entries(start, limit)] == seqs


@pytest.mark.parametrize(("n", "seqs"), [(0, []), (-1, []), (2, [4, 5]), (5, [1, 2, 3, 4, 5]), (9, [1, 2, 3, 4, 5])])
def test_the_last_entries_come_oldest_first(ledger: Ledger, fill: Fill, n: int, seqs: list[int]) -> None:
    fill(ledger, 5)

    assert [entry.seq for entry in ledger.last(n)] == seqs


def test_entries_can_be_appended_while_others_are_read(ledger: Ledger, fill: Fill, now: datetime) -> None:
    fill(ledger, 3)
    reading = ledger.entries()
    first = next(reading)

    ledger.append("decision", b"{}", now=now, key="meanwhile")

    assert [first.seq, *(entry.seq for entry in reading)] == [1, 2, 3]
    assert len(list(ledger.entries())) == 4


@pytest.mark.parametrize(
    ("kind", "key", "found"),
    [
        pytest.param("", "k", "ledger kind: ''", id="no-kind"),
        pytest.param("decision", "", "ledger key: ''", id="no-key"),
        pytest.param("decision", "a\nb", "ledger key: 'a", id="new-line"),
        pytest.param("decision", "\udcff", "ledger key: ", id="not-unicode"),
        pytest.param("decision", "a\0", "ledger key: ", id="nul"),
        pytest.param("decision", "x" * 513, "ledger key: ", id="too-long"),
    ],
)
def test_a_kind_or_key_that_is_no_word_is_refused(
    ledger: Ledger, now: datetime, kind: str, key: str, found: str
) -> None:
    with pytest.raises(LedgerError, match=f"^{found}.*allowed: 1 to 512 printable characters$"):
        ledger.append(kind, b"{}", now=now, key=key)

    assert list(ledger.entries()) == []


def test_a_kind_that_is_no_word_is_refused_before_its_key_is_looked_up(
    ledger: Ledger, fill: Fill, now: datetime
) -> None:
    fill(ledger, 1)

    with pytest.raises(LedgerError, match="^ledger kind: ''"):
        ledger.append("", b"{}", now=now, key="fill-0")


def test_an_instant_without_a_zone_leaves_no_entry(ledger: Ledger, now: datetime) -> None:
    with pytest.raises(ValueError, match="without a time zone"):
        ledger.append("decision", b"{}", now=now.replace(tzinfo=None), key="k")

    assert list(ledger.entries()) == []


@pytest.mark.parametrize(
    "use",
    [
        pytest.param(lambda ledger, now: ledger.append("decision", b"{}", now=now, key="k"), id="append"),
        pytest.param(lambda ledger, now: list(ledger.entries()), id="entries"),
        pytest.param(lambda ledger, now: ledger.last(1), id="last"),
    ],
)
def test_a_closed_ledger_refuses_everything(
    ledger: Ledger, now: datetime, use: Callable[[Ledger, datetime], object]
) -> None:
    ledger.close()
    ledger.close()

    with pytest.raises(LedgerError, match="closed"):
        use(ledger, now)
