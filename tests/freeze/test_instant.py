"""Instants and spans: what a register and a command line may say of time."""

from __future__ import annotations

import tomllib
from datetime import UTC, date, datetime, time, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.freeze.instant import Refused, days_left, rfc3339, span_of, time_left, utc_instant

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param("2026-12-20T00:00:00Z", datetime(2026, 12, 20, tzinfo=UTC), id="text-with-z"),
        pytest.param("2026-12-20t00:00:00z", datetime(2026, 12, 20, tzinfo=UTC), id="small-letters"),
        pytest.param("2026-12-20 00:00:00Z", datetime(2026, 12, 20, tzinfo=UTC), id="space-for-t"),
        pytest.param("2026-12-20T01:30:00+01:30", datetime(2026, 12, 20, tzinfo=UTC), id="text-with-offset"),
        pytest.param("2026-12-20T00:00:00.999999Z", datetime(2026, 12, 20, tzinfo=UTC), id="fraction-rounds-down"),
        pytest.param(
            datetime(2026, 12, 19, 19, tzinfo=timezone(timedelta(hours=-5))),
            datetime(2026, 12, 20, tzinfo=UTC),
            id="datetime-with-offset",
        ),
    ],
)
def test_an_instant_is_read_as_whole_seconds_in_utc(value: object, expected: datetime) -> None:
    found = utc_instant(value)
    assert isinstance(found, datetime)
    assert (found, found.tzinfo) == (expected, UTC)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param(
            date(2026, 12, 20),
            Refused("2026-12-20 is a date, not an instant", "write the hour it ends in UTC: 2026-12-20T00:00:00Z"),
            id="bare-date",
        ),
        pytest.param(
            "2026-12-20",
            Refused("'2026-12-20' is a date, not an instant", "write the hour it ends in UTC: 2026-12-20T00:00:00Z"),
            id="bare-date-as-text",
        ),
        pytest.param(
            datetime(2026, 12, 20, 8),  # noqa: DTZ001 - an instant without its zone is the case
            Refused(
                "2026-12-20T08:00:00 has no offset from UTC",
                "write 2026-12-20T08:00:00Z, or with an offset such as 2026-12-20T08:00:00+01:00",
            ),
            id="no-offset",
        ),
        pytest.param(
            "2026-12-20T08:00:00",
            Refused(
                "2026-12-20T08:00:00 has no offset from UTC",
                "write 2026-12-20T08:00:00Z, or with an offset such as 2026-12-20T08:00:00+01:00",
            ),
            id="no-offset-as-text",
        ),
        pytest.param(
            time(8),
            Refused("08:00:00 is a time without a date", "write an instant such as 2026-12-20T00:00:00Z"),
            id="time",
        ),
        pytest.param(
            1798675200,
            Refused("1798675200 is not an instant", "write an instant such as 2026-12-20T00:00:00Z"),
            id="seconds",
        ),
        pytest.param(
            True, Refused("True is not an instant", "write an instant such as 2026-12-20T00:00:00Z"), id="bool"
        ),
        pytest.param(
            "soon", Refused("'soon' is not an instant", "write an instant such as 2026-12-20T00:00:00Z"), id="words"
        ),
        pytest.param(
            "2026-12-20T24:61:00Z",
            Refused("'2026-12-20T24:61:00Z' is not an instant", "write an instant such as 2026-12-20T00:00:00Z"),
            id="no-such-minute",
        ),
        pytest.param(
            "20261220T000000Z",
            Refused("'20261220T000000Z' is not RFC 3339", "write an instant such as 2026-12-20T00:00:00Z"),
            id="iso-but-not-rfc-3339",
        ),
        pytest.param(
            "9999-12-31T23:59:59-01:00",
            Refused("9999-12-31 23:59:59-01:00 is out of range", "write an instant such as 2026-12-20T00:00:00Z"),
            id="past-the-last-year",
        ),
    ],
)
def test_what_names_no_instant_is_refused_with_what_to_write(value: object, expected: Refused) -> None:
    assert utc_instant(value) == expected


@given(st.datetimes(min_value=datetime(1, 1, 2), max_value=datetime(9999, 12, 30)))  # noqa: DTZ001
def test_every_instant_survives_toml_and_text(naive: datetime) -> None:
    instant = naive.replace(tzinfo=UTC, microsecond=0)
    assert utc_instant(rfc3339(instant)) == instant
    assert utc_instant(tomllib.loads(f"x = {rfc3339(instant)}")["x"]) == instant


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("12h", timedelta(hours=12), id="hours"),
        pytest.param("7d", timedelta(days=7), id="days"),
        pytest.param("2w", timedelta(days=14), id="weeks"),
        pytest.param("0d", timedelta(0), id="none"),
    ],
)
def test_a_span_is_a_number_of_hours_days_or_weeks(text: str, expected: timedelta) -> None:
    assert span_of(text) == expected


@pytest.mark.parametrize("text", ["", "7", "d", "7m", "-7d", "7 d", "7d ", "99999d", "\N{ARABIC-INDIC DIGIT SEVEN}d"])
def test_any_other_span_is_refused(text: str) -> None:
    assert span_of(text) == Refused(f"{text!r} is not a span of time", "write hours, days or weeks: 12h, 7d, 2w")


@pytest.mark.parametrize(
    ("left", "expected"),
    [
        pytest.param(timedelta(days=12, hours=23), "12 days", id="days"),
        pytest.param(timedelta(days=14) - timedelta(seconds=1), "14 days", id="just-written"),
        pytest.param(timedelta(days=13, hours=23, minutes=30), "14 days", id="half-an-hour-later"),
        pytest.param(timedelta(days=13, hours=23, minutes=29), "13 days", id="after-that"),
        pytest.param(timedelta(days=1), "1 day", id="one-day"),
        pytest.param(timedelta(hours=23, minutes=59), "1 day", id="a-minute-less"),
        pytest.param(timedelta(hours=12) - timedelta(seconds=1), "12 hours", id="just-written-in-hours"),
        pytest.param(timedelta(hours=23, minutes=29), "23 hours", id="hours"),
        pytest.param(timedelta(hours=1, minutes=29), "1 hour", id="over-one-hour"),
        pytest.param(timedelta(minutes=59), "under an hour", id="last-hour"),
        pytest.param(timedelta(hours=1), "1 hour", id="one-hour"),
        pytest.param(timedelta(seconds=1), "under an hour", id="last-second"),
        pytest.param(timedelta(0), "expired just now", id="the-instant-itself"),
        pytest.param(timedelta(hours=-5), "expired 5 hours ago", id="hours-ago"),
        pytest.param(timedelta(days=-3, hours=-1), "expired 3 days ago", id="days-ago"),
    ],
)
def test_time_left_is_said_in_whole_days_or_on_the_last_day_hours(left: timedelta, expected: str) -> None:
    assert time_left(NOW + left, NOW) == expected


@pytest.mark.parametrize(
    ("left", "expected"),
    [
        pytest.param(timedelta(days=14) - timedelta(seconds=1), 14, id="just-written"),
        pytest.param(timedelta(days=13, hours=23), 13, id="days"),
        pytest.param(timedelta(hours=23), 0, id="last-day"),
        pytest.param(timedelta(days=-3), 0, id="expired"),
    ],
)
def test_days_left_are_counted_as_time_left_counts_them(left: timedelta, expected: int) -> None:
    assert days_left(NOW + left, NOW) == expected
