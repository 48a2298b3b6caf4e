"""What `admit policy verify` found, in words: each guarantee with its answer and the combination that shows it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from admit.core.ladder import describe
from admit.core.verify import GUARANTEES, census

if TYPE_CHECKING:
    from admit.core.ladder import Ladder, States
    from admit.core.verify import Answer, Verification
    from admit.policy.model import Policy

SCHEMA: Final = "admit.policy-verification/1"
HELD: Final = {"yes": "holds", "no": "BROKEN", "not-obtained": "NOT OBTAINED"}


def detail(answer: Answer, found: Verification, ladder: Ladder) -> str:
    """Return what shows that a guarantee is broken, in words; empty if nothing does."""
    if answer.held == "not-obtained":
        return f"{found.steps} steps were not enough"
    if answer.held == "yes":
        return ""
    if answer.guarantee == "no-dead-rule":
        return "; ".join(
            f"rule {dead.rule.number} ({dead.rule.text}) is taken by {_rules(dead.taken_by)}" for dead in found.dead
        )
    shown = [f"{describe(ladder.signals, states)} gives {_given(ladder, states)}" for states in answer.witness]
    if len(shown) == 2:
        return f"{answer.broken} steps, the smallest: {shown[0]}, but the worse {shown[1]}"
    return f"{answer.broken} combinations, the smallest: {shown[0]}"


def _rules(numbers: tuple[int, ...]) -> str:
    """Return the numbers of rules in words."""
    return "rule " + ", ".join(map(str, numbers)) if len(numbers) == 1 else "rules " + ", ".join(map(str, numbers))


def _given(ladder: Ladder, states: States) -> str:
    """Return the outcome of a combination and its rule, or that there is none."""
    rule = next((rule for rule in ladder.rules if rule.covers(states)), None)
    return f"{rule.outcome.name} (rule {rule.number})" if rule else "no outcome"


def warnings(policy: Policy, found: Verification) -> list[str]:
    """Return what is not wrong, but should be looked at."""
    from admit.policy.document import OWN_GATES
    from admit.policy.reading import unfed

    said = []
    if found.counts is not None:
        given = census(policy.ladder, found.counts)
        said = [f"the outcome {outcome.name} is never given" for outcome, count in given.items() if not count]
    if policy.rules_on == "patch":
        named = {*policy.required, *(gate for gate, _ in policy.waived)}
        said += [
            f"{gate} is neither required nor waived: say why under [waived]" for gate in OWN_GATES if gate not in named
        ]
    said += [f"no node record has the signal {name}, so no node can be ruled on" for name in unfed(policy)]
    return said


def as_text(policy: Policy, found: Verification) -> str:
    """Return the answers as aligned lines."""
    ladder = policy.ladder
    lines = [f"policy {ladder.name} ({policy.source})", f"digest {policy.digest}", _size(policy, found), ""]
    for answer in found.answers:
        lines.append(f"{HELD[answer.held]:<12}  {answer.guarantee:<15}  {GUARANTEES[answer.guarantee]}")
        if shown := detail(answer, found, ladder):
            lines.append(f"{'':<12}  {'':<15}  {shown}")
    lines += ["", f"census: {_census(policy, found)}"]
    lines += [f"warning: {one}" for one in warnings(policy, found)]
    return "\n".join(lines) + "\n"


def as_markdown(policy: Policy, found: Verification) -> str:
    """Return the answers as a Markdown table."""
    lines = [
        f"## Policy `{policy.ladder.name}`",
        "",
        f"`{policy.digest}` · {_size(policy, found)}",
        "",
        "| guarantee | answer | |",
        "| --- | --- | --- |",
    ]
    for answer in found.answers:
        shown = detail(answer, found, policy.ladder) or GUARANTEES[answer.guarantee]
        lines.append(f"| {answer.guarantee} | {HELD[answer.held]} | {shown.replace('|', chr(92) + '|')} |")
    lines += ["", f"Census: {_census(policy, found)}"]
    lines += [f"\n> warning: {one}" for one in warnings(policy, found)]
    return "\n".join(lines) + "\n"


def as_json(policy: Policy, found: Verification) -> str:
    """Return the answers as one JSON object."""
    names = [signal.name for signal in policy.ladder.signals]
    counts = None if found.counts is None else census(policy.ladder, found.counts)
    form = {
        "schema": SCHEMA,
        "policy": policy.ladder.name,
        "source": policy.source,
        "digest": policy.digest,
        "combinations": policy.ladder.size,
        "steps": found.steps,
        "holds": found.holds,
        "answers": [
            {
                "guarantee": answer.guarantee,
                "held": answer.held,
                "broken": answer.broken,
                "witness": [dict(zip(names, states, strict=True)) for states in answer.witness],
            }
            for answer in found.answers
        ],
        "dead": [{"rule": dead.rule.number, "taken_by": dead.taken_by} for dead in found.dead],
        "census": None if counts is None else {outcome.name: count for outcome, count in counts.items()},
        "warnings": warnings(policy, found),
    }
    return json.dumps(form, indent=2, ensure_ascii=False) + "\n"


def _size(policy: Policy, found: Verification) -> str:
    """Return how large the policy is and what it took."""
    ladder = policy.ladder
    return f"{len(ladder.signals)} signals, {ladder.size} combinations, {len(ladder.rules)} rules, {found.steps} steps"


def _census(policy: Policy, found: Verification) -> str:
    """Return how many combinations get each outcome."""
    if found.counts is None:
        return "not obtained"
    return ", ".join(f"{outcome.name} {count}" for outcome, count in census(policy.ladder, found.counts).items())


FORMATS: Final = {"text": as_text, "markdown": as_markdown, "json": as_json}
"""One renderer a format."""
