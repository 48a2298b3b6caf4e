"""Files that the tests read."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

pytest_plugins = ("almanac.testing",)

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def holidays() -> frozenset[date]:
    """Return the holidays that the examples are about."""
    return frozenset(date.fromisoformat(line) for line in (HERE / "data" / "holidays.txt").read_text().split())


@pytest.fixture(scope="session")
def local_feasts() -> frozenset[date]:
    """Return the feasts of one town, from a file with a name that people gave it."""
    return frozenset(date.fromisoformat(line) for line in (HERE / "data" / "fêtes locales.txt").read_text().split())


@pytest.fixture(scope="session")
def easters() -> dict[int, date]:
    """Return Easter of some years, as a church printed it."""
    table = json.loads((HERE / "data" / "easters.json").read_text())
    return {int(year): date.fromisoformat(day) for year, day in table.items()}
