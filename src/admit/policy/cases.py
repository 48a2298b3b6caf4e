"""A team's own table of cases: what a policy must say of given combinations (contract V3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from admit.policy.lines import Source
from admit.policy.tables import parsed, quoted

if TYPE_CHECKING:
    from admit.core.ladder import Ladder, Rule, States
    from admit.policy.tables import TableReader

SCHEMA: Final = "admit.policy-cases/1"
TOP_KEYS: Final = (("schema", "case"), ())
CASE_KEYS: Final = (("given", "outcome"), ("name", "reason"))


class Case(NamedTuple):
    """What a team expects of one combination; `reason` is empty where the case does not say. `where` is its line."""

    where: str
    label: str
    states: States
    outcome: str
    reason: str


class Wrong(NamedTuple):
    """A case that the policy does not keep, and the rule that ruled."""

    case: Case
    rule: Rule


class CaseReport(NamedTuple):
    """How a policy did: every wrong case, and the rules that no case tried."""

    cases: tuple[Case, ...]
    wrong: tuple[Wrong, ...]
    untried: tuple[Rule, ...]


def read_cases(text: str, where: str, ladder: Ladder) -> tuple[Case, ...]:
    """Read a table of cases for one ladder.

    Raises:
        InputError: no case at all, an unknown key, signal, state, outcome or reason, a signal that a case leaves out,
            or two cases for one combination.
    """
    top = parsed(Source(where, text))
    if "schema" not in top.values:
        raise top.error("schema", "no schema", allowed=SCHEMA, do=f"write schema = {quoted(SCHEMA)}")
    top.choice("schema", (SCHEMA,))
    if not top.values.get("case"):
        raise top.error("case", "no case, and an empty table of cases proves nothing", do="add a [[case]]")
    top.only(*TOP_KEYS)
    seen: dict[States, Case] = {}
    for one in top.tables("case", 100_000):
        case = _case(one, ladder)
        if case.states in seen:
            raise one.error("given", f"the same combination as {seen[case.states].label}", do="delete one of the two")
        seen[case.states] = case
    return tuple(seen.values())


def _case(one: TableReader, ladder: Ladder) -> Case:
    """Read one case: a state of every signal, and what they must give."""
    one.only(*CASE_KEYS)
    given = one.table_of("given")
    names = tuple(signal.name for signal in ladder.signals)
    for name in given:
        if name not in names:
            raise one.error("given", f"given has {quoted(name)}, which is no signal", allowed=names)
    states = []
    for signal in ladder.signals:
        if signal.name not in given:
            raise one.error("given", f"given leaves out {signal.name}", allowed=signal.states)
        state = given[signal.name]
        if not isinstance(state, str):
            raise one.mistyped("given", state, f"one state of {signal.name}: {', '.join(signal.states)}")
        if state not in signal.states:
            raise one.error("given", f"{signal.name} has no state {quoted(state)}", allowed=signal.states)
        states.append(state)
    reasons = tuple(dict.fromkeys(rule.reason for rule in ladder.rules))
    return Case(
        where=one.source.at(one.table, one.index),
        label=one.text("name") or one.label,
        states=tuple(states),
        outcome=one.choice("outcome", tuple(outcome.name for outcome in ladder.outcomes)),
        reason=one.choice("reason", reasons) if "reason" in one.values else "",
    )


def try_cases(cases: tuple[Case, ...], ladder: Ladder) -> CaseReport:
    """Rule on every case and compare."""
    ruled = [(case, ladder.table[case.states]) for case in cases]
    wrong = tuple(
        Wrong(case, rule)
        for case, rule in ruled
        if case.outcome != rule.outcome.name or (case.reason and case.reason != rule.reason)
    )
    tried = {rule.number for _, rule in ruled}
    return CaseReport(cases, wrong, tuple(rule for rule in ladder.rules if rule.number not in tried))
