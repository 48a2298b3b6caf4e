"""What of a file runs when, told from its source alone (contract S1, S2)."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from admit.scope.map import lines_of
from admit.scope.shape import is_same_kind, outline_of, shape_of

SAMPLE = b'''# -*- coding: utf-8 -*-
import os

@decorated
def f(x,  # the signature
      z=1):
    """Docstring.

    # no comment
    """
    # a comment

    a = 1; b = 2
    if x:
        c = (1,

             2)
    elif z: return 3
    else:
        pass
    @decorated
    def g():
        """Inner docstring."""
        return a
    return [g()
      for i in a]


class A:
    x = 1

    @property
    def m(self):
        yield 1


def one(): return 1
'''

MARKS = """
1
2
3 #
4
5
6
7
8
9
10
11 #
12 #
13 s4 f
14 h f
15 s8 f
16 c f
17 c f
18 h f
19 h f
20 s8 f
21 h f
22 h f
23 h f
24 s8 f.<locals>.g
25 s4 f
26 c f
27 #
28 #
29
30
31 #
32
33
34 s8 A.m
35 #
36 #
37
"""


def marks(source: bytes) -> list[str]:
    return [f"{number} {mark}".strip() for number, mark in enumerate(shape_of(source, "b").marks, 1)]


def test_every_line_says_what_it_is_to_the_program() -> None:
    assert marks(SAMPLE) == MARKS.split("\n")[1:-1]


def test_a_function_has_its_definition_and_its_body_and_the_docstring_belongs_to_the_definition() -> None:
    spans = [(one.name, one.first, one.last, one.body_first, one.body_last) for one in shape_of(SAMPLE, "b").functions]
    assert spans == [("f", 4, 26, 13, 26), ("f.<locals>.g", 21, 24, 24, 24), ("A.m", 32, 34, 34, 34)]


@pytest.mark.parametrize(
    ("old", "new", "is_same"),
    [
        pytest.param("a = 1", "a = 2", True, id="other values"),
        pytest.param("a = 1", "yield 1", False, id="a generator"),
        pytest.param("b = 1", "c = 1", True, id="a name that nothing else uses"),
        pytest.param("b = 1", "len = 1", False, id="a name that another line takes from outside"),
        pytest.param("len = 1", "b = 1", False, id="a name that was its own"),
        pytest.param("b = 1", "str = 1", False, id="a name that an inner function takes from outside"),
        pytest.param("b = 1", "global b; b = 1", False, id="a name given away, used or not"),
        pytest.param("len = 1", "global len; len = 1", False, id="a name given away"),
    ],
)
def test_a_function_stays_what_it_was_for_the_lines_that_stay(old: str, new: str, is_same: bool) -> None:
    def kind(line: str) -> str:
        source = f"def f(a):\n    {line}\n    len(a)\n    def g():\n        return str\n    return g\n"
        return shape_of(source.encode(), "b").functions[0].kind

    assert is_same_kind(kind(old), kind(new)) == is_same


def test_a_decorator_that_keeps_results_is_seen() -> None:
    source = b"@functools.lru_cache(maxsize=None)\ndef f():\n    return 1\n@wraps\ndef g():\n    return 1\n"
    assert [one.is_cached for one in shape_of(source, "b").functions] == [True, False]


def test_a_second_function_of_one_name_has_a_name_of_its_own() -> None:
    source = b"if x:\n    def f():\n        return 1\nelse:\n    def f():\n        return 2\n"
    assert [one.name for one in shape_of(source, "b").functions] == ["f", "f#2"]


@pytest.mark.parametrize(
    "head",
    [
        pytest.param('if x == """\n\n# text\n""":', id="three quotes"),
        pytest.param("if x == 'a\\\n\\\n# text\\\n':", id="backslashes"),
    ],
)
def test_a_text_that_looks_like_a_comment_is_no_comment(head: str) -> None:
    source = f"def f():\n  pass\n  {head}\n    pass\n".encode()
    assert {shape_of(source, "b").marks[n] for n in (2, 3, 4, 5)} == {"h f"}


