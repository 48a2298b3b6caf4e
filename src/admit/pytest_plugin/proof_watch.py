"""Watch a side of a proof: who reads sources as text, and which modules are not the worktree's (boundary; P1).

A test that reads the source under test tells two commits apart without running either; one whose project is installed
runs the same code twice. An audit hook cannot be taken away again and hears of much more than files, which doubles the
time of a search by Hypothesis: so it listens in one execution of several, and before that, while modules are imported,
`open` is replaced.
"""

from __future__ import annotations

import builtins
import io
import os
import sys
from typing import TYPE_CHECKING, Any, Final

from admit.prove.seen import Opened

if TYPE_CHECKING:
    from types import FrameType

    from admit.core.context import Trial

SOURCES: Final = (".py", ".pyi", ".pyx", ".pxd")
"""What counts as source, by the end of its name."""

MOST: Final = 20
"""How many files, or modules, are named."""

_INNOCENT: Final = frozenset(
    """
    _frozen_importlib _frozen_importlib_external importlib zipimport runpy traceback warnings logging doctest pdb bdb
    unittest _pytest pytest pluggy hypothesis coverage admit
    """.split()
)
"""Modules that read sources for reasons of their own: to run them, to show them in a traceback, to trace them."""

_ROOTS: Final = ("", "src", "lib")
"""Where a worktree's packages begin, mostly."""


class ProofWatch:
    """See which sources of the worktree its own files read, from now on, until `pause`, and again from `listen` on.

    `opened` holds what was seen so far; a process that is forked off goes on from there.
    """

    def __init__(self, trial: Trial) -> None:
        self._tree = os.path.join(os.path.realpath(trial.tree), "")
        self.opened: set[Opened] = set()
        self._is_looking = False
        self._real = builtins.open
        vars(builtins)["open"] = vars(io)["open"] = self._opened

    def pause(self) -> None:
        """Put back what was replaced."""
        for module in (builtins, io):
            if vars(module)["open"] == self._opened:
                vars(module)["open"] = self._real

    def listen(self) -> None:
        """Hear of every file that this process opens, for as long as it lives."""
        sys.addaudithook(self._heard)

    def _opened(self, file: Any, mode: Any = "r", *args: Any, **keys: Any) -> Any:
        self._hear(os.fspath(file) if isinstance(file, os.PathLike) else file, mode, sys._getframe(1))  # noqa: SLF001
        return self._real(file, mode, *args, **keys)

    def _heard(self, event: str, args: tuple[Any, ...]) -> None:
        if event == "open":
            self._hear(args[0], args[1], sys._getframe(1))  # noqa: SLF001 - there is no other way to the caller

    def _hear(self, path: Any, mode: Any, frame: FrameType) -> None:
        if not self._is_looking and _is_source(path, mode):
            self._is_looking = True
            try:
                self._look(path, frame)
            finally:
                self._is_looking = False

    def _look(self, path: str, frame: FrameType | None) -> None:
        inside = self._inside(os.path.abspath(path))
        if inside is None or len(self.opened) >= MOST:
            return
        while frame is not None:
            if frame.f_globals.get("__name__", "").partition(".")[0] in _INNOCENT:
                return
            reader = self._inside(frame.f_code.co_filename)
            if reader is not None:
                self.opened.add(Opened(inside, reader))
                return
            frame = frame.f_back

    def _inside(self, path: str) -> str | None:
        """Return a path from the worktree's top, None for one outside of it."""
        if not path.startswith(self._tree):
            path = os.path.realpath(path) if os.path.isabs(path) else ""
        return path[len(self._tree) :].replace(os.sep, "/") if path.startswith(self._tree) else None


def _is_source(path: Any, mode: Any) -> bool:
    return isinstance(path, str) and path.endswith(SOURCES) and (mode is None or "r" in str(mode))


def strangers(trial: Trial) -> list[str]:
    """Return `module (path)` for loaded modules that the worktree has as well, and that came from somewhere else.

    A project that is installed, not linked, would run as the same code on both sides.
    """
    tree = os.path.join(os.path.realpath(trial.tree), "")
    ours = {name.partition(".")[0] for root in _ROOTS for name in _names(os.path.join(tree, root))}
    ours -= sys.stdlib_module_names | _INNOCENT | {"conftest", "setup"}
    found = []
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] not in ours:
            continue
        file = getattr(module, "__dict__", {}).get("__file__")
        if not isinstance(file, str) or os.path.realpath(file).startswith(tree):
            continue
        inside = name.replace(".", os.sep)
        places = (os.path.join(tree, root, inside + end) for root in _ROOTS for end in (".py", f"{os.sep}__init__.py"))
        if any(map(os.path.isfile, places)):
            found.append(f"{name} ({file})")
    return sorted(found)[:MOST]


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []
