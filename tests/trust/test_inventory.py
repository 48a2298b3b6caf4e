"""What the base's own evidence names, held against the patch's (contract T2, P3)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import sha256

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from admit.adjudicate import Case, adjudicate
from admit.core import records as r
from admit.core.decision import Decision, Patch
from admit.core.fold import contradictions, fold
from admit.core.records import Closing, Document, NodeRecord, Opening
from admit.core.rollup import RegisterState, Sampling
from admit.core.signals import CHECK_STATES, ENDS, FLAKE_STATES, INSTRUMENT_STATES, LOCK_STATES, PROVENANCE_STATES, WHYS
from admit.policy import load
from admit.trust.inventory import Inventory, Leave, compared, inventory_of

BASE, HEAD = "b" * 40, "a" * 40
GATE, OTHER, FREEZES = "fixture_check", "property_check", "flaky_freeze"
A, B, C, NEW = "s.test.ts::a", "s.test.ts::b", "s.test.ts::c", "s.test.ts::new"
ROUTER, ARBITER, TRUSTED = load("router"), load("arbiter"), load("trusted-arbiter")
NO_LEAVE = Leave({})


def record(node: str = A, **changes: object) -> NodeRecord:
    return NodeRecord(node, "pass", "match", "stable")._replace(**changes)


def skipped(node: str) -> NodeRecord:
    return record(node, check="not_run", why="skip")


def document(
    *records: NodeRecord, gate: str = GATE, ended: str | None = "finished", exit_code: int | None = 0, **opening: object
) -> Document:
    start = Opening(gate, "pr-1", HEAD, None, "admit-collect-junit", "1", "run-1", "n")._replace(**opening)
    codes: dict[str, int] = {}
    for one in records:
        codes[one.node] = r.joined(codes[one.node], r.code_of(one)) if one.node in codes else r.code_of(one)
    details = {one.node: one for one in records if r.code_of(one) != r.CLEAN_CODE}
    closing = None if ended is None else Closing(len(records), ended, exit_code, None, "collector", "sha256:0")
    digest = sha256(repr((start, records, ended, exit_code)).encode()).hexdigest()
    return Document(start, codes, details, closing, f"sha256:{digest}", f"{gate}.{digest[:4]}.jsonl")


def of_base(*records: NodeRecord, **changes: object) -> Document:
    return document(*records, **{"head": BASE, "patch_id": "main", **changes})


def base(*records: NodeRecord, gate: str = GATE) -> Inventory:
    found = inventory_of([of_base(*records, gate=gate)], BASE)
    assert not found.problem
    return found


def seen(documents: tuple[Document, ...], gate: str = GATE) -> dict[str, tuple[str, str | None, str]]:
    """Return check, why and provenance of each node of a gate's documents."""
    folded = fold(gate, [one for one in documents if one.opening.gate == gate])
    return {
        node: (
            r.check_of(code),
            folded.details[node].why if node in folded.details else None,
            r.provenance_of(code),
        )
        for node, code in folded.codes.items()
    }


PASSED, PROPOSED = ("pass", None, "established"), ("pass", None, "unproven")
VANISHED = ("not_run", "vanished", "established")


# -- what is an inventory ---------------------------------------------------------------------------------------------


def test_what_ran_on_the_base_is_its_inventory_whatever_came_of_it_t2() -> None:
    found = base(record(A), record(B, check="fail"), skipped(C))
    assert {gate: set(codes) for gate, codes in found.nodes.items()} == {GATE: {A, B, C}}


def test_shards_of_the_base_are_one_inventory_t2() -> None:
    shards = [of_base(record(node), shard=n, shards=2) for n, node in ((1, A), (2, B))]
    assert set(inventory_of(shards, BASE).nodes[GATE]) == {A, B}


