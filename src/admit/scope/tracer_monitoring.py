"""See lines through `sys.monitoring` (Python 3.12 and newer), each line once an owner (boundary: this process).

Two tools are needed. The first hears of every code object when it runs for the first time, and never again. The second
hears of lines, in code of traced files alone: each answers once, then is silent until another owner is current. The
first line of a function counts when the function is entered, for a function of one line has no event of its own.
"""

from __future__ import annotations

import sys
from _thread import get_ident
from typing import TYPE_CHECKING, Any, Final

from admit.scope.map import bits_of
from admit.scope.places import is_importing

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import CodeType, FrameType

    from admit.scope.map import Tracer
    from admit.scope.places import Places
    from admit.scope.reached import Hears, Reached

_NAMES: Final = ("admit-code", "admit-lines")
_IDS: Final = (4, 5)
"""Debuggers, coverage, profilers and Hypothesis have numbers of their own (0 to 3), which they must find free."""

_RESUMED: Final = 0x20 | 0x80 | 0x200
"""`CO_GENERATOR`, `CO_COROUTINE`, `CO_ASYNC_GENERATOR`: what goes on in the middle of a line."""

_MOST_CACHED: Final = 64

_pointer: Final = object.__hash__
"""What tells code objects apart: they compare by content, whatever their file, and `id` raises an audit event."""


def is_here() -> bool:
    """Return whether this Python has `sys.monitoring`."""
    return hasattr(sys, "monitoring")


class _Code:
    """A code object of a traced file; `sets` remembers which bits some lines of it make."""

    __slots__ = ("code", "events", "path", "sets")

    def __init__(self, code: CodeType, path: str, events: int) -> None:
        self.code, self.path, self.events = code, path, events
        self.sets: dict[tuple[int, ...], int] = {}

    def bits(self, lines: list[int]) -> int:
        key = tuple(lines)
        bits = self.sets.get(key)
        if bits is None:
            bits = bits_of(lines)
            if len(self.sets) < _MOST_CACHED:
                self.sets[key] = bits
        return bits


