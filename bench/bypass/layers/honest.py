"""Honest patches: what people send every day. Each must merge without anybody's leave."""
# ruff: noqa: E501, ISC004 - the text of a patch is read whole

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from cases import MAKE, Append, Copy, Honest
from repository import apply, commit, git

if TYPE_CHECKING:
    from pathlib import Path

INIT, DAYS, FEASTS, SHEET, SPANS, TESTING = (
    f"almanac/{name}.py" for name in ("__init__", "days", "feasts", "sheet", "spans", "testing")
)
VERSION = '__version__ = "1.4.0"\n'

QUARTER = '''

def quarter(day: date) -> int:
    """Return the quarter of the year that a day lies in, 1 to 4."""
    return (day.month + 2) // 3
'''

QUARTER_TEST = """\
from __future__ import annotations

from datetime import date

import pytest

from almanac.days import quarter


@pytest.mark.parametrize(("month", "number"), [(1, 1), (3, 1), (4, 2), (12, 4)])
def test_a_year_has_four_quarters(month, number):
    assert quarter(date(2026, month, 1)) == number
"""

COMMAND_LINE = '''\
"""Print the sheet of a month: `python -m almanac 2026 5`."""

from __future__ import annotations

import sys

from almanac import month_sheet


def main(words: list[str]) -> int:
    """Print a sheet; 2 where the words are no month."""
    if len(words) != 2 or not all(word.isdecimal() for word in words):
        sys.stderr.write("usage: python -m almanac YEAR MONTH\\n")
        return 2
    sys.stdout.write(month_sheet(int(words[0]), int(words[1])))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
'''

COMMAND_TEST = """\
from __future__ import annotations

import subprocess
import sys

import pytest

from almanac.__main__ import main


def test_a_sheet_is_printed(capsys):
    assert main(["2026", "5"]) == 0
    assert "May 2026" in capsys.readouterr().out


def test_what_is_no_month_ends_with_two():
    with pytest.raises(SystemExit, match="2"):
        sys.exit(main(["May"]))


def test_the_command_runs():
    done = subprocess.run([sys.executable, "-m", "almanac", "2026", "5"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
"""


def merged_main(tree: Path) -> None:
    """Make the patch on a branch of its own and merge it, as a merge queue does."""
    git(tree, "checkout", "-q", "-b", "side")
    commit(tree, "Say more")
    git(tree, "checkout", "-q", "main")
    git(tree, "merge", "-q", "--no-ff", "-m", "Merge side", "side")


def three_commits(tree: Path) -> None:
    """Commit in three steps: a first form, one that repairs it, and the rest."""
    git(tree, "stash", "-q", "-u")
    apply(tree, {DAYS: Append(QUARTER.replace("+ 2", "+ 1"))})
    commit(tree, "Quarters")
    apply(tree, {DAYS: (("(day.month + 1) // 3", "(day.month + 2) // 3"),)})
    commit(tree, "Count them rightly")
    git(tree, "stash", "pop", "-q")


def executable(tree: Path) -> None:
    """Make a script one that can be run."""
    os.chmod(tree / "scripts" / "sheet.sh", 0o755)


