from __future__ import annotations

from datetime import date

import pytest
from almanac import add_workdays, count_workdays, is_workday

FRIDAY = date(2026, 1, 2)


@pytest.mark.parametrize(
    ("day", "works"),
    [
        pytest.param(date(2026, 1, 5), True, id="monday"),
        pytest.param(date(2026, 1, 3), False, id="saturday"),
        pytest.param(date(2026, 1, 4), False, id="sunday"),
    ],
)
def test_people_work_from_monday_to_friday(day, works):
    assert is_workday(day) is works


def test_nobody_works_on_a_holiday(holidays):
    assert not is_workday(date(2026, 1, 1), holidays)


def test_nobody_works_on_a_local_feast(local_feasts):
    assert local_feasts
    assert not any(is_workday(day, local_feasts) for day in local_feasts)


def test_the_day_after_friday_is_monday():
    assert add_workdays(FRIDAY, 1) == date(2026, 1, 5)


def test_a_holiday_is_stepped_over(holidays):
    assert add_workdays(date(2025, 12, 24), 1, holidays) == date(2025, 12, 29)


def test_days_are_counted_back_too():
    assert add_workdays(date(2026, 1, 5), -1) == FRIDAY


def test_a_week_has_five_workdays():
    assert count_workdays(FRIDAY, date(2026, 1, 9)) == 5


def test_a_leap_day_is_a_day(leap_day):
    assert is_workday(leap_day)
