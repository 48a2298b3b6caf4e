"""The register's text with one entry more or fewer; every other byte, comments and order stay as they are (F4).

Text is spliced, not rewritten: tomlkit 0.15, asked to drop an entry, takes the comment above the next one with it, and
gathers entries that stand apart. Each edit is parsed again and compared with what it should say before it is returned.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from admit.errors import InputError, UsageError
from admit.freeze.instant import rfc3339
from admit.freeze.lines import Extent, extents, is_blank_or_comment
from admit.freeze.register import parsed_toml

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from admit.freeze.entries import Entry

EMPTY_REGISTER: Final = """\
# Freezes: tests whose verdict does not count for now. Each has an owner and an end; reviewed like code.
# admit freeze add|list|check|due|thaw
"""
"""What a register starts as."""

_BY_HAND: Final = "edit the file by hand"


class Thawed(NamedTuple):
    """A register's text without some entries, and the comments that stood right above them, which are left in place."""

    text: str
    comments: tuple[str, ...]


def with_entry(text: str, entry: Entry, where: str) -> str:
    """Return the text with an entry appended, in the file's own kind of line ends.

    Raises:
        InputError: the text is not TOML, or writes its entries in a way that cannot be appended to.
        UsageError: the entry holds characters that no UTF-8 file can hold.
    """
    before = parsed_toml(text, where)
    if not isinstance(tables := before.get("freeze", []), list):
        raise InputError(where, "entries are not written as [[freeze]] tables", do=_BY_HAND)
    end = "\r\n" if "\r\n" in text else "\n"
    gap = "" if not text or text.endswith("\n") else end
    added = text + gap + (end if text else "") + end.join(_block(entry)) + end
    try:
        added.encode("utf-8")
    except UnicodeEncodeError as error:
        raise UsageError(where, "the entry holds bytes that are not UTF-8", do="write it in UTF-8") from error
    wanted = {**before, "freeze": [*tables, _table(entry)]}
    return _verified(added, wanted, where)


def without_entries(text: str, numbers: Collection[int], where: str) -> Thawed:
    """Return the text without the entries of these numbers (from 1): their lines, and the blank line between.

    Raises:
        InputError: the text is not TOML, or writes its entries in a way that cannot be cut out.
    """
    before = parsed_toml(text, where)
    tables = before.get("freeze", [])
    found = extents(text, "freeze")
    if not isinstance(tables, list) or len(found) != len(tables):
        raise InputError(where, "entries are not written as [[freeze]] tables", do=_BY_HAND)
    lines = text.split("\n")
    comments = [line for number in sorted(numbers) for line in _comments_above(lines, found[number - 1])]
    for number in sorted(numbers, reverse=True):
        lines = _cut(lines, found[number - 1])
    kept = [table for number, table in enumerate(tables, 1) if number not in numbers]
    wanted = {**before, "freeze": kept} if kept else {key: value for key, value in before.items() if key != "freeze"}
    return Thawed(_verified("\n".join(lines), wanted, where), tuple(comments))


def _cut(lines: list[str], extent: Extent) -> list[str]:
    above, below = lines[: extent.first], lines[extent.end :] or [""]
    # text that ends in a line end splits into one more, empty line, so the end of the file reads as a blank line here
    if not below[0].strip():
        if above and not above[-1].strip():
            above = above[:-1]
        elif not above and len(below) > 1:
            below = below[1:]
    return above + below


def _comments_above(lines: list[str], extent: Extent) -> list[str]:
    first = extent.first
    while first > 0 and lines[first - 1].strip() and is_blank_or_comment(lines[first - 1]):
        first -= 1
    return [line.strip() for line in lines[first : extent.first]]


def _verified(text: str, wanted: dict[str, Any], where: str) -> str:
    try:
        is_right = parsed_toml(text, where) == wanted
    except InputError:
        is_right = False
    if not is_right:
        raise InputError(where, "this edit would change more than one entry", do=_BY_HAND)
    return text


def _table(entry: Entry) -> dict[str, str | datetime]:
    keys = ("node", "reason", "owner", "expires", "opened", "issue", "seen", "no_history")
    return {key: value for key in keys if (value := getattr(entry, key))}


def _block(entry: Entry) -> list[str]:
    return ["[[freeze]]", *(f"{key} = {_toml(value)}" for key, value in _table(entry).items())]


def _toml(value: str | datetime) -> str:
    if not isinstance(value, str):
        return rfc3339(value)
    # JSON's escapes are all TOML's too; of the characters that TOML wants escaped it leaves out one, DEL
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
