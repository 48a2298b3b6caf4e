"""The register for people and for scheduled jobs: what is frozen, what is wrong, what falls due and whose it is."""

from __future__ import annotations

import json
from datetime import timedelta
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

from admit.errors import one_line
from admit.freeze.instant import counted, days_left, rfc3339, time_left
from admit.freeze.register import in_force

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime

    from admit.freeze.entries import Entry, Finding
    from admit.freeze.register import Register

EntryState: TypeAlias = Literal["in force", "expired", "broken"]
"""What an entry does now. Only one in force freezes anything."""

PIPE: Final = "\\|"
"""A bar in a cell of a Markdown table."""

LIST_SCHEMA: Final = "admit.freeze.list/1"
DUE_SCHEMA: Final = "admit.freeze.due/1"


class Row(NamedTuple):
    """One entry as it stands at one instant."""

    entry: Entry
    state: EntryState
    left: str


class Due(NamedTuple):
    """What falls due by an instant, or has and still stands in the register, by owner and then by expiry."""

    where: str
    now: datetime
    within: timedelta
    rows: tuple[Row, ...]


def rows(register: Register, now: datetime) -> tuple[Row, ...]:
    """Return every entry that could be read, in the order of the file."""
    held = in_force(register, now)
    broken = {finding.number for finding in register.problems}

    def state(entry: Entry) -> EntryState:
        if entry.number in broken:
            return "broken"
        return "in force" if held.get(entry.node) is entry else "expired"

    return tuple(Row(entry, state(entry), time_left(entry.expires, now)) for entry in register.entries)


def due(register: Register, now: datetime, within: timedelta) -> Due:
    """Return what expires within a span of time, and what has expired and was not removed (contract F3, F5)."""
    # compared as a difference, so that no span can run past the last year that there is
    soon = [row for row in rows(register, now) if row.entry.expires - now <= within]
    soon.sort(key=lambda row: (row.entry.owner, row.entry.expires, row.entry.node))
    return Due(register.where, now, within, tuple(soon))


# ---------------------------------------------------------------- list


def list_text(register: Register, now: datetime) -> str:
    """Return the register as a table: time left, until when, owner, node, reason."""
    found = rows(register, now)
    table = [("LEFT", "UNTIL", "OWNER", "NODE", "REASON")]
    for row in found:
        entry = row.entry
        table.append((_left(row), rfc3339(entry.expires), entry.owner, entry.node, _reason(entry)))
    lines = _aligned([tuple(one_line(cell) for cell in line) for line in table]) if found else []
    return _lines([*lines, summary(register, now), *_findings(register)])


def list_markdown(register: Register, now: datetime) -> str:
    """Return the register as a Markdown table."""
    table = ["| left | owner | node | expires | reason |", "|---|---|---|---|---|"]
    for row in rows(register, now):
        entry = row.entry
        texts = [_plain(_left(row)), _plain(entry.owner), _code(entry.node), rfc3339(entry.expires)]
        texts += [_plain(_reason(entry))]
        table.append(f"| {' | '.join(text.replace('|', PIPE) for text in texts)} |")
    return _lines([*(table if register.entries else []), "", summary(register, now), *_bullets(_findings(register))])


def list_json(register: Register, now: datetime) -> str:
    """Return the register, its problems and its notes as JSON (`admit.freeze.list/1`)."""
    shown = {
        "schema": LIST_SCHEMA,
        "register": register.where,
        "now": rfc3339(now),
        "state": register.state,
        "freezes": [_keys(row, now) for row in rows(register, now)],
        "problems": [_finding_keys(finding) for finding in register.problems],
        "notes": [_finding_keys(finding) for finding in register.notes],
    }
    return json.dumps(shown, ensure_ascii=False, indent=2) + "\n"


# ---------------------------------------------------------------- check


def check_text(register: Register, now: datetime) -> str:
    """Return whether the register keeps its rules, with every rule that it breaks and every note."""
    return _lines([summary(register, now), *_findings(register)])


def check_markdown(register: Register, now: datetime) -> str:
    """Return the same as Markdown."""
    return _lines([summary(register, now), "", *_bullets(_findings(register))])


def summary(register: Register, now: datetime) -> str:
    """Return one line: the state, and how many entries there are of each kind."""
    states = [row.state for row in rows(register, now)]
    unreadable = register.total - len(states)
    counts = [
        counted(register.total, "freeze"),
        f"{states.count('in force')} in force",
    ]
    counts += [f"{number} expired"] if (number := states.count("expired")) else []
    counts += [f"{number} broken"] if (number := states.count("broken") + unreadable) else []
    return one_line(f"{register.where}: {register.state}: {', '.join(counts)}")