class MonitoringTracer:
    """A tracer of lines; there may be one in a process.

    Args:
        places: says which files are traced.
    """

    name: Tracer = "monitoring"
    is_prompt = True

    def __init__(self, places: Places) -> None:
        self._places = places
        self.hears: Mapping[str, Hears] = {}
        self._monitoring: Any = sys.monitoring  # type: ignore[attr-defined, unused-ignore]
        self._tools: tuple[int, ...] = ()
        self._known: dict[int, _Code] = {}
        self._stale: dict[int, _Code] = {}
        self._hits: list[tuple[CodeType, int]] = []
        self._at_import: list[tuple[CodeType, int]] = []
        self._importing: set[int] = set()
        self._plain_line, self._import_line = self._line_callbacks()
        self._entered = self._entry_callback()
        self._sentinel = _Code(_sentinel.__code__, "", self._events(_sentinel.__code__))

    # ------------------------------------------------------------ the four verbs

    def start(self, outside: Reached) -> None:
        """Begin, with the run outside of its nodes as current owner."""
        self._outside = self._current = outside
        self._known[_pointer(self._sentinel.code)] = self._sentinel
        self._install()

    def switch(self, to: Reached) -> None:
        """Attribute what runs from now on to another owner, for whom every line answers again."""
        self._take()
        was, self._current = self._current, to
        if to.is_kept:
            if not self._is_installed():
                was.went_blind(self._why_blind())
                self._install()
            self._answer_again()

    def check(self) -> None:
        """Run the sentinel and see whether its line arrived."""
        self._current.checks += 1
        at = len(self._hits)
        _sentinel()
        line = self._sentinel.code.co_firstlineno + 1
        seen = any(code is self._sentinel.code and number == line for code, number in self._hits[at:])
        if seen and self._is_installed():
            self._current.seen += 1
        else:
            self._is_broken = True
            self._current.went_blind(self._why_blind())

    def stop(self) -> None:
        """End, and give the tools back."""
        self._take()
        if self._is_installed():
            monitoring = self._monitoring
            for entry in self._known.values():
                monitoring.set_local_events(self._tools[1], entry.code, 0)
            monitoring.set_events(self._tools[0], 0)
            for tool in self._tools:
                monitoring.free_tool_id(tool)
        self._tools = ()

    # ------------------------------------------------------------ tools

    def _install(self) -> None:
        """Take the tools, if they are free, and ask for events anew, also of code that is known by now."""
        monitoring, events = self._monitoring, self._monitoring.events
        self._tools, self._is_broken = (), False
        owners = [monitoring.get_tool(tool) for tool in _IDS]
        if any(owner not in {None, name} for owner, name in zip(owners, _NAMES, strict=True)):
            return
        for tool, name, owner in zip(_IDS, _NAMES, owners, strict=True):
            if owner is None:
                monitoring.use_tool_id(tool, name)
        self._tools = _IDS
        self._callbacks = {
            (_IDS[0], events.PY_START): self._on_first,
            (_IDS[1], events.PY_START): self._entered,
            (_IDS[1], events.PY_RESUME): self._resumed,
            (_IDS[1], events.LINE): self._import_line if self._importing else self._plain_line,
        }
        for (tool, event), callback in self._callbacks.items():
            monitoring.register_callback(tool, event, callback)
        monitoring.set_events(_IDS[0], events.PY_START)
        self._stale.update(self._known)
        self._answer_again()

    def _why_blind(self) -> str:
        return "something took its tools away" if self._tools else "no tool of sys.monitoring was free for it"

    def _is_installed(self) -> bool:
        monitoring = self._monitoring
        return (
            bool(self._tools)
            and not self._is_broken
            and tuple(map(monitoring.get_tool, _IDS)) == _NAMES
            and monitoring.get_events(_IDS[0]) == monitoring.events.PY_START
        )

    def _events(self, code: CodeType) -> int:
        events = self._monitoring.events
        resumed: int = events.PY_RESUME if code.co_flags & _RESUMED else 0
        return int(events.LINE | events.PY_START) | resumed

    def _answer_again(self) -> None:
        stale, self._stale = self._stale, {}
        if not self._tools:
            return
        set_local_events, tool = self._monitoring.set_local_events, self._tools[1]
        for entry in stale.values():
            # no event of this tool is wanted everywhere, so that none at all makes it forget what is silent
            set_local_events(tool, entry.code, 0)
            set_local_events(tool, entry.code, entry.events)

    # ------------------------------------------------------------ events

    def _line_callbacks(self) -> tuple[Any, Any]:
        """Return what hears of lines: plainly, and while a module is imported. They are made once, and know no self."""
        disable, hit, slow = self._monitoring.DISABLE, self._hits.append, self._hit_slowly

        def plain(code: CodeType, line: int) -> object:
            hit((code, line))
            return disable

        def importing(code: CodeType, line: int) -> object:
            slow(code, line, sys._getframe(1))  # noqa: SLF001 - there is no other way to the caller
            return disable

        return plain, importing

    def _entry_callback(self) -> Any:
        disable, hit, slow, threads = self._monitoring.DISABLE, self._hits.append, self._hit_slowly, self._importing

        def entered(code: CodeType, _offset: int) -> object:
            if threads:
                slow(code, code.co_firstlineno, sys._getframe(1))  # noqa: SLF001 - as above
            else:
                hit((code, code.co_firstlineno))
            return disable

        return entered

    def _hit_slowly(self, code: CodeType, line: int, frame: FrameType | None) -> None:
        """Take a line when some thread imports a module: what runs for that is not run for the next owner."""
        thread = get_ident()
        if thread in self._importing:
            if is_importing(frame):
                self._at_import.append((code, line))
                return
            self._importing.discard(thread)
            if not self._importing:
                self._hear_lines(self._plain_line)
        self._hits.append((code, line))

    def _hear_lines(self, callback: object) -> None:
        if self._tools:
            self._monitoring.register_callback(self._tools[1], self._monitoring.events.LINE, callback)

    def _on_first(self, code: CodeType, _offset: int) -> object:
        """Hear of a code object that runs for the first time."""
        is_module = code.co_name == "<module>"
        if not is_module and self._places.is_other(code.co_filename):
            return self._monitoring.DISABLE
        frame = sys._getframe(1)  # noqa: SLF001 - there is no other way to the caller
        if is_module and is_importing(frame):
            self._importing.add(get_ident())
            self._hear_lines(self._import_line)
        path = (self._places.loaded if is_module else self._places.traced)(code.co_filename, frame)
        if path is not None and not is_module:  # a module's own lines are everybody's, whoever runs them
            key = _pointer(code)
            if key not in self._known:
                entry = self._known[key] = _Code(code, path, self._events(code))
                self._monitoring.set_local_events(self._tools[1], code, entry.events)
            self._hit_slowly(code, code.co_firstlineno, frame)
        return self._monitoring.DISABLE

    def _resumed(self, code: CodeType, offset: int) -> object:
        """Hear of a generator that goes on, in the middle of a line perhaps."""
        for start, end, line in code.co_lines():
            if start <= offset < end and line is not None:
                self._hit_slowly(code, line, sys._getframe(1))  # noqa: SLF001
        return self._monitoring.DISABLE

    # ------------------------------------------------------------ owners

    def _take(self) -> None:
        """Attribute what was heard so far."""
        self._attribute(self._hits, self._current)
        if self._at_import:
            self._attribute(self._at_import, self._outside)

    def _attribute(self, hits: list[tuple[CodeType, int]], to: Reached) -> None:
        taken = hits[:]
        del hits[: len(taken)]  # another thread may be adding to it
        lines: dict[int, list[int]] = {}
        for code, line in taken:
            key = _pointer(code)
            if key in lines:
                lines[key].append(line)
            else:
                lines[key] = [line]
        for key, numbers in lines.items():
            entry = self._known.get(key)
            if entry is None:  # somebody else asked for events in the name of these tools
                continue
            self._stale[key] = entry
            if to.is_kept and entry.path:
                to.add(entry.path, entry.bits(numbers))


def _sentinel() -> None:
    return
