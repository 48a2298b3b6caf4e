"""Each node is attributed what it reaches, whichever process runs it, and whoever set its fixtures up (S1, S2)."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from admit.scope.map import NodeReach, lines_of, numbers
from admit.scope.told import Told, write_told
from admit.scope.traced import NOT_ENDED, Traced, joined

if not hasattr(sys, "monitoring"):
    pytest.importorskip("coverage", reason="below Python 3.12 coverage.py traces")


class Play(NamedTuple):
    """A run that was traced."""

    traced: Traced
    paths: dict[int, str]
    session: Any
    root: Path

    def lines(self, node: str) -> dict[str, list[int]]:
        """Return the lines in bodies; what else a tracer sees (signatures, decorators) is its own affair."""
        return self._lines(self.traced.nodes[node])

    def _lines(self, reach: NodeReach) -> dict[str, list[int]]:
        found = {self.paths[number]: set(lines_of(bits)) for number, bits in reach.lines.items()}
        inside = {path: bodies((self.root / path).read_text("utf-8")) for path in found}
        return {path: sorted(lines & inside[path]) for path, lines in found.items() if lines & inside[path]}

    def reach(self, node: str) -> NodeReach:
        return self.traced.nodes[node]

    @property
    def outside(self) -> dict[str, list[int]]:
        return self._lines(self.traced.outside)


class Playing:
    """Runs a project's tests and joins what they leave."""

    def __init__(self, project: Any) -> None:
        self.project = project
        self.out = project.root.parent / "out"

    def __call__(self, *args: str, plugins: tuple[str, ...] = (), env: Any = None, **told: Any) -> Play:
        root = self.project.root
        self.out.mkdir(exist_ok=True)
        for path in self.out.iterdir():
            path.unlink()
        files = sorted(path.relative_to(root).as_posix() for path in root.rglob("*.py"))
        wanted = Told(str(root), str(self.out), tuple(files))._replace(**told)
        write_told(self.project.folder, wanted)
        session = self.project.run(*args, plugins=plugins, env=env)
        parts = [(path.name, path.read_bytes()) for path in self.out.iterdir()]
        known = numbers(wanted.files)
        return Play(joined(parts, known), {number: path for path, number in known.items()}, session, root)


@pytest.fixture
def play(project: Any) -> Playing:
    return Playing(project)


MODULE = """
def f():
    return 1

def g():
    return 2
"""


def test_a_node_is_attributed_the_lines_that_it_runs(project: Any, play: Playing) -> None:
    project.write("m.py", MODULE)
    project.write("test_a.py", "import m\ndef test_f():\n    m.f()\ndef test_g():\n    m.g()\n")
    played = play()
    assert [played.lines(f"test_a.py::test_{n}")["m.py"] for n in "fg"] == [[3], [6]]
    assert played.lines("test_a.py::test_f")["test_a.py"] == [3]
    assert [(one.alive, one.spawned, one.file) for one in played.traced.nodes.values()] == [(True, "", "test_a.py")] * 2
    assert (played.traced.complete, played.traced.problems, played.traced.outside.alive) == (True, (), True)
    assert played.traced.tracer == ("monitoring" if hasattr(sys, "monitoring") else "coverage")


def test_what_pytest_reads_and_lists_to_collect_is_nobodys(project: Any, play: Playing) -> None:
    project.write("tests/conftest.py", "import pytest\n@pytest.fixture\ndef x(): return 1\n")
    project.write("tests/__init__.py", "")
    project.write("tests/deep/test_a.py", "def test_f(x): pass\n")
    project.write("tests/deep/data.json", "{}")
    played = play("tests")
    assert (played.traced.outside.opened, played.traced.outside.listed) == (frozenset(), frozenset())


def test_without_its_file_nothing_is_traced(project: Any) -> None:
    project.write(
        "test_a.py", "import sys\ndef test_f():\n    assert 'admit.pytest_plugin.tracing' not in sys.modules\n"
    )
    assert project.run().exit_code == 0


