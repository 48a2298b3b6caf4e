"""What a patch changes, before any node is asked: lines of bodies, what runs at import, data, what nobody can tell.

Why a node that ran none of the lines named here cannot see the patch: the unchanged lines of a file have the same marks
on both sides (`shape.py`), so that each block of each function holds the same statements in the same order but for
those that changed. Where whole simple statements gave way to others in their place, whoever never reached the place
never reaches what stands there now. Wherever more than that changed, the function counts as a whole, and where it is
not one function, the file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from admit.scope.columns import ANY, OUTSIDE
from admit.scope.hunks import unchanged
from admit.scope.kinds import folders_of, is_under, kind_of, test_stem
from admit.scope.map import span
from admit.scope.reasons import Reason
from admit.scope.shape import INERT, is_same_kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from admit.scope.columns import Column, Columns
    from admit.scope.hunks import Edit, Hunk
    from admit.scope.map import Function, Shape

LINK: Final = "120000"
SUBMODULE: Final = "160000"


class Diff(NamedTuple):
    """A patch: two commits, what differs, and the new shape of every Python file that is on both sides.

    `inert` are path patterns of what no gate measures, as the base configures them (contract S4): such a file matters
    to nodes that open it, whatever kind of file it is.
    """

    base: str
    head: str
    edits: tuple[Edit, ...]
    shapes: Mapping[str, Shape]
    inert: tuple[str, ...] = ()


class Touched(NamedTuple):
    """Lines of the base's file; whoever ran one of them sees the patch."""

    bits: int
    reason: Reason


class Effects:
    """What a patch changes, by what a node has to have reached to see it.

    `everyone` is what each node sees, `unknown` what nobody can tell of any node; of each the first that was found.
    """

    def __init__(self) -> None:
        self.everyone: Reason | None = None
        self.unknown: Reason | None = None
        self.lines: dict[str, list[Touched]] = {}
        self.opened: dict[str, Reason] = {}
        self.listed: dict[str, Reason] = {}
        self.own: dict[str, Reason] = {}

    def all_see(self, reason: Reason) -> None:
        """Take what every node sees."""
        self.everyone = self.everyone or reason

    def nobody_knows(self, reason: Reason) -> None:
        """Take what may be seen by any node."""
        self.unknown = self.unknown or reason


def effects_of(diff: Diff, columns: Columns) -> Effects:
    """Return what a patch changes, as far as the map's files can tell."""
    effects = Effects()
    for edit in diff.edits:
        _add(edit, diff, columns, effects)
    return effects


def _add(edit: Edit, diff: Diff, columns: Columns, effects: Effects) -> None:
    path, modes = edit.path, {edit.old_mode, edit.new_mode}
    if is_under(path, diff.inert):
        _add_data(edit, effects)
        return
    if SUBMODULE in modes or LINK in modes:
        effects.nobody_knows(Reason("submodule" if SUBMODULE in modes else "link", path))
        return
    if edit.old_blob and edit.new_blob and edit.old_mode != edit.new_mode:
        effects.nobody_knows(Reason("mode", path, text=f"{edit.old_mode} to {edit.new_mode}"))
    kind = kind_of(path)
    match kind:
        case "configuration" | "dependencies" | "native" | "generated":
            effects.nobody_knows(Reason(kind, path))
        case "data":
            _add_data(edit, effects)
        case "python":
            _add_data(edit, effects)  # a node may read a source as text
            _add_source(edit, diff, columns, effects)


def _add_data(edit: Edit, effects: Effects) -> None:
    effects.opened.setdefault(edit.path, Reason("data", edit.path))
    if edit.old_blob is None or edit.new_blob is None:
        for folder in folders_of(edit.path):
            effects.listed.setdefault(folder, Reason("folder", edit.path))


# ---------------------------------------------------------------- Python sources


def _add_source(edit: Edit, diff: Diff, columns: Columns, effects: Effects) -> None:
    path = edit.path
    if edit.old_blob is None:
        _at_import(Reason("import", path, text="a new file"), columns, effects)
        return
    column = columns.files.get(path)
    if column is None:
        effects.nobody_knows(Reason("unseen", path))
    elif column.shape.blob != edit.old_blob:
        effects.nobody_knows(Reason("differs", path))
    elif edit.new_blob is None:
        _at_import(Reason("import", path, text="a file that goes"), columns, effects)
    elif edit.is_binary:
        effects.nobody_knows(Reason("binary", path))
    else:
        new = diff.shapes.get(path)
        unreadable = column.shape.unreadable or ("no shape" if new is None else new.unreadable)
        if new is None or unreadable:
            effects.nobody_knows(Reason("unreadable", path, text=unreadable))
            return
        found = _Compared(path, column, new, edit.hunks).touched()
        if isinstance(found, Reason):
            _at_import(found, columns, effects)
        elif found:
            effects.lines[path] = found


