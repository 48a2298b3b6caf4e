"""Instants (contract A6): RFC 3339 to one UTC spelling, everything else refused."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.evidence.instant import utc_instant


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        pytest.param("2026-11-30T12:00:00Z", "2026-11-30T12:00:00Z", id="utc"),
        pytest.param("2026-11-30t12:00:00z", "2026-11-30T12:00:00Z", id="lower-case"),
        pytest.param("2026-11-30T12:00:00+00:00", "2026-11-30T12:00:00Z", id="zero-offset"),
        pytest.param("2026-11-30T12:00:00+02:00", "2026-11-30T10:00:00Z", id="east"),
        pytest.param("2026-11-30T23:30:00-05:30", "2026-12-01T05:00:00Z", id="west-over-midnight"),
        pytest.param("2026-11-30T12:00:00.5Z", "2026-11-30T12:00:00.500000Z", id="fraction"),
        pytest.param("2026-11-30T12:00:00.123456789Z", "2026-11-30T12:00:00.123456Z", id="nanoseconds"),
    ],
)
def test_an_instant_is_spelled_in_utc(text: str, instant: str) -> None:
    assert utc_instant(text) == instant


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("2026-11-30T12:00:00", id="no-zone"),
        pytest.param("2026-11-30", id="day"),
        pytest.param("2026-11-30 12:00:00Z", id="blank"),
        pytest.param("2026-11-30T12:00Z", id="no-seconds"),
        pytest.param("2026-11-30T12:00:00+0200", id="offset-without-colon"),
        pytest.param("2026-11-30T12:00:00+24:00", id="offset-too-large"),
        pytest.param("2026-11-31T12:00:00Z", id="no-such-day"),
        pytest.param("2026-02-29T12:00:00Z", id="no-leap-year"),
        pytest.param("2026-11-30T24:00:00Z", id="hour-24"),
        pytest.param("2026-12-31T23:59:60Z", id="leap-second"),
        pytest.param("0000-01-01T00:00:00Z", id="year-zero"),
        pytest.param("0001-01-01T00:00:00+01:00", id="before-the-first-year"),
        pytest.param("9999-12-31T23:59:59-01:00", id="after-the-last-year"),
        pytest.param("2026-11-30T12:00:00Z\n", id="newline"),
        pytest.param("٢٠٢٦-11-30T12:00:00Z", id="other-digits"),
        pytest.param("2026-W48-1T12:00:00Z", id="week"),
        pytest.param("never", id="word"),
        pytest.param("", id="empty"),
    ],
)
def test_anything_else_is_no_instant(text: str) -> None:
    assert utc_instant(text) is None


ZONES = st.integers(-1439, 1439).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@given(st.datetimes(timezones=ZONES).filter(lambda moment: 1 < moment.year < 9999))
def test_an_offset_changes_the_spelling_and_not_the_instant(there: datetime) -> None:
    spelled = utc_instant(there.isoformat())
    assert spelled is not None
    assert datetime.fromisoformat(spelled) == there
    assert datetime.fromisoformat(spelled).tzinfo is UTC
    assert utc_instant(spelled) == spelled


@given(st.text())
def test_any_text_gives_an_instant_or_none(text: str) -> None:
    utc_instant(text)
