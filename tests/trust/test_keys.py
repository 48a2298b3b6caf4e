"""Keys: one spelling, never overwritten, and nothing signs or verifies without the library."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, NoEncryption, PrivateFormat

from admit.errors import InputError, LedgerError, UsageError
from admit.trust.keys import has_signed, is_key_id, key_id_of, new_private_key, public_line, signer_of
from admit.trust.signedfiles import read_key_id, read_signer, read_small, write_key_pair

# RFC 8032, section 7.1, test 2
SEED = "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb"
PUBLIC = "ed25519:3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c"
SIGNATURE = (
    "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
    "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
)


def pem(key: object) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


RFC_KEY = pem(Ed25519PrivateKey.from_private_bytes(bytes.fromhex(SEED)))


def test_a_key_signs_as_the_published_vector_says() -> None:
    signer = signer_of(RFC_KEY, "k")
    assert (signer.key_id, signer.sign(b"\x72").hex()) == (PUBLIC, SIGNATURE)
    assert has_signed(PUBLIC, bytes.fromhex(SIGNATURE), b"\x72")


@pytest.mark.parametrize(
    ("key_id", "signature", "message"),
    [
        pytest.param(PUBLIC, SIGNATURE, b"\x73", id="another message"),
        pytest.param(PUBLIC, SIGNATURE.replace("92", "93", 1), b"\x72", id="another signature"),
        pytest.param(PUBLIC, SIGNATURE[:-2], b"\x72", id="a byte short"),
        pytest.param(PUBLIC, "", b"\x72", id="empty"),
        pytest.param(PUBLIC.replace("3d", "3e", 1), SIGNATURE, b"\x72", id="another key"),
        pytest.param(PUBLIC.upper(), SIGNATURE, b"\x72", id="another spelling of the key"),
        pytest.param("ed25519:" + "f" * 64, SIGNATURE, b"\x72", id="bytes that are no key"),
        pytest.param("ed25519:", SIGNATURE, b"\x72", id="no key"),
    ],
)
def test_what_a_key_did_not_sign_it_did_not_sign(key_id: str, signature: str, message: bytes) -> None:
    assert not has_signed(key_id, bytes.fromhex(signature), message)


@pytest.mark.parametrize("text", [PUBLIC + "\n", PUBLIC[:-1], PUBLIC.upper(), "rsa:" + "0" * 64, " " + PUBLIC, ""])
def test_a_key_has_one_spelling(text: str) -> None:
    assert is_key_id(PUBLIC)
    assert not is_key_id(text)


def test_each_new_key_is_another_one() -> None:
    assert signer_of(new_private_key(), "a").key_id != signer_of(new_private_key(), "b").key_id


CURVE = ec.generate_private_key(ec.SECP256R1())
LOCKED = Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"word"))


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        pytest.param(b"", "k: no private key in PEM", id="empty"),
        pytest.param(public_line(PUBLIC, "ana").encode(), "k: no private key in PEM", id="the public part"),
        pytest.param(RFC_KEY[:60], "k: no private key in PEM", id="torn"),
        pytest.param(pem(CURVE), "k: a key of another kind .*; allowed: Ed25519", id="another kind"),
        pytest.param(LOCKED, "k: a key that is locked by a passphrase", id="locked"),
    ],
)
def test_what_is_no_private_key_is_refused_in_words(raw: bytes, says: str) -> None:
    with pytest.raises(InputError, match=f"^{says}"):
        signer_of(raw, "k")


def test_a_public_keys_file_is_one_line() -> None:
    assert key_id_of(public_line(PUBLIC, "ana"), "k") == PUBLIC
    assert key_id_of(PUBLIC, "k") == PUBLIC


@pytest.mark.parametrize("text", ["", "x", f"{PUBLIC} a\n{PUBLIC} b\n", f"\n{PUBLIC}", RFC_KEY.decode()])
def test_what_is_no_such_line_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="no public key|a private key"):
        key_id_of(text, "k")


def test_a_pair_is_written_for_its_owner_alone_and_read_back(tmp_path: Path) -> None:
    private, public, key_id = write_key_pair(str(tmp_path), "ana")
    assert Path(private).stat().st_mode & 0o777 == 0o600
    assert Path(public).read_text() == f"{key_id} ana\n"
    assert read_key_id(private) == read_key_id(public) == read_key_id(key_id) == read_signer(private).key_id == key_id


@pytest.mark.parametrize("name", ["ana.key", "ana.pub"])
def test_a_key_is_never_overwritten(name: str, tmp_path: Path) -> None:
    (tmp_path / name).symlink_to("nowhere")
    with pytest.raises(LedgerError, match="a key is never overwritten"):
        write_key_pair(str(tmp_path), "ana")
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_file_of_no_key_is_refused(tmp_path: Path) -> None:
    (tmp_path / "k").write_bytes(b"\xff")
    with pytest.raises(InputError, match="no key"):
        read_key_id(str(tmp_path / "k"))
    with pytest.raises(InputError, match="there is no such file"):
        read_key_id(str(tmp_path / "none"))
    with pytest.raises(InputError, match="not a regular file|cannot be read"):
        read_small(str(tmp_path))


def test_without_the_library_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography", None)
    for use in (new_private_key, lambda: signer_of(RFC_KEY, "k"), lambda: has_signed(PUBLIC, b"", b"")):
        with pytest.raises(UsageError, match=r"cryptography is not installed.*'admit\[sign\]'") as refused:
            use()
        assert refused.value.exit_code == 64


def test_the_library_is_not_loaded_before_it_is_used() -> None:
    script = (
        "import sys, admit.trust.signedfiles, admit.trust.approvals, admit.cli.sign\n"
        "print('cryptography' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
