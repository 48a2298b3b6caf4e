"""Both tracers attribute the lines that ran to whoever ran them, and miss none that an independent tracer has (S1)."""

from __future__ import annotations

import sys
from typing import Any

import pytest

PROGRAMS: dict[str, tuple[str, list[str]]] = {
    "branches": (
        """
        def f(x):
            if x:
                return 1
            return 2
        """,
        ["import m; m.f(1)", "import m; m.f(1)", "import m; m.f(0)"],
    ),
    "generators": (
        """
        def g():
            yield 1
            x = yield 2
            yield 3

        kept = g()
        """,
        ["import m; list(m.g())", "import m; next(m.kept)", "import m; next(m.kept)", "import m; list(m.kept)"],
    ),
    "a generator that goes on in the middle of a line": (
        """
        def g():
            while True:
                print(transformed((yield)))

        def transformed(x):
            return x

        kept = g()
        next(kept)
        """,
        ["import m; m.kept.send(1)", "import m; m.kept.send(2)"],
    ),
    "a generator that is thrown into": (
        """
        def g():
            try:
                yield 1
            except ValueError:
                yield 2

        kept = g()
        next(kept)
        """,
        ["import m; m.kept.throw(ValueError())"],
    ),
    "coroutines": (
        """
        import asyncio

        async def leaf(n):
            await asyncio.sleep(0)
            return n

        async def tree():
            found = await asyncio.gather(leaf(1), leaf(2))
            async for x in numbers():
                found.append(x)
            async with asyncio.timeout(5):
                pass
            return [y async for y in numbers()]

        async def numbers():
            for x in range(2):
                yield x
        """,
        ["import m, asyncio; asyncio.run(m.tree())"] * 2,
    ),
    "threads": (
        """
        import threading

        def work(n):
            if n:
                return n
            return 0

        def start():
            made = [threading.Thread(target=work, args=(n,)) for n in range(2)]
            for one in made:
                one.start()
            for one in made:
                one.join()
        """,
        ["import m; m.start()"] * 2,
    ),
    "recursion": (
        """
        def fac(n):
            if n < 2:
                return 1
            return n * fac(n - 1)

        def endless(n):
            return endless(n + 1)
        """,
        [
            "import m; m.fac(5)",
            "import m; m.fac(1)",
            "import m\ntry:\n    m.endless(0)\nexcept RecursionError:\n    m.fac(3)",
        ],
    ),
    "exceptions": (
        """
        def fails():
            raise ValueError("no")

        def catches(kind):
            try:
                fails()
            except kind:
                return "caught"
            else:
                return "none"
            finally:
                print("done")
        """,
        ["import m; m.catches(ValueError)", "import m; m.catches(KeyError)", "import m; m.fails()"],
    ),
    "comprehensions": (
        """
        def f(n):
            a = [
                x
                for x in range(n)
                if x
            ]
            return {y: y for y in a}, {z for z in a}, sum(w for w in a)
        """,
        ["import m; m.f(3)", "import m; m.f(0)"],
    ),
    "lambdas of one line that were made elsewhere": (
        """
        def make():
            return [
                lambda x: x + 1,
                lambda x: x.gone,
                (n for n in range(3)),
            ]

        made = make()
        """,
        ["import m; m.made[0](1)", "import m; m.made[0](2)", "import m; m.made[1](1)", "import m; list(m.made[2])"] * 2,
    ),
    "nested functions and local classes": (
        """
        def outer(x):
            def inner(y):
                return x + y

            class Local:
                z = inner(1)

                def method(self):
                    return self.z

            return Local().method()
        """,
        ["import m; m.outer(1)"] * 2,
    ),
    "class bodies and properties": (
        """
        class A:
            limit = 3

            @property
            def size(self):
                return self.limit

            @classmethod
            def make(cls):
                return cls()

            @staticmethod
            def plain():
                return 1

            def __eq__(self, other):
                return self.size == other.size
        """,
        ["import m; m.A.make().size", "import m; m.A() == m.A()", "import m; m.A.plain()"],
    ),
    "decorators": (
        """
        import functools

        def twice(f):
            @functools.wraps(f)
            def wrapper(*args):
                return f(*args) + f(*args)
            return wrapper

        @twice
        def one(x):
            return x

        @functools.lru_cache
        def slow(x):
            return x
        """,
        ["import m; m.one(1)", "import m; m.one(2)", "import m; m.slow(1)"],
    ),
    "context managers and match": (
        """
        import contextlib

        @contextlib.contextmanager
        def held():
            try:
                yield 1
            finally:
                print("released")

        def f(x):
            with held() as a, \\
                    held():
                match x:
                    case {"k": v}:
                        return v
                    case [y, *_] if y:
                        return y
                    case _:
                        return a
        """,
        ["import m; m.f({'k': 1})", "import m; m.f([1])", "import m; m.f(3)"],
    ),
    "loops": (
        """
        def f(n):
            for x in range(n):
                if x == 1:
                    continue
                if x == 3:
                    break
            else:
                return "all"
            while n:
                n -= 1
            return n
        """,
        ["import m; m.f(2)", "import m; m.f(5)", "import m; m.f(0)"],
    ),
    "code that is compiled from text under a file's name": (
        """
        def run(text):
            space = {"__file__": __file__}
            exec(compile(text, __file__, "exec"), space)
            return space["h"]()
        """,
        ["import m; m.run('\\n\\n\\ndef h():\\n    return 1')"] * 2,
    ),
}


