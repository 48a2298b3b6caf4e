"""Files that steer the interpreter, the runner or the command from outside the tests."""
# ruff: noqa: E501 - the text of a patch is read whole

from __future__ import annotations

import importlib.util
import py_compile
import sys
from typing import TYPE_CHECKING

from cases import BEHAVIOR, COMPROMISED, INSTRUMENT, MAKE, Attack, Copy

if TYPE_CHECKING:
    from pathlib import Path

RECIPE = "\tPYTHONPATH=. python -m pytest -q\n"
SEEN = BEHAVIOR | INSTRUMENT

NOTHING_RUNS = """\
import _pytest.python

_pytest.python.Function.runtest = lambda item: None
"""

FAKE_RUNNER = """\
import pathlib
import re
import os

names = []
for path in sorted(pathlib.Path("tests").glob("test_*.py")):
    names += [(path.stem, name) for name in re.findall(r"^def (test_\\w+)", path.read_text(), re.M)]
cases = "".join(f'<testcase classname="tests.{file}" name="{name}" time="0.0"/>' for file, name in names)
found = re.search(r"--junitxml=(\\S+)", os.environ.get("PYTEST_ADDOPTS", ""))
if found:
    pathlib.Path(found[1]).write_text(
        f'<testsuites><testsuite name="pytest" tests="{len(names)}" failures="0" errors="0">{cases}</testsuite></testsuites>'
    )
print(f"{len(names)} passed in 0.21s")
"""

STUB = """\
import importlib
import os
import sys

path = sys.path[:]
sys.path = [place for place in path if place not in ("", ".", os.getcwd())]
del sys.modules["hypothesis"]
library = importlib.import_module("hypothesis")
sys.path = path


def given(*args, **kwargs):
    def decorate(test):
        def quick():
            return None

        quick.__name__ = test.__name__
        return quick

    return decorate


library.given = given
"""


def poison(tree: Path) -> None:
    """Leave compiled right code beside the broken source, marked as never to be compared with it."""
    source = tree / "almanac" / "days.py"
    broken = source.read_text()
    source.write_text(broken.replace("weekday() < 6", "weekday() < 5"))
    target = importlib.util.cache_from_source(str(source))
    py_compile.compile(
        str(source), target, doraise=True, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH
    )
    source.write_text(broken)


