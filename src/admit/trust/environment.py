"""The environment that judged tests run in: nothing in it that changes a run behind the base's back (contract T3)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

DROPPED: Final[dict[str, str]] = {
    "PYTEST_ADDOPTS": "options that the base does not have",
    "PYTEST_PLUGINS": "plugins that the base does not have",
    "PYTEST_THEME": "the terminal's",
    "PYTHONOPTIMIZE": "takes asserts out",
    "PYTHONSTARTUP": "runs a file in interactive sessions",
    "PYTHONBREAKPOINT": "runs a function of anybody's",
    "PYTHONINSPECT": "waits for a person",
    "PYTHONWARNINGS": "turns warnings on and off",
    "PYTHONPLATLIBDIR": "moves the library",
    "PYTHONUSERBASE": "moves a user's packages",
    "PYTHONPYCACHEPREFIX": "ours is fresh",
    "PYTHONDONTWRITEBYTECODE": "ours goes to a folder of its own",
    "PYTHONSAFEPATH": "takes the folder that `python -m pytest` runs in off the path",
    "PYTHONCASEOK": "finds modules under other names",
    "PYTHONEXECUTABLE": "another interpreter's name",
    "COVERAGE_PROCESS_START": "traces, by a file that a patch may have written",
    "COVERAGE_PROCESS_CONFIG": "the same",
    "LD_PRELOAD": "replaces functions",
    "LD_AUDIT": "the same",
    "DYLD_INSERT_LIBRARIES": "the same",
    "MAKEFLAGS": "options and variables of the make that runs admit: -n runs nothing",
    "MAKEOVERRIDES": "the same",
    "MFLAGS": "the same",
    "GIT_DIR": "points git elsewhere",
    "GIT_WORK_TREE": "points git elsewhere",
    "GIT_INDEX_FILE": "points git elsewhere",
    "GIT_COMMON_DIR": "points git elsewhere",
    "GIT_OBJECT_DIRECTORY": "points git elsewhere",
    "GIT_NAMESPACE": "points git elsewhere",
}
"""Variables that are not passed on, each with what it would do."""

DROPPED_PREFIXES: Final = ("HYPOTHESIS_", "COV_CORE_")

_INSIDE: Final = ("PYTHONHOME",)
"""Variables that are dropped where they lead into the checkout: there a patch may have put what they find."""


def judged_environment(
    environ: Mapping[str, str], *, root: Path, tree: Path, pycache: Path | None, first: Sequence[str] = ()
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the environment of a judged run, and the names of what was not passed on.

    Args:
        environ: the deciding process's.
        root: the checkout; what `PYTHONPATH` names there is taken from the worktree.
        tree: the worktree.
        pycache: a fresh folder for compiled modules, so that those that a commit holds beside its sources are never
            loaded; None where the worktree holds none, which spares compiling all that is installed.
        first: folders that Python looks into before all others.
    """
    kept = {key: value for key, value in environ.items() if key not in DROPPED and not key.startswith(DROPPED_PREFIXES)}
    for key in _INSIDE:
        if any(_mapped(part, root, tree) != part for part in kept.get(key, "").split(os.pathsep)):
            del kept[key]
    dropped = tuple(sorted(key for key in environ.keys() - kept.keys() if key not in _OURS))
    paths = (part for part in environ.get("PYTHONPATH", "").split(os.pathsep) if part)
    mapped = list(dict.fromkeys([*first, *(_mapped(path, root, tree) for path in paths)]))
    kept.pop("PYTHONPATH", None)
    if mapped:
        kept["PYTHONPATH"] = os.pathsep.join(mapped)
    kept.setdefault("PYTHONHASHSEED", "0")
    if pycache is not None:
        kept["PYTHONPYCACHEPREFIX"] = os.fspath(pycache)
    return kept, dropped


_OURS: Final = ("PYTHONPYCACHEPREFIX", "PYTHONDONTWRITEBYTECODE", "PYTEST_THEME")


def _mapped(path: str, root: Path, tree: Path) -> str:
    """Return a folder of the checkout as the worktree has it; one outside of it, or relative, as it is."""
    real = os.path.realpath(path)
    top = os.path.realpath(root)
    if os.path.isabs(path) and _is_in(real, top):
        return os.path.normpath(os.path.join(tree, os.path.relpath(real, top)))
    return path


def _is_in(place: str, folder: str) -> bool:
    return place == folder or place.startswith(folder + os.sep)
