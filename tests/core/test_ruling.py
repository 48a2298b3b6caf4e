"""A gate's ruling, word for word: states, details, counts, names, who left, and which documents were read."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from admit.core import records as r
from admit.core.decision import Counts, DocumentRef, GateRuling, Left, NodeVerdict
from admit.core.fold import Folded
from admit.core.ladder import Ladder, Rule
from admit.core.records import Closing, Document, Examples, NodeRecord, Opening
from admit.core.rollup import (
    LISTED,
    RegisterState,
    Sampling,
    freeze_ruling,
    record_of,
    references,
    ruling,
    verdict_on,
)
from admit.core.signals import (
    CHECK_STATES,
    FLAKE_STATES,
    INSTRUMENT_STATES,
    LOCK_STATES,
    PROVENANCE_STATES,
    Outcome,
    Signal,
)

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
PAST, FUTURE = "2026-11-30T12:00:00Z", "2026-11-30T12:00:01Z"
NOTHING = Sampling(NOW, {}, {})
ACCEPT, REJECT, HOLD = Outcome("ACCEPT", "accept"), Outcome("REJECT", "reject"), Outcome("HOLD", "hold")
OPENING = Opening("gate", "pr-1", None, None, "pytest", "9", "run-1", "n")
PLAIN = NodeRecord("a", "pass", "match", "stable")
NODE_SIGNALS = (
    Signal("gate", CHECK_STATES, frozenset({"pass"})),
    Signal("fixture_lock", LOCK_STATES, frozenset({"match"})),
    Signal("flake_status", FLAKE_STATES, frozenset({"stable"})),
)
TRUST_SIGNALS = (
    Signal("instrument", INSTRUMENT_STATES, frozenset({"intact"})),
    Signal("provenance", PROVENANCE_STATES, frozenset({"established", "proven"})),
)


def ladder(signals, *rows):
    """Return a ladder from rows of (states by signal, outcome, reason)."""
    rules = []
    for number, (when, outcome, reason) in enumerate(rows, start=1):
        box = tuple(frozenset({when[s.name]}) if s.name in when else frozenset(s.states) for s in signals)
        rules.append(Rule(number, (box,), outcome, reason, "", reason))
    return Ladder("x", signals, outcomes=(ACCEPT, REJECT, HOLD), rules=tuple(rules))


NODE_ROWS = (
    ({"fixture_lock": "drifted"}, HOLD, "drifted"),
    ({"fixture_lock": "missing"}, HOLD, "unpinned"),
    ({"flake_status": "frozen"}, HOLD, "frozen"),
    ({"gate": "fail"}, REJECT, "failed"),
    ({"gate": "not_run"}, HOLD, "not_run"),
    ({}, ACCEPT, "clean"),
)
TRUST_ROWS = (
    ({"instrument": "compromised"}, HOLD, "compromised"),
    ({"instrument": "edited"}, HOLD, "edited"),
    ({"provenance": "broken_on_base"}, HOLD, "already_broken"),
    ({"provenance": "unproven"}, HOLD, "unproven"),
)
ARBITER = ladder(NODE_SIGNALS, *NODE_ROWS)
TRUSTED = ladder((*TRUST_SIGNALS, *NODE_SIGNALS), *TRUST_ROWS, *NODE_ROWS)


def folded(*records, codes=None, gap="", unfinished="", filled="", documents=()):
    """Return what a gate's documents fold to, a plain pass without a detail."""
    details = {one.node: one for one in records if r.code_of(one) != r.CLEAN_CODE}
    codes = {one.node: r.code_of(one) for one in records} | (codes or {})
    return Folded("gate", codes, details, documents, gap, unfinished, filled)


def skipped(node, why="skip", message=""):
    return PLAIN._replace(node=node, check="not_run", why=why, message=message)


def failed(node):
    return PLAIN._replace(node=node, check="fail")


