"""What is compiled of a changed file is the functions that changed, where the rest cannot be another (contract S2)."""

from __future__ import annotations

import difflib

import pytest

from admit.scope.hunks import Hunk
from admit.scope.shape import outline_of, shape_of
from admit.scope.splice import _spliced, new_shape

SOURCE = """\
import os
import sys

class A:
    class B:
        def m(self):
            __own = 1
            return __own

    def n(self):  # a comment
        # another
        return super().n()


@decorated
def f(x):
    if x:
        def g():
            return x
        return g()
    return 2


if sys:
    def h():
        return '''
        text'''


def f2(): return 1
def dup():
    return 1
def dup():
    return 4
"""


def hunks_between(old: list[str], new: list[str]) -> tuple[Hunk, ...]:
    return tuple(
        Hunk(a + 1 if b > a else a, b - a, c + 1 if d > c else c, d - c)
        for tag, a, b, c, d in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
        if tag != "equal"
    )


def changed(*pairs: tuple[str, str], source: str = SOURCE) -> tuple[str, tuple[Hunk, ...]]:
    new = source
    for before, after in pairs:
        assert source.count(before) == 1, before
        new = new.replace(before, after)
    return new, hunks_between(source.split("\n"), new.split("\n"))


@pytest.mark.parametrize(
    "pairs",
    [
        pytest.param([("__own = 1", "__own = 2")], id="a method of an inner class"),
        pytest.param([("__own = 1", "__other = 2")], id="a mangled name"),
        pytest.param([("return super().n()", "x = 1\n        return super()")], id="a method that grows"),
        pytest.param([("            return x\n", "            return 5\n")], id="an inner function"),
        pytest.param(
            [("    return 2\n\n\nif", "    return 3\n    # end\n\n\nif")], id="the last line, and a comment after it"
        ),
        pytest.param([("__own = 1", "pass"), ("    return 2\n\n\nif", "\n\nif")], id="two functions, one shrinks"),
        pytest.param([("        text'''", "        other\n        text'''")], id="a text of several lines"),
        pytest.param(
            [("    if x:", "    while x:"), ("        return g()", "        return g")], id="two places in one"
        ),
    ],
)
def test_a_change_inside_of_functions_compiles_these_alone(pairs: list[tuple[str, str]]) -> None:
    new, hunks = changed(*pairs)
    parts, whole = (
        _spliced(shape_of(SOURCE.encode(), "old"), hunks, new.encode(), "new"),
        outline_of(new.encode(), "new"),
    )
    assert parts is not None
    assert parts.marks == whole.marks
    assert 0 < len(parts.functions) < len(whole.functions)
    assert set(parts.functions) <= set(whole.functions)


@pytest.mark.parametrize(
    "pairs",
    [
        pytest.param([("import os", "import json")], id="a line of the module"),
        pytest.param([("@decorated", "@other")], id="the first line of a function"),
        pytest.param([("    return 2\n\n\nif", "    return 2\nz = 1\n\nif")], id="a line of the module after it"),
        pytest.param(
            [("    return 2\n\n\nif", "    return 2\nz = 1\n\n\nif")], id="such a line that comes right after it"
        ),
        pytest.param([("def f(x):", "def k(x):")], id="another name beneath a decorator"),
        pytest.param([("    return 2\n\n\nif", "    return 2\nclass Z:\n    pass\nif")], id="a class after it"),
        pytest.param([("        text'''", "        text''' \\")], id="a line that goes on"),
        pytest.param([("        text'''", "        text")], id="a text that goes on"),
        pytest.param([("            return x\n", "            return (x\n")], id="a bracket that stays open"),
        pytest.param([("return 4", "return 5")], id="the second function of a name"),
        pytest.param([("def f2(): return 1", "def f2(): return 2")], id="a function of one line"),
        pytest.param([("    def n(self):  # a comment", "    def o(self):")], id="another name"),
    ],
)
def test_whatever_may_change_more_compiles_the_whole(pairs: list[tuple[str, str]]) -> None:
    new, hunks = changed(*pairs)
    old = shape_of(SOURCE.encode(), "old")
    assert _spliced(old, hunks, new.encode(), "new") is None
    assert new_shape(old, hunks, new.encode(), "new").unreadable == outline_of(new.encode(), "new").unreadable


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("# coding: latin-1\n" + SOURCE, id="an encoding"),
        pytest.param("\ufeff" + SOURCE, id="a byte order mark"),
        pytest.param(SOURCE.replace("\n", "\r\n"), id="carriage returns"),
        pytest.param(
            "def f(x):\n    # text\n    return 2\n\n\nif 1:\n    pass\n", id="a function that begins the file"
        ),
        pytest.param(
            "x = 1\ny = 1\nz = 1; \\\n\ndef f(x):\n    return 2\n\n\nif 1:\n    pass\n",
            id="a line that goes on before the function",
        ),
    ],
)
def test_a_file_that_is_read_in_another_way_is_compiled_as_a_whole(source: str) -> None:
    new, hunks = changed(("    return 2", "    return 3"), source=source)
    old = shape_of(source.encode(), "old")
    found = new_shape(old, hunks, new.encode(), "new")
    assert found.marks == outline_of(new.encode(), "new").marks


def test_hunks_that_are_of_another_content_are_not_trusted() -> None:
    new, hunks = changed(("__own = 1", "__own = 2"))
    old = shape_of(SOURCE.encode(), "old")
    assert _spliced(old, hunks, (new + "z = 1\n").encode(), "new") is None
