"""A decision as text for a terminal or a log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from admit.render.advice import next_steps

if TYPE_CHECKING:
    from collections.abc import Callable

    from admit.core.decision import Decision, GateRuling, NodeVerdict

SHOWN: Final = 10
"""Nodes a gate that are shown in full; the rest is counted and stands in the decision."""

Paint = "Callable[[str, str], str]"

_COLOUR: Final = {
    "accept": "32",
    "reject": "31",
    "hold": "33",
    "pass": "32",
    "fail": "31",
    "unknown": "33",
    "missing": "33",
}


def plain(text: str, _meaning: str) -> str:
    """Return text as it is."""
    return text


def coloured(text: str, meaning: str) -> str:
    """Return text in the colour of a kind or gate state."""
    return f"\x1b[{_COLOUR[meaning]}m{text}\x1b[0m"


def text(decision: Decision, paint: Callable[[str, str], str] = plain) -> str:
    """Return the whole decision: disposition, rule, gates, nodes that matter, what left the sample, what to do next."""
    lines = [paint(decision.line, decision.kind)]
    if decision.rule:
        lines.append(f"  rule {decision.rule}: {decision.rule_text}")
    else:
        lines.append(f"  {decision.rule_text}: {safe(decision.detail)}")
    if decision.look_first:
        lines.append(f"  look first at: {decision.look_first}")
    if decision.would_be:
        lines.append(f"  it would have been: {decision.would_be}")
    lines += ["", *_gates(decision, paint)]
    for gate in decision.gates:
        lines += _nodes(gate)
    lines += _left(decision)
    lines += [f"  note: {safe(note)}" for note in decision.notes]
    lines += [f"  next: {step}" for step in next_steps(decision)]
    return "\n".join(lines) + "\n"


def _gates(decision: Decision, paint: Callable[[str, str], str]) -> list[str]:
    width = max((len(gate.gate) for gate in decision.gates), default=0)
    return [
        f"  {gate.gate:{width}}  {paint(f'{gate.state:7}', gate.state)}  {safe(gate.detail)}" for gate in decision.gates
    ]


def _nodes(gate: GateRuling) -> list[str]:
    if not gate.nodes:
        return []
    lines = ["", f"  {gate.gate}:"]
    for verdict in gate.nodes[:SHOWN]:
        lines += [f"    {line}" for line in verdict_lines(verdict)]
    if len(gate.nodes) > SHOWN:
        lines.append(f"    … and {len(gate.nodes) - SHOWN} more, all in the decision")
    return lines


def verdict_lines(verdict: NodeVerdict) -> list[str]:
    """Return one node's verdict with what its record says: message, counterexample, how to replay it."""
    record = verdict.record
    why = f" ({record.why})" if record.why else ""
    lines = [f"{verdict.outcome} {verdict.reason}{why} {safe(verdict.node)}"]
    if record.attempts > 1 or record.flaky:
        both = ", both passed and failed" if record.flaky else ""
        lines.append(f"  run {record.attempts} times{both}")
    if record.message:
        lines.append(f"  {safe(record.message, 300)}")
    if record.counterexample:
        lines.append("  counterexample:")
        lines += [f"    {safe(line, 300)}" for line in record.counterexample.splitlines()[:20]]
    if record.reproduce:
        lines.append(f"  replay: {safe(record.reproduce, 300)}")
    if record.seed is not None and verdict.kind == "reject":
        lines.append(f"  seed: {safe(str(record.seed))}")
    return lines


def _left(decision: Decision) -> list[str]:
    left = [gone for gate in decision.gates for gone in gate.left]
    if not left:
        return []
    lines = ["", f"  left the sample: {len(left)}"]
    lines += [f"    {gone.why} {safe(gone.node)}: {safe(gone.reason, 200)}" for gone in left[:SHOWN]]
    if len(left) > SHOWN:
        lines.append(f"    … and {len(left) - SHOWN} more, all in the decision")
    return lines


def safe(text: str, limit: int = 500) -> str:
    """Return untrusted text on one line, control characters escaped, so that it cannot draw on a terminal."""
    escaped = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
    return escaped if len(escaped) <= limit else escaped[: limit - 1] + "…"