def test_a_ruling_keeps_everything_that_it_was_rolled_up_from_u6():
    bad, frozen = failed("c"), PLAIN._replace(node="d", flake_status="frozen", freeze_expires=FUTURE)
    documents = (Document(OPENING, {}, {}, None, "sha256:1", "x.jsonl"),)
    one = ruling(folded(PLAIN._replace(node="b"), bad, frozen, PLAIN, documents=documents), ARBITER, NOTHING)
    assert one == GateRuling(
        "gate",
        "fail",
        "1 of 4 nodes rejected: 1 failed",
        Counts(accepted=2, rejected=1, held=0, left=1),
        (NodeVerdict("c", "REJECT", "reject", "failed", 4, bad),),
        (Left("gate", "d", "frozen", f"frozen until {FUTURE}"),),
        ("a", "b"),
        references(documents),
    )


@pytest.mark.parametrize(
    ("evidence", "state", "detail"),
    [
        pytest.param(folded(PLAIN, gap="no document"), "missing", "no document", id="a gap"),
        pytest.param(folded(failed("a")), "fail", "1 of 1 node rejected: 1 failed", id="one rejected"),
        pytest.param(
            folded(failed("a"), failed("b"), skipped("c")), "fail", "2 of 3 nodes rejected: 2 failed", id="two rejected"
        ),
        pytest.param(
            folded(skipped("a")), "unknown", "1 of 1 node gave no admissible verdict: 1 not_run (skip)", id="one held"
        ),
        pytest.param(
            folded(PLAIN._replace(node="z"), skipped("b"), skipped("c"), skipped("a", "timeout"), skipped("d", None)),
            "unknown",
            "4 of 5 nodes gave no admissible verdict: 2 not_run (skip), 1 not_run, 1 not_run (timeout)",
            id="reasons, the most frequent first, then by name",
        ),
        pytest.param(
            folded(skipped("a", "timeout"), skipped("b", "error")),
            "unknown",
            "2 of 2 nodes gave no admissible verdict: 1 not_run (error), 1 not_run (timeout)",
            id="reasons that are equally frequent, by name",
        ),
        pytest.param(folded(PLAIN, unfinished="it crashed"), "unknown", "it crashed", id="not to its end"),
        pytest.param(folded(PLAIN), "pass", "1 node accepted", id="one accepted"),
        pytest.param(folded(PLAIN, PLAIN._replace(node="b")), "pass", "2 nodes accepted", id="two accepted"),
        pytest.param(folded(PLAIN, filled="it was lost"), "pass", "1 node accepted; it was lost", id="one run filled"),
        pytest.param(folded(), "unknown", "it selected nothing", id="nothing"),
        pytest.param(
            folded(PLAIN._replace(flake_status="frozen")), "unknown", "every node left the sample", id="all left"
        ),
    ],
)
def test_a_state_comes_with_what_gave_it_in_words_u3(evidence, state, detail):
    one = ruling(evidence, ARBITER, NOTHING)
    assert (one.state, one.detail) == (state, detail)


def test_verdicts_that_did_not_accept_stand_worst_first_a5():
    drifted = PLAIN._replace(node="a", fixture_lock="drifted")
    one = ruling(folded(skipped("b"), failed("d"), failed("c"), drifted), ARBITER, NOTHING)
    assert [verdict.node for verdict in one.nodes] == ["c", "d", "a", "b"]
    assert one.counts == (0, 2, 2, 0)


@pytest.mark.parametrize(
    ("plain", "twice", "named"),
    [
        pytest.param(2, 0, True, id="a few"),
        pytest.param(2, 3, True, id="a few, some run twice"),
        pytest.param(LISTED, 0, True, id="as many as are listed"),
        pytest.param(LISTED - 1, 1, True, id="as many as are listed, one run twice"),
        pytest.param(LISTED + 1, 0, False, id="one more"),
        pytest.param(LISTED, 1, False, id="one more, run twice"),
    ],
)
def test_accepted_nodes_are_named_up_to_the_limit_and_counted_beyond(plain, twice, named):
    codes = {f"p{n:06}": r.CLEAN_CODE for n in reversed(range(plain))}
    codes |= {f"m{n:06}": r.joined(r.CLEAN_CODE, r.CLEAN_CODE) for n in range(twice)}
    one = ruling(folded(codes=codes), ARBITER, NOTHING)
    assert (one.state, one.counts) == ("pass", Counts(accepted=plain + twice))
    assert one.accepted == (tuple(sorted(codes)) if named else None)
    assert one.nodes == ()


