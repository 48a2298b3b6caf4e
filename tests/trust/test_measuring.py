"""An edit of a shared configuration file is one of the instrument unless it is known not to be (contract T3)."""

from __future__ import annotations

import pytest

from admit.trust.measuring import same_measure

TOML = """
[project]
name = "shop"
version = "1"
dependencies = ["attrs"]
[tool.ruff]
line-length = 100
[tool.pytest.ini_options]
addopts = "-q"
"""
INI = "[metadata]\nversion = 1\n[mypy-shop.*]\nstrict = true\n[tool:pytest]\naddopts = -q\n[options]\nzip_safe = no\n"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param('version = "1"', 'version = "2"\ndescription = "A shop"\nclassifiers = []', id="metadata"),
        pytest.param("line-length = 100", "line-length = 120", id="a linter's table"),
        pytest.param("[project]", "# a comment\n\n[project]", id="a comment"),
        pytest.param("[tool.ruff]", "[tool.black]\n[tool.ruff]", id="another linter"),
        pytest.param("[tool.ruff]", "[project.scripts]\nshop = 'shop:main'\n[tool.ruff]", id="a console script"),
        pytest.param("[tool.ruff]", "[project.gui-scripts]\nshop = 'shop:main'\n[tool.ruff]", id="one with windows"),
    ],
)
def test_what_runs_no_test_is_the_same_measure(old: str, new: str) -> None:
    assert same_measure("pyproject.toml", TOML.encode(), TOML.replace(old, new).encode())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param('"-q"', '"-q -k nothing"', id="pytest's options"),
        pytest.param('["attrs"]', '["attrs", "pytest-x"]', id="dependencies"),
        pytest.param("[project]", "[tool.pytest_env]\nA = 1\n[project]", id="a plugin's table"),
        pytest.param("[project]", "[tool.poe.tasks]\ntest = 'true'\n[project]", id="a task runner's table"),
        pytest.param("[project]", "[tool.coverage.run]\nbranch = true\n[project]", id="coverage"),
        pytest.param("[project]", "[build-system]\nrequires = ['x']\n[project]", id="the build"),
        pytest.param("[project]", "[dependency-groups]\ntest = ['x']\n[project]", id="a dependency group"),
        pytest.param("[tool.ruff]", "[project.entry-points.pytest11]\nx = 'x'\n[tool.ruff]", id="an entry point"),
        pytest.param(
            "[tool.ruff]", "[project.scripts]\npytest = 'shop:ok'\n[tool.ruff]", id="a script that is the runner"
        ),
        pytest.param("[tool.ruff]", "[project.scripts]\n'Python3.11' = 'x:y'\n[tool.ruff]", id="the interpreter"),
        pytest.param("[tool.ruff]", "[project.scripts]\n'../pytest' = 'x:y'\n[tool.ruff]", id="a script with a path"),
        pytest.param("[project]", "[project]\nscripts = 1", id="scripts that are no table"),
        pytest.param("[tool.ruff]", "[project.unheard-of]\nx = 'x'\n[tool.ruff]", id="a key that nobody knows"),
        pytest.param("[project]", "[project", id="no longer TOML"),
        pytest.param('version = "1"', 'version = "1"\nversion = "2"', id="a key twice"),
    ],
)
def test_what_may_run_a_test_is_not(old: str, new: str) -> None:
    assert old in TOML
    assert not same_measure("pyproject.toml", TOML.encode(), TOML.replace(old, new).encode())


def test_a_console_script_that_was_there_may_run_the_tests() -> None:
    before = TOML.replace("[tool.ruff]", "[project.scripts]\ncheck = 'shop:check'\n[tool.ruff]")
    assert not same_measure("pyproject.toml", before.encode(), before.replace("shop:check", "shop:ok").encode())
    assert not same_measure("pyproject.toml", before.encode(), TOML.encode())
    more = before.replace("[tool.ruff]", "more = 'shop:more'\n[tool.ruff]")
    assert same_measure("pyproject.toml", before.encode(), more.encode())


@pytest.mark.parametrize("name", ["setup.cfg", "sub/tox.ini"])
def test_sections_that_run_no_test_may_change_in_an_ini_file(name: str) -> None:
    new = INI.replace("version = 1", "version = 2\nauthor = x").replace("strict = true", "strict = false")
    assert same_measure(name, INI.encode(), new.encode())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("-q", "-q -x", id="pytest's options"),
        pytest.param("zip_safe = no", "zip_safe = no\ninstall_requires = x", id="what is installed"),
        pytest.param("version = 1", "version = 1\n[tool:pytest] # x]\naddopts = -x", id="a heading read in two ways"),
        pytest.param("version = 1", "version = 1\n  [tool:pytest]\n  addopts = -x", id="a heading set in"),
        pytest.param("version = 1", "version = 1\x0c[tool:pytest]", id="a line break to some readers"),
        pytest.param("version = 1", "version = 1\r[pytest]\raddopts = -x", id="old line ends"),
        pytest.param("[metadata]", "[DEFAULT]\naddopts = -x\n[metadata]", id="defaults of every section"),
        pytest.param("[metadata]", "[testenv]\ncommands = true\n[metadata]", id="tox"),
    ],
)
def test_other_sections_may_not(old: str, new: str) -> None:
    assert old in INI
    assert not same_measure("setup.cfg", INI.encode(), INI.replace(old, new).encode())


@pytest.mark.parametrize("name", ["pytest.ini", "conftest.py", "Makefile"])
def test_no_other_file_is_looked_into(name: str) -> None:
    assert not same_measure(name, b"[metadata]\nversion = 1\n", b"[metadata]\nversion = 2\n")


@pytest.mark.parametrize(("old", "new"), [(None, b""), (b"", None), (None, None), (b"\xff", b"\xff")])
def test_a_file_that_came_went_or_cannot_be_read_is_not_the_same(old: bytes | None, new: bytes | None) -> None:
    assert not same_measure("pyproject.toml", old, new)
