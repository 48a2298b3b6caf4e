"""Modules and functions stay small enough to check by reading."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

MODULE_LINES = 400
FUNCTION_LINES = 50
POSITIONAL = 5

LONG_FUNCTIONS: dict[str, str] = {}
"""Functions that read better whole, by dotted name, with the reason. A line that is no longer needed fails."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions(source: Any) -> Iterator[tuple[str, Function, bool]]:
    """Yield (dotted name, node, is a method) of every function, nested ones included."""

    def walk(node: ast.AST, prefix: str) -> Iterator[tuple[str, Function, bool]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, Function):
                name = f"{prefix}.{child.name}"
                yield name, child, isinstance(node, ast.ClassDef)
                yield from walk(child, name)
            elif isinstance(child, ast.ClassDef):
                yield from walk(child, f"{prefix}.{child.name}")
            else:
                yield from walk(child, prefix)

    yield from walk(source.tree, source.name)


def lines(node: Function) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def test_no_module_is_longer_than_400_lines(sources: list[Any]) -> None:
    long = {source.path: count for source in sources if (count := source.text.count("\n")) > MODULE_LINES}
    assert not long, "look for a missing type or a table before splitting"


def test_no_function_is_longer_than_50_lines_but_those_named_here(sources: list[Any]) -> None:
    long = {name: lines(node) for source in sources for name, node, _ in functions(source)}
    over = {name for name, count in long.items() if count > FUNCTION_LINES}
    assert over == set(LONG_FUNCTIONS), {name: long.get(name) for name in over ^ set(LONG_FUNCTIONS)}


def test_no_function_takes_more_than_five_positional_parameters(sources: list[Any]) -> None:
    wide = {}
    for source in sources:
        for name, node, is_method in functions(source):
            static = any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in node.decorator_list)
            count = len(node.args.posonlyargs) + len(node.args.args) - (is_method and not static)
            if count > POSITIONAL:
                wide[name] = count
    assert not wide, "keyword-only after the second, or a missing type"
