"""The records that frame a document: opening, plan, finish, closing; from parsed keys to typed values (contract E3)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from admit.core.records import Closing, Opening
from admit.core.signals import ENDS
from admit.evidence import fields
from admit.evidence.wire import SCHEMA, Finish, check_gate_name

if TYPE_CHECKING:
    from collections.abc import Mapping

RECORDS: Final = ("opening", "plan", "timing", "node", "finish", "closing")
"""What a line's `record` may say."""

_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")


def opening_of(keys: Mapping[str, Any], where: str) -> Opening:
    """Return the opening record in a parsed line.

    Raises:
        EvidenceError: an unknown key, a missing one, a wrong type, another schema, a name that no gate can have.
    """
    fields.only(keys, ("record", "schema", *Opening._fields), where)
    fields.word(keys, "schema", (SCHEMA,), where)
    for key in Opening._fields:
        if key not in Opening._field_defaults:
            fields.required(keys, key, where)  # null is a thing to say, silence is none
    opening = Opening(
        gate=check_gate_name(fields.text(keys, "gate", where), where),
        patch_id=fields.text(keys, "patch_id", where),
        head=fields.text_or_none(keys, "head", where),
        base=fields.text_or_none(keys, "base", where),
        tool=fields.text(keys, "tool", where),
        tool_version=fields.words(keys, "tool_version", where),
        run_id=fields.text(keys, "run_id", where),
        nonce=fields.words(keys, "nonce", where),
        lane=fields.text(keys, "lane", where) if "lane" in keys else "default",
        shard=fields.whole(keys, "shard", where, least=1, default=1),
        shards=fields.whole(keys, "shards", where, least=1, default=1),
        attempt=fields.whole(keys, "attempt", where, least=1, default=1),
        dirty=fields.flag(keys, "dirty", where),
        instrument_of=fields.text_or_none(keys, "instrument_of", where),
    )
    if opening.shard > opening.shards:
        raise fields.wrong("shard", opening.shard, f"1 to {opening.shards}, as shards says", where)
    return opening


def plan_of(keys: Mapping[str, Any], where: str) -> tuple[str, ...]:
    """Return the nodes of a plan record, as often as they stand there, or of a record of timing-sensitive nodes.

    Raises:
        EvidenceError: an unknown key, a wrong type, an empty node id.
    """
    fields.only(keys, ("record", "nodes"), where)
    return fields.texts(keys, "nodes", where)


def finish_of(keys: Mapping[str, Any], where: str) -> Finish:
    """Return the run's own end mark.

    Raises:
        EvidenceError: an unknown key, a missing one, a wrong type or word.
    """
    fields.only(keys, ("record", *Finish._fields), where)
    return Finish(fields.whole(keys, "exit_code", where, least=None), fields.word(keys, "ended", ENDS, where))


def closing_of(keys: Mapping[str, Any], where: str) -> Closing:
    """Return the closing record in a parsed line.

    Raises:
        EvidenceError: an unknown key, a missing one, a wrong type or word, something that is no digest.
    """
    fields.only(keys, ("record", "count", "ended", "exit_code", "signal", "closed_by", "digest", "reason"), where)
    digest = fields.text(keys, "digest", where)
    if not _DIGEST.fullmatch(digest):
        raise fields.wrong("digest", digest, "sha256: and 64 hexadecimal digits", where)
    for key in ("exit_code", "signal"):
        fields.required(keys, key, where)
    return Closing(
        node_count=fields.whole(keys, "count", where),
        ended=fields.word(keys, "ended", ENDS, where),
        exit_code=fields.whole_or_none(keys, "exit_code", where),
        signal=fields.whole_or_none(keys, "signal", where),
        closed_by=fields.text(keys, "closed_by", where),
        digest=digest,
        reason=fields.text(keys, "reason", where) if "reason" in keys else "",
    )


def ended_of(finish: Finish | None, closing: Closing) -> Closing:
    """Return the closing record with the worse of what the run said of its end and what its closer saw (contract E9).

    Neither voice can turn the other's `finished` into more than it is.
    """
    if finish is None or closing.ended != "finished":
        return closing
    if finish.ended != "finished":
        return closing._replace(ended=finish.ended)
    if closing.exit_code is not None and closing.exit_code != finish.exit_code:
        return closing._replace(ended="exit_disagrees")
    return closing
