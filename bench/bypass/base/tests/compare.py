"""Compare texts so that a difference can be read."""

from __future__ import annotations

import difflib


def same_text(shown: str, wanted: str) -> None:
    """Fail with the lines that differ."""
    lines = list(difflib.unified_diff(wanted.splitlines(True), shown.splitlines(True), "wanted", "shown"))
    assert not lines, "".join(lines)
