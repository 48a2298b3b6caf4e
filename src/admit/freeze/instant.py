"""UTC instants and spans of time, as registers and command lines write them."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta
from typing import Final, NamedTuple

EXAMPLE: Final = "2026-12-20T00:00:00Z"
"""What an instant looks like, for error texts."""

_RFC3339: Final = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)", re.ASCII)
_SPAN: Final = re.compile(r"(\d{1,4})([hdw])", re.ASCII)
_UNITS: Final = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


class Refused(NamedTuple):
    """Why a value is not what was asked for: what was found, and what to write instead."""

    found: str
    do: str


def utc_instant(value: object) -> datetime | Refused:
    """Return the UTC instant that a TOML value or an RFC 3339 text names, in whole seconds, rounded down.

    A date alone, or a time without offset, names no instant: people in two time zones would end the same freeze hours
    apart, so both are refused with what to write (contract F1, A6).
    """
    match value:
        case datetime():
            return _in_utc(value)
        case date():
            return Refused(f"{value} is a date, not an instant", f"write the hour it ends in UTC: {value}T00:00:00Z")
        case time():
            return Refused(f"{value} is a time without a date", f"write an instant such as {EXAMPLE}")
        case str():
            return _from_text(value)
        case _:
            return Refused(f"{value!r} is not an instant", f"write an instant such as {EXAMPLE}")


def _from_text(text: str) -> datetime | Refused:
    if re.fullmatch(r"\d{4}-\d\d-\d\d", text, re.ASCII):
        return Refused(f"{text!r} is a date, not an instant", f"write the hour it ends in UTC: {text}T00:00:00Z")
    try:
        parsed = datetime.fromisoformat(text.upper())
    except ValueError:
        return Refused(f"{text!r} is not an instant", f"write an instant such as {EXAMPLE}")
    if parsed.tzinfo is not None and not _RFC3339.fullmatch(text):
        return Refused(f"{text!r} is not RFC 3339", f"write an instant such as {EXAMPLE}")
    return _in_utc(parsed)


def _in_utc(instant: datetime) -> datetime | Refused:
    if instant.tzinfo is None:
        shown = instant.isoformat(timespec="seconds")
        return Refused(f"{shown} has no offset from UTC", f"write {shown}Z, or with an offset such as {shown}+01:00")
    try:
        return instant.astimezone(UTC).replace(microsecond=0)
    except OverflowError:
        return Refused(f"{instant} is out of range", f"write an instant such as {EXAMPLE}")


def rfc3339(instant: datetime) -> str:
    """Return a UTC instant as RFC 3339 text with Z, in whole seconds."""
    return instant.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ").rjust(len(EXAMPLE), "0")


def span_of(text: str) -> timedelta | Refused:
    """Return the span of time that a text such as `12h`, `7d` or `2w` names."""
    if (found := _SPAN.fullmatch(text)) is None:
        return Refused(f"{text!r} is not a span of time", "write hours, days or weeks: 12h, 7d, 2w")
    return int(found[1]) * _UNITS[found[2]]


def time_left(expires: datetime, now: datetime) -> str:
    """Return how long a freeze still holds, in words: whole days, or hours on its last day.

    Counted from the nearest hour, so that a freeze for 14 days reads so when it has just been written. What it says is
    at most half an hour more than there is; the instant itself stands beside it wherever it is shown.
    """
    if expires <= now:
        return f"expired {_ago(now - expires)}"
    hours = _hours(expires - now)
    if hours >= 24:
        return counted(hours // 24, "day")
    return counted(hours, "hour") if expires - now >= timedelta(hours=1) else "under an hour"


def days_left(expires: datetime, now: datetime) -> int:
    """Return how many whole days a freeze still holds, as `time_left` counts them; 0 from its end on."""
    return max(0, _hours(expires - now) // 24)


def _hours(span: timedelta) -> int:
    return (span + timedelta(minutes=30)) // timedelta(hours=1)


def _ago(since: timedelta) -> str:
    if since >= timedelta(days=1):
        return f"{counted(since.days, 'day')} ago"
    hours = since // timedelta(hours=1)
    return f"{counted(hours, 'hour')} ago" if hours else "just now"


def counted(number: int, unit: str) -> str:
    """Return a number with its unit, in the plural unless it is one."""
    return f"{number} {unit}" if number == 1 else f"{number} {unit}s"
