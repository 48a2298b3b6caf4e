"""Where a path of this process lies in the repository, by its real path: a link to it is the same (boundary)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import FrameType

_CACHES: Final = frozenset({".git", ".hypothesis", ".mypy_cache", ".pytest_cache", ".ruff_cache", "__pycache__"})
"""Folders whose content no commit has, or nobody reads as part of one."""

_IMPORT: Final = "<frozen importlib._bootstrap"


class Places:
    """The tree in which tests run, and which of its files are traced.

    Args:
        tree: the top of the repository, by whatever name.
        files: the files whose lines are wanted, from the top.
        apart: folders inside that hold nothing of the repository, such as a virtual environment.
    """

    def __init__(self, tree: str, files: Iterable[str], apart: Iterable[str] = ()) -> None:
        self.tree: Final = os.path.realpath(tree)
        self._start = os.path.join(self.tree, "")
        self._files = frozenset(files)
        real = (os.path.join(os.path.realpath(path), "") for path in apart)
        self._apart = tuple(path for path in real if path.startswith(self._start) and path != self._start)
        self._known: dict[str, str | None] = {}

    def traced(self, name: str, frame: FrameType | None = None) -> str | None:
        """Return which traced file code comes from, None where it is none of them.

        Args:
            name: the file's name as its code has it, from when it was compiled.
            frame: one that runs it: its module says where it was loaded from, which stands where the two differ.
        """
        try:
            return self._known[name]
        except KeyError:
            found = self._known[name] = self._find(name, frame)
            return found

    def loaded(self, name: str, frame: FrameType) -> str | None:
        """Return which traced file a module comes from, also where another one of that name came from elsewhere."""
        found = self._find(name, frame)
        if found is not None or name not in self._known:
            self._known[name] = found
        return found

    def is_other(self, name: str) -> bool:
        """Return whether code of that name is known to come from no traced file."""
        return self._known.get(name, name) is None

    def _find(self, name: str, frame: FrameType | None) -> str | None:
        if name.startswith("<"):
            return None
        loaded = None if frame is None else frame.f_globals.get("__file__")
        # a compiled file keeps the name of the source that it was made from, in another folder perhaps
        if isinstance(loaded, str) and os.path.basename(loaded) == os.path.basename(name):
            name = loaded
        inside = self.inside(name)
        return inside if inside in self._files else None

    def inside(self, path: str) -> str | None:
        """Return a path from the top, the empty text for the top itself, None for what is not of the repository."""
        real = os.path.realpath(path)
        if real == self.tree:
            return ""
        if not real.startswith(self._start) or real.startswith(self._apart):
            return None
        inside = real[len(self._start) :].replace(os.sep, "/")
        return None if _CACHES.intersection(inside.split("/")) else inside


def is_importing(frame: FrameType | None) -> bool:
    """Return whether a frame runs because some module is imported."""
    while frame is not None:
        if frame.f_code.co_filename.startswith(_IMPORT):
            return True
        frame = frame.f_back
    return False