def test_a_ladder_that_does_not_accept_a_plain_pass_accepts_none_section_0():
    wary = ladder(NODE_SIGNALS, ({"gate": "fail"}, REJECT, "failed"), ({}, HOLD, "wary"))
    one = ruling(folded(PLAIN, PLAIN._replace(node="b"), failed("c")), wary, NOTHING)
    assert (one.counts, one.accepted) == ((0, 1, 2, 0), ())
    assert [(verdict.node, verdict.reason) for verdict in one.nodes] == [("c", "failed"), ("a", "wary"), ("b", "wary")]


# -- who leaves the sample (contract U2, U7, P3) -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("record", "frozen", "reason"),
    [
        pytest.param(PLAIN, {"a": "by the register"}, "by the register", id="by the register"),
        pytest.param(
            PLAIN._replace(flake_status="frozen", freeze_expires=FUTURE),
            {},
            f"frozen until {FUTURE}",
            id="by its record",
        ),
        pytest.param(
            PLAIN._replace(flake_status="frozen"), {}, "frozen, by one of its records", id="by one that does not say"
        ),
    ],
)
def test_a_frozen_node_leaves_and_the_decision_says_by_what_u2(record, frozen, reason):
    one = ruling(folded(record), ARBITER, NOTHING._replace(frozen=frozen))
    assert (one.left, one.nodes, one.accepted) == ((Left("gate", "a", "frozen", reason),), (), ())


DECLARED = NOTHING._replace(declared={"a": ("skip", "needs Windows")})
SHOWN = skipped("a", message="needs Windows")


def test_a_node_that_abstains_as_declared_leaves_and_is_named_u7():
    one = ruling(folded(SHOWN, PLAIN._replace(node="b")), ARBITER, DECLARED)
    assert one.left == (Left("gate", "a", "abstained", "skip: needs Windows"),)
    assert (one.state, one.counts) == ("pass", (1, 0, 0, 1))


@pytest.mark.parametrize(
    ("record", "code"),
    [
        pytest.param(SHOWN._replace(fixture_lock="drifted"), None, id="what it was pinned to moved"),
        pytest.param(SHOWN, r.joined(r.code_of(SHOWN), r.CLEAN_CODE), id="it passed elsewhere"),
        pytest.param(SHOWN, r.joined(r.code_of(SHOWN), r.code_of(failed("a"))), id="it failed elsewhere"),
        pytest.param(SHOWN._replace(check="fail"), None, id="it failed, with the declared words"),
        pytest.param(SHOWN._replace(why="todo"), None, id="for another reason"),
    ],
)
def test_a_declared_node_with_anything_else_beside_it_stays_in_the_sample_u7(record, code):
    evidence = folded(record, codes={"a": code} if code else None)
    one = ruling(evidence, ARBITER, DECLARED)
    assert one.left == ()
    assert one.counts.accepted == 0
    assert one.counts.total == 1


def test_a_declared_node_that_passes_holds_as_an_unexpected_pass_u7():
    one = ruling(folded(PLAIN), ARBITER, DECLARED)
    said = PLAIN._replace(check="not_run", why="xpass", message="declared to abstain (skip), but it passed")
    assert one.nodes == (NodeVerdict("a", "HOLD", "hold", "not_run", 5, said),)
    assert one.detail == "1 of 1 node gave no admissible verdict: 1 not_run (xpass)"


def test_a_flaky_node_that_the_policy_calls_unknown_says_that_it_is_flaky_u5():
    flaky = failed("a")._replace(flaky=True, attempts=2)
    one = ruling(folded(flaky), ARBITER, NOTHING._replace(flaky="unknown"))
    assert one.nodes == (NodeVerdict("a", "HOLD", "hold", "not_run", 5, flaky._replace(check="not_run", why="flaky")),)
    assert ruling(folded(flaky), ARBITER, NOTHING).state == "fail"
    assert ruling(folded(failed("a")), ARBITER, NOTHING._replace(flaky="unknown")).state == "fail"


