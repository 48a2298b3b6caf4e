"""Envelopes: the signed bytes are those of DSSE v1, and whatever a file holds gives an answer and no traceback."""

from __future__ import annotations

import base64
import json
import runpy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from admit.errors import InputError
from admit.trust.dsse import MAX_BYTES, MAX_SIGNATURES, PAYLOAD_TYPE, envelope_bytes, pae, read_envelope, signers

SIGNING = runpy.run_path(str(Path(__file__).with_name("signing.py")))
NAMES = "ANA BEN CI"
(ANA, BEN, CI) = map(SIGNING.get, NAMES.split())


PAYLOAD = b'{"a": 1}'
WHOLE = envelope_bytes(PAYLOAD, CI)
EVERY = (ANA.key_id, BEN.key_id, CI.key_id)


def tree() -> Any:
    return json.loads(WHOLE)


def test_the_signed_bytes_are_those_of_the_specification() -> None:
    shown = b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
    assert pae("http://example.com/HelloWorld", b"hello world") == shown


def test_lengths_are_counted_in_bytes() -> None:
    assert pae("é", "é".encode()) == b"DSSEv1 2 \xc3\xa9 2 \xc3\xa9"


def test_an_envelope_is_read_back_with_who_signed_it() -> None:
    envelope = read_envelope(WHOLE, "e")
    assert envelope.payload == PAYLOAD
    assert signers(envelope, EVERY) == (CI.key_id,)
    assert signers(envelope, (ANA.key_id, BEN.key_id)) == ()


def test_who_signed_is_never_taken_from_the_hint() -> None:
    lying = tree()
    lying["signatures"][0]["keyid"] = ANA.key_id
    assert signers(read_envelope(json.dumps(lying).encode(), "e"), EVERY) == (CI.key_id,)
    del lying["signatures"][0]["keyid"]
    assert signers(read_envelope(json.dumps(lying).encode(), "e"), EVERY) == (CI.key_id,)


def test_several_keys_may_sign_and_a_bad_signature_spoils_no_good_one() -> None:
    many = tree()
    bad = {"sig": base64.b64encode(b"x" * 64).decode()}
    many["signatures"] = [bad, *many["signatures"], *json.loads(envelope_bytes(PAYLOAD, ANA))["signatures"]]
    assert signers(read_envelope(json.dumps(many).encode(), "e"), EVERY) == (ANA.key_id, CI.key_id)


def test_a_signature_of_the_bare_payload_is_none() -> None:
    bare = tree()
    bare["signatures"] = [{"sig": base64.b64encode(CI.sign(PAYLOAD)).decode()}]
    assert signers(read_envelope(json.dumps(bare).encode(), "e"), EVERY) == ()


def test_a_signature_of_another_payload_type_is_none() -> None:
    other = tree()
    other["signatures"] = [{"sig": base64.b64encode(CI.sign(pae("text/plain", PAYLOAD))).decode()}]
    assert signers(read_envelope(json.dumps(other).encode(), "e"), EVERY) == ()


def test_both_alphabets_of_base64_are_read() -> None:
    payload = b"\xfb\xff\xfe>>>???"
    urlsafe = json.loads(envelope_bytes(payload, CI))
    urlsafe["payload"] = base64.urlsafe_b64encode(payload).decode()
    urlsafe["signatures"][0]["sig"] = urlsafe["signatures"][0]["sig"].translate({43: "-", 47: "_"})
    envelope = read_envelope(json.dumps(urlsafe).encode(), "e")
    assert (envelope.payload, signers(envelope, EVERY)) == (payload, (CI.key_id,))


def edited(**keys: Any) -> bytes:
    return json.dumps(tree() | keys).encode()


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        pytest.param(b"", "not JSON", id="empty"),
        pytest.param(b"[]", "a JSON array", id="an array"),
        pytest.param(WHOLE[:-9], "not JSON", id="torn"),
        pytest.param(WHOLE.replace(b"{", b'{"payload": "", ', 1), "'payload' stands twice", id="a key twice"),
        pytest.param(edited(more=1), "unknown key 'more'", id="an unknown key"),
        pytest.param(b'{"payload": "", "signatures": []}', "the key 'payloadType' is missing", id="a missing key"),
        pytest.param(edited(payloadType="text/plain"), f"allowed: {PAYLOAD_TYPE}", id="another payload type"),
        pytest.param(edited(payload=7), "no base64", id="a payload of another type"),
        pytest.param(edited(payload="a b="), "no base64", id="blanks in base64"),
        pytest.param(edited(payload="+_=="), "no base64", id="both alphabets at once"),
        pytest.param(edited(payload="abc"), "no base64", id="no padding"),
        pytest.param(edited(signatures=[]), "no such list", id="no signature"),
        pytest.param(edited(signatures={}), "no such list", id="signatures of another type"),
        pytest.param(edited(signatures=[{"sig": ""}] * (MAX_SIGNATURES + 1)), "no such list", id="too many signatures"),
        pytest.param(edited(signatures=[7]), "no object", id="a signature of another type"),
        pytest.param(edited(signatures=[{}]), "'sig' is missing", id="no sig"),
        pytest.param(edited(signatures=[{"sig": "", "cert": ""}]), "unknown key 'cert'", id="an unknown key inside"),
        pytest.param(edited(signatures=[{"sig": "", "keyid": 7}]), "allowed: a text", id="a hint of another type"),
        pytest.param(b"[" * 100_000, "too many objects", id="too deep"),
        pytest.param(b'{"a": NaN}', "NaN is no JSON number", id="no number"),
        pytest.param(b"\xff", "not UTF-8", id="no text"),
        pytest.param(b" " * (MAX_BYTES + 1), f"allowed: {MAX_BYTES} bytes", id="too large"),
    ],
)
def test_what_is_not_exactly_an_envelope_is_refused(raw: bytes, says: str) -> None:
    with pytest.raises(InputError, match="^e") as refused:
        read_envelope(raw, "e")
    assert says in str(refused.value)


@given(st.integers(0, len(WHOLE) - 1), st.binary(min_size=1, max_size=3))
@example(0, b"")
def test_an_envelope_that_was_touched_anywhere_is_refused_unsigned_or_says_the_same(at: int, put: bytes) -> None:
    touched = WHOLE[:at] + put + WHOLE[at + 1 :]
    try:
        envelope = read_envelope(touched, "e")
    except InputError:
        return
    if signers(envelope, EVERY):
        assert (signers(envelope, EVERY), envelope.payload) == ((CI.key_id,), PAYLOAD)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=9,
)


@given(st.fixed_dictionaries({}, optional={"payloadType": st.just(PAYLOAD_TYPE) | VALUES, "payload": VALUES,
                                           "signatures": VALUES | st.lists(VALUES, max_size=2)}) | VALUES)  # fmt: skip
def test_any_json_is_an_envelope_or_refused_in_one_line(value: Any) -> None:
    found = ""
    try:
        read_envelope(json.dumps(value).encode(), "e")
    except InputError as error:
        found = str(error)
    assert not found or found.isprintable()


@given(st.binary(max_size=60))
def test_any_bytes_are_refused_in_one_line(raw: bytes) -> None:
    with pytest.raises(InputError) as refused:
        read_envelope(raw, "e")
    assert str(refused.value).isprintable()
