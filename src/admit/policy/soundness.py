"""What a policy is refused for although every word of it is known: doors that open later, gaps, dead rules, accepts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from admit.core.ladder import describe
from admit.core.verify import GUARANTEES, STEPS, verify
from admit.policy.tables import TableReader

if TYPE_CHECKING:
    from admit.core.ladder import Ladder, Rule
    from admit.core.verify import Guarantee, Verification
    from admit.errors import InputError
    from admit.policy.document import Document, RuleText
    from admit.policy.lines import Source

DEMANDED: Final[tuple[Guarantee, ...]] = ("no-dead-rule", "total", "accept-region", "accept-monotone")
"""What a policy is refused without; the declared order of outcomes is only reported (contract V1)."""


def refuse_unsound(document: Document, ladder: Ladder, source: Source) -> None:
    """Refuse a policy that may accept what it should not, now or with a gate added, or that leaves a question open.

    Raises:
        InputError: names the rule, and the smallest combination that shows it.
    """
    refuse_open_doors(document, ladder, source)
    refuse_unverified(verify(ladder, steps=STEPS), ladder, source)


def refuse_open_doors(document: Document, ladder: Ladder, source: Source) -> None:
    """Refuse rules that would accept more as soon as a gate is added (contract R6), and rules that cover nothing.

    Raises:
        InputError: names the rule.
    """
    for index, (text, rule) in enumerate(zip(document.rules, ladder.rules, strict=True)):
        if not rule.boxes:
            raise _rule(source, index).error(
                "when",
                "it can never match: its own conditions contradict each other",
                do="mend them, or delete the rule",
            )
        if rule.outcome.kind == "accept":
            _refuse_loose_accept(_rule(source, index), text, document)
        elif text.all and _reaches_region(rule, ladder):
            raise _rule(source, index).error(
                "all",
                f"says all of clean states and gives {rule.outcome.name}, so a gate added later would free some",
                do="name the signals in when instead",
            )


def _rule(source: Source, index: int) -> TableReader:
    """Return the place of a rule for messages."""
    return TableReader(source, {}, table="rule", index=index, label=f"rule {index + 1}")


def _refuse_loose_accept(place: TableReader, text: RuleText, document: Document) -> None:
    """Refuse an accept that does not ask every signal, those added later included, for a state (contract E9)."""
    asked = {name for name, _ in text.when}
    silent = [signal.name for signal in document.signals if signal.name not in asked and not text.all]
    if not (text.any or text.all or text.when):
        raise place.error(
            "outcome", f"a fall-through that gives {text.outcome}, which accepts", do='write all = "clean"'
        )
    if silent:
        raise place.error(
            "outcome",
            f"accepts whatever {', '.join(silent)} may say",
            do='write all = "clean", or name every signal in when',
        )
    if text.any:
        raise place.error(
            "any", "accepts on any one signal, so a gate added later could open it", do="name every signal in when"
        )


def _reaches_region(rule: Rule, ladder: Ladder) -> bool:
    """Return whether a rule covers a combination inside the accept region."""
    return any(
        all(one & other for one, other in zip(box, region, strict=True))
        for box in rule.boxes
        for region in ladder.accept_region
    )


def refuse_unverified(found: Verification, ladder: Ladder, source: Source) -> None:
    """Refuse a ladder for the first demanded guarantee that it breaks, or that the budget did not reach.

    Raises:
        InputError: names the rule, and the smallest combination that shows it.
    """
    broken = [name for name in DEMANDED if found.answer(name).held == "no"]
    if broken:
        raise _REFUSALS[broken[0]](found, ladder, source)
    unknown = [name for name in DEMANDED if found.answer(name).held == "not-obtained"]
    if unknown:
        known = [name for name in DEMANDED if name not in unknown]
        raise TableReader(source, {}).error(
            "",
            f"too large to verify: {found.steps} steps gave no answer for {', '.join(unknown)}"
            f" (obtained: {', '.join(known) or 'nothing'})",
            do="require fewer gates, or write fewer and simpler rules",
        )


def _gap(found: Verification, ladder: Ladder, source: Source) -> InputError:
    """Return the refusal of a ladder that does not rule on some combination."""
    answer = found.answer("total")
    more = f" (and {answer.broken - 1} more)" if answer.broken > 1 else ""
    return TableReader(source, {}).error(
        "",
        f"no rule covers {describe(ladder.signals, answer.witness[0])}{more}",
        do=f"add a rule for it, or a last rule without conditions that gives {ladder.hold.name}",
    )


def _dead(found: Verification, ladder: Ladder, source: Source) -> InputError:
    """Return the refusal of a rule that can never match."""
    dead = found.dead[0]
    numbers = [str(number) for number in dead.taken_by]
    one_rule = len(numbers) == 1
    earlier = f"rule {numbers[0]} takes" if one_rule else f"rules {', '.join(numbers[:-1])} and {numbers[-1]} take"
    return _rule(source, ladder.rules.index(dead.rule)).error(
        "", f"it can never match: {earlier} every combination that it covers", do="move it up, or delete it"
    )


def _outside(found: Verification, ladder: Ladder, source: Source) -> InputError:
    """Return the refusal of an accept outside the declared region."""
    states = found.answer("accept-region").witness[0]
    rule = ladder.table[states]
    return _rule(source, ladder.rules.index(rule)).error(
        "outcome",
        f"{rule.outcome.name} outside the accept region, for {describe(ladder.signals, states)}",
        do="ask for clean states, or give another outcome",
    )


def _not_monotone(found: Verification, ladder: Ladder, source: Source) -> InputError:
    """Return the refusal of an accept that a worse signal brings about."""
    better, worse = found.answer("accept-monotone").witness
    rule = ladder.table[better]
    return _rule(source, ladder.rules.index(rule)).error(
        "",
        f"{rule.outcome.name} for {describe(ladder.signals, better)},"
        f" but {ladder.table[worse].outcome.name} for the worse {describe(ladder.signals, worse)}",
        do=f"keep this guarantee: {GUARANTEES['accept-monotone']}",
    )


_REFUSALS: Final = {
    "no-dead-rule": _dead,
    "total": _gap,
    "accept-region": _outside,
    "accept-monotone": _not_monotone,
}
