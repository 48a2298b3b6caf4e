"""Strict JSON from bytes on the standard library alone: one value, or an error that names the place (contract E4)."""

from __future__ import annotations

import json
import math
import re
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from admit.errors import EvidenceError

if TYPE_CHECKING:
    from collections.abc import Callable


class Limits(NamedTuple):
    """How large evidence may be before it is refused unread (contract E4).

    `document_bytes` bounds one file read line by line, `value_bytes` one JSON value that is parsed as a whole,
    `line_bytes` one line, `depth` the nesting, `nodes` the different nodes of one document, `string_chars` one string
    or key, `digits` one number as written.
    """

    document_bytes: int = 2_000_000_000
    value_bytes: int = 64_000_000
    line_bytes: int = 16_000_000
    depth: int = 32
    nodes: int = 5_000_000
    string_chars: int = 1 << 16
    digits: int = 100


LIMITS: Final = Limits()
"""What is allowed where no setting says otherwise."""

_STRING: Final = r'"[^"\\]*(?:\\.[^"\\]*)*"?'  # an open string is a token too, so that no scan is quadratic
_TOKEN: Final = rf"{_STRING}|[{{}}\[\],:]|[^\s{{}}\[\],:\"]+"
_STEP: Final = {"[": 1, "{": 1, "]": -1, "}": -1}
# patterns are compiled (and kept, by `re`) where they are used: most evidence needs none, and a gate starts often
_BOM: Final = b"\xef\xbb\xbf"
_RESAVE: Final = "save the file as UTF-8 without a byte order mark"


class _RefusedError(ValueError):
    """A hook of the parser refuses a value whose place is still to be found: words, what is allowed, which token."""

    def __init__(self, found: str, allowed: str, is_it: Callable[[str], bool] | None) -> None:
        super().__init__(found)
        self.found, self.allowed, self.is_it = found, allowed, is_it


def read_json(raw: bytes, where: str, *, limits: Limits = LIMITS, line: int = 1) -> Any:
    """Return the one JSON value in `raw`.

    Args:
        raw: the bytes, UTF-8.
        where: the file's name, for errors.
        limits: what is too large, too deep or too long.
        line: the number of the line on which `raw` begins.

    Raises:
        EvidenceError: anything that is not exactly one JSON value (RFC 8259) in UTF-8, any key that stands twice in its
            object, `NaN` and infinities, lone surrogates, anything over the limits.
    """
    text = _decoded(raw, where, limits, line)
    _check_depth(raw, text, where, limits, line)
    try:
        value = _decoder(limits).decode(text)
    except _RefusedError as error:
        place = _place(text, _first_duplicate(text) if error.is_it is None else _first(text, error.is_it), line)
        raise EvidenceError(f"{where}:{place}", error.found, allowed=error.allowed) from None
    except json.JSONDecodeError as error:
        offset, found = _no_json(text, error)
        raise EvidenceError(
            f"{where}:{_place(text, offset, line)}", found, allowed="one JSON value (RFC 8259)"
        ) from None
    except RecursionError:  # the depth was checked, but the stack may have been nearly used up before
        raise _too_deep(where, limits) from None
    if b"\\u" in raw and re.search(rb"\\u[dD][89a-fA-F]", raw):
        _check_surrogates(text, where, line)
    if len(text) > limits.string_chars:
        _check_strings(text, where, limits, line)
    return value


def read_object(raw: bytes, where: str, *, limits: Limits = LIMITS, line: int = 1) -> dict[str, Any]:
    """Return the one JSON object in `raw`.

    Raises:
        EvidenceError: as `read_json`, and any value that is not an object.
    """
    value = read_json(raw, where, limits=limits, line=line)
    if type(value) is not dict:
        raise EvidenceError(f"{where}:{line}:1", f"{shown(value)} stands where an object belongs", allowed="{…}")
    return value


def shown(value: object, limit: int = 80) -> str:
    """Return a value found in evidence as JSON, cut at `limit` characters."""
    if isinstance(value, str) and len(value) > limit:
        value = value[:limit]  # before it is escaped, so that a huge string costs nothing
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "an array"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _decoded(raw: bytes, where: str, limits: Limits, line: int) -> str:
    if len(raw) > limits.value_bytes:
        raise EvidenceError(where, f"{len(raw)} bytes in one value", allowed=f"{limits.value_bytes} bytes")
    if raw.startswith(_BOM):
        raise EvidenceError(f"{where}:{line}:1", "begins with a byte order mark", allowed="plain UTF-8", do=_RESAVE)
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        before = raw[: error.start].decode()
        place = _place(before, len(before), line)
        found = f"byte 0x{raw[error.start]:02x} is not UTF-8"
        raise EvidenceError(f"{where}:{place}", found, allowed="UTF-8", do=_RESAVE) from None


