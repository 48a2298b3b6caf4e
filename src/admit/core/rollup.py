"""Documents to gate states: attempts and shards fold into one record a node, verdicts into one state a gate."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from admit.core import records as r
from admit.core.decision import Counts, DocumentRef, GateRuling, Left, NodeVerdict
from admit.core.signals import FREEZE_GATE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from admit.core.fold import Folded
    from admit.core.ladder import Ladder, Rule
    from admit.core.records import Document, NodeRecord
    from admit.core.signals import CheckState, FlakeState, GateState, InstrumentState, Kind, ProvenanceState, Why

LISTED: Final = 10_000
"""Accepted nodes up to this many are named in a decision; beyond, they are counted."""


class Sampling(NamedTuple):
    """What takes nodes out of a gate's sample or changes how they are read, from trusted files.

    `frozen` maps a node to why it is frozen (contract U2); `declared` maps a node to the (why, reason) that it may show
    (U7); `flaky` is what a node that both failed and passed is taken for (U5): never a pass.
    """

    now: datetime
    frozen: Mapping[str, str]
    declared: Mapping[str, tuple[str, str]]
    flaky: Literal["fail", "unknown"] = "fail"


def ruling(folded: Folded, ladder: Ladder, sampling: Sampling) -> GateRuling:
    """Return a gate's state from its nodes' verdicts (contract U3), with every verdict that did not accept."""
    sample = _Sample(folded, ladder, sampling)
    counts = Counts(sample.accepted, sample.rejected, sample.held, len(sample.left))
    state, detail = _state(folded, counts, sample)
    names = None if sample.accepted > LISTED else tuple(sorted(sample.names))
    return GateRuling(
        folded.gate,
        state,
        detail,
        counts,
        tuple(sample.verdicts),
        tuple(sample.left),
        names,
        references(folded.documents),
    )


def _state(folded: Folded, counts: Counts, sample: _Sample) -> tuple[GateState, str]:
    if folded.gap:
        return "missing", folded.gap
    if counts.rejected:
        return "fail", f"{counts.rejected} of {_counted(counts.total, 'node')} rejected: {sample.reasons('reject')}"
    if counts.held:
        return (
            "unknown",
            f"{counts.held} of {_counted(counts.total, 'node')} gave no admissible verdict: {sample.reasons('hold')}",
        )
    if folded.unfinished:
        return "unknown", folded.unfinished
    if counts.accepted:
        return "pass", f"{_counted(counts.accepted, 'node')} accepted{f'; {folded.filled}' if folded.filled else ''}"
    return "unknown", "it selected nothing" if not counts.left else "every node left the sample"


def _counted(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


class _Sample:
    """One pass over a gate's nodes: who leaves, and what the ladder says of the rest."""

    def __init__(self, folded: Folded, ladder: Ladder, sampling: Sampling) -> None:
        self.folded, self.ladder, self.sampling = folded, ladder, sampling
        self.accepted = self.rejected = self.held = 0
        self.names: list[str] = []
        self.left: list[Left] = []
        self.verdicts: list[NodeVerdict] = []
        self._walk()
        self.left.sort()
        self.verdicts.sort(key=weight)

    def _walk(self) -> None:
        special = self.sampling.frozen.keys() | self.sampling.declared.keys()
        codes = self.folded.codes
        plain = self._rule("pass", r.CLEAN_CODE, "stable")
        if plain.outcome.kind != "accept":
            self._weigh_all(codes.items())
            return
        # nearly every node passed once and nothing is said of it: those are counted, the others weighed one by one
        others = [(node, code) for node, code in codes.items() if code != r.CLEAN_CODE or node in special]
        self.accepted = len(codes) - len(others)
        if self.accepted <= LISTED:
            odd = {node for node, _ in others}
            self.names = [node for node in codes if node not in odd]
        self._weigh_all(others)

    def _weigh_all(self, pairs: Iterable[tuple[str, int]]) -> None:
        for node, code in pairs:
            self._weigh(node, code)

    def _rule(self, check: CheckState, code: int, flake: FlakeState) -> Rule:
        states = {self.folded.gate: check, "fixture_lock": r.lock_of(code), "flake_status": flake}
        return self.ladder.rule_on(_with_trust(states, self.ladder, r.instrument_of(code), r.provenance_of(code)))

    def _weigh(self, node: str, code: int) -> None:
        record = record_of(node, code, self.folded.details.get(node))
        if frozen := self._frozen_by(node, code, record):
            self.left.append(Left(self.folded.gate, node, "frozen", frozen))
            return
        declared = self.sampling.declared.get(node)
        if declared is not None:
            if _shows(declared, record, code):
                self.left.append(Left(self.folded.gate, node, "abstained", f"{declared[0]}: {declared[1]}"))
                return
            if record.check == "pass":
                record = record._replace(
                    check="not_run", why="xpass", message=f"declared to abstain ({declared[0]}), but it passed"
                )
        if _is_sound_proposal(record, code):
            self.left.append(Left(self.folded.gate, node, "proposal", "new in this patch; it did not fail"))
            return
        if record.flaky and self.sampling.flaky == "unknown" and record.check == "fail":
            record = record._replace(check="not_run", why="flaky")
        rule = self._rule(record.check, code, "stable")
        self._count(rule, node)
        if rule.outcome.kind != "accept":
            self.verdicts.append(
                NodeVerdict(node, rule.outcome.name, rule.outcome.kind, rule.reason, rule.number, record)
            )

    def _count(self, rule: Rule, node: str) -> None:
        match rule.outcome.kind:
            case "accept":
                self.accepted += 1
                if self.accepted <= LISTED:
                    self.names.append(node)
            case "reject":
                self.rejected += 1
            case "hold":
                self.held += 1

    def _frozen_by(self, node: str, code: int, record: NodeRecord) -> str:
        """Return why the node is frozen now, empty where it is not: a freeze ends mechanically (contract A6)."""
        if node in self.sampling.frozen:
            return self.sampling.frozen[node]
        if not code & r.FROZEN:
            return ""
        if record.freeze_expires is None:
            return "frozen, by one of its records"
        return f"frozen until {record.freeze_expires}" if is_in_force(record.freeze_expires, self.sampling.now) else ""

    def reasons(self, kind: str) -> str:
        """Return the reasons of one kind of verdict, most frequent first, with counts."""
        seen = Counter(
            f"{verdict.reason} ({verdict.record.why})" if verdict.record.why else verdict.reason
            for verdict in self.verdicts
            if verdict.kind == kind
        )
        return ", ".join(
            f"{count} {reason}" for reason, count in sorted(seen.items(), key=lambda pair: (-pair[1], pair[0]))
        )


