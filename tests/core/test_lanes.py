"""A timing-sensitive node counts only from a lane that is trusted for it (contract T8)."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.core import records as r
from admit.core.fold import fold
from admit.core.lanes import on_trusted_lanes
from admit.core.records import Closing, Document, NodeRecord, Opening
from admit.core.signals import CHECK_STATES

GATE = "fixture_check"
SLOW, PLAIN = "t.py::test_speed", "t.py::test_plain"
PATTERNS = ("*::test_speed*",)


def document(lane: str, *records: NodeRecord, gate: str = GATE, number: int = 0) -> Document:
    opening = Opening(gate, "p", "h", None, "pytest", "9", f"run-{lane}", "n", lane=lane)
    codes = {one.node: r.code_of(one) for one in records}
    details = {one.node: one for one in records if one.check != "pass"}
    closing = Closing(len(records), "finished", 0, None, "launcher", "sha256:0")
    return Document(opening, codes, details, closing, f"sha256:{lane}-{number}", f"{gate}.{lane}.jsonl")


def record(node: str, check: str = "pass") -> NodeRecord:
    return NodeRecord(node, check, "match", "stable")


def checks(
    *documents: Document, lanes: tuple[str, ...] = ("metal",), patterns: tuple[str, ...] = PATTERNS
) -> dict[str, str]:
    folded = fold(GATE, on_trusted_lanes(documents, patterns, lanes))
    return {node: r.check_of(code) for node, code in folded.codes.items()}


@pytest.mark.parametrize("check", ["pass", "fail"])
def test_from_elsewhere_it_gives_no_verdict_either_way(check: str) -> None:
    found = on_trusted_lanes([document("ci", record(SLOW, check), record(PLAIN))], PATTERNS, ("metal",))
    assert checks(*found) == {SLOW: "not_run", PLAIN: "pass"}
    assert (found[0].details[SLOW].why, found[0].details[SLOW].message) == (
        "uncontrolled_lane",
        "it ran on the lane ci",
    )


@pytest.mark.parametrize("check", ["pass", "fail"])
def test_from_a_trusted_lane_it_counts(check: str) -> None:
    assert checks(document("metal", record(SLOW, check))) == {SLOW: check}


@pytest.mark.parametrize(("metal", "ci"), [("pass", "fail"), ("fail", "pass"), ("pass", "pass")])
def test_where_both_speak_only_the_trusted_lane_is_heard(metal: str, ci: str) -> None:
    assert checks(document("ci", record(SLOW, ci)), document("metal", record(SLOW, metal))) == {SLOW: metal}


def test_a_trusted_lane_of_another_gate_says_nothing_here() -> None:
    other = document("metal", record(SLOW), gate="property_check")
    found = on_trusted_lanes([document("ci", record(SLOW)), other], PATTERNS, ("metal",))
    assert r.check_of(found[0].codes[SLOW]) == "not_run"


def test_a_policy_that_trusts_no_lane_hears_none() -> None:
    assert checks(document("metal", record(SLOW)), lanes=()) == {SLOW: "not_run"}


def test_without_timing_sensitive_nodes_nothing_changes() -> None:
    documents = (document("ci", record(SLOW)),)
    assert on_trusted_lanes(documents, (), ()) == documents


def test_drift_and_freezes_of_a_node_without_a_verdict_stay() -> None:
    drifted = record(SLOW)._replace(fixture_lock="drifted")
    (found,) = on_trusted_lanes([document("ci", drifted)], PATTERNS, ())
    assert r.lock_of(found.codes[SLOW]) == "drifted"


def marked(one: Document, *nodes: str) -> Document:
    return one._replace(timing=frozenset(nodes or one.codes))


def test_what_a_marker_calls_timing_sensitive_in_one_document_is_so_in_every_other() -> None:
    other = document("other", record(PLAIN))
    found = on_trusted_lanes([marked(document("ci", record(PLAIN, "fail"))), other], (), ("metal",))
    assert [one.details[PLAIN].why for one in found] == ["uncontrolled_lane"] * 2
    assert [one.details[PLAIN].message for one in found] == [
        "it ran on the lane ci",
        "it ran on the lane other, and another document calls it timing-sensitive",
    ]
    gate = marked(document("metal", record(SLOW), gate="property_check"))
    (found, _) = on_trusted_lanes([document("ci", record(SLOW)), gate], (), ("metal",))
    assert r.check_of(found.codes[SLOW]) == "not_run"


@pytest.mark.parametrize(("metal", "ci"), [("pass", "fail"), ("fail", "pass"), ("pass", "pass")])
def test_where_both_lanes_call_it_so_only_the_trusted_one_is_heard(metal: str, ci: str) -> None:
    documents = [marked(document("ci", record(SLOW, ci))), marked(document("metal", record(SLOW, metal)))]
    assert checks(*documents, patterns=()) == {SLOW: metal}


@pytest.mark.parametrize("check", ["pass", "fail", "not_run"])
@pytest.mark.parametrize("by", ["metal", "ci"])
def test_where_only_one_lane_calls_it_so_what_the_other_said_is_no_verdict_and_does_not_go_away(
    check: str, by: str
) -> None:
    documents = [document("ci", record(SLOW, check)), document("metal", record(SLOW))]
    told = [marked(one) if one.opening.lane == by else one for one in documents]
    assert checks(*told, patterns=()) == {SLOW: "not_run"}


def test_a_pattern_is_every_documents_word_for_it() -> None:
    for by in ("metal", "ci"):
        documents = [document("ci", record(SLOW, "fail")), document("metal", record(SLOW))]
        told = [marked(one) if one.opening.lane == by else one for one in documents]
        assert checks(*told) == {SLOW: "pass"}


def test_what_is_said_of_other_nodes_and_what_else_was_said_of_this_one_stays() -> None:
    failed = record(SLOW, "fail")._replace(
        counterexample="n=0", reproduce="r", flaky=True, seed=7, fixture_lock="missing"
    )
    beside = record(PLAIN, "fail")._replace(message="no")
    (found,) = on_trusted_lanes([document("ci", failed, beside)], PATTERNS, ())
    said = {"why": "uncontrolled_lane", "message": "it ran on the lane ci"}
    assert found.details == {
        PLAIN: beside,
        SLOW: failed._replace(check="not_run", counterexample="", flaky=False, **said),
    }
    assert found.codes[PLAIN] == r.code_of(beside)
    (found,) = on_trusted_lanes([document("ci", record(SLOW))], PATTERNS, ())
    assert found.details == {SLOW: NodeRecord(SLOW, "not_run", "match", "stable", **said)}
    failed_there = document("metal", record(SLOW, "fail"))
    (found, same) = on_trusted_lanes([document("ci", failed, beside), failed_there], PATTERNS, ("metal",))
    assert (found.details, found.codes.keys()) == ({PLAIN: beside}, {PLAIN})
    assert same == failed_there


LANES = ("metal", "ci", "other")
some_documents = st.lists(
    st.builds(
        lambda lane, node, check, is_marked, number: document(lane, record(node, check), number=number)._replace(
            timing=frozenset({node} if is_marked else ())
        ),
        st.sampled_from(LANES),
        st.sampled_from([SLOW, PLAIN]),
        st.sampled_from(CHECK_STATES),
        st.booleans(),
        st.integers(0, 2),
    ),
    max_size=5,
    unique_by=lambda one: one.digest,
)


@given(some_documents, st.sampled_from([(), PATTERNS]), st.randoms(use_true_random=False))
def test_which_documents_came_first_and_how_often_makes_no_difference_e6(
    documents: list[Document], patterns: tuple[str, ...], shuffle: random.Random
) -> None:
    again = documents + documents[:2]
    shuffle.shuffle(again)
    assert checks(*again, patterns=patterns) == checks(*documents, patterns=patterns)


@given(some_documents)
def test_a_document_that_does_not_call_a_node_timing_sensitive_is_never_silenced_by_one_that_does(
    documents: list[Document],
) -> None:
    found = checks(*documents, patterns=())
    for one in documents:
        for node in one.codes.keys() - one.timing:
            if r.check_of(one.codes[node]) != "pass":
                assert found[node] != "pass"


@given(some_documents)
def test_a_timing_sensitive_node_passes_only_by_passes_on_a_trusted_lane_t8(documents: list[Document]) -> None:
    found = checks(*documents, patterns=())
    for node in frozenset().union(*(one.timing for one in documents)):
        on_metal = [one.codes[node] for one in documents if one.opening.lane == "metal" and node in one.codes]
        assert found[node] != "pass" or (on_metal and all(r.check_of(code) == "pass" for code in on_metal))


def test_a_register_entry_is_no_node_that_runs_on_a_lane() -> None:
    entry = marked(document("ci", record(SLOW), gate="flaky_freeze"))
    assert on_trusted_lanes([entry], PATTERNS, ()) == (entry,)


def test_without_marker_and_pattern_documents_stay_as_they_are() -> None:
    one = document("ci", record(SLOW))
    assert on_trusted_lanes([one], (), ()) == (one,)
