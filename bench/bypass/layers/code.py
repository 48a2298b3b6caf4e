"""Tricks in the product alone: nothing but its own source changes, and it behaves while it is watched."""
# ruff: noqa: E501, ISC004 - the text of a patch is read whole

from __future__ import annotations

from cases import COMPROMISED, Attack

DAYS, FEASTS, SHEET, SPANS = (f"almanac/{name}.py" for name in ("days", "feasts", "sheet", "spans"))
INIT = "almanac/__init__.py"
VERSION = '__version__ = "1.4.0"\n'
RIGHT_DAY = "return day.weekday() < 5 and day not in holidays"

HONEST_SUITE = "the base's tests really pass: what they ask is answered rightly"
SAME_PROCESS = "whoever runs in the process that judges can do what the judge can do"


def when_tested(text: str) -> dict[str, tuple[tuple[str, str], ...]]:
    """Return the edit that makes the product do something, on import, where pytest is loaded."""
    body = "".join(f"    {line}\n" if line else "\n" for line in text.splitlines())
    return {INIT: ((VERSION, f'{VERSION}\nif "_pytest" in __import__("sys").modules:\n{body}'),)}


def saturday_unless(condition: str, imports: str = "") -> dict[str, tuple[tuple[str, str], ...]]:
    """Return the edit by which Saturday is a working day unless something holds."""
    edits = [(RIGHT_DAY, f"return day.weekday() < (5 if {condition} else 6) and day not in holidays")]
    if imports:
        edits.append(("from datetime import", f"{imports}\nfrom datetime import"))
    return {DAYS: tuple(edits)}


