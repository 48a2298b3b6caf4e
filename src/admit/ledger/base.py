"""What a ledger is: its entries and what every backend promises."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

__all__ = ["Entry", "Ledger"]


class Entry(NamedTuple):
    """Hold one line of the ledger exactly as it is stored (contract G1)."""

    seq: int
    """Place in the ledger: 1, 2, 3, without a gap. This is the order, whatever the clocks said."""
    previous: bytes
    """Digest of the entry before, 32 bytes; zeros for entry 1."""
    digest: bytes
    """SHA-256 over everything else in the entry, 32 bytes (`chain.digest_of`)."""
    appended_at: str
    """The instant that the caller gave, UTC, as `2026-11-30T17:23:00.000000Z`."""
    kind: str
    """What the body is, such as `decision`."""
    key: str
    """The caller's name for this entry. One key is one entry, however often it is sent."""
    body: bytes
    """Canonical JSON, opaque to the ledger and kept byte for byte."""


class Ledger(Protocol):
    """Promise what every backend keeps: append, read in order, never change or remove.

    Every method raises `LedgerError` (exit 74) where it cannot keep the promise. None skips in silence.
    """

    def append(self, kind: str, body: bytes, *, now: datetime, key: str) -> Entry:
        """Store an entry and return it once it is durable.

        The same key with the same kind and body returns the entry that is already there, so that a caller who got no
        answer may ask again. The same key with anything else is an error.
        """
        ...

    def entries(self, start: int = 1, limit: int | None = None) -> Iterator[Entry]:
        """Yield at most `limit` entries in order, from `seq >= start` on."""
        ...

    def last(self, n: int) -> tuple[Entry, ...]:
        """Return the last `n` entries, oldest of them first."""
        ...

    def close(self) -> None:
        """Let go of the ledger; a second time does nothing."""
        ...
