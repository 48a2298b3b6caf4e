"""Patch documents (contract E1, E4) and their merge (E5, E6)."""

from __future__ import annotations

import json
from itertools import permutations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.core.signals import GATE_STATES
from admit.errors import EvidenceError
from admit.evidence.patch import MixedEvidence, PatchEvidence, merge_patches, read_patch
from admit.evidence.strict import LIMITS

GATES = dict.fromkeys(("property_check", "fixture_check", "flaky_freeze"), GATE_STATES)
WHOLE = {"patch_id": "pr-1841", "property_check": "fail", "fixture_check": "pass", "flaky_freeze": "unknown"}


def read(**keys: object) -> PatchEvidence:
    return read_patch(json.dumps(keys).encode(), "e.json", gates=GATES)


def test_a_patch_document_says_each_gates_state() -> None:
    assert read(**WHOLE) == PatchEvidence(
        "pr-1841", {"property_check": "fail", "fixture_check": "pass", "flaky_freeze": "unknown"}
    )


def test_an_absent_gate_is_missing() -> None:
    found = read(patch_id="p", property_check="pass")
    assert found.states == {"property_check": "pass", "fixture_check": "missing", "flaky_freeze": "missing"}
    assert found.absent == {"fixture_check", "flaky_freeze"}


def test_the_states_come_in_the_ladders_order_whatever_the_documents() -> None:
    assert list(read(**dict(reversed(WHOLE.items()))).states) == list(GATES)


def test_an_absent_gate_whose_vocabulary_has_no_missing_is_refused() -> None:
    with pytest.raises(EvidenceError, match="the key lint is absent; add lint"):
        read_patch(b'{"patch_id": "p"}', "e.json", gates={"lint": ("clean", "dirty")})


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        pytest.param({}, "e.json: the key patch_id is absent; add patch_id", id="no-patch-id"),
        pytest.param({"patch_id": ""}, 'e.json: patch_id is ""; allowed: a string that is not empty', id="empty-id"),
        pytest.param({"patch_id": 7}, "e.json: patch_id is 7; allowed: a string that is not empty", id="number-id"),
        pytest.param({"patch_id": None}, "e.json: patch_id is null; allowed: a string", id="null-id"),
        pytest.param(
            {"property_check": "passed"},
            'e.json: property_check is "passed"; allowed: pass, unknown, missing, fail; did you mean pass?',
            id="unknown-state",
        ),
        pytest.param({"property_check": "PASS"}, 'e.json: property_check is "PASS"; allowed: pass,', id="case"),
        pytest.param({"property_check": "pass "}, 'e.json: property_check is "pass "; allowed: pass,', id="blank"),
        pytest.param({"property_check": True}, "e.json: property_check is true; allowed: pass,", id="boolean"),
        pytest.param({"property_check": None}, "e.json: property_check is null; allowed: pass,", id="null-state"),
        pytest.param({"property_check": ["pass"]}, "e.json: property_check is an array; allowed: pass,", id="array"),
        pytest.param(
            {"property_chek": "pass"},
            'e.json: unknown key "property_chek"; allowed: patch_id, property_check, fixture_check, flaky_freeze; '
            "did you mean property_check?",
            id="unknown-key",
        ),
        pytest.param({"": "pass"}, 'e.json: unknown key ""; allowed: patch_id', id="empty-key"),
    ],
)
def test_a_patch_document_that_is_not_exact_is_refused_in_words(keys: dict[str, object], says: str) -> None:
    with pytest.raises(EvidenceError) as caught:
        read(**({"patch_id": "p"} | keys if keys else {}))
    assert str(caught.value).startswith(says)


def test_a_gate_said_twice_is_refused_even_with_one_word() -> None:
    raw = b'{"patch_id": "p", "property_check": "pass", "property_check": "pass"}'
    with pytest.raises(EvidenceError, match=r'e.json:1:45: the key "property_check" stands twice'):
        read_patch(raw, "e.json", gates=GATES)


def test_the_limits_hold_for_patch_documents() -> None:
    with pytest.raises(EvidenceError, match="allowed: 20 bytes"):
        read_patch(json.dumps(WHOLE).encode(), "e.json", gates=GATES, limits=LIMITS._replace(value_bytes=20))


# merging

RANK = {"pass": 0, "unknown": 1, "missing": 2, "fail": 3}
PARTS = st.builds(
    lambda states: PatchEvidence(
        "p",
        {gate: states.get(gate, "missing") for gate in GATES},
        frozenset(GATES).difference(states),
    ),
    st.dictionaries(st.sampled_from(list(GATES)), st.sampled_from(GATE_STATES)),
)


def merged(*parts: PatchEvidence) -> PatchEvidence:
    found = merge_patches(parts, gates=GATES)
    assert isinstance(found, PatchEvidence)
    return found


@pytest.mark.parametrize(("one", "two"), list(product(GATE_STATES, repeat=2)))
def test_two_words_for_one_gate_join_to_the_worse(one: str, two: str) -> None:
    found = merged(read(patch_id="p", property_check=one), read(patch_id="p", property_check=two))
    assert found.states["property_check"] == max(one, two, key=RANK.__getitem__)


@pytest.mark.parametrize("state", GATE_STATES)
def test_a_gate_that_one_document_leaves_out_takes_the_word_of_the_other(state: str) -> None:
    found = merged(read(patch_id="p", property_check="pass"), read(patch_id="p", fixture_check=state))
    assert found.states == {"property_check": "pass", "fixture_check": state, "flaky_freeze": "missing"}
    assert found.absent == {"flaky_freeze"}


def test_a_gate_said_to_be_missing_is_not_the_same_as_one_left_out() -> None:
    found = merged(read(patch_id="p", property_check="missing"), read(patch_id="p", property_check="pass"))
    assert found.states["property_check"] == "missing"


@given(st.lists(PARTS, min_size=1, max_size=4))
def test_the_order_of_documents_makes_no_difference(parts: list[PatchEvidence]) -> None:
    first = merged(*parts)  # compared as a value: how a set prints depends on how it was made
    assert all(merged(*order) == first for order in permutations(parts))


@given(PARTS, PARTS, PARTS)
def test_the_grouping_of_documents_makes_no_difference(a: PatchEvidence, b: PatchEvidence, c: PatchEvidence) -> None:
    assert merged(merged(a, b), c) == merged(a, merged(b, c)) == merged(a, b, c)


@given(st.lists(PARTS, min_size=1, max_size=4))
def test_a_document_handed_in_again_makes_no_difference(parts: list[PatchEvidence]) -> None:
    assert merged(*parts, *parts) == merged(*parts)


@given(st.lists(PARTS, min_size=1, max_size=4), PARTS)
def test_another_document_never_makes_a_word_better(parts: list[PatchEvidence], more: PatchEvidence) -> None:
    before, after = merged(*parts), merged(*parts, more)
    for gate in frozenset(GATES) - before.absent:
        assert RANK[after.states[gate]] >= RANK[before.states[gate]]


def test_documents_of_different_patches_are_evidence_for_none() -> None:
    found = merge_patches([read(patch_id="b"), read(patch_id="a"), read(patch_id="b")], gates=GATES)
    assert found == MixedEvidence(("a", "b"))
    assert str(found) == "documents disagree about patch_id: 'a', 'b'"


def test_no_document_at_all_is_refused() -> None:
    with pytest.raises(EvidenceError, match="there is no patch document"):
        merge_patches([], gates=GATES)
