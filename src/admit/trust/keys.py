"""Ed25519 keys: named by their bytes, made, read, and asked whether they signed (contract T5)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from admit.errors import InputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

KEY_ID: Final = "ed25519: and 64 hexadecimal digits in lower case"
_KEY_ID: Final = re.compile(r"ed25519:([0-9a-f]{64})")


class Signer(NamedTuple):
    """A private key in use: its key id, and what signs."""

    key_id: str
    sign: Callable[[bytes], bytes]


def check_library() -> None:
    """Refuse to go on without the library that signs and verifies.

    Raises:
        UsageError: the extra is not installed.
    """
    try:
        import cryptography  # noqa: F401 - only whether it is there
    except ImportError as error:
        raise UsageError(
            "signatures", "cryptography is not installed", do="install admit with its extra: pip install 'admit[sign]'"
        ) from error


def is_key_id(text: str) -> bool:
    """Return whether a text is a key's one spelling."""
    return _KEY_ID.fullmatch(text) is not None


def new_private_key() -> bytes:
    """Return a new private key as PEM (PKCS #8, not encrypted).

    Raises:
        UsageError: the extra is not installed.
    """
    check_library()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    return Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def signer_of(pem: bytes, where: str) -> Signer:
    """Return what signs with a private key.

    Args:
        pem: the private key, PEM (PKCS #8).
        where: the file's name, for errors.

    Raises:
        InputError: it is no private Ed25519 key, or is locked by a passphrase.
        UsageError: the extra is not installed.
    """
    check_library()
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    do = "name the private key that `admit keys new` wrote"
    try:
        key = load_pem_private_key(pem, password=None)
    except TypeError as error:
        raise InputError(
            where, "a key that is locked by a passphrase", do="unlock it first, and guard the file"
        ) from error
    except (ValueError, UnsupportedAlgorithm) as error:
        raise InputError(where, "no private key in PEM", do=do) from error
    if not isinstance(key, Ed25519PrivateKey):
        raise InputError(where, f"a key of another kind ({type(key).__name__})", allowed="Ed25519", do=do)
    return Signer(_key_id(key), key.sign)


def _key_id(key: Ed25519PrivateKey) -> str:
    return f"ed25519:{key.public_key().public_bytes_raw().hex()}"


def has_signed(key_id: str, signature: bytes, message: bytes) -> bool:
    """Return whether the key of this id made this signature of this message; what is no key has signed nothing.

    Raises:
        UsageError: the extra is not installed.
    """
    check_library()
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    found = _KEY_ID.fullmatch(key_id)
    if found is None:
        return False
    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(found[1])).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


def public_line(key_id: str, name: str) -> str:
    """Return the line that stands in a public key's file."""
    return f"{key_id} {name}\n"


def key_id_of(text: str, where: str) -> str:
    """Return the key id in the text of a public key's file: one line, the id first, then what people call it.

    Raises:
        InputError: it is something else.
    """
    key_id, _, name = text.removesuffix("\n").partition(" ")
    if not is_key_id(key_id) or "\n" in name:
        found = "a private key" if "PRIVATE KEY" in text else "no public key"
        raise InputError(where, found, allowed=f"one line: {KEY_ID}, and a name", do="name the .pub file")
    return key_id