@pytest.mark.parametrize(
    ("documents", "said"),
    [
        pytest.param([], "it holds no document", id="empty"),
        pytest.param([of_base()], "it names no test that ran", id="without a node"),
        pytest.param([of_base(skipped(A))], "it names no test that ran", id="nothing ran"),
        pytest.param([of_base(gate=FREEZES, exit_code=None)], "it names no test that ran", id="the register alone"),
        pytest.param([of_base(record(), head=HEAD)], f"is for {HEAD}", id="another commit"),
        pytest.param([of_base(record(), head=None)], "is for no commit", id="no commit"),
        pytest.param([of_base(record()), of_base(record(B), head=HEAD)], f"is for {HEAD}", id="one of another commit"),
        pytest.param([of_base(record(), dirty=True)], "uncommitted changes", id="a dirty tree"),
        pytest.param([of_base(record(), ended=None)], "has no closing record", id="died"),
        pytest.param([of_base(record(), ended="timeout")], "ended: timeout", id="ended at a limit"),
        pytest.param([of_base(record(), exit_code=None)], "no exit code", id="nobody knows how it ended"),
        pytest.param([of_base(record(), exit_code=1)], "exit code 1", id="red without a red node"),
        pytest.param([of_base(record(), shards=2)], "shard 2 of 2 left no document", id="a shard is lost"),
        pytest.param([of_base(record(), shards=3), of_base(record(B), shards=2)], "disagree", id="shards disagree"),
        pytest.param([of_base(record()), of_base(gate=FREEZES, ended=None)], "no closing record", id="the register's"),
    ],
)
def test_evidence_that_is_not_all_of_the_base_is_no_inventory_t2(documents: list[Document], said: str) -> None:
    found = inventory_of(documents, BASE)
    assert said in found.problem
    assert found.nodes == {}


def test_the_digest_of_an_inventory_is_of_all_its_documents_in_any_order_g1() -> None:
    one, two = of_base(record(A), shards=2), of_base(record(B), shard=2, shards=2)
    assert inventory_of([one, two], BASE) == inventory_of([two, one, one], BASE)
    assert inventory_of([one, two], BASE).digest != base(record(A)).digest


# -- what vanished, what is new ---------------------------------------------------------------------------------------


def test_a_node_that_the_base_ran_and_this_patch_does_not_have_vanished_t2() -> None:
    found = compared([document(record(A))], base(record(A), record(B), record(C, check="fail")), NO_LEAVE)
    assert seen(found.documents) == {A: PASSED, B: VANISHED, C: VANISHED}


def test_a_node_that_gave_no_verdict_on_the_base_may_go_and_is_no_proposal_where_it_stays_t2() -> None:
    known = base(record(A), skipped(B), skipped(C))
    assert seen(compared([document(record(A), record(B))], known, NO_LEAVE).documents) == {A: PASSED, B: PASSED}


def test_a_node_may_come_up_in_another_shard_t2() -> None:
    shards = [document(record(node), shard=n, shards=2) for n, node in ((1, B), (2, A))]
    assert seen(compared(shards, base(record(A), record(B)), NO_LEAVE).documents) == {A: PASSED, B: PASSED}


def test_a_node_that_moved_to_another_gate_vanished_from_its_own_t2() -> None:
    found = compared([document(record(B)), document(record(A), gate=OTHER)], base(record(A), record(B)), NO_LEAVE)
    assert seen(found.documents) == {A: VANISHED, B: PASSED}
    assert seen(found.documents, OTHER) == {A: PROPOSED}


def test_a_node_that_the_base_does_not_have_is_a_proposal_p3() -> None:
    found = compared([document(record(A), record(NEW), record(C, check="fail"))], base(record(A)), NO_LEAVE)
    assert seen(found.documents) == {A: PASSED, NEW: PROPOSED, C: ("fail", None, "unproven")}


def test_a_worse_word_on_a_new_node_stays_p3() -> None:
    found = compared([document(record(A), record(NEW, provenance="broken_on_base"))], base(record(A)), NO_LEAVE)
    assert seen(found.documents)[NEW] == ("pass", None, "broken_on_base")


@pytest.mark.parametrize(("node", "told"), [(NEW, PROPOSED), (A, ("not_run", None, "proven"))])
def test_nobody_takes_a_documents_word_that_a_node_was_proven_p3(node: str, told: tuple[str, str | None, str]) -> None:
    found = compared([document(record(node, provenance="proven"))], base(record(A)), NO_LEAVE)
    assert seen(found.documents)[node] == told


def test_what_the_bases_instrument_made_is_left_as_it_is_t7() -> None:
    measured = document(record(A), record(NEW), instrument_of=BASE)
    assert compared([measured], base(record(A)), NO_LEAVE).documents == (measured,)


def test_a_document_without_anything_new_is_the_same_document() -> None:
    mine, freezes = document(record(A)), document(record("f"), gate=FREEZES)
    assert compared([mine, freezes], base(record(A)), NO_LEAVE).documents == (mine, freezes)


