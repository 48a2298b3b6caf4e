"""Canaries are planted beside a project's tests, whatever its configuration, and see an instrument that lies (T4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from admit.trust import canaries

if TYPE_CHECKING:
    from tests.pytest_plugin.conftest import Parent, Tried

WORD = "5eed"
XDIST = ("xdist", "xdist.looponfail")

PLAIN = """
    from hypothesis import given, strategies as st
    def test_a(): pass
    def test_b(): assert 0
    @given(st.integers())
    def test_p(n): pass
"""


def judged(parent: Parent, *args: str, plugins: tuple[str, ...] = (), env: dict[str, str] | None = None) -> Tried:
    return parent.run("judged", *args, plugins=plugins, env=env, canary=WORD)


def left_in(parent: Parent) -> list[str]:
    stem = canaries.file_stem(WORD)
    return [str(path) for path in parent.project.root.rglob("*") if stem in path.name]


VARIED = [
    pytest.param("", (), "", id="plain"),
    pytest.param("addopts = --import-mode=importlib", (), "", id="importlib"),
    pytest.param("addopts = --import-mode=append", (), "", id="append"),
    pytest.param("", (), "tests/unit/", id="plain in a package"),
    pytest.param("addopts = --import-mode=importlib", (), "tests/unit/", id="importlib in a package"),
    pytest.param("addopts = --import-mode=append", (), "tests/unit/", id="append in a package"),
    pytest.param("addopts = --strict-markers --strict-config", (), "", id="strict"),
    pytest.param("filterwarnings = error", (), "", id="warnings are errors"),
    pytest.param("addopts = --assert=plain", (), "", id="asserts not rewritten"),
    pytest.param("python_files = check_*.py *.py", (), "", id="other files"),
    pytest.param("python_files = test_a.py", (), "", id="one file"),
    pytest.param("python_functions = test_[ab] test_p", (), "", id="other functions"),
    pytest.param("", ("-k", "test_a or test_b or test_p"), "", id="selected by name"),
    pytest.param("", ("-m", "not slow"), "", id="selected by mark"),
    pytest.param("", ("test_a.py::test_a", "test_a.py::test_b", "test_a.py::test_p"), "", id="selected by node"),
    pytest.param("", ("-x",), "", id="first failure"),
    pytest.param("", ("--doctest-modules",), "", id="doctests"),
]


@pytest.mark.parametrize(("setting", "args", "folder"), VARIED)
def test_canaries_are_right_under_a_sound_instrument(
    parent: Parent, setting: str, args: tuple[str, ...], folder: str
) -> None:
    parent.project.write("pytest.ini", f"[pytest]\n{setting}\nmarkers = slow\n")
    parent.project.write(f"{folder}test_a.py", PLAIN)
    if folder:
        parent.project.write("tests/__init__.py", "")
        parent.project.write("tests/unit/__init__.py", "")
    tried = judged(parent, "-q", *args)
    assert tried.wrong() == "", tried.session.stdout + tried.session.stderr
    assert tried.verdicts() == {
        f"{folder}test_a.py::test_a": ("pass", None),
        f"{folder}test_a.py::test_b": ("fail", None),
        f"{folder}test_a.py::test_p": ("pass", None),
    }
    assert (tried.session.exit_code, tried.ended(), tried.problems) == (1, ["finished"], ())
    assert left_in(parent) == []


@pytest.mark.parametrize("dist", ["load", "loadgroup", "worksteal", "loadfile"])
def test_workers_plant_the_same_canaries(parent: Parent, dist: str) -> None:
    parent.project.write("test_a.py", PLAIN)
    tried = judged(parent, "-q", "-n2", f"--dist={dist}", plugins=XDIST, env={"PYTHONDONTWRITEBYTECODE": ""})
    assert tried.wrong() == "", tried.session.stdout + tried.session.stderr
    assert len(tried.planned()) == 3 + len(canaries.planted(WORD))
    assert (tried.ended(), tried.problems, left_in(parent)) == (["finished"], (), [])


def test_canaries_share_the_conftests_of_the_first_test_and_its_order_is_kept(parent: Parent) -> None:
    parent.project.write("tests/test_a.py", "def test_a(): pass\ndef test_b(): pass\ndef test_c(): pass\n")
    parent.project.write(
        "tests/conftest.py",
        """
        import pytest
        order = open("order", "a")
        @pytest.fixture(autouse=True)
        def noted(request):
            print(request.node.name, file=order, flush=True)
        def pytest_collection_modifyitems(items): items.reverse()
        """,
    )
    tried = judged(parent, "-q", "-p", "no:randomly")
    assert tried.wrong() == ""
    names = (parent.project.root / "order").read_text().split()
    first, *rest = canaries.planted(WORD)
    assert names == [first, "test_c", "test_b", "test_a", *rest]


def test_where_nothing_runs_nothing_is_planted(parent: Parent) -> None:
    parent.project.write("test_a.py", "def test_a(): pass\n")
    tried = judged(parent, "-q", "-k", "nothing")
    assert (tried.session.exit_code, tried.planned(), tried.ended()) == (5, [], ["finished"])


def test_reruns_do_not_change_what_canaries_say(parent: Parent) -> None:
    parent.project.write("test_a.py", PLAIN)
    assert judged(parent, "-q", "--reruns=1", plugins=("rerunfailures",)).wrong() == ""


def test_the_users_terminal_shows_planted_failures_in_one_line(parent: Parent) -> None:
    parent.project.write("test_a.py", PLAIN)
    tried = judged(parent)
    out = tried.session.stdout
    assert "admit planted tests of its own, most of which must fail; they are not counted" in out
    assert f"1 failed, 2 passed, {len(canaries.planted(WORD))} planted" in out
    assert all(name not in out for name in canaries.planted(WORD))


def test_tests_outside_the_tree_never_look_like_a_clean_run(parent: Parent) -> None:
    parent.project.write("test_a.py", "def test_a(): pass\n")
    tried = parent.run("judged", "-q", canary=WORD, tree=str(parent.project.folder))
    assert tried.ended() == []
    assert "does not lie in the tree under judgement" in tried.session.stderr


LIES = {
    "outcomes rewritten": """
        import pytest
        @pytest.hookimpl(hookwrapper=True)
        def pytest_runtest_makereport(item, call):
            result = yield
            if call.when == "call": result.get_result().outcome = "passed"
    """,
    "raises accepts no error": """
        import pytest, contextlib
        pytest.raises = lambda *a, **k: contextlib.nullcontext(type("Info", (), {"value": KeyError(1)}))
    """,
    "integers are zeros": """
        from hypothesis import strategies as st
        st.integers = lambda *a, **k: st.just(0)
    """,
    "lists are empty": """
        from hypothesis import strategies as st
        st.lists = lambda *a, **k: st.just([])
    """,
    "given does nothing": """
        import hypothesis
        hypothesis.given = lambda *a, **k: lambda f: lambda: None
    """,
    "examples are dropped": """
        import hypothesis
        hypothesis.example = lambda *a, **k: lambda f: f
    """,
    "skips pass": """
        import pytest
        pytest.skip = lambda *a, **k: None
    """,
    "failures are skipped": """
        import pytest
        @pytest.hookimpl(hookwrapper=True)
        def pytest_pyfunc_call(pyfuncitem):
            result = yield
            if result.excinfo: result.force_exception(pytest.skip.Exception("later"))
    """,
    "nothing is called": """
        def pytest_pyfunc_call(pyfuncitem): return True
    """,
}


@pytest.mark.parametrize("lie", LIES)
def test_a_canary_sees_that(parent: Parent, lie: str) -> None:
    parent.project.write("conftest.py", LIES[lie])
    parent.project.write("test_a.py", "def test_a(): pass\n")
    tried = judged(parent, "-q")
    assert tried.wrong(), tried.session.stdout


def test_stripped_asserts_are_seen(parent: Parent) -> None:
    parent.project.write("test_a.py", "def test_a(): pass\n")
    tried = judged(parent, "-q", env={"PYTHONOPTIMIZE": "1"})
    assert "must fail by an assertion in a module that pytest does not rewrite gave pass" in tried.wrong()


FROM_PRODUCT = {
    "unregisters plugins": """
        import gc
        from _pytest.config import PytestPluginManager
        for manager in [o for o in gc.get_objects() if isinstance(o, PytestPluginManager)]:
            for name, plugin in list(manager.list_name_plugin()):
                if name.startswith("admit"): manager.unregister(plugin)
    """,
    "empties the items": """
        import gc, pytest
        for session in [o for o in gc.get_objects() if isinstance(o, pytest.Session)]: del session.items[1:]
    """,
    "ends the session": "import pytest; pytest.exit('done', returncode=0)",
    "ends the process": "import os; os._exit(0)",
    "hollows the tests": """
        import pytest
        pytest.Function.runtest = lambda self: None
    """,
}


@pytest.mark.parametrize("at", ["import", "run"])
@pytest.mark.parametrize("trick", FROM_PRODUCT)
def test_a_trick_of_the_product_ends_as_a_broken_run(parent: Parent, trick: str, at: str) -> None:
    parent.project.write("shop.py", FROM_PRODUCT[trick])
    body = "import shop\ndef test_b(): assert 0\n" if at == "import" else "def test_b(): import shop\n"
    parent.project.write("test_a.py", f"{body}def test_c(): assert 0\n")
    tried = judged(parent, "-q")
    is_seen = tried.ended() != ["finished"] or bool(tried.wrong())
    assert is_seen or tried.verdicts()["test_a.py::test_c"] == ("fail", None), tried.session.stdout
