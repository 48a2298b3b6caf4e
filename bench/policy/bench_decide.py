"""Claim: three words to a decision cost at most 3 bare dict lookups, and 1/200 of zen-engine and of cedarpy.

Usage: python bench/policy/bench_decide.py [ROUNDS]   (in an environment with admit, zen-engine and cedarpy)

All peers first rule on the same 64 combinations and must agree with admit on every one; then all are timed in turns, in
this process, on all 64. What is compared are medians of rounds. A peer that is not installed is not measured, and then
the exit code is 1: a claim without its peer is not a claim that holds.
"""

from __future__ import annotations

import gc
import json
import statistics
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from admit import policy

if TYPE_CHECKING:
    from collections.abc import Callable

STATES = ("pass", "unknown", "missing", "fail")
GATES = ("property_check", "fixture_check", "flaky_freeze")
COMBINATIONS = tuple(product(STATES, repeat=3))
ROWS = (
    *(({gate: "missing"}, "ESCALATE", "evidence-gap") for gate in GATES),
    ({"property_check": "fail", "fixture_check": "fail"}, "BLOCK", "behavior-and-invariant"),
    ({"fixture_check": "fail"}, "BLOCK", "concrete-behavior"),
    ({"property_check": "fail"}, "BLOCK", "invariant-or-over-specified-property"),
    ({"flaky_freeze": "fail"}, "BLOCK", "freeze-register"),
    *(({gate: "unknown"}, "ESCALATE", "inadmissible-evidence") for gate in GATES),
    (dict.fromkeys(GATES, "pass"), "MERGE_OK", "all-gates-held"),
)
"""The router's rules as rows of a first-match table, which is what the peers take."""


class Contender(NamedTuple):
    """What decides, and how its answer is put into words outside the time that is taken."""

    decide: Callable[[str, str, str], Any]
    words: Callable[[Any], str]


def bare_dict() -> dict[tuple[str, str, str], str]:
    """Return the floor: a dict from three words to an answer, written in another way than admit's table."""
    table = {}
    for combination in COMBINATIONS:
        states = dict(zip(GATES, combination, strict=True))
        table[combination] = next(
            f"{outcome} {reason}" for row, outcome, reason in ROWS if all(states[g] == s for g, s in row.items())
        )
    return table


def admit_router() -> Contender:
    """Return admit's decision: the rule that rules, with its outcome and reason."""
    return Contender(policy.load("router").ladder.decide, lambda rule: f"{rule.outcome.name} {rule.reason}")


def zen_table() -> Contender:
    """Return the same rows as a first-hit decision table of zen-engine."""
    from zen import ZenEngine

    columns = {
        "inputs": [{"id": f"i{n}", "name": gate, "field": gate} for n, gate in enumerate(GATES)],
        "outputs": [{"id": "o0", "name": "o", "field": "outcome"}, {"id": "o1", "name": "r", "field": "reason"}],
    }
    rules = [
        {
            "_id": f"row{number}",
            **{f"i{n}": f'"{row[gate]}"' if gate in row else "" for n, gate in enumerate(GATES)},
            "o0": f'"{outcome}"',
            "o1": f'"{reason}"',
        }
        for number, (row, outcome, reason) in enumerate(ROWS)
    ]
    content = {"hitPolicy": "first", "rules": rules, **columns}
    nodes = [
        {"id": "in", "name": "in", "type": "inputNode"},
        {"id": "t", "name": "t", "type": "decisionTableNode", "content": content},
        {"id": "out", "name": "out", "type": "outputNode"},
    ]
    edges = [
        {"id": "e1", "type": "edge", "sourceId": "in", "targetId": "t"},
        {"id": "e2", "type": "edge", "sourceId": "t", "targetId": "out"},
    ]
    decision = ZenEngine().create_decision(json.dumps({"nodes": nodes, "edges": edges}))

    def decide(one: str, two: str, three: str) -> dict[str, str]:
        return decision.evaluate({"property_check": one, "fixture_check": two, "flaky_freeze": three})["result"]

    return Contender(decide, lambda found: f"{found['outcome']} {found['reason']}")


