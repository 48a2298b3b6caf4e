"""Node records (contract E2, E4, A6): an object, an array, or JSON Lines."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.core.records import Examples, NodeRecord
from admit.core.signals import CHECK_STATES, FLAKE_STATES, LOCK_STATES, WHYS
from admit.errors import EvidenceError
from admit.evidence.nodes import read_node_records
from admit.evidence.strict import LIMITS

PLAIN = {"node": "t.py::x", "property_check": "pass", "fixture_lock": "match", "flake_status": "stable"}
RECORD = ("property_check", NodeRecord("t.py::x", "pass", "match", "stable"))
EXPIRES = "2026-12-24T00:00:00Z"


def read(*records: dict[str, object]) -> list[tuple[str, NodeRecord]]:
    return read_node_records(b"\n".join(json.dumps(keys).encode() for keys in records), "n.jsonl")


def one(**keys: object) -> NodeRecord:
    ((_, record),) = read({**PLAIN, **keys})
    return record


@pytest.mark.parametrize(
    ("raw", "count"),
    [
        pytest.param(json.dumps(PLAIN), 1, id="object"),
        pytest.param(json.dumps(PLAIN) + "\n", 1, id="object-and-newline"),
        pytest.param(json.dumps(PLAIN, indent=2), 1, id="object-over-lines"),
        pytest.param(json.dumps(PLAIN, indent=0), 1, id="no-indent"),
        pytest.param(json.dumps([PLAIN, PLAIN]), 2, id="array"),
        pytest.param(json.dumps([PLAIN, PLAIN], indent=1), 2, id="array-over-lines"),
        pytest.param("[]", 0, id="empty-array"),
        pytest.param(f"{json.dumps(PLAIN)}\n{json.dumps(PLAIN)}", 2, id="lines"),
        pytest.param(f"\n{json.dumps(PLAIN)}\r\n\r\n{json.dumps(PLAIN)}\r\n\n", 2, id="lines-and-blank-lines"),
        pytest.param("", 0, id="empty-file"),
        pytest.param(" \r\n\t\n", 0, id="blanks"),
    ],
)
def test_records_come_as_an_object_an_array_or_lines(raw: str, count: int) -> None:
    assert read_node_records(raw.encode(), "n.json") == [RECORD] * count


def test_each_record_comes_with_the_gate_that_its_check_is_named_after() -> None:
    fixture = {**PLAIN, "fixture_check": "fail"}
    del fixture["property_check"]
    register = {**PLAIN, "flaky_freeze": "pass", "flake_status": "frozen", "freeze_expires": EXPIRES}
    del register["property_check"]
    gates = [(gate, record.check) for gate, record in read(PLAIN, fixture, register)]
    assert gates == [("property_check", "pass"), ("fixture_check", "fail"), ("flaky_freeze", "pass")]


def test_a_gate_of_the_caller_is_read_and_another_is_not() -> None:
    raw = b'{"node": "n", "type_check": "fail", "fixture_lock": "match", "flake_status": "stable"}'
    assert read_node_records(raw, "n", gates=("type_check",))[0][0] == "type_check"
    with pytest.raises(EvidenceError, match="no check in one node record; allowed: exactly one of property_check"):
        read_node_records(raw, "n")


def test_every_optional_key_is_kept() -> None:
    keys = {
        "fixture_manifest": "sha256:00",
        "seed": 2**70,
        "freeze_expires": "2026-12-24T01:00:00+01:00",
        "why": "flaky",
        "message": "boom",
        "counterexample": "x=0",
        "reproduce": "@seed(1)",
        "attempts": 3,
        "flaky": True,
        "examples": {"ran": 9, "valid": 7, "max": 100},
    }
    assert one(**keys, property_check="fail", flake_status="frozen") == NodeRecord(
        "t.py::x",
        "fail",
        "match",
        "frozen",
        EXPIRES,
        "sha256:00",
        2**70,
        "flaky",
        "boom",
        "x=0",
        "@seed(1)",
        3,
        True,
        Examples(9, 7, 100),
    )


@pytest.mark.parametrize("key", ["fixture_manifest", "seed", "freeze_expires", "why", "examples"])
def test_null_is_the_same_as_leaving_out_where_there_may_be_nothing_to_say(key: str) -> None:
    assert one(**{key: None}) == RECORD[1]


REFUSED = [
    pytest.param({"property_check": "passed"}, 'property_check is "passed"; allowed: pass, not_run, fail', id="check"),
    pytest.param({"property_check": "unknown"}, 'property_check is "unknown"; allowed: pass, not_run', id="gate-state"),
    pytest.param({"property_check": None}, "property_check is null; allowed: pass, not_run, fail", id="null-check"),
    pytest.param({"fixture_lock": "unlocked"}, 'fixture_lock is "unlocked"; allowed: match, missing', id="lock"),
    pytest.param({"flake_status": "flaky"}, 'flake_status is "flaky"; allowed: stable, frozen', id="flake"),
    pytest.param({"flake_status": "frozen"}, "the node is frozen without freeze_expires; allowed: a UTC", id="frozen"),
    pytest.param(
        {"flake_status": "frozen", "freeze_expires": None},
        "the node is frozen without freeze_expires",
        id="frozen-null",
    ),
    pytest.param({"freeze_expires": "soon"}, 'freeze_expires is "soon"; allowed: a UTC instant', id="expiry-word"),
    pytest.param({"freeze_expires": "2026-12-24T00:00:00"}, "freeze_expires is ", id="naive-expiry"),
    pytest.param({"freeze_expires": "2026-12-24"}, "freeze_expires is ", id="day-expiry"),
    pytest.param({"freeze_expires": 1798070400}, "freeze_expires is 1798070400; allowed: a string", id="epoch-expiry"),
    pytest.param(
        {"freeze_expires": ""}, 'freeze_expires is ""; allowed: a string that is not empty', id="empty-expiry"
    ),
    pytest.param({"why": "skip"}, "property_check is pass, and why says skip", id="pass-that-says-why-not"),
    pytest.param({"why": "skipped", "property_check": "not_run"}, 'why is "skipped"; allowed: skip,', id="unknown-why"),
    pytest.param({"node": ""}, 'node is ""; allowed: a string that is not empty', id="empty-node"),
    pytest.param({"node": 3}, "node is 3; allowed: a string", id="number-node"),
    pytest.param({"seed": True}, "seed is true; allowed: a whole number", id="boolean-seed"),
    pytest.param({"seed": 1.5}, "seed is 1.5; allowed: a whole number", id="fraction-seed"),
    pytest.param({"seed": ""}, 'seed is ""; allowed: a whole number', id="empty-seed"),
    pytest.param({"fixture_manifest": 0}, "fixture_manifest is 0; allowed: a string", id="number-manifest"),
    pytest.param({"message": None}, "message is null; allowed: a string", id="null-message"),
    pytest.param({"attempts": 0}, "attempts is 0; allowed: a whole number of at least 1", id="no-attempts"),
    pytest.param({"attempts": 1_000_001}, "attempts is 1000001; allowed: 1 to 1000000", id="too-many-attempts"),
    pytest.param({"attempts": 1.0}, "attempts is 1.0; allowed: a whole number", id="fraction-attempts"),
    pytest.param({"attempts": True}, "attempts is true; allowed: a whole number", id="boolean-attempts"),
    pytest.param({"attempts": None}, "attempts is null; allowed: a whole number", id="null-attempts"),
    pytest.param({"flaky": 1}, "flaky is 1; allowed: true, false", id="number-flaky"),
    pytest.param({"examples": [1, 1, 1]}, "examples is an array; allowed: an object", id="array-examples"),
    pytest.param({"examples": {"ran": 1, "valid": 1}}, "the key max is absent", id="short-examples"),
    pytest.param({"examples": {"ran": 1, "valid": -1, "max": 1}}, "valid is -1; allowed: a whole", id="negative"),
    pytest.param({"examples": {"ran": 1, "valid": 1, "max": 1, "x": 1}}, 'unknown key "x"', id="examples-key"),
    pytest.param({"nodeid": "x"}, 'unknown key "nodeid"; allowed: node, property_check,', id="unknown-key"),
    pytest.param({"fixture_check": "pass"}, "property_check and fixture_check in one node record", id="two-checks"),
    pytest.param({"record": "node"}, "a line of a gate's own document; allowed: node records", id="document-line"),
]


@pytest.mark.parametrize(("keys", "says"), REFUSED)
def test_a_record_that_is_not_exact_is_refused_with_its_line(keys: dict[str, object], says: str) -> None:
    with pytest.raises(EvidenceError) as caught:
        read(PLAIN, {**PLAIN, **keys})
    assert caught.value.where.startswith("n.jsonl:2")
    assert says in str(caught.value)


@pytest.mark.parametrize("key", PLAIN)
def test_a_record_without_a_required_key_is_refused(key: str) -> None:
    with pytest.raises(EvidenceError, match="absent|no check"):
        read({name: value for name, value in PLAIN.items() if name != key})


@pytest.mark.parametrize(
    ("raw", "where"),
    [
        pytest.param('[{"node": 1}]', "n.json: record 1", id="array"),
        pytest.param(f"[{json.dumps(PLAIN)}, 3]", "n.json: record 2", id="no-object"),
        pytest.param('"x"', "n.json", id="string"),
        pytest.param("null", "n.json", id="null"),
        pytest.param(f"{json.dumps(PLAIN)}\n[]", "n.json:2", id="array-among-lines"),
        pytest.param(f"{json.dumps(PLAIN)}\n{json.dumps(PLAIN)[:-1]}", "n.json:2:", id="torn-last-line"),
        pytest.param(json.dumps(PLAIN)[:-1], "n.json:1:", id="torn-object"),
        pytest.param(f"[{json.dumps(PLAIN)}", "n.json:1:", id="torn-array"),
        pytest.param(f"{json.dumps(PLAIN)} {json.dumps(PLAIN)}", "n.json:1:", id="two-on-a-line"),
        pytest.param("\x00\x01garbage", "n.json:1:1", id="garbage"),
        pytest.param(json.dumps(PLAIN)[:-1] + ', "node": "y"}', "n.json:1:", id="key-twice"),
        pytest.param(
            json.dumps(PLAIN) + "\n" + json.dumps(PLAIN)[:-1] + ', "node": "y"}', "n.json:2:", id="twice-line-2"
        ),
    ],
)
def test_what_is_no_list_of_records_is_refused_with_its_place(raw: str, where: str) -> None:
    with pytest.raises(EvidenceError) as caught:
        read_node_records(raw.encode(), "n.json")
    assert caught.value.where.startswith(where)


@pytest.mark.parametrize(
    ("smaller", "says"),
    [
        pytest.param({"nodes": 2}, "n.jsonl:3: more than 2 node records; allowed: 2", id="nodes"),
        pytest.param({"line_bytes": 95}, "n.jsonl:1: a line of 96 bytes; allowed: 95", id="line"),
        pytest.param({"string_chars": 50}, "a string of more than 50 characters", id="string"),
    ],
)
def test_the_limits_hold_for_node_records(smaller: dict[str, int], says: str) -> None:
    long = {**PLAIN, "node": "x" * 51} if "string_chars" in smaller else PLAIN
    raw = b"\n".join([json.dumps(long).encode()] * 3)
    with pytest.raises(EvidenceError) as caught:
        read_node_records(raw, "n.jsonl", limits=LIMITS._replace(**smaller))
    assert says in str(caught.value)


@given(
    check=st.sampled_from(CHECK_STATES),
    lock=st.sampled_from(LOCK_STATES),
    flake=st.sampled_from(FLAKE_STATES),
    expires=st.none() | st.just(EXPIRES),
    why=st.none() | st.sampled_from(WHYS),
    flaky=st.booleans(),
)
def test_of_the_words_only_a_frozen_node_without_end_and_a_pass_that_is_none_are_refused(**words: object) -> None:
    keys = {
        "property_check": words["check"],
        "fixture_lock": words["lock"],
        "flake_status": words["flake"],
        "freeze_expires": words["expires"],
        "why": words["why"],
        "flaky": words["flaky"],
    }
    endless = words["flake"] == "frozen" and words["expires"] is None
    contradicts = words["check"] == "pass" and words["why"] is not None and not words["flaky"]
    if endless or contradicts:
        with pytest.raises(EvidenceError):
            one(**keys)
    else:
        assert one(**keys)[1:5] == (words["check"], words["lock"], words["flake"], words["expires"])
