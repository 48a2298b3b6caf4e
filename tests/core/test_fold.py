"""Folding: what is wrong with a set of documents is said, to the word; lanes and runs stay apart."""

from __future__ import annotations

import pytest

from admit.core import records as r
from admit.core.fold import Folded, contradictions, fold
from admit.core.records import Closing, Document, NodeRecord, Opening
from admit.core.signals import FREEZE_GATE

PLAIN = NodeRecord("t.py::a", "pass", "match", "stable")
FAILED = PLAIN._replace(check="fail", message="no")
LOST = PLAIN._replace(check="not_run", why="never_ran")
NO_EXIT_CODE = "no exit code of the run is known: its report may be clean and the run not (--exit-code)"


def document(name, *records, ended="finished", reason="", exit_code=0, signal=None, gate="property_check", **opening):
    """Return a document of that name; without a closing record where it ended in nothing."""
    start = Opening(gate, "pr-1", "a" * 40, None, "pytest", "9", "run-1", "n")._replace(**opening)
    codes = {one.node: r.code_of(one) for one in records}
    details = {one.node: one for one in records if r.code_of(one) != r.CLEAN_CODE}
    closing = Closing(len(records), ended, exit_code, signal, "launcher", "sha256:0", reason) if ended else None
    return Document(start, codes, details, closing, f"sha256:{name}", f"{name}.jsonl")


def said(*documents, against=None):
    folded = fold("property_check", documents, against or {})
    return folded.gap, folded.unfinished, folded.filled


def test_no_document_is_a_gap_and_nothing_else():
    assert fold("property_check", []) == Folded("property_check", {}, {}, (), "no document", "", "")


@pytest.mark.parametrize(
    ("documents", "gap", "unfinished", "filled"),
    [
        pytest.param([document("a", PLAIN)], "", "", "", id="a run that finished"),
        pytest.param(
            [document("a", PLAIN, ended="")],
            "the run died: a.jsonl has no closing record",
            "",
            "",
            id="a run that died",
        ),
        pytest.param([document("a", PLAIN, ended="crashed")], "", "the run ended: crashed", "", id="one that crashed"),
        pytest.param(
            [document("a", PLAIN, ended="timeout", reason="after 9 s")],
            "",
            "the run ended: timeout (after 9 s)",
            "",
            id="one that says why",
        ),
        pytest.param(
            [document("a", PLAIN, ended="exit_disagrees", reason="exit code 1")],
            "",
            "the run ended: exit_disagrees (exit code 1)",
            "",
            id="one that contradicts itself and says how",
        ),
        pytest.param(
            [document("a", PLAIN, ended="unknown"), document("b", PLAIN, run_id="run-2", attempt=2)],
            "",
            "the run ended: unknown",
            "",
            id="one whose end is not known is not filled",
        ),
        pytest.param(
            [document("a", PLAIN, shards=2), document("b", PLAIN, shards=3), document("c", PLAIN, shards=11)],
            "documents disagree about the number of shards: 2, 3, 11",
            "",
            "",
            id="shards disagree",
        ),
        pytest.param(
            [document("a", PLAIN), document("b", PLAIN, shard=9), document("c", PLAIN, shard=7)],
            "shard 7 of 1 does not exist",
            "",
            "",
            id="shards that do not exist",
        ),
        pytest.param([document("a", PLAIN, shards=2)], "shard 2 of 2 left no document", "", "", id="a shard short"),
        pytest.param(
            [document("a", PLAIN, shards=4)], "shard 2 of 4 left no document", "", "", id="of many gaps the first"
        ),
        pytest.param(
            [document("a", ended="crashed", shards=2), document("b", ended="timeout", shard=2, shards=2)],
            "",
            "shard 1 of 2 ended: crashed",
            "",
            id="of many bad ends the first",
        ),
        pytest.param(
            [document("a", ended=""), document("b", ended="crashed", run_id="2", attempt=2), document("c", attempt=3)],
            "",
            "",
            "attempt 2 of the run was lost, attempt 3 filled it",
            id="the last lost attempt is named",
        ),
        pytest.param(
            [
                *(document(f"a{n}", ended="crashed", shard=n, shards=2) for n in (1, 2)),
                *(document(f"b{n}", run_id="2", attempt=2, shard=n, shards=2) for n in (1, 2)),
            ],
            "",
            "",
            "attempt 1 of shard 1 of 2 was lost, attempt 2 filled it; "
            "attempt 1 of shard 2 of 2 was lost, attempt 2 filled it",
            id="every filled shard is named",
        ),
    ],
)
def test_what_is_wrong_with_a_set_of_documents_is_said_in_words_u3(documents, gap, unfinished, filled):
    assert said(*documents) == said(*documents[::-1]) == (gap, unfinished, filled)


