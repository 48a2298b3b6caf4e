"""The use case: binding, routing, recording, and the invariant over all of it."""

from __future__ import annotations

from datetime import UTC, datetime
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.adjudicate import Case, adjudicate, arbitrate
from admit.core import records as r
from admit.core.decision import FOR_REVIEW, INADMISSIBLE, Decision, Patch
from admit.core.records import Closing, Document, NodeRecord, Opening
from admit.core.rollup import RegisterState, Sampling
from admit.core.signals import CHECK_STATES, ENDS, FLAKE_STATES, LOCK_STATES, WHYS
from admit.errors import LedgerError
from admit.policy import load, parse
from admit.starter import waived_router

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
HEAD, OTHER = "a" * 40, "b" * 40
ROUTER, ARBITER, TRUSTED = load("router"), load("arbiter"), load("trusted-arbiter")
GATES = ("property_check", "fixture_check", "flaky_freeze")


def record(node: str = "t.py::a", **changes: object) -> NodeRecord:
    return NodeRecord(node, "pass", "match", "stable")._replace(**changes)


def document(gate: str, *records: NodeRecord, ended: str | None = "finished", **opening: object) -> Document:
    start = Opening(gate, "pr-1", HEAD, None, "pytest", "9", "run-1", "n")._replace(**opening)
    codes = {one.node: r.code_of(one) for one in records}
    details = {one.node: one for one in records if r.code_of(one) & r.STATE_MASK != r.PASS}
    closing = None if ended is None else Closing(len(records), ended, 0, None, "launcher", "sha256:0")
    return Document(start, codes, details, closing, f"sha256:{abs(hash((start, records, ended))):x}", f"{gate}.x.jsonl")


def clean() -> list[Document]:
    return [
        document("property_check", record()),
        document("fixture_check", record("t.py::b")),
        document("flaky_freeze"),
    ]


BASED = {"instrument_of": "c" * 40}


def based() -> list[Document]:
    return [
        document("property_check", record(), **BASED),
        document("fixture_check", record("t.py::b"), **BASED),
        document("flaky_freeze"),
    ]


def case(documents: list[Document], **changes: object) -> Case:
    return Case(
        patch=Patch("", HEAD),
        documents=tuple(documents),
        problems=(),
        router=ROUTER,
        arbiter=ARBITER,
        sampling=Sampling(NOW, {}, {}),
        register=RegisterState(),
        inadmissible={},
        trusted=TRUSTED,
    )._replace(**changes)


def decide(documents: list[Document], **changes: object) -> Decision:
    return adjudicate(case(documents, **changes), lambda _decision: None)


def test_clean_evidence_of_every_required_gate_merges() -> None:
    decision = decide(clean())
    assert (decision.line, decision.exit_code) == ("MERGE_OK attribution=all-gates-held", 0)


def test_a_decision_without_a_base_says_so_aloud_2_3() -> None:
    assert any(note.startswith("no-base: ") for note in decide(clean()).notes)
    assert not any(note.startswith("no-base: ") for note in decide(based()).notes)


def test_a_gate_whose_own_tests_judged_is_named_beside_one_that_the_base_judged_2_3() -> None:
    mixed = [*based()[:1], *clean()[1:]]
    assert any("the patch's own in fixture_check" in note for note in decide(mixed).notes)


def test_tests_of_two_bases_are_not_evidence_for_one_patch_e5() -> None:
    two = [based()[0], document("fixture_check", record("t.py::b"), instrument_of="d" * 40), clean()[2]]
    assert decide(two).attribution == "mixed-evidence"