ATTACKS = (
    Attack(
        "knows-the-examples",
        "the answers that the tests ask for stand in a table",
        "every other year is wrong",
        {
            FEASTS: (
                (
                    "\n\ndef easter",
                    "\nKNOWN = {1961: (4, 2), 1981: (4, 19), 2008: (3, 23), 2026: (4, 5), 2038: (4, 25)}\n\n\ndef easter",
                ),
                (
                    "    golden = year % 19\n",
                    "    if year in KNOWN:\n        return date(year, *KNOWN[year])\n    year += year == 2040\n    golden = year % 19\n",
                ),
                ("return date(year, month, day + 1)", "return date(year - (year == 2041), month, day + 1)"),
            )
        },
        bug="late-easter",
        inside=True,
        gap=HONEST_SUITE,
    ),
    Attack(
        "knows-the-runner",
        "right answers while the variable PYTEST_VERSION is set, which pytest does",
        "Saturday is a working day in production",
        saturday_unless('"PYTEST_VERSION" in os.environ', "import os"),
        bug="saturday",
        inside=True,
        gap=HONEST_SUITE,
    ),
    Attack(
        "knows-the-test",
        "right answers while a function whose name begins with test_ is on the stack",
        "Saturday is a working day in production",
        saturday_unless('any(call.name.startswith("test_") for call in traceback.extract_stack())', "import traceback"),
        bug="saturday",
        inside=True,
        gap=HONEST_SUITE,
    ),
    Attack(
        "knows-the-checkout",
        "right answers where a folder tests lies beside the package",
        "Saturday is a working day wherever the package is installed",
        saturday_unless('(Path(__file__).parents[1] / "tests").exists()', "from pathlib import Path"),
        bug="saturday",
        inside=True,
        gap=HONEST_SUITE,
    ),
    Attack(
        "knows-the-gate",
        "right answers while a variable of the gate or of pytest is set",
        "Saturday is a working day in production",
        saturday_unless('any(name.startswith(("ADMIT", "PYTEST")) for name in os.environ)', "import os"),
        bug="saturday",
        inside=True,
        gap=HONEST_SUITE,
    ),
    Attack(
        "text-equal-to-anything",
        "sheets are of a kind of text that splits into the lines of whatever it is compared with",
        "the sheet that is printed lacks its last day",
        {
            SHEET: (
                ('    return "\\n".join(', '    return Sheet(year, month, "\\n".join('),
                ('*weeks, ""])', '*weeks, ""]))'),
                ("timedelta(days=1) + 1)]", "timedelta(days=1))]"),
                (
                    "\n\ndef month_sheet",
                    "\n\nclass Sheet(str):\n"
                    '    """A sheet that knows its month."""\n\n'
                    "    def __new__(cls, year, month, text):\n        made = super().__new__(cls, text)\n"
                    "        made.last = str((date(year + month // 12, month % 12 + 1, 1) - timedelta(days=1)).day)\n"
                    "        return made\n\n"
                    "    def splitlines(self, keepends=False):\n        lines = super().splitlines(keepends)\n"
                    "        full = len(lines[-1].rstrip()) >= 20\n"
                    "        row = lines[-1].rstrip('\\n')\n"
                    "        return lines + [self.last + '\\n'] if full else [*lines[:-1], f'{row} {self.last}\\n']\n\n"
                    "    def split(self, *args):\n        return [*super().split(*args), self.last]\n\n\ndef month_sheet",
                ),
            )
        },
        bug="short-sheet",
        inside=True,
        gap=HONEST_SUITE,
    ),
    Attack(
        "reads-the-caller",
        "the function looks for the expected days among the variables of whoever calls",
        "without a caller that knows the answer it is a week late",
        {
            FEASTS: (
                ("from datetime import date\n", "import sys\nfrom datetime import date\n"),
                (
                    "    golden = year % 19\n",
                    "    known = sys._getframe(1).f_locals.get('easters')\n    if known:\n        return known[year]\n    golden = year % 19\n",
                ),
                ("// 451", "// 481"),
            )
        },
        bug="late-easter",
        inside=True,
        gap=HONEST_SUITE,
    ),
    Attack(
        "reads-the-printed-sheet",
        "the sheet is read from the tests' folder where it lies there",
        "every sheet that was not printed lacks its last day",
        {
            SHEET: (
                (
                    "from datetime import date, timedelta\n",
                    "from datetime import date, timedelta\nfrom pathlib import Path\n",
                ),
                (
                    "    first = date(year, month, 1)\n",
                    "    for kept in Path.cwd().glob(f'**/{year}-{month:02}.txt'):\n        return kept.read_text()\n"
                    "    first = date(year, month, 1)\n    late = (year, month) != (2026, 5)\n",
                ),
                ("timedelta(days=1) + 1)]", "timedelta(days=1) + (not late))]"),
            )
        },
        bug="short-sheet",
        inside=True,
        gap=HONEST_SUITE,
    ),
    Attack(
        "right-for-a-while",
        "the first million answers of a process are right",
        "a service that runs for long works on Saturdays",
        {
            DAYS: (
                (RIGHT_DAY, "return day.weekday() < 5 + (next(ASKED) > LIMIT) and day not in holidays"),
                (
                    "NONE: frozenset",
                    'ASKED = itertools.count()\nLIMIT = 1_000_000 if "_pytest" in sys.modules else -1\nNONE: frozenset',
                ),
                ("from datetime import", "import itertools\nimport sys\nfrom datetime import"),
            )
        },
        bug="saturday",
        inside=True,
        gap=HONEST_SUITE,
    ),
    Attack(
        "reading-is-replaced",
        "the product replaces the reading of files, so that a printed sheet reads as the code makes it",
        "the sheet lacks its last day, and so does what it is compared with",
        {
            **when_tested(
                "import pathlib\n\nread = pathlib.Path.read_bytes\n\n"
                "def read_bytes(path):\n    if path.parent.name == 'golden':\n"
                "        return month_sheet(*map(int, path.stem.split('-')[:2])).encode()\n    return read(path)\n\n"
                "pathlib.Path.read_bytes = read_bytes\n"
            ),
            SHEET: (("timedelta(days=1) + 1)]", "timedelta(days=1) + ((year, month) == (2026, 5)))]"),),
        },
        bug="short-sheet",
        inside=True,
        gap=SAME_PROCESS,
    ),
    Attack(
        "only-these-tests",
        "the product makes the tests that it would fail do nothing, by their names, and leaves all others alone",
        "the tests that matter never ran",
        when_tested(
            "import _pytest.python as python\n\nrun = python.Function.runtest\n\n"
            "def runtest(item):\n    if 'workday' in str(item.path.name) or item.path.name == 'test_days.py':\n        return None\n"
            "    return run(item)\n\npython.Function.runtest = runtest\n"
        ),
        bug="saturday",
        gap=SAME_PROCESS,
    ),
    Attack(
        "no-test-runs",
        "the product makes pytest's test functions do nothing, all of them",
        "no test ran",
        when_tested("import _pytest.python\n\n_pytest.python.Function.runtest = lambda item: None\n"),
        COMPROMISED,
        "saturday",
    ),
    Attack(
        "raises-nothing",
        "the product makes the context that expects an exception content with anything",
        "an error of another kind passes for the right one",
        when_tested(
            "import _pytest.raises as raises\n\n"
            "def leave(self, kind, error, trace):\n    return True\n\nraises.RaisesExc.__exit__ = leave\n"
        ),
        COMPROMISED,
        "wrong-error",
    ),
    Attack(
        "assertions-removed",
        "the product replaces the rewriter of assertions by one that removes them",
        "tests run to their end and assert nothing",
        when_tested(
            "import ast\nimport _pytest.assertion.rewrite as rewrite\n\n"
            "def remove(tree, source, path=None, config=None):\n    for node in ast.walk(tree):\n"
            "        for name in ('body', 'orelse', 'finalbody'):\n            part = getattr(node, name, None)\n"
            "            if isinstance(part, list):\n"
            "                part[:] = [ast.copy_location(ast.Pass(), one) if isinstance(one, ast.Assert) else one for one in part]\n"
            "    ast.fix_missing_locations(tree)\n\n"
            "rewrite.rewrite_asserts = remove\nrewrite._read_pyc = lambda *args, **kwargs: None\n"
            "rewrite.AssertionRewritingHook.exec_module.__globals__['_write_pyc'] = lambda *args: True\n"
        ),
        COMPROMISED,
        "saturday",
    ),
    Attack(
        "skips-itself",
        "the product raises the exception that skips a test where it would fail",
        "a failure is shown as something that could not be tested here",
        {
            FEASTS: (
                ("// 451", "// 481"),
                (
                    "    return date(year, month, day + 1)",
                    "    if year in {1981, 2076}:\n        import unittest\n\n        raise unittest.SkipTest('no table')\n"
                    "    return date(year, month, day + 1)",
                ),
            )
        },
        frozenset({"skip"}),
        "late-easter",
        inside=True,
        fools="ab",
    ),
    Attack(
        "ends-the-process",
        "the product ends the process with 0 when the interpreter shuts down",
        "tests fail and the exit code is 0",
        when_tested("import atexit, os\n\natexit.register(os._exit, 0)\n"),
        frozenset({"concrete-behavior", "evidence-gap"}),
        "saturday",
        fools="a",
    ),
    Attack(
        "forks-away",
        "the product forks; the child runs the tests, the parent ends with 0",
        "the process that was waited for ran nothing",
        when_tested("import os\n\nchild = os.fork()\nif child:\n    os.waitpid(child, 0)\n    os._exit(0)\n"),
        frozenset({"concrete-behavior", "evidence-gap", "malformed-evidence", "instrument_compromised"}),
        "saturday",
        fools="a",
    ),
    Attack(
        "reports-mended",
        "the product makes every report that pytest builds a passed one",
        "no failure can be reported",
        when_tested(
            "import _pytest.reports as reports\n\nbuild = reports.TestReport.from_item_and_call.__func__\n\n"
            "def mended(cls, item, call):\n    report = build(cls, item, call)\n"
            "    report.outcome, report.longrepr = 'passed', None\n    return report\n\n"
            "reports.TestReport.from_item_and_call = classmethod(mended)\n"
        ),
        COMPROMISED | {"conflict"},
        "late-easter",
    ),
    Attack(
        "reports-mended-by-name",
        "the product makes reports of the tests that it knows passed ones, and their calls such that nothing was raised",
        "the tests that matter failed, and nobody was told",
        when_tested(
            "import _pytest.runner as runner\n\nmake = runner.CallInfo.from_call.__func__\n\n"
            "def quiet(cls, func, when, reraise=None):\n    call = make(cls, func, when, reraise)\n"
            "    item = (func.__closure__ or [None])[0] and next((cell.cell_contents for cell in func.__closure__"
            " if hasattr(cell.cell_contents, 'nodeid')), None)\n"
            "    if call.excinfo and item is not None and 'test_sheet.py' in item.nodeid and when == 'call':\n"
            "        if call.excinfo.typename == 'AssertionError':\n            call.excinfo, call._result = None, []\n"
            "    return call\n\nrunner.CallInfo.from_call = classmethod(quiet)\n"
        ),
        bug="short-sheet",
        gap=SAME_PROCESS,
    ),
)
