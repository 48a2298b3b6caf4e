"""What a checkout's Python imports from it by itself, editable installs, comes from the worktree (boundary; T7).

A line of a `.pth` file puts a folder of the checkout on `sys.path`; setuptools, and the library that other tools take,
map each package to its folder in a finder of their own. A folder of the worktree in front of that is not enough: what
is not there is looked for behind it, a package may have another name than its folder, and a namespace has parts in
both. So every Python of a run moves its own paths, in a module that it imports before anything else.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_MAPS = '''
def maps():
    """Yield what finders of editable installs map packages to: setuptools' tables, and the library `editables`' one."""
    for finder in sys.meta_path:
        module = sys.modules.get(getattr(finder, "__module__", None))
        for owner, name in ((module, "MAPPING"), (module, "NAMESPACES"), (finder, "_redirections")):
            found = getattr(owner, name, None)
            if isinstance(found, dict):
                yield found
'''

_PROBE = f"""
import json, os, sys
{_MAPS}
places = list(sys.path)
for found in maps():
    for place in found.values():
        places += place if isinstance(place, list) else [place]
prefixes = [sys.prefix, sys.exec_prefix, sys.base_prefix]
print()
print(json.dumps([[str(place) for place in places if os.path.isabs(str(place))], prefixes]))
"""

_MOVE = f'''"""Import from the tree under judgement what this Python would import from the checkout beside it."""

import os
import sys
from importlib.machinery import PathFinder

TOP, TREE, HERE = %r
{_MAPS}

def moved(place):
    if isinstance(place, list):
        return [moved(inner) for inner in place]
    if not isinstance(place, str) or not os.path.isabs(place):
        return place
    real = os.path.realpath(place)
    if not (real + os.sep).startswith(TOP + os.sep) or (real + os.sep).startswith((TREE + os.sep, *KEPT)):
        return place
    return place if INSTALLED & set(real.split(os.sep)) else TREE + real[len(TOP) :]


INSTALLED = {{"site-packages", "dist-packages"}}
PREFIXES = [os.path.realpath(place) + os.sep for place in (sys.prefix, sys.exec_prefix, sys.base_prefix)]
KEPT = [place for place in PREFIXES if place.startswith(TOP + os.sep)]
sys.path[:] = dict.fromkeys(moved(place) for place in sys.path if place != HERE)
for table in maps():
    for package in list(table):
        table[package] = moved(table[package])

# a module of this name that was hidden by this one runs as it would have
if (hidden := PathFinder.find_spec("sitecustomize")) and hidden.loader:
    __spec__, __file__ = hidden, hidden.origin
    hidden.loader.exec_module(sys.modules[__name__])
'''

_INSTALLED = {"site-packages", "dist-packages"}

TIMEOUT_S = 30.0


def editable_folders(environ: Mapping[str, str], top: Path, *, program: str = "python") -> tuple[str, ...]:
    """Return what under `top` Python imports from without being told to; nothing where it cannot be asked.

    Args:
        environ: of the run.
        top: the checkout.
        program: the interpreter that the tests run with.
    """
    env = {key: value for key, value in environ.items() if key not in {"PYTHONPATH", "PYTEST_ADDOPTS"}}
    try:
        done = subprocess.run(  # noqa: S603 - the interpreter that is about to run the tests
            [program, "-c", _PROBE], env=env, cwd="/", capture_output=True, check=True, timeout=TIMEOUT_S
        )
        places, prefixes = json.loads(done.stdout.splitlines()[-1])
    except (OSError, ValueError, IndexError, subprocess.SubprocessError):
        return ()
    root = os.path.realpath(top)
    own = [prefix for prefix in map(os.path.realpath, prefixes) if prefix.startswith(root + os.sep)]
    inside = [place for place in map(os.path.realpath, places) if _is_in(place, root)]
    return tuple(
        dict.fromkeys(
            place
            for place in inside
            if not (_INSTALLED & set(place.split(os.sep)) or any(_is_in(place, prefix) for prefix in own))
        )
    )


def moved_imports(places: Sequence[str], top: Path, tree: Path) -> tuple[str, ...]:
    """Return what has to come first on `PYTHONPATH`, so that imports from the checkout become the worktree's.

    Args:
        places: what Python imports from there; without any nothing is written and nothing returned.
        top: the checkout.
        tree: the worktree; a fresh folder is made beside it.
    """
    if not places:
        return ()
    folder = Path(os.path.realpath(tempfile.mkdtemp(prefix="imports-", dir=tree.parent)))
    told = (os.path.realpath(top), os.path.realpath(tree), os.fspath(folder))
    (folder / "sitecustomize.py").write_text(_MOVE % (told,), encoding="utf-8")
    return (os.fspath(folder),)


def _is_in(place: str, folder: str) -> bool:
    return place == folder or place.startswith(folder + os.sep)