SUITE = {
    "pkg/__init__.py": "",
    "pkg/work.py": """
        import asyncio
        import contextlib
        import functools
        import threading

        def register(f):
            TABLE.append(f.__name__)
            return f

        TABLE = []

        @register
        def plain(x):
            if x:
                return 1
            return 2

        def numbers():
            yield 1
            yield 2

        async def leaf():
            await asyncio.sleep(0)
            return 1

        def start():
            one = threading.Thread(target=plain, args=(1,))
            one.start()
            one.join()

        KEYS = [lambda x: -x,
                lambda x: x]

        class Thing:
            def __init__(self, n):
                self.n = n

            @property
            def size(self):
                return self.n

        @contextlib.contextmanager
        def held():
            try:
                yield 1
            finally:
                plain(0)

        def documented():
            '''Say it.

            >>> documented()
            3
            '''
            return plain(1) + 2

        def session_value():
            return 5

        def closed():
            return 6

        def module_value():
            return 7

        def class_value():
            return 8

        def inner_value():
            return 9
    """,
    "conftest.py": """
        import pytest
        from pkg import work

        @pytest.fixture(scope="session")
        def value():
            yield work.session_value()
            work.closed()

        @pytest.fixture(scope="session")
        def by_name(request):
            return request.getfixturevalue("hidden")

        @pytest.fixture(scope="session")
        def hidden():
            return work.inner_value()

        @pytest.fixture
        def fresh():
            return work.Thing(3)

        @pytest.fixture(scope="module", params=[1, 2])
        def each(request):
            return work.plain(request.param - 1)
    """,
    "test_suite.py": """
        import asyncio
        import unittest
        import pytest
        from pkg import work

        @pytest.fixture(scope="module")
        def shared(value):
            return work.module_value() + value

        @pytest.fixture(scope="module")
        def value(value):
            return value + 1

        def test_one(shared):
            assert shared == 13

        def test_two(shared):
            assert work.plain(0) == 2

        def test_none():
            assert work.plain(1) == 1

        def test_by_name(by_name):
            pass

        def test_by_name_again(by_name):
            pass

        def test_fresh(fresh):
            assert fresh.size == 3

        @pytest.mark.parametrize("x", [0, 1])
        def test_cases(x):
            assert work.plain(x)

        def test_each(each):
            pass

        def test_async():
            asyncio.run(work.leaf())

        def test_thread():
            work.start()

        def test_keys():
            assert sorted([1, 2], key=work.KEYS[0]) == [2, 1]

        def test_keys_again():
            assert sorted([1, 2], key=work.KEYS[0]) == [2, 1]

        def test_generator():
            assert sum(x for x in work.numbers()) == 3

        def test_held():
            with pytest.raises(KeyError):
                with work.held():
                    raise KeyError

        def test_fails():
            assert work.plain(0) == 3

        @pytest.fixture(scope="class")
        def lofty():
            yield work.class_value()
            work.closed()

        class TestClass:
            def test_a(self, lofty):
                pass

            def test_b(self, lofty):
                pass

        class TestUnit(unittest.TestCase):
            @classmethod
            def setUpClass(cls):
                cls.thing = work.Thing(4)

            def setUp(self):
                work.plain(1)

            def test_size(self):
                self.assertEqual(self.thing.size, 4)

            def test_other(self):
                for n in range(2):
                    with self.subTest(n=n):
                        work.plain(n)
    """,
}

ORACLE = """
    import os
    import coverage
    import pytest

    seen = coverage.Coverage(data_file=os.environ["ORACLE"], config_file=False, include=[os.getcwd() + "/*"])
    seen.set_option("run:core", "ctrace")
    seen.start()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(item):
        seen.switch_context(item.nodeid)
        try:
            return (yield)
        finally:
            seen.switch_context("")

    def pytest_unconfigure():
        seen.stop()
        seen.save()
"""


def bodies(text: str) -> set[int]:
    """Return the lines inside of functions' bodies."""
    found: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found |= set(range(node.body[0].lineno, (node.end_lineno or 0) + 1))
    return found


def lay(project: Any, files: dict[str, str]) -> None:
    for name, text in files.items():
        project.write(name, text)


@pytest.fixture(scope="module")
def suite(new_project: Callable[[], Any]) -> Play:
    project = new_project()
    lay(project, SUITE)
    return Playing(project)("--doctest-modules")


def own(suite: Play, node: str, name: str = "pkg/work.py") -> set[str]:
    """Return the text of the lines that a node reaches."""
    text = (suite.root / name).read_text("utf-8").splitlines()
    return {text[line - 1].strip() for line in suite.lines(node).get(name, [])}