PROPOSED = PLAIN._replace(provenance="unproven")


@pytest.mark.parametrize(
    "record",
    [
        pytest.param(PROPOSED, id="it passed"),
        pytest.param(PROPOSED._replace(check="not_run"), id="it gave no verdict and no reason"),
        pytest.param(PROPOSED._replace(check="not_run", why="skip"), id="it was skipped"),
        pytest.param(PROPOSED._replace(check="not_run", why="xfail"), id="it was expected to fail"),
        pytest.param(PROPOSED._replace(check="not_run", why="todo"), id="it is still to be written"),
    ],
)
@pytest.mark.parametrize("arbiter", [pytest.param(TRUSTED, id="trusted"), pytest.param(ARBITER, id="plain")])
def test_a_proposal_that_does_not_fail_leaves_the_sample_p3(record, arbiter):
    one = ruling(folded(record), arbiter, NOTHING)
    assert one.left == (Left("gate", "a", "proposal", "new in this patch; it did not fail"),)
    assert (one.state, one.detail) == ("unknown", "every node left the sample")
    beside = ruling(folded(record, PLAIN._replace(node="b")), arbiter, NOTHING)
    assert (beside.state, beside.counts) == ("pass", (1, 0, 0, 1))


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        pytest.param(PROPOSED._replace(check="fail"), "unproven", id="a proposal that fails (P3)"),
        pytest.param(PROPOSED._replace(check="fail", flaky=True), "unproven", id="one that also passed"),
        pytest.param(PROPOSED._replace(check="not_run", why="timeout"), "unproven", id="one that timed out"),
        pytest.param(PROPOSED._replace(fixture_lock="drifted"), "unproven", id="one whose fixtures moved"),
        pytest.param(PROPOSED._replace(instrument="edited"), "edited", id="one with an edited instrument"),
        pytest.param(PLAIN._replace(provenance="broken_on_base"), "already_broken", id="broken before (T7)"),
        pytest.param(PLAIN._replace(instrument="compromised"), "compromised", id="a compromised instrument (T4)"),
        pytest.param(failed("a")._replace(instrument="edited"), "edited", id="a failure of an edited test (T7)"),
    ],
)
def test_what_is_wrong_with_the_instrument_or_the_node_s_origin_holds_and_does_not_reject_2_3(record, reason):
    one = ruling(folded(record), TRUSTED, NOTHING)
    assert [(verdict.kind, verdict.reason) for verdict in one.nodes] == [("hold", reason)]
    assert (one.left, one.counts) == ((), (0, 0, 1, 0))
    alone = verdict_on(record, TRUSTED, "gate", now=NOW)
    assert (alone.kind, alone.reason) == ("hold", reason)


@pytest.mark.parametrize(
    "record",
    [
        pytest.param(PLAIN._replace(instrument="edited"), id="an edited instrument"),
        pytest.param(PLAIN._replace(instrument="compromised"), id="a compromised one"),
        pytest.param(PLAIN._replace(provenance="broken_on_base"), id="broken on the base"),
        pytest.param(PLAIN._replace(provenance="unproven", instrument="edited"), id="both"),
        pytest.param(failed("a")._replace(instrument="edited"), id="a failure of an edited test"),
    ],
)
def test_a_ladder_that_does_not_see_the_instrument_takes_a_suspect_record_for_no_verdict_2_3(record):
    one = ruling(folded(record), ARBITER, NOTHING)
    assert [(verdict.kind, verdict.reason) for verdict in one.nodes] == [("hold", "not_run")]
    assert verdict_on(record, ARBITER, "gate", now=NOW).reason == "not_run"
    drifted = record._replace(fixture_lock="drifted")
    assert [verdict.reason for verdict in ruling(folded(drifted), ARBITER, NOTHING).nodes] == ["drifted"]
    frozen = record._replace(flake_status="frozen", freeze_expires=FUTURE)
    assert verdict_on(frozen, ARBITER, "gate", now=NOW).reason == "frozen"


