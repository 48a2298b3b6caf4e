"""Which folders of a checkout its Python imports from by itself: editable installs (boundary: a child process; T7)."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_PROBE = """
import json, sys
found = [entry for entry in sys.path if entry]
for finder in sys.meta_path:
    module = sys.modules.get(getattr(finder, "__module__", ""))
    mapping = getattr(module, "MAPPING", None)
    if isinstance(mapping, dict):
        found += [str(place).rpartition("/")[0] for place in mapping.values()]
print(json.dumps(found))
"""
"""Entries of `sys.path` come from `.pth` files; setuptools maps package to folder in a finder of its own."""

TIMEOUT_S = 30.0


def editable_folders(environ: Mapping[str, str], top: Path, *, program: str = "python") -> tuple[str, ...]:
    """Return the folders under `top` that Python imports from without being told to; none where it cannot be asked.

    A worktree has to come before them, or both sides of a comparison import the checkout's one source.

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
        entries = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError):
        return ()
    root = os.path.realpath(top)
    real = [os.path.realpath(entry) for entry in entries]
    inside = [entry for entry in real if entry == root or entry.startswith(root + os.sep)]
    return tuple(dict.fromkeys(entry for entry in inside if "site-packages" not in entry.split(os.sep)))
