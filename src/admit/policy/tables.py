"""Reads one TOML table strictly: known keys, exact types, known words; each refusal says what would be right."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING, Final, NamedTuple

from admit.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from admit.policy.lines import Source

_WORD: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_TYPES: Final[dict[type, str]] = {
    str: "a string",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    list: "a list",
    dict: "a table",
}
TABLES: Final = ("signal", "outcome", "rule", "case")
"""Keys at the top of a file that hold a list of tables."""

WORD_RULE: Final = "letters, digits, _ . and -, beginning with a letter or digit"


class Listed(NamedTuple):
    """What a list holds: what one of them is called, its form, and the form in words."""

    one: str
    form: re.Pattern[str]
    rule: str


WORDS: Final = Listed("word", _WORD, WORD_RULE)
KEYS: Final = Listed(
    "key",
    re.compile(r"ed25519:[0-9a-f]{64}"),
    "ed25519: and 64 hexadecimal digits in lower case, as `admit keys show` prints them",
)
LANES: Final = Listed("lane", re.compile(r"[!-~]{1,100}"), "1 to 100 characters of ASCII, no blanks")


class TableReader:
    """One table of a TOML text under strict reading.

    Args:
        source: the text, for the lines in messages.
        values: what the table holds.
        table: its name in the text; empty for the top of the file.
        index: which of the tables of this name, from 0.
        label: what messages call it.
    """

    def __init__(
        self, source: Source, values: Mapping[str, object], *, table: str = "", index: int = 0, label: str = ""
    ) -> None:
        self.source, self.values, self.table, self.index, self.label = source, values, table, index, label

    def error(self, key: str, found: str, *, allowed: Iterable[str] | str = "", do: str = "") -> InputError:
        """Return the refusal of a key of this table, to be raised."""
        allowed = allowed if isinstance(allowed, str) else ", ".join(allowed)
        label = f"{self.label}: " if self.label else ""
        return InputError(self.source.at(self.table, self.index, key), f"{label}{found}", allowed=allowed, do=do)

    def only(self, required: tuple[str, ...], optional: tuple[str, ...]) -> None:
        """Refuse a key that is not known, and a table without a key that it must have.

        Raises:
            InputError: names the first such key.
        """
        for key in self.values:
            if key not in required and key not in optional:
                raise self.error(
                    key,
                    f"unknown key {quoted(key)}",
                    allowed=(*required, *optional),
                    do=_nearest(key, required + optional),
                )
        for key in required:
            if key not in self.values:
                is_list = not self.table and key in TABLES
                raise self.error(key, f"no {key}", do=f"add a [[{key}]]" if is_list else f"write {key} = …")

    def text(self, key: str) -> str:
        """Return a string on one line; empty if the key is not there.

        Raises:
            InputError: it is not a string, or has characters that do not print.
        """
        value = self.values.get(key, "")
        if not isinstance(value, str):
            raise self.mistyped(key, value, "a string")
        if not value.isprintable():
            raise self.error(key, f"{key} has characters that do not print", allowed="text on one line")
        return value

    def word(self, key: str) -> str:
        """Return a name: letters, digits, `_`, `.` and `-`.

        Raises:
            InputError: it is not a string, or not such a name.
        """
        value = self.text(key)
        if not _WORD.fullmatch(value):
            raise self.error(key, f"{key} is {quoted(value)}", allowed=WORD_RULE)
        return value

    def choice(self, key: str, choices: tuple[str, ...]) -> str:
        """Return one of a few words.

        Raises:
            InputError: it is another word.
        """
        value = self.text(key)
        if value not in choices:
            raise self.error(key, f"{key} is {quoted(value)}", allowed=choices, do=_nearest(value, choices))
        return value

    def words(self, key: str, value: object = None) -> tuple[str, ...]:
        """Return the names of a list, or the one name that stands alone; each once.

        Args:
            key: where the list stands, for messages.
            value: the list, where it is not the value of `key` itself.

        Raises:
            InputError: it is something else, is empty, or names something twice.
        """
        return self._listed(key, self.values.get(key) if value is None else value, WORDS)

    def listed(self, key: str, kind: Listed) -> tuple[str, ...]:
        """Return the texts of one kind in a list, or the one that stands alone, each once; none without the key.

        Raises:
            InputError: it is something else, is empty, or names something twice.
        """
        return self._listed(key, self.values[key], kind) if key in self.values else ()

    def _listed(self, key: str, value: object, kind: Listed) -> tuple[str, ...]:
        """Return the texts of one kind."""
        listed = [value] if isinstance(value, str) else value
        if not isinstance(listed, list):
            raise self.mistyped(key, value, f"a {kind.one} or a list of {kind.one}s")
        for one in listed:
            if not isinstance(one, str):
                raise self.mistyped(key, one, f"{kind.one}s only")
            if not kind.form.fullmatch(one):
                raise self.error(key, f"{key} has {quoted(one)}", allowed=kind.rule)
            if listed.count(one) > 1:
                raise self.error(key, f"{key} has {quoted(one)} twice", do="name it once")
        if not listed:
            raise self.error(key, f"{key} is empty", allowed=f"at least one {kind.one}")
        return tuple(listed)

    def bound(self, key: str) -> int | None:
        """Return a whole number from 0, or None if the key is not there.

        Raises:
            InputError: it is something else.
        """
        value = self.values.get(key)
        if value is None:
            return None
        if not isinstance(value, int) or isinstance(value, bool):
            raise self.mistyped(key, value, "a whole number from 0")
        if value < 0:
            raise self.error(key, f"{key} is {value}", allowed="a whole number from 0")
        return value

    def table_of(self, key: str, value: object = None) -> dict[str, object]:
        """Return a table; empty if the key is not there.

        Raises:
            InputError: it is something else.
        """
        value = self.values.get(key, {}) if value is None else value
        if not isinstance(value, dict):
            raise self.mistyped(key, value, "a table")
        return value

    def tables(self, key: str, limit: int) -> list[TableReader]:
        """Return the readers of a list of tables, at least one.

        Raises:
            InputError: it is something else, is empty, or has more than `limit` tables.
        """
        listed = self.values.get(key)
        if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
            raise self.mistyped(key, listed, f"tables, each under a line [[{key}]]")
        if not 1 <= len(listed) <= limit:
            raise self.error(key, f"{len(listed)} tables called {key}", allowed=f"1 to {limit}")
        return [
            TableReader(self.source, one, table=key, index=index, label=f"{key} {index + 1}")
            for index, one in enumerate(listed)
        ]

    def mistyped(self, key: str, value: object, allowed: str) -> InputError:
        """Return the refusal of a value of the wrong type, to be raised."""
        return self.error(key, f"{key} holds {_TYPES.get(type(value), 'a date or time')}", allowed=allowed)


def parsed(source: Source) -> TableReader:
    """Parse a text as TOML and return the reader of its top.

    Raises:
        InputError: it is not TOML, with the line if the parser names one.
    """
    try:
        return TableReader(source, tomllib.loads(source.text))
    except ValueError as error:  # TOMLDecodeError is one; a number of thousands of digits raises another
        line = re.search(r"at line (\d+)", str(error))
        where = f"{source.where}:{line[1]}" if line else source.where
        raise InputError(where, f"no TOML: {error}", do="mend the syntax there") from error
    except RecursionError as error:
        raise InputError(source.where, "no TOML: nested too deep", do="write fewer brackets") from error


def quoted(value: str) -> str:
    """Return a word as messages show it."""
    return f'"{value}"'


def _nearest(word: str, words: tuple[str, ...]) -> str:
    """Return a question after the word that was probably meant; empty if there is none."""
    from difflib import get_close_matches

    near = get_close_matches(word, words, n=1)
    return f"did you mean {quoted(near[0])}?" if near else ""
