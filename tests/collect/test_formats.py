"""The table of formats: each row has a reader, a page, and does nothing before it is asked for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from admit.collect import FORMATS, reader_of

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("form", [pytest.param(form, id=name) for name, form in FORMATS.items()])
def test_each_format_has_a_reader_and_a_page(form) -> None:
    assert callable(reader_of(form))
    assert (ROOT / "docs" / form.page).is_file()


def test_the_table_loads_no_reader() -> None:
    script = "import sys, admit.collect; print([m for m in sys.modules if 'expat' in m or 'collect.junit' in m])"
    printed = subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "[]"
