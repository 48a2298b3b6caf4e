"""Decode written node records with a typed decoder, where that is sure to read what the strict reader would."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple, Protocol

from admit.core.records import Examples, NodeRecord
from admit.core.signals import CheckState, FlakeState, LockState, Why
from admit.evidence.instant import utc_instant
from admit.evidence.record import MOST_ATTEMPTS
from admit.evidence.wire import node_line

if TYPE_CHECKING:
    from collections.abc import Sequence

_PLAN: Final = b'{"record":"plan",'


class WrittenNode(Protocol):
    """A node record as it stands on disk; the fields of `NodeRecord`, the expiry as it was spelled."""

    node: str
    check: CheckState
    fixture_lock: LockState
    flake_status: FlakeState
    fixture_manifest: str | None
    seed: int | str | None
    freeze_expires: str | None
    why: Why | None
    message: str
    counterexample: str
    reproduce: str
    attempts: int
    flaky: bool
    examples: Examples | None


class Written(NamedTuple):
    """A block of node records: ids of the plain passes, and the other records with their places in the block."""

    plain: list[str]
    others: list[tuple[int, WrittenNode]]


@lru_cache(maxsize=64)
def typed_reader(gate: str) -> TypedReader:
    """Return the reader of a gate's blocks; making one costs as much as reading a thousand lines."""
    return TypedReader(gate)


class TypedReader:
    """Reads blocks of node records of one gate, as a writer of ours appends them.

    A typed decoder refuses unknown keys, unknown words and wrong types, but lets a key stand twice. So a block counts
    only if it equals its own encoding, which names each key once. Lines with blanks, another order of keys, a key twice
    or anything that is wrong are left to the strict reader.
    """

    __slots__ = ("_decode", "_encode", "_errors", "_plain_end", "_plan")

    def __init__(self, gate: str) -> None:
        import msgspec

        self._decode = msgspec.json.Decoder(_kind(gate)).decode_lines
        self._plan = msgspec.json.Decoder(_plan_kind()).decode_lines
        self._encode = msgspec.json.Encoder().encode_lines
        self._plain_end = node_line(gate, NodeRecord("x", "pass", "match", "stable")).partition(b'"x')[2]
        self._errors = (msgspec.DecodeError, RecursionError)

    def read(self, block: bytes) -> Written | None:
        """Return the node records in a block of whole lines, None where the strict reader has to look."""
        try:
            found: list[WrittenNode] = self._decode(block)
        except self._errors:
            return None
        if self._encode(found) != block:
            return None
        if block.count(self._plain_end) == len(found):  # quotes in it: it can only stand at the end of a record
            return Written([one.node for one in found], [])
        others = [(place, one) for place, one in enumerate(found) if not _is_plain(one)]
        places = {place for place, _ in others}
        return Written([one.node for place, one in enumerate(found) if place not in places], others)

    def read_plan(self, line: bytes) -> Sequence[str] | None:
        """Return the nodes of a plan record's line, None where the strict reader has to look."""
        if not line.startswith(_PLAN):
            return None
        try:
            found = self._plan(line)
        except self._errors:
            return None
        nodes: Sequence[str] = found[0].nodes
        return nodes if self._encode(found) == line else None


def _is_plain(one: WrittenNode) -> bool:
    return (
        one.check == "pass"
        and one.fixture_lock == "match"
        and one.flake_status == "stable"
        and one.attempts == 1
        and not (one.flaky or one.why or one.message or one.counterexample or one.freeze_expires)
    )


def record_of(found: WrittenNode) -> NodeRecord | None:
    """Return a written record as a typed value, None where the strict reader has to say what is wrong."""
    expires = None if found.freeze_expires is None else utc_instant(found.freeze_expires)
    if expires is None and (found.freeze_expires is not None or found.flake_status == "frozen"):
        return None
    if found.check == "pass" and found.why is not None and not found.flaky:
        return None
    seen = found.examples
    return NodeRecord(
        found.node,
        found.check,
        found.fixture_lock,
        found.flake_status,
        expires,
        found.fixture_manifest,
        found.seed,
        found.why,
        found.message,
        found.counterexample,
        found.reproduce,
        found.attempts,
        found.flaky,
        None if seen is None else Examples(seen.ran, seen.valid, seen.max),
    )


def _plan_kind() -> Any:
    from msgspec import Meta, defstruct

    nodes = list[Annotated[str, Meta(min_length=1)]]
    return defstruct("WrittenPlan", [("nodes", nodes)], tag_field="record", tag="plan", forbid_unknown_fields=True)


def _kind(gate: str) -> Any:
    from msgspec import Meta, defstruct

    count = Annotated[int, Meta(ge=0)]
    some = Annotated[str, Meta(min_length=1)]
    seen = defstruct("Seen", [("ran", count), ("valid", count), ("max", count)], forbid_unknown_fields=True, gc=False)
    return defstruct(
        "WrittenNode",
        [
            ("node", some),
            ("check", CheckState),
            ("fixture_lock", LockState),
            ("flake_status", FlakeState),
            ("fixture_manifest", some | None, None),
            ("seed", int | some | None, None),
            ("freeze_expires", some | None, None),
            ("why", Why | None, None),
            ("message", str, ""),
            ("counterexample", str, ""),
            ("reproduce", str, ""),
            ("attempts", Annotated[int, Meta(ge=1, le=MOST_ATTEMPTS)], 1),
            ("flaky", bool, False),
            ("examples", seen | None, None),
        ],
        tag_field="record",
        tag="node",
        rename={"check": gate},
        forbid_unknown_fields=True,
        omit_defaults=True,
        gc=False,
    )
