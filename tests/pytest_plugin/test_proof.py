"""One side of a proof: nodes run several times, each time in a process of its own (contract P1, P2)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from admit.prove.seen import FOREIGN, REPLAY, SAID, VERSIONS
from admit.pytest_plugin.foreign import NODE

if TYPE_CHECKING:
    from tests.pytest_plugin.conftest import Parent, Tried

GATES = ("property_check", "fixture_check")


def side(parent: Parent, *only: str, command: tuple[str, ...] = ("-q",), **trial: Any) -> Tried:
    told = {"repeat": 3, "files": tuple(one.partition("::")[0] for one in only), **trial}
    return parent.run("proof", *command, only=only, plugins=("xdist", "xdist.looponfail"), **told)


def records(tried: Tried) -> list[dict[str, Any]]:
    return [line for gate in GATES for line in tried.lines(gate) if line["record"] == "node"]


def checks(tried: Tried) -> dict[str, list[str]]:
    """Return what each test showed, in order, with why."""
    found: dict[str, list[str]] = {}
    for line in records(tried):
        if not line["node"].startswith((SAID, VERSIONS)):
            check = next(line[gate] for gate in GATES if gate in line)
            found.setdefault(line["node"], []).append(line.get("why") or check)
    return found


def said(tried: Tried, node: str) -> list[dict[str, Any]]:
    return [json.loads(line["message"]) for line in records(tried) if line["node"] == SAID + node]


def test_each_named_node_runs_as_often_as_asked_and_no_other(parent: Parent) -> None:
    parent.project.write("test_a.py", "def test_x(): pass\ndef test_y(): assert 0\ndef test_z(): pass\n")
    parent.project.write("test_b.py", "raise SystemExit\n")
    tried = side(parent, "test_a.py::test_x", "test_a.py::test_y")
    assert checks(tried) == {"test_a.py::test_x": ["pass"] * 3, "test_a.py::test_y": ["fail"] * 3}
    assert (tried.problems, tried.ended(), tried.session.exit_code) == ((), ["finished"], 1), tried.session.stderr


def test_a_name_means_all_its_cases(parent: Parent) -> None:
    text = "import pytest\n@pytest.mark.parametrize('n', [1, 2])\ndef test_x(n): pass\ndef test_xy(): pass\n"
    parent.project.write("test_a.py", text)
    assert checks(side(parent, "test_a.py::test_x", repeat=1)) == {
        "test_a.py::test_x[1]": ["pass"],
        "test_a.py::test_x[2]": ["pass"],
    }


def test_no_execution_sees_what_another_left_in_memory(parent: Parent) -> None:
    parent.project.write(
        "test_a.py",
        """
        import pytest
        seen = []
        @pytest.fixture(scope="session")
        def once():
            seen.append("fixture")
        def test_x(once):
            assert seen == ["fixture"]
            seen.append("test")
        """,
    )
    assert checks(side(parent, "test_a.py::test_x")) == {"test_a.py::test_x": ["pass"] * 3}


@pytest.mark.parametrize(
    ("text", "seen", "why"),
    [
        pytest.param("import os\ndef test_x(): os._exit(0)", ["crashed"] * 3, "left without a word", id="leaves"),
        pytest.param(
            "import os\ndef test_x(): os.kill(os.getpid(), 11)", ["crashed"] * 3, "ended by signal 11", id="dies"
        ),
        pytest.param("import pytest\ndef test_x(): pytest.exit('out')", ["crashed"] * 3, "Exit: out", id="pytest.exit"),
        pytest.param("import pytest\ndef test_x(): pytest.skip('no')", ["skip"] * 3, "no", id="skips"),
        pytest.param(
            "import pytest\n@pytest.fixture\ndef f(): raise OSError('gone')\ndef test_x(f): pass",
            ["error_setup"] * 3,
            "OSError: gone",
            id="fixture",
        ),
        pytest.param(
            "import pytest\n@pytest.fixture\ndef f():\n    yield\n    raise OSError('gone')\ndef test_x(f): pass",
            ["error_teardown"] * 3,
            "OSError: gone",
            id="end of a fixture",
        ),
        pytest.param(
            "import unittest\nclass T(unittest.TestCase):\n    def test_x(self):\n"
            "        for n in (1, 2):\n            with self.subTest(n=n):\n                self.assertEqual(n, 1)\n",
            ["fail"] * 3,
            "2 != 1",
            id="subtest",
        ),
    ],
)
def test_what_an_execution_ends_as_is_recorded(parent: Parent, text: str, seen: list[str], why: str) -> None:
    parent.project.write("test_a.py", text)
    tried = side(parent, "test_a.py")
    assert list(checks(tried).values()) == [seen], tried.session.stdout
    assert tried.ended() == ["finished"]
    assert any(why in line.get("message", "") for line in records(tried))


def test_a_flaky_test_shows_both_outcomes_whatever_a_plugin_would_make_of_them(parent: Parent) -> None:
    text = """
        import pathlib
        def test_x():
            mark = pathlib.Path(__file__).with_name("mark")
            there = mark.exists()
            mark.touch()
            assert there
    """
    parent.project.write("test_a.py", text)
    tried = parent.run(
        "proof",
        "-q",
        "--reruns=5",
        plugins=("pytest_rerunfailures",),
        repeat=3,
        only=("test_a.py",),
        files=("test_a.py",),
    )
    assert checks(tried) == {"test_a.py::test_x": ["fail", "pass", "pass"]}


def test_a_file_that_cannot_be_collected_keeps_no_other_from_running(parent: Parent) -> None:
    parent.project.write("test_a.py", "def test_x(): pass\n")
    parent.project.write("test_b.py", "from nowhere import it\ndef test_y(): pass\n")
    tried = side(parent, "test_a.py::test_x", "test_b.py::test_y")
    assert checks(tried)["test_a.py::test_x"] == ["pass"] * 3
    assert checks(tried)["test_b.py"] == ["error_collect", "error_collect"]
    assert tried.ended() == ["finished"]


def test_a_file_outside_of_what_the_project_collects_is_found_too(parent: Parent) -> None:
    parent.project.write("pytest.ini", "[pytest]\ntestpaths = tests\naddopts = -n2 -x\n")
    parent.project.write("tests/test_a.py", "def test_x(): pass\n")
    parent.project.write("proposals/checks.py", "def test_y(): pass\n")
    tried = side(parent, "proposals/checks.py::test_y")
    assert checks(tried) == {"proposals/checks.py::test_y": ["pass"] * 3}, tried.session.stdout


@pytest.mark.parametrize(
    ("body", "exception", "is_import"),
    [
        ("assert 0", "AssertionError", False),
        ("import nowhere", "ModuleNotFoundError", True),
        ("class Mine(ImportError): pass\n    raise Mine", "test_a.test_x.<locals>.Mine", True),
        (
            "raise ExceptionGroup('g', [KeyError(), ValueError()])",
            "ExceptionGroup(KeyError, ValueError)",
            False,
        ),
        ("raise ExceptionGroup('g', [KeyError(), ImportError()])", "ExceptionGroup(ImportError, KeyError)", True),
    ],
)
def test_the_type_of_what_a_test_raised_is_said(parent: Parent, body: str, exception: str, is_import: bool) -> None:
    parent.project.write("test_a.py", f"def test_x():\n    {body}\n")
    found = said(side(parent, "test_a.py::test_x"), "test_a.py::test_x")
    assert [(one["exception"], one["is_import"]) for one in found] == [(exception, is_import)] * 3


PROPERTY = """
    from hypothesis import given, strategies as st
    @given(st.integers(0, 999))
    def test_p(n):
        assert n < LIMIT
