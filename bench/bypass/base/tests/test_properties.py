from __future__ import annotations

from datetime import date

from almanac import add_workdays, count_workdays, easter, format_span, is_workday, parse_span
from almanac.testing import days, spans
from hypothesis import example, given
from hypothesis import strategies as st


@given(spans())
def test_a_span_survives_being_written(minutes):
    assert parse_span(format_span(minutes)) == minutes


@given(days(), st.integers(0, 60))
def test_what_is_added_is_counted(day, count):
    assert count_workdays(day, add_workdays(day, count)) == count


@given(days())
@example(date(2024, 2, 29))
def test_a_week_later_is_the_same_kind_of_day(day):
    assert is_workday(day) == is_workday(date.fromordinal(day.toordinal() + 7))


@given(st.integers(1700, 2299))
def test_easter_is_a_sunday_in_spring(year):
    assert easter(year).weekday() == 6
    assert date(year, 3, 22) <= easter(year) <= date(year, 4, 25)
