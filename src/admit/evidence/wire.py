"""The words of our documents on disk, and the lines that a writer appends: pure, from values to bytes."""

from __future__ import annotations

import hashlib
import re
from json.encoder import encode_basestring as quoted
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from admit.core.records import NodeRecord
from admit.errors import EvidenceError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from admit.core.records import Closing, Opening
    from admit.core.signals import Ended

SCHEMA: Final = "admit.evidence/1"
"""What an opening record's `schema` says."""

CONTEXT_SCHEMA: Final = "admit.context/1"
"""What a run context's `schema` says."""

CONTEXT_FILE: Final = "context.json"
"""The run context's name in an evidence folder."""

SUFFIX: Final = ".jsonl"
"""A document is named `<gate>.<anything>.jsonl`."""

SIGNED: Final = ".dsse.json"
"""What the name of the envelope that signs a document adds to the document's name."""

NODE_CHARS: Final = 10_000
"""Longest node id on disk; a longer one is cut and made distinct by its digest."""

TEXT_CHARS: Final = 10_000
"""Longest message, counterexample or reproduce on disk; six times as long, all escapes, it is still read."""

PLAN_CHARS: Final = 32_768
"""About as many characters of node ids stand in one plan record; a longer plan is written as several."""

OPTIONAL: Final = (
    "fixture_manifest",
    "seed",
    "freeze_expires",
    "why",
    "message",
    "counterexample",
    "reproduce",
    "attempts",
    "flaky",
    "examples",
    "instrument",
    "provenance",
)
"""Keys of a node record that may be left out, in the order in which they are written."""

RESERVED: Final = frozenset({"record", "node", "patch_id", "fixture_lock", "flake_status", *OPTIONAL})
"""Words that a gate cannot be named, because its name is a key of its records."""

_GATE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")
_TEXTS: Final = ("message", "counterexample", "reproduce")
_optional: Final = attrgetter(*OPTIONAL)
_DEFAULTS: Final = tuple(NodeRecord._field_defaults[key] for key in OPTIONAL)
_PLAIN: Final = NodeRecord("", "pass", "match", "stable")[1:]
_PLAIN_TAIL: Final = '"pass","fixture_lock":"match","flake_status":"stable"}\n'
_WORDS: Final = {None: "null", True: "true", False: "false"}


class Finish(NamedTuple):
    """What a run says of its own end: its exit code, and whether it got there; the seal is the closing record."""

    exit_code: int
    ended: Ended


def check_gate_name(gate: str, where: str) -> str:
    """Return `gate` if it can name a gate in a document.

    Raises:
        EvidenceError: it is empty, too long, holds other characters, or is a key of node records already.
    """
    if _GATE.fullmatch(gate) and gate not in RESERVED:
        return gate
    raise EvidenceError(
        where,
        f"gate {gate!r} cannot name a gate",
        allowed="1 to 100 letters, digits, _, . and -, a letter or digit first; not " + ", ".join(sorted(RESERVED)),
    )


def is_document_name(name: str) -> bool:
    """Return whether a file of this name in an evidence folder is a gate's document: `<gate>.<anything>.jsonl`."""
    gate, dot, rest = name.removesuffix(SUFFIX).partition(".")
    return name.endswith(SUFFIX) and bool(gate and dot and rest) and _GATE.fullmatch(gate) is not None


def opening_line(opening: Opening) -> bytes:
    """Return the opening record's line, every key written."""
    return _line({"record": "opening", "schema": SCHEMA, **opening._asdict()})


def plan_lines(nodes: Iterable[str], record: str = "plan") -> Iterator[bytes]:
    """Yield plan records for `nodes`, or `timing` ones, split so that no line grows beyond what a reader takes."""
    part: list[str] = []
    size = 0
    for node in nodes:
        part.append(node_text(node))
        size += len(part[-1])
        if size >= PLAN_CHARS:
            yield _line({"record": record, "nodes": part})
            part, size = [], 0
    if part:
        yield _line({"record": record, "nodes": part})


def node_line(gate: str, record: NodeRecord) -> bytes:
    """Return one node record's line, defaults left out; the check is named after the gate."""
    if record[1:] == _PLAIN:  # nearly every line: put together, it costs a tenth of a walk over its keys
        return f'{{"record":"node","node":{quoted(node_text(record.node))},"{gate}":{_PLAIN_TAIL}'.encode()
    return _line({"record": "node", **node_keys(gate, record)})


def node_keys(gate: str, record: NodeRecord) -> dict[str, Any]:
    """Return a node record as the keys that stand on disk, without the word `record` (contract E2)."""
    keys: dict[str, Any] = {
        "node": node_text(record.node),
        gate: record.check,
        "fixture_lock": record.fixture_lock,
        "flake_status": record.flake_status,
    }
    for key, default, value in zip(OPTIONAL, _DEFAULTS, _optional(record), strict=True):
        if value != default:
            keys[key] = _cut(_printable(value)) if key in _TEXTS else value
    if record.examples is not None:
        keys["examples"] = record.examples._asdict()
    return keys


def finish_line(finish: Finish) -> bytes:
    """Return the line of the run's own end mark."""
    return _line({"record": "finish", **finish._asdict()})


def closing_line(closing: Closing) -> bytes:
    """Return the closing record's line."""
    keys = closing._asdict()
    reason = _cut(keys.pop("reason"))
    if reason:
        keys["reason"] = reason
    return _line({"record": "closing", "count": keys.pop("node_count"), **keys})


def node_text(node: str) -> str:
    """Return a node id as it stands on disk: UTF-8, and cut with its digest where it is longer than `NODE_CHARS`."""
    text = _printable(node)
    if len(text) <= NODE_CHARS:
        return text
    return f"{text[: NODE_CHARS - 80]}…sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def _line(keys: dict[str, Any]) -> bytes:
    return f"{_json(keys)}\n".encode()


def _json(value: Any) -> str:
    """Return a value as compact JSON, as `msgspec.json.encode` writes it; a third of the cost of `json`'s encoder."""
    if isinstance(value, str):
        return quoted(_printable(value))
    if isinstance(value, dict):  # most of what stands in it is plain text, which is spared the call
        parts = [
            f'"{key}":{quoted(part) if part.__class__ is str and part.isascii() else _json(part)}'
            for key, part in value.items()
        ]
        return "{" + ",".join(parts) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_json, value)) + "]"
    return _WORDS[value] if value is None or isinstance(value, bool) else int.__repr__(value)


def _printable(text: str) -> str:
    # lone surrogates (bytes of file names that are not UTF-8) have no place in JSON: they are spelled out
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def _cut(text: str) -> str:
    if len(text) <= TEXT_CHARS:
        return text
    return f"{text[: TEXT_CHARS - 40]}… ({len(text)} characters, cut)"
