"""The words of our documents on disk, and the lines that a writer appends: pure, from values to bytes."""

from __future__ import annotations

import hashlib
import json
import re
from json.encoder import encode_basestring as quoted
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from admit.core.records import NodeRecord
from admit.errors import EvidenceError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from admit.core.records import Closing, Opening
    from admit.core.signals import Ended

SCHEMA: Final = "admit.evidence/1"
"""What an opening record's `schema` says."""

CONTEXT_SCHEMA: Final = "admit.context/1"
"""What a run context's `schema` says."""

SUFFIX: Final = ".jsonl"
"""A document is named `<gate>.<anything>.jsonl`."""

NODE_CHARS: Final = 16_384
"""Longest node id on disk; a longer one is cut and made distinct by its digest."""

TEXT_CHARS: Final = 16_384
"""Longest message, counterexample or reproduce on disk, so that a line stays under the reader's limit."""

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
)
"""Keys of a node record that may be left out, in the order in which they are written."""

RESERVED: Final = frozenset({"record", "node", "patch_id", "fixture_lock", "flake_status", *OPTIONAL})
"""Words that a gate cannot be named, because its name is a key of its records."""

_GATE: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_TEXTS: Final = ("message", "counterexample", "reproduce")
_PLAIN_TAIL: Final = ',"fixture_lock":"match","flake_status":"stable"}\n'
_DEFAULTS: Final = NodeRecord._field_defaults
_encode: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


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
        allowed="1 to 64 letters, digits, _ and -, a letter first; not " + ", ".join(sorted(RESERVED)),
    )


def opening_line(opening: Opening) -> bytes:
    """Return the opening record's line, every key written."""
    return _line({"record": "opening", "schema": SCHEMA, **opening._asdict()})


def plan_lines(nodes: Sequence[str]) -> Iterator[bytes]:
    """Yield plan records for `nodes`, split so that no line grows beyond what a reader takes."""
    part: list[str] = []
    size = 0
    for node in map(node_text, nodes):
        part.append(node)
        size += len(node)
        if size >= PLAN_CHARS:
            yield _line({"record": "plan", "nodes": part})
            part, size = [], 0
    if part:
        yield _line({"record": "plan", "nodes": part})


def node_line(gate: str, record: NodeRecord) -> bytes:
    """Return one node record's line, defaults left out; the check is named after the gate."""
    if record.check == "pass" and len(record.node) <= NODE_CHARS and _is_plain(record):
        # nearly every line: two strings put together cost a tenth of an encoder's walk over a dict
        text = f'{{"record":"node","node":{quoted(record.node)},"{gate}":"pass"{_PLAIN_TAIL}'
        try:
            return text.encode()
        except UnicodeEncodeError:
            pass  # a file name that is not UTF-8: the general way makes it printable
    return _line({"record": "node", **node_keys(gate, record)})


def node_keys(gate: str, record: NodeRecord) -> dict[str, Any]:
    """Return a node record as the keys that stand on disk, without the word `record` (contract E2)."""
    keys: dict[str, Any] = {
        "node": node_text(record.node),
        gate: record.check,
        "fixture_lock": record.fixture_lock,
        "flake_status": record.flake_status,
    }
    for key in OPTIONAL:
        value = getattr(record, key)
        if value != _DEFAULTS[key]:
            keys[key] = _cut(value) if key in _TEXTS else value
    if record.examples is not None:
        keys["examples"] = record.examples._asdict()
    return keys


def finish_line(finish: Finish) -> bytes:
    """Return the line of the run's own end mark."""
    return _line({"record": "finish", **finish._asdict()})


def closing_line(closing: Closing) -> bytes:
    """Return the closing record's line."""
    keys = closing._asdict()
    return _line({"record": "closing", "count": keys.pop("node_count"), **keys})


def node_text(node: str) -> str:
    """Return a node id as it stands on disk: UTF-8, and cut with its digest where it is longer than `NODE_CHARS`."""
    text = _printable(node)
    if len(text) <= NODE_CHARS:
        return text
    return f"{text[: NODE_CHARS - 80]}…sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def _is_plain(record: NodeRecord) -> bool:
    return record[2:] == _PLAIN_REST


_PLAIN_REST: Final = NodeRecord("", "pass", "match", "stable")[2:]


def _line(keys: Mapping[str, Any]) -> bytes:
    try:
        return _encode(keys).encode() + b"\n"
    except UnicodeEncodeError:
        return _encode({key: _deep_printable(value) for key, value in keys.items()}).encode() + b"\n"


def _deep_printable(value: Any) -> Any:
    if isinstance(value, str):
        return _printable(value)
    return [_deep_printable(part) for part in value] if isinstance(value, list) else value


def _printable(text: str) -> str:
    # lone surrogates (bytes of file names that are not UTF-8) have no place in JSON: they are spelled out
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def _cut(text: str) -> str:
    if len(text) <= TEXT_CHARS:
        return text
    return f"{text[: TEXT_CHARS - 40]}… ({len(text)} characters, cut)"
