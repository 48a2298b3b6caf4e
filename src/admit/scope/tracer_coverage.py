"""See lines through coverage.py's C tracer, one dynamic context an owner: for Python 3.11 (boundary: this process).

Its trace function can be taken away by whoever sets another one. That is heard of, and the owner counts as not traced.
"""

from __future__ import annotations

import _thread
import os
import sys
import threading
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from admit.errors import UsageError
from admit.scope.map import bits_of
from admit.scope.places import is_importing

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Mapping
    from types import FrameType

    from admit.scope.map import Tracer
    from admit.scope.places import Places
    from admit.scope.reached import Hears, Reached

_ANOTHER: Final = "another collector of coverage.py, or of its kind, is under way"
_GLOB: Final = frozenset("*?[]{}!")
_MOST_NAMED: Final = 200
_SHARED: Final = "+"
"""Ends the context in which an owner ran what belongs to everybody as well."""


def check_coverage() -> None:
    """Refuse to go on without the C tracer.

    Raises:
        UsageError: the extra is not installed, or coverage.py has no C tracer on this machine.
    """
    do = "install admit with its extra beside the tests: pip install 'admit[scope]'"
    try:
        import coverage.tracer
    except ImportError as error:
        raise UsageError(
            "scope", "this Python has no sys.monitoring, and coverage.py's C tracer is not installed", do=do
        ) from error
    if not hasattr(coverage.tracer, "CTracer"):
        raise UsageError("scope", "coverage.py has no C tracer here", do=do)


