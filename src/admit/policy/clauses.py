"""The parts of a policy that speak of its signals and outcomes: rules, the order of outcomes, the accept region."""

from __future__ import annotations

from typing import TYPE_CHECKING

from admit.policy.document import ALL_CLEAN, CLEAN, RULE_KEYS, RuleText
from admit.policy.tables import quoted

if TYPE_CHECKING:
    from admit.core.signals import Outcome, Signal
    from admit.policy.document import Places
    from admit.policy.tables import TableReader

Signals = tuple["Signal", ...]


def rule_of(one: TableReader, signals: Signals, outcomes: tuple[Outcome, ...]) -> RuleText:
    """Read one rule, its states checked against every signal that it speaks of.

    Raises:
        InputError: an unknown key, signal, state or outcome.
    """
    one.only(*RULE_KEYS)
    return RuleText(
        any=_any(one, signals),
        all=_all(one, signals),
        when=_when(one, signals),
        outcome=one.choice("outcome", tuple(outcome.name for outcome in outcomes)),
        reason=one.word("reason"),
        look_first=one.text("look_first"),
    )


def _any(one: TableReader, signals: Signals) -> tuple[str, ...]:
    """Read the states of which some signal must have one; each is a state of some signal."""
    states = one.words("any") if "any" in one.values else ()
    known = tuple(dict.fromkeys(state for signal in signals for state in signal.states))
    for state in states:
        if state != CLEAN and state not in known:
            raise one.error("any", f"any has {quoted(state)}, which is a state of no signal", allowed=(*known, CLEAN))
    return states


def _all(one: TableReader, signals: Signals) -> tuple[str, ...]:
    """Read the states of which every signal must have one; every signal has one of them, and each is of some signal."""
    states = one.words("all") if "all" in one.values else ()
    known = tuple(dict.fromkeys(state for signal in signals for state in signal.states))
    for state in states:
        if state != CLEAN and state not in known:
            raise one.error("all", f"all has {quoted(state)}, which is a state of no signal", allowed=(*known, CLEAN))
    for signal in signals:
        if states and CLEAN not in states and not set(states) & set(signal.states):
            raise one.error(
                "all", f"all asks {signal.name} for a state that it does not have", allowed=(*signal.states, CLEAN)
            )
    return states


def _when(one: TableReader, signals: Signals) -> Places:
    """Read the states of named signals, in the order of the signals."""
    if "when" in one.values and not one.table_of("when"):
        raise one.error("when", "when is empty", do="name a signal and its states, or delete the key")
    return places(one, "when", one.table_of("when"), signals)


def places(one: TableReader, key: str, table: dict[str, object], signals: Signals) -> Places:
    """Read a table from signals to states, in the order of the signals, the states in the order of the signal.

    Raises:
        InputError: an unknown signal, or a state that its signal does not have.
    """
    names = tuple(signal.name for signal in signals)
    for name in table:
        if name not in names:
            raise one.error(key, f"{key} has {quoted(name)}, which is no signal", allowed=names)
    found = []
    for signal in signals:
        if signal.name not in table:
            continue
        states = one.words(key, table[signal.name])
        for state in states:
            if state != CLEAN and state not in signal.states:
                raise one.error(key, f"{signal.name} has no state {quoted(state)}", allowed=(*signal.states, CLEAN))
        found.append((signal.name, tuple(state for state in (CLEAN, *signal.states) if state in states)))
    return tuple(found)


def order_of(table: TableReader, outcomes: tuple[Outcome, ...]) -> tuple[tuple[str, str], ...]:
    """Read the declared order of outcomes as pairs (better, worse); by default an accept is better than all else.

    Raises:
        InputError: an unknown outcome, a circle, or something better than an accept.
    """
    kinds = {outcome.name: outcome.kind for outcome in outcomes}
    table.only((), ("worse",))
    if "worse" not in table.values:
        others = [name for name, kind in kinds.items() if kind != "accept"]
        return tuple((name, other) for name, kind in kinds.items() if kind == "accept" for other in others)
    listed = table.values["worse"]
    if not isinstance(listed, list) or not listed:
        raise table.mistyped("worse", listed, 'a list of comparisons such as "MERGE_OK < BLOCK"')
    pairs = [_comparison(table, one, tuple(kinds)) for one in listed]
    for better, worse in pairs:
        if kinds[worse] == "accept" and kinds[better] != "accept":
            raise table.error(
                "worse", f"{better} would be better than {worse}", do="an outcome that accepts is the best there is"
            )
    _refuse_circle(table, pairs)
    return tuple(sorted(set(pairs)))


def _comparison(table: TableReader, text: object, names: tuple[str, ...]) -> tuple[str, str]:
    """Read one comparison, better outcome first."""
    if not isinstance(text, str):
        raise table.mistyped("worse", text, 'comparisons such as "MERGE_OK < BLOCK"')
    parts = [part.strip() for part in text.split("<")]
    if len(parts) != 2:
        raise table.error(
            "worse", f"worse has {quoted(text)}", allowed='two outcomes, the better one first: "MERGE_OK < BLOCK"'
        )
    for part in parts:
        if part not in names:
            raise table.error("worse", f"worse has {quoted(part)}, which is no outcome", allowed=names)
    return parts[0], parts[1]


def _refuse_circle(table: TableReader, pairs: list[tuple[str, str]]) -> None:
    """Refuse an order in which an outcome is better than itself."""
    from admit.core.verify import closure

    for better, worse in sorted(closure(pairs)):
        if better == worse:
            raise table.error(
                "worse", f"{better} would be better than itself", do="take one comparison out of the circle"
            )


def region_of(table: TableReader, signals: Signals) -> tuple[Places, ...]:
    """Read the region in which alone a rule may accept: all clean combinations, or some of them, signal by signal.

    Raises:
        InputError: a table that leaves a signal out, or one with a state that is not clean (contract section 0).
    """
    table.only((), ("region",))
    region = table.values.get("region", ALL_CLEAN)
    if region == ALL_CLEAN:
        return (tuple((signal.name, (CLEAN,)) for signal in signals),)
    if not isinstance(region, list) or not region:
        raise table.mistyped(
            "region", region, f"{quoted(ALL_CLEAN)}, or a list of tables from every signal to its states"
        )
    return tuple(_region_table(table, one, signals) for one in region)


def _region_table(table: TableReader, value: object, signals: Signals) -> Places:
    """Read one table of the region: it names every signal, and of each only clean states."""
    found = places(table, "region", table.table_of("region", value), signals)
    named = dict(found)
    for signal in signals:
        if signal.name not in named:
            raise table.error(
                "region", f"a table of the region leaves out {signal.name}", do="name every signal in every table"
            )
        for state in named[signal.name]:
            if state != CLEAN and state not in signal.clean:
                raise table.error(
                    "region",
                    f"{signal.name} = {quoted(state)} is not clean, and only clean combinations may accept",
                    allowed=sorted(signal.clean),
                )
    return found
