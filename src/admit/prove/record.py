"""The proof record: what was run where, what it showed, and the answer (contract P1, P2, P3)."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias, get_args

if TYPE_CHECKING:
    from collections.abc import Mapping

    from admit.prove.cells import Cell, Expect, Side

SCHEMA: Final = "admit.proof/1"

MOST_REPEATS: Final = 100
"""Most executions of a test on one side."""

Origin: TypeAlias = Literal["patch", "working-tree"]
"""Where the test file's bytes came from: the patch's commit, or a file that no commit has yet."""

ORIGINS: Final[tuple[Origin, ...]] = get_args(Origin)

Scalar: TypeAlias = bool | int | float | str | None


class Commit(NamedTuple):
    """A commit and its tree, by id."""

    commit: str
    tree: str


class Measured(NamedTuple):
    """What both sides were measured with.

    `manifest` and `lock` are digests of the parent's files, None where it has none; `laid` maps each path on which the
    parent was given the patch's form to its blob, None where the patch has no such file. `versions` are those of Python
    and of the tools that ran the tests.
    """

    manifest: str | None
    lock: str | None
    seed: int
    profile: Mapping[str, Scalar | tuple[str, ...]]
    laid: Mapping[str, str | None]
    versions: Mapping[str, str]


class Reach(NamedTuple):
    """Which changed lines a test ran: `+path:line` on the patch, `-path:line` on the parent.

    `is_known` says whether anybody could tell.
    """

    is_known: bool = False
    lines: tuple[str, ...] = ()

    @property
    def answer(self) -> bool | None:
        """Return whether it ran any, None where nobody knows."""
        return bool(self.lines) if self.is_known else None


class NodeProof(NamedTuple):
    """One test: its file, what it showed on both sides, and the answer; `vacuous` says why it is not about the code."""

    node: str
    path: str
    blob: str
    origin: Origin
    patch: Side
    parent: Side
    cell: Cell
    vacuous: str = ""
    reach: Reach = Reach()


class Proof(NamedTuple):
    """Everything that one `admit prove` found out."""

    patch: Commit
    parent: Commit
    expect: Expect
    repeat: int
    measured: Measured
    nodes: tuple[NodeProof, ...]

    @property
    def is_proven(self) -> bool:
        """Return whether there is a test, and every one is proven."""
        return bool(self.nodes) and all(one.cell.answer == "proven" for one in self.nodes)


def proof_bytes(proof: Proof) -> bytes:
    """Return a proof as it stands on disk; the same proof gives the same bytes."""
    keys = _keys(proof)
    return json.dumps({**keys, "digest": digest_of(keys)}, indent=1, allow_nan=False).encode("ascii") + b"\n"


def why_unfit(proof: Proof, node: str, *, blob: str | None, tree: str, base_tree: str) -> str:
    """Return why a proof says nothing of a test of a patch, empty where it does: its digests fit, and it is proven.

    Args:
        proof: a proof that was read back.
        node: the test.
        blob: its file in the patch as it is now.
        tree: the patch's tree; a proof is of one content, whatever the commit's message.
        base_tree: the tree of its parent.
    """
    found = next((one for one in proof.nodes if one.node == node), None)
    if found is None:
        return "the proof is of other tests"
    if found.cell.answer != "proven":
        return f"the proof says {found.cell.answer}"
    if found.blob != blob or found.origin != "patch":
        return "the proof is of another form of the test's file"
    if proof.patch.tree != tree:
        return "the proof is of another form of the patch"
    return "" if proof.parent.tree == base_tree else "the proof is against another parent"


KEYS: Final = ("schema", "patch", "parent", "expect", "repeat", "measured", "nodes")
"""The keys of a proof on disk, beside its digest."""


def _keys(proof: Proof) -> dict[str, Any]:
    measured = proof.measured._asdict()
    for name in ("profile", "laid", "versions"):
        measured[name] = dict(sorted(measured[name].items()))
    return {
        "schema": SCHEMA,
        "patch": proof.patch._asdict(),
        "parent": proof.parent._asdict(),
        "expect": proof.expect,
        "repeat": proof.repeat,
        "measured": measured,
        "nodes": [_node_keys(one) for one in proof.nodes],
    }


def _node_keys(one: NodeProof) -> dict[str, Any]:
    keys = one._asdict()
    cell = keys.pop("cell")
    keys["patch"], keys["parent"] = one.patch._asdict(), one.parent._asdict()
    keys["reach"] = list(one.reach.lines) if one.reach.is_known else None
    return {**keys, "answer": cell.answer, "direction": cell.direction, "reason": cell.reason}


def digest_of(keys: Mapping[str, Any]) -> str:
    """Return the digest of a proof's keys, its own aside; their order and layout are nothing."""
    text = json.dumps(keys, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return "sha256:" + sha256(text.encode("ascii")).hexdigest()
