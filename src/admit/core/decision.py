"""A decision: the outcome, the rule that gave it, and everything under it (contract U6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from admit.core.ladder import Ladder, Rule
    from admit.core.records import NodeRecord
    from admit.core.signals import GateState, Kind

SCHEMA: Final = "admit.decision/1"


class NodeVerdict(NamedTuple):
    """The arbiter's verdict on one node, with the rule and the record that gave it."""

    node: str
    outcome: str
    kind: Kind
    reason: str
    rule: int
    record: NodeRecord


LeftWhy: TypeAlias = Literal["frozen", "abstained", "proposal"]
"""Why a node left the sample: a freeze in force (contract U1, U2), a declared abstention (U7), a proposal (P3)."""


class Left(NamedTuple):
    """A node that left its gate's sample, and why; it neither votes nor holds."""

    gate: str
    node: str
    why: LeftWhy
    reason: str


class DocumentRef(NamedTuple):
    """Which document was read, by digest, and what its opening and closing said of the run."""

    source: str
    digest: str
    tool: str
    run_id: str
    lane: str
    shard: int
    shards: int
    attempt: int
    ended: str
    closed_by: str


class Counts(NamedTuple):
    """How many nodes of one gate got which verdict, and how many left the sample."""

    accepted: int = 0
    rejected: int = 0
    held: int = 0
    left: int = 0

    @property
    def total(self) -> int:
        """Return how many nodes the gate's evidence names."""
        return self.accepted + self.rejected + self.held + self.left


class GateRuling(NamedTuple):
    """One gate's state and everything that it was rolled up from.

    `detail` says in one line what gave the state. `nodes` are the verdicts that did not accept, worst first; `accepted`
    names the others, or is None where there are more than the decision lists.
    """

    gate: str
    state: GateState
    detail: str
    counts: Counts = Counts()
    nodes: tuple[NodeVerdict, ...] = ()
    left: tuple[Left, ...] = ()
    accepted: tuple[str, ...] | None = ()
    documents: tuple[DocumentRef, ...] = ()


class PolicyRef(NamedTuple):
    """Which policy ruled: its name and the digest of its canonical form."""

    name: str
    digest: str


class Patch(NamedTuple):
    """What was judged (contract E5, G6): ids that are not known are None, never empty."""

    patch_id: str
    head: str | None = None
    base: str | None = None
    tree: str | None = None


class Decision(NamedTuple):
    """The final word on one patch.

    `rule` is the router's rule, or 0 where evidence was not admissible and no rule was asked; `would_be` is what the
    router says of a working tree with uncommitted changes (contract E5); `notes` are said aloud and change nothing.
    """

    outcome: str
    kind: Kind
    attribution: str
    rule: int
    rule_text: str
    look_first: str
    detail: str
    patch: Patch
    gates: tuple[GateRuling, ...]
    router: PolicyRef
    arbiter: PolicyRef
    now: str
    notes: tuple[str, ...] = ()
    would_be: str = ""

    @property
    def exit_code(self) -> int:
        """Return 0, 1 or 2 (contract R5)."""
        return {"accept": 0, "reject": 1, "hold": 2}[self.kind]

    @property
    def line(self) -> str:
        """Return the one line: for a patch the disposition and its attribution (contract E1), for nodes the reason."""
        if not self.router.name:
            return f"{self.outcome} reason={self.attribution}"
        return f"{self.outcome} attribution={self.attribution}"


INADMISSIBLE: Final[dict[str, str]] = {
    "malformed-evidence": "the file and place named; let the tool that wrote it write it again",
    "mixed-evidence": "which run belongs to this patch; hand in only its documents",
    "unlisted-gate": "the policy: it waives or does not know a gate that left evidence",
    "tracked-state": "the commit: it holds files of the folder in which admit keeps its own state",
    "instrument-moved": "what changed while the tests ran, or since it was pinned",
    "no-inventory": "what cannot be collected: the base's tests, or the patch's own, or what a base's run left",
    "base-moved": "the base branch; bring the patch up to date and run the gates again",
    "uncommitted-changes": "the working tree; commit, then run the gates on the commit",
    "no-base": "the run; give it the base so that the base's instrument can judge",
    "unregistered-exclusion": "the run's configuration: it leaves out tests that no freeze or abstention declares",
    "fixture_repinned": "the pinned files that the patch pins anew, and who may approve that",
    "control-files-touched": "the files under review that the patch touches, and who may approve that",
    "instrument-edited": "what the patch changes about how tests are run, and who may approve that",
}
"""Why evidence was not admissible, in the order in which it is said, and where to look first.

Each of these holds: none of them can accept or reject (contract E4, E5, R7).
"""

FOR_REVIEW: Final = frozenset(
    {"unregistered-exclusion", "fixture_repinned", "control-files-touched", "instrument-edited"}
)
"""What waits for a reviewer and says nothing against the evidence: a patch that is rejected stays so (contract T1)."""


def ruled(
    rule: Rule, gates: tuple[GateRuling, ...], patch: Patch, *, router: PolicyRef, arbiter: PolicyRef
) -> Decision:
    """Return the decision that a rule of the router gives, still without its time and notes."""
    return Decision(
        outcome=rule.outcome.name,
        kind=rule.outcome.kind,
        attribution=rule.reason,
        rule=rule.number,
        rule_text=rule.text,
        look_first=rule.look_first,
        detail=_gates_in_words(gates),
        patch=patch,
        gates=gates,
        router=router,
        arbiter=arbiter,
        now="",
    )


def held(decision: Decision, ladder: Ladder, inadmissible: Mapping[str, str]) -> Decision:
    """Return the hold that inadmissible evidence gives instead of a decision; the decision itself where there is none.

    A code that the table `INADMISSIBLE` does not know holds like the others.
    """
    if not inadmissible:
        return decision
    if decision.kind == "reject" and inadmissible.keys() <= FOR_REVIEW:
        said = [f"{code}: {text}" for code, text in inadmissible.items()]
        return decision._replace(notes=(*decision.notes, *said))
    code = next((code for code in INADMISSIBLE if code in inadmissible), min(inadmissible))
    others = [f"{other}: {text}" for other, text in inadmissible.items() if other != code]
    return decision._replace(
        outcome=ladder.hold.name,
        kind=ladder.hold.kind,
        attribution=code,
        rule=0,
        rule_text="evidence that is not admissible holds before any rule is asked",
        look_first=INADMISSIBLE.get(code, "the evidence"),
        detail=inadmissible[code],
        notes=(*decision.notes, *others),
        would_be=decision.line,
    )


def _gates_in_words(gates: tuple[GateRuling, ...]) -> str:
    wrong = [f"{gate.gate} {gate.state}: {gate.detail}" for gate in gates if gate.state != "pass"]
    return "; ".join(wrong) or "every required gate passes"