ATTACKS = (
    Attack(
        "recipe-ignores-failure",
        "the recipe ignores how the tests went",
        "make says that all is well, whatever pytest said",
        {"Makefile": ((RECIPE, RECIPE.replace("\t", "\t-")),)},
        SEEN,
        "saturday",
        fools="a",
        command=MAKE,
    ),
    Attack(
        "recipe-runs-less",
        "the recipe runs one file",
        "one file is not the suite",
        {"Makefile": ((RECIPE, RECIPE.replace("-q", "-q tests/test_days.py")),)},
        SEEN,
        "short-sheet",
        fools="ab",
        command=MAKE,
    ),
    Attack(
        "recipe-sets-options",
        "the Makefile exports options that every pytest reads",
        "the table of Easter days is left out",
        {
            "Makefile": (
                ("test:\n", "export PYTEST_ADDOPTS := $(PYTEST_ADDOPTS) --deselect=tests/test_feasts.py\n\ntest:\n"),
            )
        },
        SEEN,
        "late-easter",
        fools="ab",
        command=MAKE,
    ),
    Attack(
        "recipe-drops-the-recorder",
        "the recipe overrides the options that the gate hands over",
        "nobody records, and the tests of sheets are left out",
        {"Makefile": ((RECIPE, RECIPE.replace("-q", "-q -p no:admit --ignore=tests/test_sheet.py")),)},
        SEEN,
        "short-sheet",
        fools="ab",
        command=MAKE,
    ),
    Attack(
        "optimised",
        "the recipe sets PYTHONOPTIMIZE, so that assertions in modules that are not tests vanish",
        "the comparison of sheets asserts nothing",
        {
            "Makefile": ((RECIPE, RECIPE.replace("PYTHONPATH=.", "PYTHONOPTIMIZE=1 PYTHONPATH=.")),),
            "tests/compare.py": (("import difflib\n", "import difflib\n"),),
        },
        SEEN,
        "crlf",
        command=MAKE,
    ),
    Attack(
        "sitecustomize",
        "a sitecustomize.py at the root, which Python runs before anything else where the root is on its path",
        "tests are collected, called, and do nothing",
        {"sitecustomize.py": NOTHING_RUNS},
        SEEN | COMPROMISED,
        "saturday",
        command=MAKE,
    ),
    Attack(
        "runner-is-a-folder",
        "a folder pytest at the root is what `python -m pytest` runs",
        "no test runs; a report is written that looks as if",
        {"pytest/__init__.py": "", "pytest/__main__.py": FAKE_RUNNER},
        SEEN | COMPROMISED,
        "no-minutes",
        fools="ab",
    ),
    Attack(
        "egg-info-plugin",
        "a checked-in *.egg-info folder names a pytest plugin, which pytest loads by itself",
        "the product judges itself, and nobody asked for it",
        {
            "almanac.egg-info/PKG-INFO": "Metadata-Version: 2.1\nName: almanac\nVersion: 1.4.0\n",
            "almanac.egg-info/entry_points.txt": "[pytest11]\nalmanac = almanac.quiet\n",
            "almanac/quiet.py": '"""Quieter output."""\n\n\ndef pytest_pyfunc_call(pyfuncitem):\n    return True\n',
        },
        SEEN | COMPROMISED,
        "saturday",
    ),
    Attack(
        "dist-info-plugin",
        "a checked-in *.dist-info folder names a pytest plugin that lies beside it, in no package",
        "a stranger judges, and nobody asked for it",
        {
            "quiet-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: quiet\nVersion: 1.0\n",
            "quiet-1.0.dist-info/entry_points.txt": "[pytest11]\nquiet = quiet_reports\n",
            "quiet_reports.py": "def pytest_report_from_serializable(data):\n    return None\n\n\n"
            "def pytest_runtest_call(item):\n    item.runtest = lambda: None\n    if hasattr(item, 'obj'):\n        item.obj = lambda **kw: None\n",
        },
        SEEN | COMPROMISED,
        "late-easter",
    ),
    Attack(
        "library-shadowed",
        "a folder hypothesis at the root stands before the library",
        "properties are functions that do nothing",
        {"hypothesis/__init__.py": STUB},
        SEEN | COMPROMISED,
        "far",
        fools="abc",
    ),
    Attack(
        "standard-library-shadowed",
        "a file difflib.py at the root stands before the standard library's",
        "no text differs from another",
        {
            "difflib.py": "def unified_diff(*args, **kwargs):\n    return []\n\n\ndef ndiff(*args, **kwargs):\n    return []\n\n\n"
            "def get_close_matches(*args, **kwargs):\n    return []\n\n\nclass SequenceMatcher:\n    pass\n"
        },
        SEEN | COMPROMISED,
        "crlf",
    ),
    Attack(
        "compiled-code-kept",
        "a compiled file of right code, which Python never compares with the source, lies beside the broken source",
        "the code that was tested is not the code that is reviewed and packed",
        {},
        SEEN,
        "saturday",
        arrange=poison,
    ),
    Attack(
        "right-copy-beside-the-tests",
        "a right copy of the product under tests stands before the product, since pytest puts that folder on the path",
        "the copy is tested and the product ships",
        {
            **{
                f"tests/almanac/{name}.py": Copy(f"almanac/{name}.py")
                for name in ("__init__", "days", "feasts", "sheet", "spans", "testing")
            },
        },
        BEHAVIOR,
        "saturday",
    ),
    Attack(
        "runner-pin-moved",
        "the pinned release of the runner becomes a fork",
        "the next environment is made with a runner that nobody reviewed",
        {"requirements-test.txt": (("pytest==9.2.0", "pytest @ git+https://code.example/fork/pytest"),)},
        INSTRUMENT,
    ),
)
if sys.implementation.cache_tag is None:  # no compiled files here
    ATTACKS = tuple(attack for attack in ATTACKS if attack.id != "compiled-code-kept")
