"""A decision as Markdown, for a comment on a patch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from admit.render.advice import next_steps
from admit.render.text import SHOWN, safe, verdict_lines

if TYPE_CHECKING:
    from admit.core.decision import Decision, GateRuling


def markdown(decision: Decision) -> str:
    """Return the whole decision; text from evidence is escaped, so that it cannot become markup."""
    rule = f"rule {decision.rule}: {decision.rule_text}" if decision.rule else decision.rule_text
    lines = [
        f"**{cell(decision.outcome)}** `attribution={code(decision.attribution)}`",
        "",
        f"{cell(rule)}. {cell(decision.detail)}",
    ]
    if decision.look_first:
        lines += ["", f"Look first at: {cell(decision.look_first)}."]
    if decision.would_be:
        lines += ["", f"It would have been: {cell(decision.would_be)}."]
    lines += ["", "| gate | state | why |", "|---|---|---|"]
    lines += [f"| {cell(gate.gate)} | {gate.state} | {cell(gate.detail)} |" for gate in decision.gates]
    for gate in decision.gates:
        lines += _nodes(gate)
    left = [gone for gate in decision.gates for gone in gate.left]
    if left:
        lines += ["", f"Left the sample: {len(left)}", ""]
        lines += [f"- {gone.why} `{code(gone.node)}`: {cell(gone.reason)}" for gone in left[:SHOWN]]
    lines += ["", *(f"- Note: {cell(note)}" for note in decision.notes)]
    lines += [f"- Next: {step}" for step in next_steps(decision)]
    return "\n".join(lines) + "\n"


def _nodes(gate: GateRuling) -> list[str]:
    lines: list[str] = []
    for verdict in gate.nodes[:SHOWN]:
        block = [code(line) for line in verdict_lines(verdict)]
        lines += ["", "```text", *block, "```"]
    if len(gate.nodes) > SHOWN:
        lines += ["", f"… and {len(gate.nodes) - SHOWN} more of {cell(gate.gate)}, all in the decision."]
    return lines


def cell(text: str) -> str:
    """Return untrusted text for running Markdown or a table cell."""
    escaped = safe(text)
    for char in "\\`*_[]<>|#@!~":
        escaped = escaped.replace(char, "\\" + char) if char != "@" else escaped.replace("@", "@\u200b")
    return escaped


def code(text: str) -> str:
    """Return untrusted text for inside backticks: it can close neither a span nor a block."""
    return safe(text).replace("`", "\u02cb")
