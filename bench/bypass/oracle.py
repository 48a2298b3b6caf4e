"""Ask the product what it answers outside of any test: no pytest, no tests, no fixtures, an empty environment.

`wrong_answers(tree)` copies the product's folder alone into an empty one and asks it in a process of its own.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

QUESTIONS = {
    "a-saturday": ("is_workday(date(2026, 1, 3))", "False"),
    "a-wednesday": ("is_workday(date(2026, 1, 14))", "True"),
    "friday-and-one": ("add_workdays(date(2026, 1, 2), 1)", "datetime.date(2026, 1, 5)"),
    "monday-back-one": ("add_workdays(date(2026, 1, 5), -1)", "datetime.date(2026, 1, 2)"),
    "fifty-days": ("add_workdays(date(2026, 1, 5), 50)", "datetime.date(2026, 3, 16)"),
    "leap-day": ("is_workday(date(2032, 2, 29)), is_workday(date(2028, 2, 29))", "(False, True)"),
    "new-year": ("is_workday(date(2026, 1, 1), frozenset({date(2026, 1, 1)}))", "False"),
    "local-feast": ("is_workday(date(2026, 5, 8), frozenset({date(2026, 5, 8)}))", "False"),
    "a-week": ("count_workdays(date(2026, 1, 2), date(2026, 1, 9))", "5"),
    "easter-1981": ("easter(1981)", "datetime.date(1981, 4, 19)"),
    "easter-2040": ("easter(2040)", "datetime.date(2040, 4, 1)"),
    "sheet": (
        "month_sheet(2027, 2)",
        repr(
            "   February 2027\nMo Tu We Th Fr Sa Su\n 1  2  3  4  5  6  7\n 8  9 10 11 12 13 14\n15 16 17 18 19 20 21\n"
            "22 23 24 25 26 27 28\n"
        ),
    ),
    "ninety-minutes": ("format_span(90), parse_span('1h 30m')", "('1h 30m', 90)"),
    "a-long-span": ("format_span(41_761)", "'29d 1m'"),
    "weeks": ("refused('3w')", "'SpanError'"),
}
"""Each question with the one right answer, as Python shows it."""

ASK = """
import json, sys
sys.path.insert(0, sys.argv[1])
import datetime
from datetime import date
from almanac import *
def refused(text):
    try:
        parse_span(text)
    except Exception as error:
        return type(error).__name__
    return ""
answers = {}
for name, question in json.load(sys.stdin).items():
    try:
        answer = eval(question)
        exact = type(answer) in (bool, int, str, tuple, date)
        answers[name] = repr(answer) if exact else f"of type {type(answer).__name__}"
    except Exception as error:
        answers[name] = f"raised {type(error).__name__}"
print("ANSWERS" + json.dumps(answers))
"""


def wrong_answers(tree: Path) -> frozenset[str]:
    """Return which questions the product in `tree` answers wrongly; all of them where it does not answer."""
    with tempfile.TemporaryDirectory(prefix="oracle-") as folder:
        shutil.copytree(tree / "almanac", Path(folder) / "almanac", ignore=shutil.ignore_patterns("__pycache__"))
        asked = json.dumps({name: question for name, (question, _) in QUESTIONS.items()})
        command = [sys.executable, "-I", "-S", "-B", "-c", ASK, folder]
        done = subprocess.run(command, input=asked, capture_output=True, text=True, check=False, cwd=folder, env={})
    _, mark, shown = done.stdout.rpartition("ANSWERS")
    answers = json.loads(shown) if mark else {}
    return frozenset(name for name, (_, right) in QUESTIONS.items() if answers.get(name) != right)
