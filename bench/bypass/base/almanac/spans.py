"""Spans of time as people write them: `1d 2h 30m`."""

from __future__ import annotations

MINUTES = {"d": 24 * 60, "h": 60, "m": 1}


class SpanError(ValueError):
    """A text that is no span."""


def parse_span(text: str) -> int:
    """Return the minutes of a span.

    Raises:
        SpanError: a word that is not a whole number and a unit.
    """
    total = 0
    for word in text.split():
        number, unit = word[:-1], word[-1]
        if unit not in MINUTES or not number.isdecimal():
            raise SpanError(f"{word!r} is no span: a whole number and one of d, h, m")
        total += int(number) * MINUTES[unit]
    return total


def format_span(minutes: int) -> str:
    """Return minutes as a span, its largest units first, `0m` for none."""
    words = []
    for unit, size in MINUTES.items():
        number, minutes = divmod(minutes, size)
        if number:
            words.append(f"{number}{unit}")
    return " ".join(words) or "0m"