class CoverageTracer:
    """A tracer of lines; there may be one in a process.

    Args:
        places: says which files are traced.
        files: the same files, from the top.

    Raises:
        UsageError: there is no C tracer.
    """

    name: Tracer = "coverage"
    is_prompt = False

    def __init__(self, places: Places, files: Iterable[str]) -> None:
        check_coverage()
        import coverage

        self._places = places
        self._numbers: dict[Reached, int] = {}
        self._is_busy = self._comes_again = False
        self._coverage: Any = coverage.Coverage(
            data_file=None,
            config_file=False,
            include=_patterns(places.tree, list(files)),
            branch=False,
            messages=False,
            concurrency=["thread", "greenlet"] if find_spec("greenlet") else ["thread"],
        )
        self._coverage.set_option("run:core", "ctrace")
        self._coverage.set_option("run:disable_warnings", ["no-data-collected"])
        self.hears: Mapping[str, Hears] = {"sys.settrace": self._settrace, "exec": self._exec}

    # ------------------------------------------------------------ the four verbs

    def start(self, outside: Reached) -> None:
        """Begin, with the run outside of its nodes as current owner."""
        self._outside = self._current = outside
        self._is_shared = False
        with self._busy():
            self._coverage.start()
        self._collector = self._coverage._collector  # noqa: SLF001 - there is no other way to see who is on top
        self._hook = threading.gettrace()
        self._raw = _thread.start_new_thread
        _thread.start_new_thread = self._start_raw
        self._name(outside)

    def switch(self, to: Reached) -> None:
        """Attribute what runs from now on to another owner."""
        self._current, self._is_shared = to, False
        if self._is_on_top():
            self._name(to)
        else:
            to.went_blind(_ANOTHER)

    def check(self) -> None:
        """Run the sentinel; whether its line arrived is known in the end."""
        self._current.checks += 1
        if not self._is_on_top() or threading.gettrace() is not self._hook:
            self._current.went_blind(_ANOTHER)
        _sentinel()

    def stop(self) -> None:
        """End, and hand each owner its lines."""
        if _thread.start_new_thread == self._start_raw:
            _thread.start_new_thread = self._raw
        if not self._is_on_top():
            for owner in self._numbers:
                owner.went_blind(_ANOTHER)
            return
        with self._busy():
            self._coverage.stop()
            found = self._coverage.get_data()
        owners = list(self._numbers)
        for name in found.measured_files():
            is_own = os.path.realpath(name) == os.path.realpath(__file__)
            path = None if is_own else self._places.traced(name)
            if path is not None or is_own:
                for context, lines in _by_context(found.contexts_by_lineno(name)).items():
                    self._hand(owners[int(context.rstrip(_SHARED))], path, lines, is_shared=context.endswith(_SHARED))

    def _hand(self, owner: Reached, path: str | None, lines: list[int], *, is_shared: bool) -> None:
        if path is not None:
            owner.add(path, bits_of(lines))
            if is_shared:
                self._outside.add(path, bits_of(lines))
        elif _sentinel.__code__.co_firstlineno + 1 in lines:
            owner.seen = owner.checks

    # ------------------------------------------------------------ contexts

    def _name(self, owner: Reached) -> None:
        number = self._numbers.setdefault(owner, len(self._numbers)) if owner.is_kept else ""
        with self._busy():
            self._coverage.switch_context(f"{number}{_SHARED if self._is_shared else ''}" if owner.is_kept else "")

    def _exec(self, args: tuple[Any, ...], frame: FrameType | None) -> None:
        """Hear of a module of the repository that is imported: from then on what the owner runs is everybody's.

        Where the import ends is not heard of, so that it is the rest of what this owner runs.
        """
        code, current = args[0], self._current
        if self._is_shared or current is self._outside or getattr(code, "co_name", "") != "<module>":
            return
        if is_importing(frame) and self._places.inside(code.co_filename) is not None and self._is_on_top():
            self._is_shared = True
            self._name(current if current.is_kept else self._outside)

    def _start_raw(self, *args: Any) -> int:
        """Start a thread past `threading`, where no trace function is handed on; Python 3.11 raises no event there."""
        self._current.cannot_follow("a thread past threading")
        return self._raw(*args)

    # ------------------------------------------------------------ whether it goes on

    def _is_on_top(self) -> bool:
        collectors = self._collector._collectors  # noqa: SLF001 - coverage.py keeps a stack of them
        return bool(collectors) and collectors[-1] is self._collector

    @contextmanager
    def _busy(self) -> Generator[None]:
        self._is_busy = True
        try:
            yield
        finally:
            self._is_busy = False

    def _settrace(self, _args: tuple[Any, ...], frame: FrameType | None) -> None:
        """Hear of a trace function that is set; where it is not this tracer's own doing, lines may be missed."""
        again, self._comes_again = self._comes_again, False
        if self._is_busy or self._is_own_thread(frame):
            return
        if _is_doctest(frame):
            self._comes_again = True  # the C tracer sets itself anew at the next call, whatever is called
        elif not again or frame is None or "settrace" in frame.f_code.co_names:
            self._current.went_blind("the trace function was set by somebody else")

    def _is_own_thread(self, frame: FrameType | None) -> bool:
        """Return whether a new thread begins, as `threading` and the collector let it."""
        if frame is None:
            return False
        module, name = frame.f_globals.get("__name__"), frame.f_code.co_name
        if module == "threading" and name == "_bootstrap_inner":
            return threading.gettrace() is self._hook
        if name == "_start_tracer" and frame.f_back is not None:
            frame = frame.f_back
        return frame.f_code.co_name == "_installation_trace" and frame.f_locals.get("self") is self._collector


def _is_doctest(frame: FrameType | None) -> bool:
    """Return whether doctest puts back the trace function that is there."""
    if frame is None or frame.f_globals.get("__name__") != "doctest" or frame.f_code.co_name != "run":
        return False
    return frame.f_locals.get("save_trace") is sys.gettrace()


def _by_context(found: Mapping[int, list[str]]) -> dict[str, list[int]]:
    lines: dict[str, list[int]] = {}
    for line, contexts in found.items():
        for context in contexts:
            if context:  # what ran for nobody has none
                lines.setdefault(context, []).append(line)
    return lines


def _patterns(tree: str, files: list[str]) -> list[str]:
    """Return what the tracer is to look at; more where a name would be a pattern, and that is left out later."""
    paths = [os.path.join(tree, *name.split("/")) for name in files]
    if len(files) > _MOST_NAMED or any(_GLOB.intersection(path) for path in paths):
        paths = [os.path.join(tree, "*")] if not _GLOB.intersection(tree) else ["*"]
    return [*paths, os.path.realpath(__file__)]


def _sentinel() -> None:
    return