def cedar_policies() -> Contender:
    """Return the same rows as Cedar policies: one permits, the others forbid.

    Cedar answers allow or deny; which of two denials it is has to be read from the first determining policy.
    """
    from cedarpy import Decision, Entities, PolicySet, is_authorized

    def text(row: dict[str, str], effect: str) -> str:
        conditions = " && ".join(f'context.{gate} == "{state}"' for gate, state in row.items())
        return f"{effect} (principal, action, resource) when {{ {conditions} }};"

    effects = ["permit" if outcome == "MERGE_OK" else "forbid" for _, outcome, _ in ROWS]
    texts = [text(row, effect) for (row, _, _), effect in zip(ROWS, effects, strict=True)]
    policies, entities = PolicySet.from_str("\n".join(texts)), Entities.from_json_str("[]")

    def decide(one: str, two: str, three: str) -> Any:
        return is_authorized(
            {
                "principal": 'U::"a"',
                "action": 'A::"merge"',
                "resource": 'R::"r"',
                "context": {"property_check": one, "fixture_check": two, "flaky_freeze": three},
            },
            policies,
            entities,
        )

    def words(result: Any) -> str:
        first = min(int(one.removeprefix("policy")) for one in result.diagnostics.reasons)
        _, outcome, reason = ROWS[first]
        assert (result.decision is Decision.Allow) == (outcome == "MERGE_OK")
        return f"{outcome} {reason}"

    return Contender(decide, words)


PEERS = {"zen-engine": (zen_table, 200), "cedarpy": (cedar_policies, 200)}
CHUNK = {"bare lookup": 2000, "admit": 2000, "zen-engine": 4, "cedarpy": 4}


def timed(decide: Callable[[str, str, str], Any], repeats: int) -> float:
    """Return nanoseconds a decision over all combinations."""
    before = time.perf_counter_ns()
    for _ in range(repeats):
        for one, two, three in COMBINATIONS:
            decide(one, two, three)
    return (time.perf_counter_ns() - before) / (repeats * len(COMBINATIONS))


def timed_lookups(table: dict[tuple[str, str, str], str], repeats: int) -> float:
    """Return nanoseconds a lookup in a bare dict, without a function call around it."""
    before = time.perf_counter_ns()
    for _ in range(repeats):
        for one, two, three in COMBINATIONS:
            table[one, two, three]
    return (time.perf_counter_ns() - before) / (repeats * len(COMBINATIONS))


def main() -> int:
    """Measure, print, and say whether the claim holds."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    table, contenders = bare_dict(), {"admit": admit_router()}
    missing = []
    for name, (build, _) in PEERS.items():
        try:
            contenders[name] = build()
        except ImportError:
            missing.append(name)
            print(f"NOT MEASURED: {name} is not installed; run `make bench`")
    expected = [table[states] for states in COMBINATIONS]
    answers = {name: [one.words(one.decide(*states)) for states in COMBINATIONS] for name, one in contenders.items()}
    for name, found in answers.items():
        if found != expected:
            print(f"NOT MEASURED: {name} and the bare dict do not agree on {difference(found, expected)}")
            return 1
    gc.disable()
    figures: dict[str, list[float]] = {name: [] for name in ("bare lookup", *contenders)}
    for _ in range(rounds):
        figures["bare lookup"].append(timed_lookups(table, CHUNK["bare lookup"]))
        for name, contender in contenders.items():
            figures[name].append(timed(contender.decide, CHUNK[name]))
    return report({name: statistics.median(found) for name, found in figures.items()}, missing)


def difference(found: list[str], expected: list[str]) -> str:
    """Return the first combination that two contenders rule on differently."""
    return next(f"{states}: {a} and {b}" for states, a, b in zip(COMBINATIONS, found, expected, strict=True) if a != b)


def report(medians: dict[str, float], missing: list[str]) -> int:
    """Print a line a contender and return 0 if every part of the claim holds."""
    holds = not missing
    ours = medians["admit"]
    for name, nanoseconds in medians.items():
        print(f"{installed(name):20} {nanoseconds:12,.0f} ns a decision  {nanoseconds / ours:10,.2f} x admit")
    print(f"agreed on all {len(COMBINATIONS)} combinations: {', '.join(medians)}")
    holds &= say(
        ours <= 3 * medians["bare lookup"], f"admit is {ours / medians['bare lookup']:.2f} bare lookups (at most 3)"
    )
    for name, (_, factor) in PEERS.items():
        if name in medians:
            holds &= say(
                medians[name] >= factor * ours, f"{name} is {medians[name] / ours:,.0f} x admit (at least {factor})"
            )
    return 0 if holds else 1


def say(holds: bool, claim: str) -> bool:
    """Print one part of the claim and return whether it holds."""
    print(f"{'holds' if holds else 'MISSED'}: {claim}")
    return holds


def installed(name: str) -> str:
    """Return a contender's name with its version."""
    try:
        return f"{name} {version(name)}"
    except PackageNotFoundError:
        return name


if __name__ == "__main__":
    sys.exit(main())
