"""Freezes and exclusions: wide, extended, unregistered, and flakiness made on purpose."""
# ruff: noqa: E501, ISC004 - the text of a patch is read whole

from __future__ import annotations

from cases import BEHAVIOR, CONTROL, INSTRUMENT, TEST_EDIT, Append, Attack

FREEZES, CONFIG, CONFTEST = "admit.freezes.toml", "pyproject.toml", "tests/conftest.py"
OLD_NODE = "tests/test_sheet.py::test_a_sheet_ends_with_its_last_day"
END = '@pytest.fixture(scope="session")\ndef easters()'
EXCLUSION = frozenset({"unregistered-exclusion"})

HONOUR = (
    "@pytest.hookimpl(tryfirst=True)\ndef pytest_collection_modifyitems(items):\n    import tomllib\n\n"
    "    text = (HERE.parent / 'admit.freezes.toml').read_text()\n"
    "    frozen = [entry['node'] for entry in tomllib.loads(text).get('freeze', [])]\n"
    "    for item in items:\n        if any(item.nodeid.startswith(node.rstrip('*')) for node in frozen):\n"
    "            item.add_marker(pytest.mark.xfail(strict=False, reason='frozen'))\n\n\n"
)


def freeze(node: str, expires: str = "{SOON}") -> str:
    """Return an entry of the register."""
    return f'\n[[freeze]]\nnode = "{node}"\nreason = "fails now and then"\nowner = "team-days"\nexpires = {expires}\n'


ATTACKS = (
    Attack(
        "wide-freeze",
        "one freeze names every test, and conftest makes pytest honour the register",
        "a register of one line that nobody outlives",
        {FREEZES: Append(freeze("tests/*")), CONFTEST: ((END, HONOUR + END),)},
        CONTROL,
        "saturday",
        fools="ab",
    ),
    Attack(
        "freeze-of-a-file",
        "one freeze names a whole file",
        "a file is not one flaky test",
        {FREEZES: Append(freeze("tests/test_feasts.py")), CONFTEST: ((END, HONOUR + END),)},
        CONTROL,
        "late-easter",
        fools="ab",
    ),
    Attack(
        "freeze-extended",
        "a freeze that had ended is given a later end",
        "what was to be mended is forgotten instead",
        {
            FREEZES: (("2026-01-10T00:00:00Z", "{SOON}"),),
            CONFTEST: ((END, HONOUR + END),),
            "tests/test_sheet.py": (('.glob("*.txt")', '.glob("2026-0[3-9].txt")'),),
        },
        CONTROL,
        "short-sheet",
        fools="ab",
    ),
    Attack(
        "freeze-without-end",
        "a freeze is to end in the year 2099",
        "a freeze without an end is a test that was removed",
        {FREEZES: Append(freeze("tests/test_spans.py::test_spans_are_written", "2099-01-01T00:00:00Z"))},
        CONTROL,
    ),
    Attack(
        "freeze-for-the-next-patch",
        "a test that was never flaky is frozen, so that the next patch may break what it guards",
        "half of a fault is in the register, the other half comes later",
        {FREEZES: Append(freeze("tests/test_spans.py::test_spans_are_written"))},
        CONTROL,
    ),
    Attack("register-emptied", "the register is removed", "nobody sees what is due", {FREEZES: None}, CONTROL),
    Attack(
        "excluded-without-a-freeze",
        "the configuration deselects a test, with no freeze, no owner and no end",
        "a test is out for good and no register says so",
        {CONFIG: (("--strict-markers", "--strict-markers --deselect=tests/test_feasts.py"),)},
        BEHAVIOR | INSTRUMENT | EXCLUSION,
        "late-easter",
        fools="ab",
    ),
    Attack(
        "marked-flaky",
        "a marker of the test's own makes a plugin run it again until it passes, and the fault shows every other time",
        "every second answer is wrong",
        {
            "tests/test_sheet.py": (
                ("@pytest.mark.parametrize", "@pytest.mark.flaky(max_runs=4)\n@pytest.mark.parametrize"),
                ("def test_a_sheet", "@pytest.mark.flaky(max_runs=4)\ndef test_a_sheet"),
            ),
            "almanac/sheet.py": (
                ("timedelta(days=1) + 1)]", "timedelta(days=1) + next(TURN) % 2)]"),
                ("HEAD =", "TURN = itertools.count()\nHEAD ="),
                ("from datetime", "import itertools\nfrom datetime"),
            ),
        },
        BEHAVIOR | TEST_EDIT,
        "short-sheet",
        inside=True,
    ),
    Attack(
        "steady-while-tested",
        "the fault shows where nobody tests",
        "sheets are wrong in every process that did not load pytest",
        {
            "almanac/sheet.py": (
                ("timedelta(days=1) + 1)]", "timedelta(days=1) + STEADY)]"),
                ("HEAD =", 'STEADY = "pytest" in sys.modules\nHEAD ='),
                ("from datetime", "import sys\nfrom datetime"),
            ),
        },
        bug="short-sheet",
        inside=True,
        gap="the base's tests really pass: what they ask is answered rightly",
    ),
    Attack(
        "forgets-between-tests",
        "the product is right until it was asked before, and conftest makes it forget between tests",
        "an answer depends on who asked before",
        {
            "almanac/days.py": (
                ("weekday() < 5", "weekday() < (6 if len(ASKED) > 1 else 5)"),
                ("NONE: frozenset", "ASKED: list[int] = []\nNONE: frozenset"),
                ("    step = 1 if", "    ASKED.append(count)\n    step = 1 if"),
            ),
            CONFTEST: (
                (
                    END,
                    "@pytest.fixture(autouse=True)\ndef fresh():\n    from almanac import days\n\n    days.ASKED.clear()\n\n\n"
                    + END,
                ),
            ),
        },
        BEHAVIOR | INSTRUMENT,
        "saturday",
        inside=True,
    ),
    Attack(
        "no-verdict-for-good",
        "the product makes a failing test give no verdict, as a flaky one does",
        "no verdict is not a pass",
        {
            "almanac/feasts.py": (
                ("// 451", "// 481"),
                (
                    "    return date(year, month, day + 1)",
                    "    pytest = __import__('sys').modules.get('pytest')\n    if pytest and year == 1981:\n"
                    "        pytest.xfail('flaky, see the register')\n    return date(year, month, day + 1)",
                ),
            )
        },
        frozenset({"xfail"}),
        "late-easter",
        inside=True,
        fools="ab",
    ),
)