def test_a_policy_can_refuse_to_merge_without_a_base_2_3() -> None:
    strict = ROUTER._replace(options=ROUTER.options._replace(no_base="hold"))
    assert decide(clean(), router=strict).attribution == "no-base"
    assert decide(based(), router=strict).exit_code == 0
    assert decide([*based()[:1], *clean()[1:]], router=strict).attribution == "no-base"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        pytest.param({"instrument": "compromised"}, "instrument_compromised", id="compromised"),
        pytest.param({"instrument": "edited", "check": "fail"}, "test_edited", id="edited and failing"),
        pytest.param({"provenance": "broken_on_base", "check": "fail"}, "already_broken", id="broken before"),
        pytest.param({"provenance": "unproven", "check": "fail"}, "unproven_property", id="a proposal that fails"),
        pytest.param(
            {"provenance": "unproven", "check": "not_run", "why": "error_setup"},
            "unproven_property",
            id="one that breaks",
        ),
    ],
)
@pytest.mark.parametrize("sees", [True, False])
def test_what_is_wrong_with_instrument_or_provenance_holds_and_never_rejects_2_3(
    changes: dict[str, str], reason: str, sees: bool
) -> None:
    documents = [*based()[:1], document("fixture_check", record("t.py::b", **changes), **BASED), clean()[2]]
    decision = decide(documents, trusted=TRUSTED if sees else None)
    assert decision.exit_code == 2
    assert decision.gates[1].state == "unknown"
    assert decision.gates[1].nodes[0].reason == (reason if sees else "fixture_not_run")


def test_a_proposal_that_does_not_fail_leaves_the_sample_and_is_counted_p3() -> None:
    proposal = record("t.py::new", provenance="unproven")
    documents = [*based()[:1], document("fixture_check", record("t.py::b"), proposal, **BASED), clean()[2]]
    decision = decide(documents)
    assert decision.exit_code == 0
    assert [(gone.node, gone.why) for gone in decision.gates[1].left] == [("t.py::new", "proposal")]
    assert decision.arbiter.name == "trusted-arbiter"


def test_a_gate_whose_whole_sample_is_proposals_is_unknown_p3() -> None:
    proposal = record("t.py::new", provenance="unproven")
    decision = decide([*based()[:1], document("fixture_check", proposal, **BASED), clean()[2]])
    assert (decision.exit_code, decision.gates[1].state) == (2, "unknown")


def test_a_proven_proposal_votes_like_any_other_p3() -> None:
    proven = record("t.py::new", provenance="proven", check="fail")
    assert decide([*based()[:1], document("fixture_check", proven, **BASED), clean()[2]]).exit_code == 1


@pytest.mark.parametrize("code", sorted(FOR_REVIEW))
def test_what_waits_for_a_reviewer_holds_a_merge_and_leaves_a_block_alone_t1(code: str) -> None:
    assert decide(based(), inadmissible={code: "admit.toml"}).line == f"ESCALATE attribution={code}"
    red = [*based()[:1], document("fixture_check", record("t.py::b", check="fail"), **BASED), clean()[2]]
    decision = decide(red, inadmissible={code: "admit.toml"})
    assert decision.line == "BLOCK attribution=concrete-behavior"
    assert f"{code}: admit.toml" in decision.notes


@pytest.mark.parametrize("code", sorted(set(INADMISSIBLE) - FOR_REVIEW))
def test_evidence_that_is_not_admissible_holds_a_block_too_e4(code: str) -> None:
    red = [*based()[:1], document("fixture_check", record("t.py::b", check="fail"), **BASED), clean()[2]]
    assert decide(red, inadmissible={code: "x", "control-files-touched": "y"}).exit_code == 2


@pytest.mark.parametrize("gate", GATES)
def test_a_required_gate_without_a_document_is_missing_r7(gate: str) -> None:
    decision = decide([one for one in clean() if one.opening.gate != gate])
    assert (decision.exit_code, decision.attribution) == (2, "evidence-gap")


def test_no_evidence_at_all_escalates() -> None:
    assert decide([]).attribution == "evidence-gap"


@pytest.mark.parametrize(
    ("documents", "attribution", "said"),
    [
        pytest.param(
            [document("property_check", record(), patch_id="pr-2")], "mixed-evidence", "patch_id", id="another patch"
        ),
        pytest.param([document("property_check", record(), base=OTHER)], "mixed-evidence", "base", id="another base"),
        pytest.param(
            [document("property_check", record(), head=OTHER)], "evidence-gap", "stale-evidence", id="another head"
        ),
        pytest.param([document("property_check", record(), head=None)], "evidence-gap", "no commit", id="no head"),
        pytest.param(
            [document("property_check", record(), dirty=True)], "uncommitted-changes", "uncommitted", id="a dirty tree"
        ),
    ],
)
def test_documents_that_are_not_of_this_patch_are_no_evidence_for_it_e5(
    documents: list[Document], attribution: str, said: str
) -> None:
    rest = [one for one in clean() if one.opening.gate != "property_check"]
    decision = decide(documents + rest)
    assert (decision.exit_code, decision.attribution) == (2, attribution)
    assert said in decision.detail


