"""What of a Python file runs when, from its source alone: it is compiled and parsed, never imported, never run.

Each line has a mark. `#`: blank or a comment, outside of every statement. Empty: runs when the file is imported, as far
as it runs at all. Inside a function's body: a letter, the column of a first line, and the name of the innermost
function: `s8 f` begins a simple statement, `c f` goes on with one, `h f` belongs to what decides which statements run
(`if`, `else`, `try`, a decorator or signature of an inner function). Two files whose unchanged lines have the same
marks, and whose changed lines are simple statements of the same column, differ in nothing but those statements.
"""

from __future__ import annotations

import ast
import re
import warnings
from typing import TYPE_CHECKING, Final

from admit.scope.map import Function, Shape, bits_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType

INERT: Final = "#"
"""The mark of a line that no program is made of."""

AT_IMPORT: Final = ""
"""The mark of a line that runs, as far as it does, when the file is imported."""

MOST_BYTES: Final = 4_000_000
"""A longer source has no shape: no person wrote it, and its answer would keep everybody waiting."""

_KIND_FLAGS: Final = 0x04 | 0x08 | 0x20 | 0x80 | 0x200
"""Variable arguments; whether a function is a generator, a coroutine, or both (`inspect.CO_*`)."""

_BY_TEXT: Final = frozenset(
    {"__import__", "import_module", "importorskip", "pytest_plugins", "run_module", "run_path"}
    | {"spec_from_file_location"}
)
"""Names through which a module is imported that is named by a text."""

_ANYTHING: Final = frozenset({"*"})
"""What a file may import of which nothing is known but that Python may run it."""


def shape_of(source: bytes, blob: str) -> Shape:
    """Return the shape of a file's source; one that cannot be told says why.

    Args:
        source: the file's bytes, which are compiled and never run.
        blob: git's id of them.
    """
    return _shaped(source, blob, with_imports=True)


def outline_of(source: bytes, blob: str) -> Shape:
    """Return the shape without what the file imports: all that is asked of a patch's side."""
    return _shaped(source, blob, with_imports=False)


def _shaped(source: bytes, blob: str, *, with_imports: bool) -> Shape:
    if why := _unreadable(source):
        return Shape(blob, imports=_ANYTHING, unreadable=why)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
            code = compile(source, "<source>", "exec", dont_inherit=True, optimize=0)
        return _Shaping(source, tree, code).shape(blob, _imports(tree) if with_imports else frozenset())
    except (SyntaxError, ValueError) as error:
        return Shape(blob, unreadable=f"it does not compile ({type(error).__name__})")
    except (RecursionError, MemoryError, OverflowError):
        return Shape(blob, imports=_ANYTHING, unreadable="it is too deep or too large to compile")


def _unreadable(source: bytes) -> str:
    if len(source) > MOST_BYTES:
        return f"it is longer than {MOST_BYTES} bytes"
    if b"\r" in source and re.search(rb"\r(?!\n)", source):
        return "it has lines that end in a carriage return alone, which git and Python count differently"
    return ""


class _Shaping:
    """One file on its way to a shape."""

    def __init__(self, source: bytes, tree: ast.Module, code: CodeType) -> None:
        self._lines = source.removesuffix(b"\n").split(b"\n") if source else []
        self._marks = [AT_IMPORT] * (len(self._lines) + 1)  # line numbers count from 1
        self._is_program = bytearray(len(self._lines) + 1)
        self._functions: list[Function] = []
        self._names: dict[str, int] = {}
        self._tree = tree
        self._codes: dict[tuple[int, str], CodeType] = {}
        self._code_lines: set[int] = set()
        for one in _codes(code):
            self._codes[one.co_firstlineno, one.co_name] = one
            self._code_lines.update(line for _, _, line in one.co_lines() if line)

    def shape(self, blob: str, imports: frozenset[str]) -> Shape:
        """Mark every line and return all that was found."""
        self._block(self._tree.body, "")
        marks = self._marks
        for number, line in enumerate(self._lines, 1):
            # the first two lines may say how the file is encoded
            if not self._is_program[number] and _is_idle(line) and (number > 2 or not line.strip()):
                marks[number] = INERT
        held = (line for line in self._code_lines if line < len(marks))
        executable = bits_of(line for line in held if marks[line] not in {AT_IMPORT, INERT})
        return Shape(blob, tuple(self._functions), executable, tuple(marks[1:]), imports)

    # ------------------------------------------------------------ statements

    def _block(self, body: list[ast.stmt], name: str) -> None:
        for statement in body:
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
                self._function(statement, name)
            elif blocks := _blocks(statement):
                self._compound(statement, blocks, name)
            else:
                self._simple(statement, name)

    def _simple(self, statement: ast.stmt, name: str) -> None:
        first, last = statement.lineno, _last(statement)
        if self._shares_line(statement):  # `a; b`: the line is already what it is
            first += 1
        self._cover(first, last, f"c {name}" if name else AT_IMPORT)
        if name and first == statement.lineno:
            self._marks[first] = f"s{statement.col_offset} {name}"

    def _compound(self, statement: ast.stmt, blocks: list[list[ast.stmt]], name: str) -> None:
        """Mark a statement that holds others: whatever is in none of its blocks decides."""
        mark = f"h {name}" if name else AT_IMPORT
        at = _first(statement)
        for body in blocks:
            begins, ends = _first(body[0]), _last(body[-1])
            self._cover_head(at, begins - 1, mark)
            self._block(body, name)
            if self._shares_line(body[0]):  # `if x: return` decides and does
                self._cover(begins, ends, mark)
            at = ends + 1

    def _function(self, statement: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> None:
        first, last = _first(statement), _last(statement)
        mark = f"h {name}" if name else AT_IMPORT
        has_docstring = _is_docstring(statement.body[0])
        body = statement.body[1:] if has_docstring else statement.body
        code = self._codes.get((first, statement.name))
        if code is None or not body or self._shares_line(body[0]):
            self._cover(first, last, mark)
            return
        own = self._own_name(code.co_qualname)
        cached = any("cache" in word.lower() for one in statement.decorator_list for word in _words(one))
        self._functions.append(Function(own, first, last, _first(body[0]), last, _kind(code), cached))
        self._cover_head(first, _first(statement.body[0]) - 1, mark)
        if has_docstring:
            ends = _last(statement.body[0])
            self._cover(statement.body[0].lineno, ends, mark)
            self._cover_head(ends + 1, _first(body[0]) - 1, mark)
        self._block(body, own)

    def _own_name(self, name: str) -> str:
        count = self._names[name] = self._names.get(name, 0) + 1
        return name if count == 1 else f"{name}#{count}"

    # ------------------------------------------------------------ lines

    def _shares_line(self, statement: ast.stmt) -> bool:
        """Say whether something else stands before a statement on its line."""
        return bool(self._lines[statement.lineno - 1][: statement.col_offset].strip())

    def _cover(self, first: int, last: int, mark: str) -> None:
        """Mark lines that belong to the program, blank ones too."""
        for number in range(first, last + 1):
            self._marks[number] = mark
            self._is_program[number] = True

    def _cover_head(self, first: int, last: int, mark: str) -> None:
        """Mark lines before a block; blank ones and comments between them are no part of the program."""
        held = self._lines[first - 1 : last]
        has_text = any(b'"""' in line or b"'''" in line or line.rstrip().endswith(b"\\") for line in held)
        for number, line in enumerate(held, first):
            if has_text or not _is_idle(line):
                self._cover(number, number, mark)


def _is_idle(line: bytes) -> bool:
    text = line.strip()
    return not text or text.startswith(b"#")


def _first(statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(one.lineno for one in decorators)])