def test_a_proven_proposal_votes_like_any_other_node_p3():
    proven = PLAIN._replace(provenance="proven")
    assert ruling(folded(proven), TRUSTED, NOTHING).accepted == ("a",)
    assert ruling(folded(proven._replace(check="fail")), TRUSTED, NOTHING).state == "fail"


# -- one record that stands for itself (contract A1 to A7) -------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param({}, ("ACCEPT", "accept", "clean", 6), id="clean"),
        pytest.param({"check": "fail"}, ("REJECT", "reject", "failed", 4), id="a failure"),
        pytest.param({"check": "not_run"}, ("HOLD", "hold", "not_run", 5), id="no verdict"),
        pytest.param({"flaky": True}, ("REJECT", "reject", "failed", 4), id="a pass that also failed"),
        pytest.param({"examples": Examples(9, 0, 9)}, ("HOLD", "hold", "not_run", 5), id="a pass of nothing"),
        pytest.param({"fixture_lock": "missing"}, ("HOLD", "hold", "unpinned", 2), id="no lock"),
        pytest.param(
            {"flake_status": "frozen", "freeze_expires": FUTURE}, ("HOLD", "hold", "frozen", 3), id="a freeze in force"
        ),
        pytest.param({"flake_status": "frozen"}, ("HOLD", "hold", "frozen", 3), id="a freeze that does not say"),
        pytest.param(
            {"flake_status": "frozen", "freeze_expires": PAST}, ("ACCEPT", "accept", "clean", 6), id="a freeze over"
        ),
        pytest.param({"freeze_expires": FUTURE}, ("ACCEPT", "accept", "clean", 6), id="an expiry of no freeze"),
    ],
)
def test_a_verdict_on_one_record_names_the_rule_and_keeps_the_record(changes, expected):
    record = PLAIN._replace(**changes)
    assert verdict_on(record, ARBITER, "gate", now=NOW) == NodeVerdict("a", *expected, record)


# -- a code and the record that speaks ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({}, id="a pass"),
        pytest.param({"check": "fail"}, id="a failure"),
        pytest.param({"check": "not_run"}, id="no verdict"),
        pytest.param({"check": "fail", "flaky": True, "attempts": 3}, id="a failure that also passed"),
        pytest.param({"fixture_lock": "missing", "flake_status": "frozen"}, id="no lock, frozen"),
        pytest.param({"instrument": "edited", "provenance": "broken_on_base"}, id="what a run on a base adds"),
    ],
)
def test_a_code_alone_gives_back_the_record_that_it_was_made_of(changes):
    record = PLAIN._replace(**changes)
    assert record_of("a", r.code_of(record), None) == record


def test_a_code_corrects_the_record_that_speaks_and_drops_a_reason_that_is_not_the_verdict_s():
    detail = skipped("a", message="needs Windows")._replace(seed=7)
    code = r.joined(
        r.code_of(failed("a")._replace(fixture_lock="drifted", instrument="edited")),
        r.code_of(detail._replace(provenance="unproven")),
    )
    assert record_of("a", code, detail) == detail._replace(
        check="fail", fixture_lock="drifted", attempts=2, why=None, instrument="edited", provenance="unproven"
    )
    assert record_of("a", r.code_of(detail), detail) == detail


def test_a_pass_with_nothing_behind_it_says_so_in_the_decision():
    empty = PLAIN._replace(examples=Examples(9, 0, 9))
    said = empty._replace(check="not_run", why="vacuous", message="it says pass, and nothing valid ran")
    assert record_of("a", r.code_of(empty), empty) == said
    beside_a_failure = r.joined(r.code_of(empty), r.code_of(failed("a")))
    assert record_of("a", beside_a_failure, empty) == empty._replace(check="fail", attempts=2)


# -- the gate of freezes (contract U4) ---------------------------------------------------------------------------------


def entry(node, check="pass", **changes):
    return NodeRecord(node, check, "match", "frozen", freeze_expires=FUTURE)._replace(**changes)