def test_a_gate_that_this_patch_has_no_document_of_is_said_aloud_and_stays_missing_t2() -> None:
    found = compared([document(record(A), gate=OTHER)], base(record(A)), NO_LEAVE)
    assert seen(found.documents) == {}
    assert "1 nodes of fixture_check ran on the base, and this patch has no document of that gate" in found.notes


def test_what_was_compared_is_said_aloud_u6() -> None:
    known = base(record(A), skipped(B))
    assert compared([], known, NO_LEAVE).notes[0] == (
        f"inventory: 1 nodes ran on the base {BASE[:12]} (1 document, {known.digest})"
    )


# -- renames and approvals --------------------------------------------------------------------------------------------


def test_a_declared_rename_takes_the_olds_place_and_is_no_proposal_t2() -> None:
    found = compared([document(record(NEW, check="fail"))], base(record(A)), Leave({A: NEW}))
    assert seen(found.documents) == {NEW: ("fail", None, "established")}
    assert f"renamed, as the patch declares: {A} => {NEW}" in found.notes


@pytest.mark.parametrize(
    ("here", "renames", "lost"),
    [
        pytest.param([B], {A: NEW}, [A], id="the new name is not there"),
        pytest.param([B], {A: B}, [A], id="the base has the new name already"),
        pytest.param([NEW], {A: NEW, B: NEW}, [A, B], id="two become one"),
        pytest.param([NEW, B], {}, [A], id="nothing is declared"),
    ],
)
def test_a_rename_that_hides_a_loss_is_none_t2(here: list[str], renames: dict[str, str], lost: list[str]) -> None:
    found = compared([document(*map(record, here))], base(record(A), record(B)), Leave(renames))
    assert [node for node, told in seen(found.documents).items() if told == VANISHED] == lost


def test_a_rename_covers_what_is_beneath_t2() -> None:
    found = compared([document(record("z.test.ts::a"))], base(record(A)), Leave({"s.test.ts": "z.test.ts"}))
    assert seen(found.documents) == {"z.test.ts::a": PASSED}


def test_more_renames_than_anybody_reads_are_counted() -> None:
    olds = [f"s.test.ts::{n}" for n in range(12)]
    leave = Leave({"s.test.ts": "z.test.ts"})
    mine = document(*(record(node.replace("s.", "z.", 1)) for node in olds))
    assert compared([mine], base(*map(record, olds)), leave).notes[-1] == "and 2 more renames that the patch declares"


def test_a_loss_that_a_reviewer_approved_is_counted_and_does_not_hold_t1() -> None:
    found = compared([document(record(A))], base(record(A), record(B)), Leave({}, frozenset({B})))
    assert seen(found.documents) == {A: PASSED}
    assert "1 nodes of fixture_check are gone with a reviewer's approval" in found.notes


# -- what comes of it -------------------------------------------------------------------------------------------------


def decide(documents: tuple[Document, ...], **changes: object) -> Decision:
    case = Case(
        patch=Patch("", HEAD),
        documents=documents,
        problems=(),
        router=ROUTER,
        arbiter=ARBITER,
        sampling=Sampling(datetime(2026, 11, 30, tzinfo=UTC), {}, {}),
        register=RegisterState(),
        inadmissible={},
        trusted=TRUSTED,
    )._replace(**changes)
    return adjudicate(case, lambda _decision: None)


def judged(documents: list[Document], known: Inventory, leave: Leave = NO_LEAVE) -> Decision:
    """Decide as `admit decide --inventory` does."""
    if known.problem:
        return decide(tuple(documents), inadmissible={"no-inventory": known.problem})
    return decide(compared(documents, known, leave).documents, arbiter=TRUSTED)


def rest(gate: str = GATE) -> list[Document]:
    other = OTHER if gate == GATE else GATE
    return [document(record("o::o"), gate=other), document(gate=FREEZES, exit_code=None)]


def all_of_base(*records: NodeRecord) -> Inventory:
    found = inventory_of([of_base(*records), of_base(record("o::o"), gate=OTHER)], BASE)
    assert not found.problem
    return found


def test_a_patch_that_keeps_the_bases_tests_and_adds_one_merges_and_says_that_nobody_judged_the_instrument_2_3() -> (
    None
):
    decision = judged([document(record(A), record(NEW)), *rest()], all_of_base(record(A)))
    assert decision.line == "MERGE_OK attribution=all-gates-held"
    assert [(gone.node, gone.why) for gate in decision.gates for gone in gate.left] == [(NEW, "proposal")]
    assert any(note.startswith("no-base: ") for note in decision.notes)