def _last(statement: ast.stmt) -> int:
    return statement.end_lineno or statement.lineno


def _is_docstring(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def _blocks(statement: ast.stmt) -> list[list[ast.stmt]]:
    """Return the blocks of a statement in the order of their lines; none of a simple one."""
    match statement:
        case ast.Try() | ast.TryStar():
            found = [statement.body, *(one.body for one in statement.handlers), statement.orelse, statement.finalbody]
        case ast.If() | ast.For() | ast.AsyncFor() | ast.While():
            found = [statement.body, statement.orelse]
        case ast.With() | ast.AsyncWith() | ast.ClassDef():
            found = [statement.body]
        case ast.Match():
            found = [one.body for one in statement.cases]
        case _:
            found = []
    return [body for body in found if body]


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Yield every code object inside of a module's."""
    held = [code]
    while held:
        one = held.pop()
        inner = [const for const in one.co_consts if hasattr(const, "co_consts")]
        yield from inner
        held += inner


def _kind(code: CodeType) -> str:
    """Return what the compiler made of a function as a whole: its flags, the names that are its own, all others."""
    others = {*code.co_names, *code.co_freevars}
    for inner in _codes(code):
        others.update(inner.co_names, inner.co_freevars)
    names = sorted({*code.co_varnames, *code.co_cellvars})
    return f"{code.co_flags & _KIND_FLAGS:x}|{' '.join(names)}|{' '.join(sorted(others))}"


def is_same_kind(old: str, new: str) -> bool:
    """Say whether a function stayed what it was as a whole, for the statements of it that stayed.

    A name that became its own, or no longer is, matters to them if they use it.
    """
    (flags, names, others), (new_flags, new_names, new_others) = (_parts(kind) for kind in (old, new))
    return flags == new_flags and not (new_names - names) & others and not (names - new_names) & new_others


def _parts(kind: str) -> tuple[str, set[str], set[str]]:
    flags, names, others = kind.split("|")
    return flags, set(names.split()), set(others.split())


# ---------------------------------------------------------------- what it imports


def _imports(tree: ast.Module) -> frozenset[str]:
    """Return the parts of the names that a file imports, from wherever in it; `*` for what nobody can tell."""
    found: set[str] = set()
    texts: set[str] = set()
    is_by_text = False
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                found.update(part for one in names for part in one.name.split("."))
            case ast.ImportFrom(module=module, names=names):
                found.update((module or "").split("."), (one.name for one in names))
            case ast.Name(id=word) | ast.Attribute(attr=word) if word in _BY_TEXT:
                is_by_text = True
            case ast.Call(func=function, args=[first, *_]) if not isinstance(first, ast.Constant):
                if _BY_TEXT.intersection(_words(function)):
                    found.add("*")
            case ast.Constant(value=str(text)) if len(text) < 200:
                texts.add(text)
            case _:
                pass
    if is_by_text:
        found.update(part for text in texts for part in re.findall(r"\w+", text))
    return frozenset(found - {""})


def _words(expression: ast.expr) -> set[str]:
    """Return the names in an expression such as a decorator."""
    return {
        node.id if isinstance(node, ast.Name) else node.attr
        for node in ast.walk(expression)
        if isinstance(node, ast.Name | ast.Attribute)
    }
