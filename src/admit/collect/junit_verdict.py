"""What one case shows: the worst of everything in it, by the mapping table; a pass only where nothing objects."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from admit.collect.junit_cases import CASE_ROWS
from admit.collect.junit_children import CHILD_ROWS
from admit.collect.junit_parse import NEUTRAL, Child
from admit.collect.junit_rows import ATTEMPTS, ECHOES, PLACEHOLDERS, PLAIN_ATTRIBUTES, WORD_ROWS
from admit.collect.report import DETAIL_CHARS, shortened

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from admit.collect.junit_parse import Case
    from admit.collect.junit_rows import CaseRow, ChildRow
    from admit.core.signals import CheckState, Why


class Verdict(NamedTuple):
    """What a case amounts to.

    `is_failing` says that the runner itself calls the case failed, `is_flaky` that it calls it passed after an attempt
    that failed. `is_whole` says that the case stands for more than one test.
    """

    check: CheckState
    why: Why | None = None
    message: str = ""
    counterexample: str = ""
    attempts: int = 1
    flaky: bool = False
    is_failing: bool = False
    is_flaky: bool = False
    is_whole: bool = False


class Sign(NamedTuple):
    """One thing in a case that is more than a plain pass."""

    check: CheckState
    why: Why | None
    message: str
    child: Child | None = None
    is_whole: bool = False


_WORDS: Final = {(row.attribute, row.word): row for row in WORD_ROWS}
_WORD_ATTRIBUTES: Final = frozenset(row.attribute for row in WORD_ROWS)

_SPECIAL_CLASSES: Final = frozenset({"test"})
"""Class names under which a case without objections may still be no pass (`node-file-silent`)."""

_MILD: Final[tuple[Why, ...]] = ("disabled", "skip", "todo", "xfail", "xpass")
"""What a test says of itself by design: anything else in the same case outranks it, so that no skip hides an error."""

_COLLECTED_SKIP: Final = re.compile(r"""\(.*, \d+, ['"](?:Skipped: )?(?P<reason>.*)['"]\)""", re.DOTALL)


def is_plain_pass(attributes: Mapping[str, str]) -> bool:
    """Return whether a case with nothing in it passes by a look at its attributes alone: nearly every case does."""
    return (
        attributes.keys() <= PLAIN_ATTRIBUTES
        and attributes.get("classname") not in _SPECIAL_CLASSES
        and not attributes.get("name", " ").isspace()
        and attributes["name"] != ""
    )


def verdict_of(case: Case, suite: str) -> Verdict:
    """Return what a case shows (contract E8, U5).

    Args:
        case: the case as parsed.
        suite: the name of the suite that it stands in.
    """
    signs = list(_signs(case))
    expected = any(row.is_expected for row in _fitting_rows(case))
    if expected:
        signs = [sign for sign in signs if sign.child is None or sign.child.tag == "skipped"]
    worst = max(signs, key=_weight, default=Sign("pass", None, ""))
    stands_for = _case_row(case, suite, worst)
    if stands_for is not None:
        worst = _as_row_says(worst, stands_for)
    return _verdict(case, worst, signs, expected=expected)


def _verdict(case: Case, worst: Sign, signs: list[Sign], *, expected: bool) -> Verdict:
    final = [child for child in case.children if child.tag in _BAD_TAGS]
    others = [child for child in case.children if child.tag in ATTEMPTS]
    passed_too = bool(others) and (not final or any(child.tag.startswith("flaky") for child in others))
    said_bad = any(sign.child is None and sign.check == "fail" for sign in signs)
    return Verdict(
        worst.check,
        worst.why or ("flaky" if worst.check == "fail" and passed_too else None),
        worst.message,
        shortened(worst.child.text.strip(), DETAIL_CHARS) if worst.child and worst.child.tag != "skipped" else "",
        attempts=1 + len(others),
        flaky=worst.check == "fail" and passed_too,
        is_failing=(bool(final) or said_bad) and not expected,
        is_flaky=bool(others) and not final,
        is_whole=worst.is_whole,
    )


_BAD_TAGS: Final = frozenset({"failure", "error"})


def _signs(case: Case) -> Iterator[Sign]:
    for child in case.children:
        yield from _child_signs(child)
    yield from _attribute_signs(case)
    if case.loose_text:
        yield _unknown(f"text {case.loose_text!r} beside the case's elements")
    if not case.attributes.get("name", "").strip():
        yield _unknown("the case has no name")


def _child_signs(child: Child) -> Iterator[Sign]:
    if child.unknown:
        yield _unknown(f"element <{child.unknown[0]}> inside <{child.tag}>")
    row = _row_for(child)
    if row is not None:
        message = _reason(child) if row.check == "not_run" and child.tag == "skipped" else _headline(child)
        yield Sign(row.check, row.why, message, child, row.is_whole)
    elif child.tag not in NEUTRAL:
        yield _unknown(f"element <{child.tag}>")


def _attribute_signs(case: Case) -> Iterator[Sign]:
    for name, value in case.attributes.items():
        if name in PLAIN_ATTRIBUTES:
            continue
        if name in _WORD_ATTRIBUTES:
            row = _WORDS.get((name, value))
            if row is None:
                yield _unknown(f'{name}="{value}"')
            elif row.check != "pass":
                yield Sign(row.check, row.why, f'{name}="{value}"')
        elif not any(child.tag == ECHOES.get(name) for child in case.children):
            yield _unknown(f'attribute {name}="{value}"')


def _unknown(what: str) -> Sign:
    return Sign("not_run", "no_verdict", shortened(f"unknown word: {what}"))


def _fitting_rows(case: Case) -> Iterator[ChildRow]:
    for child in case.children:
        row = _row_for(child)
        if row is not None:
            yield row


def _row_for(child: Child) -> ChildRow | None:
    rows = _ROWS.get(ATTEMPTS.get(child.tag, child.tag))
    if rows is None:
        return None
    if rows.may_be_special(child):
        return next(row for row in rows.rows if _fits(row, child))
    return rows.rows[-1]


def _fits(row: ChildRow, child: Child) -> bool:
    kind = child.attributes.get("type", "")
    if row.is_untyped and kind:
        return False
    if row.kind is not None and not row.kind.fullmatch(kind):
        return False
    if row.message is not None and not row.message.match(child.attributes.get("message", "")):
        return False
    return not row.text or _begins_a_line(row.text, child.text)


def _begins_a_line(phrase: str, text: str) -> bool:
    return phrase in text and re.search(rf"^[ \t]*(?:Error: )?{re.escape(phrase)}", text, re.MULTILINE) is not None


class _Rows:
    """The rows for one tag, in order, the last of which fits anything; one look tells whether another one may fit."""

    __slots__ = ("_kinds", "_messages", "_phrases", "rows")

    def __init__(self, rows: tuple[ChildRow, ...]) -> None:
        self.rows = rows
        self._kinds = _any_of(row.kind for row in rows)
        self._messages = _any_of(row.message for row in rows)
        self._phrases = tuple(row.text for row in rows if row.text)

    def may_be_special(self, child: Child) -> bool:
        kind, message = child.attributes.get("type"), child.attributes.get("message")
        return bool(
            (kind and self._kinds.fullmatch(kind))
            or (message and self._messages.match(message))
            or any(phrase in child.text for phrase in self._phrases)
        )


def _any_of(patterns: Iterable[re.Pattern[str] | None]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern.pattern})" for pattern in patterns if pattern is not None) or "(?!)")


