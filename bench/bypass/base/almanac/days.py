"""Working days: Monday to Friday, without the holidays that a caller names."""

from __future__ import annotations

from datetime import date, timedelta

NONE: frozenset[date] = frozenset()


def is_workday(day: date, holidays: frozenset[date] = NONE) -> bool:
    """Return whether people work on a day."""
    return day.weekday() < 5 and day not in holidays


def add_workdays(start: date, count: int, holidays: frozenset[date] = NONE) -> date:
    """Return the day that lies `count` working days after `start`, or before it where negative."""
    step = 1 if count > 0 else -1
    day = start
    while count:
        day += timedelta(days=step)
        if is_workday(day, holidays):
            count -= step
    return day


def count_workdays(first: date, last: date, holidays: frozenset[date] = NONE) -> int:
    """Return how many working days lie after `first`, up to `last` and with it."""
    days = (first + timedelta(days=number) for number in range(1, (last - first).days + 1))
    return sum(is_workday(day, holidays) for day in days)
