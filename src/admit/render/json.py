"""A decision as JSON, and back: the published shape `admit.decision/1`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from admit.core.decision import (
    SCHEMA,
    Counts,
    Decision,
    DocumentRef,
    GateRuling,
    Left,
    NodeVerdict,
    Patch,
    PolicyRef,
)
from admit.core.records import Examples, NodeRecord
from admit.errors import InputError


def decision_bytes(decision: Decision, *, indent: int | None = None) -> bytes:
    """Return the decision as JSON: the same bytes for the same decision (contract E7)."""
    tree = {"schema": SCHEMA, "exit_code": decision.exit_code, **as_tree(decision)}
    separators = None if indent else (",", ":")
    return json.dumps(tree, indent=indent, separators=separators, ensure_ascii=True, allow_nan=False).encode() + b"\n"


def as_tree(value: Any) -> Any:
    """Return named tuples as objects, tuples as arrays, all the way down."""
    if hasattr(value, "_asdict"):
        return {key: as_tree(part) for key, part in value._asdict().items()}
    if isinstance(value, tuple | list):
        return [as_tree(part) for part in value]
    if isinstance(value, Mapping):
        return {key: as_tree(part) for key, part in value.items()}
    return value


def read_decision(raw: bytes, where: str) -> Decision:
    """Return the decision that `decision_bytes` wrote.

    Raises:
        InputError: not JSON, another schema, or a shape that this version does not write.
    """
    try:
        tree = json.loads(raw)
        if tree["schema"] != SCHEMA:
            raise InputError(where, f"schema {tree['schema']!r}", allowed=SCHEMA)
        tree = {key: part for key, part in tree.items() if key not in {"schema", "exit_code"}}
        return _decision(tree)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(where, f"not a decision: {error}", allowed=f"what admit decide wrote ({SCHEMA})") from error


def _decision(tree: dict[str, Any]) -> Decision:
    return Decision(
        **{
            **tree,
            "patch": Patch(**tree["patch"]),
            "router": PolicyRef(**tree["router"]),
            "arbiter": PolicyRef(**tree["arbiter"]),
            "gates": tuple(_gate(gate) for gate in tree["gates"]),
            "notes": tuple(tree["notes"]),
        }
    )


def _gate(tree: dict[str, Any]) -> GateRuling:
    return GateRuling(
        **{
            **tree,
            "counts": Counts(**tree["counts"]),
            "nodes": tuple(_verdict(node) for node in tree["nodes"]),
            "left": tuple(Left(**left) for left in tree["left"]),
            "accepted": None if tree["accepted"] is None else tuple(tree["accepted"]),
            "documents": tuple(DocumentRef(**reference) for reference in tree["documents"]),
        }
    )


def _verdict(tree: dict[str, Any]) -> NodeVerdict:
    record = tree["record"]
    examples = None if record["examples"] is None else Examples(**record["examples"])
    return NodeVerdict(**{**tree, "record": NodeRecord(**{**record, "examples": examples})})
