"""The arbiter as a gate spells it: its check is called after the gate, in signals, reasons and words (contract A7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from admit.core.ladder import Ladder
from admit.errors import InputError

if TYPE_CHECKING:
    from admit.core.ladder import Rule
    from admit.policy.model import Policy


def respelled(policy: Policy, gate: str) -> Ladder:
    """Return a node policy's ladder for the records of one gate.

    The check's signal is called after the gate; reasons that begin with the check's stem (its name without `_check`)
    begin with the gate's instead: for `fixture_check`, `property_fail` becomes `fixture_fail`. Nothing else changes.

    Raises:
        InputError: the policy does not rule on nodes, or the gate is called like another of its signals.
    """
    ladder = policy.ladder
    if policy.rules_on != "node":
        raise InputError(
            policy.source, f"it rules on a {policy.rules_on}, not on nodes", do="name a node policy, such as arbiter"
        )
    if gate == policy.check:
        return ladder
    if any(signal.name == gate for signal in ladder.signals):
        raise InputError(policy.source, f"the gate {gate} is called like a signal of this policy", do="rename the gate")
    return Ladder(
        ladder.name,
        tuple(signal._replace(name=gate) if signal.name == policy.check else signal for signal in ladder.signals),
        outcomes=ladder.outcomes,
        rules=tuple(_respelled_rule(rule, policy.check, gate) for rule in ladder.rules),
        worse=ladder.worse,
        accept_region=ladder.accept_region,
    )


def _respelled_rule(rule: Rule, check: str, gate: str) -> Rule:
    """Return a rule with the gate's name for the check's."""
    stem = check.removesuffix("_check") + "_"
    reason = rule.reason
    if reason.startswith(stem):
        reason = gate.removesuffix("_check") + "_" + reason.removeprefix(stem)
    words = (gate if word == check else word for word in rule.text.split(" "))
    return rule._replace(reason=reason, text=" ".join(words))
