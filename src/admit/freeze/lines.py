"""Where the entries of a TOML file stand, by line: for error texts, and for edits that leave every other byte alone."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_TOKEN: Final = re.compile(
    r"""
      \#[^\n]*
    | \"\"\"(?:\\.|[^\\])*?\"\"\"\"{0,2}
    | '''.*?''''{0,2}
    | "(?:\\.|[^"\\\n])*"
    | '[^'\n]*'
    """,
    re.VERBOSE | re.DOTALL,
)
"""A comment or a string. In valid TOML whatever of them opens first, reading from the left, is one."""


class Extent(NamedTuple):
    """The lines of one entry, counted from 0: its header, and the line after its last value.

    Comments and blank lines below the last value belong to whatever follows.
    """

    first: int
    end: int


def extents(text: str, table: str) -> tuple[Extent, ...]:
    """Return the extent of each `[[table]]` in a valid TOML text, in the order of the file.

    An entry that is written another way (`table = [{…}]`) is not found, so compare the count before relying on it.
    """
    lines = _without_long_strings(text).split("\n")
    header = re.compile(rf"""[ \t]*\[\[[ \t]*(["']?){re.escape(table)}\1[ \t]*\]\]""")
    starts = [number for number, line in enumerate(lines) if header.match(line)]
    return tuple(Extent(start, _end(lines, start)) for start in starts)


def _end(lines: list[str], start: int) -> int:
    following = range(start + 1, len(lines))
    stop = next((number for number in following if lines[number].lstrip(" \t").startswith("[")), len(lines))
    while stop > start + 1 and is_blank_or_comment(lines[stop - 1]):
        stop -= 1
    return stop


def is_blank_or_comment(line: str) -> bool:
    """Return whether a line says nothing to TOML."""
    return not (stripped := line.strip()) or stripped.startswith("#")


def _without_long_strings(text: str) -> str:
    """Return the text, line for line, with what stands in strings of several lines blanked out."""

    def blanked(found: re.Match[str]) -> str:
        return re.sub(r"[^\n]", "_", found[0]) if "\n" in found[0] else found[0]

    return _TOKEN.sub(blanked, text)
