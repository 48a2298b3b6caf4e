"""Parts of a run become one; what is torn, missing or contradictory takes nothing out of the way (contract S2)."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from admit.errors import InputError
from admit.scope.map import bits_of
from admit.scope.reached import Reached
from admit.scope.told import Told, read_told, write_told
from admit.scope.traced import NOT_ENDED, joined
from admit.scope.traces import Encoder

FILES = {"a.py": 0, "b.py": 1}


def reached(lines: dict[str, list[int]] | None = None, *, alive: bool = True, **more: Any) -> Reached:
    one = Reached()
    for path, numbers in (lines or {}).items():
        one.add(path, bits_of(numbers))
    one.checks, one.seen = 1, int(alive)
    for name, value in more.items():
        setattr(one, name, value)
    return one


def part(*nodes: tuple[str, Reached], exit_code: int | None = 0, closed: bool = True) -> bytes:
    encoder = Encoder()
    raw = encoder.opening("monitoring", "3.13.0") + encoder.outside(reached({"b.py": [9]}))
    for name, one in nodes:
        raw += encoder.begun(name, "t.py") + encoder.node(name, one, ())
    return raw + (encoder.closing(exit_code, ()) if closed else b"")


def test_what_several_processes_left_is_put_together_in_any_order() -> None:
    parts = [
        ("1", part(("t.py::a", reached({"a.py": [1, 2]})), exit_code=None)),
        ("2", part(("t.py::b", reached({"a.py": [3]})), exit_code=None)),
        ("3", Encoder().opening(None, "3.13.0") + Encoder().closing(0, ())),
    ]
    results = [joined(order, FILES) for order in itertools.permutations(parts)]
    assert all(result == results[0] for result in results)
    one = results[0]
    assert (one.complete, one.tracer, one.python, one.problems) == (True, "monitoring", "3.13.0", ())
    assert {node: reach.lines for node, reach in one.nodes.items()} == {"t.py::a": {0: 0b110}, "t.py::b": {0: 0b1000}}
    assert one.outside.lines == {1: 1 << 9}
    assert one.outside.alive


def test_a_node_that_ran_twice_reached_what_both_runs_did() -> None:
    raw = part(("n", reached({"a.py": [1]})), ("n", reached({"a.py": [2]})))
    assert joined([("1", raw)], FILES).nodes["n"].lines == {0: 0b110}


def test_a_node_that_began_more_often_than_it_ended_is_not_alive() -> None:
    encoder = Encoder()
    raw = encoder.opening("monitoring", "3.13.0") + encoder.begun("n", "t.py")
    found = joined([("1", raw)], FILES)
    assert (found.nodes["n"].alive, found.why, found.complete) == (False, {"n": NOT_ENDED}, False)
    assert "did not end by itself" in found.problems[0]


def test_a_node_is_alive_only_if_its_wider_fixtures_ended_alive() -> None:
    for up, down, alive in ((True, True, True), (True, False, False), (False, True, False), (True, None, False)):
        encoder = Encoder()
        raw = encoder.opening("monitoring", "3.13.0") + encoder.outside(reached()) + encoder.begun("n", "t.py")
        raw += encoder.node("n", reached({"a.py": [1]}), [0])
        raw += encoder.fixture(0, reached({"a.py": [2]}, alive=up), [1])
        if down is not None:
            raw += encoder.fixture(1, reached({"b.py": [3]}, alive=down), [])
        found = joined([("1", raw + encoder.closing(0, ()))], FILES)
        assert found.nodes["n"].alive is alive
        assert found.nodes["n"].lines[0] == 0b110
        assert bool(found.why) is not alive


@pytest.mark.parametrize("exit_code", [2, 3, 4, 5, None])
def test_a_run_that_did_not_end_as_a_run_of_tests_ends_is_not_complete(exit_code: int | None) -> None:
    assert not joined([("1", part(("n", reached()), exit_code=exit_code))], FILES).complete


def test_without_any_part_there_is_nothing_that_is_complete() -> None:
    found = joined([], FILES)
    assert (found.complete, found.tracer, found.nodes) == (False, None, {})


def test_wherever_a_part_is_torn_no_node_is_alive_that_had_not_ended_and_nothing_of_the_outside_is_known() -> None:
    whole = part(("x", reached({"a.py": [1]})), ("y", reached({"a.py": [2]}, spawned="a process")))
    for cut in range(len(whole)):
        found = joined([("1", whole[:cut])], FILES)
        assert not found.complete
        assert found.problems
        for node, reach in found.nodes.items():
            assert not reach.alive or reach.lines == {0: 0b10 if node == "x" else 0b100}
        assert not (found.nodes.get("y") and found.nodes["y"].alive) or found.nodes["y"].spawned


def break_line(number: int, **keys: Any) -> bytes:
    lines = part(("x", reached({"a.py": [1]}))).splitlines()
    lines[number] = json.dumps(json.loads(lines[number]) | keys).encode()
    return b"\n".join(lines) + b"\n"


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(b"\n", id="an empty line"),
        pytest.param(b"[]\n", id="no object"),
        pytest.param(b"\xff\n", id="no text"),
        pytest.param(break_line(0, schema="admit.trace/2"), id="another version"),
        pytest.param(break_line(0, tracer="guess"), id="an unknown tracer"),
        pytest.param(break_line(0, record="closing"), id="no opening"),
        pytest.param(break_line(1, path="gone.py"), id="a file that was not asked for"),
        pytest.param(break_line(1, bits="-1"), id="no set"),
        pytest.param(break_line(2, record="surprise"), id="an unknown record"),
        pytest.param(break_line(5, lines=[7]), id="lines that are not there"),
        pytest.param(break_line(5, opened="x"), id="opened is no list"),
        pytest.param(part() + part(), id="more after the end"),
    ],
)
def test_a_part_that_cannot_be_read_is_a_problem_and_leaves_nothing_alive(raw: bytes) -> None:
    found = joined([("1", raw)], FILES)
    assert (found.complete, found.outside.alive) == (False, False)
    assert found.problems
    assert not any(reach.alive for reach in found.nodes.values())


def test_a_run_that_was_traced_in_two_ways_is_not_complete() -> None:
    parts = [("1", part()), ("2", part().replace(b"3.13.0", b"3.12.0"))]
    found = joined(parts, FILES)
    assert not found.complete
    assert "different ways: monitoring on 3.12.0, monitoring on 3.13.0" in found.problems[0]


def test_what_a_run_is_told_comes_back(tmp_path: Path) -> None:
    for told in (
        Told("/t", "/o", ("a.py", "b/ä.py")),
        Told("/t", "/o", (), nodes=("t.py::a[\ud800]",), without=("t.py::b",)),
    ):
        write_told(tmp_path, told)
        assert read_told(tmp_path) == told


def test_where_nothing_is_told_nothing_is_traced(tmp_path: Path) -> None:
    assert read_told(tmp_path) is None


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"schema": "admit.tracing/9"}, "schema"),
        ({"tree": 1}, "tree"),
        ({"without": 1}, "without"),
        ({"files": "a.py"}, "files"),
        ({"nodes": [1]}, "nodes"),
        ({"more": 1}, "unknown key 'more'"),
    ],
)
def test_what_a_run_is_told_is_exactly_that(tmp_path: Path, keys: dict[str, Any], message: str) -> None:
    write_told(tmp_path, Told("/t", "/o", ()))
    path = tmp_path / "tracing.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | keys))
    with pytest.raises(InputError, match=message):
        read_told(tmp_path)
