from __future__ import annotations

import pytest
from almanac import SpanError, format_span, parse_span

WRITTEN = {"0m": 0, "45m": 45, "1h 30m": 90, "2d 1m": 2881}


def test_spans_are_read():
    for text, minutes in WRITTEN.items():
        assert parse_span(text) == minutes


def test_spans_are_written():
    for text, minutes in WRITTEN.items():
        assert format_span(minutes) == text


@pytest.mark.parametrize("text", ["3w", "h", "1.5h", "-2d"])
def test_what_is_no_span_is_refused(text):
    with pytest.raises(SpanError, match="is no span"):
        parse_span(text)
