"""Decisions: a rule gives one, inadmissible evidence holds it, what waits for a reviewer rejects nothing."""

from __future__ import annotations

import pytest

from admit.core.decision import FOR_REVIEW, INADMISSIBLE, Decision, GateRuling, Patch, PolicyRef, held, ruled
from admit.core.ladder import Ladder, Rule
from admit.core.signals import Outcome, Signal

MERGE, BLOCK, WAIT = Outcome("MERGE_OK", "accept"), Outcome("BLOCK", "reject"), Outcome("ESCALATE", "hold")
LADDER = Ladder(
    "router",
    (Signal("g", ("pass", "fail"), frozenset({"pass"})),),
    outcomes=(MERGE, BLOCK, WAIT),
    rules=(Rule(1, ((frozenset({"pass", "fail"}),),), WAIT, "r", "", ""),),
)
GATES = (
    GateRuling("one", "pass", "2 nodes accepted"),
    GateRuling("two", "fail", "1 of 1 node rejected"),
    GateRuling("three", "missing", "no document"),
)
PATCH, ROUTER, ARBITER = Patch("pr-1", head="a" * 40), PolicyRef("router", "sha256:1"), PolicyRef("arbiter", "sha256:2")


def decision(outcome, gates=GATES):
    rule = Rule(3, (), outcome, "concrete-behavior", "production", "the text of rule 3")
    return ruled(rule, gates, PATCH, router=ROUTER, arbiter=ARBITER)


def test_a_decision_says_everything_that_its_rule_says_u6():
    assert decision(BLOCK) == Decision(
        outcome="BLOCK",
        kind="reject",
        attribution="concrete-behavior",
        rule=3,
        rule_text="the text of rule 3",
        look_first="production",
        detail="two fail: 1 of 1 node rejected; three missing: no document",
        patch=PATCH,
        gates=GATES,
        router=ROUTER,
        arbiter=ARBITER,
        now="",
    )


def test_where_no_gate_is_wrong_the_detail_says_so():
    assert decision(MERGE, GATES[:1]).detail == "every required gate passes"


@pytest.mark.parametrize(
    ("outcome", "code"), [pytest.param(MERGE, 0), pytest.param(BLOCK, 1), pytest.param(WAIT, 2)], ids=["0", "1", "2"]
)
def test_the_exit_code_says_what_the_outcome_means_r5(outcome, code):
    assert decision(outcome).exit_code == code


def test_one_line_names_the_disposition_and_for_nodes_alone_the_reason_e1():
    assert decision(BLOCK).line == "BLOCK attribution=concrete-behavior"
    assert decision(BLOCK)._replace(router=PolicyRef("", "")).line == "BLOCK reason=concrete-behavior"


@pytest.mark.parametrize("outcome", [MERGE, BLOCK, WAIT], ids=lambda outcome: outcome.name)
def test_a_decision_on_admissible_evidence_stays_as_it_is(outcome):
    assert held(decision(outcome), LADDER, {}) == decision(outcome)


def test_evidence_that_is_not_admissible_holds_and_says_what_the_router_would_have_said_e5():
    before = decision(MERGE)._replace(notes=("said before",))
    assert held(before, LADDER, {"base-moved": "9 commits", "mixed-evidence": "two patches"}) == before._replace(
        outcome="ESCALATE",
        kind="hold",
        attribution="mixed-evidence",
        rule=0,
        rule_text="evidence that is not admissible holds before any rule is asked",
        look_first="which run belongs to this patch; hand in only its documents",
        detail="two patches",
        notes=("said before", "base-moved: 9 commits"),
        would_be="MERGE_OK attribution=concrete-behavior",
    )


@pytest.mark.parametrize("outcome", [MERGE, BLOCK, WAIT], ids=lambda outcome: outcome.name)
@pytest.mark.parametrize("code", sorted(INADMISSIBLE.keys() - FOR_REVIEW))
def test_every_code_against_the_evidence_holds_whatever_the_router_said_section_0(code, outcome):
    after = held(decision(outcome), LADDER, {code: "why"})
    assert (after.kind, after.attribution, after.look_first) == ("hold", code, INADMISSIBLE[code])


def test_a_code_that_no_table_knows_holds_too_and_the_first_by_name_speaks():
    after = held(decision(MERGE), LADDER, {"zeta": "z", "alpha": "a"})
    assert (after.kind, after.attribution, after.detail) == ("hold", "alpha", "a")
    assert (after.look_first, after.notes) == ("the evidence", ("zeta: z",))
    assert held(decision(MERGE), LADDER, {"alpha": "a", "base-moved": "b"}).attribution == "base-moved"


@pytest.mark.parametrize("outcome", [MERGE, WAIT], ids=lambda outcome: outcome.name)
@pytest.mark.parametrize("code", sorted(FOR_REVIEW))
def test_what_waits_for_a_reviewer_holds_what_is_not_rejected_t1(code, outcome):
    after = held(decision(outcome), LADDER, {code: "why"})
    assert (after.kind, after.attribution, after.look_first) == ("hold", code, INADMISSIBLE[code])


def test_what_waits_for_a_reviewer_is_a_note_beside_a_rejection_t1():
    before = decision(BLOCK)._replace(notes=("said before",))
    after = held(before, LADDER, {"control-files-touched": "the policy", "fixture_repinned": "x.json"})
    notes = ("said before", "control-files-touched: the policy", "fixture_repinned: x.json")
    assert after == before._replace(notes=notes)
    assert held(before, LADDER, dict.fromkeys(FOR_REVIEW, "why")).kind == "reject"


def test_a_rejection_on_evidence_that_is_not_admissible_holds_whatever_waits_beside_it():
    after = held(decision(BLOCK), LADDER, {"control-files-touched": "the policy", "mixed-evidence": "two patches"})
    assert (after.kind, after.attribution) == ("hold", "mixed-evidence")
    assert after.notes == ("control-files-touched: the policy",)