def test_a_statement_that_begins_on_the_last_line_of_another_belongs_to_it() -> None:
    assert marks(b"def f():\n  a = (1,\n  2); b = (3,\n  4)\n")[1:4] == ["2 s2 f", "3 c f", "4 c f"]


@pytest.mark.parametrize(
    ("source", "why"),
    [
        pytest.param(b"def f(:\n", "does not compile (SyntaxError)", id="no Python"),
        pytest.param(b"return 1\n", "does not compile (SyntaxError)", id="what only the compiler refuses"),
        pytest.param(b"a = 1\0\n", "does not compile", id="a null byte"),
        pytest.param(b"# coding: no-such\n", "does not compile", id="an encoding that does not exist"),
        pytest.param(b"a = 1\rb = 2\n", "carriage return", id="lines that git does not count"),
        pytest.param(b"(" * 5000 + b")" * 5000, "compile", id="nested too deeply"),
        pytest.param(b"-" * 300000 + b"1", "compile", id="nested too deeply for the compiler"),
        pytest.param(b"#" * 4_000_001, "longer than", id="too long"),
    ],
)
def test_a_file_whose_shape_cannot_be_told_says_why(source: bytes, why: str) -> None:
    shape = shape_of(source, "b")
    assert why in shape.unreadable
    assert (shape.blob, shape.functions, shape.executable, shape.marks) == ("b", (), 0, ())


@pytest.mark.parametrize(("source", "count"), [(b"", 0), (b"\n", 1), (b"a = 1", 1), (b"a = 1\n", 1), (b"a = 1\n\n", 2)])
def test_a_line_is_what_git_takes_for_one(source: bytes, count: int) -> None:
    assert len(shape_of(source, "b").marks) == count


def test_a_source_is_never_run(tmp_path: Path) -> None:
    shape = shape_of(f"open({str(tmp_path / 'ran')!r}, 'w')\nraise SystemExit\n".encode(), "b")
    assert not shape.unreadable
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "source", [SAMPLE.replace(b"\n", b"\r\n"), b"\xef\xbb\xbf" + SAMPLE], ids=["CRLF", "byte order mark"]
)
def test_line_ends_and_a_byte_order_mark_change_no_shape(source: bytes) -> None:
    assert shape_of(source, "b") == shape_of(SAMPLE, "b")


def test_what_a_file_imports_is_known_by_the_parts_of_the_names() -> None:
    source = b"import a.b as c\ndef f():\n    from .d import e\n"
    assert shape_of(source, "b").imports == {"a", "b", "d", "e"}
    assert outline_of(source, "b") == shape_of(source, "b")._replace(imports=frozenset())


def test_a_module_that_is_named_by_a_text_is_imported_too_and_one_that_is_computed_may_be_any() -> None:
    assert {"tests", "test_a"} <= shape_of(b"import_module('tests.test_a')\n", "b").imports
    assert "*" in shape_of(b"importlib.import_module(name)\n", "b").imports
    assert shape_of(b"x = 'tests.test_a'\n", "b").imports == frozenset()


def test_every_line_of_a_body_that_python_itself_reports_is_executable() -> None:
    """The standard library's own modules, whose functions are run under `sys.settrace`."""
    import textwrap

    path = Path(textwrap.__file__)
    shape = shape_of(path.read_bytes(), "b")
    hit: set[int] = set()

    def trace(frame: object, event: str, arg: object) -> object:
        if frame.f_code.co_filename == str(path):
            if event == "line":
                hit.add(frame.f_lineno)
            return trace
        return None

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        textwrap.shorten(textwrap.dedent("  a\n   b " * 30), 40)
        textwrap.wrap("word " * 40, width=20, fix_sentence_endings=True, break_long_words=True)
        textwrap.indent("a\n\nb", " ")
    finally:
        sys.settrace(before)
    assert len(hit) > 50
    assert hit <= set(lines_of(shape.executable))
