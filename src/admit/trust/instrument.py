"""What counts as instrument: the files that a patch must not measure itself with, by path (contract T3, T7)."""

from __future__ import annotations

import sys
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

    from admit.repository import Change

Measure: TypeAlias = Literal["control", "runner", "test", "cache", "product"]
"""What a file is to the measurement: under review, how tests run, a test or what it reads, a cache, or the measured.

A cache that a patch checks in is kept from the run, and said aloud: it waits for nobody.
"""

RUNNER_NAMES: Final[dict[str, str]] = {
    "conftest.py": "pytest runs it before any test",
    "pytest.ini": "pytest's configuration; a new one wins over all others",
    ".pytest.ini": "the same",
    "pytest.toml": "the same",
    ".pytest.toml": "the same",
    "tox.ini": "pytest's configuration, and how tox runs it",
    "setup.cfg": "pytest's configuration, and entry points",
    "pyproject.toml": "pytest's configuration, plugins, entry points",
    "noxfile.py": "how nox runs the tests",
    "Makefile": "how make runs them; it can swallow an exit code",
    "makefile": "the same",
    "GNUmakefile": "the same",
    "justfile": "how just runs them",
    ".coveragerc": "what is traced while tests run",
    "sitecustomize.py": "Python imports it at every start",
    "usercustomize.py": "the same",
    "pyvenv.cfg": "pytest passes over a folder that holds one, with all its tests",
    ".env": "variables that change a run",
    ".gitattributes": "what a checkout makes of files",
    ".gitmodules": "where other repositories' files come from",
    ".pre-commit-config.yaml": "what runs before a commit",
    ".gitlab-ci.yml": "how the gates are run",
    "uv.lock": "which versions run the tests",
    "poetry.lock": "the same",
    "pdm.lock": "the same",
    "Pipfile": "the same",
    "Pipfile.lock": "the same",
}
"""Files that say how tests are run, wherever they stand."""

RUNNER_AT_THE_TOP: Final[dict[str, str]] = {
    "tasks.py": "how invoke runs them; deeper, it is a module like others",
}
"""The same, at the top of the workspace alone."""

RUNNER_PATTERNS: Final[dict[str, str]] = {
    "*.pth": "Python runs it at every start, from where packages lie",
    "*.egg-link": "where a package is taken from",
    "requirements*.txt": "which versions run the tests",
    "constraints*.txt": "the same",
}
"""The same by pattern of the name."""

RUNNER_FOLDERS: Final[dict[str, str]] = {
    ".github": "how the gates are run",
    ".venv": "an environment is not part of a patch",
    "conda-meta": "pytest passes over a folder that holds one, with all its tests",
}
"""Folders of which nothing is the product."""

CACHES: Final[dict[str, str]] = {
    "__pycache__": "what runs in place of sources",
    ".pytest_cache": "what a last run failed, which selects tests",
    ".hypothesis": "examples of earlier runs",
    ".mypy_cache": "what a type checker found before",
    ".ruff_cache": "what a linter found before",
}
"""Folders that tools fill, each with what is in it."""

RUNNER_FOLDER_SUFFIXES: Final = (".dist-info", ".egg-info")
"""What Python finds entry points in: pytest loads a plugin that is named there."""

SHADOWED: Final[frozenset[str]] = frozenset(sys.stdlib_module_names) | {
    "_hypothesis_ftz_detector",
    "_hypothesis_globals",
    "_hypothesis_pytestplugin",
    "_pytest",
    "admit",
    "attr",
    "attrs",
    "coverage",
    "execnet",
    "hypothesis",
    "iniconfig",
    "msgspec",
    "packaging",
    "pluggy",
    "py",
    "pygments",
    "pytest",
    "pytest_asyncio",
    "pytest_cov",
    "sortedcontainers",
    "xdist",
}
"""Modules that a new file beside the sources would be imported instead of: the runner's and the standard library's."""

TEST_FOLDERS: Final = ("tests", "__snapshots__")
"""A file under a folder of this name, at any depth, is a test or what one reads; so is all of a `test` at the top."""

TEST_PATTERNS: Final = ("test_*.py", "*_test.py")

_ROOTS: Final = ("", "src/")
"""Where `sys.path` begins, mostly."""

_LINK, _SUBMODULE = "120000", "160000"


class Rules(NamedTuple):
    """What a repository adds: its files under review, and further patterns; `prefix` is where its workspace stands.

    `standing` are paths that the base has at the top and in `src/`: what is added inside of one shadows nothing new,
    unless it makes a package of a folder. `command` are the paths that the test command names: a program, a
    configuration.
    """

    control: frozenset[str]
    tests: tuple[str, ...] = ()
    runner: tuple[str, ...] = ()
    prefix: str = ""
    standing: frozenset[str] = frozenset()
    command: frozenset[str] = frozenset()