def _with_trust(
    states: Mapping[str, str], ladder: Ladder, instrument: InstrumentState, provenance: ProvenanceState
) -> Mapping[str, str]:
    """Return the states that a ladder rules on; what one cannot see of a bad instrument, it sees as no verdict."""
    if any(signal.name == "instrument" for signal in ladder.signals):
        return {**states, "instrument": instrument, "provenance": provenance}
    if instrument == "intact" and provenance == "established":
        return states
    return {name: state if name in {"fixture_lock", "flake_status"} else "not_run" for name, state in states.items()}


QUIET: Final[frozenset[Why | None]] = frozenset({None, "skip", "xfail", "todo"})
"""How a proposal may give no verdict and still leave the sample; any other trouble with it holds."""


def _is_sound_proposal(record: NodeRecord, code: int) -> bool:
    """Return whether a node is new in this patch and did not fail: then it neither votes nor holds (contract P3)."""
    if r.provenance_of(code) != "unproven" or r.instrument_of(code) != "intact" or r.lock_of(code) != "match":
        return False
    return record.check != "fail" and record.why in QUIET and not record.flaky


def _shows(declared: tuple[str, str], record: NodeRecord, code: int) -> bool:
    # exactly what was declared, and nothing else wrong with it: no other attempt with a verdict, no drift
    no_verdict = record.check == "not_run" and not code & (r.PASS | r.FAIL) and r.lock_of(code) == "match"
    return no_verdict and (record.why, record.message) == tuple(declared)


_RANK: Final[dict[Kind, int]] = {"reject": 0, "hold": 1, "accept": 2}


def weight(verdict: NodeVerdict) -> tuple[int, int, str]:
    """Return what sorts verdicts: reject before hold before accept (contract A5), then by rule, then by name."""
    return _RANK[verdict.kind], verdict.rule, verdict.node