@pytest.mark.parametrize(
    ("records", "leave", "exit_code", "reason"),
    [
        pytest.param([record(B)], NO_LEAVE, 2, "fixture_not_run", id="one vanished"),
        pytest.param([record(A), record(B, check="fail")], NO_LEAVE, 1, "fixture_fail", id="one of the base's fails"),
        pytest.param(
            [record(A), record(B), record(NEW, check="fail")], NO_LEAVE, 2, "unproven_property", id="a new one fails"
        ),
        pytest.param(
            [record(B), record(NEW, check="fail")], Leave({A: NEW}), 1, "fixture_fail", id="a renamed one fails"
        ),
        pytest.param([record(B), skipped(NEW)], Leave({A: NEW}), 2, "fixture_not_run", id="a renamed one is skipped"),
        pytest.param([record(A), record(B), skipped(NEW)], NO_LEAVE, 0, "", id="a new one is skipped"),
        pytest.param([record(B), record(NEW)], Leave({A: NEW}), 0, "", id="a renamed one passes"),
    ],
)
def test_what_comes_of_a_node_t2_p3(records: list[NodeRecord], leave: Leave, exit_code: int, reason: str) -> None:
    red = int(any(one.check == "fail" for one in records))
    decision = judged([document(*records, exit_code=red), *rest()], all_of_base(record(A), record(B)), leave)
    assert decision.exit_code == exit_code
    assert [one.reason for gate in decision.gates for one in gate.nodes] == [reason] * bool(reason)


def test_a_gate_whose_whole_sample_is_proposals_has_no_evidence_p3() -> None:
    decision = judged([document(record(A)), *rest()], inventory_of([of_base(record("o::o"), gate=OTHER)], BASE))
    assert (decision.exit_code, decision.gates[1].detail) == (2, "every node left the sample")


@pytest.mark.parametrize("gate", [GATE, OTHER])
def test_what_vanished_explains_no_exit_code_e9(gate: str) -> None:
    mine = document(record(A), exit_code=1)
    found = compared([mine, document(record(C), gate=OTHER)], base(record(B), gate=gate), NO_LEAVE).documents
    assert contradictions(found)[mine.digest].startswith("exit code 1")


# -- the invariant (contract 0) ---------------------------------------------------------------------------------------

IDS = [A, B, C, NEW]
odd = st.builds(
    record,
    st.sampled_from(IDS),
    check=st.sampled_from(CHECK_STATES),
    why=st.sampled_from([None, "skip", *WHYS]),
    fixture_lock=st.sampled_from(LOCK_STATES),
    flake_status=st.sampled_from(FLAKE_STATES),
    freeze_expires=st.sampled_from(["2026-12-01T00:00:00Z", "2026-11-01T00:00:00Z"]),
    flaky=st.booleans(),
    instrument=st.sampled_from(INSTRUMENT_STATES),
    provenance=st.sampled_from(PROVENANCE_STATES),
)
some = st.builds(record, st.sampled_from(IDS))
new = st.builds(record, st.just(NEW), check=st.just("not_run"), why=st.sampled_from([None, "skip", "xfail", "error"]))
openings = st.fixed_dictionaries(
    {},
    optional={
        "run_id": st.sampled_from(["run-1", "run-2"]),
        "shard": st.integers(1, 2),
        "shards": st.integers(1, 2),
        "attempt": st.integers(1, 2),
        "lane": st.sampled_from(["default", "bench"]),
        "instrument_of": st.sampled_from([None, BASE]),
        "head": st.sampled_from([HEAD, HEAD, BASE]),
        "dirty": st.booleans(),
    },
)
plain_documents = st.builds(
    lambda records, gate: document(*records, gate=gate),
    st.lists(some | new, max_size=4),
    st.sampled_from([GATE, OTHER]),
)
odd_documents = st.builds(
    lambda records, gate, ended, code, opening: document(*records, gate=gate, ended=ended, exit_code=code, **opening),
    st.lists(odd | some | new, max_size=4),
    st.sampled_from([GATE, OTHER, FREEZES]),
    st.sampled_from(["finished", "finished", None, *ENDS]),
    st.sampled_from([0, 0, 1, None, 5]),
    openings,
)
evidence = st.builds(
    lambda plain, odd: [
        *plain,
        *odd,
        document(record(A), record(B)),
        document(record(A), record(C), gate=OTHER),
        document(gate=FREEZES, exit_code=None),
    ],
    st.lists(plain_documents, max_size=3),
    st.lists(odd_documents, max_size=3) | st.just([]),
)
codes = st.builds(
    lambda plain, odd: {A: r.CLEAN_CODE, **plain, **odd},
    st.dictionaries(st.sampled_from([B, C]), st.just(r.CLEAN_CODE)),
    st.dictionaries(st.sampled_from(IDS), st.builds(r.code_of, odd), max_size=2) | st.just({}),
)
inventories = st.builds(
    lambda nodes: Inventory(BASE, nodes),
    st.fixed_dictionaries({GATE: codes, OTHER: codes})
    | st.dictionaries(st.sampled_from([GATE, OTHER]), codes, max_size=2),
)
leaves = st.builds(
    Leave,
    st.dictionaries(st.sampled_from(IDS), st.sampled_from(IDS), max_size=2),
    st.frozensets(st.sampled_from(IDS), max_size=1),
)


