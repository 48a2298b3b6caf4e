"""One node record: from the keys that stand on disk to the typed value (contract E2, E4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from admit.core.records import Examples, NodeRecord
from admit.core.signals import CHECK_STATES, FLAKE_STATES, INSTRUMENT_STATES, LOCK_STATES, PROVENANCE_STATES, WHYS
from admit.errors import EvidenceError
from admit.evidence import fields
from admit.evidence.instant import INSTANT, utc_instant
from admit.evidence.wire import OPTIONAL

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_ATTEMPTS: Final = 1_000_000
"""A record that speaks of more executions than this is taken for a mistake."""


def node_record(keys: Mapping[str, Any], where: str, *, gate: str) -> NodeRecord:
    """Return the record of one node whose check is named after `gate`.

    Args:
        keys: the object as parsed, without the word `record`.
        where: file and line, for errors.
        gate: the key under which the check stands.

    Raises:
        EvidenceError: an unknown key, a missing one, a wrong type, a word outside its vocabulary, a frozen node without
            an expiry (contract A6), a pass that says why it is none.
    """
    fields.only(keys, ("node", gate, "fixture_lock", "flake_status", *OPTIONAL), where)
    record = NodeRecord(
        node=fields.text(keys, "node", where),
        check=fields.word(keys, gate, CHECK_STATES, where),
        fixture_lock=fields.word(keys, "fixture_lock", LOCK_STATES, where),
        flake_status=fields.word(keys, "flake_status", FLAKE_STATES, where),
        freeze_expires=expiry(keys, where),
        fixture_manifest=fields.text_or_none(keys, "fixture_manifest", where),
        seed=_seed(keys, where),
        why=None if keys.get("why") is None else fields.word(keys, "why", WHYS, where),
        message=fields.words(keys, "message", where),
        counterexample=fields.words(keys, "counterexample", where),
        reproduce=fields.words(keys, "reproduce", where),
        attempts=fields.whole(keys, "attempts", where, least=1, default=1),
        flaky=fields.flag(keys, "flaky", where),
        examples=_examples(keys, where),
        instrument=fields.word(keys, "instrument", INSTRUMENT_STATES, where) if "instrument" in keys else "intact",
        provenance=(
            fields.word(keys, "provenance", PROVENANCE_STATES, where) if "provenance" in keys else "established"
        ),
    )
    _check_sense(record, gate, where)
    return record


def expiry(keys: Mapping[str, Any], where: str) -> str | None:
    """Return `freeze_expires` spelled in UTC, or None.

    Raises:
        EvidenceError: it is no instant.
    """
    found = fields.text_or_none(keys, "freeze_expires", where)
    if found is None:
        return None
    instant = utc_instant(found)
    if instant is None:
        raise fields.wrong("freeze_expires", found, INSTANT, where)
    return instant


def _check_sense(record: NodeRecord, gate: str, where: str) -> None:
    if record.flake_status == "frozen" and record.freeze_expires is None:
        raise EvidenceError(where, "the node is frozen without freeze_expires", allowed=INSTANT)
    if record.check == "pass" and record.why is not None and not record.flaky:
        raise EvidenceError(
            where,
            f"{gate} is pass, and why says {record.why}",
            allowed="why beside fail, not_run or flaky",
            do="a node that did not plainly pass is not_run",
        )
    if record.attempts > MOST_ATTEMPTS:
        raise fields.wrong("attempts", record.attempts, f"1 to {MOST_ATTEMPTS}", where)


def _seed(keys: Mapping[str, Any], where: str) -> int | str | None:
    value = keys.get("seed")
    if value is None or type(value) is int or (type(value) is str and value):
        return value
    raise fields.wrong("seed", value, "a whole number, a string that is not empty, null", where)


def _examples(keys: Mapping[str, Any], where: str) -> Examples | None:
    if keys.get("examples") is None:
        return None
    found = fields.table(keys, "examples", where)
    fields.only(found, Examples._fields, f"{where}: examples")
    return Examples(*(fields.whole(found, key, f"{where}: examples") for key in Examples._fields))
