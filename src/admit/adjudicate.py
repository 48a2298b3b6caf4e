"""The one use case: from evidence documents to a recorded decision, its stages numbered in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from admit.core.decision import INADMISSIBLE, Decision, GateRuling, Left, Patch, PolicyRef
from admit.core.rollup import RegisterState, Sampling, fold, freeze_ruling, ruling
from admit.core.signals import FREEZE_GATE
from admit.policy import for_gate

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from admit.core.ladder import Rule
    from admit.core.records import Document
    from admit.policy import Policy


class Case(NamedTuple):
    """All that a decision is made of: two policies, the evidence, and what the trusted files say.

    `patch` is what is to be judged; a head that is None is not known and then the documents have to agree on one.
    `problems` are documents that could not be read (contract E4). `inadmissible` maps a code of
    `admit.core.decision.INADMISSIBLE` to what was found, for what only the outside could see (a moved base, a dirty tree).
    `is_based` says that the base's instrument judged (contract T7); without it the decision says so aloud (2.3).
    """

    patch: Patch
    documents: tuple[Document, ...]
    problems: tuple[str, ...]
    router: Policy
    arbiter: Policy
    sampling: Sampling
    register: RegisterState
    inadmissible: Mapping[str, str]
    notes: tuple[str, ...] = ()
    is_based: bool = False


def adjudicate(case: Case, record: Callable[[Decision], None]) -> Decision:
    """Rule on a patch and record the decision; one that cannot be recorded is not returned.

    The stages: 1 collect (the case holds what was read), 2 bind, 3 scope and 4 arbitrate node by node, 5 roll up,
    6 route, 7 record, 8 return. Nothing here touches the world but `record`.

    Raises:
        LedgerError: the decision could not be recorded (contract G1).
    """
    bound = bind(case)
    gates = roll_up(case, bound)
    decision = route(case, bound, gates)
    record(decision)
    return decision


class Bound(NamedTuple):
    """Documents that are evidence for this patch, by gate; what is stale; and why evidence is not admissible."""

    patch: Patch
    documents: Mapping[str, tuple[Document, ...]]
    stale: Mapping[str, str]
    inadmissible: Mapping[str, str]
    notes: tuple[str, ...]


def bind(case: Case) -> Bound:
    """Return which documents belong to this patch (contract E5, R7)."""
    found = dict(case.inadmissible)
    notes = list(case.notes)
    if case.problems:
        found["malformed-evidence"] = "; ".join(case.problems[:3]) + ("; …" if len(case.problems) > 3 else "")
    gates = {signal.name for signal in case.router.ladder.signals}
    stale: dict[str, str] = {}
    fresh: list[Document] = []
    for document in case.documents:
        gate = document.opening.gate
        if gate not in gates:
            if gate in case.router.waived and not document.codes:
                notes.append(f"{gate} is waived: {case.router.waived[gate]}")
            else:
                found["unlisted-gate"] = f"{document.source}: {len(document.codes)} nodes of the gate {gate}"
        elif case.patch.head is not None and document.opening.head != case.patch.head:
            stale[gate] = f"stale-evidence: {document.source} is for {document.opening.head or 'no commit'}"
        else:
            fresh.append(document)
    if not case.is_based:
        said = "no base's instrument judged: the tests and configuration that ran are the patch's own"
        if case.router.options.no_base == "hold":
            found["no-base"] = said
        else:
            notes.append(f"no-base: {said}")
    notes.extend(stale.values())
    notes.extend(f"{gate} is waived: {why}" for gate, why in case.router.waived.items())
    patch = _one_patch(case.patch, fresh, found)
    if any(document.opening.dirty for document in fresh):
        found.setdefault("uncommitted-changes", "the run saw a working tree with uncommitted changes")
    by_gate = {gate: tuple(d for d in fresh if d.opening.gate == gate) for gate in sorted(gates)}
    return Bound(patch, by_gate, stale, found, tuple(dict.fromkeys(notes)))


def _one_patch(expected: Patch, documents: list[Document], found: dict[str, str]) -> Patch:
    """Return the one patch that the documents are about; where they disagree, say so in `found` (contract E5)."""
    for word in ("patch_id", "head", "base"):
        values = {getattr(document.opening, word) for document in documents}
        if word == "patch_id" and expected.patch_id:
            values.add(expected.patch_id)
        if len(values) > 1:
            shown = ", ".join(sorted(str(value) for value in values))
            found["mixed-evidence"] = f"documents disagree about {word}: {shown}"
    if not documents:
        return expected
    first = documents[0].opening
    return expected._replace(
        patch_id=expected.patch_id or first.patch_id, head=expected.head or first.head, base=expected.base or first.base
    )


def roll_up(case: Case, bound: Bound) -> tuple[GateRuling, ...]:
    """Return every gate's state, in the router's order of signals (contract U1 to U7)."""
    rulings: dict[str, GateRuling] = {}
    for gate, documents in bound.documents.items():
        if gate == FREEZE_GATE:
            continue
        one = ruling(fold(gate, documents), for_gate(case.arbiter, gate), case.sampling)
        rulings[gate] = _stale_said(one, bound.stale)
    left = [gone for one in rulings.values() for gone in one.left]
    if FREEZE_GATE in bound.documents:
        folded = fold(FREEZE_GATE, bound.documents[FREEZE_GATE])
        one = freeze_ruling(folded, case.register, _frozen_in_scope(case, left), now=case.sampling.now)
        rulings[FREEZE_GATE] = _stale_said(one, bound.stale)
    return tuple(rulings[signal.name] for signal in case.router.ladder.signals)


def _frozen_in_scope(case: Case, left: list[Left]) -> tuple[str, ...]:
    # without a coverage map nothing tells a frozen node apart from the diff, so each one is in scope (contract S2)
    return tuple(sorted({gone.node for gone in left if gone.why == "frozen"} | case.sampling.frozen.keys()))


def _stale_said(one: GateRuling, stale: Mapping[str, str]) -> GateRuling:
    if one.state == "missing" and not one.documents and one.gate in stale:
        return one._replace(detail=stale[one.gate])
    return one


def route(case: Case, bound: Bound, gates: tuple[GateRuling, ...]) -> Decision:
    """Return the disposition: the router's, unless evidence was not admissible, which holds (contract E4, E5)."""
    ladder = case.router.ladder
    rule = ladder.rule_on({gate.gate: gate.state for gate in gates})
    shown = _detail(gates)
    decision = Decision(
        outcome=rule.outcome.name,
        kind=rule.outcome.kind,
        attribution=rule.reason,
        rule=rule.number,
        rule_text=rule.text,
        look_first=rule.look_first,
        detail=shown,
        patch=bound.patch,
        gates=gates,
        router=PolicyRef(ladder.name, case.router.digest),
        arbiter=PolicyRef(case.arbiter.ladder.name, case.arbiter.digest),
        now=case.sampling.now.isoformat().replace("+00:00", "Z"),
        notes=bound.notes,
    )
    return _held(decision, rule, bound, case)


def _held(decision: Decision, rule: Rule, bound: Bound, case: Case) -> Decision:
    if not bound.inadmissible:
        return decision
    # a code that the table does not know holds like the others
    code = next((code for code in INADMISSIBLE if code in bound.inadmissible), min(bound.inadmissible))
    hold = case.router.ladder.hold
    others = [f"{other}: {text}" for other, text in bound.inadmissible.items() if other != code]
    return decision._replace(
        outcome=hold.name,
        kind=hold.kind,
        attribution=code,
        rule=0,
        rule_text="evidence that is not admissible holds before any rule is asked",
        look_first=INADMISSIBLE.get(code, "the evidence"),
        detail=bound.inadmissible[code],
        notes=(*decision.notes, *others),
        would_be=f"{rule.outcome.name} attribution={rule.reason}",
    )


def _detail(gates: tuple[GateRuling, ...]) -> str:
    wrong = [f"{gate.gate} {gate.state}: {gate.detail}" for gate in gates if gate.state != "pass"]
    return "; ".join(wrong) or "every required gate passes"
