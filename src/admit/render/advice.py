"""What to do next, by reason: a table. No line of it suggests to weaken, skip, widen or rerun a check."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from admit.core.decision import Decision

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
    "malformed-evidence": "Have the tool named write its document again, whole; do not edit it by hand.",
    "mixed-evidence": "Hand in the documents of one run of this patch only.",
    "unlisted-gate": "Have the gate listed in the policy, in a reviewed commit.",
    "tracked-state": "Take the files under .admit/ out of the commit.",
    "instrument-moved": "Run the gates on a tree and on pinned files that stay as they are.",
    "base-moved": "Bring the patch up to date with its base and run every gate again.",
    "uncommitted-changes": "Commit, then run the gates on the commit.",
    "no-base": "Run against the base, so that its tests and configuration judge.",
    "all-gates-held": "Merge this head.",
}
"""One sentence an attribution of the shipped router, and of evidence that is not admissible."""

BY_REASON: Final[dict[str, str]] = {
    "fixture_drifted": (
        "The pinned files are not those under review: restore them, or have a person repin them in a reviewed commit."
    ),
    "fixture_missing": (
        "Nothing pins what the tests read: have a person write the lock (`admit lock write`) in a reviewed commit."
    ),
    "frozen_node": "A freeze is in force: repair the test and thaw it.",
    "node_not_run": "Give the node what it needs to run here; if it cannot run by design, declare that in review.",
}
"""One sentence a reason of the arbiter, where the attribution alone leaves open what to do."""

_DEFAULT: Final = "Look at what is named first, and have a person decide."


def next_steps(decision: Decision) -> list[str]:
    """Return what to do next, most pressing first."""
    steps = [BY_ATTRIBUTION.get(decision.attribution, _DEFAULT)]
    reasons = {verdict.reason for gate in decision.gates for verdict in gate.nodes}
    for reason in sorted(reasons):
        step = BY_REASON.get("node_not_run" if reason.endswith("_not_run") else reason)
        if step and decision.kind != "accept":
            steps.append(step)
    return list(dict.fromkeys(steps))
