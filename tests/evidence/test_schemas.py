"""The published schemas of evidence say what the code says: same words, same keys, same verdict on the same samples."""

from __future__ import annotations

import copy
import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator

from admit.core import signals
from admit.core.context import LockedNodes, RunContext
from admit.core.records import Examples, Opening
from admit.errors import EvidenceError
from admit.evidence import wire
from admit.evidence.context import context_of
from admit.evidence.marks import closing_of, finish_of, opening_of, plan_of
from admit.evidence.nodes import read_node_records
from admit.evidence.patch import read_patch
from admit.evidence.record import MOST_ATTEMPTS, node_record
from admit.evidence.strict import read_object

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FOLDER = Path(__file__).parents[2] / "schemas"
GATES = dict.fromkeys(("property_check", "fixture_check", "flaky_freeze"), signals.GATE_STATES)
EXPIRES = "2026-12-24T00:00:00Z"


@cache
def schema(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / f"{name}.schema.json").read_bytes())
    return found


def allows(name: str, value: object) -> bool:
    return bool(Draft202012Validator(schema(name)).is_valid(value))


def line_reader(raw: bytes) -> None:
    keys = read_object(raw, "line")
    kind = keys.get("record")
    if kind == "node":
        node_record({key: value for key, value in keys.items() if key != "record"}, "line", gate="property_check")
        return
    readers: dict[str, Callable[..., object]] = {
        "opening": opening_of,
        "plan": plan_of,
        "timing": plan_of,
        "finish": finish_of,
        "closing": closing_of,
    }
    if not isinstance(kind, str) or kind not in readers:
        raise EvidenceError("line", "no record")
    readers[kind](keys, "line")


READERS: dict[str, Callable[[bytes], object]] = {
    "patch-document": lambda raw: read_patch(raw, "e", gates=GATES),
    "node-record": lambda raw: read_node_records(raw, "n"),
    "evidence-line": line_reader,
    "run-context": lambda raw: context_of(read_object(raw, "c"), "c"),
}

NODE = {
    "node": "t.py::x",
    "property_check": "fail",
    "fixture_lock": "match",
    "flake_status": "frozen",
    "fixture_manifest": "sha256:00",
    "seed": 1,
    "freeze_expires": EXPIRES,
    "why": "flaky",
    "message": "m",
    "counterexample": "c",
    "reproduce": "r",
    "attempts": 2,
    "flaky": True,
    "examples": {"ran": 1, "valid": 1, "max": 1},
}
ENTRY = {key: NODE[key] for key in ("node", "fixture_lock", "flake_status", "freeze_expires", "why", "flaky")}
ENTRY["flaky_freeze"] = "fail"
SAMPLES: dict[str, list[dict[str, Any]]] = {
    "patch-document": [
        {"patch_id": "p", "property_check": "pass", "fixture_check": "unknown", "flaky_freeze": "missing"}
    ],
    "node-record": [
        NODE,
        {key: NODE[key] for key in ("node", "property_check", "fixture_lock")} | {"flake_status": "stable"},
    ],
    "evidence-line": [
        {
            "record": "opening",
            "schema": wire.SCHEMA,
            **Opening("g", "p", "h", "b", "t", "v", "r", "n", shards=1_000_001)._asdict(),
        },
        {"record": "plan", "nodes": ["a", "a"]},
        {"record": "timing", "nodes": ["a"]},
        {"record": "node", **NODE},
        {"record": "finish", "exit_code": 0, "ended": "finished"},
        {
            "record": "closing",
            "count": 1,
            "ended": "finished",
            "exit_code": 0,
            "signal": 9,
            "closed_by": "launcher",
            "reason": "killed at its time limit",
            "digest": "sha256:" + "0" * 64,
        },
    ],
    "run-context": [
        {
            "schema": wire.CONTEXT_SCHEMA,
            "patch_id": "p",
            "head": "h",
            "base": "b",
            "dirty": False,
            "run_id": "r",
            "nonce": "n",
            "lane": "default",
            "shard": 1,
            "shards": 1,
            "attempt": 1,
            "property_markers": ["property"],
            "property_paths": [],
            "lock": "match",
            "locked": [{"patterns": ["x"], "state": "drifted"}],
            "fixture_manifest": None,
            "seed": 0,
            "profile": {"a": 1, "b": None, "c": ["x"]},
            "frozen": {"t.py::x": EXPIRES},
            "register": [ENTRY],
            "launched": True,
            "lock_differences": ["x changed"],
            "trial": {
                "part": "judged",
                "base": "b",
                "tree": "/t",
                "elsewhere": ["/e"],
                "only": ["t.py::x"],
                "files": ["t.py"],
                "replay": {"t.py::x": "@reproduce_failure"},
                "canary": "w",
                "channel": "/s",
                "repeat": 3,
                "traced": ["a.py"],
            },
            "timing_markers": ["timing"],
        }
    ],
}

WORDS = (
    signals.CHECK_STATES,
    signals.LOCK_STATES,
    signals.FLAKE_STATES,
    signals.GATE_STATES,
    signals.WHYS,
    signals.ENDS,
)
ODD: list[object] = [None, True, False, 0, 1, -1, 1.5, 1_000_000, 1_000_001, "", "x", [], ["x"], [""], [1], [{}], {}]
ODD += [{"x": 1}, {"x": EXPIRES}, EXPIRES, "2026-12-24T00:00:00", "2026-12-24T00:00:00+02:00", "2026-12-24", "sha256:0"]
ODD += [word for words in WORDS for word in (words[0], words[-1])]
ODD += [*GATES, "node", "patch_id", "opening", "plan", "closing", wire.SCHEMA, wire.CONTEXT_SCHEMA]
EXTRA = "no key"  # a blank, so that it names no gate


