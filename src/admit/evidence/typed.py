"""Decode written node records with a typed decoder, where that is sure to read what the strict reader would."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, NamedTuple, Protocol

from admit.core.records import Examples, NodeRecord
from admit.core.signals import CheckState, FlakeState, InstrumentState, LockState, ProvenanceState, Why
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
    instrument: InstrumentState
    provenance: ProvenanceState


class Written(NamedTuple):
    """A block of node records: all ids in order, those of plain passes, and the other records with their places."""

    nodes: list[str]
    plain: list[str]
    others: list[tuple[int, WrittenNode]]


@lru_cache(maxsize=64)
def typed_reader(gate: str) -> TypedReader:
    """Return the reader of a gate's blocks; making one costs as much as reading a thousand lines."""
    return TypedReader(gate)


class TypedReader:
    """Reads blocks of node records of one gate, as a writer of ours appends them.

    A typed decoder refuses unknown keys, unknown words and wrong types, but lets a key stand twice. So a block counts
    only if it is as short as its records can be written, or equals its own encoding, which names each key once. Lines
    with blanks, a key twice or anything that is wrong are left to the strict reader.
    """

    __slots__ = ("_any", "_encode", "_errors", "_least", "_plain", "_plan")

    def __init__(self, gate: str) -> None:
        import msgspec

        self._plain = msgspec.json.Decoder(_plain_kind(gate)).decode_lines
        self._any = msgspec.json.Decoder(_kind(gate)).decode_lines
        self._plan = msgspec.json.Decoder(_plan_kind()).decode_lines
        self._encode = msgspec.json.Encoder().encode_lines
        self._least = len(node_line(gate, NodeRecord("", "pass", "match", "stable")))
        self._errors = (msgspec.DecodeError, RecursionError)

    def read(self, block: bytes) -> Written | None:
        """Return the node records in a block of whole lines, None where the strict reader has to look."""
        try:
            found: list[WrittenNode] = self._plain(block)
        except self._errors:
            return self._read_any(block)
        nodes = [one.node for one in found]
        # as short as its records can be written, a block has no room for a second key; else it is compared
        if len(block) != self._least * len(nodes) + sum(map(len, nodes)) and self._encode(found) != block:
            return None
        return Written(nodes, nodes, [])

    def _read_any(self, block: bytes) -> Written | None:
        try:
            found: list[WrittenNode] = self._any(block)
        except self._errors:
            return None
        if self._encode(found) != block:
            return None
        others = [(place, one) for place, one in enumerate(found) if not _is_plain(one)]
        places = {place for place, _ in others}
        plain = [one.node for place, one in enumerate(found) if place not in places]
        return Written([one.node for one in found], plain, others)

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
        and one.examples is None
        and one.instrument == "intact"
        and one.provenance == "established"
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
        found.instrument,
        found.provenance,
    )


def _plan_kind() -> Any:
    from msgspec import Meta, defstruct

    nodes = list[Annotated[str, Meta(min_length=1)]]
    return defstruct("WrittenPlan", [("nodes", nodes)], tag_field="record", tag="plan", forbid_unknown_fields=True)


def _plain_kind(gate: str) -> Any:
    """Return the type of a plain pass, which may say under what it ran and nothing else."""
    from msgspec import defstruct

    of_a_pass = {
        "check": Literal["pass"],
        "fixture_lock": Literal["match"],
        "flake_status": Literal["stable"],
    }
    fields = [
        (name, of_a_pass.get(name, kind), *default)
        for name, kind, *default in _fields()
        if name not in _MORE_THAN_A_PASS
    ]
    return defstruct("PlainPass", fields, rename={"check": gate}, **_OPTIONS)


_MORE_THAN_A_PASS: Final = frozenset(
    {"freeze_expires", "why", "message", "counterexample", "attempts", "flaky", "examples", "instrument", "provenance"}
)


def _kind(gate: str) -> Any:
    from msgspec import defstruct

    return defstruct("WrittenNode", _fields(), rename={"check": gate}, **_OPTIONS)


def _fields() -> list[Any]:
    from msgspec import Meta

    some = Annotated[str, Meta(min_length=1)]
    return [
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
        ("examples", _seen_kind(valid=0) | None, None),
        ("instrument", InstrumentState, "intact"),
        ("provenance", ProvenanceState, "established"),
    ]


def _seen_kind(*, valid: int) -> Any:
    from msgspec import Meta, defstruct

    least = {"ran": 0, "valid": valid, "max": 0}
    fields = [(name, Annotated[int, Meta(ge=least[name])]) for name in Examples._fields]
    return defstruct("Seen", fields, forbid_unknown_fields=True, gc=False)


_OPTIONS: Final[dict[str, Any]] = {
    "tag_field": "record",
    "tag": "node",
    "forbid_unknown_fields": True,
    "omit_defaults": True,
    "gc": False,
}
