"""Hear by audit events what no line shows: files read, folders listed, what cannot be followed (boundary).

An audit hook cannot be taken away again; this one is set up in a run that is traced alone, and falls silent with it.
"""

from __future__ import annotations

import os
import sys
from _thread import get_ident
from typing import TYPE_CHECKING, Any, Final

from admit.scope.places import is_importing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from types import FrameType

    from admit.scope.places import Places
    from admit.scope.reached import Hears, Reached

_SPAWNS: Final = {
    "cpython.PyInterpreterState_New": "an interpreter of its own",
    "os.exec": "another program in place of this one",
    "os.fork": "a process (os.fork)",
    "os.forkpty": "a process (os.forkpty)",
    "os.posix_spawn": "a process (os.posix_spawn)",
    "os.spawn": "a process (os.spawn)",
    "os.system": "a process (os.system)",
    "subprocess.Popen": "a process (subprocess)",
}
"""What leads where no tracer follows, by audit event."""

_LOADERS: Final = ("<frozen importlib._bootstrap", "<frozen zipimport", "<frozen runpy")
_REWRITER: Final = os.path.join("_pytest", "assertion", "rewrite.py")
_READERS: Final = ("codecs", "fnmatch", "glob", "io", "os", "pathlib", "tokenize")
"""Modules that read a file or a folder for whoever calls them."""


class Watch:
    """What hears of events from now on, and attributes them to the current owner.

    `current` is that owner. `outside` is the run outside of its nodes, to which all that an import does belongs.

    Args:
        places: tells what lies in the repository.
        outside: also the first owner.
        hears: further events, and who hears of them.
    """

    def __init__(self, places: Places, outside: Reached, hears: Mapping[str, Hears]) -> None:
        self._places = places
        self.outside = self.current = outside
        self._sources: set[str] = set()
        self._threads = frozenset(sys._current_frames())  # noqa: SLF001 - those that only C code started too
        self._children = frozenset(_children())
        self._processes = _processes()
        self._hears: dict[str, Hears] = {event: self._spawns(what) for event, what in _SPAWNS.items()} | {
            "ctypes.dlopen": self._native,
            "open": self._open,
            "os.listdir": self._list,
            "os.scandir": self._list,
            "sqlite3.connect": self._connect,
            **hears,
        }
        sys.addaudithook(self._hook())

    def _hook(self) -> Callable[[str, tuple[Any, ...]], None]:
        hears = self._hears

        def heard(event: str, args: tuple[Any, ...]) -> None:
            if event in hears:  # of a thousand events hardly one
                try:
                    hears[event](args, sys._getframe(1))  # noqa: SLF001 - there is no other way to the caller
                except Exception as error:  # noqa: BLE001 - it would be raised in the test, and is not the test's
                    self.current.went_blind(f"{event}: {type(error).__name__}: {error}")

        return heard

    def stop(self) -> None:
        """Hear of nothing any more."""
        self._hears.clear()

    # ------------------------------------------------------------ events

    def _owner(self, frame: FrameType | None) -> Reached:
        return self.outside if is_importing(frame) else self.current

    def _spawns(self, what: str) -> Hears:
        def heard(_args: tuple[Any, ...], frame: FrameType | None) -> None:
            self._owner(frame).cannot_follow(what)

        return heard

    def _native(self, args: tuple[Any, ...], frame: FrameType | None) -> None:
        """Hear of a library that is loaded; one that an import loads matters only where the repository has it."""
        name = args[0]
        if not isinstance(name, str):
            return  # the process itself
        if is_importing(frame) and ("/" not in name or self._places.inside(name) is None):
            return
        self._owner(frame).cannot_follow(f"native code ({os.path.basename(name)})")

    def _open(self, args: tuple[Any, ...], frame: FrameType | None) -> None:
        path, flags = args[0], args[2]
        if isinstance(path, int) or (isinstance(flags, int) and flags & os.O_ACCMODE == os.O_WRONLY):
            return
        name = os.fsdecode(path)
        if name.endswith((".pyc", ".pyo")):
            return
        inside = self._places.inside(name)
        if inside is None or (inside.endswith(".py") and _is_loader(frame)):
            return
        self._owner(frame).opened.add(inside)
        if inside.endswith(".py"):
            self._sources.add(name)

    def _connect(self, args: tuple[Any, ...], frame: FrameType | None) -> None:
        """Hear of a database, which SQLite opens by itself."""
        if isinstance(args[0], str | bytes | os.PathLike):
            name, _, how = os.fsdecode(args[0]).removeprefix("file:").partition("?")
            if name and name != ":memory:" and "mode=memory" not in how:
                self._open((name, None, os.O_RDWR), frame)

    def _list(self, args: tuple[Any, ...], frame: FrameType | None) -> None:
        path = "." if args[0] is None else args[0]
        if _is_looking(frame):
            return
        if isinstance(path, int):
            path = f"/proc/self/fd/{path}"
        inside = self._places.inside(os.fsdecode(path))
        if inside is not None:
            self._owner(frame).listed.add(inside)

    # ------------------------------------------------------------ the end of an owner

    def look_back(self) -> None:
        """See what the current owner leaves behind, or works with, that the tracer does not follow."""
        current = self.current
        if sys._current_frames().keys() - self._threads - {get_ident()}:  # noqa: SLF001 - as above
            current.cannot_follow("a thread that outlives it")
        if _has_children() and frozenset(_children()) - self._children:
            current.cannot_follow("a process that runs beside it")
        started, self._processes = self._processes, _processes()
        if started != self._processes or started is None:
            current.cannot_follow("a process (multiprocessing)")
        self._forget_sources()

    def _forget_sources(self) -> None:
        """Have sources that were read as text read again by the next owner."""
        cache = getattr(sys.modules.get("linecache"), "cache", {})
        for name in self._sources:
            cache.pop(name, None)
        self._sources.clear()


