"""The chain: every change to an entry is found, and the first one that does not fit is named (contract G1)."""

from __future__ import annotations

import hashlib
import struct
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.errors import LedgerError
from admit.ledger.base import Entry
from admit.ledger.chain import GENESIS, MAX_BODY_BYTES, digest_of, first_misfit, next_entry, repeated, timestamp

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
WORDS = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=20)
BODIES = st.binary(max_size=60)
TEXTS = st.text(st.characters(codec="utf-8"), max_size=3)
ENTRIES = st.builds(
    Entry,
    st.integers(1, 3),
    st.sampled_from([GENESIS, b"\1" * 32]),
    st.just(b""),
    TEXTS,
    TEXTS,
    TEXTS,
    st.binary(max_size=3),
)


def chained(number: int) -> list[Entry]:
    entries: list[Entry] = []
    for n in range(number):
        before = entries[-1] if entries else None
        entries.append(next_entry(before, "decision", b'{"n":%d}' % n, now=NOW, key=f"k{n}"))
    return entries


def rehashed(entry: Entry) -> Entry:
    return entry._replace(digest=digest_of(entry))


def test_the_digest_is_the_published_rule_written_apart_from_the_code() -> None:
    entry = Entry(7, bytes(range(32)), b"", "2026-11-30T12:00:00.000000Z", "decision", "pr-7 é", b'{"a":1}')
    fields = [entry.previous, b"2026-11-30T12:00:00.000000Z", b"decision", "pr-7 é".encode(), b'{"a":1}']
    text = b"admit.ledger.entry/1\n" + struct.pack(">q", 7) + b"".join(struct.pack(">Q", len(f)) + f for f in fields)

    assert digest_of(entry) == hashlib.sha256(text).digest()


def test_the_digest_of_the_documented_example_never_changes() -> None:
    entry = next_entry(None, "decision", b'{"patch_id":"pr-1"}', now=NOW, key="pr-1")

    assert entry.digest.hex() == "7ba96df43b632aafb619578f18e5931a7e727ab173e31036d2c8c55428ba2c9d"


@given(ENTRIES, ENTRIES)
def test_two_entries_have_one_digest_only_if_they_are_equal(one: Entry, other: Entry) -> None:
    assert (digest_of(one) == digest_of(other)) == (one == other)


@given(st.text(max_size=6), st.text(max_size=6), st.data())
def test_no_character_can_move_from_one_field_to_the_next(kind: str, key: str, data: st.DataObject) -> None:
    kind, key = (text.encode("utf-8", "replace").decode() for text in (kind, key))
    cut = data.draw(st.integers(0, len(kind + key)))
    one = Entry(1, GENESIS, b"", "t", kind, key, b"")
    other = one._replace(kind=(kind + key)[:cut], key=(kind + key)[cut:])

    assert (digest_of(one) == digest_of(other)) == (one == other)


def test_a_chain_fits() -> None:
    assert first_misfit(chained(20)) is None


def test_no_entries_fit() -> None:
    assert first_misfit([]) is None


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"appended_at": "2026-11-30T12:00:00.000001Z"}, id="appended-at"),
        pytest.param({"kind": "override"}, id="kind"),
        pytest.param({"key": "other"}, id="key"),
        pytest.param({"body": b'{"n":9}'}, id="body"),
        pytest.param({"digest": bytes(32)}, id="digest"),
        pytest.param({"digest": b""}, id="no-digest"),
        pytest.param({"kind": "\udcff"}, id="not-utf-8"),
    ],
)
@pytest.mark.parametrize("at", [0, 3, 5])
def test_an_entry_that_was_changed_is_named(change: dict[str, object], at: int) -> None:
    entries = chained(6)
    entries[at] = entries[at]._replace(**change)  # type: ignore[arg-type]

    misfit = first_misfit(entries)

    assert misfit is not None
    assert (misfit.seq, misfit.why) == (at + 1, "digest")


