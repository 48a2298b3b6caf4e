"""What one owner reached so far, while the run goes on: a node, a wider fixture, or the run outside of its nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import FrameType

    from admit.scope.map import Tracer

Hears: TypeAlias = "Callable[[tuple[Any, ...], FrameType | None], None]"
"""What hears of an audit event: its arguments, and the frame that raised it."""


class Reached:
    """What is attributed to one owner; whoever traces adds to it.

    `lines` has, by path from the top of the repository, a bit for each line that ran. `opened` and `listed` are paths
    from there. `spawned` says what could not be followed, empty where there was nothing. `checks` counts how often it
    was asked whether tracing was alive, `seen` how often that was answered by the tracer's own sentinel. `trouble` says
    why it was not. What belongs to an owner that is not `is_kept` is thrown away.
    """

    __slots__ = ("checks", "is_kept", "lines", "listed", "opened", "seen", "spawned", "trouble")

    def __init__(self, *, is_kept: bool = True) -> None:
        self.is_kept = is_kept
        self.lines: dict[str, int] = {}
        self.opened: set[str] = set()
        self.listed: set[str] = set()
        self.spawned = ""
        self.trouble = ""
        self.checks = 0
        self.seen = 0

    @property
    def is_alive(self) -> bool:
        """Return whether every question was answered, and there was one: evidence, not the absence of a complaint."""
        return self.seen == self.checks > 0 and not self.trouble

    def add(self, path: str, bits: int) -> None:
        """Take lines of a file."""
        self.lines[path] = self.lines.get(path, 0) | bits

    def cannot_follow(self, what: str) -> None:
        """Take what went where no tracer follows; the first word of it stands."""
        self.spawned = self.spawned or what

    def went_blind(self, why: str) -> None:
        """Take why lines may have been missed."""
        self.trouble = self.trouble or why


class LineTracer(Protocol):
    """What sees lines and attributes them to the current owner.

    `is_prompt` says that an owner's lines are there as soon as another one is current; else they come with `stop`.
    `hears` names the audit events that it wants to hear of.
    """

    name: Tracer
    is_prompt: bool
    hears: Mapping[str, Hears]

    def start(self, outside: Reached) -> None:
        """Begin, with the run outside of its nodes as current owner; what imports run is always attributed to it."""

    def switch(self, to: Reached) -> None:
        """Attribute what runs from now on to another owner."""

    def check(self) -> None:
        """Run a sentinel; whether it is seen is written down with the current owner."""

    def stop(self) -> None:
        """End; everything is attributed after that."""
