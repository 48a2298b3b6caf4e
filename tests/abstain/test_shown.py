"""What evidence shows against what is declared: exactly that leaves the sample, nothing else (contract U7)."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

from admit.abstain.file import BY_DESIGN, Abstentions, Declared
from admit.abstain.shown import Proposed, check, is_shown, propose, updated
from admit.core.records import Closing, Document, NodeRecord, Opening, code_of, joined
from admit.core.signals import CHECK_STATES, FREEZE_GATE, WHYS, Ended

NODE = "a.py::test_x"
GPU = Declared("skip", "needs a GPU")
SHOWN = NodeRecord(NODE, "not_run", "match", "stable", why="skip", message="needs a GPU")
PASSED = NodeRecord(NODE, "pass", "match", "stable")
FAILED = NodeRecord(NODE, "fail", "match", "stable")


def document(
    *records: NodeRecord, digest: str = "sha256:1", gate: str = "property_check", ended: Ended | None = "finished"
) -> Document:
    opening = Opening(gate, "pr-7", "c" * 40, None, "pytest", "9", "run", digest)
    closing = None if ended is None else Closing(len(records), ended, 0, None, "launcher", digest)
    codes = {one.node: code_of(one) for one in records}
    return Document(opening, codes, {one.node: one for one in records if one != PASSED}, closing, digest, "x.jsonl")


def declared(**by_node: Declared) -> Abstentions:
    return Abstentions("admit.abstentions.toml", {NODE: GPU} | by_node)


# ---------------------------------------------------------------- is_shown


def test_a_node_that_shows_exactly_what_is_declared_abstains() -> None:
    assert is_shown(GPU, SHOWN)
    assert is_shown(GPU, SHOWN, code_of(SHOWN))
    assert is_shown(GPU._replace(note="for people"), SHOWN)


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"why": "xfail"}, id="another-why"),
        pytest.param({"why": None}, id="no-why"),
        pytest.param({"message": "needs a gpu"}, id="another-reason"),
        pytest.param({"message": "needs a GPU "}, id="a-space-more"),
        pytest.param({"message": ""}, id="no-reason"),
        pytest.param({"check": "pass"}, id="unexpected-pass"),
        pytest.param({"check": "fail"}, id="failure"),
        pytest.param({"flaky": True}, id="both-passed-and-failed"),
        pytest.param({"fixture_lock": "drifted"}, id="fixtures-drifted"),
        pytest.param({"fixture_lock": "missing"}, id="fixtures-missing"),
        pytest.param({"flake_status": "frozen", "freeze_expires": "2026-12-20T00:00:00Z"}, id="frozen"),
    ],
)
def test_anything_else_does_not(changes: dict[str, Any]) -> None:
    assert not is_shown(GPU, SHOWN._replace(**changes))


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(PASSED, id="pass"),
        pytest.param(FAILED, id="failure"),
        pytest.param(PASSED._replace(fixture_lock="drifted"), id="drift"),
        pytest.param(SHOWN._replace(fixture_lock="missing"), id="drift-alone"),
        pytest.param(SHOWN._replace(flake_status="frozen"), id="frozen"),
    ],
)
def test_another_attempt_that_showed_something_else_counts(other: NodeRecord) -> None:
    assert not is_shown(GPU, SHOWN, joined(code_of(SHOWN), code_of(other)))


def test_of_all_words_only_the_declared_ones_abstain() -> None:
    shown = {
        (check_state, why)
        for check_state in CHECK_STATES
        for why in WHYS
        if is_shown(GPU, SHOWN._replace(check=check_state, why=why))
    }
    assert shown == {("not_run", "skip")}


# ---------------------------------------------------------------- propose


def test_a_node_whose_only_state_is_a_no_verdict_by_design_is_proposed() -> None:
    xfail = NodeRecord("b.py::test_y", "not_run", "match", "stable", why="xfail", message="")
    assert propose([document(xfail, SHOWN), document(SHOWN, digest="sha256:2")]) == [
        Proposed(NODE, GPU),
        Proposed("b.py::test_y", Declared("xfail", "")),
    ]


@pytest.mark.parametrize("why", sorted(set(WHYS) - set(BY_DESIGN)))
def test_an_accident_is_never_proposed(why: Any) -> None:
    assert propose([document(SHOWN._replace(why=why))]) == []
    assert propose([document(SHOWN), document(SHOWN._replace(why=why), digest="sha256:2")]) == []


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(PASSED, id="pass"),
        pytest.param(FAILED, id="failure"),
        pytest.param(SHOWN._replace(message="needs two GPUs"), id="another-reason"),
        pytest.param(SHOWN._replace(why="todo"), id="another-why"),
        pytest.param(SHOWN._replace(fixture_lock="drifted"), id="drift"),
        pytest.param(SHOWN._replace(flake_status="frozen"), id="frozen"),
        pytest.param(SHOWN._replace(flaky=True), id="both-passed-and-failed"),
    ],
)
@pytest.mark.parametrize("ended", [pytest.param("finished", id="finished"), pytest.param(None, id="died")])
def test_a_node_that_showed_something_else_anywhere_is_not_proposed(other: NodeRecord, ended: Ended | None) -> None:
    two = [document(SHOWN), document(other, digest="sha256:2", ended=ended)]
    assert [propose(order) for order in permutations(two)] == [[], []]


@pytest.mark.parametrize("ended", [None, "interrupted", "timeout", "crashed", "exit_disagrees", "unknown"])
def test_a_run_that_did_not_finish_proposes_nothing(ended: Ended | None) -> None:
    assert propose([document(SHOWN, ended=ended)]) == []


def test_a_node_that_one_attempt_did_not_reach_is_not_proposed() -> None:
    lost = code_of(SHOWN._replace(why="never_ran"))
    one = document(SHOWN)
    assert propose([one._replace(codes={NODE: joined(code_of(SHOWN), lost)})]) == []


def test_an_entry_of_the_freeze_register_is_no_test() -> None:
    assert propose([document(SHOWN, gate=FREEZE_GATE)]) == []
    assert propose([document(SHOWN), document(PASSED, digest="sha256:2", gate=FREEZE_GATE)]) == [Proposed(NODE, GPU)]


# ---------------------------------------------------------------- check


def test_evidence_that_shows_what_is_declared_differs_in_nothing() -> None:
    assert check(declared(), [document(SHOWN), document(SHOWN, digest="sha256:2")]) == ()


SAID = "a.py::test_x: {}: declared skip (needs a GPU), shows {}"


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        pytest.param([PASSED], SAID.format("passed", "a pass"), id="pass"),
        pytest.param([SHOWN, PASSED], SAID.format("passed", "a pass"), id="pass-in-another-attempt"),
        pytest.param([FAILED], SAID.format("failed", "a failure"), id="failure"),
        pytest.param([PASSED, FAILED], SAID.format("failed", "a failure"), id="both"),
        pytest.param(
            [SHOWN._replace(message="")], SAID.format("other reason", "skip without a reason"), id="no-reason"
        ),
        pytest.param(
            [SHOWN, SHOWN._replace(message="x")], SAID.format("other reason", "skip (x)"), id="another-reason"
        ),
        pytest.param([SHOWN._replace(why="timeout")], SAID.format("other why", "timeout (needs a GPU)"), id="timeout"),
        pytest.param(
            [SHOWN._replace(why=None, message="")], SAID.format("other why", "no verdict without a reason"), id="no-why"
        ),
        pytest.param(
            [SHOWN._replace(fixture_lock="drifted")], SAID.format("not clean", "skip (needs a GPU)"), id="fixtures"
        ),
        pytest.param([], "a.py::test_x: not seen: declared skip (needs a GPU)", id="not-seen"),
    ],
)
def test_a_difference_says_what_is_declared_and_what_is_shown(records: list[NodeRecord], expected: str) -> None:
    documents = [document(record, digest=f"sha256:{number}") for number, record in enumerate(records)]
    assert [one.text for one in check(declared(), documents)] == [expected]


def test_a_node_that_abstains_undeclared_is_named_in_order() -> None:
    found = check(declared(zz=GPU), [document(SHOWN, SHOWN._replace(node="b.py::test_y"))])
    assert [one.text for one in found] == [
        "b.py::test_y: undeclared: shows skip (needs a GPU)",
        "zz: not seen: declared skip (needs a GPU)",
    ]
    assert [(one.kind, one.declared) for one in found] == [("undeclared", None), ("not seen", GPU)]


# ---------------------------------------------------------------- updated


def test_what_is_shown_now_is_declared_and_what_only_passed_is_dropped() -> None:
    old = Declared("skip", "old reason", "keep me")
    before = declared(changed=old, passes=GPU, elsewhere=GPU, fails=GPU, times=GPU)
    evidence = document(
        SHOWN,
        SHOWN._replace(node="changed"),
        SHOWN._replace(node="new", why="xfail", message="bug"),
        PASSED._replace(node="passes"),
        FAILED._replace(node="fails"),
        SHOWN._replace(node="times", why="timeout"),
    )
    after = updated(before, [evidence])
    assert (after.added, after.changed, after.dropped) == (("new",), ("changed",), ("passes",))
    assert after.abstentions.by_node == {
        NODE: GPU,
        "changed": GPU._replace(note="keep me"),
        "elsewhere": GPU,
        "fails": GPU,
        "times": GPU,
        "new": Declared("xfail", "bug"),
    }
    assert before.by_node["changed"] == old


def test_a_node_that_passed_in_one_run_and_abstained_in_another_is_left_to_a_person() -> None:
    after = updated(declared(), [document(SHOWN), document(PASSED, digest="sha256:2")])
    assert (after.abstentions.by_node, after.dropped) == ({NODE: GPU}, ())


def test_updating_twice_changes_nothing_more() -> None:
    once = updated(declared(passes=GPU), [document(SHOWN, PASSED._replace(node="passes"))])
    again = updated(once.abstentions, [document(SHOWN, PASSED._replace(node="passes"))])
    assert (again.abstentions, again.added, again.changed, again.dropped) == (once.abstentions, (), (), ())
    assert check(again.abstentions, [document(SHOWN, PASSED._replace(node="passes"))]) == ()