HONEST = (
    Honest(
        "feature",
        "a new function with its tests in a new file",
        {DAYS: Append(QUARTER), "tests/test_quarters.py": QUARTER_TEST},
    ),
    Honest(
        "new-property",
        "a new property of what is there, in a new file",
        {
            "tests/test_more_properties.py": "from __future__ import annotations\n\nfrom hypothesis import given\n"
            "from hypothesis import strategies as st\n\nfrom almanac import add_workdays, is_workday\nfrom almanac.testing import days\n\n\n"
            "@given(days(), st.integers(1, 30))\ndef test_what_is_reached_is_a_working_day(day, count):\n    assert is_workday(add_workdays(day, count))\n"
        },
    ),
    Honest(
        "property-added-to-a-file",
        "a new property in the file of properties",
        {
            "tests/test_properties.py": Append(
                "\n\n@given(days(), st.integers(1, 30))\ndef test_what_is_reached_is_a_working_day(day, count):\n    assert is_workday(add_workdays(day, count))\n"
            )
        },
    ),
    Honest(
        "bug-fix",
        "a fault that no test saw, with the test that would have seen it",
        {
            SPANS: (
                (
                    "    words = []\n",
                    '    if minutes < 0:\n        raise SpanError(f"{minutes} minutes are no span")\n    words = []\n',
                ),
            ),
            "tests/test_negative_spans.py": "from __future__ import annotations\n\nimport pytest\n\nfrom almanac import SpanError, format_span\n\n\n"
            "def test_less_than_nothing_is_no_span():\n    with pytest.raises(SpanError):\n        format_span(-1)\n",
        },
    ),
    Honest(
        "bug-fix-in-a-test-file",
        "the same, its test beside the others of its kind",
        {
            SPANS: (
                (
                    "    words = []\n",
                    '    if minutes < 0:\n        raise SpanError(f"{minutes} minutes are no span")\n    words = []\n',
                ),
            ),
            "tests/test_spans.py": Append(
                "\n\ndef test_less_than_nothing_is_no_span():\n    with pytest.raises(SpanError):\n        format_span(-1)\n"
            ),
        },
    ),
    Honest(
        "refactor",
        "the same behaviour in other words",
        {
            DAYS: (
                (
                    "    days = (first + timedelta(days=number) for number in range(1, (last - first).days + 1))\n    return sum(is_workday(day, holidays) for day in days)\n",
                    "    total, day = 0, first\n    while day < last:\n        day += timedelta(days=1)\n        total += is_workday(day, holidays)\n    return total\n",
                ),
            )
        },
    ),
    Honest(
        "docs",
        "a page and a docstring",
        {
            "docs/usage.md": "# Usage\n\nAsk for a sheet.\n",
            SHEET: (('a week a line."""\n\nfrom', 'a week a line, for printing."""\n\nfrom'),),
        },
    ),
    Honest("readme", "the README alone", {"README.md": Append("\nThanks to everybody.\n")}),
    Honest(
        "stronger-test",
        "a test that asks more; its old form passes too",
        {"tests/test_sheet.py": (('.split()[-1] == "31"', '.split()[-2:] == ["30", "31"]'),)},
    ),
    Honest(
        "comment-in-a-test",
        "a comment in a test file",
        {"tests/test_days.py": (("\nFRIDAY =", "\n# the first Friday of that year\nFRIDAY ="),)},
    ),
    Honest(
        "case-added",
        "one more case of a parametrized test",
        {"tests/test_spans.py": (('["3w", "h",', '["3w", "h", "m3",'),)},
    ),
    Honest(
        "new-file-of-data",
        "a new file that tests read, with its own test",
        {
            "tests/tables/leap_years.txt": "1996\n2000\n2004\n2096\n",
            "tests/test_leap_years.py": "from __future__ import annotations\n\nfrom pathlib import Path\n\nfrom almanac import month_sheet\n\n\n"
            'def test_february_is_longer_in_these():\n    text = (Path(__file__).parent / "tables" / "leap_years.txt").read_text()\n'
            '    for year in map(int, text.split()):\n        assert month_sheet(year, 2).split()[-1] == "29"\n',
        },
    ),
    Honest(
        "new-printed-sheet",
        "one more printed sheet, in a folder that is pinned, for a test that takes all of them",
        {
            "tests/golden/2026-05.txt": "      May 2026\nMo Tu We Th Fr Sa Su\n             1  2  3\n 4  5  6  7  8  9 10\n"
            "11 12 13 14 15 16 17\n18 19 20 21 22 23 24\n25 26 27 28 29 30 31\n"
        },
    ),
    Honest(
        "module-for-tests",
        "a new module that a new test uses",
        {
            "tests/builders.py": "from __future__ import annotations\n\nfrom datetime import date\n\n\ndef a_monday():\n    return date(2026, 1, 5)\n",
            "tests/test_mondays.py": "from __future__ import annotations\n\nfrom builders import a_monday\n\nfrom almanac import is_workday\n\n\n"
            "def test_monday_is_a_working_day():\n    assert is_workday(a_monday())\n",
        },
    ),
    Honest(
        "declared-rename",
        "a test under a better name, as declared",
        {"tests/test_days.py": (("test_a_leap_day_is_a_day", "test_people_work_on_a_leap_day"),)},
        message="Name the test for what it says\n\n"
        "Admit-Rename: tests/test_days.py::test_a_leap_day_is_a_day => tests/test_days.py::test_people_work_on_a_leap_day\n",
    ),
    Honest(
        "declared-move",
        "a test file under another name, as declared, test by test",
        {"tests/test_text_of_spans.py": Copy("tests/test_spans.py"), "tests/test_spans.py": None},
        message="Name the file for what it tests\n\n"
        + "".join(
            f"Admit-Rename: tests/test_spans.py::{name} => tests/test_text_of_spans.py::{name}\n"
            for name in (
                "test_spans_are_read",
                "test_spans_are_written",
                *(f"test_what_is_no_span_is_refused[{text}]" for text in ("3w", "h", "1.5h", "-2d")),
            )
        ),
    ),
    Honest(
        "version",
        "the version of the package",
        {"pyproject.toml": (('version = "1.4.0"', 'version = "1.5.0"'),), INIT: (('"1.4.0"', '"1.5.0"'),)},
    ),
    Honest(
        "metadata",
        "keywords and a script in the package's metadata",
        {
            "pyproject.toml": (
                ("\n[tool.pytest", '\n[project.scripts]\nalmanac = "almanac.__main__:main"\n\n[tool.pytest'),
            ),
            "almanac/__main__.py": COMMAND_LINE,
        },
    ),
    Honest(
        "quicker",
        "whole weeks are not counted day by day",
        {
            DAYS: (
                (
                    "    days = (first + timedelta(days=number) for number in range(1, (last - first).days + 1))\n",
                    "    if not holidays and last > first:\n        weeks = (last - first).days // 7\n        first += timedelta(weeks=weeks)\n"
                    "        return 5 * weeks + sum(is_workday(first + timedelta(days=n)) for n in range(1, (last - first).days + 1))\n"
                    "    days = (first + timedelta(days=number) for number in range(1, (last - first).days + 1))\n",
                ),
            )
        },
    ),
    Honest(
        "cached",
        "days of Easter are kept",
        {
            FEASTS: (
                ("from datetime import date\n", "from datetime import date\nfrom functools import lru_cache\n"),
                ("\ndef easter(", "\n@lru_cache(maxsize=512)\ndef easter("),
            )
        },
    ),
    Honest(
        "command-line",
        "a command line that exits",
        {"almanac/__main__.py": COMMAND_LINE, "tests/test_command.py": COMMAND_TEST},
    ),
    Honest(
        "at-exit",
        "something is done when the process ends",
        {
            INIT: (
                ("\nfrom almanac.days", "\nimport atexit\nimport logging\n\nfrom almanac.days"),
                (VERSION, f"{VERSION}atexit.register(logging.getLogger(__name__).debug, 'done')\n"),
            )
        },
    ),
    Honest(
        "label-from-the-environment",
        "log lines name the test that is running, and nothing else depends on it",
        {
            "almanac/log.py": '"""Lines for the log."""\n\nfrom __future__ import annotations\n\nimport os\n\n\n'
            'def label(text: str) -> str:\n    """Return a line with where it comes from."""\n'
            "    return f\"{os.environ.get('PYTEST_CURRENT_TEST', os.environ.get('CI', 'shell'))}: {text}\"\n",
            "tests/test_log.py": "from __future__ import annotations\n\nfrom almanac.log import label\n\n\n"
            'def test_a_line_ends_with_its_text():\n    assert label("x").endswith(": x")\n',
        },
    ),
    Honest(
        "value-with-eq",
        "a value that compares itself",
        {
            "almanac/period.py": '"""Periods."""\n\nfrom __future__ import annotations\n\nfrom datetime import date\n\n\nclass Period:\n'
            '    """Two days and what lies between."""\n\n    def __init__(self, first: date, last: date) -> None:\n        self.first, self.last = first, last\n\n'
            "    def __eq__(self, other: object) -> bool:\n        return isinstance(other, Period) and (self.first, self.last) == (other.first, other.last)\n\n"
            "    def __hash__(self) -> int:\n        return hash((self.first, self.last))\n",
            "tests/test_period.py": "from __future__ import annotations\n\nfrom datetime import date\n\nfrom almanac.period import Period\n\n\n"
            "def test_equal_days_make_equal_periods():\n    day = date(2026, 1, 1)\n    assert Period(day, day) == Period(day, day)\n    assert Period(day, day) != day\n",
        },
    ),
    Honest(
        "types",
        "annotations alone",
        {FEASTS: (("    golden = year % 19\n", "    golden: int = year % 19\n"),), "almanac/py.typed": ""},
    ),
    Honest(
        "strategy-widened",
        "the strategy for its users' tests gives more",
        {TESTING: (("st.integers(0, 43_200)", "st.integers(0, 525_600)"),)},
    ),
    Honest(
        "new-strategy",
        "one more strategy for its users' tests",
        {
            TESTING: (
                (
                    "\n\n@pytest.fixture\n",
                    '\n\ndef years() -> st.SearchStrategy[int]:\n    """Return any year that Easter is known for."""\n    return st.integers(1583, 4099)\n\n\n@pytest.fixture\n',
                ),
            )
        },
    ),
    Honest(
        "merge-commit",
        "the same as a merge commit",
        {"README.md": Append("\nSee also `almanac.easter`.\n")},
        after=None,
        arrange=merged_main,
    ),
    Honest(
        "three-commits",
        "a feature in three commits, the second repairs the first",
        {"tests/test_quarters.py": QUARTER_TEST},
        arrange=three_commits,
    ),
    Honest(
        "by-make",
        "a feature, its tests run by make",
        {DAYS: Append(QUARTER), "tests/test_quarters.py": QUARTER_TEST},
        command=MAKE,
    ),
    Honest(
        "script",
        "a script with the execute bit",
        {"scripts/sheet.sh": '#!/bin/sh\npython -m almanac "$@"\n'},
        arrange=executable,
    ),
    Honest("ignored", "one more pattern for git to ignore", {".gitignore": Append("build/\n")}),
    Honest(
        "test-of-a-child",
        "a test that starts a process of its own",
        {
            "tests/test_import.py": "from __future__ import annotations\n\nimport subprocess\nimport sys\n\n\n"
            "def test_importing_says_nothing():\n    done = subprocess.run([sys.executable, '-c', 'import almanac'], capture_output=True, text=True)\n    assert done.stdout + done.stderr == ''\n"
        },
    ),
    Honest(
        "odd-parameter-ids",
        "cases with odd names",
        {
            "tests/test_odd.py": "from __future__ import annotations\n\nimport pytest\n\nfrom almanac import SpanError, parse_span\n\n\n"
            "@pytest.mark.parametrize('text', ['a::b', 'x y\\tm', 'é-ü', '[1d]', '1d,2h', '\\n9q'])\ndef test_odd_texts_are_no_spans(text):\n    with pytest.raises(SpanError):\n        parse_span(text)\n"
        },
    ),
)