def verdict_on(record: NodeRecord, ladder: Ladder, gate: str, *, now: datetime) -> NodeVerdict:
    """Return the verdict on one record that stands for itself; a freeze that has ended is none (contract A6)."""
    expires = record.freeze_expires
    held = record.flake_status == "frozen" and (expires is None or is_in_force(expires, now))
    flake: FlakeState = "frozen" if held else "stable"
    check: CheckState = "fail" if record.flaky else "not_run" if r.is_vacuous(record) else record.check
    states = {gate: check, "fixture_lock": record.fixture_lock, "flake_status": flake}
    rule = ladder.rule_on(_with_trust(states, ladder, record.instrument, record.provenance))
    return NodeVerdict(record.node, rule.outcome.name, rule.outcome.kind, rule.reason, rule.number, record)


def record_of(node: str, code: int, detail: NodeRecord | None) -> NodeRecord:
    """Return the one record that a fold code and the record that speaks for the node amount to."""
    check, flaky, attempts = r.check_of(code), r.is_flaky(code), r.attempts_of(code)
    lock = r.lock_of(code)
    if detail is None:
        return r.NodeRecord(
            node,
            check,
            lock,
            "frozen" if code & r.FROZEN else "stable",
            attempts=attempts,
            flaky=flaky,
            instrument=r.instrument_of(code),
            provenance=r.provenance_of(code),
        )
    if r.is_vacuous(detail) and check == "not_run":
        detail = detail._replace(check="not_run", why="vacuous", message="it says pass, and nothing valid ran")
    why = detail.why if detail.check == check else None
    return detail._replace(
        check=check,
        fixture_lock=lock,
        attempts=attempts,
        flaky=flaky,
        why=why,
        instrument=r.instrument_of(code),
        provenance=r.provenance_of(code),
    )


def is_in_force(expires: str, now: datetime) -> bool:
    """Return whether a freeze that ends at `expires` (RFC 3339, UTC) still holds: not from that instant on (A6)."""
    return now < datetime.fromisoformat(expires)


class RegisterState(NamedTuple):
    """What the freeze register says, read from the trusted file: contract U4.

    `problem` names the first rule that it breaks, `unreadable` why it could not be read; empty where neither is so.
    """

    problem: str = ""
    unreadable: str = ""


def freeze_ruling(folded: Folded, register: RegisterState, frozen: tuple[str, ...], *, now: datetime) -> GateRuling:
    """Return the state of the gate `flaky_freeze` (contract U4).

    Args:
        folded: its documents: one record a register entry.
        register: what the register read now says; the worse of both counts.
        frozen: frozen nodes in scope, from the register and from the other gates' samples.
        now: the deciding host's clock, UTC.
    """
    held = set(frozen)
    broken = [detail for detail in folded.details.values() if detail.check == "fail"]
    for node, code in folded.codes.items():
        detail = folded.details.get(node)
        expires = detail.freeze_expires if detail else None
        if code & r.FROZEN and (expires is None or is_in_force(expires, now)):
            held.add(node)
    refs = references(folded.documents)
    counts = Counts(accepted=max(0, len(folded.codes) - len(broken) - len(held)), rejected=len(broken), held=len(held))

    def answer(state: GateState, detail: str) -> GateRuling:
        return GateRuling(FREEZE_GATE, state, detail, counts, accepted=None, documents=refs)

    if folded.gap or register.unreadable:
        return answer("missing", register.unreadable or folded.gap)
    if register.problem:
        return answer("fail", register.problem)
    if broken:
        first = min(broken, key=lambda record: record.node)
        return answer("fail", f"the register breaks its rules: {first.node}: {first.message}")
    if held:
        return answer(
            "unknown", f"{len(held)} frozen in scope: {', '.join(sorted(held)[:3])}{'…' if len(held) > 3 else ''}"
        )
    if folded.unfinished:
        return answer("unknown", folded.unfinished)
    if any(r.check_of(code) != "pass" for code in folded.codes.values()):
        return answer("unknown", "an entry of the register was not checked")
    entries = f"{len(folded.codes)} entr{'y' if len(folded.codes) == 1 else 'ies'}"
    return answer("pass", f"{entries} in the register, none in force")


def references(documents: tuple[Document, ...]) -> tuple[DocumentRef, ...]:
    """Return what a decision keeps of each document: digests and how its run ended."""
    return tuple(
        DocumentRef(
            source=document.source,
            digest=document.digest,
            tool=f"{document.opening.tool} {document.opening.tool_version}".strip(),
            run_id=document.opening.run_id,
            lane=document.opening.lane,
            shard=document.opening.shard,
            shards=document.opening.shards,
            attempt=document.opening.attempt,
            ended=document.closing.ended if document.closing else "",
            closed_by=document.closing.closed_by if document.closing else "",
        )
        for document in sorted(documents, key=lambda document: document.source)
    )
