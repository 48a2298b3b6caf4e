"""The one use case: from evidence documents to a recorded decision, its stages numbered in order."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from admit.core.decision import (
    INADMISSIBLE,
    Counts,
    Decision,
    GateRuling,
    Left,
    NodeVerdict,
    Patch,
    PolicyRef,
    held,
    ruled,
)
from admit.core.fold import contradictions, fold
from admit.core.lanes import on_trusted_lanes
from admit.core.records import FAIL, PASS, NodeRecord
from admit.core.rollup import RegisterState, Sampling, freeze_ruling, ruling, verdict_on, weight
from admit.core.signals import FREEZE_GATE
from admit.errors import InputError
from admit.policy import for_gate

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from admit.core.records import Document
    from admit.core.signals import GateState
    from admit.policy import Policy


class Case(NamedTuple):
    """All that a decision is made of: two policies, the evidence, and what the trusted files say.

    `patch` is what is to be judged; a head that is None is not known and then the documents have to agree on one.
    `problems` are documents that could not be read (contract E4). `inadmissible` maps a code of
    `admit.core.decision.INADMISSIBLE` to what was found, for what only the outside could see (a moved base).
    `trusted` rules on nodes instead of `arbiter` where the base's instrument judged (contract T7, 2.3); where it did
    not, the decision says so aloud. `timing` are patterns of timing-sensitive nodes (T8).
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
    trusted: Policy | None = None
    timing: tuple[str, ...] = ()


def adjudicate(case: Case, record: Callable[[Decision], None]) -> Decision:
    """Rule on a patch and record the decision; one that cannot be recorded is not returned.

    The stages: 1 collect (the case holds what was read), 2 bind, 3 scope and 4 arbitrate node by node, 5 roll up,
    6 route, 7 record, 8 return. Nothing here touches the world but `record`.

    Raises:
        LedgerError: the decision could not be recorded (contract G1).
    """
    bound = bind(case)
    gates = roll_up(case, bound)
    if FREEZE_GATE not in bound.documents and any(gone.why == "frozen" for gate in gates for gone in gate.left):
        said = f"frozen nodes, and no signal {FREEZE_GATE} in the policy that would hold them"
        bound = bound._replace(inadmissible={**bound.inadmissible, "unlisted-gate": said})
    if said := _left_out(bound, gates):
        bound = bound._replace(inadmissible={**bound.inadmissible, "unregistered-exclusion": said})
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
    if case.problems:
        found["malformed-evidence"] = "; ".join(case.problems[:3]) + ("; …" if len(case.problems) > 3 else "")
    fresh, waived, stale = _sorted_out(case, found)
    for gate in stale.keys() & {document.opening.gate for document in fresh}:
        found["mixed-evidence"] = f"documents of {gate} disagree about the head; {stale[gate]}"
    patch = _one_patch(case.patch, fresh + waived, found)
    if patch.head is None and fresh:
        found.setdefault("uncommitted-changes", "the evidence is for no commit")
    if any(document.opening.dirty for document in fresh + waived):
        found.setdefault("uncommitted-changes", "the run saw a working tree with uncommitted changes")
    _add_disturbed(fresh + waived, found)
    own = _own_instrument(fresh, found)
    if own and case.router.options.no_base == "hold":
        found["no-base"] = own
    gates = sorted(signal.name for signal in case.router.ladder.signals)
    counting = on_trusted_lanes(fresh, case.timing, case.router.trust.timing_lanes)
    by_gate = {gate: tuple(one for one in counting if one.opening.gate == gate) for gate in gates}
    return Bound(patch, by_gate, stale, found, _said_aloud(case, stale, own))


def _add_disturbed(documents: list[Document], found: dict[str, str]) -> None:
    """Say in `found` what a run's parent saw meanwhile: it stands in the closing record (contract E5, L2)."""
    for document in documents:
        if document.closing is not None and document.closing.ended == "disturbed":
            code, _, text = document.closing.reason.partition(": ")
            code, text = (code, text) if code in INADMISSIBLE else ("instrument-moved", document.closing.reason)
            found.setdefault(code, text)


