"""What trusted files say of a node, filled into records that a report cannot know it for (contract L2, L4, F6)."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from admit.core.records import LOCK_RANK

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from admit.core.context import RunContext
    from admit.core.records import NodeRecord
    from admit.core.signals import LockState


def trusted(records: Iterable[NodeRecord], context: RunContext) -> Iterator[NodeRecord]:
    """Yield each record with its lock and freeze states as the run context has them.

    A node's lock state is the worst of the sets that tie to it. A plain pass on a lock that matches stays plain; every
    other record names the manifest that it was pinned to.
    """
    for record in records:
        lock = lock_of(record.node, context)
        expires = context.frozen.get(record.node)
        is_plain = record.check == "pass" and lock == "match"
        yield record._replace(
            fixture_lock=lock,
            flake_status="stable" if expires is None else "frozen",
            freeze_expires=expires,
            fixture_manifest=None if is_plain else context.fixture_manifest,
        )


def lock_of(node: str, context: RunContext) -> LockState:
    """Return the worst lock state among the sets that a node is tied to."""
    states = [context.lock]
    states += [tied.state for tied in context.locked if any(fnmatchcase(node, pattern) for pattern in tied.patterns)]
    return max(states, key=LOCK_RANK.__getitem__)