"""


def test_a_counterexample_of_the_other_side_is_replayed_beside_the_executions(parent: Parent) -> None:
    parent.project.write("test_a.py", PROPERTY.replace("LIMIT", "5"))
    failed = side(parent, "test_a.py::test_p")
    assert checks(failed) == {"test_a.py::test_p": ["fail"] * 3}
    one = next(line for line in records(failed) if line["node"] == "test_a.py::test_p")
    assert "n=5" in one["counterexample"]
    for limit, own, replay in ((1000, "pass", "pass"), (3, "fail", "fail")):
        parent.project.write("test_a.py", PROPERTY.replace("LIMIT", str(limit)))
        tried = side(parent, "test_a.py::test_p", replay={"test_a.py::test_p": one["reproduce"]})
        assert checks(tried) == {"test_a.py::test_p": [own] * 3, f"{REPLAY}test_a.py::test_p": [replay]}
    assert tried.ended() == ["finished"]
    alone = side(parent, "test_a.py::test_p", repeat=0, replay={"test_a.py::test_p": one["reproduce"]})
    assert checks(alone) == {f"{REPLAY}test_a.py::test_p": ["fail"]}
    assert alone.ended() == ["finished"]


def test_a_property_that_failed_once_fails_again_on_its_counterexample(parent: Parent) -> None:
    text = """
        import pathlib
        from hypothesis import given, strategies as st
        @given(st.integers(0, 999))
        def test_p(n):
            with pathlib.Path(__file__).with_name("seen").open("a") as log:
                log.write(f"{n} ")
            assert n < 5
    """
    parent.project.write("test_a.py", text)
    assert checks(side(parent, "test_a.py::test_p")) == {"test_a.py::test_p": ["fail"] * 3}
    assert (parent.project.root / "seen").read_text().split()[-2:] == ["5", "5"]  # not searched for anew


def test_a_property_that_passes_on_its_own_counterexample_shows_both_outcomes(parent: Parent) -> None:
    text = """
        import pathlib
        from hypothesis import given, strategies as st
        done = pathlib.Path(__file__).with_name("done")
        @given(st.integers(0, 999))
        def test_p(n):
            assert n < 5 or done.exists()
        def teardown_module():
            done.touch()
    """
    parent.project.write("test_a.py", text)
    assert checks(side(parent, "test_a.py::test_p")) == {"test_a.py::test_p": ["fail", "pass", "pass"]}


@pytest.mark.parametrize(
    ("test", "readers"),
    [
        pytest.param("p.read_text()", ["test_a.py"], id="pathlib"),
        pytest.param("open(p, 'rb').read()", ["test_a.py"], id="open"),
        pytest.param("import inspect; inspect.getsource(shop.f)", ["test_a.py"], id="inspect"),
        pytest.param("import tokenize; tokenize.open(str(p)).close()", ["test_a.py"], id="tokenize"),
        pytest.param("import shutil; shutil.copy(p, tmp_path)", ["test_a.py"], id="copied"),
        pytest.param("import conftest; conftest.text(p)", ["conftest.py"], id="by conftest"),
        pytest.param("shop.f()", [], id="run"),
        pytest.param("shop.own()", ["shop.py"], id="by the code itself"),
        pytest.param("import late", [], id="imported"),
        pytest.param("import runpy; runpy.run_path(str(p))", [], id="run as a script"),
        pytest.param("import traceback; traceback.format_exception(shop.error())", [], id="a traceback"),
        pytest.param("p.with_suffix('.txt').read_text()", [], id="another file"),
        pytest.param("p.with_name('new.py').write_text('')", [], id="written"),
    ],
)
def test_who_reads_a_source_as_text_is_seen(parent: Parent, test: str, readers: list[str]) -> None:
    code = """
        def f(): return 1
        def own(): return open(__file__).read()
        def error():
            try: 1 / 0
            except ZeroDivisionError as error: return error
    """
    parent.project.write("shop.py", code)
    parent.project.write("shop.txt", "")
    parent.project.write("late.py", "")
    parent.project.write("conftest.py", "def text(p): return p.read_text()\n")
    parent.project.write(
        "test_a.py", f"import pathlib, shop\np = pathlib.Path(shop.__file__)\ndef test_x(tmp_path):\n    {test}\n"
    )
    tried = side(parent, "test_a.py::test_x", repeat=1)
    assert checks(tried) == {"test_a.py::test_x": ["pass"]}, tried.session.stdout
    (found,) = said(tried, "test_a.py::test_x")
    assert [(path, reader) for path, reader in found["opened"] if path != reader or readers] == [
        ("shop.py", reader) for reader in readers
    ]


def test_a_source_read_while_a_module_is_imported_is_seen_too(parent: Parent) -> None:
    parent.project.write("shop.py", "")
    parent.project.write("test_a.py", "TEXT = open('shop.py').read()\ndef test_x(): pass\n")
    assert ["shop.py", "test_a.py"] in said(side(parent, "test_a.py"), "test_a.py::test_x")[0]["opened"]


def test_a_module_that_is_installed_and_not_the_worktrees_leaves_no_verdict(parent: Parent) -> None:
    elsewhere = parent.project.root.parent / "site"
    (elsewhere / "shop").mkdir(parents=True)
    (elsewhere / "shop" / "__init__.py").write_text("")
    parent.project.write("src/shop/__init__.py", "")
    parent.project.write("test_a.py", "def test_x():\n    import shop\n")
    tried = side(parent, "test_a.py::test_x", env={"PYTHONPATH": str(elsewhere)})
    assert checks(tried)[FOREIGN] == ["conflict", "conflict"]
    assert "shop (" in next(line["message"] for line in records(tried) if line["node"] == FOREIGN)
    tried = side(parent, "test_a.py::test_x", env={"PYTHONPATH": str(parent.project.root / "src")})
    assert FOREIGN not in checks(tried)
    assert FOREIGN == NODE


def test_the_versions_that_ran_the_tests_are_said(parent: Parent) -> None:
    parent.project.write("test_a.py", PROPERTY.replace("LIMIT", "1000"))
    tried = side(parent, "test_a.py::test_p", repeat=1)
    (found,) = [json.loads(line["message"]) for line in records(tried) if line["node"] == VERSIONS]
    assert sorted(found) == ["hypothesis", "pytest", "python"]
    assert found["pytest"] == pytest.__version__
