"""How a policy did on a team's table of cases: text, Markdown or JSON (contract V3)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from admit.core.ladder import describe
from admit.errors import one_line

if TYPE_CHECKING:
    from admit.core.ladder import Ladder
    from admit.policy.cases import CaseReport, Wrong
    from admit.policy.model import Policy

SCHEMA: Final = "admit.policy-test/1"


def as_text(policy: Policy, report: CaseReport) -> str:
    """Return each wrong case and each rule that no case tried, a line each, and a last line that counts."""
    return "".join(f"{one_line(line)}\n" for line in (*_findings(policy, report), _summary(policy, report)))


def as_markdown(policy: Policy, report: CaseReport) -> str:
    """Return the same as a list and a paragraph."""
    findings = "".join(f"- {one_line(line)}\n" for line in _findings(policy, report))
    return f"{findings}\n{_summary(policy, report)}\n".lstrip("\n")


def _findings(policy: Policy, report: CaseReport) -> list[str]:
    """Return what is wrong, then what was never tried."""
    found = [f"wrong: {_wrong(wrong, policy.ladder)}" for wrong in report.wrong]
    return found + [f"never tried: rule {rule.number}, {rule.text}: {rule.outcome.name}" for rule in report.untried]


def _wrong(wrong: Wrong, ladder: Ladder) -> str:
    """Return a wrong case in one line."""
    case, rule = wrong
    expected = f"{case.outcome} {case.reason}".rstrip()
    got = f"{rule.outcome.name} {rule.reason} (rule {rule.number}: {rule.text})"
    return f"{case.where}: {case.label}: {describe(ladder.signals, case.states)}: expected {expected}, got {got}"


def _summary(policy: Policy, report: CaseReport) -> str:
    """Return the counts."""
    ladder, held = policy.ladder, len(report.cases) - len(report.wrong)
    return (
        f"{held} of {len(report.cases)} cases hold under {ladder.name} ({policy.source});"
        f" {len(report.untried)} of {len(ladder.rules)} rules never tried"
    )


def as_json(policy: Policy, report: CaseReport) -> str:
    """Return everything as one JSON object."""
    names = [signal.name for signal in policy.ladder.signals]
    form = {
        "schema": SCHEMA,
        "policy": policy.ladder.name,
        "digest": policy.digest,
        "cases": len(report.cases),
        "wrong": [
            {
                "case": case.label,
                "where": case.where,
                "states": dict(zip(names, case.states, strict=True)),
                "expected": {"outcome": case.outcome, "reason": case.reason or None},
                "got": {"outcome": rule.outcome.name, "reason": rule.reason, "rule": rule.number},
            }
            for case, rule in report.wrong
        ],
        "untried": [rule.number for rule in report.untried],
    }
    return json.dumps(form, indent=2, ensure_ascii=False) + "\n"


FORMATS: Final = {"text": as_text, "markdown": as_markdown, "json": as_json}
"""One renderer a format."""