@settings(max_examples=300)
@given(evidence, inventories, leaves)
def test_evidence_of_a_base_never_makes_a_merge_but_by_proposals_that_did_not_fail_p3(
    documents: list[Document], known: Inventory, leave: Leave
) -> None:
    without, using = decide(tuple(documents)), judged(documents, known, leave)
    event(f"{without.kind} -> {using.kind}")
    if using.kind != "accept" or without.kind == "accept":
        return
    proposals = {(one.gate, one.node) for gate in using.gates for one in gate.left if one.why == "proposal"}
    held = {(gate.gate, one.node) for gate in without.gates for one in gate.nodes}
    assert held <= proposals
    assert all(node not in known.nodes.get(gate, {}) for gate, node in held)
    assert all(one.kind == "hold" and one.record.check == "not_run" for gate in without.gates for one in gate.nodes)
    assert without.rule != 0
    assert "missing" not in {gate.state for gate in without.gates}


@settings(max_examples=300)
@given(evidence, inventories, leaves)
def test_no_merge_loses_a_node_that_ran_on_the_base_t2(
    documents: list[Document], known: Inventory, leave: Leave
) -> None:
    using = judged(documents, known, leave)
    event(using.kind)
    if using.kind != "accept":
        return
    for gate, of_base_ in known.nodes.items():
        here = {node for one in documents if one.opening.gate == gate for node in one.codes}
        lost = {node for node, code in of_base_.items() if code & (r.PASS | r.FAIL)} - here - leave.approved
        assert all(leave.renames[node] in here - of_base_.keys() for node in lost)


@settings(max_examples=300)
@given(evidence, inventories, leaves)
def test_what_vanished_fills_no_lost_run_and_explains_no_exit_code_e9_u5(
    documents: list[Document], known: Inventory, leave: Leave
) -> None:
    found = compared(documents, known, leave).documents
    before, after = ends(documents), ends(found)
    assert before == after


def ends(documents: tuple[Document, ...] | list[Document]) -> Mapping[str, tuple[bool, bool, str]]:
    against = contradictions(documents)
    gates = {one.opening.gate for one in documents}
    folded = {gate: fold(gate, [one for one in documents if one.opening.gate == gate], against) for gate in gates}
    return {gate: (bool(one.gap), bool(one.unfinished), one.filled) for gate, one in folded.items()}


@given(st.integers(1, 3), st.data())
def test_base_evidence_of_which_a_part_was_taken_away_never_merges_t2(shards: int, data: st.DataObject) -> None:
    mine = [document(record(A)), document(record(A), gate=OTHER), document(gate=FREEZES, exit_code=None)]
    kept = [
        of_base(record(A), record(f"x::{n}"), gate=gate, shard=n, shards=shards)
        for gate in (GATE, OTHER)
        for n in range(1, shards + 1)
    ]
    here = data.draw(st.sets(st.integers(0, 2 * shards - 1), max_size=2 * shards - 1))
    mine = [*mine, *(document(*(record(f"x::{n}") for n in range(1, 4)), gate=gate) for gate in (GATE, OTHER))]
    assert judged(mine, inventory_of(kept, BASE)).kind == "accept"
    assert judged(mine, inventory_of([kept[n] for n in here], BASE)).kind == "hold"
