"""What all processes of a run that traced say together (contract S1, S2).

What is torn, missing or contradictory takes nothing out of the way: the nodes that it is about are not alive.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from admit.scope.map import NOTHING, TRACERS, NodeReach, plus
from admit.scope.traces import TRACE_SCHEMA

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from admit.scope.map import Tracer

_BLIND: Final = NOTHING._replace(alive=False)
_BROKEN: Final = (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError)

NOT_ENDED: Final = "it did not end, or its process did not"


class Traced(NamedTuple):
    """What the parts of a run say together.

    `complete` says that the run ended by itself and was traced in one way. `why` has, for each node that is not alive,
    why. `left_out` are the nodes that were collected and did not run, as was asked for. `strangers` are modules
    of the checkout that were imported from somewhere else. `problems` says in words what is wrong with parts.
    """

    tracer: Tracer | None
    python: str
    nodes: Mapping[str, NodeReach]
    outside: NodeReach
    complete: bool
    why: Mapping[str, str]
    left_out: frozenset[str]
    strangers: tuple[str, ...]
    problems: tuple[str, ...]


def joined(parts: Iterable[tuple[str, bytes]], numbers: Mapping[str, int]) -> Traced:
    """Return what the parts of a run say together, in whatever order they come.

    Args:
        parts: the name and content of each.
        numbers: the number of each traced file, which stands for it in the result.
    """
    read = [_Part(name, numbers, raw) for name, raw in sorted(parts)]
    nodes: dict[str, NodeReach] = {}
    why: dict[str, str] = {}
    outside, problems = NOTHING, [problem for part in read for problem in part.problems]
    for part in read:
        outside = plus(outside, part.outside)
        for node in part.begun:
            reach, trouble = part.reach_of(node)
            nodes[node] = plus(nodes[node], reach) if node in nodes else reach
            if not reach.alive:
                why.setdefault(node, trouble)
    made = sorted({(part.tracer, part.python) for part in read if part.tracer is not None})
    if len(made) > 1:
        problems.append("traced in different ways: " + ", ".join(f"{tracer} on {python}" for tracer, python in made))
    strangers = tuple(sorted({name for part in read for name in part.strangers}))
    if strangers:
        nodes = {node: reach._replace(alive=False) for node, reach in nodes.items()}
    exits = [part.exit_code for part in read if part.exit_code is not None]
    tracer, python = made[0] if made else (None, "")
    left_out = frozenset().union(*(part.left_out for part in read))
    ends = {0, 1, 5} if left_out else {0, 1}  # all passed, some failed, or none was left to run
    is_complete = bool(exits) and ends.issuperset(exits) and len(made) == 1
    return Traced(tracer, python, nodes, outside, is_complete, why, left_out, strangers, tuple(problems))


class _Part:
    """One part, read line by line; what follows a line that cannot be read is not there."""

    def __init__(self, name: str, numbers: Mapping[str, int], raw: bytes) -> None:
        self._numbers = numbers
        self._sets: list[tuple[int, int]] = []
        self._ended: dict[str, list[tuple[NodeReach, list[int], str]]] = {}
        self._fixtures: dict[int, tuple[NodeReach, list[int], str]] = {}
        self.begun: dict[str, tuple[str, int]] = {}
        self.outside = _BLIND
        self.tracer: Tracer | None = None
        self.python = ""
        self.exit_code: int | None = None
        self.strangers: list[str] = []
        self.left_out: set[str] = set()
        self.problems: list[str] = []
        self._state = "new"
        self._read(name, raw)

    def _read(self, name: str, raw: bytes) -> None:
        for number, line in enumerate(raw.splitlines(keepends=True), 1):
            try:
                if not line.endswith(b"\n"):
                    raise ValueError("it ends in the middle of a record")
                self._take(json.loads(line))
            except _BROKEN as error:
                self.problems.append(f"{name}:{number}: cannot be read: {error}")
                self.outside, self.exit_code = self.outside._replace(alive=False), None
                return
        if self._state != "closed":
            self.problems.append(f"{name}: its process did not end by itself")

    def _take(self, keys: dict[str, Any]) -> None:
        record = keys["record"]
        if self._state == "closed" or (self._state == "new") != (record == "opening"):
            raise ValueError(f"{record!r} stands where it cannot")
        match record:
            case "opening":
                self._open(keys)
            case "begun":
                self.begun[_text(keys["node"])] = _text(keys["file"]), self.begun.get(keys["node"], ("", 0))[1] + 1
            case "lines":
                self._sets.append((self._numbers[keys["path"]], int.from_bytes(bytes.fromhex(keys["bits"]))))
            case "node":
                self._ended.setdefault(_text(keys["node"]), []).append(self._reach(keys))
            case "fixture":
                self._fixtures[keys["number"]] = self._reach(keys)
            case "left_out":
                self.left_out.update(_texts(keys["nodes"]))
            case "outside":
                self.outside = self._reach({**keys, "uses": []})[0]
            case "closing":
                self._state, self.exit_code, self.strangers = "closed", keys["exit_code"], _texts(keys["strangers"])
            case other:
                raise ValueError(f"an unknown record {other!r}")

    def _open(self, keys: dict[str, Any]) -> None:
        if keys["schema"] != TRACE_SCHEMA or keys["tracer"] not in {*TRACERS, None}:
            raise ValueError("it is of another version")
        self._state, self.tracer, self.python = "open", keys["tracer"], _text(keys["python"])
        if self.tracer is None:
            self.outside = NOTHING  # nothing of the tests runs there

    def _reach(self, keys: dict[str, Any]) -> tuple[NodeReach, list[int], str]:
        lines: dict[int, int] = {}
        for at in keys["lines"]:
            number, bits = self._sets[at]
            lines[number] = lines.get(number, 0) | bits
        opened, listed = frozenset(_texts(keys["opened"])), frozenset(_texts(keys["listed"]))
        reach = NodeReach(keys["alive"] is True, _text(keys["spawned"]), lines, opened, listed)
        return reach, list(keys["uses"]), _text(keys["trouble"])

    def reach_of(self, node: str) -> tuple[NodeReach, str]:
        """Return what a node reached with the wider fixtures that it uses, and why it is not alive where it is not."""
        file, times = self.begun[node]
        ended = self._ended.get(node, [])
        total, trouble = NOTHING._replace(file=file), ""
        if len(ended) != times:
            total, trouble = total._replace(alive=False), NOT_ENDED
        waiting: list[int] = []
        for reach, uses, said in ended:
            total, trouble = plus(total, reach), trouble or said
            waiting += uses
        seen: set[int] = set()
        while waiting:
            number = waiting.pop()
            if number not in seen:
                seen.add(number)
                reach, uses, said = self._fixtures.get(number, (_BLIND, [], "a fixture that it uses did not end"))
                total, trouble = plus(total, reach), trouble or said
                waiting += uses
        return total, trouble or "" if total.alive else trouble or "its tracer was not seen"


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"no text: {value!r}")
    return value


def _texts(value: object) -> list[str]:
    if not isinstance(value, list):
        raise TypeError(f"no list: {value!r}")
    return [_text(one) for one in value]
