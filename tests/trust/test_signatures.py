"""T5: a document is signed by a key that is trusted with its gate, and by nothing else, not even a copied signature."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.errors import InputError
from admit.evidence.wire import SIGNED
from admit.trust.dsse import envelope_bytes
from admit.trust.signatures import SUFFIX, decision_signed_by, signed_by, unsigned
from admit.trust.signedfiles import envelopes_of
from admit.trust.statements import EVIDENCE, SUMMARY, decision_statement, statement_bytes

SIGNING = runpy.run_path(str(Path(__file__).with_name("signing.py")))
NAMES = "ANA BEN CI DIGEST HEAD OPENING decision document payload_of resigned signed"
(ANA, BEN, CI, DIGEST, HEAD, OPENING, decision, document, payload_of, resigned, signed) = map(
    SIGNING.get, NAMES.split()
)


SOURCE = document().source
KEYS = {"property_check": (CI.key_id, BEN.key_id), "fixture_check": (ANA.key_id,)}


def why(one: Any, envelope: bytes | None, keys: Any = KEYS) -> str:
    """Return why a document is not signed; empty if it is."""
    found = unsigned([one], {} if envelope is None else {one.source: envelope}, keys)
    assert set(found) <= {one.source}
    return found.get(one.source, "")


@pytest.mark.parametrize("by", [pytest.param(CI, id="the first"), pytest.param(BEN, id="another")])
def test_a_document_that_a_key_of_its_gate_signed_is_signed(by: Any) -> None:
    assert why(document(), signed(document(), by)) == ""


def test_a_gate_of_which_the_policy_asks_nothing_needs_no_signature() -> None:
    assert why(document(OPENING._replace(gate="lint")), None) == ""
    assert unsigned([document()], {}, {}) == {}


def test_without_an_envelope_it_is_unsigned() -> None:
    assert why(document(), None) == f"{SOURCE}: not signed; the policy asks it of property_check; sign it: `admit sign`"


def test_an_unsealed_document_is_never_signed() -> None:
    one = document()
    assert "no closing record" in why(one._replace(closing=None), signed(one))


def test_a_key_that_nobody_named_signs_nothing() -> None:
    assert "none of the trusted keys signed it" in why(document(), signed(document(), ANA))
    assert "none of the trusted keys signed it" in why(document(), signed(document()), {"property_check": ()})


def test_the_key_of_one_gate_does_not_sign_for_another() -> None:
    one = document(OPENING._replace(gate="fixture_check"))
    assert why(one, signed(one, ANA)) == ""
    assert "none of the trusted keys signed it" in why(one, signed(one, CI))


REPLAYS = [
    pytest.param({"run_id": "run-0", "nonce": "nonce-0"}, "run id: 'run-0', and the document has 'run-1'", id="run"),
    pytest.param({"nonce": "nonce-0"}, "nonce: 'nonce-0'", id="nonce"),
    pytest.param({"gate": "fixture_check"}, "gate: 'fixture_check'", id="gate"),
    pytest.param({"head": "f" * 40}, f"head: '{'f' * 40}', and the document has '{HEAD}'", id="head"),
    pytest.param({"head": None}, "head: None", id="no head"),
    pytest.param({"base": None}, "base: None", id="base"),
    pytest.param({"patch_id": "pr-8"}, "patch id: 'pr-8'", id="patch"),
    pytest.param({"lane": "bench"}, "lane: 'bench', and the document has 'default'", id="lane"),
    pytest.param({"shard": 2, "shards": 2}, "shard: 2, and the document has 1", id="shard"),
    pytest.param({"shards": 2}, "shards: 2", id="shards"),
    pytest.param({"attempt": 2}, "attempt: 2", id="attempt"),
    pytest.param({"dirty": True}, "dirty: True", id="dirty"),
    pytest.param({"instrument_of": "e" * 40}, f"instrument of: '{'e' * 40}'", id="instrument"),
    pytest.param({"tool": "other"}, "tool: 'other'", id="tool"),
]


@pytest.mark.parametrize(("other", "says"), REPLAYS)
def test_an_envelope_copied_from_another_run_gate_commit_or_lane_is_refused(other: Any, says: str) -> None:
    envelope = signed(document(OPENING._replace(**other)))
    assert f"it is signed for another {says}" in why(document(), envelope)


@pytest.mark.parametrize(("other", "says"), REPLAYS)
def test_it_is_refused_by_what_it_says_even_where_the_digest_fits(other: Any, says: str) -> None:
    tree = payload_of(signed(document()))
    tree["predicate"][EVIDENCE] |= other
    assert f"it is signed for another {says}" in why(document(), resigned(tree))


def test_it_is_refused_by_its_digest_where_all_that_it_says_fits() -> None:
    other = document(OPENING, "fail")
    assert "it signs another document" in why(document(), signed(other))


@pytest.mark.parametrize("swap", [(1, True), (1, 1.0)])
def test_a_number_is_not_another_types_equal(swap: tuple[Any, Any]) -> None:
    tree = payload_of(signed(document()))
    assert tree["predicate"][EVIDENCE]["attempt"] == swap[0]
    tree["predicate"][EVIDENCE]["attempt"] = swap[1]
    assert "another attempt" in why(document(), resigned(tree))


def test_further_subjects_are_refused() -> None:
    tree = payload_of(signed(document()))
    tree["subject"] *= 2
    assert "it signs another document" in why(document(), resigned(tree))


def test_a_digest_of_another_kind_is_refused() -> None:
    tree = payload_of(signed(document()))
    tree["subject"][0]["digest"] = {"sha512": tree["subject"][0]["digest"]["sha256"]}
    assert "it signs another document" in why(document(), resigned(tree))


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        pytest.param(lambda t: t.update(predicateType="urn:admit:approval:1"), "predicateType", id="an approval"),
        pytest.param(lambda t: t["predicate"].pop(EVIDENCE), "is missing", id="no run"),
        pytest.param(lambda t: t["predicate"].update(more=1), "unknown key 'more'", id="an unknown key"),
        pytest.param(lambda t: t["predicate"][EVIDENCE].update(more=1), "unknown key 'more'", id="one further in"),
        pytest.param(lambda t: t["predicate"][EVIDENCE].pop("lane"), "'lane' is missing", id="no lane"),
        pytest.param(lambda t: t["predicate"].update({EVIDENCE: 7}), "allowed: an object", id="another type"),
    ],
)
def test_a_trusted_keys_statement_about_something_else_is_refused(edit: Any, says: str) -> None:
    tree = payload_of(signed(document()))
    edit(tree)
    assert says in why(document(), resigned(tree))


def test_nothing_is_read_of_a_payload_that_no_trusted_key_signed() -> None:
    assert "none of the trusted keys" in why(document(), resigned(b"\xff not even text", ANA))


@given(st.binary(max_size=60))
def test_whatever_lies_there_instead_of_an_envelope_is_a_reason_in_one_line(raw: bytes) -> None:
    assert why(document(), raw).isprintable()
    assert why(document(), raw)
    assert why(document(), resigned(raw))


def test_every_document_is_asked_for_itself() -> None:
    one = document()
    two = document(OPENING._replace(run_id="run-2"))._replace(source="e/property_check.2.jsonl")
    envelopes = {one.source: signed(one), two.source: signed(one)}
    assert list(unsigned([one, two], envelopes, KEYS)) == [two.source]


def test_who_signed_is_told() -> None:
    assert signed_by(document(), signed(document(), BEN), KEYS["property_check"]) == (BEN.key_id,)


def test_envelopes_are_found_beside_their_documents(tmp_path: Path) -> None:
    there, none, broken = (str(tmp_path / name) for name in ("a", "b", "c"))
    Path(there + SUFFIX).write_bytes(b"x")
    Path(broken + SUFFIX).mkdir()
    assert envelopes_of([there, none, broken]) == {there: b"x", broken: b""}


def test_the_evidence_folder_knows_an_envelope_by_the_same_name() -> None:
    assert SUFFIX == SIGNED


# ---------------------------------------------------------------- decisions


def summary(one: Any, by: Any = ANA, digest: str = DIGEST, **uris: str) -> bytes:
    return envelope_bytes(statement_bytes(decision_statement(one, digest, **uris)), by)


def test_a_decisions_signature_holds_whatever_its_signer_calls_himself() -> None:
    raw = summary(decision(), verifier="https://ci.example/admit", resource="git+https://example.org/r")
    assert decision_signed_by(decision(), DIGEST, raw, [ANA.key_id]) == (ANA.key_id,)


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        pytest.param(summary(decision(), BEN), "none of the trusted keys", id="another key"),
        pytest.param(summary(decision(), digest="sha256:" + "e" * 64), "it signs another decision", id="another file"),
        pytest.param(summary(decision("hold")), "something else than the decision", id="another outcome"),
        pytest.param(signed(document(), ANA), "predicateType", id="a test result"),
        pytest.param(
            resigned(payload_of(summary(decision())) | {"predicate": {}}, ANA), "allowed: an object", id="nothing said"
        ),
    ],
)
def test_a_signature_of_another_decision_is_refused(raw: bytes, says: str) -> None:
    with pytest.raises(InputError) as refused:
        decision_signed_by(decision(), DIGEST, raw, [ANA.key_id])
    assert says in str(refused.value)


def test_a_failed_decision_that_is_signed_as_passed_is_refused() -> None:
    tree = payload_of(summary(decision("hold")))
    tree["predicate"]["verificationResult"] = "PASSED"
    assert tree["predicateType"] == SUMMARY
    with pytest.raises(InputError, match="something else than the decision"):
        decision_signed_by(decision("hold"), DIGEST, resigned(tree, ANA), [ANA.key_id])