@pytest.mark.parametrize("program", list(PROGRAMS), ids=lambda name: name.replace(" ", "-"))
def test_no_line_is_missed_that_an_independent_tracer_attributes_to_a_step(steps: Any, program: str) -> None:
    pytest.importorskip("coverage", reason="coverage.py is the independent one")
    text, runs = PROGRAMS[program]
    steps.write("m.py", text)
    runs = ["# untraced\nimport m", *runs]
    ours, theirs = steps.run(*runs), steps.run(*runs, tracer="oracle")
    missed = {
        name: sorted(set(lines) - set(ours[name].lines.get(path, [])))
        for name, owner in theirs.items()
        if name != "step-1"
        for path, lines in owner.lines.items()
    }
    assert not {name: lines for name, lines in missed.items() if lines}
    assert sum(map(len, (owner.lines for owner in theirs.values())))
    assert all(owner.alive for name, owner in ours.items() if name != "step-1")


def test_what_one_step_alone_ran_is_not_attributed_to_another(steps: Any) -> None:
    steps.write("m.py", PROGRAMS["branches"][0])
    found = steps.run("# untraced\nimport m", "import m; m.f(1)", "import m; m.f(0)", "import m")
    inside = [sorted(set(found[f"step-{n}"].lines.get("m.py", [])) & {2, 3, 4}) for n in (2, 3, 4)]
    assert inside == [[2, 3], [2, 4], []]


def test_a_line_is_attributed_to_every_step_that_runs_it(steps: Any) -> None:
    steps.write("m.py", "def f():\n    return 1\n")
    found = steps.run(*["import m; m.f()"] * 5)
    assert all(2 in found[f"step-{n}"].lines["m.py"] for n in range(1, 6))


def test_bodies_that_an_import_runs_belong_to_everybody(steps: Any) -> None:
    steps.write("m.py", "def table():\n    return [1]\n\nTABLE = table()\n\ndef f():\n    return TABLE\n")
    found = steps.run("import m; m.f()", "import m; m.f()")
    assert 2 in found["outside"].lines["m.py"]
    assert [7 in found[f"step-{n}"].lines["m.py"] for n in (1, 2)] == [True, True]


@pytest.mark.skipif(not hasattr(sys, "monitoring"), reason="sys.monitoring is new in Python 3.12")
def test_what_runs_after_an_import_is_no_longer_everybodys(steps_of: Any) -> None:
    steps = steps_of("monitoring")
    steps.write("m.py", "def table():\n    return [1]\n\nTABLE = table()\n\ndef f():\n    return TABLE\n")
    found = steps.run("import m; m.f()")
    assert 7 not in found["outside"].lines["m.py"]


def test_an_import_that_fails_leaves_nothing_behind(steps: Any) -> None:
    steps.write("m.py", "def table():\n    raise ValueError\n\ntable()\n")
    steps.write("n.py", "def f():\n    return 1\n")
    found = steps.run("import m", "import n; n.f()", "import n; n.f()")
    assert 2 in found["outside"].lines["m.py"]
    assert 2 in found["step-3"].lines["n.py"]


