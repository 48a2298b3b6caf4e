"""What other projects' tests may borrow: strategies, and a pytest plugin with one fixture."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import strategies as st


def days() -> st.SearchStrategy[date]:
    """Return any day of the years that people ask about."""
    return st.dates(date(1990, 1, 1), date(2060, 12, 31))


def spans() -> st.SearchStrategy[int]:
    """Return any number of minutes up to a month."""
    return st.integers(0, 43_200)


@pytest.fixture
def leap_day() -> date:
    """Return a day that is easily forgotten."""
    return date(2028, 2, 29)
