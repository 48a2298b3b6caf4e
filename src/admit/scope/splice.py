"""The new shape of a file from its old one and the functions that changed: what is compiled is no more than those.

A function stands in its file as one statement. If all that changed lies inside of some functions, and each of them, put
where it stood, is again one function of that name, then the lines around them are read as before: no text and no
bracket is left open. Where any of that is in doubt the whole file is compiled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from admit.scope.map import Shape
from admit.scope.shape import INERT, outline_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from admit.scope.hunks import Hunk
    from admit.scope.map import Function


class Place(NamedTuple):
    """A function that is in no other: where it stands on both sides."""

    function: Function
    first: int
    last: int


def new_shape(old: Shape, hunks: Sequence[Hunk], source: bytes, blob: str) -> Shape:
    """Return the shape of a file's new content, as far as a comparison needs it: marks, and the functions that changed.

    Args:
        old: the shape of what it was before.
        hunks: what differs.
        source: the new content.
        blob: git's id of it.
    """
    return _spliced(old, hunks, source, blob) or outline_of(source, blob)


def _spliced(old: Shape, hunks: Sequence[Hunk], source: bytes, blob: str) -> Shape | None:
    """Return the new shape put together from parts, None where that cannot be trusted."""
    places = _places(old, hunks)
    if old.unreadable or places is None or b"\r" in source or source.startswith(b"\xef\xbb\xbf"):
        return None
    lines = source.removesuffix(b"\n").split(b"\n")
    if any(b"coding" in line for line in lines[:2]):
        return None
    marks: list[str] = []
    functions: list[Function] = []
    at = 1  # the next old line to be taken over
    for place in places:
        part = _part(place, lines)
        if part is None:
            return None
        marks += old.marks[at - 1 : place.function.first - 1]
        marks += part.marks
        functions += part.functions
        at = place.function.last + 1
    marks += old.marks[at - 1 :]
    if len(marks) != len(lines):
        return None
    return Shape(blob, tuple(functions), 0, tuple(marks))


def _places(old: Shape, hunks: Sequence[Hunk]) -> list[Place] | None:
    """Return the functions that hold all hunks between their first and their last line, in order."""
    found: list[Place] = []
    before = 0  # how far the lines have moved so far
    for hunk in hunks:
        ends = hunk.old_first + hunk.old_count - 1 if hunk.old_count else hunk.old_first
        moves = hunk.new_count - hunk.old_count
        if found and found[-1].function.first < hunk.old_start and ends <= found[-1].function.last:
            found[-1] = found[-1]._replace(last=found[-1].last + moves)
        else:
            one = next((one for one in old.functions if one.first < hunk.old_start and ends <= one.last), None)
            if one is None or "#" in one.name or (found and one.first <= found[-1].function.last):
                return None
            found.append(Place(one, one.first + before, one.last + before + moves))
        before += moves
    return found


_BEFORE = (b"0", b"0")
"""Two lines before a part: a file's first two may say how it is encoded, and are read in another way."""


def _part(place: Place, lines: list[bytes]) -> Shape | None:
    """Return the shape of one function where it stands now; None if it is not one function of that name."""
    text = lines[place.first - 1 : place.last]
    if place.first <= 2 or not text or _goes_on(lines[place.first - 2]) or _goes_on(text[-1]):
        return None
    *classes, _ = place.function.name.split(".")
    heads = [b" " * depth + f"class {name}:".encode() for depth, name in enumerate(classes)]
    if not heads and text[0][:1].isspace():
        heads = [b"if 0:"]
    before = [*_BEFORE, *heads]
    shape = outline_of(b"\n".join([*before, *text, b""]), "")
    if shape.unreadable or not shape.functions:
        return None
    whole, more = shape.functions[0], len(before)
    if (whole.name, whole.first) != (place.function.name, more + 1):
        return None
    if any(mark != INERT for mark in shape.marks[whole.last :]):
        return None
    moved = place.first - 1 - more
    functions = tuple(
        one._replace(
            first=one.first + moved,
            last=one.last + moved,
            body_first=one.body_first + moved,
            body_last=one.body_last + moved,
        )
        for one in shape.functions
    )
    return Shape("", functions, 0, shape.marks[more:])


def _goes_on(line: bytes) -> bool:
    return line.rstrip().endswith(b"\\")