def test_no_line_of_a_body_is_missed_that_coverage_has(suite: Play, tmp_path: Path, new_project: Any) -> None:
    coverage = pytest.importorskip("coverage", reason="coverage.py is the independent one")
    project = new_project()
    lay(project, SUITE | {"oracle.py": ORACLE})
    file = tmp_path / "oracle.data"
    project.run("-p", "oracle", "--doctest-modules", "--ignore=oracle.py", env={"ORACLE": str(file), "PYTHONPATH": "."})
    theirs = coverage.CoverageData(str(file))
    theirs.read()
    missed, count = [], 0
    for name in theirs.measured_files():
        path = Path(name).relative_to(project.root).as_posix()
        inside = bodies(Path(name).read_text("utf-8")) if path != "oracle.py" else set()
        for line, nodes in theirs.contexts_by_lineno(name).items():
            for node in filter(None, nodes if line in inside else []):
                count += 1
                if line not in suite.lines(node).get(path, []) + suite.outside.get(path, []):
                    missed.append((node, path, line))
    assert not missed
    assert count > 60


def test_every_node_of_the_suite_is_alive(suite: Play) -> None:
    assert suite.traced.why == {}
    assert len(suite.traced.nodes) == 22
    assert suite.traced.complete


def test_a_wider_fixture_counts_for_every_node_that_uses_it_also_what_it_is_built_on(suite: Play) -> None:
    for node in ("one", "two"):
        assert {"return 5", "return 6", "return 7"} <= own(suite, f"test_suite.py::test_{node}")
    assert not {"return 5", "return 6", "return 7"} & own(suite, "test_suite.py::test_none")


def test_a_fixture_that_another_asks_for_by_name_counts_for_every_node(suite: Play) -> None:
    assert "return 9" in own(suite, "test_suite.py::test_by_name")
    assert "return 9" in own(suite, "test_suite.py::test_by_name_again")


def test_a_fixture_of_a_class_and_its_tear_down_count_for_the_methods(suite: Play) -> None:
    for name in "ab":
        assert {"return 8", "return 6"} <= own(suite, f"test_suite.py::TestClass::test_{name}")


def test_what_unittest_sets_up_once_counts_for_every_method(suite: Play) -> None:
    for name in ("size", "other"):
        assert {"self.n = n", "return 1"} <= own(suite, f"test_suite.py::TestUnit::test_{name}")


def test_parameter_cases_are_nodes_of_their_own(suite: Play) -> None:
    found = [own(suite, f"test_suite.py::test_cases[{x}]") & {"return 1", "return 2"} for x in (0, 1)]
    assert found == [{"return 2"}, {"return 1"}]


def test_a_doctest_is_a_node_like_any(suite: Play) -> None:
    assert "return plain(1) + 2" in own(suite, "pkg/work.py::pkg.work.documented")
    assert suite.reach("pkg/work.py::pkg.work.documented").file == "pkg/work.py"


def test_what_ran_at_collection_is_everybodys(suite: Play) -> None:
    text = (suite.root / "pkg" / "work.py").read_text("utf-8").splitlines()
    assert "return f" in {text[line - 1].strip() for line in suite.outside["pkg/work.py"]}


def test_a_file_that_a_wider_fixture_reads_counts_for_every_node_that_uses_it(project: Any, play: Playing) -> None:
    project.write("data/t.json", "{}")
    project.write(
        "test_a.py",
        """
        import pytest
        @pytest.fixture(scope="session")
        def table():
            return open("data/t.json").read()
        def test_1(table): pass
        def test_2(table): pass
        def test_3(): pass
        """,
    )
    played = play()
    assert [sorted(played.reach(f"test_a.py::test_{n}").opened) for n in (1, 2, 3)] == [["data/t.json"]] * 2 + [[]]


def test_a_process_that_a_wider_fixture_starts_counts_for_every_node_that_uses_it(project: Any, play: Playing) -> None:
    project.write(
        "test_a.py",
        """
        import pytest, subprocess, sys
        def test_0(): pass
        @pytest.fixture(scope="module")
        def server():
            subprocess.run([sys.executable, "-c", ""], check=True)
        def test_1(server): pass
        def test_2(server): pass
        def test_3(): pass
        """,
    )
    played = play()
    assert [bool(played.reach(f"test_a.py::test_{n}").spawned) for n in range(4)] == [False, True, True, False]