def _decoder(limits: Limits) -> json.JSONDecoder:
    def whole(digits: str) -> int:
        if len(digits) > limits.digits:
            raise _long_number(digits, limits)
        return int(digits)

    def fraction(digits: str) -> float:
        if len(digits) > limits.digits:
            raise _long_number(digits, limits)
        number = float(digits)
        if not math.isfinite(number):
            raise _RefusedError(f"{digits} is beyond every finite number", "finite numbers", digits.__eq__)
        return number

    return json.JSONDecoder(
        object_pairs_hook=_unique, parse_constant=_no_constant, parse_int=whole, parse_float=fraction
    )


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = dict(pairs)
    if len(keys) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise _RefusedError(f"the key {shown(twice)} stands twice", "each key once", None)
    return keys


def _no_constant(word: str) -> Any:
    raise _RefusedError(f"{word} is not a JSON value", "finite numbers", word.__eq__)


def _long_number(digits: str, limits: Limits) -> _RefusedError:
    return _RefusedError(f"a number of {len(digits)} characters", f"{limits.digits} characters", digits.__eq__)


def _check_depth(raw: bytes, text: str, where: str, limits: Limits, line: int) -> None:
    if raw.count(b"[") + raw.count(b"{") <= limits.depth:
        return
    brackets = re.sub(r"[^{}\[\]]+", "", re.sub(_STRING, "", text, flags=re.DOTALL))
    if max(accumulate(map(_STEP.__getitem__, brackets)), default=0) <= limits.depth:
        return
    depth = 0
    for token in re.finditer(_TOKEN, text, re.DOTALL):
        depth += _STEP.get(token.group(), 0)
        if depth > limits.depth:
            raise _too_deep(f"{where}:{_place(text, token.start(), line)}", limits)


def _too_deep(where: str, limits: Limits) -> EvidenceError:
    return EvidenceError(where, "arrays or objects too deep inside each other", allowed=f"{limits.depth} levels")


def _check_surrogates(text: str, where: str, line: int) -> None:
    for token in re.finditer(_TOKEN, text, re.DOTALL):
        word = token.group()
        if word[0] == '"' and not json.loads(word).isascii():
            try:
                json.loads(word).encode()
            except UnicodeEncodeError:
                place = _place(text, token.start(), line)
                found = f"half of a surrogate pair in {word[:80]}"
                raise EvidenceError(f"{where}:{place}", found, allowed="whole characters") from None


def _check_strings(text: str, where: str, limits: Limits, line: int) -> None:
    if max(map(len, re.findall(_STRING, text, re.DOTALL)), default=0) <= limits.string_chars + 2:
        return
    offset = _first(text, lambda word: word[0] == '"' and len(word) > limits.string_chars + 2)
    found = f"a string of more than {limits.string_chars} characters, beginning {text[offset : offset + 40]}…"
    raise EvidenceError(f"{where}:{_place(text, offset, line)}", found, allowed=f"{limits.string_chars} characters")


def _first(text: str, is_it: Callable[[str], bool]) -> int:
    return next((token.start() for token in re.finditer(_TOKEN, text, re.DOTALL) if is_it(token.group())), 0)


def _first_duplicate(text: str) -> int:
    stack: list[set[str] | None] = []  # the keys seen in each open object, None for an array
    expects_key = False
    for token in re.finditer(_TOKEN, text, re.DOTALL):
        word = token.group()
        if word in "{[":
            stack.append(set() if word == "{" else None)
        elif word in "}]":
            stack.pop()
        elif word[0] == '"' and expects_key and stack and (seen := stack[-1]) is not None:
            key = json.loads(word)
            if key in seen:
                return token.start()
            seen.add(key)
        expects_key = word in {"{", ","}
    return 0


def _place(text: str, offset: int, line: int) -> str:
    newlines = text.count("\n", 0, offset)
    return f"{line + newlines}:{offset - text.rfind(chr(10), 0, offset)}"


def _no_json(text: str, error: json.JSONDecodeError) -> tuple[int, str]:
    """Return where a text stops being JSON and what stands there, in the same words on every version of Python."""
    if not text.strip():
        return error.pos, "the file is empty" if not text else "nothing but blanks"
    if error.pos >= len(text):
        return error.pos, "ends in the middle of a value"
    if error.msg == "Extra data":
        return error.pos, f"more after the end of the value: {text[error.pos : error.pos + 40]!r}"
    if (comma := _last_comma(text, error)) is not None:
        return comma, f"a comma before the end of an array or object: {text[comma : comma + 40]!r}"
    return error.pos, f"{error.msg[0].lower()}{error.msg[1:]}, found {text[error.pos : error.pos + 40]!r}"


def _last_comma(text: str, error: json.JSONDecodeError) -> int | None:
    """Return where a comma stands that nothing follows, None where that is not what is wrong."""
    if error.msg.startswith("Illegal trailing comma"):  # Python 3.13 and later point at the comma, others behind it
        return error.pos
    expected = {"]": "Expecting value", "}": "Expecting property name"}.get(text[error.pos])
    if expected is None or not error.msg.startswith(expected):
        return None
    end = len(text[: error.pos].rstrip(" \t\n\r")) - 1
    return end if end >= 0 and text[end] == "," else None
