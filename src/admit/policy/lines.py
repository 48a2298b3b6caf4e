"""Where in a TOML text a table or a key stands, so that a refusal can name the line."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_HEADER: Final = re.compile(r"\s*\[{1,2}\s*([A-Za-z0-9_.-]+)\s*\]{1,2}\s*(?:#.*)?$")
_KEY: Final = re.compile(r"""\s*(?:"([^"]+)"|'([^']+)'|([A-Za-z0-9_-]+))\s*[=.]""")
_LONG_STRING: Final = re.compile(r'"{3}|\'{3}')


class Line(NamedTuple):
    """A line that opens a table or sets a key: its number from 1, the table, which of that name, the key if any."""

    number: int
    table: str
    place: int
    key: str


class Source:
    """A text and the name that it goes by in messages; finds lines when a message needs one.

    The parser of the standard library tells no positions. A place that this scan does not find (an inline table,
    say) is named without a line, never with a wrong one on purpose.
    """

    def __init__(self, where: str, text: str) -> None:
        self.where, self.text = where, text

    def at(self, table: str = "", index: int = 0, key: str = "") -> str:
        """Return `where:line` of a key, or else of its table, or else the text's name alone.

        At the top of the file a key may also be a table of its own.
        """
        every = _lines(self.text)
        lines = [line for line in every if (line.table, line.place) == (table, index)]
        found = [line for line in lines if line.key == key]
        found = found or (lines if table else [line for line in every if key and line.table == key])
        return f"{self.where}:{found[0].number}" if found else self.where


def _lines(text: str) -> list[Line]:
    """Return the lines that open a table or set a key, outside strings of several lines."""
    found: list[Line] = []
    seen: dict[str, int] = {}
    table, index, inside = "", 0, False
    for number, line in enumerate(text.splitlines(), start=1):
        was_inside = inside
        inside ^= len(_LONG_STRING.findall(line)) % 2 == 1
        if was_inside:
            continue
        if header := _HEADER.match(line):
            table = header[1]
            index = seen[table] = seen.get(table, -1) + 1
            found.append(Line(number, table, index, ""))
        elif key := _KEY.match(line):
            found.append(Line(number, table, index, key[1] or key[2] or key[3]))
    return found
