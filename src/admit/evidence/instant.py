"""Instants in evidence: RFC 3339 text to one canonical UTC spelling."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

_RFC3339: Final = re.compile(
    r"(\d{4}-\d{2}-\d{2})[Tt](\d{2}:\d{2}:\d{2})(\.\d{1,9})?(?:[Zz]|([+-](?:[01]\d|2[0-3]):[0-5]\d))", re.ASCII
)

INSTANT: Final = "a UTC instant as in RFC 3339: 2026-11-30T12:00:00Z"
"""What may stand where an instant is wanted, for errors."""


def utc_instant(text: str) -> str | None:
    """Return an RFC 3339 instant spelled in UTC (`2026-11-30T12:00:00Z`), None where `text` is none (contract A6).

    An offset is converted; a time without one is no instant. Fractions of a second are kept to the microsecond.
    """
    found = _RFC3339.fullmatch(text)
    if found is None:
        return None
    day, clock, fraction, offset = found.groups()
    try:
        moment = datetime.fromisoformat(f"{day}T{clock}{(fraction or '')[:7]}{offset or '+00:00'}").astimezone(UTC)
    except (ValueError, OverflowError):  # the 31st of June, the 61st second, an offset beyond the first or last year
        return None
    return moment.isoformat().replace("+00:00", "Z")
