"""Documents and keys that the tests of signatures and approvals share."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from admit.core.decision import Decision, DocumentRef, GateRuling, Patch, PolicyRef
from admit.core.records import Closing, Document, NodeRecord, Opening, code_of
from admit.trust.dsse import envelope_bytes
from admit.trust.keys import Signer, signer_of
from admit.trust.statements import evidence_statement, statement_bytes

HEAD = "a" * 40
OPENING = Opening("property_check", "pr-7", HEAD, "b" * 40, "pytest", "9.2", "run-1", "nonce-1")


def signer(number: int) -> Signer:
    key = Ed25519PrivateKey.from_private_bytes(bytes([number]) * 32)
    return signer_of(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()), "k")


ANA, BEN, CI = signer(1), signer(2), signer(3)


def document(opening: Opening = OPENING, *checks: str, sealed: bool = True, ended: str = "finished") -> Document:
    """Return a document whose digest depends on all that it says, as that of a file does."""
    nodes = [NodeRecord(f"t.py::{n}", check, "match", "stable") for n, check in enumerate(checks or ("pass",))]
    closing = Closing(len(nodes), ended, 0, None, "launcher", "sha256:" + "0" * 64) if sealed else None
    digest = "sha256:" + hashlib.sha256(repr((opening, nodes, closing)).encode()).hexdigest()
    return Document(opening, {one.node: code_of(one) for one in nodes}, {}, closing, digest, "e/property_check.1.jsonl")


def signed(one: Document, by: Signer = CI) -> bytes:
    return envelope_bytes(statement_bytes(evidence_statement(one, "property_check.1.jsonl")), by)


def payload_of(raw: bytes) -> Any:
    return json.loads(base64.b64decode(json.loads(raw)["payload"]))


def resigned(tree: Any, by: Signer = CI) -> bytes:
    """Return an envelope over whatever tree, or bytes, signed by a trusted key."""
    return envelope_bytes(tree if isinstance(tree, bytes) else json.dumps(tree).encode(), by)


DIGEST = "sha256:" + "d" * 64
POLICY = PolicyRef("router", "sha256:" + "1" * 64)
REFERENCE = DocumentRef("some/where/d.jsonl", DIGEST, "pytest", "r", "default", 1, 1, 1, "finished", "launcher")


def decision(kind: str = "accept", **parts: Any) -> Decision:
    gate = GateRuling("property_check", "pass", "", documents=(REFERENCE,))
    whole = Decision(
        "WORD", kind, "all-gates-held", 7, "", "", "", Patch("pr 7", HEAD, None, "c" * 40), (gate,), POLICY, POLICY,
        "2026-12-01T00:00:00Z",
    )  # fmt: skip
    return whole._replace(**parts)
