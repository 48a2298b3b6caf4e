"""The chain: how an entry is digested, what comes next, and which entry does not fit. Pure."""

from __future__ import annotations

import hashlib
from datetime import UTC
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from admit.errors import LedgerError
from admit.ledger.base import Entry

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

__all__ = [
    "GENESIS",
    "MAX_BODY_BYTES",
    "Misfit",
    "Why",
    "check_words",
    "digest_of",
    "first_misfit",
    "next_entry",
    "repeated",
    "timestamp",
]

DOMAIN: Final = b"admit.ledger.entry/1\n"
GENESIS: Final = bytes(32)
"""What entry 1 names as the digest before it."""
MAX_BODY_BYTES: Final = 900_000_000
"""Below the 1,000,000,000 bytes that SQLite allows a row by default."""
MAX_WORD_CHARS: Final = 512

Why = Literal["gap", "order", "previous", "digest"]


class Misfit(NamedTuple):
    """Name the first entry that does not fit, and why."""

    seq: int
    why: Why
    found: str


def digest_of(entry: Entry) -> bytes:
    """Return the SHA-256 of everything in `entry` but its own digest, 32 bytes (contract G1).

    The bytes are: the domain; `seq` as 8 bytes, big-endian; `previous`; then the UTF-8 of `appended_at`, `kind` and
    `key`, and the body. Each of the last five stands behind its length in 8 bytes, big-endian, so that no byte can
    move from one field to the next under the same digest.
    """
    # Bytes that are not UTF-8 can only come from a damaged or altered file; they are digested as they stand.
    texts = [text.encode("utf-8", "surrogateescape") for text in (entry.appended_at, entry.kind, entry.key)]
    parts = [DOMAIN, entry.seq.to_bytes(8, "big", signed=True)]
    for field in (entry.previous, *texts, entry.body):
        parts += (len(field).to_bytes(8, "big"), field)
    return hashlib.sha256(b"".join(parts)).digest()


def first_misfit(entries: Iterable[Entry], *, after: Entry | None = None) -> Misfit | None:
    """Return the first of `entries` that does not fit, or None where all do (contract G1).

    Args:
        entries: in the order of the ledger; from entry 1, or from the one that follows `after`.
        after: the entry before the first, already verified.

    A chain cannot notice that its tail is gone, or that somebody rewrote all of it; a digest kept elsewhere can.
    """
    seq, previous = (after.seq, after.digest) if after else (0, GENESIS)
    for entry in entries:
        misfit = _misfit(entry, seq + 1, previous)
        if misfit is not None:
            return misfit
        seq, previous = entry.seq, entry.digest
    return None


def _misfit(entry: Entry, seq: int, previous: bytes) -> Misfit | None:
    if entry.seq > seq:
        return Misfit(entry.seq, "gap", f"{entry.seq - seq} missing before it: expected entry {seq}")
    if entry.seq < seq:
        return Misfit(entry.seq, "order", f"out of order: expected entry {seq}")
    if entry.previous != previous:
        return Misfit(
            seq, "previous", f"names {entry.previous.hex()} as the digest before it, which is {previous.hex()}"
        )
    digest = digest_of(entry)
    if entry.digest != digest:
        return Misfit(seq, "digest", f"holds the digest {entry.digest.hex()}, but its content has {digest.hex()}")
    return None


def next_entry(before: Entry | None, kind: str, body: bytes, *, now: datetime, key: str) -> Entry:
    """Return the entry that follows `before` (None: the first).

    Raises:
        LedgerError: `before` does not fit its own digest, the kind or the key is no word, or the body is too long.
    """
    check_words(kind, key)
    if len(body) > MAX_BODY_BYTES:
        raise LedgerError(f"ledger key {key!r}", f"a body of {len(body)} bytes", allowed=f"at most {MAX_BODY_BYTES}")
    if before is not None and digest_of(before) != before.digest:
        raise LedgerError(
            f"ledger entry {before.seq}",
            "does not fit its own digest, so nothing can be chained to it",
            do="move the ledger away for a person to look at; a new one starts by itself",
        )
    seq, previous = (before.seq + 1, before.digest) if before else (1, GENESIS)
    entry = Entry(seq, previous, b"", timestamp(now), kind, key, body)
    return entry._replace(digest=digest_of(entry))


def repeated(earlier: Entry, kind: str, body: bytes) -> Entry:
    """Return `earlier` as the answer to a repeated append under its key.

    Raises:
        LedgerError: the repetition says something else, or `earlier` does not fit its own digest.
    """
    if digest_of(earlier) != earlier.digest:
        raise LedgerError(f"ledger entry {earlier.seq}", "does not fit its own digest", do="have a person look at it")
    if (earlier.kind, earlier.body) != (kind, body):
        raise LedgerError(
            f"ledger key {earlier.key!r}",
            f"already names entry {earlier.seq}, which says something else",
            allowed="the same kind and body again, or another key",
        )
    return earlier


def check_words(kind: str, key: str) -> None:
    """Refuse a kind or a key that is empty, longer than 512 characters or not printable."""
    for name, word in (("kind", kind), ("key", key)):
        if not (0 < len(word) <= MAX_WORD_CHARS and word.isprintable()):
            raise LedgerError(f"ledger {name}", f"{word[:40]!r}", allowed=f"1 to {MAX_WORD_CHARS} printable characters")


def timestamp(now: datetime) -> str:
    """Return `now` as `2026-11-30T17:23:00.000000Z`, always UTC and always of one length.

    Raises:
        ValueError: `now` has no time zone, so nobody knows which instant it means.
    """
    if now.utcoffset() is None:
        raise ValueError("an instant without a time zone")
    return now.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"
