"""Take typed fields out of parsed objects; whatever else stands there is an error that teaches (contract E4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from admit.errors import EvidenceError
from admit.evidence.strict import shown

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

Word = TypeVar("Word", bound=str)


def only(keys: Mapping[str, Any], allowed: Collection[str], where: str) -> None:
    """Refuse every key that is not in `allowed`, with the nearest word that is.

    Raises:
        EvidenceError: an unknown key.
    """
    for key in keys:
        if key not in allowed:
            found = f"unknown key {shown(key)}"
            raise EvidenceError(where, found, allowed=", ".join(allowed), do=nearest(key, allowed))


def nearest(word: str, words: Collection[str]) -> str:
    """Return `did you mean …?` where one of `words` is close to `word`, else nothing."""
    from difflib import get_close_matches  # only an error pays for it

    close = get_close_matches(word[:100], words, n=1)
    return f"did you mean {close[0]}?" if close else ""


def required(keys: Mapping[str, Any], key: str, where: str) -> Any:
    """Return the value of a key that must be there.

    Raises:
        EvidenceError: the key is absent.
    """
    try:
        return keys[key]
    except KeyError:
        raise EvidenceError(where, f"the key {key} is absent", do=f"add {key}") from None


def text(keys: Mapping[str, Any], key: str, where: str) -> str:
    """Return a string that must be there and must not be empty.

    Raises:
        EvidenceError: it is absent, empty or no string.
    """
    value = required(keys, key, where)
    if type(value) is str and value:
        return value
    raise wrong(key, value, "a string that is not empty", where)


def text_or_none(keys: Mapping[str, Any], key: str, where: str) -> str | None:
    """Return a string that must not be empty, or None where the key is absent or null.

    Raises:
        EvidenceError: it is empty or no string.
    """
    return None if keys.get(key) is None else text(keys, key, where)


def words(keys: Mapping[str, Any], key: str, where: str) -> str:
    """Return a string, empty where the key is absent.

    Raises:
        EvidenceError: it is no string.
    """
    value = keys.get(key, "")
    if type(value) is str:
        return value
    raise wrong(key, value, "a string", where)


def word(keys: Mapping[str, Any], key: str, allowed: Collection[Word], where: str) -> Word:
    """Return the word of a closed vocabulary that must be there.

    Raises:
        EvidenceError: it is absent or another word.
    """
    value = required(keys, key, where)
    if type(value) is str and value in allowed:
        return value  # type: ignore[return-value]  # it is one of the allowed words
    near = nearest(value, allowed) if type(value) is str else ""
    raise wrong(key, value, ", ".join(allowed), where, do=near)


def whole(keys: Mapping[str, Any], key: str, where: str, *, least: int | None = 0, default: int | None = None) -> int:
    """Return a whole number of at least `least`; `default` stands for an absent key, if there is one.

    Raises:
        EvidenceError: it is absent without a default, no whole number, or too small.
    """
    value = keys.get(key, default) if default is not None else required(keys, key, where)
    if type(value) is int and (least is None or value >= least):
        return value
    raise wrong(key, value, "a whole number" + ("" if least is None else f" of at least {least}"), where)


def whole_or_none(keys: Mapping[str, Any], key: str, where: str, *, least: int | None = None) -> int | None:
    """Return a whole number, or None where the key is absent or null.

    Raises:
        EvidenceError: it is no whole number, or too small.
    """
    return None if keys.get(key) is None else whole(keys, key, where, least=least)


def flag(keys: Mapping[str, Any], key: str, where: str) -> bool:
    """Return true or false, false where the key is absent.

    Raises:
        EvidenceError: it is neither.
    """
    value = keys.get(key, False)
    if type(value) is bool:
        return value
    raise wrong(key, value, "true, false", where)


def texts(keys: Mapping[str, Any], key: str, where: str) -> tuple[str, ...]:
    """Return an array of strings, none of them empty, that must be there.

    Raises:
        EvidenceError: it is absent, no array, or holds something else.
    """
    value = required(keys, key, where)
    if type(value) is not list:
        raise wrong(key, value, "an array of strings", where)
    for part in value:
        if type(part) is not str or not part:
            raise wrong(key, part, "strings that are not empty", where)
    return tuple(value)


def array(keys: Mapping[str, Any], key: str, where: str) -> list[Any]:
    """Return an array that must be there.

    Raises:
        EvidenceError: it is absent or no array.
    """
    value = required(keys, key, where)
    if type(value) is list:
        return value
    raise wrong(key, value, "an array", where)


def table(keys: Mapping[str, Any], key: str, where: str) -> dict[str, Any]:
    """Return an object that must be there.

    Raises:
        EvidenceError: it is absent or no object.
    """
    value = required(keys, key, where)
    if type(value) is dict:
        return value
    raise wrong(key, value, "an object", where)


def as_table(value: object, where: str) -> dict[str, Any]:
    """Return a value that must be an object.

    Raises:
        EvidenceError: it is none.
    """
    if type(value) is dict:
        return value
    raise EvidenceError(where, f"{shown(value)} stands where an object belongs", allowed="{…}")


def wrong(key: str, value: object, allowed: str, where: str, *, do: str = "") -> EvidenceError:
    """Return the error for a key that holds something else than what is allowed."""
    return EvidenceError(where, f"{key} is {shown(value)}", allowed=allowed, do=do)
