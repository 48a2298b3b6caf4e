"""The freeze register, read strictly at one instant, and what it says of its nodes (contract F1 to F3, A6, U4)."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from admit.core.records import NodeRecord
from admit.errors import InputError
from admit.freeze.entries import Entry, Finding, Place, breaches, read_entry
from admit.freeze.instant import rfc3339, time_left
from admit.freeze.lines import extents

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

HORIZON_DAYS: Final = 30
"""How far ahead a freeze may expire, in days, where neither the register nor the configuration says otherwise (F3)."""

LONGEST_HORIZON_DAYS: Final = 365
"""No register may set its own horizon further than this: a freeze without an end is what F3 exists to refuse."""


class Policy(NamedTuple):
    """What the register says of itself: whether wide freezes are let in and why, and how far ahead they may end."""

    allow_wide: bool = False
    why: str = ""
    horizon_days: int = HORIZON_DAYS


class Register(NamedTuple):
    """A register that could be read, with every rule that it breaks.

    `entries` are those that could be parsed, the ones that break a rule among them; `total` is how many the file has.
    """

    where: str
    policy: Policy
    entries: tuple[Entry, ...]
    problems: tuple[Finding, ...]
    notes: tuple[Finding, ...]
    total: int

    @property
    def state(self) -> Literal["ok", "broken"]:
        """Return whether the register keeps its own rules (contract U4)."""
        return "broken" if self.problems else "ok"

    @property
    def problem(self) -> str:
        """Return the first broken rule in one sentence, with how many more there are; empty where there is none."""
        if not self.problems:
            return ""
        more = len(self.problems) - 1
        return self.problems[0].text + (f" (and {more} more)" if more else "")


def read_register(text: str, where: str, *, now: datetime, horizon_days_default: int = HORIZON_DAYS) -> Register:
    """Return what a register says at one instant, with every rule that it breaks.

    Args:
        text: the file's text.
        where: the file's name, for findings.
        now: the deciding host's clock, UTC; an expiry more than the horizon from here is refused (F3), so that no
            freeze in force is ever further than that from its end, whatever `opened` says.
        horizon_days_default: the horizon where the register's own `[policy]` sets none.

    Raises:
        InputError: the text is not TOML, so that there is no register to speak of (contract U4: missing).
    """
    tree = parsed_toml(text, where)
    policy, problems = _policy(tree.get("policy", {}), where, horizon_days_default)
    problems += [_stray(key, where) for key in tree if key not in {"policy", "freeze"}]
    tables = tree.get("freeze", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        said = "freeze is not a list of tables"
        problems.append(Place(where).breaks("wrong-type", said, "write [[freeze]] above each entry"))
        tables = []
    entries: list[Entry] = []
    places = _places(text, where, tables)
    for place, table in zip(places, tables, strict=True):
        entry, found = read_entry(table, place)
        if entry is not None:
            wide, days = policy.allow_wide, policy.horizon_days
            found = breaches(entry, where, allow_wide=wide, horizon_days=days, now=now)
            entries.append(entry)
        problems += found
    problems = sorted(problems + _duplicates(places), key=lambda finding: finding.number)
    return Register(where, policy, tuple(entries), tuple(problems), _notes(entries, policy, where, now), len(tables))


def parsed_toml(text: str, where: str) -> dict[str, Any]:
    """Return the tables of a TOML text.

    Raises:
        InputError: it is not TOML; a key that stands twice is not TOML either.
    """
    try:
        return tomllib.loads(text)
    except ValueError as error:  # of which TOMLDecodeError is one; a number of thousands of digits raises another
        raise InputError(where, f"not TOML: {error}", do="correct the place named") from error
    except RecursionError as error:
        raise InputError(where, "not readable as TOML: nested too deep", do="write one [[freeze]] an entry") from error


def in_force(register: Register, now: datetime) -> Mapping[str, Entry]:
    """Return the entries that make a verdict inadmissible at this instant, by the node that each names.

    An entry that has expired is inert (F3), and so is one that breaks a rule: it fails the gate and takes no evidence
    away. Look nodes up with `admit.freeze.reach.finder`: an entry for a test reaches the test's cases too.
    """
    broken = {finding.number for finding in register.problems}
    return {entry.node: entry for entry in register.entries if entry.number not in broken and not entry.is_over(now)}


def records(register: Register, now: datetime) -> tuple[NodeRecord, ...]:
    """Return what the gate `flaky_freeze` says: one record an entry, one more for the file if its own rules break.

    An entry that keeps the rules passes: frozen while in force, stable once it has expired. One that breaks a rule
    fails and is stable, so that it blocks (contract R4) and freezes nothing.
    """
    problems, notes, held = _by_number(register.problems), _by_number(register.notes), in_force(register, now)
    broken = [
        NodeRecord(_name(register, number, found), "fail", "match", "stable", message=_joined(found))
        for number, found in problems.items()
    ]
    kept = [_kept(entry, held, notes) for entry in register.entries if entry.number not in problems]
    return (*broken, *kept)


def _name(register: Register, number: int, found: list[Finding]) -> str:
    return found[0].node or (f"{register.where} entry {number}" if number else register.where)


def _kept(entry: Entry, held: Mapping[str, Entry], notes: Mapping[int, list[Finding]]) -> NodeRecord:
    if held.get(entry.node) is entry:
        said = f"frozen: {entry.reason} (owner {entry.owner})"
        return NodeRecord(entry.node, "pass", "match", "frozen", rfc3339(entry.expires), message=said)
    return NodeRecord(entry.node, "pass", "match", "stable", message=_joined(notes.get(entry.number, [])))


def _by_number(findings: Iterable[Finding]) -> dict[int, list[Finding]]:
    found: dict[int, list[Finding]] = {}
    for finding in findings:
        found.setdefault(finding.number, []).append(finding)
    return found


def _joined(findings: Iterable[Finding]) -> str:
    return "; ".join(finding.text for finding in findings)


def _places(text: str, where: str, tables: list[dict[str, Any]]) -> list[Place]:
    lines: list[int | None] = [extent.first + 1 for extent in extents(text, "freeze")]
    if len(lines) != len(tables):
        lines = [None] * len(tables)
    nodes = [node if isinstance(node := table.get("node"), str) and node.strip() else "" for table in tables]
    return [Place(where, i + 1, line, node) for i, (line, node) in enumerate(zip(lines, nodes, strict=True))]


def _duplicates(places: list[Place]) -> list[Finding]:
    first: dict[str, Place] = {}
    found = []
    for place in places:
        if place.node and (other := first.setdefault(place.node, place)) is not place:
            at = f"line {other.line}" if other.line else f"entry {other.number}"
            found.append(place.breaks("duplicate", f"the node is frozen already, at {at}", "keep one of the two"))
    return found


def _stray(key: str, where: str) -> Finding:
    return Place(where).breaks("unknown-key", f"unknown key {key!r}", "allowed: [policy], [[freeze]]")


_POLICY: Final[dict[str, tuple[type, str]]] = {
    "allow_wide": (bool, "allowed: true, false"),
    "why": (str, "say in words why wide freezes are let in here"),
    "horizon_days": (int, f"allowed: a whole number of days, 1 to {LONGEST_HORIZON_DAYS}"),
}


def _policy(table: object, where: str, horizon_days: int) -> tuple[Policy, list[Finding]]:
    default = Policy(horizon_days=horizon_days)
    if not isinstance(table, dict):
        return default, [Place(where).breaks("policy", "policy is not a table", "write [policy]")]
    wrong = [(f"unknown key {key!r}", f"allowed: {', '.join(_POLICY)}") for key in table if key not in _POLICY]
    wrong += [
        (f"{k} is {table[k]!r}", do) for k, (kind, do) in _POLICY.items() if k in table and type(table[k]) is not kind
    ]
    if not wrong:
        wrong = _policy_breaches(table)
    # a policy that breaks a rule opens nothing: neither wide freezes nor a further horizon
    return (
        default if wrong else default._replace(**table),
        [Place(where).breaks("policy", f"[policy] {said}", do) for said, do in wrong],
    )


def _policy_breaches(table: dict[str, Any]) -> list[tuple[str, str]]:
    found = []
    wide, why = table.get("allow_wide", False), table.get("why", "")
    if wide and not why.strip():
        found.append(("allow_wide is true without a why", _POLICY["why"][1]))
    if "why" in table and not wide:
        found.append(("why stands without allow_wide = true", "take it out"))
    if "horizon_days" in table and not 1 <= table["horizon_days"] <= LONGEST_HORIZON_DAYS:
        found.append((f"horizon_days is {table['horizon_days']}", _POLICY["horizon_days"][1]))
    return found


def _notes(entries: list[Entry], policy: Policy, where: str, now: datetime) -> tuple[Finding, ...]:
    notes = [
        Finding(where, entry.number, entry.line, entry.node, _expired(entry, now), f"{entry.owner}: remove the entry")
        for entry in entries
        if entry.is_over(now)
    ]
    if policy.allow_wide:
        notes.insert(0, Finding(where, 0, None, "", f"wide freezes are let in: {policy.why}"))
    return tuple(notes)


def _expired(entry: Entry, now: datetime) -> str:
    return f"{time_left(entry.expires, now)}, at {rfc3339(entry.expires)}: the node votes again"
