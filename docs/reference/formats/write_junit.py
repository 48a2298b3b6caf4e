"""Write the tables of `junit.md` from the mapping table in the code: `python docs/reference/formats/write_junit.py`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from admit.collect.junit_cases import CASE_ROWS
from admit.collect.junit_children import CHILD_ROWS
from admit.collect.junit_parse import ENCODINGS, NEUTRAL
from admit.collect.junit_rows import ATTEMPTS, ECHOES, PLACEHOLDERS, PLAIN_ATTRIBUTES, WORD_ROWS
from admit.collect.report import LIMITS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

PAGE = Path(__file__).with_name("junit.md")
MARKED = re.compile(r"(<!-- from the code: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


def record(check: str, why: str | None, is_whole: bool = False) -> str:
    """Return how a row's answer is written."""
    return f"`{check}`" + (f", `{why}`" if why else "") + ("; the run too" if is_whole else "")


def children() -> str:
    """Return the table of elements inside a case."""
    rows = [(row.seen, row.writer, record(row.check, row.why, row.is_whole)) for row in CHILD_ROWS]
    return table(("inside a case", "who writes it", "record"), rows)


def words() -> str:
    """Return the table of words in attributes."""
    rows = [
        (
            f'`{row.attribute}="{row.word}"`',
            row.writer,
            "no objection" if row.check == "pass" else record(row.check, row.why),
        )
        for row in WORD_ROWS
    ]
    return table(("attribute", "who writes it", "record"), rows)


def cases() -> str:
    """Return the table of cases that stand for something else than one test."""
    rows = [
        (row.seen, row.writer, f"would be `{row.on}`", record(row.check, row.why, row.is_whole)) for row in CASE_ROWS
    ]
    return table(("a case", "who writes it", "where it", "record"), rows)


def lists() -> str:
    """Return the lists of words that say nothing of a verdict, and the limits."""

    def told(names: Iterable[str]) -> str:
        return ", ".join(f"`{name}`" for name in sorted(names))

    attempts = ", ".join(f"`{other}` as `{tag}`" for other, tag in sorted(ATTEMPTS.items()))
    echoes = ", ".join(f"`{attribute}` beside a `{tag}`" for attribute, tag in sorted(ECHOES.items()))
    return (
        f"- neutral elements: {told(NEUTRAL)}\n"
        f"- neutral attributes of a case: {told(PLAIN_ATTRIBUTES)}; {echoes}\n"
        f"- other attempts: {attempts}\n"
        f"- messages that say nothing, so that the element's text is taken: {told(PLACEHOLDERS)}\n"
        f"- encodings: {told(ENCODINGS)}\n"
        f"- limits: {LIMITS.file_bytes:,} bytes and {LIMITS.nodes:,} cases a file, {LIMITS.depth} levels of elements\n"
    )


def page(text: str) -> str:
    """Return the page with each marked part as the code says it."""
    parts = {part.__name__: part for part in (children, words, cases, lists)}
    return MARKED.sub(lambda match: match[1] + parts[match[2]]() + match[3], text)


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text("utf-8")), "utf-8")