def _is_looking(frame: FrameType | None) -> bool:
    """Return whether import looks for modules or packages, or pytest for tests."""
    caller = _caller(frame)
    if caller is None:
        return False
    name = str(caller.f_globals.get("__name__"))
    return caller.f_code.co_filename.startswith(_LOADERS) or name.startswith(("_pytest.", "importlib."))


def _is_loader(frame: FrameType | None) -> bool:
    """Return whether a source is read in order to be run."""
    caller = _caller(frame)
    if caller is None:
        return False
    name = caller.f_code.co_filename
    return name.startswith(_LOADERS) or name.endswith(_REWRITER)


def _caller(frame: FrameType | None) -> FrameType | None:
    """Return the frame that had the standard library read a file or a folder for it."""
    while frame is not None and str(frame.f_globals.get("__name__")).partition(".")[0] in _READERS:
        frame = frame.f_back
    return frame


def _has_children() -> bool:
    """Return whether this process has children, at the cost of one system call; none of them is waited for."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _children() -> Iterator[int]:
    """Yield the ids of the children, -1 for those that nobody names; what only counts semaphores is none."""
    tracker = getattr(sys.modules.get("multiprocessing.resource_tracker"), "_resource_tracker", None)
    try:
        for task in os.listdir("/proc/self/task"):
            with open(f"/proc/self/task/{task}/children", encoding="ascii") as stream:
                yield from {int(word) for word in stream.read().split()} - {getattr(tracker, "_pid", None)}
    except (OSError, ValueError):
        if _has_children():
            yield -1


def _processes() -> str | None:
    """Return how many processes `multiprocessing` made so far, as its own counter says: it starts some unheard."""
    module = sys.modules.get("multiprocessing.process")
    if module is None:
        return "count(1)"
    counter = getattr(module, "_process_counter", None)
    return None if counter is None else repr(counter)
