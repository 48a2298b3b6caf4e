"""Put the parts of a run on a base together: one record a node, with what measured it and where it comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from admit.core.rollup import QUIET, record_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from admit.core.fold import Folded
    from admit.core.records import Examples, NodeRecord


class Parts(NamedTuple):
    """What the parts of a run saw: `inventory` names each node of the base's collection and the gate that it is of.

    `judged` are the base's tests on the patch's code, `proposals` the tests that the patch brings or edits in their new
    form, each gate by gate; `on_base` what failed on the patch, run on the base, and `seen_on_base` how many inputs a
    property had there. `asked` is how many inputs the profile asks of a property: one that saw fewer, by its
    own settings or by anything else, has to have seen as few on the base.
    """

    inventory: Mapping[str, str]
    judged: Mapping[str, Mapping[str, NodeRecord]]
    proposals: Mapping[str, Mapping[str, NodeRecord]]
    on_base: Mapping[str, NodeRecord]
    seen_on_base: Mapping[str, Examples]
    asked: int = 0


class Review(NamedTuple):
    """What the patch did to tests, and what a reviewer let stand.

    `edited` are nodes of the base whose test is another one in the patch, `lost` those that the patch no longer has;
    `approved` are nodes whose new form, or whose loss, a reviewer approved. `compromised` says what is wrong with the
    instrument as a whole, empty where nothing is.
    """

    edited: frozenset[str]
    lost: frozenset[str]
    approved: frozenset[str]
    compromised: str = ""


def records_of(folded: Folded, leave_out: frozenset[str] = frozenset()) -> dict[str, NodeRecord]:
    """Return one record a node of a gate's folded documents."""
    details = folded.details
    return {
        node: record_of(node, code, details.get(node)) for node, code in folded.codes.items() if node not in leave_out
    }


def assembled(parts: Parts, review: Review) -> dict[str, list[NodeRecord]]:
    """Return each gate's records, in the order of their nodes (contract T2, T7, P3)."""
    gates = sorted({*parts.judged, *parts.proposals, *parts.inventory.values()})
    return {gate: _gate_records(gate, parts, review) for gate in gates}


def _gate_records(gate: str, parts: Parts, review: Review) -> list[NodeRecord]:
    judged, proposals = parts.judged.get(gate, {}), parts.proposals.get(gate, {})
    records = [
        _judged(record, proposals.get(node), parts, review)
        for node, record in judged.items()
        if not _given_up(record, proposals.get(node), review)
    ]
    everywhere = {node for of_gate in parts.judged.values() for node in of_gate}
    records += [
        _vanished(node, review)
        for node, of in parts.inventory.items()
        if of == gate and node not in everywhere and (node not in review.approved or review.compromised)
    ]
    records += [
        _marked(record._replace(provenance="unproven"), review)
        for node, record in proposals.items()
        if node not in parts.inventory and node not in judged
    ]
    return sorted(records, key=lambda record: record.node)


def _given_up(record: NodeRecord, new_form: NodeRecord | None, review: Review) -> bool:
    """Return whether a reviewer let a test go that the patch's code fails: a feature that went, mostly."""
    is_let_go = record.node in review.lost & review.approved and new_form is None
    return is_let_go and record.check != "pass" and not review.compromised


def _judged(record: NodeRecord, new_form: NodeRecord | None, parts: Parts, review: Review) -> NodeRecord:
    """Return what a node amounts to whose base form ran on the patch's code."""
    node = record.node
    if review.compromised or node not in parts.inventory:
        return _marked(record._replace(provenance="established" if node in parts.inventory else "unproven"), review)
    is_approved = node in review.approved
    if record.check != "pass":
        return _base_form_failed(record, new_form, parts, review)
    if node in review.lost and not is_approved:
        return record._replace(
            check="not_run", why="vanished", message="the patch no longer has this test", examples=None
        )
    if new_form is not None and not _holds(new_form):
        return new_form._replace(instrument="edited")
    if new_form is not None and not is_approved and (weaker := _weaker(record, new_form)):
        return record._replace(check="not_run", why="vacuous", message=weaker, instrument="edited")
    if (starved := _starved(record, parts.seen_on_base.get(node))) and not is_approved:
        return record._replace(check="not_run", why="vacuous", message=starved)
    return record