def test_why_a_run_contradicts_itself_stands_beside_how_it_ended_e9():
    one, other = document("a", PLAIN, reason="its own words"), document("b", PLAIN, run_id="run-2", attempt=2)
    expected = ("", "the run ended: exit_disagrees (exit code 1, and no reason)", "")
    assert said(one, other, against={"sha256:a": "exit code 1, and no reason"}) == expected


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        pytest.param(("", "exit_disagrees"), ("", "the run ended: exit_disagrees", ""), id="disagreeing over dying"),
        pytest.param(("", "unknown"), ("", "the run ended: unknown", ""), id="not known over dying"),
        pytest.param(
            ("", "crashed"), ("the run died: a.jsonl has no closing record", "", ""), id="dying over crashing"
        ),
        pytest.param(("crashed", "unknown"), ("", "the run ended: unknown", ""), id="not known over crashing"),
        pytest.param(("crashed", "finished"), ("", "the run ended: crashed", ""), id="crashing over finishing"),
        pytest.param(("finished", "interrupted"), ("", "the run ended: interrupted", ""), id="stopping over finishing"),
    ],
)
def test_of_the_documents_of_one_run_the_worst_end_counts(ends, expected):
    documents = [document(name, PLAIN, ended=ended) for name, ended in zip("ab", ends)]
    assert said(*documents) == expected


# -- contradictions (contract E9) --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "why"),
    [
        pytest.param(document("a", PLAIN), None, id="green and green"),
        pytest.param(document("a", PLAIN, exit_code=None), NO_EXIT_CODE, id="no exit code"),
        pytest.param(document("a", PLAIN, exit_code=None, gate=FREEZE_GATE), None, id="the register has no exit code"),
        pytest.param(
            document("a", PLAIN, signal=9), "it says that it finished, and that signal 9 ended it", id="a signal"
        ),
        pytest.param(
            document("a", PLAIN, exit_code=1), "exit code 1, and nothing recorded that would explain it", id="red"
        ),
        pytest.param(document("a", exit_code=5), None, id="nothing selected, and it says so"),
        pytest.param(document("a", shard=2, shards=3), "shard 2 of 3 selected nothing", id="a shard of nothing"),
        pytest.param(document("a", PLAIN, ended=""), None, id="no closing record: said elsewhere"),
        pytest.param(document("a", PLAIN, ended="crashed", signal=9), None, id="it does not say that it finished"),
    ],
)
def test_a_contradiction_is_said_in_words_or_not_at_all_e9(one, why):
    assert contradictions([one]) == ({"sha256:a": why} if why else {})


@pytest.mark.parametrize("field", [{"run_id": "run-2"}, {"attempt": 2}, {"shard": 2}, {"lane": "gpu"}])
def test_a_red_run_is_not_explained_by_what_another_one_recorded_e9(field):
    red, failing = document("a", PLAIN, exit_code=1), document("b", FAILED, exit_code=1, **field)
    assert contradictions([red, failing]).keys() == {"sha256:a"}
    assert contradictions([red, failing._replace(opening=red.opening)]) == {}


# -- nodes (contract U5, E6) -------------------------------------------------------------------------------------------


def test_the_record_that_says_most_is_kept_whichever_document_has_it():
    skipped = PLAIN._replace(check="not_run", why="skip")
    for one, other in ((FAILED, skipped), (skipped, FAILED)):
        folded = fold("property_check", [document("a", one), document("b", other, run_id="run-2")])
        assert folded.details == {"t.py::a": FAILED}
        assert r.check_of(folded.codes["t.py::a"]) == "fail"


def test_a_node_that_one_lane_did_not_reach_is_not_filled_by_a_later_attempt_of_another():
    lost, passed = document("a", LOST, lane="gpu"), document("b", PLAIN, run_id="run-2", attempt=2)
    codes = fold("property_check", [lost, passed]).codes
    assert r.check_of(codes["t.py::a"]) == "not_run"
    same = passed._replace(opening=passed.opening._replace(lane="gpu"))
    assert r.check_of(fold("property_check", [lost, same]).codes["t.py::a"]) == "pass"


def test_attempts_are_counted_over_documents_and_a_document_once():
    one, other = document("a", PLAIN), document("b", PLAIN, run_id="run-2")
    folded = fold("property_check", [one, other, one])
    assert r.attempts_of(folded.codes["t.py::a"]) == 2
    assert folded.documents == (one, other)
