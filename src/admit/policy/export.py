"""A policy's sheet as text, Markdown, HTML or JSON (contract V4)."""

from __future__ import annotations

import html
import json
from typing import TYPE_CHECKING, Final

from admit.core.verify import census
from admit.policy.sheet import MAX_ROWS, sheet

if TYPE_CHECKING:
    from admit.core.ladder import Box, Ladder
    from admit.policy.model import Policy, TrustOptions
    from admit.policy.sheet import Section

Counts = tuple[int, ...] | None
SCHEMA: Final = "admit.policy-sheet/1"
STYLE: Final = (
    "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:72rem;padding:0 1rem;color:#1b1f24}"
    "table{border-collapse:collapse;margin:.5rem 0 2rem}"
    "td,th{border:1px solid #d0d7de;padding:.25rem .6rem;text-align:left}"
    "th{background:#f6f8fa}td{font-family:ui-monospace,monospace;font-size:13px}"
    "tr.accept td{background:#e6f4ea}tr.reject td{background:#fbe9e7}tr.hold td{background:#fff8e1}"
)


def as_text(policy: Policy, counts: Counts) -> str:
    """Return a policy's sheet as aligned columns."""
    return "\n".join(_text_section(section) for section in sheet(policy, counts))


def _text_section(section: Section) -> str:
    """Return one section as aligned columns."""
    rows = [row for row in (section.heads, *section.rows) if row]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [section.title, section.note] if section.note else [section.title]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        lines.append(("  " + "  ".join(cells)).rstrip())
    return "\n".join(lines) + "\n"


def as_markdown(policy: Policy, counts: Counts) -> str:
    """Return a policy's sheet as Markdown tables."""
    head, *rest = sheet(policy, counts)
    return "\n".join([_markdown_section(head, "#"), *(_markdown_section(section, "##") for section in rest)])


def _markdown_section(section: Section, mark: str) -> str:
    """Return one section as a Markdown table."""
    lines = [f"{mark} {_markdown(section.title)}", ""]
    if section.note:
        lines += [_markdown(section.note), ""]
    if section.rows:
        heads = section.heads or ("", "")
        lines.append(f"| {' | '.join(map(_markdown, heads))} |")
        lines.append(f"|{' --- |' * len(heads)}")
        lines += [f"| {' | '.join(map(_markdown, row))} |" for row in section.rows]
        lines.append("")
    return "\n".join(lines)


def _markdown(cell: str) -> str:
    """Return text that Markdown takes for nothing but text."""
    for mark in "\\`*_|<>[]":
        cell = cell.replace(mark, "\\" + mark)
    return cell


def as_html(policy: Policy, counts: Counts) -> str:
    """Return a policy's sheet as one HTML page without scripts."""
    kinds: dict[str, str] = {outcome.name: outcome.kind for outcome in policy.ladder.outcomes}
    body = "".join(_html_section(section, kinds) for section in sheet(policy, counts))
    title = html.escape(f"Policy {policy.ladder.name}")
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>\n'
        f"<style>{STYLE}</style>\n</head>\n<body>\n{body}</body>\n</html>\n"
    )


def _html_section(section: Section, kinds: dict[str, str]) -> str:
    """Return one section as an HTML table; a row is marked with what its outcome means."""
    lines = [f"<h2>{html.escape(section.title)}</h2>"]
    if section.note:
        lines.append(f"<p>{html.escape(section.note)}</p>")
    if section.rows:
        lines.append("<table>")
        if section.heads:
            lines.append("<tr>" + "".join(f"<th>{html.escape(head)}</th>" for head in section.heads) + "</tr>")
        column = section.heads.index("outcome") if "outcome" in section.heads else None
        for row in section.rows:
            mark = "" if column is None else f' class="{kinds[row[column]]}"'
            lines.append(f"<tr{mark}>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>")
        lines.append("</table>")
    return "\n".join(lines) + "\n"


def as_json(policy: Policy, counts: Counts) -> str:
    """Return a policy's sheet as one JSON object; what was not obtained or written out is null."""
    ladder = policy.ladder
    given = None if counts is None else census(ladder, counts)
    form = {
        "schema": SCHEMA,
        "name": ladder.name,
        "rules_on": policy.rules_on,
        "check": policy.check or None,
        "about": policy.about,
        "digest": policy.digest,
        "source": policy.source,
        "required": policy.required,
        "waived": dict(policy.waived),
        "evidence": policy.options._asdict() if policy.rules_on == "patch" else None,
        "trust": _trust(policy.trust) if policy.rules_on == "patch" else None,
        "signals": [
            {"name": s.name, "states": s.states, "clean": [state for state in s.states if state in s.clean]}
            for s in ladder.signals
        ],
        "outcomes": [{"name": o.name, "means": o.kind, "exit_code": o.exit_code} for o in ladder.outcomes],
        "worse": [f"{better} < {worse}" for better, worse in sorted(ladder.worse)],
        "region": [_box(box, ladder) for box in ladder.accept_region],
        "rules": _json_rules(ladder, counts),
        "combinations": ladder.size,
        "census": None if given is None else {outcome.name: count for outcome, count in given.items()},
        "table": _json_table(ladder) if ladder.size <= MAX_ROWS else None,
    }
    return json.dumps(form, indent=2, ensure_ascii=False) + "\n"


def _trust(trust: TrustOptions) -> dict[str, object]:
    """Return whom the policy trusts."""
    return trust._asdict() | {"evidence": [{"gate": gate, "keys": keys} for gate, keys in trust.evidence]}


def _box(box: Box, ladder: Ladder) -> dict[str, list[str]]:
    """Return a box by signal."""
    return {
        signal.name: [state for state in signal.states if state in states]
        for signal, states in zip(ladder.signals, box, strict=True)
    }


def _json_rules(ladder: Ladder, counts: Counts) -> list[dict[str, object]]:
    """Return the rules in order."""
    sizes = (None,) * len(ladder.rules) if counts is None else counts
    return [
        {
            "number": rule.number,
            "when": rule.text,
            "outcome": rule.outcome.name,
            "reason": rule.reason,
            "look_first": rule.look_first,
            "combinations": size,
        }
        for rule, size in zip(ladder.rules, sizes, strict=True)
    ]


def _json_table(ladder: Ladder) -> list[dict[str, object]]:
    """Return every combination with what it gives."""
    names = [signal.name for signal in ladder.signals]
    return [
        {
            "states": dict(zip(names, states, strict=True)),
            "outcome": rule.outcome.name,
            "reason": rule.reason,
            "rule": rule.number,
        }
        for states in ladder.combinations()
        for rule in (ladder.table[states],)
    ]


FORMATS: Final = {"text": as_text, "markdown": as_markdown, "html": as_html, "json": as_json}
"""One renderer a format."""