def _own_instrument(documents: list[Document], found: dict[str, str]) -> str:
    """Return that the patch's own tests judged, and in which gates; empty where the base's did.

    A quarrel about the base goes into `found`. What the register says is the deciding host's: its gate needs no
    instrument.
    """
    tests = [one.opening for one in documents if one.opening.gate != FREEZE_GATE]
    bases = {opening.instrument_of for opening in tests}
    if len(bases - {None}) > 1:
        found["mixed-evidence"] = f"measured with the tests of {', '.join(sorted(base for base in bases if base))}"
    own = sorted({opening.gate for opening in tests if opening.instrument_of is None})
    if not bases or bases == {None}:
        return _NO_BASE
    return f"{_NO_BASE} in {', '.join(own)}" if own else ""


_NO_BASE = "no base's instrument judged: the tests and configuration that ran are the patch's own"


def _sorted_out(case: Case, found: dict[str, str]) -> tuple[list[Document], list[Document], dict[str, str]]:
    """Return the documents of this head, those of waived gates, and what is stale; say in `found` what is unlisted."""
    gates, excused = {signal.name for signal in case.router.ladder.signals}, dict(case.router.waived)
    fresh: list[Document] = []
    waived: list[Document] = []
    stale: dict[str, str] = {}
    for document in case.documents:
        gate, head = document.opening.gate, document.opening.head
        if gate not in gates:
            own = _own_nodes(document, case.documents)
            if gate not in excused or own:
                found["unlisted-gate"] = f"{document.source}: {own} nodes of the gate {gate}"
            waived.append(document)
        elif case.patch.head is not None and head != case.patch.head:
            stale[gate] = f"stale-evidence: {document.source} is for {head or 'no commit'}"
        else:
            fresh.append(document)
    return fresh, waived, stale


def _said_aloud(case: Case, stale: Mapping[str, str], own: str) -> tuple[str, ...]:
    notes = list(case.notes)
    if own and case.router.options.no_base == "say":
        notes.append(f"no-base: {own}")
    notes.extend(stale.values())
    notes.extend(f"{gate} is waived: {why}" for gate, why in case.router.waived)
    return tuple(dict.fromkeys(notes))


def _own_nodes(document: Document, documents: tuple[Document, ...]) -> int:
    """Return how many nodes only this gate speaks of; what could not be collected is judged in every gate."""
    others = [other.codes for other in documents if other.opening.gate != document.opening.gate]
    return sum(
        bool(code & (PASS | FAIL)) or not any(node in codes for codes in others)
        for node, code in document.codes.items()
    )


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
    arbiter = arbiter_of(case, bound)
    against = contradictions(document for documents in bound.documents.values() for document in documents)
    for gate, documents in bound.documents.items():
        if gate == FREEZE_GATE:
            continue
        one = ruling(fold(gate, documents, against), for_gate(arbiter, gate), case.sampling)
        rulings[gate] = _stale_said(one, bound.stale)
    left = [gone for one in rulings.values() for gone in one.left]
    if FREEZE_GATE in bound.documents:
        folded = fold(FREEZE_GATE, bound.documents[FREEZE_GATE], against)
        one = freeze_ruling(folded, case.register, _frozen_in_scope(case, left), now=case.sampling.now)
        rulings[FREEZE_GATE] = _stale_said(one, bound.stale)
    return tuple(rulings[signal.name] for signal in case.router.ladder.signals)


def _left_out(bound: Bound, gates: tuple[GateRuling, ...]) -> str:
    """Return which nodes configuration kept from running, and nothing under review declares; empty where none (U7)."""
    gone = sorted(
        verdict.node
        for gate in gates
        for verdict in gate.nodes
        if verdict.kind == "hold"
        and verdict.record.why == "deselected"
        and not any(one.codes.get(verdict.node, 0) & (PASS | FAIL) for one in bound.documents[gate.gate])
    )
    if not gone:
        return ""
    counted = "1 node was" if len(gone) == 1 else f"{len(gone)} nodes were"
    first = ", ".join(gone[:3]) + ("…" if len(gone) > 3 else "")
    return f"{counted} left out of the run, with no freeze or declared abstention: {first}"


def arbiter_of(case: Case, bound: Bound) -> Policy:
    """Return the policy that rules on nodes: the one that sees the instrument where a base's judged (2.3)."""
    documents = [document for documents in bound.documents.values() for document in documents]
    is_based = any(document.opening.instrument_of is not None for document in documents)
    return case.trusted if is_based and case.trusted is not None else case.arbiter


def _frozen_in_scope(case: Case, left: list[Left]) -> tuple[str, ...]:
    # without a coverage map nothing tells a frozen node apart from the diff, so each one is in scope (contract S2)
    return tuple(sorted({gone.node for gone in left if gone.why == "frozen"} | case.sampling.frozen.keys()))