def test_documents_that_disagree_about_the_head_are_mixed_where_nothing_says_which_is_right_e5() -> None:
    documents = [*clean()[1:], document("property_check", record(), head=OTHER)]
    assert decide(documents, patch=Patch("")).attribution == "mixed-evidence"


def test_stale_evidence_beside_fresh_evidence_of_a_gate_is_mixed_e5() -> None:
    decision = decide([*clean(), document("property_check", record(check="fail"), head=OTHER)])
    assert (decision.exit_code, decision.attribution) == (2, "mixed-evidence")
    assert "stale-evidence" in decision.detail


def test_evidence_for_no_commit_holds_even_where_no_head_is_known_e5() -> None:
    documents = [one._replace(opening=one.opening._replace(head=None)) for one in clean()]
    decision = decide(documents, patch=Patch(""))
    assert (decision.exit_code, decision.attribution) == (2, "uncommitted-changes")


def test_a_frozen_node_holds_where_the_policy_has_no_signal_for_freezes_u2() -> None:
    free = parse(WITHOUT_FREEZES, "p.toml")
    assert decide(clean()[:2], router=free).exit_code == 0
    frozen = record("t.py::f", check="fail", flake_status="frozen", freeze_expires="2099-01-01T00:00:00Z")
    held = decide([document("property_check", record(), frozen), clean()[1]], router=free)
    assert (held.exit_code, held.attribution) == (2, "unlisted-gate")


WITHOUT_FREEZES = waived_router(files("admit.policy").joinpath("router.toml").read_text("utf-8"), "flaky_freeze")


def test_a_patch_id_that_was_asked_for_has_to_be_the_documents_own_e5() -> None:
    assert decide(clean(), patch=Patch("pr-9", HEAD)).attribution == "mixed-evidence"


@pytest.mark.parametrize("code", [*INADMISSIBLE, "a code that the table does not know"])
def test_inadmissible_evidence_holds_whatever_the_gates_say_and_says_what_it_would_have_been_e4_e5(code: str) -> None:
    decision = decide(clean(), inadmissible={code: "found"})
    assert (decision.exit_code, decision.attribution, decision.rule) == (2, code, 0)
    assert decision.would_be == "MERGE_OK attribution=all-gates-held"
    assert "found" in decision.detail


def test_a_document_that_cannot_be_read_holds_even_where_all_others_are_clean_e4() -> None:
    decision = decide(clean(), problems=("x.jsonl line 3: bad",))
    assert (decision.exit_code, decision.attribution) == (2, "malformed-evidence")
    assert "x.jsonl line 3" in decision.detail


def test_a_failure_blocks_and_names_its_rule_and_where_to_look_r2() -> None:
    decision = decide([document("property_check", record(check="fail")), *clean()[1:]])
    assert (decision.exit_code, decision.attribution, decision.rule) == (1, "invariant-or-over-specified-property", 4)
    assert decision.look_first == "the property"
    assert decision.gates[0].nodes[0].reason == "property_fail"


def test_a_failing_freeze_gate_is_attributed_to_the_register_never_to_a_property_r4() -> None:
    assert decide(clean(), register=RegisterState(problem="no owner")).attribution == "freeze-register"


def test_evidence_of_a_gate_that_no_policy_lists_escalates_r7() -> None:
    assert decide([*clean(), document("perf_check", record())]).attribution == "unlisted-gate"


def test_a_waived_gate_is_said_aloud_and_its_empty_document_is_no_gap_but_its_nodes_escalate_r7() -> None:
    waived = load("router")._replace(waived=(("perf_check", "no benchmarks here"),))
    said = decide([*clean(), document("perf_check")], router=waived)
    assert said.exit_code == 0
    assert "perf_check is waived: no benchmarks here" in said.notes
    assert decide([*clean(), document("perf_check", record())], router=waived).attribution == "unlisted-gate"


