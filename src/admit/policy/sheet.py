"""A policy laid out for people: its signals, outcomes, rules, census and whole table, as sections of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from admit.core.verify import census

if TYPE_CHECKING:
    from admit.core.ladder import Box, Ladder
    from admit.core.signals import Signal
    from admit.policy.model import Policy, TrustOptions

MAX_ROWS: Final = 4096
"""Up to so many combinations the table is written out; past that the sheet says that it is not."""


class Section(NamedTuple):
    """One part of a sheet: a title, the heads of its columns, its rows; `note` stands below the title."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


def sheet(policy: Policy, counts: tuple[int, ...] | None) -> tuple[Section, ...]:
    """Return everything that a policy is, in the order in which people read it (contract V4).

    Args:
        policy: what to lay out.
        counts: how many combinations each rule rules on, in order; None if that was not obtained.
    """
    return (_head(policy), _signals(policy), _outcomes(policy, counts), _rules(policy, counts), _table(policy.ladder))


def _head(policy: Policy) -> Section:
    """Return what the policy is called and what it asks for."""
    ladder, options = policy.ladder, policy.options
    rows = [("rules on", f"one {policy.rules_on}"), ("digest", policy.digest), ("read from", policy.source)]
    if policy.rules_on == "patch":
        rows.append(("required gates", ", ".join(policy.required)))
        rows += [("waived", f"{gate}: {why}") for gate, why in policy.waived]
        rows += [
            ("a node that failed and passed", options.flaky),
            ("a decision without a base", "holds" if options.no_base == "hold" else "says so"),
        ]
        rows += [
            ("base moved at most", f"{bound} {unit}")
            for bound, unit in ((options.base_moved_commits, "commits"), (options.base_moved_hours, "hours"))
            if bound is not None
        ]
        rows += _trust(policy.trust)
    else:
        rows.append(("the gate's own check", policy.check))
    rows.append(("order", ", ".join(f"{better} < {worse}" for better, worse in sorted(ladder.worse))))
    rows += [("may accept", _box(box, ladder.signals)) for box in ladder.accept_region]
    return Section(f"Policy {ladder.name}", (), tuple(rows), policy.about)


def _trust(trust: TrustOptions) -> list[tuple[str, str]]:
    """Return whom the policy trusts."""
    rows = [("a patch that edits the instrument", "holds" if trust.instrument_edits == "hold" else "says so")]
    rows += [("approvals count from", key) for key in trust.approvers]
    rows += [(f"{gate} signed by", " or ".join(keys)) for gate, keys in trust.evidence]
    if trust.timing_lanes:
        rows.append(("timing counts on", ", ".join(trust.timing_lanes)))
    return rows


def _box(box: Box, signals: tuple[Signal, ...]) -> str:
    """Return a box in words."""
    return ", ".join(
        f"{signal.name}={'|'.join(state for state in signal.states if state in states)}"
        for signal, states in zip(signals, box, strict=True)
    )


def _signals(policy: Policy) -> Section:
    """Return the signals with their states."""
    rows = tuple(
        (signal.name, ", ".join(signal.states), ", ".join(state for state in signal.states if state in signal.clean))
        for signal in policy.ladder.signals
    )
    return Section("Signals", ("signal", "states, best first", "clean"), rows)


def _outcomes(policy: Policy, counts: tuple[int, ...] | None) -> Section:
    """Return the census: the outcomes, their exit codes, and how many combinations get each."""
    ladder = policy.ladder
    given = None if counts is None else census(ladder, counts)
    rows = tuple(
        (outcome.name, outcome.kind, str(outcome.exit_code), "not obtained" if given is None else str(given[outcome]))
        for outcome in ladder.outcomes
    )
    note = f"{ladder.size} combinations in all."
    return Section("Census", ("outcome", "means", "exit code", "combinations"), rows, note)


def _rules(policy: Policy, counts: tuple[int, ...] | None) -> Section:
    """Return the rules in order, and how many combinations each rules on."""
    rules = policy.ladder.rules
    sizes = ["not obtained"] * len(rules) if counts is None else [str(count) for count in counts]
    rows = tuple(
        (str(rule.number), rule.text, rule.outcome.name, rule.reason, rule.look_first, size)
        for rule, size in zip(rules, sizes, strict=True)
    )
    heads = ("#", "when", "outcome", "reason", "look first at", "combinations")
    return Section("Rules", heads, rows, "The first that matches wins.")


def _table(ladder: Ladder) -> Section:
    """Return every combination with what it gives, or say that there are too many to write out."""
    heads = (*(signal.name for signal in ladder.signals), "outcome", "reason", "rule")
    if ladder.size > MAX_ROWS:
        return Section("Table", heads, (), f"Not written out: {ladder.size} combinations are more than {MAX_ROWS}.")
    rows = tuple(
        (*states, rule.outcome.name, rule.reason, str(rule.number))
        for states in ladder.combinations()
        for rule in (ladder.table[states],)
    )
    return Section("Table", heads, rows)
