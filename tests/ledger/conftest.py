"""What the ledger's tests share."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from admit.ledger.base import Entry, Ledger
from admit.ledger.sqlite import SqliteLedger

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


@pytest.fixture
def now() -> datetime:
    """Return an instant to append at."""
    return NOW


@pytest.fixture
def fill() -> Callable[[Ledger, int], list[Entry]]:
    """Return a function that appends some entries, one second apart, and returns them."""

    def filled(ledger: Ledger, number: int) -> list[Entry]:
        return [
            ledger.append("decision", b'{"n":%d}' % n, now=NOW + timedelta(seconds=n), key=f"fill-{n}")
            for n in range(number)
        ]

    return filled


@pytest.fixture
def ledger_file(tmp_path: Path, fill: Callable[[Ledger, int], list[Entry]]) -> Path:
    """Return a closed ledger of five entries."""
    path = tmp_path / ".admit" / "ledger.db"
    ledger = SqliteLedger(path)
    fill(ledger, 5)
    ledger.close()
    return path
