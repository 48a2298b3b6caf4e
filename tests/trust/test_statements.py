"""Statements: what is signed of evidence and of decisions, and what is refused when it is read back."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.core.decision import Patch
from admit.errors import InputError
from admit.trust.statements import (
    BOUND,
    DECISION,
    EVIDENCE,
    MAX_NAMES,
    STATEMENT,
    SUMMARY,
    TEST_RESULT,
    Statement,
    Subject,
    decision_statement,
    evidence_statement,
    read_statement,
    statement_bytes,
)

SIGNING = runpy.run_path(str(Path(__file__).with_name("signing.py")))
NAMES = "DIGEST HEAD OPENING decision document"
(DIGEST, HEAD, OPENING, decision, document) = map(SIGNING.get, NAMES.split())


def payload(**keys: Any) -> bytes:
    return json.dumps(json.loads(statement_bytes(evidence_statement(document(), "d.jsonl"))) | keys).encode()


def test_a_statement_names_the_document_and_the_digest_of_its_whole_file() -> None:
    one = document()
    tree = json.loads(statement_bytes(evidence_statement(one, "d.jsonl")))
    assert tree["_type"] == STATEMENT
    assert tree["predicateType"] == TEST_RESULT
    assert tree["subject"] == [{"name": "d.jsonl", "digest": {"sha256": one.digest.removeprefix("sha256:")}}]


def test_all_that_says_which_run_it_was_stands_under_the_signature() -> None:
    said = evidence_statement(document(), "d").predicate[EVIDENCE]
    assert {key: said[key] for key in BOUND} == OPENING._asdict()


@pytest.mark.parametrize(
    ("checks", "ended", "result"),
    [
        (["pass", "pass"], "finished", "PASSED"),
        (["pass", "fail"], "finished", "FAILED"),
        (["pass", "not_run"], "finished", "FAILED"),
        (["pass"], "interrupted", "FAILED"),
    ],
)
def test_passed_is_said_only_of_a_run_that_finished_and_passed_everywhere(
    checks: list[str], ended: str, result: str
) -> None:
    said = evidence_statement(document(OPENING, *checks, ended=ended), "d").predicate
    assert said["result"] == result
    assert "warnedTests" not in said


def test_a_document_without_tests_has_not_passed() -> None:
    assert evidence_statement(document()._replace(codes={}), "d").predicate["result"] == "FAILED"


def test_tests_are_named_and_counted_and_one_without_a_verdict_is_in_no_list() -> None:
    said = evidence_statement(document(OPENING, "pass", "fail", "not_run"), "d").predicate
    assert (said["passedTests"], said["failedTests"]) == (["t.py::0"], ["t.py::1"])
    assert [said[EVIDENCE][key] for key in ("passed", "failed", "no_verdict")] == [1, 1, 1]


def test_past_a_bound_tests_are_counted_and_not_named() -> None:
    said = evidence_statement(document(OPENING, *["pass"] * (MAX_NAMES + 1)), "d").predicate
    assert (said["passedTests"], said[EVIDENCE]["passed"], said["result"]) == ([], MAX_NAMES + 1, "PASSED")


def test_an_unsealed_document_is_not_signed() -> None:
    with pytest.raises(InputError, match="d: no closing record: its run died"):
        evidence_statement(document(sealed=False), "d")


def test_a_statement_is_the_same_bytes_each_time_and_reads_back() -> None:
    one = evidence_statement(document(), "d")
    assert statement_bytes(one) == statement_bytes(one)
    assert read_statement(statement_bytes(one), "e", TEST_RESULT) == one


def test_a_name_that_is_not_text_is_refused() -> None:
    with pytest.raises(InputError, match="not UTF-8 cannot be signed"):
        statement_bytes(Statement((Subject("a\udcff", "gitBlob", "0" * 40),), "t", {}))


SUBJECT = {"name": "d", "digest": {"sha256": "0" * 64}}


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        pytest.param(b"", "not JSON", id="empty"),
        pytest.param(payload(more=1), "unknown key 'more'", id="an unknown key"),
        pytest.param(b'{"_type": 1, ' + payload()[1:], "'_type' stands twice", id="a key twice"),
        pytest.param(payload(_type="https://in-toto.io/Statement/v0.1"), "allowed: " + STATEMENT, id="another version"),
        pytest.param(payload(predicateType=SUMMARY), "allowed: " + TEST_RESULT, id="another predicate"),
        pytest.param(payload(predicate=[]), "allowed: an object", id="a predicate of another type"),
        pytest.param(payload(subject=[]), "no such list", id="no subject"),
        pytest.param(payload(subject=[SUBJECT] * 2001), "no such list", id="too many subjects"),
        pytest.param(payload(subject=["d"]), "allowed: an object", id="a subject of another type"),
        pytest.param(payload(subject=[{"name": "d"}]), "'digest' is missing", id="a subject without a digest"),
        pytest.param(payload(subject=[SUBJECT | {"digest": {}}]), "0 digests", id="no digest"),
        pytest.param(
            payload(subject=[SUBJECT | {"digest": {"sha256": "X" * 64}}]), "hexadecimal", id="no digest at all"
        ),
        pytest.param(payload(subject=[SUBJECT | {"digest": {"sha256": 7}}]), "hexadecimal", id="a digest of a type"),
        pytest.param(
            payload(subject=[SUBJECT | {"digest": {"sha256": "0" * 64, "sha512": "0" * 128}}]), "2 digests", id="two"
        ),
        pytest.param(payload(subject=[SUBJECT | {"name": ""}]), "allowed: a text", id="no name"),
        pytest.param(payload(predicate={"a": "\ud800"}), "half of a surrogate pair", id="half a character"),
        pytest.param(
            payload(predicate=json.loads('{"a":' * 40 + "1" + "}" * 40)), "too deep inside each other", id="too deep"
        ),
    ],
)
def test_what_is_not_exactly_a_statement_of_the_type_is_refused(raw: bytes, says: str) -> None:
    with pytest.raises(InputError, match="^e: payload") as refused:
        read_statement(raw, "e", TEST_RESULT)
    assert says in str(refused.value)


@given(st.binary(max_size=80))
def test_any_bytes_are_refused_in_one_line(raw: bytes) -> None:
    with pytest.raises(InputError) as refused:
        read_statement(raw, "e", TEST_RESULT)
    assert str(refused.value).isprintable()


# ---------------------------------------------------------------- decisions


def test_a_decision_is_summed_up_with_its_time_policy_and_inputs() -> None:
    said = decision_statement(decision(), DIGEST)
    assert said.subjects == (Subject("head", "gitCommit", HEAD), Subject("tree", "gitTree", "c" * 40))
    assert said.predicate_type == SUMMARY
    assert said.predicate["timeVerified"] == "2026-12-01T00:00:00Z"
    assert said.predicate["resourceUri"] == "urn:admit:patch:pr%207"
    assert said.predicate["verifier"] == {"id": "urn:admit:verifier"}
    assert said.predicate["policy"] == {"uri": "urn:admit:policy:router", "digest": {"sha256": "1" * 64}}
    assert said.predicate["inputAttestations"] == [{"name": "d.jsonl", "digest": {"sha256": "d" * 64}}]
    assert said.predicate[DECISION]["decision"] == DIGEST


@pytest.mark.parametrize(
    ("kind", "result", "levels"),
    [("accept", "PASSED", ["ADMIT_ACCEPTED"]), ("reject", "FAILED", ["FAILED"]), ("hold", "FAILED", ["FAILED"])],
)
def test_only_an_accept_has_passed(kind: str, result: str, levels: list[str]) -> None:
    said = decision_statement(decision(kind), DIGEST).predicate
    assert (said["verificationResult"], said["verifiedLevels"]) == (result, levels)


@pytest.mark.parametrize("head", [None, "main", "A" * 40, ""])
def test_a_decision_on_no_commit_is_not_signed(head: str | None) -> None:
    with pytest.raises(InputError, match="decide on a commit"):
        decision_statement(decision(patch=Patch("p", head)), DIGEST)


def test_a_tree_that_is_not_known_is_no_subject() -> None:
    said = decision_statement(decision(patch=Patch("p", HEAD)), DIGEST)
    assert said.subjects == (Subject("head", "gitCommit", HEAD),)
