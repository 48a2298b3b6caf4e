"""Reads a policy file into its typed parts, every key and word checked, before any rule is compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast, get_args

from admit.core.signals import CHECK_STATES, EXIT_OF_KIND, GATE_STATES, Outcome, Signal
from admit.policy.clauses import order_of, region_of, rule_of
from admit.policy.document import (
    CLEAN,
    EVIDENCE_KEYS,
    KEYS,
    MAX_GATE,
    MAX_RULES,
    MAX_SIGNALS,
    NODE_SIGNALS,
    OUTCOME_KEYS,
    RESERVED,
    SCHEMA,
    SIGNAL_KEYS,
    TRUST_KEYS,
    Document,
)
from admit.policy.model import TRUST, EvidenceOptions, Flaky, InstrumentEdits, NoBase, RulesOn, TrustOptions
from admit.policy.tables import KEYS as KEY_IDS
from admit.policy.tables import LANES, TableReader, parsed, quoted

if TYPE_CHECKING:
    from admit.core.signals import Kind
    from admit.policy.lines import Source
    from admit.policy.model import Policy


def read_document(source: Source) -> Document:
    """Read a policy file's text into its typed parts.

    Raises:
        InputError: anything in it that the format does not know, with its line.
    """
    top = _top(source)
    rules_on = cast("RulesOn", top.choice("rules_on", get_args(RulesOn)))
    top.only(*KEYS[rules_on])
    signals = tuple(_signal(one) for one in top.tables("signal", MAX_SIGNALS))
    _once(top, "signal", [signal.name for signal in signals])
    outcomes = tuple(_outcome(one) for one in top.tables("outcome", MAX_RULES))
    _once(top, "outcome", [outcome.name for outcome in outcomes])
    _kinds(top, outcomes)
    rules = tuple(rule_of(one, signals, outcomes) for one in top.tables("rule", MAX_RULES))
    document = Document(
        name=_name(top),
        rules_on=rules_on,
        check=top.word("check") if rules_on == "node" else "",
        about=top.text("about"),
        required=top.words("required") if top.values.get("required") else (),
        waived=_waived(top),
        signals=signals,
        outcomes=outcomes,
        worse=order_of(_sub(top, "order"), outcomes),
        region=region_of(_sub(top, "accept"), signals),
        options=_options(_sub(top, "evidence")),
        trust=_trust(_sub(top, "trust")),
        rules=rules,
    )
    (_check_gates if rules_on == "patch" else _check_node_signals)(top, document)
    return document


def _top(source: Source) -> TableReader:
    """Parse the text and check that it says it is a policy."""
    top = parsed(source)
    for key, words in (("schema", (SCHEMA,)), ("rules_on", get_args(RulesOn))):
        if key not in top.values:
            raise top.error(key, f"no {key}", allowed=words, do=f"write {key} = {quoted(words[0])}")
    top.choice("schema", (SCHEMA,))
    return top


def _name(top: TableReader) -> str:
    """Read what the policy is called."""
    name = top.text("name")
    if not name.strip():
        raise top.error("name", "name is empty", allowed="a few words")
    return name


def _sub(top: TableReader, table: str) -> TableReader:
    """Return the reader of a table that stands once, empty if it is not there."""
    return TableReader(top.source, top.table_of(table), table=table, label=f"[{table}]")


def _once(top: TableReader, table: str, names: list[str]) -> None:
    """Refuse two tables of one name."""
    for index, name in enumerate(names):
        if name in names[:index]:
            one = TableReader(top.source, {}, table=table, index=index, label=f"{table} {index + 1}")
            raise one.error(
                "name", f"{quoted(name)} is already {table} {names.index(name) + 1}", do="rename one of them"
            )


def _signal(one: TableReader) -> Signal:
    """Read one signal: its states from best to worst, the clean ones first."""
    one.only(*SIGNAL_KEYS)
    name, states, clean = one.word("name"), one.words("states"), one.words("clean")
    one.label = f"signal {name}"
    if CLEAN in states:
        raise one.error(
            "states", f"a state is called {quoted(CLEAN)}", do="rename it: rules use that word for all clean states"
        )
    if len(states) < 2:
        raise one.error("states", f"only the state {quoted(states[0])}", allowed="at least two, best first")
    for state in clean:
        if state not in states:
            raise one.error("clean", f"clean has {quoted(state)}, which is no state of it", allowed=states)
    if set(states[: len(clean)]) != set(clean):
        raise one.error(
            "states", "a clean state stands after one that is not", do="write the states from best to worst"
        )
    if len(clean) == len(states):
        raise one.error(
            "clean", "every state is clean", do="a signal that nothing can spoil decides nothing: delete it"
        )
    return Signal(name, states, frozenset(clean))


def _outcome(one: TableReader) -> Outcome:
    """Read one outcome and what it means."""
    one.only(*OUTCOME_KEYS)
    return Outcome(one.word("name"), cast("Kind", one.choice("means", tuple(EXIT_OF_KIND))))


def _kinds(top: TableReader, outcomes: tuple[Outcome, ...]) -> None:
    """Refuse a policy that cannot hold, and one that cannot accept."""
    kinds = [outcome.kind for outcome in outcomes]
    if "hold" not in kinds:
        raise top.error(
            "outcome", "no outcome means hold", do='add one with means = "hold": inadmissible evidence is always held'
        )
    if "accept" not in kinds:
        raise top.error("outcome", "no outcome means accept", do='add one with means = "accept"')


def _waived(top: TableReader) -> tuple[tuple[str, str], ...]:
    """Read why gates are not required, in words for a reviewer."""
    table = _sub(top, "waived")
    for gate in table.values:
        table.words(gate, gate)
        if not table.text(gate).strip():
            raise table.error(gate, f"no reason for {gate}", do="say in words why this repository does not require it")
    return tuple((gate, table.text(gate)) for gate in sorted(table.values))


def _options(table: TableReader) -> EvidenceOptions:
    """Read what the policy asks of evidence."""
    table.only(*EVIDENCE_KEYS)
    values = table.values
    return EvidenceOptions(
        flaky=cast("Flaky", table.choice("flaky", get_args(Flaky)) if "flaky" in values else "fail"),
        no_base=cast("NoBase", table.choice("no_base", get_args(NoBase)) if "no_base" in values else "say"),
        base_moved_commits=table.bound("base_moved_commits"),
        base_moved_hours=table.bound("base_moved_hours"),
    )


def _trust(table: TableReader) -> TrustOptions:
    """Read whom the policy trusts (contract T5, T7, T8, L5)."""
    table.only(*TRUST_KEYS)
    signed = TableReader(table.source, table.table_of("evidence"), table="trust.evidence", label="[trust.evidence]")
    edits = table.choice("instrument_edits", get_args(InstrumentEdits)) if "instrument_edits" in table.values else None
    return TrustOptions(
        approvers=table.listed("approvers", KEY_IDS),
        evidence=tuple((gate, signed.listed(gate, KEY_IDS)) for gate in sorted(signed.values)),
        timing_lanes=table.listed("timing_lanes", LANES),
        instrument_edits=TRUST.instrument_edits if edits is None else cast("InstrumentEdits", edits),
    )


def _check_gates(top: TableReader, document: Document) -> None:
    """Refuse a patch policy whose signals are not exactly the gates that it requires (contract R1, R7)."""
    names = [signal.name for signal in document.signals]
    if not document.required:
        raise top.error(
            "required",
            "no required gates",
            do="list them in required: that list is judged, never what happened to arrive",
        )
    for gate in document.required:
        if gate not in names:
            raise top.error(
                "required", f"required has {quoted(gate)}, which is no signal", do=f"add a [[signal]] {gate}"
            )
    for index, signal in enumerate(document.signals):
        one = TableReader(top.source, {}, table="signal", index=index, label=f"signal {signal.name}")
        _check_name(one, signal.name)
        if signal.name not in document.required:
            raise one.error(
                "name",
                "not a required gate",
                do="add it to required, or delete the signal and say under [waived] why it is not required",
            )
        _vocabulary(one, signal, GATE_STATES, ("pass",))
    for gate, _ in document.trust.evidence:
        if gate not in names:
            raise TableReader(top.source, {}, table="trust.evidence", label="[trust.evidence]").error(
                gate, f"{gate} is no required gate", allowed=names, do="name a gate whose documents are judged"
            )
    for gate, _ in document.waived:
        if gate in names:
            raise _sub(top, "waived").error(
                gate, f"{gate} is a signal, so it is not waived", do="delete one of the two"
            )


def _check_node_signals(top: TableReader, document: Document) -> None:
    """Refuse a node policy without its check, and one that gives a node's own signals other states or clean ones."""
    names = [signal.name for signal in document.signals]
    if document.check not in names:
        raise top.error("check", f"check is {quoted(document.check)}, which is no signal", allowed=names)
    if document.check in NODE_SIGNALS:
        raise top.error(
            "check", f"check is {quoted(document.check)}", do="name the signal that a gate's own check gives"
        )
    known = NODE_SIGNALS | {document.check: (CHECK_STATES, ("pass",))}
    for index, signal in enumerate(document.signals):
        one = TableReader(top.source, {}, table="signal", index=index, label=f"signal {signal.name}")
        if signal.name not in NODE_SIGNALS:
            _check_name(one, signal.name)
        if signal.name in known:
            _vocabulary(one, signal, *known[signal.name])


