"""What reviewers approved, by content: signed statements over the exact bytes before and after (contract L5, T1, T7).

An approval names blobs, not commits: a rebase that leaves them as they are keeps it, and one changed byte voids it.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from admit import strictjson
from admit.errors import InputError
from admit.trust.dsse import read_envelope, signers
from admit.trust.statements import Statement, Subject, read_statement, table, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

APPROVAL: Final = "urn:admit:approval:1"
"""The type of the predicate."""

ABSENT: Final = "000000"
"""The mode on the side where there is no such file, as git writes it."""

SUBMODULE: Final = "160000"
_SIDE: Final = re.compile(r"([01][0-7]{5}) ([0-9a-f]{40}|[0-9a-f]{64})")
_INSTANT: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_KEYS: Final = ("reason", "at", "expires", "changes")


class FileChange(Protocol):
    """One file that a patch changes, as git tells it: modes and blob ids before and after, None where it is absent."""

    @property
    def path(self) -> str: ...  # noqa: D102
    @property
    def old_mode(self) -> str: ...  # noqa: D102
    @property
    def new_mode(self) -> str: ...  # noqa: D102
    @property
    def old_blob(self) -> str | None: ...  # noqa: D102
    @property
    def new_blob(self) -> str | None: ...  # noqa: D102


class Side(NamedTuple):
    """What stands at a path on one side of a change: mode and id; None for both is absent."""

    mode: str | None
    blob: str | None


class Entry(NamedTuple):
    """One change that was approved: the whole file, or only what it does to these nodes."""

    path: str
    old: Side
    new: Side
    nodes: tuple[str, ...] = ()


class Approval(NamedTuple):
    """One signed statement of a reviewer: which key, why, when, until when (RFC 3339, UTC; None: no end), of what."""

    key_id: str
    reason: str
    at: str
    expires: str | None
    entries: tuple[Entry, ...]
    source: str


class ApprovalFile(NamedTuple):
    """An envelope as it lies there. `is_tracked`: the head commit or the index has it, so the patch brings it along."""

    source: str
    raw: bytes
    is_tracked: bool


class Approved(NamedTuple):
    """The approvals that count, and one line for each file that does not."""

    approvals: tuple[Approval, ...] = ()
    problems: tuple[str, ...] = ()

    def allows(self, change: FileChange) -> bool:
        """Return whether a reviewer approved all of a change: this path, from exactly this to exactly that."""
        return bool(self.who(change))

    def allows_node(self, node: str, change: FileChange) -> bool:
        """Return whether a reviewer approved what a change of a file does to one node."""
        return bool(self.who(change, node))

    def who(self, change: FileChange, node: str | None = None) -> tuple[str, ...]:
        """Return the keys that approved a change, or what it does to one node, each once, in order."""
        wanted = entry_of(change)[:3]
        keys = {
            one.key_id
            for one in self.approvals
            for entry in one.entries
            if entry[:3] == wanted and (not entry.nodes or node in entry.nodes)
        }
        return tuple(sorted(keys))


def entry_of(change: FileChange, nodes: Sequence[str] = ()) -> Entry:
    """Return a change as an approval names it."""
    old, new = (
        Side(None, None) if blob is None else Side(mode, blob)
        for mode, blob in ((change.old_mode, change.old_blob), (change.new_mode, change.new_blob))
    )
    return Entry(change.path, old, new, tuple(sorted(set(nodes))))


def approval_statement(entries: Sequence[Entry], *, reason: str, now: datetime, expires: datetime | None) -> Statement:
    """Return what a reviewer signs.

    Raises:
        InputError: there is nothing to approve.
    """
    if not entries:
        raise InputError("approval", "nothing to approve", do="name what the patch changes")
    entries = sorted(set(entries), key=lambda one: (one.path, one.nodes))
    predicate = {
        "reason": reason,
        "at": _instant(now),
        "expires": None if expires is None else _instant(expires),
        "changes": [
            {"path": one.path, "old": _written(one.old), "new": _written(one.new), "nodes": list(one.nodes)}
            for one in entries
        ],
    }
    return Statement(_subjects(entries), APPROVAL, predicate)


def _subjects(entries: Iterable[Entry]) -> tuple[Subject, ...]:
    """Return a subject a path: what stands there after the change, or what stood there if it goes."""
    found = {}
    for entry in entries:
        side = entry.old if entry.new.blob is None else entry.new
        found[entry.path] = Subject(entry.path, "gitCommit" if side.mode == SUBMODULE else "gitBlob", side.blob or "")
    return tuple(found.values())


def _written(side: Side) -> str | None:
    return None if side.blob is None else f"{side.mode} {side.blob}"


def _instant(when: datetime) -> str:
    return when.astimezone(UTC).replace(microsecond=0).isoformat().replace("+00:00", "Z")


def covering(files: Iterable[ApprovalFile], approvers: Sequence[str], *, now: datetime) -> Approved:
    """Return the approvals that count.

    One counts if a key of `approvers` signed it, it has not expired (`now >= expires`), and it does not lie in the tree
    of the patch: what the patch brings along says nothing for the patch (contract L5). Whatever else a file holds is a
    problem, in words, and approves nothing.

    Args:
        files: the envelopes that were found.
        approvers: the keys whose approvals count, from the policy.
        now: the deciding host's clock.

    Raises:
        UsageError: the extra that verifies is not installed.
    """
    approvals: list[Approval] = []
    problems: list[str] = []
    for file in files:
        try:
            approvals += _counting(file, approvers, now)
        except InputError as error:
            problems.append(str(error))
    return Approved(tuple(approvals), tuple(problems))


def _counting(file: ApprovalFile, approvers: Sequence[str], now: datetime) -> list[Approval]:
    if file.is_tracked:
        raise InputError(file.source, "the patch brings it along, so it says nothing", do="keep it out of the commit")
    found = read_approval(file.raw, file.source, approvers)
    if not found:
        raise InputError(
            file.source, "none of the policy's approvers signed it", allowed=", ".join(approvers) or "none"
        )
    expires = found[0].expires
    if expires is not None and now >= datetime.fromisoformat(expires):
        raise InputError(file.source, f"expired at {expires}", do="have it reviewed again")
    return found


def read_approval(raw: bytes, where: str, key_ids: Sequence[str]) -> list[Approval]:
    """Return one approval for each of the keys that signed an envelope; nothing is read of one that none signed.

    Raises:
        InputError: it is no envelope, or what was signed is no approval.
        UsageError: the extra that verifies is not installed.
    """
    envelope = read_envelope(raw, where)
    by = signers(envelope, key_ids)
    if not by:
        return []
    statement = read_statement(envelope.payload, where, APPROVAL)
    keys, inside = dict(statement.predicate), f"{where}: predicate"
    strictjson.only(keys, _KEYS, inside)
    entries = _entries(keys["changes"], f"{inside}: changes")
    if statement.subjects != _subjects(entries):
        raise InputError(inside, "its subjects are not what its changes say", do="approve it again")
    reason, at = text(keys["reason"], f"{inside}: reason"), _checked_instant(keys["at"], f"{inside}: at")
    expires = None if keys["expires"] is None else _checked_instant(keys["expires"], f"{inside}: expires")
    return [Approval(key, reason, at, expires, entries, where) for key in by]


def _entries(value: Any, where: str) -> tuple[Entry, ...]:
    if not isinstance(value, list) or not value:
        strictjson.refuse(where, value, "a list of changes, not empty")
    return tuple(_entry(table(one, where), where) for one in value)


def _entry(keys: dict[str, Any], where: str) -> Entry:
    strictjson.only(keys, ("path", "old", "new", "nodes"), where)
    path = text(keys["path"], f"{where}: path")
    old, new = _side(keys["old"], f"{where}: {path}: old"), _side(keys["new"], f"{where}: {path}: new")
    if old == new:
        raise InputError(f"{where}: {path}", "old and new are the same", do="approve it again")
    return Entry(path, old, new, strictjson.texts(keys["nodes"], f"{where}: {path}: nodes"))


def _side(value: object, where: str) -> Side:
    if value is None:
        return Side(None, None)
    found = _SIDE.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        strictjson.refuse(where, value, "a mode, a blank and an id, or null")
    return Side(found[1], found[2])


def _checked_instant(value: object, where: str) -> str:
    if not (isinstance(value, str) and _INSTANT.fullmatch(value) and _is_instant(value)):
        strictjson.refuse(where, value, "RFC 3339 in UTC, such as 2026-12-01T00:00:00Z")
    return value


def _is_instant(value: str) -> bool:
    try:
        return datetime.fromisoformat(value) is not None
    except ValueError:
        return False
