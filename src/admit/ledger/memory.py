"""A ledger that forgets: the same promises in memory, for tests and trials. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from admit.errors import LedgerError
from admit.ledger.chain import check_words, next_entry, repeated

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from admit.ledger.base import Entry

__all__ = ["MemoryLedger"]


class MemoryLedger:
    """Keep entries for as long as the process lives."""

    def __init__(self) -> None:
        self._entries: list[Entry] = []
        self._by_key: dict[str, Entry] = {}
        self._is_closed = False

    def append(self, kind: str, body: bytes, *, now: datetime, key: str) -> Entry:
        """Store an entry and return it, as `base.Ledger` says."""
        self._check_open()
        check_words(kind, key)
        earlier = self._by_key.get(key)
        if earlier is not None:
            return repeated(earlier, kind, body)
        entry = next_entry(self._entries[-1] if self._entries else None, kind, body, now=now, key=key)
        self._entries.append(entry)
        self._by_key[key] = entry
        return entry

    def entries(self, start: int = 1, limit: int | None = None) -> Iterator[Entry]:
        """Yield the entries from `start` on, as they are now."""
        self._check_open()
        found = self._entries[max(start, 1) - 1 :]
        yield from found if limit is None else found[: max(limit, 0)]

    def last(self, n: int) -> tuple[Entry, ...]:
        """Return the last `n` entries, oldest of them first."""
        self._check_open()
        return tuple(self._entries[-n:]) if n > 0 else ()

    def close(self) -> None:
        """Refuse everything from now on."""
        self._is_closed = True

    def _check_open(self) -> None:
        if self._is_closed:
            raise LedgerError("ledger in memory", "is closed")
