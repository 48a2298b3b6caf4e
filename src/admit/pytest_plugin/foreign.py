"""Which loaded modules came from another checkout than the one under judgement (contract T7).

An editable install, a path in the environment or a `.pth` file can make the tests of a worktree import the code of the
checkout beside it. Then nothing was measured. Such a session leaves, in both gates' documents, a record of the node
`admit::foreign-module` that gives no verdict (`conflict`) and names the modules: no gate can pass with it.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from admit.core.context import Trial

NODE: Final = "admit::foreign-module"
"""The node under which foreign modules are recorded."""

MOST: Final = 5
"""How many are named."""

_INSTALLED: Final = ("site-packages", "dist-packages")


def foreign_modules(trial: Trial) -> list[str]:
    """Return `module (path)` for loaded modules that came from `trial.elsewhere`, the first few by name."""
    tree = _folder(trial.tree)
    elsewhere = [_folder(path) for path in trial.elsewhere]
    # a virtual environment inside the checkout is no part of it; a checkout inside a prefix (/usr) still is one
    prefixes = [path for path in {_folder(sys.prefix), _folder(sys.exec_prefix)} if path.startswith(tuple(elsewhere))]
    real: dict[str, str] = {}
    found = []
    for name, path in _places():
        folder, base = os.path.split(path)
        place = real.get(folder)
        if place is None:
            place = real[folder] = os.path.realpath(folder)
        whole = os.path.join(place, base)
        if whole.startswith(tree) and os.path.islink(whole):
            whole = os.path.realpath(whole)
        if not whole.startswith(tuple(elsewhere)) or whole.startswith((tree, *prefixes)):
            continue
        if not any(part in _INSTALLED for part in whole.split(os.sep)):
            found.append(f"{name} ({whole})")
    return sorted(found)[:MOST]


def _places() -> Iterator[tuple[str, str]]:
    for name, module in list(sys.modules.items()):
        # not by attribute: modules that load themselves late run code when they are asked
        try:
            seen = object.__getattribute__(module, "__dict__")
        except AttributeError:
            continue
        file = seen.get("__file__")
        if isinstance(file, str) and os.path.isabs(file):
            yield name, file
        elif file is None:
            yield from _folders(name, seen.get("__path__"))


def _folders(name: str, paths: object) -> Iterator[tuple[str, str]]:
    # a namespace package: a list, or an iterable of import's own
    if isinstance(paths, list) or type(paths).__module__.startswith(("_frozen_importlib", "importlib")):
        for path in list(paths):  # type: ignore[call-overload]
            if isinstance(path, str) and os.path.isabs(path):
                yield name, os.path.join(path, "")


def _folder(path: str) -> str:
    return os.path.join(os.path.realpath(path), "")
