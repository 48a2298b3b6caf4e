"""Every reader, on anything: a value or an EvidenceError, and damage never makes evidence better (contract 0, E4)."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from admit.core import records as r
from admit.core.records import Examples, NodeRecord
from admit.core.signals import GATE_STATES
from admit.errors import EvidenceError
from admit.evidence import wire
from admit.evidence.context import context_of
from admit.evidence.fold import fold_blocks
from admit.evidence.nodes import read_node_records
from admit.evidence.patch import read_patch
from admit.evidence.read import read_document
from admit.evidence.strict import LIMITS, read_json, read_object

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from admit.core.records import Document

GATES = dict.fromkeys(("property_check", "fixture_check", "flaky_freeze"), GATE_STATES)
EXPIRES = "2026-12-24T00:00:00Z"


def split(raw: bytes) -> list[bytes]:
    end = raw.rfind(b"\n") + 1
    return [part for part in (raw[:end], raw[end:]) if part]


READERS: dict[str, Callable[[bytes], object]] = {
    "json": lambda raw: read_json(raw, "e"),
    "patch": lambda raw: read_patch(raw, "e", gates=GATES),
    "nodes": lambda raw: read_node_records(raw, "e"),
    "context": lambda raw: context_of(read_object(raw, "e"), "e"),
    "document": lambda raw: fold_blocks(split(raw), "e", limits=LIMITS),
}

OPENING = b'{"record":"opening","schema":"admit.evidence/1","gate":"property_check","patch_id":"p","head":null,"base":null,"tool":"t","tool_version":"1","run_id":"r","nonce":"n"}\n'  # noqa: E501

RECORDS = [
    NodeRecord("t.py::a", "pass", "match", "stable"),
    NodeRecord("t.py::b", "fail", "match", "stable", message="boom"),
    NodeRecord("t.py::c", "not_run", "match", "stable", why="skip"),
    NodeRecord("t.py::d", "pass", "match", "stable", seed=3, examples=Examples(9, 9, 9)),
    NodeRecord("t.py::e", "pass", "drifted", "stable"),
    NodeRecord("t.py::f", "pass", "match", "frozen", EXPIRES),
    NodeRecord("t.py::a", "pass", "match", "stable"),
    NodeRecord("t.py::g[é]", "pass", "match", "stable", attempts=2, flaky=True),
]
PLAN = ["t.py::a", "t.py::b", "t.py::c", "t.py::d", "t.py::e", "t.py::f", "t.py::a", "t.py::g[é]", "t.py::lost"]


@pytest.fixture(scope="session")
def sample(document: Callable[..., bytes]) -> bytes:
    return document(RECORDS, plan=PLAN, finish=wire.Finish(0, "finished"))


def accepted(found: Document) -> set[str]:
    """Return the nodes that a ladder could accept, none where the document lets its gate pass in no way."""
    if found.closing is None or found.closing.ended != "finished":
        return set()
    return {node for node, code in found.codes.items() if code & r.STATE_MASK == r.PASS}


def passes(raw: bytes) -> set[str]:
    try:
        return accepted(fold_blocks(split(raw), "e", limits=LIMITS))
    except EvidenceError:
        return set()


def allowed(raw: bytes, sample: bytes) -> set[str]:
    """Return what damage may leave accepted: nothing if it touched what is sealed, else no more than was there."""
    return passes(sample) if raw.startswith(sample[: sample.index(b'{"record":"closing"')]) else set()


# anything

JSON_LIKE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(sorted(wire.RESERVED)),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.sampled_from(sorted(wire.RESERVED)), inner),
    max_leaves=12,
).map(lambda value: json.dumps(value).encode())
LINES = st.lists(st.binary() | JSON_LIKE | st.just(OPENING), max_size=5).map(b"\n".join)


@pytest.mark.parametrize("name", READERS)
@given(raw=st.binary() | JSON_LIKE | LINES | LINES.map(lambda rest: OPENING + rest + b"\n"))
def test_any_bytes_give_a_value_or_an_error_that_teaches(name: str, raw: bytes) -> None:
    try:
        READERS[name](raw)
    except EvidenceError as error:
        caught = error
    else:
        return
    assert caught.where.startswith("e")
    assert caught.found
    assert str(caught).isprintable()


WRITTEN = {
    "patch": b'{"patch_id": "p", "property_check": "pass", "fixture_check": "pass", "flaky_freeze": "pass"}',
    "nodes": b"\n".join(json.dumps(wire.node_keys("property_check", record)).encode() for record in RECORDS),
    "document": OPENING + b"".join(wire.node_line("property_check", record) for record in RECORDS),
}


@pytest.mark.parametrize("name", WRITTEN)
@settings(max_examples=300)
@given(seed=st.integers(0), count=st.integers(1, 4))
def test_damaged_evidence_gives_a_value_or_an_error_that_teaches(name: str, seed: int, count: int) -> None:
    raw = damaged(WRITTEN[name], random.Random(seed), count)
    try:
        READERS[name](raw)
    except EvidenceError as error:
        caught = error
    else:
        return
    assert caught.where.startswith("e")


def damaged(raw: bytes, chance: random.Random, count: int) -> bytes:
    """Return the bytes after some accidents: bits turned, cuts, doublings, splices, swaps of bytes and of lines."""
    for _ in range(count):
        a, b = sorted((chance.randrange(len(raw) + 1), chance.randrange(len(raw) + 1)))
        lines = raw.splitlines(keepends=True)
        match chance.randrange(8):
            case 0:
                raw = raw[:a] + bytes([raw[a] ^ (1 << chance.randrange(8))]) + raw[a + 1 :] if a < len(raw) else raw
            case 1:
                raw = raw[:a]
            case 2:
                raw = raw[:a] + raw[b:]
            case 3:
                raw = raw[:b] + raw[a:b] + raw[b:]
            case 4:
                raw = raw[:a] + bytes(chance.choices(b'{}[]",:\\ \n\r\0\xff0', k=chance.randrange(4))) + raw[a:]
            case 5:
                chance.shuffle(lines)
                raw = b"".join(lines)
            case 6 if lines:
                raw = b"".join(lines[: a % len(lines)] + lines[b % len(lines) :])
            case _ if lines:
                raw = raw + lines[a % len(lines)]
    return raw


# damage never makes evidence better


def test_the_sample_itself_has_passes_to_lose(sample: bytes) -> None:
    assert passes(sample) == {"t.py::a", "t.py::d"}


@settings(max_examples=500)
@given(seed=st.integers(0), count=st.integers(1, 4))
def test_a_damaged_document_never_shows_a_pass_that_was_not_there(sample: bytes, seed: int, count: int) -> None:
    raw = damaged(sample, random.Random(seed), count)
    assert passes(raw) <= allowed(raw, sample)


def test_a_document_cut_anywhere_is_never_whole(sample: bytes) -> None:
    for end in range(len(sample)):
        try:
            found = fold_blocks(split(sample[:end]), "e", limits=LIMITS)
        except EvidenceError:
            continue
        assert found.closing is None
        assert not any(code & r.PASS for code in found.codes.values())
        assert all(r.check_of(code) != "pass" for code in found.codes.values())


def test_a_document_cut_anywhere_keeps_the_failures_that_it_got_to(sample: bytes) -> None:
    failure = sample.index(b'"boom"}\n') + len(b'"boom"}\n')
    for end in range(failure, sample.index(b'{"record":"closing"')):
        found = fold_blocks(split(sample[:end]), "e", limits=LIMITS)
        assert r.check_of(found.codes["t.py::b"]) == "fail"
        assert found.details["t.py::b"].message == "boom"


@pytest.mark.parametrize("bit", [0, 1, 5, 7])
def test_a_document_with_any_bit_turned_accepts_no_more_than_before(sample: bytes, bit: int) -> None:
    for place in range(len(sample)):
        raw = sample[:place] + bytes([sample[place] ^ (1 << bit)]) + sample[place + 1 :]
        assert passes(raw) <= allowed(raw, sample), place


def test_a_document_with_any_line_taken_out_doubled_or_moved_accepts_nothing(sample: bytes) -> None:
    lines = sample.splitlines(keepends=True)
    for place, line in enumerate(lines):
        rest = lines[:place] + lines[place + 1 :]
        assert not passes(b"".join(rest))
        for other in range(len(rest) + 1):
            doubled = [*lines[:other], line, *lines[other:]]
            moved = [*rest[:other], line, *rest[other:]]
            assert not passes(b"".join(doubled))
            assert moved == lines or not passes(b"".join(moved))


@pytest.mark.parametrize("end", [0, 1, 40, -1])
def test_a_document_cut_on_disk_reads_as_one_cut_in_memory(tmp_path: Path, sample: bytes, end: int) -> None:
    path = tmp_path / "property_check.x.jsonl"
    path.write_bytes(sample[:end])

    def outcome(read: Callable[[], Document]) -> Any:
        try:
            return read()._replace(source="")
        except EvidenceError as error:
            return error.found

    assert outcome(lambda: read_document(path)) == outcome(lambda: fold_blocks(split(sample[:end]), "e", limits=LIMITS))


SEALED_LINES = st.lists(
    st.sampled_from(RECORDS).map(lambda record: wire.node_line("property_check", record))
    | st.lists(st.sampled_from(PLAN), max_size=3).map(lambda plan: b"".join(wire.plan_lines(plan)))
    | st.just(wire.finish_line(wire.Finish(0, "finished"))),
    max_size=8,
)


@given(lines=SEALED_LINES)
def test_another_record_never_turns_what_was_no_pass_into_one(
    lines: list[bytes], sealed: Callable[..., bytes], opening: Any
) -> None:
    """Under any seal: a node that failed, was skipped, drifted or froze somewhere is accepted by no longer document."""
    start = [wire.opening_line(opening)]

    def accepted_with(more: list[bytes]) -> set[str]:
        return passes(sealed(start + more, count=sum(line.startswith(b'{"record":"node"') for line in more)))

    bad = {record.node for record in RECORDS if r.code_of(record) & r.STATE_MASK != r.PASS}
    for end in range(len(lines) + 1):
        assert not accepted_with(lines[:end]) & bad
