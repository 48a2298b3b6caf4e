"""Claim: JUnit XML under all of admit's rules costs less than junitparser and at most 2 of a bare iterparse loop.

Usage: python bench/collect/bench_junit.py [CASES] [ROUNDS]   (in an environment with admit and junitparser)

One report of 100,000 cases (about one in twenty failed with a traceback, a third with output) is made in memory. The
three contenders take the same from it: a name, whether the case failed or was skipped, the message, and the text of a
failure. They must agree on every case; then they are timed in turns, in this process, in CPU time. What is compared
are medians of rounds. admit does more than its peers within that time: it knows each element and attribute, holds
counts against cases, and makes node records. A peer that is not installed is not measured, and then the exit code
is 1.
"""

from __future__ import annotations

import gc
import io
import statistics
import sys
import time
from typing import TYPE_CHECKING, NamedTuple
from xml.etree import ElementTree
from xml.parsers import expat

from admit.collect.junit import read

if TYPE_CHECKING:
    from collections.abc import Callable

LIMITS = {"iterparse": 2.0, "junitparser": 1.0}
"""At most so many times each peer's median."""


class Case(NamedTuple):
    """What every contender takes from a case."""

    name: str
    check: str
    message: str
    text: str


def report(cases: int) -> bytes:
    """Return a report in suites of 500 cases."""
    parts = ['<?xml version="1.0" encoding="utf-8"?>\n<testsuites name="all">\n']
    for start in range(0, cases, 500):
        numbers = range(start, min(start + 500, cases))
        failed = sum(number % 21 == 0 for number in numbers)
        counts = f'tests="{len(numbers)}" failures="{failed}" errors="0" skipped="0"'
        parts.append(f'<testsuite name="shop.part{start}" {counts} time="1.5">\n')
        parts += [_case(start, number) for number in numbers]
        parts.append("</testsuite>\n")
    parts.append("</testsuites>\n")
    return "".join(parts).encode()


def _case(start: int, number: int) -> str:
    opened = f'<testcase classname="shop.part{start}.Class{number % 10}" name="test_{number}[x-{number}]" time="0.25"'
    if number % 21 == 0:
        trace = f"  File &quot;shop.py&quot;, line {number}\n" * 40
        failure = f'<failure message="assert {number} == {number + 1}" type="AssertionError">{trace}</failure>'
        return f"{opened}>{failure}<system-out>{'printed ' * 400}</system-out></testcase>\n"
    if number % 3 == 0:
        return f"{opened}><system-out>{'printed ' * 40}</system-out></testcase>\n"
    return f"{opened} />\n"


def by_admit(raw: bytes) -> list[Case]:
    """Return what admit's reader makes of it."""
    records = read(raw, "report.xml").records
    return [Case(r.node.rpartition("::")[2], r.check, r.message, r.counterexample) for r in records]


def by_iterparse(raw: bytes) -> list[Case]:
    """Return what a loop over the standard library's iterparse makes of it."""
    found = []
    for _, element in ElementTree.iterparse(io.BytesIO(raw)):  # our own bytes
        if element.tag == "testcase":
            check, message, text = "pass", "", ""
            for child in element:
                if child.tag in {"failure", "error", "skipped"}:
                    check = "not_run" if child.tag == "skipped" else "fail"
                    message, text = child.get("message") or "", (child.text or "").strip()
            name = f"{element.get('classname')}::{element.get('name')}"
            found.append(Case(name.rpartition("::")[2], check, message, text))
            element.clear()
    return found


def by_junitparser(raw: bytes) -> list[Case]:
    """Return what junitparser makes of it."""
    from junitparser import JUnitXml, Skipped

    found = []
    for suite in JUnitXml.fromstring(raw):
        for case in suite:
            check, message, text = "pass", "", ""
            for result in case.result:
                check = "not_run" if isinstance(result, Skipped) else "fail"
                message, text = result.message or "", (result.text or "").strip()
            name = f"{case.classname}::{case.name}"
            found.append(Case(name.rpartition("::")[2], check, message, text))
    return found


def timed(read_it: Callable[[bytes], list[Case]], raw: bytes) -> float:
    """Return the CPU seconds of one reading."""
    gc.collect()
    started = time.process_time()
    read_it(raw)
    return time.process_time() - started


def main(cases: int = 100_000, rounds: int = 5) -> int:
    """Measure, print one line a contender, return 0 if the claim holds."""
    raw = report(cases)
    contenders = {"admit": by_admit, "iterparse": by_iterparse, "junitparser": by_junitparser}
    try:
        import junitparser
    except ImportError:
        print("junitparser is not installed: nothing to hold the claim against")
        return 1
    expected = by_admit(raw)
    for name, contender in contenders.items():
        assert contender(raw) == expected, f"{name} reads something else"
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, contender in contenders.items():
            times[name].append(timed(contender, raw))
    medians = {name: statistics.median(taken) for name, taken in times.items()}
    size = len(raw) / 1e6
    print(f"{cases} cases, {size:.1f} MB, {expat.EXPAT_VERSION}, junitparser {junitparser.version}")
    for name, median in medians.items():
        ratio = medians["admit"] / median
        limit = f", at most {LIMITS[name]:.1f}" if name in LIMITS else ""
        print(f"{name:12} {median:6.2f} s  {size / median:6.1f} MB/s  admit/{name} = {ratio:.2f}{limit}")
    return 0 if all(medians["admit"] <= limit * medians[name] for name, limit in LIMITS.items()) else 1


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