def test_files_that_were_not_asked_for_are_not_traced(steps: Any) -> None:
    steps.write("a.py", "def f():\n    return 1\n")
    steps.write("b.py", "def f():\n    return 1\n")
    steps.files = ["b.py"]
    found = steps.run("import a, b; a.f(); b.f()", "import a, b; a.f(); b.f()")
    assert list(found["step-2"].lines) == ["b.py"]


def test_two_files_of_the_same_content_are_told_apart(steps: Any) -> None:
    steps.write("a.py", "def f():\n    return 1\n")
    steps.write("b.py", "def f():\n    return 1\n")
    found = steps.run("# untraced\nimport a, b", "import a; a.f()", "import b; b.f()", "import a; a.f()")
    assert [list(found[f"step-{n}"].lines) for n in (2, 3, 4)] == [["a.py"], ["b.py"], ["a.py"]]


def test_a_tree_that_is_named_through_a_link_is_the_same_tree(steps: Any) -> None:
    steps.write("m.py", "def f():\n    return 1\n")
    link = steps.root / "link"
    link.symlink_to(steps.tree)
    assert 2 in steps.run("import m; m.f()", tree=link)["step-1"].lines["m.py"]


def test_a_link_inside_of_the_tree_is_the_file_that_it_leads_to(steps: Any) -> None:
    steps.write("real/m.py", "def f():\n    return 1\n")
    (steps.tree / "m.py").symlink_to("real/m.py")
    steps.files = ["real/m.py"]
    assert 2 in steps.run("import m; m.f()")["step-1"].lines["real/m.py"]


def test_a_compiled_file_that_names_another_folder_is_its_module_all_the_same(steps: Any) -> None:
    steps.write("m.py", "def f():\n    return 1\n")
    elsewhere = "import py_compile; py_compile.compile('m.py', dfile='/gone/elsewhere/m.py', doraise=True)"
    found = steps.run("import m; m.f()", "import m; m.f()", before=elsewhere)
    assert 2 in found["step-2"].lines["m.py"]


def test_what_is_not_kept_costs_the_next_step_nothing(steps: Any) -> None:
    steps.write("m.py", "def f():\n    return 1\n")
    found = steps.run("import m; m.f()", "# untraced\nimport m; m.f()", "import m; m.f()")
    assert (found["step-2"].lines, 2 in found["step-3"].lines["m.py"]) == ({}, True)


def test_names_with_the_signs_of_a_pattern_are_names(steps: Any) -> None:
    steps.write("a[1]{b}.py", "def f():\n    return 1\n")
    runs = "import importlib.util as u; s = u.spec_from_file_location('m', 'a[1]{b}.py'); m = u.module_from_spec(s)\n"
    runs += "s.loader.exec_module(m)\nm.f()"
    found = steps.run(runs)
    assert 2 in found["step-1"].lines["a[1]{b}.py"]


@pytest.mark.skipif(not hasattr(sys, "monitoring"), reason="sys.monitoring is new in Python 3.12")
def test_modules_whose_compiled_files_name_one_source_are_told_apart(steps_of: Any) -> None:
    steps = steps_of("monitoring")
    steps.write("m.py", "def f():\n    return 1\n")
    other = steps.root / "other"
    other.mkdir()
    (other / "m.py").write_text("def f():\n    return 2\n")
    compiled = (
        "import py_compile\nfor path in ('m.py', '../other/m.py'):\n    py_compile.compile(path, dfile='/gone/m.py')"
    )
    load = "import importlib.util as u, sys\n"
    load += "def load(name, path):\n    s = u.spec_from_file_location(name, path)\n    m = u.module_from_spec(s)\n"
    load += "    sys.modules[name] = m\n    s.loader.exec_module(m)\n"
    load += f"load('o', {str(other / 'm.py')!r}); load('m', {str(steps.tree / 'm.py')!r})"
    found = steps.run(load, "import m, o; o.f(); m.f()", before=compiled)
    assert 2 in found["step-2"].lines["m.py"]
