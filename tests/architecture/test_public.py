"""What users may build on is short, sorted and the same as what they see."""

from __future__ import annotations

import ast
from pathlib import Path
from types import ModuleType
from typing import Any

import admit

NOT_NAMES = frozenset({"annotations", "TYPE_CHECKING"})  # what writing a module leaves behind


def test_the_public_names_are_short_sorted_and_single() -> None:
    assert len(admit.__all__) <= 20
    assert list(admit.__all__) == sorted(set(admit.__all__))


def test_the_public_names_are_what_is_visible() -> None:
    visible = {
        name
        for name in dir(admit)
        if not name.startswith("_") and name not in NOT_NAMES and not isinstance(getattr(admit, name), ModuleType)
    }
    assert visible == {name for name in admit.__all__ if not name.startswith("_")}
    assert [name for name in admit.__all__ if not hasattr(admit, name)] == []


def test_importing_the_package_says_that_it_is_typed() -> None:
    assert (Path(admit.__file__).parent / "py.typed").is_file()


def test_each_module_says_what_lives_there(sources: list[Any]) -> None:
    assert [source.path for source in sources if not ast.get_docstring(source.tree)] == []
