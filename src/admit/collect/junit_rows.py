"""The mapping table of JUnit XML: its kinds of rows, and what the attributes of a case mean.

One row a word, with the smallest case that shows it; the first row that fits answers. What fits no row is an unknown
word, which gives no verdict (contract E4, E8). The reference page is generated from the rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    import re
    from collections.abc import Mapping

    from admit.core.signals import CheckState, Why


class ChildRow(NamedTuple):
    """One row for a child of a case.

    `tags` are the elements it speaks of. `kind` is a pattern for the whole attribute `type`, `message` one for the
    beginning of the attribute `message`, `text` a phrase with which a line of the element's text begins; None and empty
    where any will do. `is_untyped` wants no `type` at all. `is_expected` says that a failure in the same case was
    expected. `is_whole` says that the case stands for more than one test, so that the run itself is in question.
    """

    key: str
    writer: str
    seen: str
    tags: tuple[str, ...]
    check: CheckState
    why: Why | None
    example: str
    kind: re.Pattern[str] | None = None
    message: re.Pattern[str] | None = None
    text: str = ""
    is_untyped: bool = False
    is_expected: bool = False
    is_whole: bool = False


class WordRow(NamedTuple):
    """One row for a word in an attribute of a case; a pass here only says that the word is no objection to one."""

    writer: str
    attribute: str
    word: str
    check: CheckState
    why: Why | None


class CaseRow(NamedTuple):
    """One row for a case that stands for something else than one test, known by its name.

    `name` and `classname` are patterns that have to fit the beginning, None where any will do; `is_suite` wants the
    name to be that of class and suite at once. `on` says of which cases it speaks: those that would fail, or pass,
    without it.
    """

    key: str
    writer: str
    seen: str
    on: CheckState
    check: CheckState
    why: Why | None
    example: str
    name: re.Pattern[str] | None = None
    classname: re.Pattern[str] | None = None
    is_suite: bool = False
    is_whole: bool = False


ATTEMPTS: Final[Mapping[str, str]] = {
    "rerunFailure": "failure",
    "rerunError": "error",
    "flakyFailure": "failure",
    "flakyError": "error",
}
"""Children that speak of another attempt at the same node, and as what they are read."""

WORD_ROWS: Final[tuple[WordRow, ...]] = (
    WordRow("googletest, CTest, Catch2, Bazel", "status", "run", "pass", None),
    WordRow("Ginkgo, behave", "status", "passed", "pass", None),
    WordRow("googletest", "result", "completed", "pass", None),
    WordRow("Qt Test", "result", "pass", "pass", None),
    WordRow("CTest", "status", "fail", "fail", None),
    WordRow("Ginkgo, behave", "status", "failed", "fail", None),
    WordRow("Ginkgo", "status", "panicked", "fail", None),
    WordRow("Qt Test", "result", "fail", "fail", None),
    WordRow("Qt Test", "result", "xpass", "fail", "xpass"),
    WordRow("Ginkgo", "status", "timedout", "not_run", "timeout"),
    WordRow("Ginkgo", "status", "interrupted", "not_run", "no_verdict"),
    WordRow("Ginkgo", "status", "aborted", "not_run", "no_verdict"),
    WordRow("googletest, CTest", "status", "notrun", "not_run", "disabled"),
    WordRow("CTest", "status", "disabled", "not_run", "disabled"),
    WordRow("Ginkgo", "status", "pending", "not_run", "disabled"),
    WordRow("Ginkgo, behave", "status", "skipped", "not_run", "skip"),
    WordRow("behave", "status", "untested", "not_run", "no_verdict"),
    WordRow("googletest", "result", "suppressed", "not_run", "disabled"),
    WordRow("googletest", "result", "skipped", "not_run", "skip"),
    WordRow("Qt Test", "result", "skip", "not_run", "skip"),
    WordRow("Qt Test", "result", "xfail", "not_run", "xfail"),
)
"""Words of `status` and `result`, exactly as written; any other word, or another case, is unknown."""

PLAIN_ATTRIBUTES: Final = frozenset(
    """
    name classname class time duration timestamp file filepath line lineno assertions group hostname id owner package
    type_param url value_param
    """.split()
)
"""Attributes of a case that say nothing of its verdict. Any other one is unknown, but for those below."""

ECHOES: Final[Mapping[str, str]] = {"failure": "failure"}
"""Attributes that repeat a child; without that child they are unknown words (node:test writes `failure`)."""

PLACEHOLDERS: Final = frozenset(
    {"Build error", "Failed", "Runtime error", "Skipped", "collection failure", "collection skipped", "internal error"}
)
"""Messages that say nothing; the element's text says it then (go-junit-report, gotestsum, pytest)."""