@given(st.integers(0, 5), st.integers(0, 10**6))
def test_any_one_bit_flipped_in_a_body_or_a_digest_is_named(at: int, bit: int) -> None:
    entries = chained(6)
    field = ("body", "digest", "previous")[bit % 3]
    value = bytearray(getattr(entries[at], field))
    value[bit // 8 % len(value)] ^= 1 << bit % 8
    entries[at] = entries[at]._replace(**{field: bytes(value)})  # type: ignore[arg-type]

    misfit = first_misfit(entries)

    assert misfit is not None
    assert misfit.seq == at + 1


@pytest.mark.parametrize("at", [0, 3])
def test_the_entry_after_one_that_was_rewritten_with_a_fresh_digest_is_named(at: int) -> None:
    entries = chained(6)
    entries[at] = rehashed(entries[at]._replace(body=b'{"n":9}'))

    misfit = first_misfit(entries)

    assert misfit is not None
    assert (misfit.seq, misfit.why) == (at + 2, "previous")


@pytest.mark.parametrize("at", [0, 2, 4])
def test_the_entry_after_a_gap_is_named(at: int) -> None:
    entries = chained(6)
    del entries[at]

    misfit = first_misfit(entries)

    assert misfit is not None
    assert (misfit.seq, misfit.why) == (at + 2, "gap")
    assert f"expected entry {at + 1}" in misfit.found


@pytest.mark.parametrize(
    ("order", "seq", "why"),
    [
        pytest.param([1, 2, 2], 2, "order", id="twice"),
        pytest.param([1, 3, 2], 3, "gap", id="swapped"),
        pytest.param([2, 1], 2, "gap", id="starts-late"),
    ],
)
def test_entries_out_of_order_are_named(order: list[int], seq: int, why: str) -> None:
    entries = chained(3)

    misfit = first_misfit([entries[n - 1] for n in order])

    assert misfit is not None
    assert (misfit.seq, misfit.why) == (seq, why)


def test_entry_zero_is_out_of_order_even_with_a_right_digest() -> None:
    misfit = first_misfit([rehashed(chained(1)[0]._replace(seq=0))])

    assert misfit is not None
    assert (misfit.seq, misfit.why) == (0, "order")


def test_the_first_entry_must_start_from_nothing() -> None:
    misfit = first_misfit([rehashed(chained(1)[0]._replace(previous=b"\1" * 32))])

    assert misfit is not None
    assert (misfit.seq, misfit.why) == (1, "previous")


@given(st.integers(1, 12), st.data())
def test_verifying_page_by_page_answers_as_all_at_once(number: int, data: st.DataObject) -> None:
    entries = chained(number)
    cut = data.draw(st.integers(1, number))
    at = data.draw(st.integers(0, number - 1))
    entries[at] = entries[at]._replace(body=b"changed")

    pages = first_misfit(entries[:cut]) or first_misfit(entries[cut:], after=entries[cut - 1])

    assert pages == first_misfit(entries)


def test_a_chain_alone_cannot_tell_that_its_tail_is_gone() -> None:
    """The honest limit: a digest that is kept elsewhere is needed for that."""
    assert first_misfit(chained(6)[:4]) is None


@given(WORDS, WORDS, BODIES)
def test_an_entry_is_chained_to_the_one_before(kind: str, key: str, body: bytes) -> None:
    (before,) = chained(1)

    entry = next_entry(before, kind, body, now=NOW, key=key)

    assert (entry.seq, entry.previous, entry.kind, entry.key, entry.body) == (2, before.digest, kind, key, body)
    assert first_misfit([before, entry]) is None


def test_nothing_is_chained_to_an_entry_that_does_not_fit() -> None:
    before = chained(3)[2]._replace(body=b"{}")

    with pytest.raises(LedgerError, match=r"^ledger entry 3: does not fit its own digest"):
        next_entry(before, "decision", b"{}", now=NOW, key="k")


def test_a_body_too_long_for_the_store_is_refused() -> None:
    with pytest.raises(LedgerError, match="a body of 900000001 bytes; allowed: at most 900000000"):
        next_entry(None, "decision", bytes(MAX_BODY_BYTES + 1), now=NOW, key="k")


def test_a_repeated_append_gets_the_entry_that_is_there() -> None:
    (entry,) = chained(1)

    assert repeated(entry, "decision", b'{"n":0}') is entry


@pytest.mark.parametrize(
    ("kind", "body"),
    [pytest.param("decision", b'{"n":1}', id="other-body"), pytest.param("override", b'{"n":0}', id="other-kind")],
)
def test_a_key_that_says_something_else_is_refused(kind: str, body: bytes) -> None:
    with pytest.raises(LedgerError, match=r"^ledger key 'k0': already names entry 1, which says something else"):
        repeated(chained(1)[0], kind, body)


def test_a_repeated_append_never_vouches_for_an_entry_that_was_changed() -> None:
    entry = chained(1)[0]._replace(body=b"{}")

    with pytest.raises(LedgerError, match="ledger entry 1: does not fit its own digest"):
        repeated(entry, "decision", b"{}")


@pytest.mark.parametrize(
    ("instant", "text"),
    [
        pytest.param(datetime(2026, 1, 2, tzinfo=UTC), "2026-01-02T00:00:00.000000Z", id="utc"),
        pytest.param(
            datetime(2026, 1, 2, 1, 2, 3, 4, timezone(timedelta(hours=2))), "2026-01-01T23:02:03.000004Z", id="offset"
        ),
    ],
)
def test_an_instant_is_written_in_utc_at_one_length(instant: datetime, text: str) -> None:
    assert timestamp(instant) == text


def test_an_instant_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="without a time zone"):
        timestamp(datetime(2026, 1, 2))  # noqa: DTZ001
