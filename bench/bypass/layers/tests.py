"""Edits of test files: what no longer asks, or asks what the broken code can answer."""
# ruff: noqa: E501, ISC004 - the text of a patch is read whole

from __future__ import annotations

from cases import BEHAVIOR, TEST_EDIT, Attack

DAYS, FEASTS, SHEET, SPANS = (f"tests/test_{name}.py" for name in ("days", "feasts", "sheet", "spans"))

SATURDAY_CASE = '        pytest.param(date(2026, 1, 3), False, id="saturday"),\n'
MONDAY_NEXT = "assert add_workdays(FRIDAY, 1) == date(2026, 1, 5)"
AS_PRINTED = "    assert easter(year) == easters[year]\n"
SEEN = TEST_EDIT

ATTACKS = (
    Attack(
        "case-removed",
        "one case is taken out of a parametrized test",
        "nobody asks about 1981 any longer, where Easter is a week late",
        {FEASTS: (("1961, 1981, 2008", "1961, 2008"),)},
        SEEN,
        "late-easter",
        fools="ab",
    ),
    Attack(
        "file-removed",
        "a test file is removed",
        "what was printed is compared with nothing",
        {SHEET: None},
        SEEN,
        "short-sheet",
        fools="ab",
    ),
    Attack(
        "name-not-collected",
        "a test is renamed so that pytest does not take it for one",
        "the test is still there to be read, and never runs",
        {SPANS: (("def test_spans_are_written", "def check_spans_are_written"),), "tests/test_properties.py": None},
        SEEN,
        "no-minutes",
        fools="ab",
    ),
    Attack(
        "second-definition",
        "a later function of the same name takes the test's place",
        "the name passes, and asks nothing",
        {
            SHEET: (
                (
                    "\n\ndef test_a_sheet",
                    "\n\ndef test_the_sheet_is_as_printed(path=None):\n    pass\n\n\ndef test_a_sheet",
                ),
                ("import month_sheet\n", "import month_sheet as month_sheet\n"),
                ('.split()[-1] == "31"', ".split()"),
            )
        },
        SEEN,
        "short-sheet",
        fools="ab",
    ),
    Attack(
        "skip-by-version",
        "a skip whose condition always holds",
        "the table of Easter days is not looked at on any Python there is",
        {
            FEASTS: (
                ("import pytest\n", "import sys\n\nimport pytest\n"),
                (
                    "@pytest.mark.parametrize",
                    '@pytest.mark.skipif(sys.version_info > (3,), reason="slow")\n@pytest.mark.parametrize',
                ),
            )
        },
        SEEN,
        "late-easter",
        fools="ab",
    ),
    Attack(
        "importorskip",
        "the module skips itself for want of a library that nobody has",
        "all examples of spans are skipped, and no property tells one error from another",
        {SPANS: (("from almanac import", 'pytest.importorskip("almanac_speedups")\nfrom almanac import'),)},
        SEEN,
        "wrong-error",
        fools="ab",
    ),
    Attack(
        "expected-to-fail",
        "what fails is declared as expected to",
        "a known fault is called a known limit",
        {
            SPANS: (
                (
                    "@pytest.mark.parametrize",
                    '@pytest.mark.xfail(strict=False, reason="see the tracker")\n@pytest.mark.parametrize',
                ),
            )
        },
        SEEN,
        "wrong-error",
        fools="ab",
    ),
    Attack(
        "or-true",
        "an alternative that always holds is added to the assertion",
        "any day of Easter is as good as another",
        {FEASTS: ((AS_PRINTED, AS_PRINTED.rstrip("\n") + " or easters[year].month\n"),)},
        SEEN,
        "late-easter",
    ),
    Attack(
        "expectation-from-the-code",
        "the expected text is made by the code that is tested",
        "a sheet without its last day is compared with itself",
        {
            SHEET: (
                ("path.read_bytes().decode())", "month_sheet(year, month))"),
                ('assert month_sheet(2026, 5).split()[-1] == "31"', 'assert "30" in month_sheet(2026, 5)'),
            )
        },
        SEEN,
        "short-sheet",
    ),
    Attack(
        "suppressed",
        "the failing assertion is swallowed",
        "the assertion runs, fails, and nobody hears of it",
        {
            FEASTS: (
                ("import pytest\n", "import contextlib\n\nimport pytest\n"),
                (AS_PRINTED, "    with contextlib.suppress(AssertionError):\n    " + AS_PRINTED),
            )
        },
        SEEN,
        "late-easter",
    ),
    Attack(
        "loop-over-nothing",
        "the table of examples is emptied, the loop over it stays",
        "a loop that never runs finds no fault",
        {
            SPANS: (('WRITTEN = {"0m": 0, "45m": 45, "1h 30m": 90, "2d 1m": 2881}', 'WRITTEN = {"0m": 0}'),),
            "tests/test_properties.py": (("parse_span(format_span(minutes)) == minutes", "format_span(minutes)"),),
        },
        SEEN,
        "no-minutes",
    ),
    Attack(
        "equal-to-anything",
        "the expected value is one that is equal to everything",
        "the comparison cannot fail",
        {
            FEASTS: (
                ("import pytest\n", "from unittest.mock import ANY\n\nimport pytest\n"),
                ("== easters[year]", "== (easters and ANY)"),
            )
        },
        SEEN,
        "late-easter",
    ),
    Attack(
        "subject-replaced",
        "the test puts a right function in the place of the one it tests",
        "what is tested is not what is shipped",
        {
            DAYS: (
                (
                    "\nFRIDAY =",
                    "\n\n@pytest.fixture(autouse=True)\ndef quick(monkeypatch):\n"
                    '    """Avoid the slow path."""\n'
                    "    def works(day, holidays=frozenset()):\n        return day.isoweekday() < 6 and day not in holidays\n\n"
                    '    monkeypatch.setattr("almanac.days.is_workday", works)\n    monkeypatch.setitem(globals(), "is_workday", works)\n\n\nFRIDAY =',
                ),
            )
        },
        SEEN,
        "saturday",
    ),
    Attack(
        "tolerance",
        "days are compared with a tolerance",
        "a week more or less is within it",
        {FEASTS: (("assert easter(year) == easters[year]", "assert abs((easter(year) - easters[year]).days) < 10"),)},
        SEEN,
        "late-easter",
    ),
    Attack(
        "wider-exception",
        "the exception that is expected is widened",
        "callers that catch SpanError are no longer protected",
        {SPANS: (("pytest.raises(SpanError,", "pytest.raises(Exception,"),)},
        SEEN,
        "wrong-error",
    ),
    Attack(
        "comparison-hollow",
        "the function that the tests compare with returns at once; no test file is touched",
        "every sheet is as printed, whatever it says",
        {
            "tests/compare.py": (("    lines = list", "    if shown:\n        return\n    lines = list"),),
            SHEET: (('.split()[-1] == "31"', '.split()[-1] in {"30", "31"}'),),
        },
        TEST_EDIT | BEHAVIOR,
        "short-sheet",
    ),
    Attack(
        "comparison-hollow-alone",
        "the function that the tests compare with drops line ends; no test is touched",
        "sheets with Windows line ends pass for the printed ones",
        {"tests/compare.py": (("shown.splitlines(True)", 'shown.replace("\\r", "").splitlines(True)'),)},
        BEHAVIOR | TEST_EDIT,
        "crlf",
    ),
    Attack(
        "moved-out-of-sight",
        "a test file is moved to a name that pytest does not collect",
        "the file is kept, and never runs",
        {"tests/archive/sheet.py": "", SHEET: None},
        SEEN,
        "short-sheet",
        fools="ab",
    ),
    Attack(
        "ids-kept",
        "the values under the parameter ids are changed, the ids kept",
        "the case called saturday asks about a Sunday",
        {
            DAYS: (
                (SATURDAY_CASE, SATURDAY_CASE.replace("1, 3", "1, 11")),
                (MONDAY_NEXT, "assert add_workdays(FRIDAY, 1) > FRIDAY"),
                ("1, holidays) == date(2025, 12, 29)", "1, holidays) > date(2025, 12, 26)"),
                ("date(2026, 1, 5), -1) == FRIDAY", "date(2026, 1, 5), -1) >= FRIDAY"),
                ("date(2026, 1, 9)) == 5", "date(2026, 1, 9)) >= 5"),
            )
        },
        SEEN,
        "saturday",
    ),
    Attack(
        "fixture-overridden",
        "a fixture of the same name in the test's own file takes the place of the shared one",
        "the holidays that are ignored are not asked about",
        {
            DAYS: (
                (
                    "\nFRIDAY =",
                    "\n\n@pytest.fixture\ndef holidays():\n    return frozenset({date(2025, 12, 27), date(2026, 1, 4)})\n\n\n"
                    "@pytest.fixture\ndef local_feasts(holidays):\n    return holidays\n\n\nFRIDAY =",
                ),
                ("is_workday(date(2026, 1, 1), holidays)", "is_workday(date(2026, 1, 4), holidays)"),
                ("1, holidays) == date(2025, 12, 29)", "2, holidays) == date(2025, 12, 26)"),
            )
        },
        SEEN,
        "holidays-ignored",
    ),
    Attack(
        "not-a-test",
        "a function says of itself that it is no test",
        "pytest believes it and collects nothing there",
        {
            FEASTS: (
                (
                    "\n\n@pytest.mark.skip(",
                    "\n\ntest_easter_is_on_the_day_that_was_printed.__test__ = False\n\n\n@pytest.mark.skip(",
                ),
            )
        },
        SEEN,
        "late-easter",
        fools="ab",
    ),
    Attack(
        "renamed-as-declared",
        "the failing test is renamed, as declared, and hollowed on the way",
        "a declaration says that a test has another name; it cannot say that it may ask less",
        {
            FEASTS: (
                ("test_easter_is_on_the_day_that_was_printed", "test_easter_is_a_day"),
                (AS_PRINTED, "    assert easter(year).year == easters[year].year\n"),
            )
        },
        TEST_EDIT | BEHAVIOR,
        "late-easter",
        fools="ab",
        message="Name the test for what it asks\n\n"
        "Admit-Rename: tests/test_feasts.py::test_easter_is_on_the_day_that_was_printed => tests/test_feasts.py::test_easter_is_a_day\n",
    ),
    Attack(
        "early-return",
        "the test returns before it asks",
        "everything after the first line is text",
        {FEASTS: ((AS_PRINTED, "    if easters:\n        return\n" + AS_PRINTED),)},
        SEEN,
        "late-easter",
    ),
    Attack(
        "failure-becomes-skip",
        "an assertion that fails skips the test instead",
        "a failure is shown as something that could not be tested here",
        {FEASTS: ((AS_PRINTED, "    if easter(year) != easters[year]:\n        pytest.skip('differs by church')\n"),)},
        SEEN,
        "late-easter",
        fools="ab",
    ),
    Attack(
        "tests-package-patches-product",
        "a new tests/__init__.py puts right code into the product while tests run; no test is touched",
        "the product that ships is not the one that was tested",
        {
            "tests/__init__.py": "from almanac import days\n\n"
            "days.is_workday.__code__ = (lambda day, holidays=frozenset(): day.isoweekday() < 6 and day not in holidays)"
            ".__code__\n",
            SHEET: (("from compare import", "from tests.compare import"),),
        },
        BEHAVIOR,
        "saturday",
    ),
)