def places(value: object, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every value inside, and of one key that is not there in every object."""
    if isinstance(value, dict):
        yield (*path, EXTRA)
        for key, part in value.items():
            yield (*path, key)
            yield from places(part, (*path, key))
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield (*path, number)
            yield from places(part, (*path, number))


def variants(sample: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the sample, and the sample with every value in turn taken out or replaced by every odd value."""
    yield sample
    for path in places(sample):
        for put in (..., *ODD):
            changed: Any = copy.deepcopy(sample)
            at = changed
            for step in path[:-1]:
                at = at[step]
            if put is not ...:
                at[path[-1]] = put
            elif path[-1] != EXTRA:
                del at[path[-1]]
            yield changed


CASES = [
    pytest.param(name, sample, id=f"{name}-{number}") for name in SAMPLES for number, sample in enumerate(SAMPLES[name])
]


@pytest.mark.parametrize("name", SAMPLES)
def test_a_schema_is_a_schema_and_allows_its_own_examples(name: str) -> None:
    Draft202012Validator.check_schema(schema(name))
    assert schema(name)["$id"] == f"urn:admit:schema:{name}:1"
    for example in schema(name).get("examples", []):
        assert allows(name, example)
        READERS[name](json.dumps(example).encode())


@pytest.mark.parametrize(("name", "sample"), CASES)
def test_schema_and_code_take_and_refuse_the_same(name: str, sample: dict[str, Any]) -> None:
    seen = {True: 0, False: 0}
    validator = Draft202012Validator(schema(name))
    for value in variants(sample):
        try:
            READERS[name](json.dumps(value).encode())
            taken = True
        except EvidenceError:
            taken = False
        assert validator.is_valid(value) is taken, value
        seen[taken] += 1
    assert min(seen.values()) > 3, "both verdicts occur"


@pytest.mark.parametrize(
    ("place", "words"),
    [
        pytest.param(("patch-document", "$defs", "state", "enum"), signals.GATE_STATES, id="gate-states"),
        *(
            pytest.param((name, "$defs", key, "enum"), words, id=f"{name}-{key}")
            for name in ("node-record", "evidence-line", "run-context")
            for key, words in {
                "check": signals.CHECK_STATES,
                "lock": signals.LOCK_STATES,
                "flake": signals.FLAKE_STATES,
                "why": signals.WHYS,
            }.items()
        ),
        pytest.param(("evidence-line", "$defs", "ended", "enum"), signals.ENDS, id="ends"),
    ],
)
def test_a_schemas_words_are_the_codes_words(place: tuple[str, ...], words: tuple[str, ...]) -> None:
    name, *path = place
    at: Any = schema(name)
    for step in path:
        at = at[step]
    assert tuple(at) == words


@pytest.mark.parametrize(
    ("place", "keys"),
    [
        pytest.param(("patch-document",), ("patch_id", *GATES), id="patch"),
        pytest.param(
            ("node-record",), ("node", *GATES, "fixture_lock", "flake_status", *wire.OPTIONAL), id="node-record"
        ),
        pytest.param(
            ("evidence-line", "$defs", "node"),
            ("record", "node", "fixture_lock", "flake_status", *wire.OPTIONAL),
            id="node",
        ),
        pytest.param(("evidence-line", "$defs", "opening"), ("record", "schema", *Opening._fields), id="opening"),
        pytest.param(("evidence-line", "$defs", "finish"), ("record", *wire.Finish._fields), id="finish"),
        pytest.param(("evidence-line", "$defs", "examples"), Examples._fields, id="examples"),
        pytest.param(("run-context",), ("schema", *RunContext._fields), id="context"),
        pytest.param(
            ("run-context", "$defs", "entry"),
            ("node", "flaky_freeze", "fixture_lock", "flake_status", *wire.OPTIONAL),
            id="entry",
        ),
        pytest.param(("run-context", "properties", "locked", "items"), LockedNodes._fields, id="locked"),
    ],
)
def test_a_schemas_keys_are_the_codes_keys(place: tuple[str, ...], keys: tuple[str, ...]) -> None:
    name, *path = place
    at: Any = schema(name)
    for step in path:
        at = at[step]
    assert tuple(at["properties"]) == keys
    assert at["additionalProperties"] is False


def test_a_check_may_stand_under_any_gates_name_and_no_other_keys() -> None:
    keys = {"record": "node", **{key: value for key, value in NODE.items() if key != "property_check"}}
    for name in ("type_check", "api.contract", "2d", "A" * 100):
        assert allows("evidence-line", {**keys, name: "pass", "flaky": True})
        assert wire.check_gate_name(name, "")
    for name in ("", "a b", "-x", "é", "A" * 101, "patch_id"):
        assert not allows("evidence-line", {**keys, name: "pass"})
    assert allows("node-record", NODE)
    assert schema("node-record")["properties"]["attempts"]["maximum"] == MOST_ATTEMPTS
