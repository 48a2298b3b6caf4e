"""Feasts that move with the moon."""

from __future__ import annotations

from datetime import date


def easter(year: int) -> date:
    """Return Easter Sunday of a year in the Gregorian calendar."""
    golden = year % 19
    century, rest = divmod(year, 100)
    moon = (19 * golden + century - century // 4 - (century - (century + 8) // 25 + 1) // 3 + 15) % 30
    weekday = (32 + 2 * (century % 4) + 2 * (rest // 4) - moon - rest % 4) % 7
    late = (golden + 11 * moon + 22 * weekday) // 451
    month, day = divmod(moon + weekday - 7 * late + 114, 31)
    return date(year, month, day + 1)