def test_a_node_that_forks_says_so_and_its_child_writes_nothing(project: Any, play: Playing) -> None:
    project.write(
        "test_a.py",
        """
        import os
        def test_1():
            child = os.fork()
            if child == 0:
                raise SystemExit(0)
            os.waitpid(child, 0)
        def test_2(): pass
        """,
    )
    played = play()
    assert [(one.alive, bool(one.spawned)) for one in played.traced.nodes.values()] == [(True, True), (True, False)]
    assert (played.traced.problems, len(played.traced.nodes)) == ((), 2)


def test_files_and_nodes_that_were_not_asked_for_are_left_out(project: Any, play: Playing) -> None:
    project.write("m.py", MODULE)
    project.write("test_a.py", "import m\ndef test_f():\n    m.f()\ndef test_g():\n    m.f()\n")
    played = play(files=("m.py",), nodes=("test_a.py::test_g",))
    assert list(played.traced.nodes) == ["test_a.py::test_g"]
    assert played.lines("test_a.py::test_g") == {"m.py": [3]}
    assert played.session.names("fixture_check") == ["test_a.py::test_f", "test_a.py::test_g"]


def test_a_fixture_that_a_node_sets_up_which_was_not_asked_for_counts_for_one_that_was(
    project: Any, play: Playing
) -> None:
    project.write("m.py", MODULE)
    project.write(
        "test_a.py",
        """
        import m, pytest
        @pytest.fixture(scope="module")
        def made():
            return m.f()
        def test_f(made): pass
        def test_g(made): pass
        """,
    )
    assert play(nodes=("test_a.py::test_g",)).lines("test_a.py::test_g")["m.py"] == [3]


def test_a_node_that_is_not_to_run_does_not_and_is_named(project: Any, play: Playing) -> None:
    project.write("test_a.py", "def test_f(): pass\ndef test_g(): pass\n")
    played = play(without=("test_a.py::test_f", "test_a.py::test_gone"))
    assert list(played.traced.nodes) == ["test_a.py::test_g"]
    assert played.traced.left_out == {"test_a.py::test_f"}
    assert "1 deselected" in played.session.stdout


def test_a_run_in_which_nothing_is_left_to_run_is_complete(project: Any, play: Playing) -> None:
    project.write("test_a.py", "def test_f(): pass\n")
    played = play(without=("test_a.py::test_f",))
    assert (played.traced.complete, played.traced.left_out) == (True, {"test_a.py::test_f"})


def test_workers_leave_a_part_each_and_the_controller_says_how_the_run_ended(project: Any, play: Playing) -> None:
    lay(project, SUITE)
    played = play("-n2", "--doctest-modules", plugins=("xdist",))
    assert (len(played.traced.nodes), played.traced.complete, played.traced.problems) == (22, True, ())
    assert {"return 5", "return 7"} <= own(played, "test_suite.py::test_two")
    assert len(list(play.out.iterdir())) == 3


def test_a_worker_that_dies_leaves_its_last_node_not_alive_and_the_others_are(project: Any, play: Playing) -> None:
    project.write("m.py", MODULE)
    project.write(
        "test_a.py",
        """
        import os, m
        def test_1(): m.f()
        def test_2(): os._exit(3)
        def test_3(): m.g()
        def test_4(): m.g()
        """,
    )
    played = play("-n1", plugins=("xdist",))
    reach = played.traced.nodes
    assert not reach["test_a.py::test_2"].alive
    assert [reach[f"test_a.py::test_{n}"].alive for n in (3, 4)] == [True, True]
    assert played.lines("test_a.py::test_3")["m.py"] == [6]
    if played.traced.tracer == "monitoring":  # coverage.py's has nothing to leave before its end
        assert (reach["test_a.py::test_1"].alive, played.traced.why) == (True, {"test_a.py::test_2": NOT_ENDED})


def test_a_run_that_dies_is_not_complete_and_its_last_node_is_not_alive(project: Any, play: Playing) -> None:
    project.write("test_a.py", "import os\ndef test_1(): pass\ndef test_2(): os._exit(0)\ndef test_3(): pass\n")
    played = play()
    assert not played.traced.complete
    assert not played.reach("test_a.py::test_2").alive
    assert "test_a.py::test_3" not in played.traced.nodes


