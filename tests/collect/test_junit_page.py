"""The reference page says what the mapping table in the code says."""

from __future__ import annotations

import runpy
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "docs" / "reference" / "formats"


def test_the_page_is_written_from_the_table() -> None:
    script = runpy.run_path(str(FOLDER / "write_junit.py"))
    text = (FOLDER / "junit.md").read_text("utf-8")
    assert text.count("<!-- from the code:") == 4
    assert script["page"](text) == text, "run: python docs/reference/formats/write_junit.py"
