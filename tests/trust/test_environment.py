"""The environment that judged tests run in (contract T3)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from admit.trust.environment import judged_environment


def judged(root: Path, first: tuple[str, ...] = (), **environ: str) -> tuple[dict[str, str], tuple[str, ...]]:
    return judged_environment(environ, root=root, tree=Path("/tree"), pycache=Path("/fresh"), first=first)


@pytest.mark.parametrize(
    "name",
    "PYTEST_ADDOPTS PYTEST_PLUGINS PYTHONOPTIMIZE PYTHONBREAKPOINT PYTHONWARNINGS PYTHONSAFEPATH HYPOTHESIS_PROFILE "
    "COVERAGE_PROCESS_START LD_PRELOAD LD_AUDIT MAKEFLAGS GIT_DIR GIT_OBJECT_DIRECTORY".split(),
)
def test_what_changes_a_run_is_not_passed_on_and_said_aloud(tmp_path: Path, name: str) -> None:
    kept, dropped = judged(tmp_path, **{name: "1"})
    assert name not in kept
    assert dropped == (name,)


@pytest.mark.parametrize("name", ["PATH", "HOME", "VIRTUAL_ENV", "CI", "GIT_AUTHOR_NAME", "PYTHONUTF8", "DATABASE_URL"])
def test_what_tests_need_is_passed_on(tmp_path: Path, name: str) -> None:
    kept, dropped = judged(tmp_path, **{name: "1"})
    assert (kept[name], dropped) == ("1", ())


def test_compiled_modules_go_to_a_fresh_folder(tmp_path: Path) -> None:
    kept, dropped = judged(tmp_path, PYTHONPYCACHEPREFIX="/old", PYTHONDONTWRITEBYTECODE="1")
    assert (kept["PYTHONPYCACHEPREFIX"], kept.get("PYTHONDONTWRITEBYTECODE"), dropped) == ("/fresh", None, ())


def test_python_finds_the_worktree_where_it_would_find_the_checkout(tmp_path: Path) -> None:
    given = os.pathsep.join([f"{tmp_path}/src", "/elsewhere", "lib", str(tmp_path), f"{tmp_path}-not"])
    kept, _ = judged(tmp_path, first=(f"{tmp_path}/ours",), PYTHONPATH=given)
    said = [f"{tmp_path}/ours", "/tree/src", "/elsewhere", "lib", "/tree", f"{tmp_path}-not"]
    assert kept["PYTHONPATH"].split(os.pathsep) == said


def test_a_library_of_python_inside_the_checkout_is_not_passed_on(tmp_path: Path) -> None:
    assert judged(tmp_path, PYTHONHOME=f"{tmp_path}/python") == (judged(tmp_path)[0], ("PYTHONHOME",))
    assert judged(tmp_path, PYTHONHOME="/usr")[0]["PYTHONHOME"] == "/usr"


def test_without_compiled_modules_in_the_commit_python_keeps_its_own_caches() -> None:
    kept, _ = judged_environment({"PYTHONPYCACHEPREFIX": "/x"}, root=Path("/r"), tree=Path("/tree"), pycache=None)
    assert "PYTHONPYCACHEPREFIX" not in kept
