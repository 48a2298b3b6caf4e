"""Whether an edit of a shared configuration file changes how tests are run (contract T3)."""

from __future__ import annotations

import configparser
import tomllib
from typing import Any, Final

_TOOLS: Final = ("pytest", "hypothesis", "coverage", "tox", "nox", "pdm", "poetry", "hatch", "uv")
"""Tables under [tool] that say how tests are run, or with which versions."""

_PROJECT: Final = ("entry-points", "scripts", "gui-scripts", "requires-python")
_SECTIONS: Final = ("pytest", "tool:pytest", "options.entry_points", "coverage", "tox", "testenv", "aliases", "options")


def same_measure(path: str, old: bytes | None, new: bytes | None) -> bool:
    """Return whether two forms of a file measure the same: only known for pyproject.toml, setup.cfg and tox.ini.

    A version, a description, an author: none of them runs a test. What cannot be read is not the same.
    """
    if old is None or new is None:
        return False
    name = path.rpartition("/")[2]
    try:
        if name == "pyproject.toml":
            return _of_toml(old) == _of_toml(new)
        if name in {"setup.cfg", "tox.ini"}:
            return _of_ini(old) == _of_ini(new)
    except (ValueError, configparser.Error, RecursionError):
        return False
    return False


def _of_toml(text: bytes) -> object:
    tree: dict[str, Any] = tomllib.loads(text.decode("utf-8"))
    tools = tree.get("tool", {})
    project = tree.get("project", {})
    known = {"project", "tool"}
    return (
        {name: table for name, table in tools.items() if name in _TOOLS and name not in {"poetry", "pdm"}},
        {name: _without_metadata(tools[name]) for name in ("poetry", "pdm") if name in tools},
        {name: project.get(name) for name in (*_PROJECT, "dependencies", "optional-dependencies")},
        {name: table for name, table in tree.items() if name not in known},  # build-system, dependency-groups, others
    )


def _without_metadata(table: dict[str, Any]) -> dict[str, Any]:
    told = {"version", "description", "authors", "readme", "keywords", "license", "urls", "homepage", "classifiers"}
    return {name: value for name, value in table.items() if name not in told}


def _of_ini(text: bytes) -> object:
    parser = configparser.RawConfigParser(strict=True)
    parser.read_string(text.decode("utf-8"))
    return {
        name: dict(parser[name])
        for name in parser.sections()
        if any(name == one or name.startswith((f"{one}:", f"{one}.")) for one in _SECTIONS)
    }
