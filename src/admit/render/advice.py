"""What to do next, by reason: a table. No line of it suggests to weaken, skip, widen or rerun a check."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from admit.core.signals import FREEZE_GATE

if TYPE_CHECKING:
    from admit.core.decision import Decision, GateRuling
    from admit.core.signals import Why

_LEFT_OUT: Final = (
    "Run the gate without leaving tests out; what by design does not run here is declared in review "
    "(`admit abstain write`)."
)

BY_ATTRIBUTION: Final[dict[str, str]] = {
    "evidence-gap": "Run the gate that is missing on this head, to its end, and decide again.",
    "behavior-and-invariant": "Correct the production code: examples and properties both found it wrong.",
    "concrete-behavior": "Correct the production code until the examples named hold.",
    "invariant-or-over-specified-property": (
        "Replay the counterexample. If the input is legal, correct the code; "
        "if it is not, show that in review of the property."
    ),
    "freeze-register": "Correct the register entry named, in a reviewed commit of its own.",
    "inadmissible-evidence": "Resolve what kept each node named from giving a verdict, then run its gate again.",
    "malformed-evidence": (
        "Have the tool named write its document again, whole, as GATE.NAME.jsonl; do not edit it by hand."
    ),
    "mixed-evidence": "Hand in the documents of one run of this patch only.",
    "unlisted-gate": (
        "Check how the gate is spelled; if it is a new one, have the policy list it, in a reviewed commit."
    ),
    "tracked-state": "Take the files under .admit/ out of the commit.",
    "instrument-moved": "Run the gates on a tree and on pinned files that stay as they are.",
    "no-inventory": (
        "Repair the base, so that its tests can be collected; of evidence that was kept of it, hand in all, of the "
        "commit at which the patch left it."
    ),
    "base-moved": "Name the base (--base), bring the patch up to date with it, and run every gate again.",
    "uncommitted-changes": "Commit, then run the gates on the commit.",
    "no-base": "Run against the base, so that its tests and configuration judge.",
    "unregistered-exclusion": _LEFT_OUT,
    "fixture_repinned": "Have a reviewer approve the new pins (`admit approve`), or make them a patch of their own.",
    "control-files-touched": (
        "Make the change of the rules a patch of its own, or have a reviewer approve it (`admit approve`)."
    ),
    "instrument-edited": (
        "Make the change of how tests run a patch of its own, or have a reviewer approve it (`admit approve`)."
    ),
    "all-gates-held": "Merge this head.",
}
"""One sentence an attribution of the shipped router, and of evidence that is not admissible."""

BY_REASON: Final[dict[str, str]] = {
    "fixture_drifted": (
        "The pinned files are not those under review (`admit lock diff` names them): restore them, or have a person "
        "repin them in a reviewed commit."
    ),
    "fixture_missing": (
        "Nothing pins what the tests read: have a person write the lock (`admit lock write`) in a reviewed commit."
    ),
    "instrument_compromised": "Find out what changed how this run measures: what is named was not as it was planted.",
    "test_edited": (
        "The base's form of the test fails on this code: restore what it asks for, or have a reviewer approve the new "
        "form (`admit approve --node`)."
    ),
    "already_broken": "It fails on the base as well: repair it there first, in a patch of its own.",
    "unproven_property": "A new test fails: correct the code or the test; until it is proven it cannot reject.",
    "frozen_node": "A freeze is in force (`admit freeze list`): repair the test, then thaw it.",
}
"""One sentence a reason of the arbiter, where the attribution alone leaves open what to do."""

BY_WHY: Final[dict[Why, str]] = {
    "skip": "Give what was skipped what it needs to run here; if it cannot run by design, declare that in review.",
    "xfail": "Repair what is expected to fail; if it fails by design, declare that in review.",
    "xpass": "It passed where it was to give no verdict: take the mark and the declaration away, in review.",
    "timeout": "Find out what it waited for: it gave no verdict within its time.",
    "crashed": "Find out what ended the process while it ran.",
    "never_ran": "Find out what ended the run before it was reached, then run the gate to its end.",
    "interrupted": "Run the gate to its end.",
    "truncated": "Run the gate to its end, so that its document is whole.",
    "deselected": _LEFT_OUT,
    "flaky": "It both failed and passed on this commit: find out what makes the difference.",
    "vacuous": "The property ran on nothing: give it inputs that reach its assertions.",
    "error_collect": "Repair what kept the file from being collected.",
    "vanished": (
        "The patch no longer has this test: bring it back, declare its rename (`Admit-Rename: OLD => NEW` in a commit "
        "message), or have a reviewer approve that it goes."
    ),
    "uncontrolled_lane": "Run it on a lane that the policy trusts for timing.",
    "error_setup": "Repair the set-up that broke before the test ran.",
}
"""One sentence a sub-reason of a node that gave no verdict."""

BY_STATE: Final[dict[str, str]] = {
    "selected": "Have the gate select tests: it was asked for some that do not exist.",
    "ended": "Make the run end by itself, with an exit code that fits what it recorded.",
    "register": "Repair the register of freezes, in a reviewed commit.",
}
"""One sentence for a gate that is unknown or missing without a node that says why."""

_DEFAULT: Final = "Look at what is named first, and have a person decide."


def next_steps(decision: Decision) -> list[str]:
    """Return what to do next, most pressing first."""
    if decision.kind == "accept":
        return [BY_ATTRIBUTION.get(decision.attribution, _DEFAULT)]
    steps: list[str] = []
    for gate in decision.gates:
        steps += _of_gate(gate)
    general = BY_ATTRIBUTION.get(decision.attribution, _DEFAULT)
    first = [] if decision.attribution == "inadmissible-evidence" and steps else [general]
    return list(dict.fromkeys([*first, *steps]))


def _of_gate(gate: GateRuling) -> list[str]:
    reasons = {verdict.reason for verdict in gate.nodes}
    whys = {verdict.record.why for verdict in gate.nodes if verdict.kind == "hold" and verdict.reason not in BY_REASON}
    whys |= {"flaky" for verdict in gate.nodes if verdict.record.flaky}
    steps = [text for reason, text in BY_REASON.items() if reason in reasons]
    steps += [text for why, text in BY_WHY.items() if why in whys]
    if any(gone.why == "frozen" for gone in gate.left) or (gate.gate == FREEZE_GATE and gate.state == "unknown"):
        steps.append(BY_REASON["frozen_node"])
    if gate.gate == FREEZE_GATE and gate.state == "fail":
        steps.append(BY_STATE["register"])
    if gate.state == "unknown" and not gate.nodes and gate.gate != FREEZE_GATE:
        steps.append(BY_STATE["ended" if " ended: " in gate.detail else "selected"])
    return steps
