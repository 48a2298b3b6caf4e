"""Working days, month sheets, movable feasts and spans of time."""

from __future__ import annotations

from almanac.days import add_workdays, count_workdays, is_workday
from almanac.feasts import easter
from almanac.sheet import month_sheet
from almanac.spans import SpanError, format_span, parse_span

__all__ = [
    "SpanError",
    "add_workdays",
    "count_workdays",
    "easter",
    "format_span",
    "is_workday",
    "month_sheet",
    "parse_span",
]
__version__ = "1.4.0"
