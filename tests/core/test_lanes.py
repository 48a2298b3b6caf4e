"""A timing-sensitive node counts only from a lane that is trusted for it (contract T8)."""

from __future__ import annotations

import pytest

from admit.core import records as r
from admit.core.fold import fold
from admit.core.lanes import on_trusted_lanes
from admit.core.records import Closing, Document, NodeRecord, Opening

GATE = "fixture_check"
SLOW, PLAIN = "t.py::test_speed", "t.py::test_plain"
PATTERNS = ("*::test_speed*",)


def document(lane: str, *records: NodeRecord, gate: str = GATE) -> Document:
    opening = Opening(gate, "p", "h", None, "pytest", "9", f"run-{lane}", "n", lane=lane)
    codes = {one.node: r.code_of(one) for one in records}
    details = {one.node: one for one in records if one.check != "pass"}
    closing = Closing(len(records), "finished", 0, None, "launcher", "sha256:0")
    return Document(opening, codes, details, closing, f"sha256:{lane}", f"{gate}.{lane}.jsonl")


def record(node: str, check: str = "pass") -> NodeRecord:
    return NodeRecord(node, check, "match", "stable")


def checks(*documents: Document, lanes: tuple[str, ...] = ("metal",)) -> dict[str, str]:
    folded = fold(GATE, on_trusted_lanes(documents, PATTERNS, lanes))
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


def test_what_a_marker_calls_timing_sensitive_in_one_document_is_so_in_every_other() -> None:
    marked = document("ci", record(PLAIN, "fail"))._replace(timing=frozenset({PLAIN}))
    other = document("other", record(PLAIN))
    found = on_trusted_lanes([marked, other], (), ("metal",))
    assert [one.details[PLAIN].why for one in found] == ["uncontrolled_lane"] * 2
    assert checks(*on_trusted_lanes([marked, document("metal", record(PLAIN))], (), ("metal",))) == {PLAIN: "pass"}


def test_without_marker_and_pattern_documents_stay_as_they_are() -> None:
    one = document("ci", record(SLOW))
    assert on_trusted_lanes([one], (), ()) == (one,)
