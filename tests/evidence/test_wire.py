"""Lines that a writer appends: compact JSON as msgspec writes it, whatever stands in the values (contract E3)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.core.records import Closing, Examples, NodeRecord, Opening
from admit.core.signals import CHECK_STATES, FLAKE_STATES, LOCK_STATES, WHYS
from admit.errors import EvidenceError
from admit.evidence import wire
from admit.evidence.strict import LIMITS

if TYPE_CHECKING:
    from collections.abc import Callable

    from admit.core.records import Document

TEXT = st.text()  # lone surrogates included: file names on disk have them
RECORDS = st.builds(
    NodeRecord,
    node=TEXT.filter(bool),
    check=st.sampled_from(CHECK_STATES),
    fixture_lock=st.sampled_from(LOCK_STATES),
    flake_status=st.sampled_from(FLAKE_STATES),
    freeze_expires=st.just("2026-12-24T00:00:00Z"),
    fixture_manifest=st.none() | st.just("sha256:00"),
    seed=st.none() | st.integers() | TEXT.filter(bool),
    why=st.none() | st.sampled_from(WHYS),
    message=TEXT,
    counterexample=TEXT,
    reproduce=TEXT,
    attempts=st.integers(1, 1_000_000),
    flaky=st.just(True),  # so that a pass may say why
    examples=st.none() | st.builds(Examples, st.integers(0), st.integers(0), st.integers(0)),
)


def spelled(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


@given(RECORDS | st.builds(NodeRecord, TEXT.filter(bool), st.just("pass"), st.just("match"), st.just("stable")))
def test_a_line_is_what_msgspec_writes_for_the_same_keys(record: NodeRecord) -> None:
    line = wire.node_line("g", record)
    keys = json.loads(line)
    assert line.endswith(b"}\n")
    if all(type(value) is not int or -(2**63) <= value < 2**64 for value in [*keys.values(), *(record.examples or ())]):
        assert msgspec.json.encode(keys) + b"\n" == line
    assert list(keys)[:5] == ["record", "node", "g", "fixture_lock", "flake_status"]
    assert list(keys)[5:] == [key for key in wire.OPTIONAL if key in keys]


@given(record=RECORDS)
def test_a_record_reads_back_as_it_was_written(
    record: NodeRecord, document: Callable[..., bytes], fold: Callable[[bytes], Document]
) -> None:
    (detail,) = fold(document([record])).details.values()
    texts = {key: spelled(getattr(record, key)) for key in ("node", "message", "counterexample", "reproduce")}
    seed = spelled(record.seed) if isinstance(record.seed, str) else record.seed
    assert detail == record._replace(**texts, seed=seed)


@pytest.mark.parametrize("text", ["x", "\x00", '"', "é", "\U0001f600", "\udc80"])
def test_the_longest_record_stays_under_what_a_reader_takes(
    text: str, document: Callable[..., bytes], fold: Callable[[bytes], Document]
) -> None:
    long = text * 1_000_000
    record = NodeRecord(long, "fail", "match", "stable", message=long, counterexample=long, reproduce=long)
    line = wire.node_line("g", record)
    assert len(line) < LIMITS.line_bytes
    (detail,) = fold(document([record])).details.values()
    assert len(detail.node) <= wire.NODE_CHARS
    assert len(detail.message) <= wire.TEXT_CHARS
    assert detail.message.endswith("characters, cut)")


def test_long_node_ids_that_differ_at_the_end_stay_different() -> None:
    long = "x" * wire.NODE_CHARS
    assert wire.node_text(long) == long
    assert len({wire.node_text(long + end) for end in "abc"}) == 3


def test_a_node_is_spelled_alike_in_plan_and_record(fold: Callable[[bytes], Document], document: object) -> None:
    nodes = ["a\udc80", "x" * 100_000, "é", '"\\\n']
    records = [NodeRecord(node, "pass", "match", "stable") for node in nodes]
    assert fold(document(records, plan=nodes)).details == {}  # type: ignore[operator]


def test_a_plan_is_split_into_lines_of_a_bearable_length() -> None:
    nodes = [f"tests/test_module.py::test_{number:06}" for number in range(10_000)]
    lines = list(wire.plan_lines(nodes))
    assert len(lines) > 1
    assert max(map(len, lines)) < 2 * wire.PLAN_CHARS
    assert [node for line in lines for node in json.loads(line)["nodes"]] == nodes


def test_an_empty_plan_is_no_line() -> None:
    assert list(wire.plan_lines([])) == []


def test_framing_records_are_written_with_every_key() -> None:
    opening = Opening("g", "p", None, None, "pytest", "9", "r", "n")
    assert wire.opening_line(opening) == (
        b'{"record":"opening","schema":"admit.evidence/1","gate":"g","patch_id":"p","head":null,"base":null,'
        b'"tool":"pytest","tool_version":"9","run_id":"r","nonce":"n","lane":"default","shard":1,"shards":1,"attempt":1,'
        b'"dirty":false,"instrument_of":null}\n'
    )
    assert wire.finish_line(wire.Finish(-9, "crashed")) == b'{"record":"finish","exit_code":-9,"ended":"crashed"}\n'
    assert wire.closing_line(Closing(2, "finished", 0, None, "launcher", "sha256:0")) == (
        b'{"record":"closing","count":2,"ended":"finished","exit_code":0,"signal":null,"closed_by":"launcher",'
        b'"digest":"sha256:0"}\n'
    )


@pytest.mark.parametrize("name", ["property_check", "flaky_freeze", "type-check", "api.contract", "x", "A" * 100, "2d"])
def test_these_can_name_a_gate(name: str) -> None:
    assert wire.check_gate_name(name, "here") == name


@pytest.mark.parametrize("name", ["", "a b", "é", "-x", ".x", "a/b", "x\n", "A" * 101, *sorted(wire.RESERVED)])
def test_these_cannot_name_a_gate(name: str) -> None:
    with pytest.raises(EvidenceError, match="cannot name a gate; allowed: 1 to 100 letters"):
        wire.check_gate_name(name, "here")


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        ("property_check.main.jsonl", True),
        ("property_check.1.2.jsonl", True),
        ("property_check.jsonl", False),
        ("property_check..jsonl", False),
        (".x.jsonl", False),
        ("property_check.main.json", False),
        ("property_check.main.jsonl.gz", False),
        ("property_check.main.jsonl~", False),
        ("context.json", False),
        ("a b.c.jsonl", False),
    ],
)
def test_a_document_is_known_by_its_name(name: str, is_one: bool) -> None:
    assert wire.is_document_name(name) is is_one