_ROWS: Final = {
    tag: _Rows(tuple(row for row in CHILD_ROWS if tag in row.tags)) for tag in ("failure", "error", "skipped")
}


def _case_row(case: Case, suite: str, worst: Sign) -> CaseRow | None:
    name, classname = case.attributes.get("name", ""), case.attributes.get("classname")
    # a case that would fail: by its children or its words, not merely by a word that nobody knows
    would = "fail" if worst.check == "fail" else "pass" if worst.check == "pass" else ""
    for row in CASE_ROWS:
        if row.on != would or (row.is_suite and not (name and name == suite == classname)):
            continue
        if row.name is not None and not row.name.match(name):
            continue
        if row.classname is None or (classname is not None and row.classname.match(classname)):
            return row
    return None


def _as_row_says(worst: Sign, row: CaseRow) -> Sign:
    return worst._replace(
        check=row.check,
        why=row.why,
        message=worst.message or row.seen.rpartition(": ")[2],
        is_whole=worst.is_whole or row.is_whole,
    )


def _weight(sign: Sign) -> int:
    match sign.check:
        case "fail":
            return 3
        case "not_run":
            return 1 if sign.why in _MILD else 2
        case "pass":
            return 0


def _headline(child: Child) -> str:
    """Return the message of a failure, or the first line of its text."""
    message = child.attributes.get("message") or ""
    if not message.strip() or message in PLACEHOLDERS:
        lines = (line.strip() for line in child.text.splitlines())
        message = next((line for line in lines if line and line != "PASS" and not line.startswith("=== ")), message)
    return shortened(message or child.attributes.get("type", ""))


def _reason(child: Child) -> str:
    """Return the reason of a skip exactly as it stands: an abstention compares it (contract U7)."""
    message = child.attributes.get("message") or ""
    text = child.text.strip()
    if text and (not message or message in PLACEHOLDERS):
        collected = _COLLECTED_SKIP.fullmatch(text) if message == "collection skipped" else None
        message = collected["reason"] if collected else text
    return shortened(message)


def node_id(attributes: Mapping[str, str], suites: tuple[str, ...], root: str) -> str:
    """Return the id of a case: file, suites from the outside in, class name, name, joined by `::`.

    A part that is absent, or that says again what a part before it said, is left out, and so is a class name equal to
    the name. `root` is taken off the front of absolute paths, so that two checkouts give the same ids. A case without a
    name is called `(no name)`.
    """
    name = relative(attributes.get("name", ""), root) if attributes.get("name", "").strip() else "(no name)"
    return prefix(attributes, suites, root) + name


def prefix(attributes: Mapping[str, str], suites: tuple[str, ...], root: str) -> str:
    """Return everything of a node's id but its name, with the `::` after it."""
    classname = attributes.get("classname") or attributes.get("class") or ""
    place = attributes.get("file") or attributes.get("filepath") or ""
    parts: list[str] = []
    for part in (place, *suites, "" if classname == attributes.get("name") else classname):
        told = relative(part, root)
        if told and told not in parts:
            parts.append(told)
    return "".join(f"{part}::" for part in parts)


def relative(text: str, root: str) -> str:
    """Return a path from `root`, any other text as it is."""
    return text[len(root) :] if root and text.startswith(root) else text
