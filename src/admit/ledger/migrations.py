"""The numbered steps by which the SQLite ledger grew. A step that was released is never edited. Pure: text only."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple, TypeAlias

__all__ = ["APPLICATION_ID", "MIGRATIONS", "Execute", "Migration", "pending"]

APPLICATION_ID: Final = 0x61646D74
"""`admt` in the file's header: this database is a ledger of ours and nobody else's."""

Execute: TypeAlias = Callable[..., Iterable[tuple[Any, ...]]]
"""Run one statement, with its parameters, and give its rows."""


class Migration(NamedTuple):
    """Take the schema from `number - 1` to `number`, inside one transaction with the record of having done so.

    It may add, and it may move entries between tables; whoever runs it compares every entry before and after and
    rolls back where one changed.
    """

    number: int
    about: str
    statements: tuple[str, ...]
    fill: Callable[[Execute], None] | None = None
    """What SQL alone cannot do, such as digests for entries that are already there; it runs last."""


def pending(version: int, migrations: tuple[Migration, ...]) -> tuple[Migration, ...]:
    """Return the migrations that a ledger at `version` still needs, in order."""
    return tuple(step for step in migrations if step.number > version)


# The order of columns is that of `base.Entry`; the body comes last so that a long one does not slow the others down.
# The triggers are a guard rail against a slip of the hand, not against somebody who owns the file: that is what the
# chain is for. `RAISE` on insert also stops INSERT OR REPLACE, which removes rows without firing a delete trigger.
MIGRATIONS: Final[tuple[Migration, ...]] = (
    Migration(
        1,
        "entries, chained and never changed",
        (
            f"PRAGMA application_id = {APPLICATION_ID}",
            """
            CREATE TABLE entry (
                seq INTEGER PRIMARY KEY CHECK (seq >= 1),
                previous BLOB NOT NULL CHECK (typeof(previous) = 'blob' AND length(previous) = 32),
                digest BLOB NOT NULL CHECK (typeof(digest) = 'blob' AND length(digest) = 32),
                appended_at TEXT NOT NULL CHECK (typeof(appended_at) = 'text'),
                kind TEXT NOT NULL CHECK (typeof(kind) = 'text'),
                key TEXT NOT NULL UNIQUE CHECK (typeof(key) = 'text'),
                body BLOB NOT NULL CHECK (typeof(body) = 'blob')
            )
            """,
            """
            CREATE TRIGGER entry_follows_the_last BEFORE INSERT ON entry
            WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM entry)
                OR NEW.previous IS NOT coalesce((SELECT digest FROM entry ORDER BY seq DESC LIMIT 1), zeroblob(32))
                OR EXISTS (SELECT 1 FROM entry WHERE key = NEW.key)
            BEGIN SELECT RAISE(ABORT, 'a ledger entry follows the last one, under a key of its own'); END
            """,
            """
            CREATE TRIGGER entry_is_never_changed BEFORE UPDATE ON entry
            BEGIN SELECT RAISE(ABORT, 'a ledger entry is never changed'); END
            """,
            """
            CREATE TRIGGER entry_is_never_removed BEFORE DELETE ON entry
            BEGIN SELECT RAISE(ABORT, 'a ledger entry is never removed'); END
            """,
        ),
    ),
)