def _at_import(reason: Reason, columns: Columns, effects: Effects) -> None:
    """Take what runs at import: every node sees it, or those of a test file that nobody else imports."""
    stem = test_stem(reason.path)
    if stem and not columns.shared & {stem, ANY} and columns.is_owned:
        effects.own[reason.path] = reason
    else:
        effects.all_see(reason)


class _Compared:
    """One file on both sides."""

    def __init__(self, path: str, column: Column, new: Shape, hunks: Sequence[Hunk]) -> None:
        self._path, self._column, self._hunks = path, column, hunks
        self._old, self._new = column.shape, new
        self._new_by_name = {one.name: one for one in new.functions}

    def touched(self) -> list[Touched] | Reason:
        """Return the lines that the hunks touch, or why the file counts as a whole."""
        old, new = self._old.marks, self._new.marks
        for first, to, count in unchanged(self._hunks, len(old)):
            if old[first - 1 : first - 1 + count] != new[to - 1 : to - 1 + count]:
                return self._import(first, "lines that stay become another part of the program")
        found = []
        for hunk in self._hunks:
            one = self._hunk(hunk)
            if isinstance(one, Reason):
                return one
            if one is not None:
                found.append(one)
        return found

    def _import(self, line: int, text: str = "") -> Reason:
        return Reason("import", self._path, line, text)

    def _hunk(self, hunk: Hunk) -> Touched | Reason | None:
        """Return what one hunk touches; nothing if all of its lines are blank or comments."""
        olds = _program(self._old, hunk.old_start, hunk.old_count)
        news = _program(self._new, hunk.new_start, hunk.new_count)
        if not olds and not news:
            return None
        line = olds[0] if olds else max(hunk.old_first, 1)
        function = self._function(olds, news)
        if function is None:
            return self._import(line)
        around = [one for one in self._old.functions if one.body_first <= function.first and function.last <= one.last]
        if any(one.is_cached for one in (function, *around)):
            return Reason("kept", self._path, line, function.name)
        statements = self._statements(function, olds, news)
        bits = statements or span(function.body_first, function.body_last)
        if not bits & self._old.executable:
            return self._import(line, f"no line of {function.name} can be seen to run")
        if bits & self._column.hits.get(OUTSIDE, 0):
            return Reason("outside", self._path, line, function.name)
        return Touched(bits, Reason("line" if statements else "function", self._path, line, function.name))

    def _function(self, olds: Sequence[int], news: Sequence[int]) -> Function | None:
        """Return the innermost function of the base whose body, on both sides, holds all of these lines."""
        for one in reversed(self._old.functions):
            new = self._new_by_name.get(one.name)
            if new is not None and _holds(one, olds) and _holds(new, news):
                return one
        return None

    def _statements(self, function: Function, olds: Sequence[int], news: Sequence[int]) -> int:
        """Return the lines of the simple statements that gave way to others in their place; 0 if it was more."""
        if not olds or not is_same_kind(function.kind, self._new_by_name[function.name].kind):
            return 0
        first, last, starts = _simple(self._old, function.name, olds)
        _, _, new_starts = _simple(self._new, function.name, news) if news else (0, 0, starts)
        if len(starts) != 1 or new_starts != starts:
            return 0
        begins = [line for line in range(first, last + 1) if self._old.marks[line - 1][0] == "s"]
        for begin, end in zip(begins, [*begins[1:], last + 1], strict=True):
            if not span(begin, end - 1) & self._old.executable:
                return 0  # nobody could have been seen to run it
        return span(first, last)


def _holds(function: Function, lines: Sequence[int]) -> bool:
    return all(function.body_first <= line <= function.body_last for line in lines)


def _program(shape: Shape, first: int, count: int) -> list[int]:
    """Return those of some lines that a program is made of."""
    return [line for line in range(first, first + count) if shape.marks[line - 1] != INERT]


_MORE: Final[frozenset[str]] = frozenset({"", "more"})
"""Stands for the first lines of statements where there is more than simple ones."""


def _simple(shape: Shape, name: str, lines: Sequence[int]) -> tuple[int, int, frozenset[str]]:
    """Return the first and last line of the simple statements that lines belong to, and the marks of their first lines.

    The marks are more than one where the lines are of several blocks or functions, or decide what runs.
    """
    marks = shape.marks
    if any(marks[line - 1][:1] not in {"s", "c"} or marks[line - 1].partition(" ")[2] != name for line in lines):
        return 0, 0, _MORE
    first, last = lines[0], lines[-1]
    while first > 1 and marks[first - 1][0] == "c":
        first -= 1
    while last < len(marks) and marks[last][:1] == "c":
        last += 1
    return first, last, frozenset(marks[line - 1] for line in range(first, last + 1) if marks[line - 1][:1] == "s")
