"""Ways to lose tests, or what runs them, that no edit of a test shows (T2, T3, T4). Real git, real pytest."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import subprocess

    from conftest import Repository

CASES = "CASES = [(4, [2, 2]), (5, [3, 2])]\n"
TABLE = """\
import pytest
from cases import CASES

from shop import split


@pytest.mark.parametrize(("cents", "want"), CASES)
def test_table(cents, want):
    assert split(cents, 2) == want
"""


@pytest.fixture
def base(bare: Repository) -> Repository:
    assert bare.admit("init").returncode == 0
    bare.write("tests/cases.py", CASES)
    bare.write("tests/test_table.py", TABLE)
    bare.write(
        "tests/deep/test_deep.py", "from shop import split\n\n\ndef test_deep():\n    assert split(2, 2) == [1, 1]\n"
    )
    bare.write("ci/strict.ini", "[pytest]\npythonpath = ..\nfilterwarnings = error\n")
    bare.commit("base")
    bare.git("checkout", "-q", "-b", "patch")
    return bare


def judged(repository: Repository, *command: str) -> subprocess.CompletedProcess[str]:
    return repository.admit("run", "--base", "main", *(command or repository.pytest()))


def attribution(done: subprocess.CompletedProcess[str]) -> str:
    return done.stdout.splitlines()[0].partition("attribution=")[2] if done.stdout else done.stderr[-500:]


def whys(repository: Repository) -> dict[str, str]:
    decision = json.loads((repository.root / ".admit" / "decision.json").read_text())
    return {one["node"]: one["record"]["why"] for gate in decision["gates"] for one in gate["nodes"]}


def test_a_case_that_goes_with_a_table_beside_the_tests_is_lost_t2(base: Repository) -> None:
    base.write("tests/cases.py", CASES.replace(", (5, [3, 2])", ""))
    base.commit()
    assert judged(base).returncode == 2
    assert whys(base) == {"tests/test_table.py::test_table[5-want1]": "vanished"}


def test_a_case_that_is_added_there_merges_p3(base: Repository) -> None:
    base.write("tests/cases.py", CASES.replace("(5, [3, 2])", "(5, [3, 2]), (7, [4, 3])"))
    base.commit()
    done = judged(base)
    assert done.returncode == 0, done.stdout


def test_a_folder_that_is_made_to_look_like_an_environment_is_an_edit_of_the_instrument_t3(base: Repository) -> None:
    base.write("tests/deep/pyvenv.cfg", "home = /usr/bin\n")
    base.commit()
    assert attribution(judged(base)) == "instrument-edited"
    assert whys(base) == {"tests/deep/test_deep.py::test_deep": "vanished"}


def test_a_new_module_among_tests_that_hides_one_of_pythons_is_one_too_t3(base: Repository) -> None:
    base.write("tests/statistics.py", "from shop import split as fmean\n")
    base.commit()
    assert attribution(judged(base)) == "instrument-edited"


def test_a_file_that_the_command_names_is_one_too_t3(base: Repository) -> None:
    base.write("ci/strict.ini", "[pytest]\npythonpath = ..\n")
    base.commit()
    assert attribution(judged(base, *base.pytest("-c", "ci/strict.ini", "--rootdir=.", "tests"))) == "instrument-edited"


def test_a_program_that_the_patch_puts_where_the_command_looks_for_it_is_one_too_t3(base: Repository) -> None:
    base.write("env/bin/python", f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (base.root / "env" / "bin" / "python").chmod(0o755)
    base.git("add", "-f", "env")
    base.commit()
    done = base.admit("run", "--base", "main", "--", "env/bin/python", "-m", "pytest", "-q")
    assert done.returncode == 2, done.stdout


def test_a_new_test_with_which_nothing_can_be_collected_any_more_holds_p3(base: Repository) -> None:
    base.write("tests/deep/test_shop.py", "def test_new():\n    pass\n")  # two modules of one name, without packages
    base.commit()
    done = judged(base)
    assert done.returncode == 2, done.stdout
    assert "the suite cannot be collected" in done.stdout


@pytest.mark.parametrize(
    "settle",
    [
        pytest.param(
            "import unittest; unittest.TestCase.assertEqual = lambda self, a, b, msg=None: None", id="unittest"
        ),
        pytest.param("import pytest; type(pytest.approx(1)).__eq__ = lambda self, other: True", id="approx"),
        pytest.param(
            "import pytest, sys; sys.modules['_pytest.raises'].RaisesExc.matches = lambda self, exception: True",
            id="raises",
        ),
    ],
)
def test_what_makes_an_assertion_hold_always_is_seen_by_a_canary_t4(base: Repository, settle: str) -> None:
    base.write("shop.py", f"{settle}\n\n" + (base.root / "shop.py").read_text())
    base.commit()
    assert judged(base).returncode == 2
    decision = json.loads((base.root / ".admit" / "decision.json").read_text())
    reasons = {one["reason"] for gate in decision["gates"] for one in gate["nodes"]}
    assert reasons == {"instrument_compromised"}


def test_a_property_that_asks_for_less_than_the_profile_has_to_have_done_so_on_the_base(base: Repository) -> None:
    less = (
        "import hypothesis\n\nown = hypothesis.settings.max_examples\n"
        "type.__setattr__(hypothesis.settings, 'max_examples', property(lambda self: min(25, own.__get__(self))))\n\n"
    )
    base.write("shop.py", less + (base.root / "shop.py").read_text())
    base.commit()
    assert judged(base).returncode == 2