def named_in(command: Iterable[str], prefix: str = "") -> frozenset[str]:
    """Return the paths that the words of a command name, from the top: `ci/x`, `-cci/x`, `--config=ci/x`."""
    words = [part for word in command for part in (word, word.rpartition("=")[2], word[2:])]
    return frozenset(_plain(prefix + word) for word in words if word and not word.startswith(("-", "/")))


def _plain(path: str) -> str:
    """Return a path without steps that lead nowhere."""
    parts: list[str] = []
    for part in path.split("/"):
        if part == ".." and parts:
            parts.pop()
        elif part not in {"", "."}:
            parts.append(part)
    return "/".join(parts)


def measure_of(change: Change, rules: Rules) -> Measure:
    """Return what a changed file is to the measurement."""
    path = change.path
    # where file names have no case, one that differs in case alone takes the other's place
    if path in rules.control or path.casefold() in {name.casefold() for name in rules.control}:
        return "control"
    if any(folder in CACHES for folder in path.split("/")[:-1]) or path.endswith((".pyc", ".pyo")):
        return "cache"
    if _is_runner(path, rules) or _shadows(change, rules):
        return "runner"
    if _is_test(path, rules):
        # another repository's commit, or a link that leads out of what is pinned, is more than an edit of a test
        is_more = _SUBMODULE in {change.old_mode, change.new_mode} or _hides_a_module(change)
        return "runner" if is_more else "test"
    return "runner" if path in rules.command else "product"


def _hides_a_module(change: Change) -> bool:
    """Return whether a new module among tests is named like one of the runner's or of Python's: it comes first."""
    name = change.path.rpartition("/")[2]
    return change.is_added and name.endswith(_IMPORTED) and name.partition(".")[0] in SHADOWED


def _is_runner(path: str, rules: Rules) -> bool:
    *folders, name = path.split("/")
    if name in RUNNER_NAMES or any(fnmatchcase(name, pattern) for pattern in RUNNER_PATTERNS):
        return True
    if any(part in RUNNER_FOLDERS or part.endswith(RUNNER_FOLDER_SUFFIXES) for part in (*folders, name)):
        return True
    inside = path.removeprefix(rules.prefix)
    if inside.startswith("requirements/") or inside in RUNNER_AT_THE_TOP:
        return True
    return any(fnmatchcase(path, pattern) for pattern in rules.runner)


def _is_test(path: str, rules: Rules) -> bool:
    *folders, name = path.split("/")
    inside = path.removeprefix(rules.prefix)
    # the name itself too: a link may stand where the folder stood
    if any(part in TEST_FOLDERS for part in (*folders, name)) or inside == "test" or inside.startswith("test/"):
        return True
    return any(fnmatchcase(name, pattern) for pattern in TEST_PATTERNS) or any(
        fnmatchcase(path, pattern) for pattern in rules.tests
    )


def shadow_places(change: Change, prefix: str) -> tuple[tuple[str, str], ...]:
    """Return where a patch puts something under a name of the runner or of the standard library.

    Each is a folder that imports begin at, empty or ending in a slash, and the name that stands directly in it.
    """
    if not (change.path.endswith(_IMPORTED) or change.new_mode in _ELSEWHERE):
        return ()
    inside = (
        (root, change.path.removeprefix(root).partition("/")[0])
        for root in sorted({root for start in _ROOTS for root in (start, prefix + start)})
        if change.path.startswith(root)
    )
    return tuple((root, first) for root, first in inside if first.partition(".")[0] in SHADOWED)


def _shadows(change: Change, rules: Rules) -> bool:
    """Return whether a patch adds what would be imported instead of the runner or the standard library."""
    if change.new_mode in _ELSEWHERE and f"{change.path}/" in (*_ROOTS, rules.prefix + "src/"):
        return True
    return any(_is_new(change, root + first, rules) for root, first in shadow_places(change, rules.prefix))


def _is_new(change: Change, entry: str, rules: Rules) -> bool:
    if change.new_mode in _ELSEWHERE and change.path == entry:
        return True  # what it leads to is not in this commit
    if not change.is_added:
        return False
    # a folder without it loses against the module of its name, and with it wins
    is_package = change.path.removeprefix(f"{entry}/").partition(".")[0] == "__init__"
    return is_package or entry not in rules.standing


_IMPORTED: Final = (".py", ".so", ".pyd")
_ELSEWHERE: Final = (_LINK, _SUBMODULE)