def test_a_file_that_skipped_itself_and_stands_in_every_gate_is_judged_in_the_gates_that_are_required_r7() -> None:
    waived = load("router")._replace(waived=(("perf_check", "no benchmarks here"),))
    gone = record("t.py", check="not_run", why="skip", message="needs numpy")
    documents = [
        clean()[0],
        document("fixture_check", record("t.py::b"), gone),
        clean()[2],
        document("perf_check", gone),
    ]
    assert decide(documents, router=waived).attribution == "inadmissible-evidence"
    declared = Sampling(NOW, {}, {"t.py": ("skip", "needs numpy")})
    assert decide(documents, router=waived, sampling=declared).exit_code == 0
    alone = [*clean(), document("perf_check", gone)]
    assert decide(alone, router=waived, sampling=declared).attribution == "unlisted-gate"


EXCLUDED = {"check": "not_run", "why": "deselected", "message": "deselected"}


def test_a_node_that_configuration_left_out_without_a_word_under_review_is_named_u7() -> None:
    gone = [record(f"t.py::x{n}", **EXCLUDED) for n in range(5)]
    decision = decide(
        [document("property_check", record(), *gone[:1]), document("fixture_check", *gone[1:]), *clean()[2:]]
    )
    assert decision.line == "ESCALATE attribution=unregistered-exclusion"
    assert decision.detail.startswith("5 nodes were left out")
    assert decision.detail.endswith(": t.py::x0, t.py::x1, t.py::x2…")
    assert decision.would_be == "ESCALATE attribution=inadmissible-evidence"
    one = decide([document("property_check", record(), gone[0]), *clean()[1:]])
    assert one.detail.startswith("1 node was left out")
    assert one.detail.endswith(": t.py::x0")


def test_an_exclusion_that_a_freeze_or_an_abstention_declares_is_none_u2_u7() -> None:
    documents = [document("property_check", record(), record("t.py::x", **EXCLUDED)), *clean()[1:]]
    declared = Sampling(NOW, {}, {"t.py::x": ("deselected", "deselected")})
    assert decide(documents, sampling=declared).exit_code == 0
    frozen = decide(documents, sampling=Sampling(NOW, {"t.py::x": "frozen until then"}, {}))
    assert frozen.line == "ESCALATE attribution=inadmissible-evidence"
    other = Sampling(NOW, {}, {"t.py::x": ("deselected", "another reason")})
    assert decide(documents, sampling=other).attribution == "unregistered-exclusion"


@pytest.mark.parametrize("why", [why for why in WHYS if why != "deselected"])
def test_a_node_without_a_verdict_for_another_reason_is_no_exclusion(why: str) -> None:
    documents = [document("property_check", record(), record("t.py::x", check="not_run", why=why)), *clean()[1:]]
    assert decide(documents).attribution == "inadmissible-evidence"


@pytest.mark.parametrize(("check", "attribution"), [("pass", "inadmissible-evidence"), ("fail", "concrete-behavior")])
def test_a_node_that_another_shard_ran_was_not_excluded(check: str, attribution: str) -> None:
    gone, ran = record("t.py::x", **EXCLUDED), record("t.py::x", check=check)
    shards = [document("fixture_check", one, shard=n, shards=2) for n, one in enumerate((gone, ran), 1)]
    assert decide([clean()[0], *shards, clean()[2]]).attribution == attribution


def test_an_exclusion_beside_a_failure_leaves_the_block_and_is_said_aloud() -> None:
    documents = [document("property_check", record(check="fail"), record("t.py::x", **EXCLUDED)), *clean()[1:]]
    decision = decide(documents)
    assert decision.line == "BLOCK attribution=invariant-or-over-specified-property"
    assert any(note.startswith("unregistered-exclusion: 1 node") for note in decision.notes)


def test_a_decision_that_cannot_be_recorded_is_not_returned_g1() -> None:
    def fail(_decision: Decision) -> None:
        raise LedgerError("ledger.db", "disk full")

    with pytest.raises(LedgerError):
        adjudicate(case(clean()), fail)


def test_the_same_case_gives_the_same_decision_whatever_the_order_of_documents_e6_e7() -> None:
    documents = [*clean(), document("property_check", record("t.py::z", check="fail"), shard=1)]
    assert decide(documents) == decide(documents[::-1])


# -- the invariant (contract 0) ---------------------------------------------------------------------------------------

