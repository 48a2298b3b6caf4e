"""Whoever behaves otherwise after a patch was in its scope: programs are made up, changed and run (contract S1, S2)."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable
from contextlib import contextmanager
from types import FrameType, GeneratorType
from typing import Any

from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st

from admit.scope.carry import carried
from admit.scope.columns import columns_of
from admit.scope.effects import Diff
from admit.scope.hunks import Edit, Hunk
from admit.scope.map import NodeReach, ScopeMap
from admit.scope.reach import answers
from admit.scope.shape import outline_of, shape_of
from admit.scope.splice import new_shape

PATH = "m.py"
NODES = {f"f{which}({value})": (f"f{which}", value) for which in range(3) for value in range(3)}

# ---------------------------------------------------------------- programs

NUMBERS = st.integers(0, 3)
SIMPLE = st.one_of(
    NUMBERS.map("log({})".format),
    NUMBERS.map("log(x, {})".format),
    NUMBERS.map("x = x + {}".format),
    NUMBERS.map("y = {}".format),
    NUMBERS.map("x = [log(i) for i in range({})]".format),
    NUMBERS.map("x = (lambda: log({}))()".format),
    NUMBERS.map("log(1); log({})".format),
    NUMBERS.map("if x == {}: log(9)".format),
    st.sampled_from(
        [
            "x = y",
            "x = g",
            "g = x",
            "log(y)",
            "log(g)",
            "return x",
            "raise BoomError",
            "pass",
            "break",
            "continue",
            "global g",
            "yield x",
            "del y",
            "# a comment",
            "",
            '"""text"""',
            "x = call(f1, x)",
            "x = call(f2, x)",
            "x = call(inner, x)",
            "x = (x +",
            "     1)",
            '"""',
            "x = 1 \\",
        ]
    ),
)
HEADS = st.one_of(
    NUMBERS.map("if x == {}:".format),
    NUMBERS.map("for i in range({}):".format),
    st.sampled_from(
        [
            "while fuel():",
            "with held():",
            "try:",
            "except BoomError:",
            "else:",
            "finally:",
            "def inner(x):",
            "class C:",
            "elif x == 1:",
            "@wrapped",
            "async def inner(x):",
            "match x:",
            "case 1:",
        ]
    ),
)


BLOCK_HEADS = st.sampled_from(["if x == 1:", "if x:", "for i in range(2):", "while fuel():", "with held():"])
PARTS = frozenset({"x = (x +", "     1)", '"""', "x = 1 \\"})
WHOLE = SIMPLE.filter(lambda text: text not in PARTS)


@st.composite
def blocks(draw: Callable[..., Any], depth: int) -> list[str]:
    """Return the lines of one block, indented from its own column."""
    lines: list[str] = []

    def inner() -> list[str]:
        return [f"    {line}" for line in draw(blocks(depth + 1))]

    for _ in range(draw(st.integers(1, 3))):
        match draw(st.integers(0, 9 if depth < 3 else 5)):
            case 6:
                lines += ["try:", *inner(), "except BoomError:", *inner()]
                lines += draw(st.sampled_from([[], ["finally:", "    log(7)"]]))
            case 7:
                lines += [draw(st.sampled_from(["if x == 2:", "for i in range(x):"])), *inner(), "else:", *inner()]
            case 8:
                lines += ["x = (x +", "     1)", *draw(st.sampled_from([[], ["@wrapped"]])), "def inner(x):", *inner()]
            case 9:
                lines += [draw(BLOCK_HEADS), *inner()]
            case _:
                lines.append(draw(WHOLE))
    return lines


@st.composite
def programs(draw: Callable[..., Any]) -> list[str]:
    lines = draw(st.sampled_from([[], ["h = 0", "", ""]]))[:]
    for which in range(3):
        lines += draw(st.sampled_from([[], ["@wrapped"], [""]]))
        lines += [f"def f{which}(x):", *draw(st.sampled_from([[], ['    """Doc."""']]))]
        lines += [f"    {line}" for line in draw(blocks(1))]
    return lines + draw(st.sampled_from([[], ["log(f0(1))"], ["g = 5"]]))


def compiles(lines: list[str]) -> bool:
    return not outline_of("\n".join(lines).encode(), "").unreadable


@st.composite
def changed(draw: Callable[..., Any], lines: list[str]) -> list[str]:
    """Return a program with one to three lines changed in some way that a person, or nobody, would."""
    made = list(lines)
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(made) - 1))
        indent = made[at][: len(made[at]) - len(made[at].lstrip())]
        if draw(st.integers(0, 3)) == 0:
            indent = " " * 4 * draw(st.integers(0, 4))
        new = indent + draw(st.one_of(SIMPLE, SIMPLE, HEADS))
        match draw(st.integers(0, 5)):
            case 0 | 1:
                made[at] = new
            case 2:
                made.insert(at, new)
            case 3:
                del made[at]
            case 4:
                made[at] = indent + made[at].lstrip()
            case _:
                made[at : at + 2] = [new]
        assume(made and (compiles(made) or draw(st.integers(0, 9)) == 0))
    return made


