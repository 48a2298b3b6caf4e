"""What a suite says of itself, held against what it lists: a cross-check, never a source of verdicts (contract E9)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from admit.collect.junit_rows import ATTEMPTS
from admit.collect.junit_verdict import relative

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from admit.collect.junit_parse import Case
    from admit.collect.junit_verdict import Verdict

COUNTS: Final = ("tests", "failures", "errors", "skipped", "disabled")
_RESULTS: Final = ("failure", "error", "skipped")
_CATCH2: Final = "tbd"
"""Catch2 writes this as a suite's hostname, and counts assertions where others count cases."""


class Suite:
    """One suite while it is open: its name, its place, and tallies of the cases in it and in suites inside it.

    `listed` counts cases; `attempts` counts each rerun too, as Surefire does; `results` counts a case once for each
    failure, error and skip in it, as pytest does. `bad` counts failures and errors of all attempts, `bad_cases` cases
    that hold any. `passes` counts cases that pass by their own word, in this suite alone.
    """

    __slots__ = (
        "attempts",
        "attributes",
        "bad",
        "bad_cases",
        "listed",
        "names",
        "passes",
        "prefixes",
        "results",
        "tag",
    )

    def __init__(self, tag: str, attributes: Mapping[str, str], *, outer: Suite | None, root: str) -> None:
        self.tag, self.attributes = tag, attributes
        self.names: tuple[str, ...] = outer.names if outer else ()
        if tag == "testsuite" and attributes.get("name"):
            self.names = (*self.names, relative(attributes["name"], root))
        self.prefixes: dict[str | None, str] = {}  # class name to the front of its cases' ids
        self.listed = self.attempts = self.results = self.bad = self.bad_cases = self.passes = 0

    @property
    def name(self) -> str:
        """Return the suite's name as written, empty if it has none."""
        return self.attributes.get("name", "")

    def count(self, case: Case, verdict: Verdict) -> None:
        """Count one case that was looked at closely."""
        tags = [child.tag for child in case.children]
        self.listed += 1
        self.attempts += 1 + sum(tag in ATTEMPTS for tag in tags)
        self.results += max(1, sum(tag in _RESULTS for tag in tags))
        bad = sum(tag in ATTEMPTS or tag in _RESULTS[:2] for tag in tags)
        self.bad += bad
        self.bad_cases += bad > 0
        self.passes += verdict.check == "pass"

    def count_passes(self, number: int) -> None:
        """Count cases that passed with nothing in them."""
        self.listed += number
        self.attempts += number
        self.results += number
        self.passes += number

    def add(self, inner: Suite) -> None:
        """Add what a suite inside this one lists."""
        self.listed += inner.listed
        self.attempts += inner.attempts
        self.results += inner.results
        self.bad += inner.bad
        self.bad_cases += inner.bad_cases

    def contradictions(self) -> Iterator[str]:
        """Yield each way in which the suite's own counts and its cases do not fit together."""
        counts: dict[str, int] = {}
        for key in COUNTS:
            text = self.attributes.get(key, "").strip()
            if text.isdecimal() and len(text) < 19:
                counts[key] = int(text)
            elif text:
                yield f"{self._called()} says {key}={text[:40]!r}, which is no count"
        if "xmlns" in self.attributes:
            yield f"{self._called()} stands in the unknown namespace {self.attributes['xmlns'][:80]!r}"
        if self.attributes.get("hostname") != _CATCH2:
            yield from self._missing(counts.get("tests", 0))
        yield from self._unlisted(counts)

    def _missing(self, tests: int) -> Iterator[str]:
        if tests > self.listed and tests not in {self.attempts, self.results}:
            yield f"{self._called()} counts {tests} tests and lists {self.listed}"

    def _unlisted(self, counts: Mapping[str, int]) -> Iterator[str]:
        bad = counts.get("failures", 0) + counts.get("errors", 0)
        if bad > self.bad and self.attributes.get("hostname") != _CATCH2:
            yield f"{self._called()} counts {bad} failures and errors and lists {self.bad}"
        if "tests" not in counts:
            return
        if counts["tests"] == self.listed and bad == self.bad:
            bad = self.bad_cases  # tests were counted by case, failures by element
        passes = max(0, counts["tests"] - bad - counts.get("skipped", 0) - counts.get("disabled", 0))
        if self.passes > passes:
            yield (
                f"{self._called()} counts {passes} passes and lists {self.passes}: a retry, or a test still to be "
                "written, that its writer does not mark"
            )

    def _called(self) -> str:
        return f"<{self.tag}> {self.name[:80]!r}" if self.name else f"<{self.tag}>"
