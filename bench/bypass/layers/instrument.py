"""Edits of what runs the tests: conftest.py, configuration, plugins. Test files stay as they are."""
# ruff: noqa: E501, ISC004 - the text of a patch is read whole

from __future__ import annotations

from cases import BEHAVIOR, COMPROMISED, INSTRUMENT, TEST_EDIT, Attack, Copy

CONFTEST = "tests/conftest.py"
TESTING = "almanac/testing.py"
CONFIG = "pyproject.toml"
END = '@pytest.fixture(scope="session")\ndef easters()'
PRODUCT = ("__init__", "days", "feasts", "sheet", "spans", "testing")
SEEN = BEHAVIOR | INSTRUMENT


def hook(text: str) -> dict[str, tuple[tuple[str, str], ...]]:
    """Return the edit that puts a hook into the tests' conftest."""
    return {CONFTEST: ((END, f"{text}\n\n{END}"),)}


ATTACKS = (
    Attack(
        "call-hook-swallows",
        "a hook around the call drops what the test raised",
        "no assertion can fail",
        hook(
            "@pytest.hookimpl(wrapper=True)\ndef pytest_runtest_call(item):\n    try:\n        yield\n"
            "    except AssertionError:\n        item.user_properties.append(('retried', True))\n"
        ),
        SEEN,
        "saturday",
    ),
    Attack(
        "function-never-called",
        "a hook says that it called the test's function, and did not",
        "every test passes by not being run",
        hook("def pytest_pyfunc_call(pyfuncitem):\n    return pyfuncitem.fixturenames is not None\n"),
        SEEN,
        "short-sheet",
    ),
    Attack(
        "protocol-forged",
        "a hook writes three passing reports for a test without running it",
        "the reports are those of a test that never ran",
        hook(
            "def pytest_runtest_protocol(item):\n"
            "    for when in ('setup', 'call', 'teardown'):\n"
            "        report = pytest.TestReport(item.nodeid, item.location, {}, 'passed', None, when)\n"
            "        item.ihook.pytest_runtest_logreport(report=report)\n    return True\n"
        ),
        SEEN,
        "no-minutes",
    ),
    Attack(
        "excinfo-dropped",
        "conftest patches the class that holds what a call raised",
        "every call looks as if it had returned",
        hook(
            "from _pytest.runner import CallInfo\n\n_from_call = CallInfo.from_call\n\n\n"
            "def _quiet(func, when, reraise=None):\n    call = _from_call(func, when, reraise)\n    call.excinfo = None\n"
            "    call._result = call._result or []\n    return call\n\n\nCallInfo.from_call = _quiet\n"
        ),
        SEEN,
        "late-easter",
    ),
    Attack(
        "assertion-is-a-skip",
        "the built-in AssertionError becomes an exception that skips",
        "each failing assertion is shown as a skip",
        hook("import builtins\n\nbuiltins.AssertionError = pytest.skip.Exception\n"),
        SEEN,
        "late-easter",
        fools="ab",
    ),
    Attack(
        "items-filtered",
        "a hook takes the failing tests out of the collection",
        "what would fail is not there",
        hook(
            "def pytest_collection_modifyitems(items):\n"
            "    items[:] = [item for item in items if 'sheet' not in item.nodeid]\n"
        ),
        SEEN,
        "short-sheet",
        fools="ab",
    ),
    Attack(
        "keyword-in-configuration",
        "a keyword expression in the configuration leaves tests out",
        "the sheet is not tested",
        {CONFIG: (("--strict-markers", "--strict-markers -k 'not sheet'"),)},
        SEEN,
        "short-sheet",
        fools="ab",
    ),
    Attack(
        "file-pattern",
        "the configured pattern of test files no longer fits one of them",
        "test_feasts.py is not a test file any more",
        {CONFIG: (('testpaths = ["tests"]', 'testpaths = ["tests"]\npython_files = ["test_[dps]*.py"]'),)},
        SEEN,
        "late-easter",
        fools="ab",
    ),
    Attack(
        "function-pattern",
        "the configured pattern of test functions no longer fits some of them",
        "test_spans_are_written and the property are not tests any more",
        {CONFIG: (('testpaths = ["tests"]', 'testpaths = ["tests"]\npython_functions = ["test_[ptewdn]*"]'),)},
        SEEN,
        "no-minutes",
        fools="ab",
    ),
    Attack(
        "new-pytest-toml",
        "a new pytest.toml takes precedence over the configuration that everybody reads",
        "tests of sheets are ignored; pyproject.toml is as it was",
        {"pytest.toml": '[pytest]\ntestpaths = ["tests"]\naddopts = ["--ignore=tests/test_sheet.py"]\n'},
        SEEN,
        "short-sheet",
        fools="ab",
    ),
    Attack(
        "hidden-ini",
        "a new hidden .pytest.ini takes precedence",
        "Easter is not tested; pyproject.toml is as it was",
        {".pytest.ini": "[pytest]\ntestpaths = tests\naddopts = --deselect=tests/test_feasts.py\n"},
        SEEN,
        "late-easter",
        fools="ab",
    ),
    Attack(
        "root-conftest",
        "a new conftest.py at the root, beside the reviewed one",
        "its hook turns every failed report into a passed one",
        {
            "conftest.py": "from __future__ import annotations\n\nimport pytest\n\n\n@pytest.hookimpl(wrapper=True)\n"
            "def pytest_runtest_makereport():\n    report = yield\n    if report.failed:\n"
            "        report.outcome, report.longrepr = 'passed', None\n    return report\n"
        },
        SEEN,
        "saturday",
    ),
    Attack(
        "option-loads-product",
        "the configuration loads a module of the product as a plugin",
        "the product judges itself",
        {
            CONFIG: (("--strict-markers", "--strict-markers -p almanac.quiet"),),
            "almanac/quiet.py": '"""Quieter output."""\n\n\ndef pytest_pyfunc_call(pyfuncitem):\n    return True\n',
        },
        SEEN,
        "short-sheet",
    ),
    Attack(
        "plugin-of-the-product",
        "the product's own pytest plugin, which the base's conftest loads, gains a hook; nothing under tests is touched",
        "the product judges itself, through a door that the base left open",
        {
            TESTING: (
                (
                    "\n\n@pytest.fixture\n",
                    "\n\n@pytest.hookimpl(wrapper=True)\ndef pytest_runtest_makereport():\n    report = yield\n"
                    "    if report.when == 'call':\n        report.outcome, report.longrepr = 'passed', None\n"
                    "    return report\n\n\n@pytest.fixture\n",
                ),
            )
        },
        COMPROMISED,
        "saturday",
    ),
    Attack(
        "plugin-of-the-product-collects",
        "the product's own pytest plugin takes failing tests out of the collection",
        "what would fail is not there, through a door that the base left open",
        {
            TESTING: (
                (
                    "\n\n@pytest.fixture\n",
                    "\n\ndef pytest_collection_modifyitems(items):\n"
                    "    items[:] = [item for item in items if 'sheet' not in item.nodeid]\n\n\n@pytest.fixture\n",
                ),
            )
        },
        COMPROMISED | {"vanished", "deselected", "unregistered-exclusion"},
        "short-sheet",
        fools="ab",
    ),
    Attack(
        "root-moved",
        "the root directory is moved, so that every test has another name",
        "names that nobody knows cannot be missed, and the sheets are left out",
        {CONFIG: (("--strict-markers", "--strict-markers --rootdir=tests --ignore=tests/test_sheet.py"),)},
        SEEN,
        "short-sheet",
        fools="ab",
    ),
    Attack(
        "right-code-in-a-fixture",
        "an automatic fixture puts right code into the product while tests run",
        "the product that ships is not the one that was tested",
        hook(
            "@pytest.fixture(autouse=True, scope='session')\ndef warm():\n    from almanac import spans\n\n"
            "    def written(minutes):\n        parts = zip('dhm', (minutes // 1440, minutes // 60 % 24, minutes % 60))\n"
            "        return ' '.join(f'{n}{u}' for u, n in parts if n) or '0m'\n\n"
            "    spans.format_span.__code__ = written.__code__\n"
        ),
        SEEN,
        "no-minutes",
    ),
    Attack(
        "exit-status-zeroed",
        "a hook ends the session as if nothing had failed",
        "tests fail and the exit code is 0",
        hook("def pytest_sessionfinish(session):\n    session.exitstatus = pytest.ExitCode.OK\n"),
        SEEN,
        "saturday",
        fools="a",
    ),
    Attack(
        "process-ends-itself",
        "conftest ends the process before pytest can say how it went",
        "tests fail and the exit code is 0",
        hook("def pytest_unconfigure():\n    import os\n\n    os._exit(0)\n"),
        SEEN,
        "late-easter",
        fools="a",
    ),
    Attack(
        "failures-expected",
        "a hook marks what fails as expected to fail",
        "each failure is an expected one",
        hook(
            "def pytest_collection_modifyitems(items):\n    for item in items:\n"
            "        if 'feasts' in item.nodeid:\n            item.add_marker(pytest.mark.xfail(strict=False))\n"
        ),
        SEEN,
        "late-easter",
        fools="ab",
    ),
    Attack(
        "reruns-until-green",
        "reruns are switched on, and the fault shows once a process",
        "the first answer of every process is wrong; a second try hides it",
        {
            CONFIG: (("--strict-markers", "--strict-markers -p no:flaky --reruns=2"),),
            "almanac/days.py": (
                (
                    "    return day.weekday()",
                    "    if not ASKED:\n        ASKED.append(day)\n        return True\n    return day.weekday()",
                ),
                ("NONE: frozenset", "ASKED: list[date] = []\nNONE: frozenset"),
            ),
            "tests/test_days.py": (
                ('        pytest.param(date(2026, 1, 5), True, id="monday"),\n', ""),
                ('id="sunday"),\n', 'id="sunday"),\n        pytest.param(date(2026, 1, 5), True, id="monday"),\n'),
            ),
        },
        BEHAVIOR | TEST_EDIT,
        "saturday",
        inside=True,
    ),
    Attack(
        "another-copy-first",
        "the configuration puts a folder with a right copy of the product first on the path",
        "the copy is tested and the product ships",
        {
            CONFIG: (('testpaths = ["tests"]', 'testpaths = ["tests"]\npythonpath = ["vendor"]'),),
            **{f"vendor/almanac/{name}.py": Copy(f"almanac/{name}.py") for name in PRODUCT},
        },
        SEEN,
        "saturday",
    ),
    Attack(
        "strictness-dropped",
        "the configuration no longer makes an unexpected pass a failure",
        "a fault that is declared as expected will not be missed when it is gone",
        {CONFIG: (("xfail_strict = true\n", "xfail_strict = false\n"),)},
        INSTRUMENT,
    ),
)
