from __future__ import annotations

import pytest
from almanac import easter


@pytest.mark.parametrize("year", [1961, 1981, 2008, 2026, 2038])
def test_easter_is_on_the_day_that_was_printed(year, easters):
    assert easter(year) == easters[year]


@pytest.mark.skip(reason="needs the register of the church")
def test_easter_is_on_the_day_in_the_register():
    raise NotImplementedError
