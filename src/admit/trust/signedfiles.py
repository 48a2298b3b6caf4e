"""Keys and envelopes on disk (boundary: files)."""

from __future__ import annotations

import contextlib
import os
import stat
from typing import TYPE_CHECKING, Final

from admit.errors import InputError, LedgerError
from admit.trust.dsse import MAX_BYTES
from admit.trust.keys import is_key_id, key_id_of, new_private_key, public_line, signer_of
from admit.trust.signatures import SUFFIX

if TYPE_CHECKING:
    from collections.abc import Iterable

    from admit.trust.keys import Signer

PRIVATE: Final = ".key"
PUBLIC: Final = ".pub"
_FLAGS: Final = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_CLOEXEC", "O_NONBLOCK", "O_NOCTTY"))


def write_key_pair(folder: str, name: str) -> tuple[str, str, str]:
    """Make a key; return the file of its private part, the file of its public part, and the key id.

    Raises:
        LedgerError: a file is there already, or cannot be written.
        UsageError: the extra is not installed.
    """
    pem = new_private_key()
    private, public = (os.path.join(folder, name + suffix) for suffix in (PRIVATE, PUBLIC))
    key_id = signer_of(pem, private).key_id
    for path in (private, public):
        if os.path.lexists(path):
            raise LedgerError(path, "there is a file already", do="a key is never overwritten: give it another name")
    write_new(private, pem, mode=0o600)
    write_new(public, public_line(key_id, name).encode(), mode=0o644)
    return private, public, key_id


def write_new(path: str, raw: bytes, *, mode: int = 0o644) -> None:
    """Write a file that is not there yet.

    Raises:
        LedgerError: it is there, or cannot be written.
    """
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), mode)
        try:
            with open(handle, "wb") as file:
                file.write(raw)
                file.flush()
                os.fsync(file.fileno())
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(path)
            raise
    except FileExistsError as error:
        raise LedgerError(path, "there is a file already", do="remove it, or name another") from error
    except (OSError, ValueError) as error:
        what = error.strerror if isinstance(error, OSError) else str(error)
        raise LedgerError(path, f"cannot be written: {what}", do="name a place that can be written") from error


def replace_envelope(path: str, raw: bytes) -> None:
    """Write a document's envelope in place of an earlier one, whole or not at all.

    Raises:
        LedgerError: it cannot be written.
    """
    part = f"{path}.{os.getpid()}.part"
    write_new(part, raw)
    try:
        os.replace(part, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise LedgerError(path, f"cannot be written: {error.strerror}", do="free the path") from error


def read_small(path: str) -> bytes | None:
    """Return what a key's or an envelope's file holds; None where there is no file.

    Raises:
        InputError: unreadable, no regular file, or larger than an envelope may be.
    """
    try:
        handle = os.open(path, _FLAGS)
        with open(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise InputError(path, "not a regular file", do="name the file itself")
            raw = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        what = error.strerror if isinstance(error, OSError) else str(error)
        raise InputError(path, f"cannot be read: {what}", do="make it a readable file") from error
    if len(raw) > MAX_BYTES:
        raise InputError(path, f"more than {MAX_BYTES} bytes", do="name a key or an envelope")
    return raw


def read_signer(path: str) -> Signer:
    """Return what signs with the private key in a file.

    Raises:
        InputError: it holds none.
        UsageError: the extra is not installed.
    """
    return signer_of(_there(path), path)


def read_key_id(given: str) -> str:
    """Return the key id that was given, or that a public or private key's file holds.

    Raises:
        InputError: it is neither.
        UsageError: it is a private key, and the extra is not installed.
    """
    if is_key_id(given):
        return given
    raw = _there(given)
    if raw.startswith(b"-----BEGIN"):
        return signer_of(raw, given).key_id
    try:
        return key_id_of(raw.decode(), given)
    except UnicodeDecodeError as error:
        raise InputError(given, "no key", do="name a file that `admit keys new` wrote") from error


def _there(path: str) -> bytes:
    raw = read_small(path)
    if raw is None:
        raise InputError(path, "there is no such file", do="name a file that `admit keys new` wrote")
    return raw


def envelopes_of(sources: Iterable[str]) -> dict[str, bytes]:
    """Return the envelope that lies beside each document, by the document's path; a document without one is left out.

    An envelope that cannot be read is given as no bytes at all, which no reader takes for an envelope.
    """
    found = {}
    for source in sources:
        try:
            raw = read_small(source + SUFFIX)
        except InputError:
            raw = b""
        if raw is not None:
            found[source] = raw
    return found
