"""A thing is called what it is."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

REFUSED = frozenset({"common", "helper", "helpers", "manager", "managers", "misc", "stuff", "util", "utils"})
REFUSED_ENDINGS = ("Helper", "Manager", "Util", "Utils")


def test_no_module_or_folder_is_named_after_nothing(tracked: list[Path], root: Path) -> None:
    code = [path.relative_to(root) for path in tracked if path.suffix == ".py"]
    refused = [str(path) for path in code if REFUSED & {part.lower().strip("_") for part in path.with_suffix("").parts}]
    assert code
    assert not refused, "name the thing"


def test_no_class_is_named_after_nothing(sources: list[Any]) -> None:
    refused = [
        f"{source.path}:{node.lineno}: {node.name}"
        for source in sources
        for node in ast.walk(source.tree)
        if isinstance(node, ast.ClassDef) and node.name.endswith(REFUSED_ENDINGS)
    ]
    assert not refused, "name the thing"
