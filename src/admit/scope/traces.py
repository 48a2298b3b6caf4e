"""What a process that traces leaves, a JSON record a line (contract S1, S2).

A part is appended to while its process runs, so that one that dies leaves what it knew. What a node shares with others
(a wider fixture, the same lines of a file) stands once and is named by number.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from admit.scope.map import Tracer
    from admit.scope.reached import Reached

TRACE_SCHEMA: Final = "admit.trace/1"

PART: Final = "part-"
"""How the name of a part begins; it ends in `.jsonl`."""


class Encoder:
    """Turn what was reached into the lines of one part."""

    def __init__(self) -> None:
        self._sets: dict[tuple[str, int], int] = {}

    def opening(self, tracer: Tracer | None, python: str) -> bytes:
        """Return the first line: with what it was traced; None in a process that runs no tests itself."""
        return _line({"record": "opening", "schema": TRACE_SCHEMA, "tracer": tracer, "python": python})

    def begun(self, node: str, file: str) -> bytes:
        """Return the line that says that a node begins."""
        return _line({"record": "begun", "node": node, "file": file})

    def node(self, node: str, reached: Reached, uses: Sequence[int]) -> bytes:
        """Return the lines that say what a node reached, and which wider fixtures it uses, by number."""
        return self._reach({"record": "node", "node": node, "uses": list(uses)}, reached)

    def fixture(self, number: int, reached: Reached, uses: Sequence[int]) -> bytes:
        """Return the lines that say what a wider fixture reached in all its time."""
        return self._reach({"record": "fixture", "number": number, "uses": list(uses)}, reached)

    def outside(self, reached: Reached) -> bytes:
        """Return the lines that say what was reached so far while no node ran."""
        return self._reach({"record": "outside"}, reached)

    def left_out(self, nodes: Sequence[str]) -> bytes:
        """Return the line that says which nodes were collected and do not run, as was asked for."""
        return _line({"record": "left_out", "nodes": list(nodes)})

    def closing(self, exit_code: int | None, strangers: Sequence[str]) -> bytes:
        """Return the last line; a worker has no exit code. `strangers` are modules that came from somewhere else."""
        return _line({"record": "closing", "exit_code": exit_code, "strangers": list(strangers)})

    def _reach(self, keys: dict[str, Any], reached: Reached) -> bytes:
        new, numbers = b"", []
        for pair in reached.lines.items():
            number = self._sets.get(pair)
            if number is None:
                number = self._sets[pair] = len(self._sets)
                bits = pair[1].to_bytes(pair[1].bit_length() // 8 + 1).hex()
                new += _line({"record": "lines", "path": pair[0], "bits": bits})
            numbers.append(number)
        return new + _line(
            keys
            | {
                "alive": reached.is_alive,
                "trouble": reached.trouble,
                "spawned": reached.spawned,
                "lines": numbers,
                "opened": sorted(reached.opened),
                "listed": sorted(reached.listed),
            }
        )


def _line(keys: dict[str, Any]) -> bytes:
    return json.dumps(keys, separators=(",", ":")).encode("ascii") + b"\n"
