"""Whether an edit of a shared configuration file changes how tests are run (contract T3)."""

from __future__ import annotations

import re
import tomllib
from typing import Any, Final

_FREE_PROJECT: Final = frozenset(
    "version description readme license license-files keywords classifiers authors maintainers urls".split()
)
"""Keys of [project] that tell about a project and run nothing. Any other, known or not, measures."""

_STEERING: Final = re.compile(
    r"(py\.?test|python[0-9.]*|pypy[0-9.]*|pip[0-9.]*|admit|coverage|hypothesis|tox|nox|invoke|inv|just|make|uvx?|git|sh|bash|env)"
)
"""Programs that tests are run with: a console script of such a name would be run in its place."""

_FREE_TOOLS: Final[dict[str, str]] = {
    "bandit": "looks for risks in sources",
    "black": "lays sources out",
    "bumpversion": "counts versions",
    "bumpversion2": "the same",
    "codespell": "looks for misspelt words",
    "commitizen": "writes commit messages",
    "flake8": "reads sources",
    "isort": "sorts imports",
    "mypy": "checks types",
    "pydocstyle": "reads docstrings",
    "pylint": "reads sources",
    "pyright": "checks types",
    "ruff": "reads sources, lays them out",
    "towncrier": "writes the change log",
    "vulture": "looks for dead code",
    "yapf": "lays sources out",
}
"""Tables under [tool], and sections of an ini file, of tools that run no test. Any other, known or not, measures."""

_FREE_POETRY: Final = _FREE_PROJECT | {"homepage", "repository", "documentation"}

_FREE_SECTIONS: Final = frozenset(_FREE_TOOLS) | {"metadata", "pycodestyle", "bdist_wheel", "sdist"}


def same_measure(path: str, old: bytes | None, new: bytes | None) -> bool:
    """Return whether two forms of a file measure the same: only known for pyproject.toml, setup.cfg and tox.ini.

    A version, a description, an author, a linter's table, a further console script: none of them runs a test.
    All else may, and what cannot be read is not the same.
    """
    if old is None or new is None:
        return False
    name = path.rpartition("/")[2]
    try:
        if name == "pyproject.toml":
            before, now = _read_toml(old), _read_toml(new)
            _take_new_scripts_out(before, now)
            return _of_toml(before) == _of_toml(now)
        if name in {"setup.cfg", "tox.ini"}:
            return _of_ini(old) == _of_ini(new)
    except (ValueError, RecursionError):
        return False
    return False


def _read_toml(text: bytes) -> dict[str, Any]:
    return tomllib.loads(text.decode("utf-8"))


def _take_new_scripts_out(before: dict[str, Any], now: dict[str, Any]) -> None:
    """Take out of `now` the console scripts that it adds: one that was there may be what runs the tests."""
    for kind in ("scripts", "gui-scripts"):
        old, scripts = (_table(_table(keys, "project"), kind) for keys in (before, now))
        for name in scripts.keys() - old.keys():
            if re.fullmatch(r"[A-Za-z0-9._-]+", name) and not _STEERING.fullmatch(name.lower()):
                del scripts[name]
        if not scripts and not old:
            _table(now, "project").pop(kind, None)


def _of_toml(keys: dict[str, Any]) -> str:
    """Return what measures, spelled so that 1, 1.0 and true are three values."""
    tools = _without(_table(keys, "tool"), frozenset(_FREE_TOOLS))
    if "poetry" in tools:
        tools = {**tools, "poetry": _without(_table(tools, "poetry"), _FREE_POETRY)}
    return repr(_sorted({**keys, "tool": tools, "project": _without(_table(keys, "project"), _FREE_PROJECT)}))


def _table(keys: dict[str, Any], name: str) -> dict[str, Any]:
    found = keys.get(name, {})
    if not isinstance(found, dict):
        raise ValueError(name)
    return found


def _without(table: dict[str, Any], free: frozenset[str]) -> dict[str, Any]:
    return {name: value for name, value in table.items() if name not in free}


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return [(name, _sorted(value[name])) for name in sorted(value)]
    return [_sorted(one) for one in value] if isinstance(value, list) else value


def _of_ini(text: bytes) -> list[str]:
    """Return the lines of all sections but the free ones.

    By line, because readers of ini files differ (pytest's takes `[pytest] # x]` for a section): a section is free if
    each of them sees its heading so.
    """
    kept, is_free = [], False
    whole = text.decode("utf-8")
    if re.search(r"[\v\f\x1c-\x1e\x85\u2028\u2029]", whole):
        raise ValueError("a character that some readers break lines at")
    for line in whole.splitlines():
        if line.lstrip().startswith("["):
            heading = re.fullmatch(r"\[([A-Za-z0-9_.:*-]+)\] *", line)
            is_free = heading is not None and heading[1].partition(":")[0].partition("-")[0] in _FREE_SECTIONS
        if not is_free and line.strip() and not line.startswith(("#", ";")):
            kept.append(line.rstrip())
    return kept