# ---------------------------------------------------------------- runs


class BoomError(Exception):
    pass


class Stop(BaseException):
    pass


class Run:
    """One program run from the start, as far as it goes: what it did, and which of its lines ran when."""

    def __init__(self, source: str, node: str, *, is_traced: bool) -> None:
        self.did: list[object] = []
        self.outside: set[int] = set()
        self.inside: set[int] = set()
        self._steps = 0
        self._now = self.outside
        self._is_traced = is_traced
        name, value = NODES[node]
        scope = {"log": self._log, "fuel": self._fuel, "call": self._call, "held": self._held, "wrapped": lambda f: f}
        scope |= {"BoomError": BoomError, "g": 0, "__name__": "m"}
        self._do(lambda: exec(compile(source, PATH, "exec"), scope))
        self._now = self.inside
        self._do(lambda: self._used(scope[name](value)))
        self.did.append(scope.get("g"))

    def _do(self, work: Callable[[], object]) -> None:
        before = sys.gettrace()
        if self._is_traced:
            sys.settrace(self._trace)
        try:
            work()
            self.did.append("ended")
        except (Exception, Stop) as error:  # noqa: BLE001 - whatever a made-up program does is what it did
            self.did.append(type(error).__name__)
        finally:
            sys.settrace(before)

    def _trace(self, frame: FrameType, what: str, arg: object) -> object:
        if frame.f_code.co_filename != PATH:
            return None
        if what == "line":
            self._now.add(frame.f_lineno)
        return self._trace

    def _used(self, result: object) -> None:
        if isinstance(result, GeneratorType):
            result = [one for one, _ in zip(result, range(5))]
        if hasattr(result, "close"):
            result.close()
            result = "coroutine"
        self._log("result", result)

    def _log(self, *values: object) -> None:
        self._step()
        self.did.append(tuple(value if isinstance(value, int | str) else type(value).__name__ for value in values))

    def _step(self) -> None:
        self._steps += 1
        if self._steps > 60:
            raise Stop

    def _fuel(self) -> bool:
        self._step()
        return self._steps % 4 != 0

    def _call(self, function: Callable[[object], object], x: object) -> object:
        self._step()
        return function(x)

    @contextmanager
    def _held(self) -> Any:
        yield


def hunks_between(old: list[str], new: list[str]) -> tuple[Hunk, ...]:
    return tuple(
        Hunk(a + 1 if b > a else a, b - a, c + 1 if d > c else c, d - c)
        for tag, a, b, c, d in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
        if tag != "equal"
    )


def bits(lines: set[int]) -> int:
    return sum(1 << line for line in lines)


@settings(
    max_examples=100,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
@given(st.data())
def test_a_node_that_behaves_otherwise_after_a_change_was_in_its_scope(data: st.DataObject) -> None:
    old = data.draw(programs().filter(compiles))
    new = data.draw(changed(old))
    assume(new != old)
    before, after = "\n".join(old) + "\n", "\n".join(new) + "\n"
    runs = {node: Run(before, node, is_traced=True) for node in NODES}
    shape = shape_of(before.encode(), "old")
    outside = {line for run in runs.values() for line in run.outside}
    scope_map = ScopeMap(
        "base",
        "monitoring",
        "3",
        {PATH: shape},
        {node: NodeReach(True, "", {0: bits(run.inside)}, frozenset(), frozenset()) for node, run in runs.items()},
        NodeReach(True, "", {0: bits(outside)}, frozenset(), frozenset()),
        True,
    )
    edit = Edit(PATH, "100644", "100644", "old", "new", False, hunks_between(old, new))
    whole = outline_of(after.encode(), "new")
    parts = new_shape(shape, edit.hunks, after.encode(), "new")
    event("compiled in parts" if parts != whole else "compiled as a whole")
    assert parts.marks == whole.marks
    assert set(parts.functions) <= set(whole.functions)
    diff = Diff("base", "head", (edit,), {PATH: parts})
    assert answers(diff._replace(shapes={PATH: whole}), columns_of(scope_map)) == answers(diff, columns_of(scope_map))
    found, kept = answers(diff, columns_of(scope_map)), carried(scope_map, diff, [PATH])
    executable = shape_of(after.encode(), "new").executable
    for node, run in runs.items():
        reach = found.of(node)
        event(f"{reach.word} {reach.reason.kind}")
        if reach.word != "does_not_cover":
            continue
        later = Run(after, node, is_traced=True)
        assert later.did == run.did, (node, before, after)
        assert bits(later.inside) & executable == kept.nodes[node].lines.get(0, 0) & executable, (node, before, after)