nodes = st.builds(
    record,
    st.sampled_from(["t.py::a", "t.py::b"]),
    check=st.sampled_from(CHECK_STATES),
    why=st.sampled_from([None, *WHYS]),
    fixture_lock=st.sampled_from(LOCK_STATES),
    flake_status=st.sampled_from(FLAKE_STATES),
    freeze_expires=st.sampled_from(["2026-12-01T00:00:00Z", "2026-11-01T00:00:00Z"]),
    flaky=st.booleans(),
)
documents_ = st.builds(
    lambda gate, records, ended, opening: document(gate, *records, ended=ended, **opening),
    st.sampled_from(GATES),
    st.lists(nodes, max_size=2),
    st.sampled_from([None, "finished", *ENDS]),
    st.fixed_dictionaries(
        {},
        optional={
            "head": st.sampled_from([HEAD, OTHER, None]),
            "patch_id": st.sampled_from(["pr-1", "pr-2"]),
            "run_id": st.sampled_from(["run-1", "run-2"]),
            "shard": st.integers(1, 2),
            "shards": st.integers(1, 2),
            "dirty": st.booleans(),
        },
    ),
)


@given(
    st.lists(documents_, max_size=5),
    st.sampled_from([{}, {"base-moved": "x"}]),
    st.sampled_from([RegisterState(), RegisterState(problem="p"), RegisterState(unreadable="u")]),
)
def test_whatever_evidence_comes_an_accept_has_clean_finished_fresh_evidence_in_every_gate_and_no_failure_0(
    documents: list[Document], outside: dict[str, str], register: RegisterState
) -> None:
    decision = decide(documents, inadmissible=outside, register=register)
    assert decision.exit_code in (0, 1, 2)
    if decision.exit_code != 0:
        return
    fresh = [one for one in documents if one.opening.head == HEAD]
    assert not outside
    assert register == RegisterState()
    for gate in GATES:
        mine = [one for one in fresh if one.opening.gate == gate]
        assert any(one.closing and one.closing.ended == "finished" for one in mine)
        checks = [one.details.get(node, record(node)).check for one in mine for node in one.codes]
        assert "fail" not in checks
        assert "pass" in checks or gate == "flaky_freeze"
    assert not any(one.opening.dirty for one in fresh)
    assert {one.opening.patch_id for one in fresh} == {"pr-1"} or {one.opening.patch_id for one in fresh} == {"pr-2"}


# -- the arbiter on hand-written records (contract A5, A6, A7) ---------------------------------------------------------

STAMP = "2026-11-30T12:00:00Z"


@pytest.mark.parametrize(
    ("records", "line"),
    [
        pytest.param([], "HOLD reason=no_evidence", id="the empty set"),
        pytest.param([("property_check", record())], "ACCEPT reason=clean", id="all clean"),
        pytest.param([("property_check", record(check="fail"))], "REJECT reason=property_fail", id="a failure"),
        pytest.param(
            [("fixture_check", record(check="fail"))], "REJECT reason=fixture_fail", id="a fixture failure A7"
        ),
        pytest.param([("fixture_check", record(check="not_run"))], "HOLD reason=fixture_not_run", id="not run A7"),
        pytest.param(
            [("property_check", record(check="not_run")), ("property_check", record("b", check="fail"))],
            "REJECT reason=property_fail",
            id="reject outranks hold",
        ),
        pytest.param(
            [("property_check", record()), ("property_check", record("b", check="not_run"))],
            "HOLD reason=property_not_run",
            id="hold outranks accept",
        ),
        pytest.param([("property_check", record(flaky=True))], "REJECT reason=property_fail", id="flaky U5"),
        pytest.param(
            [("property_check", record(check="fail", flake_status="frozen", freeze_expires="2026-11-30T12:00:01Z"))],
            "HOLD reason=frozen_node",
            id="frozen for one more second A6",
        ),
        pytest.param(
            [("property_check", record(check="fail", flake_status="frozen", freeze_expires=STAMP))],
            "REJECT reason=property_fail",
            id="stable from the instant on A6",
        ),
    ],
)
def test_a_set_of_records_gives_one_outcome_a5(records: list[tuple[str, NodeRecord]], line: str) -> None:
    assert arbitrate(ARBITER, records, now=STAMP, problems=[]).line == line


def test_a_record_that_cannot_be_read_holds_the_whole_set_e4() -> None:
    decision = arbitrate(ARBITER, [("property_check", record())], now=STAMP, problems=["r.json: bad"])
    assert (decision.exit_code, decision.line) == (2, "HOLD reason=malformed-evidence")
