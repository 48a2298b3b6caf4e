"""Only named modules touch the world; core touches nothing but the standard library's pure part."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PURE = ("admit.core", "admit.errors")


def touches(source: Any, boundary: dict[str, Any]) -> Iterator[str]:
    """Yield `path:line: name` for each import, call or attribute that reaches outside the values passed in."""
    for line, name in source.imported():
        in_world = any(name == world or name.startswith(f"{world}.") for world in boundary["WORLD"])
        if in_world and name not in boundary["PURE_NAMES"]:
            yield f"{source.path}:{line}: imports {name}"
    for node in ast.walk(source.tree):
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in boundary["WORLD_CALLS"]:
                yield f"{source.path}:{node.lineno}: calls {name}"
            case ast.Attribute(attr=attr):
                reached = f"{ast.unparse(node.value).rpartition('.')[2]}.{attr}"
                if reached in boundary["WORLD_ATTRIBUTES"]:
                    yield f"{source.path}:{node.lineno}: uses {reached}"
            case _:
                pass


def test_only_modules_in_the_list_touch_the_world(sources: list[Any], boundary: dict[str, Any]) -> None:
    stray = [
        touch
        for source in sources
        if source.name not in boundary["BOUNDARY"] and not any(source.is_in(edge) for edge in boundary["EDGES"])
        for touch in touches(source, boundary)
    ]
    assert not stray, "not in tests/architecture/boundary.py, so it must stay pure:\n" + "\n".join(stray)


def test_each_line_of_the_list_is_needed(sources: list[Any], boundary: dict[str, Any]) -> None:
    touching = {source.name for source in sources if any(touches(source, boundary))}
    assert not set(boundary["BOUNDARY"]) - touching, "in the list, but gone or pure by now"


def test_core_is_never_in_the_list(boundary: dict[str, Any]) -> None:
    assert not [name for name in boundary["BOUNDARY"] if name.startswith(PURE)]


def test_core_needs_the_standard_library_alone(sources: list[Any]) -> None:
    foreign = [
        f"{source.path}:{line}: {name}"
        for source in sources
        if source.name.startswith(PURE)
        for line, name in source.imported()
        if name.split(".")[0] not in sys.stdlib_module_names and not name.startswith(PURE)
    ]
    assert not foreign, "\n".join(foreign)


def test_core_leaves_out_what_is_slow_to_import(sources: list[Any], root: Path) -> None:
    """Decision record 0002: `dataclasses` imports `inspect`, which costs more than a whole decision."""
    pure = [source.name for source in sources if source.name.startswith(PURE)]
    script = f"""
import sys
sys.path.insert(0, {str(root / "src")!r})
import {", ".join(pure)}
print(sorted({{"asyncio", "dataclasses", "inspect"}} & set(sys.modules)))
"""
    printed = subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "[]"


def test_every_import_is_the_standard_library_or_a_declared_dependency(
    sources: list[Any], boundary: dict[str, Any], project: dict[str, Any]
) -> None:
    declared = {line.split(">")[0].strip() for line in project["project"]["dependencies"]}
    extras = {
        line.split(">")[0].strip() for lines in project["project"]["optional-dependencies"].values() for line in lines
    }
    stray = []
    for source in sources:
        allowed = declared | (boundary["PLUGIN_ONLY"] if source.is_in("admit.pytest_plugin") else frozenset())
        allowed |= extras if source.name in boundary["NEEDS_EXTRA"] else frozenset()
        for line, name in source.imported():
            top = name.split(".")[0]
            if top not in allowed and top != "admit" and top not in sys.stdlib_module_names:
                stray.append(f"{source.path}:{line}: {name}")
    assert not stray, "\n".join(stray)
