"""The fast way from a patch document to its answer accepts exactly what the strict reader accepts (contract E1, E4)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from admit.core.ladder import Ladder, Rule
from admit.core.signals import GATE_STATES, Outcome, Signal
from admit.errors import EvidenceError
from admit.evidence.hot import LONGEST_ID, patch_decider
from admit.evidence.patch import read_patch
from admit.evidence.strict import LIMITS

if TYPE_CHECKING:
    from collections.abc import Callable

CLEAN = frozenset({"pass"})
ACCEPT, HOLD = Outcome("MERGE_OK", "accept"), Outcome("ESCALATE", "hold")


def ladder(*names: str, states: tuple[str, ...] = GATE_STATES) -> Ladder:
    """Return a ladder with a rule of its own for every combination, so that each has an answer of its own."""
    signals = tuple(Signal(name, states, CLEAN) for name in names)
    alone = Ladder("all", signals, outcomes=(HOLD,), rules=(Rule(0, (), HOLD, "", "", ""),))
    rules = [
        Rule(number, ((tuple(frozenset({state}) for state in combination)),), HOLD, ",".join(combination), "", "")
        for number, combination in enumerate(alone.combinations(), 1)
    ]
    return Ladder("each", signals, outcomes=(ACCEPT, HOLD), rules=tuple(rules))


def answer(rule: Rule) -> bytes:
    return rule.reason.encode()


THREE = ladder("property_check", "fixture_check", "flaky_freeze")
LADDERS = [
    pytest.param(THREE, id="three-gates"),
    pytest.param(ladder("a"), id="one-gate-of-one-letter"),
    pytest.param(ladder("a", "b", "type-check.2", "d"), id="four-gates"),
    pytest.param(ladder("a", "b", states=("pass", "p", "missing", "")), id="short-words"),
]


def strictly(rules: Ladder, raw: bytes) -> bytes | str:
    gates = {signal.name: signal.states for signal in rules.signals}
    try:
        states = read_patch(raw, "e.json", gates=gates).states
    except EvidenceError as error:
        return str(error)
    return answer(rules.decide(*(states[name] for name in gates)))


def hotly(decide: Callable[[bytes, str], bytes], raw: bytes) -> bytes | str:
    try:
        return decide(raw, "e.json")
    except EvidenceError as error:
        return str(error)


@pytest.mark.parametrize("rules", LADDERS)
def test_every_combination_has_its_own_answer(rules: Ladder) -> None:
    decide = patch_decider(rules, answer)
    names = [signal.name for signal in rules.signals]
    for states in rules.combinations():
        keys = {"patch_id": "p"} | dict(zip(names, states, strict=True))
        for raw in (json.dumps(keys).encode(), json.dumps(keys, separators=(",", ":")).encode()):
            assert decide(raw, "e.json") == ",".join(states).encode()


DUPLICATES = [
    b'{"patch_id":"p","patch_id":"p","property_check":"pass","fixture_check":"pass","flaky_freeze":"pass"}',
    b'{"patch_id":"","patch_id":"p","property_check":"pass","fixture_check":"pass","flaky_freeze":"pass"}',
    b'{"patch_id":"p","property_check":"fail","property_check":"pass","fixture_check":"pass","flaky_freeze":"pass"}',
    b'{"property_check":"fail","patch_id":"p","fixture_check":"pass","flaky_freeze":"pass","property_check":"pass"}',
    b'{"patch_id":"pppppppppp","patch_id":"p","property_check":"pass","fixture_check":"pass","flaky_freeze":"pass"}',
    b'{"patch_id":"p","property_check":"pass","fixture_check":"pass","flaky_freeze":"fail","flaky\\u005ffreeze":"pass"}',
]


@pytest.mark.parametrize("raw", DUPLICATES)
def test_a_key_that_stands_twice_is_refused(raw: bytes) -> None:
    with pytest.raises(EvidenceError, match="stands twice"):
        patch_decider(THREE, answer)(raw, "e.json")


@pytest.mark.parametrize("rules", LADDERS)
def test_the_shortest_second_key_is_refused_in_the_shortest_document(rules: Ladder) -> None:
    decide = patch_decider(rules, answer)
    keys = {signal.name: signal.states[0] for signal in rules.signals} | {"patch_id": "p"}
    whole = json.dumps(keys, separators=(",", ":"))
    for signal in rules.signals:
        for state in signal.states:
            raw = f'{{"{signal.name}":"{state}",{whole[1:]}'.encode()
            with pytest.raises(EvidenceError, match="stands twice"):
                decide(raw, "e.json")


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(b'{"patch_id": "p", "property_check": "pass"}', id="absent-gates"),
        pytest.param(
            b'{"patch_id": "' + b"p" * (LONGEST_ID + 1) + b'", "property_check": "pass", "fixture_check": "pass", '
            b'"flaky_freeze": "pass"}',
            id="long-id",
        ),
        pytest.param(
            b'{"patch_id": "p", "property_check": "pass", "fixture_check": "pass",\n' + b" " * 100 + b'"flaky_freeze":'
            b' "pass"}\n',
            id="much-white-space",
        ),
        pytest.param(
            '{"patch_id": "\\u00e9é\\"", "property_check": "p\\u0061ss", "fixture_check": "pass", "flaky_freeze":'
            ' "pass"}'.encode(),
            id="escapes",
        ),
    ],
)
def test_what_the_typed_decoder_leaves_to_the_strict_reader_is_answered_too(raw: bytes) -> None:
    assert isinstance(strictly(THREE, raw), bytes)
    assert hotly(patch_decider(THREE, answer), raw) == strictly(THREE, raw)


@pytest.mark.parametrize("smaller", [{"value_bytes": 50}, {"string_chars": 5}, {"depth": 0}])
def test_limits_that_small_documents_could_break_hold_on_the_fast_way_too(smaller: dict[str, int]) -> None:
    decide = patch_decider(THREE, answer, limits=LIMITS._replace(**smaller))
    keys = {"patch_id": "p" * 10} | {signal.name: "pass" for signal in THREE.signals}
    with pytest.raises(EvidenceError, match="allowed: "):
        decide(json.dumps(keys).encode(), "e.json")


WORDS = st.sampled_from([*GATE_STATES, "", "PASS", "passed", "p"])
KEYS = st.sampled_from(["patch_id", "property_check", "fixture_check", "flaky_freeze", "x", ""])
VALUES = WORDS | st.text(max_size=3) | st.none() | st.integers(0, 3) | st.booleans() | st.just([])
TREES = st.lists(st.tuples(KEYS, VALUES), max_size=6)


def spelled(pairs: list[tuple[str, object]], blanks: str, ascii_only: bool) -> bytes:
    parts = [f'"{key}":{blanks}{json.dumps(value, ensure_ascii=ascii_only)}' for key, value in pairs]
    return f"{{{f',{blanks}'.join(parts)}}}".encode("utf-8", "surrogatepass")


@pytest.mark.parametrize("rules", [THREE, ladder("property_check", "fixture_check"), ladder("x")], ids=["3", "2", "1"])
@given(pairs=TREES, blanks=st.sampled_from(["", " ", "\n  "]), ascii_only=st.booleans())
def test_hot_and_strict_agree_on_every_object(
    rules: Ladder, pairs: list[tuple[str, object]], blanks: str, ascii_only: bool
) -> None:
    raw = spelled(pairs, blanks, ascii_only)
    assert hotly(patch_decider(rules, answer), raw) == strictly(rules, raw)


SAMPLE = b'{"patch_id": "pr-1841", "property_check": "fail", "fixture_check": "pass", "flaky_freeze": "unknown"}'


@given(st.lists(st.tuples(st.integers(0, len(SAMPLE)), st.integers(0, 3), st.binary(max_size=2)), max_size=3))
@example([(0, 0, b"\xef\xbb\xbf")])
@example([(len(SAMPLE), 0, b"\0")])
@example([(15, 0, b"\xed\xa0")])
def test_hot_and_strict_agree_on_every_mutation(edits: list[tuple[int, int, bytes]]) -> None:
    raw = SAMPLE
    for place, cut, put in edits:
        raw = raw[:place] + put + raw[place + cut :]
    assert hotly(patch_decider(THREE, answer), raw) == strictly(THREE, raw)


@given(st.binary())
def test_hot_and_strict_agree_on_any_bytes(raw: bytes) -> None:
    assert hotly(patch_decider(THREE, answer), raw) == strictly(THREE, raw)
