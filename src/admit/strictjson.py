"""JSON from a file that is trusted or refused: one object, every key once, every key known."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NoReturn

from admit.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable


def read_object(text: bytes, where: str, *, do: str = "") -> dict[str, Any]:
    """Return the JSON object that a file holds; `do` is what an error tells its reader to do.

    Raises:
        InputError: not UTF-8, not one JSON object, a key that stands twice, `NaN` or an infinity, too deep, a number
            too long.
    """

    def pairs(members: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(members)
        if len(made) != len(members):
            names = [name for name, _ in members]
            twice = next(name for at, name in enumerate(names) if name in names[:at])
            raise InputError(where, f"the key {twice!r} stands twice", do="keep one of the two")
        return made

    def constant(word: str) -> NoReturn:
        raise InputError(where, f"{word} is no JSON number", allowed="finite numbers")

    try:
        value = json.loads(text.decode("utf-8"), object_pairs_hook=pairs, parse_constant=constant)
    except UnicodeDecodeError as error:
        line = text.count(b"\n", 0, error.start) + 1
        raise InputError(f"{where}:{line}", "bytes that are not UTF-8", do=do) from error
    except json.JSONDecodeError as error:
        raise InputError(f"{where}:{error.lineno}", f"not JSON: {error.msg}", do=do) from error
    except (RecursionError, ValueError) as error:
        raise InputError(where, f"not JSON that is read here: {error}", do=do) from error
    if not isinstance(value, dict):
        raise InputError(where, f"a JSON {_kind(value)}", allowed="one JSON object")
    return value


def only(keys: dict[str, Any], allowed: Iterable[str], where: str) -> None:
    """Refuse an object that has not exactly these keys.

    Raises:
        InputError: the first key that is unknown or absent.
    """
    wanted = list(allowed)
    for key in keys:
        if key not in wanted:
            raise InputError(where, f"unknown key {key!r}", allowed=", ".join(wanted))
    for key in wanted:
        if key not in keys:
            raise InputError(where, f"the key {key!r} is missing", allowed=", ".join(wanted))


def refuse(where: str, value: object, allowed: str) -> NoReturn:
    """Refuse a value of the wrong type or form.

    Raises:
        InputError: always.
    """
    raise InputError(where, json.dumps(value)[:80], allowed=allowed)


def count(value: object, where: str) -> int:
    """Return a whole number from 0."""
    if type(value) is not int or value < 0:
        refuse(where, value, "a whole number from 0")
    return value


def texts(value: object, where: str) -> tuple[str, ...]:
    """Return a list of texts, none of them empty or twice."""
    if not isinstance(value, list) or not all(isinstance(one, str) and one for one in value):
        refuse(where, value, "a list of texts")
    if len(set(value)) != len(value):
        refuse(where, value, "a list of texts, none of them twice")
    return tuple(value)


def text_pairs(value: object, where: str) -> tuple[tuple[str, str], ...]:
    """Return an object of texts as pairs in the order of their keys."""
    if not isinstance(value, dict) or not all(key and isinstance(one, str) and one for key, one in value.items()):
        refuse(where, value, "an object that maps texts to texts")
    return tuple(sorted(value.items()))


def _kind(value: object) -> str:
    return {list: "array", str: "string", bool: "boolean", type(None): "null"}.get(type(value), "number")