def _check_name(one: TableReader, name: str) -> None:
    """Refuse a signal that no evidence could speak of: its name is a key there already, or too long for one."""
    if name in RESERVED:
        raise one.error("name", "evidence documents use this word as a key", do="call the gate something else")
    if len(name) > MAX_GATE:
        raise one.error("name", f"a name of {len(name)} characters", allowed=f"up to {MAX_GATE}")


def _vocabulary(one: TableReader, signal: Signal, states: tuple[str, ...], clean: tuple[str, ...]) -> None:
    """Refuse other states than the evidence can hold, or other clean ones than the contract names."""
    for state in signal.states:
        if state not in states:
            raise one.error("states", f"evidence never says {quoted(state)}", allowed=states)
    for state in states:
        if state not in signal.states:
            raise one.error("states", f"no state {quoted(state)}, which evidence can say", allowed=states)
    if signal.clean != set(clean):
        raise one.error(
            "clean",
            f"clean is {', '.join(s for s in signal.states if s in signal.clean)}",
            allowed=f"exactly {', '.join(clean)}",
        )


def unfed(policy: Policy) -> tuple[str, ...]:
    """Return the signals of a node policy that no node record has: nothing could be ruled on with them."""
    if policy.rules_on == "patch":
        return ()
    return tuple(s.name for s in policy.ladder.signals if s.name not in NODE_SIGNALS and s.name != policy.check)
