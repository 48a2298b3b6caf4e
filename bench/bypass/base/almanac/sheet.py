"""A month as a sheet of text, a week a line."""

from __future__ import annotations

from datetime import date, timedelta

HEAD = "Mo Tu We Th Fr Sa Su"


def month_sheet(year: int, month: int) -> str:
    """Return the sheet of a month: its name, the days of the week, and a line a week."""
    first = date(year, month, 1)
    following = date(year + month // 12, month % 12 + 1, 1)
    cells = ["  "] * first.weekday()
    cells += [f"{number:2}" for number in range(1, (following - first) // timedelta(days=1) + 1)]
    weeks = [" ".join(cells[start : start + 7]).rstrip() for start in range(0, len(cells), 7)]
    return "\n".join([f"{first:%B %Y}".center(len(HEAD)).rstrip(), HEAD, *weeks, ""])
