"""One entry of the register: its keys, its types, and the rules that it has to keep (contract F1 to F3)."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from admit.freeze.instant import Refused, rfc3339, utc_instant
from admit.freeze.reach import Width, width_of

if TYPE_CHECKING:
    from collections.abc import Mapping

RuleBroken: TypeAlias = Literal[
    "unknown-key",
    "missing-key",
    "wrong-type",
    "empty",
    "expiry",
    "horizon",
    "opened",
    "too-wide",
    "duplicate",
    "history",
    "policy",
]
"""Which rule the register breaks."""

REQUIRED: Final = ("node", "reason", "owner", "expires")
KEYS: Final = (*REQUIRED, "opened", "issue", "seen", "no_history")
"""Every key of an entry, the required ones first."""

_TEXTS: Final = ("node", "reason", "owner", "issue", "seen", "no_history")

NARROW: Final = "name one test or one parameter case: tests/test_a.py::test_x or tests/test_a.py::test_x[case]"
TOO_WIDE: Final[dict[Width, str]] = {
    "node": "",
    "file": "freezes a whole file",
    "directory": "freezes a whole directory",
    "class": "freezes a whole class",
    "glob": "is a pattern",
    "no test": "names no test",
}
"""What is wrong with a node that is not the narrowest (contract F2)."""

_ASKED: Final = {
    "node": "name the one test that flaked, as its runner prints it",
    "reason": "say in a sentence what was seen and what is suspected",
    "owner": "name who will fix it: a person or a team that can be written to",
    "expires": "write the instant from which the node votes again, such as 2026-12-20T00:00:00Z",
}


class Finding(NamedTuple):
    """One rule that the register breaks, or one thing to know about it that breaks none (`rule` is None).

    `number` counts entries from 1 and is 0 for the register itself; `line` counts from 1 and is None where the file
    writes its entries in a way that has no line of its own.
    """

    where: str
    number: int
    line: int | None
    node: str
    found: str
    do: str = ""
    rule: RuleBroken | None = None

    @property
    def text(self) -> str:
        """Return the finding in one sentence: place, entry, what was found, what to do."""
        line = f" line {self.line}" if self.line else ""
        entry = f", entry {self.number}" if self.number else ""
        node = f" ({self.node})" if self.node else ""
        return f"{self.where}{line}{entry}{node}: {self.found}" + (f"; {self.do}" if self.do else "")


class Place(NamedTuple):
    """Where an entry stands, for the findings about it."""

    where: str
    number: int = 0
    line: int | None = None
    node: str = ""

    def breaks(self, rule: RuleBroken, found: str, do: str = "") -> Finding:
        """Return the finding that this place breaks a rule."""
        return Finding(self.where, self.number, self.line, self.node, found, do, rule)


class Entry(NamedTuple):
    """One freeze: which node, why, whose, until when (contract F1). Instants are UTC, in whole seconds.

    `seen` is the flake history that `admit freeze add` found, `no_history` the statement that there is none (F4).
    """

    node: str
    reason: str
    owner: str
    expires: datetime
    opened: datetime | None = None
    issue: str = ""
    seen: str = ""
    no_history: str = ""
    number: int = 0
    line: int | None = None

    def is_over(self, now: datetime) -> bool:
        """Return whether the freeze has ended: from the instant `expires` on (contract A6)."""
        return now >= self.expires


def read_entry(table: Mapping[str, object], place: Place) -> tuple[Entry | None, list[Finding]]:
    """Return the entry that a table holds, or what keeps it from being one: an unknown, missing or ill-typed key."""
    found = [
        place.breaks("unknown-key", f"unknown key {key!r}", f"allowed: {', '.join(KEYS)}")
        for key in table
        if key not in KEYS
    ]
    found += [place.breaks("missing-key", f"no {key}", _ASKED[key]) for key in REQUIRED if key not in table]
    texts = {key: _text(key, table[key], place, found) for key in _TEXTS if key in table}
    expires = _instant("expires", table, place, found)
    opened = _instant("opened", table, place, found)
    if found or expires is None:
        return None, found
    return Entry(expires=expires, opened=opened, number=place.number, line=place.line, **texts), []


def _text(key: str, value: object, place: Place, found: list[Finding]) -> str:
    if not isinstance(value, str):
        found.append(place.breaks("wrong-type", f"{key} is {value!r}", f'write it as text: {key} = "…"'))
        return ""
    if not value.strip():
        found.append(place.breaks("empty", f"{key} is empty", _ASKED.get(key, "say it, or leave the key out")))
    elif key == "node" and value != value.strip():
        found.append(place.breaks("wrong-type", "node has white space around it", _ASKED[key]))
    return value


def _instant(
    key: Literal["expires", "opened"], table: Mapping[str, object], place: Place, found: list[Finding]
) -> datetime | None:
    if key not in table:
        return None
    match utc_instant(table[key]):
        case Refused(said, do):
            found.append(place.breaks("expiry" if key == "expires" else "opened", f"{key}: {said}", do))
            return None
        case datetime() as instant:
            return instant


def breaches(entry: Entry, where: str, *, allow_wide: bool, horizon_days: int, now: datetime) -> list[Finding]:
    """Return the rules that a well-formed entry breaks: its expiry, its width, what it says of its history."""
    place, found = Place(where, entry.number, entry.line, entry.node), []
    if entry.expires - now > timedelta(days=horizon_days):
        latest = rfc3339(now + timedelta(days=horizon_days))
        said = f"expires {rfc3339(entry.expires)}, more than {horizon_days} days from now"
        found.append(place.breaks("horizon", said, f"write an instant up to {latest}"))
    if entry.opened is not None and entry.opened >= entry.expires:
        said = f"opened {rfc3339(entry.opened)} is not before expires {rfc3339(entry.expires)}"
        found.append(place.breaks("opened", said, "correct the one that is wrong"))
    if not allow_wide and (width := width_of(entry.node)) != "node":
        found.append(place.breaks("too-wide", TOO_WIDE[width], NARROW))
    if entry.seen and entry.no_history:
        found.append(place.breaks("history", "both seen and no_history", "keep the one that is true"))
    return found