def test_a_run_that_is_interrupted_is_not_complete(project: Any, play: Playing) -> None:
    project.write("test_a.py", "def test_1(): raise KeyboardInterrupt\ndef test_2(): pass\n")
    played = play()
    assert (played.traced.complete, played.reach("test_a.py::test_1").alive) == (False, False)


def test_a_test_that_runs_pytest_in_its_own_process_is_one_node(project: Any, play: Playing) -> None:
    project.write("m.py", MODULE)
    project.write("inner/test_i.py", "import m\ndef test_i(): m.f()\n")
    project.write("test_a.py", "import pytest\ndef test_1(): assert pytest.main(['inner', '-p', 'no:admit']) == 0\n")
    project.write("pytest.ini", "[pytest]\ntestpaths = test_a.py\npythonpath = .\n")
    played = play()
    assert list(played.traced.nodes) == ["test_a.py::test_1"]
    assert 3 in played.lines("test_a.py::test_1")["m.py"]


def test_a_node_that_is_run_again_is_attributed_all_of_its_runs(project: Any, play: Playing) -> None:
    project.write("m.py", MODULE)
    project.write("test_a.py", "import m\nT = [m.f, m.g]\ndef test_1():\n    assert T.pop()() == 1\n")
    played = play("--reruns=1", plugins=("rerunfailures",))
    assert played.lines("test_a.py::test_1")["m.py"] == [3, 6]


def test_a_module_that_is_loaded_before_tracing_begins_counts_as_run_by_everybody(project: Any, play: Playing) -> None:
    project.write("early.py", "def table():\n    return [1]\nTABLE = table()\n")
    project.write("test_a.py", "def test_1(): pass\n")
    played = play("-p", "early", env={"PYTHONPATH": "."})
    assert 2 in played.outside["early.py"]


def test_a_project_that_is_imported_from_somewhere_else_is_not_traced_and_that_is_said(
    project: Any, play: Playing
) -> None:
    project.write("src/pkg.py", MODULE)
    other = project.root.parent / "installed"
    other.mkdir()
    (other / "pkg.py").write_text(MODULE)
    project.write("test_a.py", "import pkg\ndef test_1(): pkg.f()\n")
    played = play(env={"PYTHONPATH": str(other)})
    assert not played.reach("test_a.py::test_1").alive
    assert played.traced.strangers == (f"pkg ({other / 'pkg.py'})",)


def test_a_tree_that_is_named_through_a_link_is_the_same(project: Any, play: Playing) -> None:
    project.write("m.py", MODULE)
    project.write("test_a.py", "import m\ndef test_f():\n    m.f()\n")
    link = project.root.parent / "link"
    link.symlink_to(project.root)
    assert play(tree=str(link)).lines("test_a.py::test_f")["m.py"] == [3]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("import sys\ndef test_1():\n    sys.settrace(None)\n    m.f()\n", id="settrace"),
        pytest.param(
            "import sys\ndef test_1():\n    [sys.monitoring.free_tool_id(t) for t in range(6)]\n    m.f()\n",
            id="monitoring",
            marks=pytest.mark.skipif(not hasattr(sys, "monitoring"), reason="sys.monitoring is new in Python 3.12"),
        ),
        pytest.param(
            "import coverage\ndef test_1():\n    c = coverage.Coverage(data_file=None); c.start(); m.f(); c.stop()\n",
            id="coverage",
        ),
    ],
)
def test_a_test_that_traces_itself_is_not_alive_or_right(project: Any, play: Playing, text: str) -> None:
    if "coverage" in text:
        pytest.importorskip("coverage", reason="coverage.py is not installed")
    project.write("m.py", MODULE)
    project.write("test_a.py", f"import m\n{text}def test_2():\n    m.g()\n")
    played = play()
    for node, line in (("test_1", 3), ("test_2", 6)):
        reach = played.reach(f"test_a.py::{node}")
        assert not reach.alive or line in played.lines(f"test_a.py::{node}").get("m.py", [])


def test_a_file_that_says_what_to_trace_and_cannot_be_read_stops_no_test(project: Any) -> None:
    (project.folder / "tracing.json").write_text("{")
    project.write("test_a.py", "def test_1(): pass\n")
    session = project.run()
    assert session.exit_code == 0
    assert "nothing is traced" in session.stderr