def _base_form_failed(record: NodeRecord, new_form: NodeRecord | None, parts: Parts, review: Review) -> NodeRecord:
    node = record.node
    if node in review.edited | review.lost:
        if node in review.approved and new_form is not None:
            return new_form
        return record._replace(instrument="edited")
    on_base = parts.on_base.get(node)
    if record.check == "fail" and on_base is not None and on_base.check == "fail":
        return record._replace(provenance="broken_on_base")
    return record


def _holds(new_form: NodeRecord) -> bool:
    return new_form.check == "pass" or (new_form.check == "not_run" and new_form.why in QUIET)


def _vanished(node: str, review: Review) -> NodeRecord:
    from admit.core.records import NodeRecord

    record = NodeRecord(
        node, "not_run", "match", "stable", why="vanished", message="the base collects it, and this run did not"
    )
    return _marked(record, review)


def _marked(record: NodeRecord, review: Review) -> NodeRecord:
    if not review.compromised:
        return record
    return record._replace(instrument="compromised", message=record.message or review.compromised)


_SHARE: Final = 0.9
_SLACK: Final = 5
"""A property may lose this share of its inputs, and give up this many more, before it counts as starved.

Under one seed and one profile a property sees the same inputs as long as the code under test has no say in them.
"""


def _weaker(record: NodeRecord, new_form: NodeRecord) -> str:
    """Return how the patch's form of a property asks for less than the base's, empty where it does not.

    Both ran on the patch's code under one seed and one profile, so a difference is the edit's.
    """
    before, now = record.examples, new_form.examples
    if before is None:
        return ""
    if now is None:
        return "the patch's form is no property any more"
    if now.max < before.max or now.valid < _SHARE * before.valid:
        return (
            f"the patch's form asks for {now.max} inputs and saw {now.valid}; "
            f"the base's asks for {before.max} and saw {before.valid}"
        )
    if _OWN in new_form.message and new_form.message != record.message:
        return f"the patch's form has {new_form.message[new_form.message.index(_OWN) :]}"
    return ""


_OWN: Final = "settings of its own: "
"""How a recorder says which Hypothesis settings a test changes for itself."""


def _starved(record: NodeRecord, before: Examples | None) -> str:
    """Return how a property lost its inputs on the patch against the base, empty where it did not."""
    now = record.examples
    if now is None or before is None:
        return ""
    given_up, given_up_before = now.ran - now.valid, before.ran - before.valid
    if now.valid < _SHARE * before.valid or given_up > given_up_before / _SHARE + _SLACK:
        return (
            f"it gave up on {given_up} inputs and saw {now.valid} valid ones; "
            f"on the base it gave up on {given_up_before} and saw {before.valid}"
        )
    return ""


def to_run_on_base(parts: Parts, review: Review) -> tuple[str, ...]:
    """Return the nodes of which the base has to show what it makes of them: failures, and properties that gave up."""
    wanted = [
        node
        for records in parts.judged.values()
        for node, record in records.items()
        if node in parts.inventory and (_failed_unedited(record, review) or _gave_up(record, parts))
    ]
    return tuple(sorted(wanted))


def _failed_unedited(record: NodeRecord, review: Review) -> bool:
    return record.check == "fail" and record.node not in review.edited | review.lost


def _gave_up(record: NodeRecord, parts: Parts) -> bool:
    examples = record.examples
    if record.check != "pass" or examples is None or record.node in parts.seen_on_base:
        return False
    return examples.ran > examples.valid or examples.valid < max(examples.max, parts.asked)


def replays(parts: Parts, nodes: Iterable[str]) -> dict[str, str]:
    """Return what reproduces the counterexample of each of some nodes that has one (contract T7)."""
    found = {node: record for records in parts.judged.values() for node, record in records.items()}
    return {node: found[node].reproduce for node in nodes if found[node].check == "fail" and found[node].reproduce}
