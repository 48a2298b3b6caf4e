"""DSSE v1 envelopes: what was signed, and by whom; read strictly, whatever the file holds."""

from __future__ import annotations

import base64
import binascii
import json
import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from admit import strictjson
from admit.errors import InputError
from admit.trust.keys import has_signed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from admit.trust.keys import Signer

PAYLOAD_TYPE: Final = "application/vnd.in-toto+json"
MAX_BYTES: Final = 4_000_000
"""The largest envelope that is read; the largest that is written is a quarter of it."""

MAX_SIGNATURES: Final = 16
"""Most signatures of one envelope: each is tried with each key."""

_STANDARD: Final = re.compile(r"[A-Za-z0-9+/]*={0,2}")
_SAFE: Final = re.compile(r"[A-Za-z0-9_-]*={0,2}")
_BRACKETS: Final = MAX_SIGNATURES * 2 + 16
_AGAIN: Final = "sign it again"


class Envelope(NamedTuple):
    """A payload with its signatures, none of them checked yet."""

    payload_type: str
    payload: bytes
    signatures: tuple[bytes, ...]


def pae(payload_type: str, payload: bytes) -> bytes:
    """Return the bytes that are signed (DSSE v1, pre-authentication encoding)."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def envelope_bytes(payload: bytes, signer: Signer) -> bytes:
    """Return an in-toto payload in an envelope, signed by one key, as the bytes that stand on disk."""
    signature = signer.sign(pae(PAYLOAD_TYPE, payload))
    tree = {
        "payloadType": PAYLOAD_TYPE,
        "payload": base64.b64encode(payload).decode(),
        "signatures": [{"keyid": signer.key_id, "sig": base64.b64encode(signature).decode()}],
    }
    return json.dumps(tree, indent=1).encode() + b"\n"


def read_envelope(raw: bytes, where: str) -> Envelope:
    """Return the envelope in a file.

    Raises:
        InputError: anything that is not exactly one envelope with an in-toto payload, or too many signatures.
    """
    if len(raw) > MAX_BYTES:
        raise InputError(where, f"{len(raw)} bytes", allowed=f"{MAX_BYTES} bytes", do=_AGAIN)
    if raw.count(b"{") + raw.count(b"[") > _BRACKETS:  # so that nothing in it is deep enough to exhaust the stack
        raise InputError(where, "too many objects and arrays", allowed="one envelope (DSSE v1)", do=_AGAIN)
    tree = strictjson.read_object(raw, where, do=_AGAIN)
    strictjson.only(tree, ("payloadType", "payload", "signatures"), where)
    if tree["payloadType"] != PAYLOAD_TYPE:
        strictjson.refuse(f"{where}: payloadType", tree["payloadType"], PAYLOAD_TYPE)
    signatures = tree["signatures"]
    if not isinstance(signatures, list) or not 1 <= len(signatures) <= MAX_SIGNATURES:
        raise InputError(f"{where}: signatures", "no such list", allowed=f"1 to {MAX_SIGNATURES} signatures", do=_AGAIN)
    return Envelope(
        PAYLOAD_TYPE,
        _decoded(tree["payload"], f"{where}: payload"),
        tuple(_signature(one, f"{where}: signature {number}") for number, one in enumerate(signatures, start=1)),
    )


def _signature(tree: Any, where: str) -> bytes:
    if not isinstance(tree, dict):
        raise InputError(where, "no object", allowed="{keyid, sig}", do=_AGAIN)
    # who signed is found by trying the keys that are trusted: the hint is not signed, so it says nothing
    strictjson.only({"keyid": "", **tree}, ("keyid", "sig"), where)
    if not isinstance(tree.get("keyid", ""), str):
        strictjson.refuse(f"{where}: keyid", tree["keyid"], "a text")
    return _decoded(tree["sig"], where)


def _decoded(text: Any, where: str) -> bytes:
    """Return what base64 stands for, in either alphabet: readers must take both (DSSE v1)."""
    if isinstance(text, str) and (_STANDARD.fullmatch(text) or _SAFE.fullmatch(text)):
        try:
            return base64.b64decode(text.translate({ord("-"): "+", ord("_"): "/"}), validate=True)
        except (binascii.Error, ValueError):
            pass
    raise InputError(where, "no base64", allowed="base64 with its padding", do=_AGAIN)


def signers(envelope: Envelope, key_ids: Iterable[str]) -> tuple[str, ...]:
    """Return which of these keys signed an envelope, in the order given.

    Raises:
        UsageError: the extra that verifies is not installed.
    """
    message = pae(envelope.payload_type, envelope.payload)
    return tuple(key for key in key_ids if any(has_signed(key, one, message) for one in envelope.signatures))
