"""The names of the wiring come from their modules when they are asked for."""

from __future__ import annotations

import subprocess
import sys

import pytest

import admit.wiring


@pytest.mark.parametrize("name", admit.wiring.__all__)
def test_every_name_is_there(name: str) -> None:
    assert getattr(admit.wiring, name) is not None


def test_a_name_that_there_is_not_is_missing_as_in_any_module() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = admit.wiring.nothing


def test_the_room_itself_imports_none_of_them() -> None:
    script = "import sys, admit.wiring; print([name for name in sys.modules if name.startswith('admit.wiring.')])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
