"""What differs between two commits, line by line: git's words read strictly, and lines moved along (contract S1)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from admit.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ABSENT: Final = "000000"
"""The mode on the side where there is no such file."""

_RAW: Final = re.compile(rb":(\d{6}) (\d{6}) ([0-9a-f]{40,64}) ([0-9a-f]{40,64}) [AMDT]\0([^\0]+)\0")
_HUNK: Final = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@[^\n]*\n(?:[-+\\][^\n]*\n)*")
_BEFORE_HUNKS: Final = re.compile(
    rb"(?:(?:old mode|new mode|deleted file mode|new file mode|index) [^\n]*\n)*"
    rb"(?:(Binary files [^\n]* differ\n)|--- [^\n]*\n\+\+\+ [^\n]*\n)?"
)
_ESCAPES: Final = {7: b"\\a", 8: b"\\b", 9: b"\\t", 10: b"\\n", 11: b"\\v", 12: b"\\f", 13: b"\\r"} | {
    34: b'\\"',
    92: b"\\\\",
}


class Hunk(NamedTuple):
    """One run of lines that differ; where a count is 0, the first is the line before the place."""

    old_first: int
    old_count: int
    new_first: int
    new_count: int

    @property
    def old_start(self) -> int:
        """The old line that the hunk begins at, or stands before."""
        return self.old_first if self.old_count else self.old_first + 1

    @property
    def new_start(self) -> int:
        """The new line that the hunk begins at, or stands before."""
        return self.new_first if self.new_count else self.new_first + 1


class Edit(NamedTuple):
    """One file that differs: path from the top, modes, blob ids (None where it is absent), and its hunks in order.

    A renamed file is one that went and one that came. `is_binary`: git shows no lines of it.
    """

    path: str
    old_mode: str
    new_mode: str
    old_blob: str | None
    new_blob: str | None
    is_binary: bool = False
    hunks: tuple[Hunk, ...] = ()


def read_edits(out: bytes) -> tuple[Edit, ...]:
    """Return what `git diff-tree --raw -z -p -U0` printed.

    Raises:
        InputError: anything in it is not as git writes it.
    """
    at, rows = 0, []
    while row := _RAW.match(out, at):
        rows.append(row)
        at = row.end()
    if rows and out[at : at + 1] == b"\0":  # between the table and the lines
        at += 1
    edits = []
    for row in rows:
        edit, at = _edit(row, out, at)
        edits.append(edit)
    if at != len(out):
        raise InputError("git diff-tree", f"unexpected at byte {at}: {out[at : at + 60]!r}")
    return tuple(sorted(edits))


def _edit(row: re.Match[bytes], out: bytes, at: int) -> tuple[Edit, int]:
    """Return one row of the table with its lines, which stand in two parts where a file became of another type."""
    name = row[5]
    header = b"diff --git " + _quoted(b"a/" + name) + b" " + _quoted(b"b/" + name) + b"\n"
    is_binary, hunks = False, []
    while out.startswith(header, at):
        before = _BEFORE_HUNKS.match(out, at + len(header))
        assert before is not None  # the pattern matches the empty text, too
        is_binary = is_binary or before[1] is not None
        at = before.end()
        while found := _HUNK.match(out, at):
            hunk = Hunk(int(found[1]), int(found[2] or 1), int(found[3]), int(found[4] or 1))
            if (found[0].count(b"\n-"), found[0].count(b"\n+")) != (hunk.old_count, hunk.new_count):
                break  # the rest is not as git writes it, and the caller says so
            hunks.append(hunk)
            at = found.end()
    old_mode, new_mode = row[1].decode(), row[2].decode()
    edit = Edit(
        name.decode("utf-8", "surrogateescape"),
        old_mode,
        new_mode,
        None if old_mode == ABSENT else row[3].decode(),
        None if new_mode == ABSENT else row[4].decode(),
        is_binary,
        tuple(hunks),
    )
    return edit, at


def _quoted(name: bytes) -> bytes:
    """Return a name as git prints it with `core.quotePath` off."""
    made = b"".join(
        _ESCAPES.get(byte) or (b"\\%03o" % byte if byte < 0x20 or byte == 0x7F else bytes((byte,))) for byte in name
    )
    return name if made == name else b'"' + made + b'"'


# ---------------------------------------------------------------- lines that stay


def unchanged(hunks: Sequence[Hunk], last: int) -> Iterator[tuple[int, int, int]]:
    """Yield (first old line, first new line, how many) of each run of lines that are in both files.

    Args:
        hunks: those of one file, in order.
        last: the last line of the old file.
    """
    old = new = 1
    for hunk in hunks:
        yield old, new, hunk.old_start - old
        old, new = hunk.old_start + hunk.old_count, hunk.new_start + hunk.new_count
    yield old, new, max(last + 1 - old, 0)


def shifted(bits: int, hunks: Sequence[Hunk]) -> int:
    """Return a set of old lines as lines of the new file; those that a hunk takes away are dropped."""
    moved = 0
    for old, new, count in unchanged(hunks, bits.bit_length()):
        moved |= (bits >> old & (1 << count) - 1) << new
    return moved
