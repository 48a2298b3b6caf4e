"""The peer: what `admit route --evidence FILE` answers, as a bare script on the standard library."""

import json
import sys
from dataclasses import dataclass
from enum import Enum


class State(Enum):
    PASS = "pass"
    UNKNOWN = "unknown"
    MISSING = "missing"
    FAIL = "fail"


@dataclass(frozen=True)
class Evidence:
    property_check: State
    fixture_check: State
    flaky_freeze: State


def route(e: Evidence) -> tuple[int, str]:
    states = (e.property_check, e.fixture_check, e.flaky_freeze)
    if State.MISSING in states:
        return 2, "ESCALATE attribution=evidence-gap"
    if e.property_check is State.FAIL and e.fixture_check is State.FAIL:
        return 1, "BLOCK attribution=behavior-and-invariant"
    if e.fixture_check is State.FAIL:
        return 1, "BLOCK attribution=concrete-behavior"
    if e.property_check is State.FAIL:
        return 1, "BLOCK attribution=invariant-or-over-specified-property"
    if e.flaky_freeze is State.FAIL:
        return 1, "BLOCK attribution=freeze-register"
    if State.UNKNOWN in states:
        return 2, "ESCALATE attribution=inadmissible-evidence"
    return 0, "MERGE_OK attribution=all-gates-held"


tree = json.load(open(sys.argv[1]))
gates = ("property_check", "fixture_check", "flaky_freeze")
code, line = route(Evidence(**{k: State(tree.get(k, "missing")) for k in gates}))
print(line)
sys.exit(code)
