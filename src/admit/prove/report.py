"""A proof in words, for the person who asked for it (contract P1, P2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from admit.errors import one_line
from admit.prove.cells import ANSWERS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from admit.prove.cells import Direction, Side
    from admit.prove.record import NodeProof, Proof

_DIRECTIONS: Final[dict[Direction, str]] = {
    "fails-on-patch": "fails on the patch, passes on the parent (P1)",
    "fails-on-parent": "fails on the parent, passes on the patch (P2)",
}

_SHORT: Final = 12
"""Characters of a commit's id that are shown."""


def text_of(proof: Proof) -> str:
    """Return a proof as text: a line a test, what it showed below, and the count last."""
    lines = [line for one in proof.nodes for line in _lines(one, proof)]
    proven = sum(one.cell.answer == "proven" for one in proof.nodes)
    patch, parent = proof.patch.commit[:_SHORT], proof.parent.commit[:_SHORT]
    lines.append(f"{proven} of {len(proof.nodes)} proven: patch {patch}, parent {parent}, {proof.repeat} times each")
    return "".join(f"{one_line(line)}\n" for line in lines)


def _lines(one: NodeProof, proof: Proof) -> Iterator[str]:
    cell = one.cell
    word = cell.answer.replace("_", " ")
    if cell.direction is not None:
        yield f"{one.node}: {word}: it {_DIRECTIONS[cell.direction]}"
    else:
        yield f"{one.node}: {word}: {cell.reason or ANSWERS[cell.answer]}"
    if cell.answer == "inverted":
        yield f"  asked for: {proof.expect}"
    for side, name in ((one.patch, "patch"), (one.parent, "parent")):
        if side.shown == "fails":
            yield f"  on the {name}: {side.message}"
            if side.counterexample:
                yield f"  counterexample: {' '.join(side.counterexample.split())}"
    if cell.answer == "proven" and _failing(one).reproduce:
        yield "  the counterexample passes on the other side"
    if one.reach.lines:
        more = f" and {len(one.reach.lines) - 3} more" if len(one.reach.lines) > 3 else ""
        yield f"  changed lines that it runs: {', '.join(one.reach.lines[:3])}{more}"
    if one.origin == "working-tree":
        yield f"  {one.path} is in no commit yet: this proof counts for no patch"


def _failing(one: NodeProof) -> Side:
    return one.patch if one.patch.shown == "fails" else one.parent
