from __future__ import annotations

from pathlib import Path

import pytest
from almanac import month_sheet
from compare import same_text

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.txt")), ids=lambda path: path.stem)
def test_the_sheet_is_as_printed(path):
    year, month = map(int, path.stem.split("-")[:2])
    same_text(month_sheet(year, month), path.read_bytes().decode())


def test_a_sheet_ends_with_its_last_day():
    assert month_sheet(2026, 5).split()[-1] == "31"
