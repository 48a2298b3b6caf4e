"""Why a decision or one node of it came out as it did, from the decision alone (contract U6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from admit.render.text import safe, verdict_lines

if TYPE_CHECKING:
    from admit.core.decision import Decision, GateRuling, LeftWhy


def explain_node(decision: Decision, node: str) -> list[str]:
    """Return one answer a gate that knows the node; empty where no gate does."""
    answers: list[str] = []
    for gate in decision.gates:
        answers += _in_gate(gate, node)
    return answers


_ELSEWHERE: Final[dict[LeftWhy, str]] = {
    "frozen": "; it does not vote there, and holds the patch through flaky_freeze",
    "abstained": "; it neither votes nor holds",
    "proposal": "; it neither votes nor holds until it is proven",
}


def _in_gate(gate: GateRuling, node: str) -> list[str]:
    head = f"{gate.gate} is {gate.state}: {safe(gate.detail)}"
    for verdict in gate.nodes:
        if verdict.node == node:
            lines = verdict_lines(verdict)
            record = verdict.record
            states = (
                f"{gate.gate}={record.check}, fixture_lock={record.fixture_lock}, flake_status={record.flake_status}"
            )
            if (record.instrument, record.provenance) != ("intact", "established"):
                states += f", instrument={record.instrument}, provenance={record.provenance}"
            return [f"{lines[0]} by rule {verdict.rule} of the arbiter ({states})", *lines[1:], head]
    for left in gate.left:
        if left.node == node:
            return [
                f"{left.why}: left the sample of {gate.gate} ({safe(left.reason)}){_ELSEWHERE[left.why]}",
                head,
            ]
    if gate.accepted is not None and node in gate.accepted:
        return [f"accepted: it ran and held, what it was pinned to matches, and no freeze is on it ({gate.gate})", head]
    return []


def near_names(decision: Decision, node: str, most: int = 5) -> list[str]:
    """Return nodes of the decision whose id holds the text, for a person who typed part of one."""
    names = {verdict.node for gate in decision.gates for verdict in gate.nodes}
    names |= {left.node for gate in decision.gates for left in gate.left}
    names |= {name for gate in decision.gates for name in gate.accepted or ()}
    return sorted(name for name in names if node in name)[:most]


def unlisted(decision: Decision) -> int:
    """Return how many accepted nodes the decision counts without naming them."""
    return sum(gate.counts.accepted for gate in decision.gates if gate.accepted is None)
