"""What an exception says: one line, Hypothesis' notes, and which of its exceptions are no verdict."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from admit.core.signals import Why

MESSAGE_CHARS: Final = 2_000
"""Longest message of a record."""

DETAIL_CHARS: Final = 16_000
"""Longest counterexample of a record."""

_NO_VERDICT: Final[dict[str, Why]] = {
    "Flaky": "flaky",
    "DeadlineExceeded": "deadline",
    "FailedHealthCheck": "health_check",
    "Unsatisfiable": "unsatisfiable",
    "InvalidArgument": "invalid_test",
    "InvalidDefinition": "invalid_test",
    "InvalidState": "invalid_test",
    "DidNotReproduce": "no_verdict",
    # whatever else the engine raises about itself is no counterexample either
    "HypothesisException": "error",
}
"""Exceptions of hypothesis.errors by name, nearest class first; everything else that a property raises falsifies it."""

_BLOB: Final = re.compile(r"@reproduce_failure\([^()]*\)")
_SPACE: Final = re.compile(r"\s+")


def hypothesis_why(error: BaseException) -> Why | None:
    """Return why an exception of a property test is no verdict, or None where it is a counterexample.

    A group of several bugs is a counterexample as soon as one member is; a flaky failure is a group too, but never one.
    """
    for kind in type(error).__mro__:
        if kind.__module__.partition(".")[0] == "hypothesis" and kind.__name__ in _NO_VERDICT:
            return _NO_VERDICT[kind.__name__]
    if isinstance(error, BaseExceptionGroup):
        whys = [hypothesis_why(member) for member in error.exceptions]
        return None if None in whys else whys[0]
    return None


def line_of(error: BaseException) -> str:
    """Return `Type: message` on one line, the members of a group after it."""
    lines = [f"{type(e).__name__}: {_printed(e)}" for e in (error, *_members(error))]
    return one_line("; ".join(line.removesuffix(": ") for line in lines))


def counterexample_of(error: BaseException) -> str:
    """Return the minimal counterexample as Hypothesis put it into the exception's notes, one a bug."""
    return _cut("\n\n".join(_notes(error, wants_blob=False)), DETAIL_CHARS)


def reproduce_of(error: BaseException) -> str:
    """Return the decorators that replay the counterexamples, one a bug (they are bound to Hypothesis' version)."""
    text = "\n".join(_notes(error, wants_blob=True))
    return text if len(text) <= DETAIL_CHARS else ""  # half a blob replays nothing


def is_timeout(error: BaseException) -> bool:
    """Return whether pytest-timeout's signal method raised this, whatever its message says in this version."""
    if type(error).__name__ != "Failed":
        return False
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_globals.get("__name__") == "pytest_timeout":
            return True
        trace = trace.tb_next
    return "from pytest-timeout" in _printed(error)


def one_line(text: str) -> str:
    """Return text with its white space collapsed, cut at `MESSAGE_CHARS`."""
    return _cut(_SPACE.sub(" ", clean(text)).strip(), MESSAGE_CHARS)


def safe_text(value: object) -> str:
    """Return a text exactly as it is, but for what JSON cannot hold, cut at `MESSAGE_CHARS`."""
    return _cut(clean(_printed(value)), MESSAGE_CHARS)


def clean(text: str) -> str:
    """Return text with lone surrogates spelled out, always the same way: neither JSON nor xdist holds them."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _printed(value: object) -> str:
    try:
        return str(value)
    except Exception as error:  # noqa: BLE001 - a user's __str__ may raise anything
        return f"<unprintable {type(value).__name__}: {type(error).__name__}>"


def _members(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for member in error.exceptions:
            yield member
            yield from _members(member)


def _notes(error: BaseException, *, wants_blob: bool) -> list[str]:
    parts: list[str] = []
    for source in (error, *_members(error)):
        notes = [clean(note) for note in getattr(source, "__notes__", ()) if isinstance(note, str)]
        if wants_blob:
            parts += [blob for note in notes for blob in _BLOB.findall(note)]
        else:
            parts.append("\n".join(note for note in notes if not _BLOB.search(note)).strip())
    return [part for part in parts if part]
