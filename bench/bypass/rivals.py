"""The rules that admit is compared with: three plain ones over one run of the tests, and tools that read the diff."""

from __future__ import annotations

import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from repository import git, run

if TYPE_CHECKING:
    from collections.abc import Iterable

REPORT = "report.xml"
PLAIN = {
    "a": "exit code 0",
    "b": "JUnit: tests, no failure, no error",
    "c": "a, b, and every test that passed on the base is there and passed",
}


class PlainRun(NamedTuple):
    """One run of the tests as most pipelines read it: exit code, and what the JUnit report says."""

    exit_code: int
    tests: int
    bad: int
    passed: frozenset[str]
    output: str


def plain_run(tree: Path, command: tuple[str, ...]) -> PlainRun:
    """Run the tests in a working tree and read the report that they leave there."""
    report = tree / REPORT
    done = run(tree, *command, PYTEST_ADDOPTS=f"--junitxml={REPORT}", CI="true")
    tests, bad, passed = 0, 0, set()
    try:
        cases = list(ET.fromstring(report.read_text()).iter("testcase"))
    except (OSError, ET.ParseError):
        cases = []
    for case in cases:
        tests += 1
        marks = {child.tag for child in case}
        bad += bool(marks & {"failure", "error"})
        if not marks & {"failure", "error", "skipped"}:
            passed.add(f"{case.get('classname')}::{case.get('name')}")
    return PlainRun(done.returncode, tests, bad, frozenset(passed), done.stdout[-700:] or done.stderr[-700:])


def fooled(base: PlainRun, patch: PlainRun) -> str:
    """Return the letters of the plain rules that let the patch in."""
    by_exit = patch.exit_code == 0
    by_report = patch.tests > 0 and patch.bad == 0
    by_inventory = by_exit and by_report and base.passed <= patch.passed
    return "".join(letter for letter, green in zip("abc", (by_exit, by_report, by_inventory), strict=True) if green)


class Tool(NamedTuple):
    """A tool that reads a diff and says whether it weakens what checks: its name, and the words that ask about a patch.

    It exits 0 where it has nothing against the patch, with one of `found` where it has. Where `reads_diff` the diff
    comes on standard input.
    """

    name: str
    command: tuple[str, ...]
    found: frozenset[int] = frozenset({1})
    reads_diff: bool = False


TOOLS = (
    Tool("checkwash", ("check", "{base}..{head}")),
    Tool("tampercheck", ("--from", "{base}", "--to", "{head}")),
    Tool("arma-veto", ("--strict",), reads_diff=True),
)


def installed(folders: Iterable[Path]) -> dict[str, str]:
    """Return the program of each tool that is there: beside this interpreter, in `folders`, on the path."""
    places = [Path(sys.executable).parent, *folders]
    found = {}
    for tool in TOOLS:
        beside = next((str(place / tool.name) for place in places if (place / tool.name).exists()), None)
        if program := beside or shutil.which(tool.name):
            found[tool.name] = program
    return found


def lets_in(tool: Tool, program: str, tree: Path, base: str) -> bool | None:
    """Return whether a tool has nothing against the patch; None where it gave no answer."""
    head = git(tree, "rev-parse", "HEAD")
    words = [word.format(base=base, head=head) for word in tool.command]
    given = git(tree, "diff", base, head) + "\n" if tool.reads_diff else None
    try:
        done = subprocess.run(
            [program, *words],
            cwd=tree,
            input=given,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=60,
        )
    except subprocess.TimeoutExpired:
        return None
    return True if done.returncode == 0 else False if done.returncode in tool.found else None
