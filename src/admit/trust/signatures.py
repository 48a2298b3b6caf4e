"""Which documents are not signed as the policy asks: pure, from documents and envelopes to reasons (contract T5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from admit import strictjson
from admit.errors import InputError
from admit.trust.dsse import read_envelope, signers
from admit.trust.statements import (
    BOUND,
    COUNTS,
    DECISION,
    EVIDENCE,
    SUMMARY,
    TEST_RESULT,
    Subject,
    bound,
    decision_statement,
    digest_of,
    read_statement,
    statement_bytes,
    table,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from admit.core.decision import Decision
    from admit.core.records import Document

SUFFIX: Final = ".dsse.json"
"""The envelope of `FILE` is `FILE.dsse.json`, beside it."""

_TEST_RESULT_KEYS: Final = ("result", "configuration", "passedTests", "failedTests", EVIDENCE)


def unsigned(
    documents: Iterable[Document], envelopes: Mapping[str, bytes], gate_keys: Mapping[str, Sequence[str]]
) -> dict[str, str]:
    """Return the documents that are not signed as a policy asks, by source, each with why.

    A gate with such a document is missing (contract T5): the policy asked for its word, and this is not it. What the
    signature says is compared with the document as it was read, so an envelope of another run, gate, commit or lane
    does not hold, whatever file it lies beside.

    Args:
        documents: as they were read.
        envelopes: the bytes of the envelope that lies beside each document, by the document's source.
        gate_keys: the gates whose documents must be signed, each with the keys of which one must have signed.

    Raises:
        UsageError: a signature has to be checked, and the extra that does it is not installed.
    """
    found: dict[str, str] = {}
    for document in documents:
        keys = gate_keys.get(document.opening.gate)
        if keys is None:
            continue
        try:
            signed_by(document, envelopes.get(document.source), keys)
        except InputError as error:
            found[document.source] = str(error)
    return found


def signed_by(document: Document, raw: bytes | None, key_ids: Sequence[str]) -> tuple[str, ...]:
    """Return which of the keys signed a document.

    Raises:
        InputError: none of them did, or what was signed is another document.
        UsageError: the extra that verifies is not installed.
    """
    gate = document.opening.gate
    if document.closing is None:
        raise InputError(
            document.source, "no closing record: what is not sealed is not signed", do="run the gate again"
        )
    if raw is None:
        raise InputError(document.source, f"not signed; the policy asks it of {gate}", do="sign it: `admit sign`")
    where = document.source + SUFFIX
    payload, by = _payload(raw, where, key_ids)
    statement = read_statement(payload, where, TEST_RESULT)
    signed = _signed_opening(statement.predicate, where)
    for key, value in bound(document.opening).items():
        if type(signed[key]) is not type(value) or signed[key] != value:
            found = f"it is signed for another {key.replace('_', ' ')}: {signed[key]!r}, and the document has {value!r}"
            raise InputError(where, found, do="sign this document; an envelope serves one alone")
    if [(one.kind, one.digest) for one in statement.subjects] != [digest_of(document.digest)]:
        found = f"it signs another document ({_digests(statement.subjects)}), and this is {document.digest}"
        raise InputError(where, found, do="sign this document; an envelope serves one alone")
    return by


def _payload(raw: bytes, where: str, key_ids: Sequence[str]) -> tuple[bytes, tuple[str, ...]]:
    """Return a payload that one of the keys signed, and which; nothing is read of one that none of them did."""
    envelope = read_envelope(raw, where)
    by = signers(envelope, key_ids)
    if not by:
        raise InputError(where, "none of the trusted keys signed it", allowed=", ".join(key_ids))
    return envelope.payload, by


def _signed_opening(predicate: Mapping[str, object], where: str) -> dict[str, object]:
    where = f"{where}: predicate"
    strictjson.only(dict(predicate), _TEST_RESULT_KEYS, where)
    keys = table(predicate[EVIDENCE], f"{where}: {EVIDENCE}")
    strictjson.only(keys, (*BOUND, *COUNTS), f"{where}: {EVIDENCE}")
    return keys


def _digests(subjects: Iterable[Subject]) -> str:
    return ", ".join(f"{one.kind}:{one.digest}" for one in subjects)


def decision_signed_by(decision: Decision, digest: str, raw: bytes, key_ids: Sequence[str]) -> tuple[str, ...]:
    """Return which of the keys signed a decision.

    Args:
        decision: the decision.
        digest: `sha256:…` of the file that it was read from.
        raw: the envelope.
        key_ids: the keys that are trusted with decisions.

    Raises:
        InputError: none of them did, or what was signed is another decision, or something else than this decision says.
        UsageError: the extra that verifies is not installed.
    """
    where = "the decision's envelope"
    payload, by = _payload(raw, where, key_ids)
    predicate = read_statement(payload, where, SUMMARY).predicate
    signed = table(predicate.get(DECISION), f"{where}: {DECISION}").get("decision")
    if signed != digest:
        raise InputError(where, f"it signs another decision ({signed!r})", allowed=digest)
    verifier = str(table(predicate.get("verifier"), f"{where}: verifier").get("id"))
    resource = str(predicate.get("resourceUri"))
    if statement_bytes(decision_statement(decision, digest, verifier=verifier, resource=resource)) != payload:
        raise InputError(where, "it says something else than the decision does", do="sign the decision again")
    return by
