"""Node records written by hand or by other tools: one JSON object, an array of them, or JSON Lines (contract E2)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from admit.core.signals import FREEZE_GATE
from admit.errors import EvidenceError
from admit.evidence import fields
from admit.evidence.record import node_record
from admit.evidence.strict import LIMITS, Limits, read_json

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from admit.core.records import NodeRecord

CHECKS: Final = ("property_check", "fixture_check", FREEZE_GATE)
"""The keys under which a node record may hold its check where nobody names other gates (contract A7)."""

_BLANKS: Final = b" \t\r\n"


def read_node_records(
    raw: bytes, where: str, *, limits: Limits = LIMITS, gates: Collection[str] = CHECKS
) -> list[tuple[str, NodeRecord]]:
    """Return the node records in `raw`, each with the gate that its check is named after.

    A file with nothing in it gives no records; the caller holds with `no_evidence` (contract A5).

    Args:
        raw: one JSON object, an array of objects, or JSON Lines (blank lines are passed over).
        where: the file's name, for errors.
        limits: what is too large.
        gates: the names that a check may have.

    Raises:
        EvidenceError: anything else (contract E4).
    """
    records: list[tuple[str, NodeRecord]] = []
    for place, value in _values(raw, where, limits):
        if len(records) >= limits.nodes:
            raise EvidenceError(place, f"more than {limits.nodes} node records", allowed=f"{limits.nodes}")
        records.append(_record(fields.as_table(value, place), place, gates))
    return records


def _values(raw: bytes, where: str, limits: Limits) -> Iterator[tuple[str, Any]]:
    body = raw.strip(_BLANKS)
    if not body:
        return
    if body.startswith(b"[") or not _is_lines(body):
        value = read_json(raw, where, limits=limits)
        if type(value) is not list:
            yield where, value
            return
        yield from ((f"{where}: record {number}", part) for number, part in enumerate(value, 1))
        return
    for number, line in enumerate(raw.split(b"\n"), 1):
        if line.strip(_BLANKS):
            if len(line) > limits.line_bytes:
                raise EvidenceError(f"{where}:{number}", f"a line of {len(line)} bytes", allowed=f"{limits.line_bytes}")
            yield f"{where}:{number}", read_json(line, where, limits=limits, line=number)


def _is_lines(body: bytes) -> bool:
    # a first line that is a value of its own, strict or not, makes it JSON Lines; else one value may span several lines
    first, newline, _ = body.partition(b"\n")
    if not newline:
        return False
    try:
        json.loads(first.decode())
    except (ValueError, RecursionError):
        return False
    return True


def _record(keys: dict[str, Any], where: str, gates: Collection[str]) -> tuple[str, NodeRecord]:
    if "record" in keys:
        raise EvidenceError(
            where, "a line of a gate's own document", allowed="node records", do="put it in a folder for admit decide"
        )
    named = [gate for gate in gates if gate in keys]
    if len(named) != 1:
        found = " and ".join(named) if named else "no check"
        raise EvidenceError(where, f"{found} in one node record", allowed=f"exactly one of {', '.join(gates)}")
    return named[0], node_record(keys, where, gate=named[0])
