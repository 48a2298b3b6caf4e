"""Decisions as text, JSON and Markdown, and why one node came out as it did."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.core.decision import (
    INADMISSIBLE,
    Counts,
    Decision,
    DocumentRef,
    GateRuling,
    Left,
    NodeVerdict,
    Patch,
    PolicyRef,
)
from admit.core.records import Examples, NodeRecord
from admit.errors import InputError
from admit.policy import load
from admit.render.advice import BY_ATTRIBUTION, BY_REASON, BY_STATE, BY_WHY, next_steps
from admit.render.explain import explain_node, near_names, unlisted
from admit.render.json import decision_bytes, read_decision
from admit.render.markdown import markdown
from admit.render.text import coloured, text

FAILED = NodeRecord(
    "t.py::a",
    "fail",
    "match",
    "stable",
    message="AssertionError: 1 == 2",
    counterexample="Failing test case: a(\n    x=1,\n)",
    reproduce="@reproduce_failure('6', b'AA')",
    seed=7,
    attempts=2,
    flaky=True,
    examples=Examples(3, 2, 100),
)


def decision(**changes: object) -> Decision:
    verdict = NodeVerdict("t.py::a", "REJECT", "reject", "property_fail", 4, FAILED)
    reference = DocumentRef("p.jsonl", "sha256:1", "pytest 9", "run-1", "default", 1, 1, 1, "finished", "launcher")
    left = Left("property_check", "t.py::s", "abstained", "skip: needs Windows")
    failing = GateRuling(
        "property_check", "fail", "1 of 3", Counts(1, 1, 0, 1), (verdict,), (left,), ("t.py::ok",), (reference,)
    )
    return Decision(
        outcome="BLOCK",
        kind="reject",
        attribution="invariant-or-over-specified-property",
        rule=4,
        rule_text="property_check is fail",
        look_first="the property",
        detail="property_check fail: 1 of 3",
        patch=Patch("pr-1", "a" * 40, None, "b" * 40),
        gates=(failing, GateRuling("flaky_freeze", "pass", "0 entries", accepted=None)),
        router=PolicyRef("router", "sha256:2"),
        arbiter=PolicyRef("arbiter", "sha256:3"),
        now="2026-11-30T12:00:00Z",
        notes=("no-base: said",),
    )._replace(**changes)


def test_a_decision_reads_back_from_its_json_as_it_was_e7() -> None:
    assert read_decision(decision_bytes(decision()), "d.json") == decision()
    assert read_decision(decision_bytes(decision(), indent=1), "d.json") == decision()


def test_the_json_says_the_exit_code_and_the_schema() -> None:
    tree = json.loads(decision_bytes(decision()))
    assert (tree["schema"], tree["exit_code"], tree["outcome"]) == ("admit.decision/1", 1, "BLOCK")


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"[]", id="an array"),
        pytest.param(b"{}", id="no schema"),
        pytest.param(b'{"schema": "admit.decision/9"}', id="another schema"),
        pytest.param(b'{"schema": "admit.decision/1"}', id="nothing else"),
        pytest.param(decision_bytes(decision())[:-20], id="cut"),
        pytest.param(decision_bytes(decision()).replace(b'"gates":[', b'"gates":[3,'), id="a gate that is a number"),
        pytest.param(b"\xff", id="bytes"),
        pytest.param(b"[" * 100_000, id="deep"),
    ],
)
def test_what_is_no_decision_is_refused_in_one_line(raw: bytes) -> None:
    with pytest.raises(InputError) as caught:
        read_decision(raw, "d.json")
    assert str(caught.value).startswith("d.json: ")
    assert "\n" not in str(caught.value)


def test_text_says_disposition_rule_gates_nodes_with_counterexample_what_left_and_what_next() -> None:
    said = text(decision())
    first, *rest = said.splitlines()
    assert first == "BLOCK attribution=invariant-or-over-specified-property"
    for part in (
        "rule 4: property_check is fail",
        "look first at: the property",
        "property_check  fail",
        "REJECT property_fail t.py::a",
        "run 2 times, both passed and failed",
        "    x=1,",
        "@reproduce_failure",
        "abstained t.py::s: skip: needs Windows",
        "note: no-base: said",
        "next: ",
    ):
        assert any(part in line for line in rest), part


def test_inadmissible_evidence_says_what_it_would_have_been_e5() -> None:
    held = decision(
        rule=0, outcome="ESCALATE", kind="hold", attribution="uncommitted-changes", would_be="BLOCK attribution=x"
    )
    assert "it would have been: BLOCK attribution=x" in text(held)
    assert "It would have been: BLOCK attribution=x" in markdown(held)


@given(st.text(max_size=40))
def test_text_from_evidence_cannot_draw_on_the_terminal_or_start_a_line(hostile: str) -> None:
    record = FAILED._replace(node=hostile, message=hostile, counterexample=hostile)
    verdict = NodeVerdict(hostile, "REJECT", "reject", "property_fail", 4, record)
    said = text(decision(gates=(GateRuling("property_check", "fail", hostile, nodes=(verdict,)),)))
    assert "\x1b" not in said
    assert all(line == "" or line[0] in " B" for line in said.split("\n"))


@given(st.text(alphabet="`*_<>|#@[]!\\~ab\n", max_size=30))
def test_text_from_evidence_cannot_become_markup(hostile: str) -> None:
    record = FAILED._replace(message=hostile)
    verdict = NodeVerdict("n", "REJECT", "reject", "property_fail", 4, record)
    said = markdown(
        decision(gates=(GateRuling("property_check", "fail", hostile, nodes=(verdict,)),), notes=(hostile,))
    )
    assert said.count("```") == 2
    outside = re.sub(r"```.*?```", "", said, flags=re.DOTALL)
    assert not re.search(r"(?<!\\)<|@[a-z]", outside)


def test_colour_is_only_paint() -> None:
    assert re.sub(r"\x1b\[\d*m", "", text(decision(), coloured)) == text(decision())


@pytest.mark.parametrize(
    ("node", "said"),
    [
        pytest.param("t.py::a", "by rule 4 of the arbiter (property_check=fail, fixture_lock=match", id="rejected"),
        pytest.param("t.py::s", "abstained: left the sample of property_check (skip: needs Windows)", id="left"),
        pytest.param("t.py::ok", "accepted: it ran and held", id="accepted"),
    ],
)
def test_explain_says_why_from_the_decision_alone_u6(node: str, said: str) -> None:
    assert any(said in line for line in explain_node(decision(), node))


def test_explain_knows_what_it_does_not_know() -> None:
    assert explain_node(decision(), "t.py") == []
    assert near_names(decision(), "t.py::") == ["t.py::a", "t.py::ok", "t.py::s"]
    assert unlisted(decision(gates=(GateRuling("p", "pass", "", Counts(7), accepted=None),))) == 7


WEAKENING = re.compile(
    r"\b(skip|ignore|disable|delete|remove the test|relax|loosen|widen|increase the (limit|timeout)|rerun until|retry|"
    r"xfail|add (a|the) freeze|"
    r"freeze (it|the test)|lower|suppress|update the (snapshot|fixture|expected))\b",
    re.IGNORECASE,
)


@pytest.mark.parametrize(
    "line",
    [*BY_ATTRIBUTION.values(), *BY_REASON.values(), *BY_WHY.values(), *BY_STATE.values(), *INADMISSIBLE.values()],
)
def test_no_advice_suggests_to_weaken_a_check(line: str) -> None:
    assert not WEAKENING.search(line)


def test_every_attribution_of_the_shipped_router_and_of_inadmissible_evidence_has_its_advice() -> None:
    reasons = {rule.reason for rule in load("router").ladder.rules}
    assert reasons | INADMISSIBLE.keys() == BY_ATTRIBUTION.keys()


def test_a_merge_is_advised_for_an_accept_alone() -> None:
    assert [attribution for attribution, line in BY_ATTRIBUTION.items() if "Merge" in line] == ["all-gates-held"]
    assert next_steps(decision(attribution="something of a team's own"))[0] == (
        "Look at what is named first, and have a person decide."
    )