def _stale_said(one: GateRuling, stale: Mapping[str, str]) -> GateRuling:
    if one.state == "missing" and not one.documents and one.gate in stale:
        return one._replace(detail=stale[one.gate])
    return one


def route(case: Case, bound: Bound, gates: tuple[GateRuling, ...]) -> Decision:
    """Return the disposition: the router's, unless evidence was not admissible, which holds (contract E4, E5)."""
    ladder, arbiter = case.router.ladder, arbiter_of(case, bound)
    decision = ruled(
        ladder.rule_on({gate.gate: gate.state for gate in gates}),
        gates,
        bound.patch,
        router=PolicyRef(ladder.name, case.router.digest),
        arbiter=PolicyRef(arbiter.ladder.name, arbiter.digest),
    )
    now = case.sampling.now.isoformat().replace("+00:00", "Z")
    return held(decision._replace(now=now, notes=bound.notes), ladder, bound.inadmissible)


def arbitrate(policy: Policy, records: list[tuple[str, NodeRecord]], *, now: str, problems: list[str]) -> Decision:
    """Return one outcome for a set of node records, and every verdict under it.

    Reject outranks hold outranks accept, and no record at all is a hold (contract A5). A record that cannot be read
    holds the whole set (E4).

    Raises:
        InputError: the policy asks for signals that no record carries.
    """
    check_signals(policy)
    instant = datetime.fromisoformat(now)
    ladders = {gate: for_gate(policy, gate) for gate, _ in records}
    verdicts = [(gate, verdict_on(record, ladders[gate], gate, now=instant)) for gate, record in records]
    hold = policy.ladder.hold
    empty = NodeVerdict("", hold.name, hold.kind, "no_evidence", 0, _NO_RECORD)
    worst = min((verdict for _, verdict in verdicts), key=weight, default=empty)
    rule = next((rule for rule in policy.ladder.rules if rule.number == worst.rule), None)
    decision = Decision(
        outcome=worst.outcome,
        kind=worst.kind,
        attribution=worst.reason,
        rule=worst.rule,
        rule_text=rule.text if rule else "no record is no evidence",
        look_first=rule.look_first if rule else "the gate that left no record",
        detail=worst.node or "no record",
        patch=Patch(""),
        gates=tuple(_of_gate(gate, [one for of, one in verdicts if of == gate]) for gate in sorted(ladders)),
        router=PolicyRef("", ""),
        arbiter=PolicyRef(policy.ladder.name, policy.digest),
        now=now,
    )
    return held(decision, policy.ladder, {"malformed-evidence": "; ".join(problems)} if problems else {})


def check_signals(policy: Policy, *, with_trust: bool = False) -> None:
    """Refuse a node policy whose signals are not what records carry.

    Args:
        policy: a node policy.
        with_trust: for records of a run on a base, which carry `instrument` and `provenance` as well (contract 2.3).

    Raises:
        InputError: the signals are not the check, `fixture_lock` and `flake_status`, and those two where they belong.
    """
    named, carried = {signal.name for signal in policy.ladder.signals}, {policy.check, "fixture_lock", "flake_status"}
    if with_trust:
        carried |= _TRUST
    if strange := named - carried:
        found = f"it asks for signals that no record carries: {', '.join(sorted(strange))}"
        raise InputError(policy.source, found, allowed=", ".join(sorted(carried)))
    if absent := carried - named:
        found = f"it does not rule on {', '.join(sorted(absent))}, which every record carries"
        raise InputError(policy.source, found, do="give the policy a signal for each")


_TRUST = frozenset({"instrument", "provenance"})
_NO_RECORD = NodeRecord("", "not_run", "missing", "stable", why="no_verdict")


def _of_gate(gate: str, verdicts: list[NodeVerdict]) -> GateRuling:
    kinds = Counter(verdict.kind for verdict in verdicts)
    state: GateState = "fail" if kinds["reject"] else "unknown" if kinds["hold"] else "pass"
    return GateRuling(
        gate,
        state,
        f"{len(verdicts)} records",
        Counts(kinds["accept"], kinds["reject"], kinds["hold"]),
        tuple(sorted((verdict for verdict in verdicts if verdict.kind != "accept"), key=weight)),
        accepted=tuple(sorted(verdict.node for verdict in verdicts if verdict.kind == "accept")),
    )