def _findings(register: Register) -> list[str]:
    problems = [f"problem: {finding.text}" for finding in register.problems]
    return [one_line(text) for text in (*problems, *(f"note: {finding.text}" for finding in register.notes))]


# ---------------------------------------------------------------- due


def due_text(found: Due) -> str:
    """Return what falls due, a paragraph an owner, to be posted as it is."""
    lines = [_due_title(found)]
    for owner, owned in _by_owner(found):
        lines += ["", one_line(owner)]
        for row in owned:
            until = rfc3339(row.entry.expires)
            lines.append(one_line(f"  {_left(row)} ({until}): {row.entry.node}: {_reason(row.entry)}"))
    return _lines(lines)


def due_markdown(found: Due) -> str:
    """Return the same as Markdown; an owner that is written as a mention stays one."""
    lines = [_due_title(found)]
    for owner, owned in _by_owner(found):
        lines += ["", f"{_plain(owner)}:", ""]
        for row in owned:
            until = rfc3339(row.entry.expires)
            lines.append(f"- {_left(row)} ({until}): {_code(row.entry.node)}: {_plain(_reason(row.entry))}")
    return _lines(lines)


def due_json(found: Due) -> str:
    """Return the same as JSON (`admit.freeze.due/1`)."""
    shown = {
        "schema": DUE_SCHEMA,
        "register": found.where,
        "now": rfc3339(found.now),
        "within_s": int(found.within.total_seconds()),
        "owners": [
            {"owner": owner, "freezes": [_keys(row, found.now) for row in owned]} for owner, owned in _by_owner(found)
        ],
    }
    return json.dumps(shown, ensure_ascii=False, indent=2) + "\n"


def _due_title(found: Due) -> str:
    hours = int(found.within / timedelta(hours=1))
    span = counted(hours // 24, "day") if hours % 24 == 0 else counted(hours, "hour")
    if not found.rows:
        return one_line(f"{found.where}: nothing expires within {span}")
    over = sum(row.entry.is_over(found.now) for row in found.rows)
    counts = [f"{len(found.rows) - over} expiring within {span}", f"{over} expired and not removed"]
    return one_line(f"{found.where}: {', '.join(counts)}")


def _by_owner(found: Due) -> Iterable[tuple[str, list[Row]]]:
    return [(owner, list(owned)) for owner, owned in groupby(found.rows, key=lambda row: row.entry.owner)]


# ---------------------------------------------------------------- shared


def _left(row: Row) -> str:
    return "broken, inert" if row.state == "broken" else row.left


def _reason(entry: Entry) -> str:
    return f"{entry.reason} ({entry.issue})" if entry.issue else entry.reason


def _keys(row: Row, now: datetime) -> dict[str, Any]:
    entry = row.entry
    opened = {"opened": rfc3339(entry.opened)} if entry.opened else {}
    said = {key: text for key in ("issue", "seen", "no_history") if (text := getattr(entry, key))}
    return {
        "node": entry.node,
        "state": row.state.replace(" ", "_"),
        "days_left": days_left(entry.expires, now),
        "owner": entry.owner,
        "reason": entry.reason,
        "expires": rfc3339(entry.expires),
        **opened,
        **said,
        "entry": entry.number,
        "line": entry.line,
    }


def _finding_keys(finding: Finding) -> dict[str, Any]:
    keys = {"rule": finding.rule, "entry": finding.number or None, "line": finding.line, "node": finding.node or None}
    return keys | {"text": finding.text}


def _aligned(table: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(len(line[column]) for line in table) for column in range(len(table[0]) - 1)]
    return ["  ".join((*map(str.ljust, line, widths), line[-1])) for line in table]


def _bullets(lines: Iterable[str]) -> list[str]:
    return [f"- {_plain(line)}" for line in lines]


def _plain(text: str) -> str:
    # a tag, a run of code or an emphasis would come from a node's characters; addresses and mentions are the author's
    shown = one_line(text).replace("&", "&amp;").replace("<", "&lt;")
    return shown.replace("`", "\\`").replace("*", "\\*")


def _code(text: str) -> str:
    shown = one_line(text)
    return f"`` {shown} ``" if "`" in shown else f"`{shown}`"


def _lines(lines: Iterable[str]) -> str:
    return "\n".join(lines).strip("\n") + "\n"


LISTS: Final[dict[str, Callable[[Register, datetime], str]]] = {
    "text": list_text,
    "json": list_json,
    "markdown": list_markdown,
}
CHECKS: Final[dict[str, Callable[[Register, datetime], str]]] = {
    "text": check_text,
    "json": list_json,
    "markdown": check_markdown,
}
DUES: Final[dict[str, Callable[[Due], str]]] = {"text": due_text, "json": due_json, "markdown": due_markdown}