@pytest.mark.parametrize(
    ("evidence", "register", "frozen", "state", "detail", "counts"),
    [
        pytest.param(folded(), RegisterState(), (), "pass", "0 entries in the register, none in force", (), id="empty"),
        pytest.param(
            folded(entry("a", freeze_expires=PAST)),
            RegisterState(),
            (),
            "pass",
            "1 entry in the register, none in force",
            (1,),
            id="one, over",
        ),
        pytest.param(
            folded(PLAIN, PLAIN._replace(node="b")),
            RegisterState(),
            (),
            "pass",
            "2 entries in the register, none in force",
            (2,),
            id="two that are not frozen",
        ),
        pytest.param(folded(gap="no document"), RegisterState(), (), "missing", "no document", (), id="no document"),
        pytest.param(
            folded(gap="no document"), RegisterState(unreadable="gone"), (), "missing", "gone", (), id="unreadable"
        ),
        pytest.param(
            folded(entry("a")), RegisterState(problem="no owner"), (), "fail", "no owner", (0, 0, 1), id="broken now"
        ),
        pytest.param(
            folded(
                entry("b", "fail", message="too far", freeze_expires=PAST),
                entry("a", "fail", message="no owner", freeze_expires=PAST),
                PLAIN._replace(node="c"),
            ),
            RegisterState(),
            (),
            "fail",
            "the register breaks its rules: a: no owner",
            (1, 2),
            id="broken then, the first by name",
        ),
        pytest.param(
            folded(entry("b"), PLAIN, PLAIN._replace(node="c")),
            RegisterState(),
            ("d",),
            "unknown",
            "2 frozen in scope: b, d",
            (1, 0, 2),
            id="two in force",
        ),
        pytest.param(
            folded(*map(entry, "cab")),
            RegisterState(),
            (),
            "unknown",
            "3 frozen in scope: a, b, c",
            (0, 0, 3),
            id="three",
        ),
        pytest.param(
            folded(*map(entry, "dcab")),
            RegisterState(),
            (),
            "unknown",
            "4 frozen in scope: a, b, c…",
            (0, 0, 4),
            id="four, three of them named",
        ),
        pytest.param(
            folded(), RegisterState(), ("a",), "unknown", "1 frozen in scope: a", (0, 0, 1), id="one from a sample"
        ),
        pytest.param(
            folded(entry("a", freeze_expires=None)),
            RegisterState(),
            (),
            "unknown",
            "1 frozen in scope: a",
            (0, 0, 1),
            id="one that does not say until when",
        ),
        pytest.param(
            folded(unfinished="it crashed"), RegisterState(), (), "unknown", "it crashed", (), id="not to its end"
        ),
        pytest.param(
            folded(skipped("a")),
            RegisterState(),
            (),
            "unknown",
            "an entry of the register was not checked",
            (1,),
            id="not checked",
        ),
    ],
)
def test_the_freeze_gate_says_what_the_register_says_in_words_u4(evidence, register, frozen, state, detail, counts):
    documents = (Document(OPENING, {}, {}, None, "sha256:1", "x.jsonl"),)
    found = freeze_ruling(evidence._replace(documents=documents), register, frozen, now=NOW)
    expected = GateRuling(
        "flaky_freeze", state, detail, Counts(*counts), accepted=None, documents=references(documents)
    )
    assert found == expected


def test_a_decision_keeps_of_each_document_how_its_run_ended_by_source():
    opening = Opening("gate", "pr-1", None, None, "pytest", "9", "run-1", "n", lane="gpu", shard=2, shards=3, attempt=4)
    closing = Closing(1, "crashed", None, 9, "launcher", "sha256:0")
    ended = Document(opening, {}, {}, closing, "sha256:1", "b.jsonl")
    died = Document(OPENING._replace(tool_version="", run_id="run-2"), {}, {}, None, "sha256:2", "a.jsonl")
    assert references((ended, died)) == (
        DocumentRef("a.jsonl", "sha256:2", "pytest", "run-2", "default", 1, 1, 1, ended="", closed_by=""),
        DocumentRef("b.jsonl", "sha256:1", "pytest 9", "run-1", "gpu", 2, 3, 4, ended="crashed", closed_by="launcher"),
    )
