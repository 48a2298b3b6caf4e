"""From what two sides left to an answer for each test that a name means (contract P1, P2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from admit.prove.cells import cell_of
from admit.prove.nodes import named
from admit.prove.record import NodeProof, Reach
from admit.prove.seen import is_file, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from admit.prove.cells import Expect
    from admit.prove.nodes import Named
    from admit.prove.record import Origin
    from admit.prove.seen import Opened, Seen


class Changed(NamedTuple):
    """The lines inside of functions that differ, a bit for each, by file: as the patch has them, and the parent."""

    patch: dict[str, int]
    parent: dict[str, int]


class Asked(NamedTuple):
    """What was asked for: the direction, how often, and which files' tests; `changed` is None where nobody can tell."""

    expect: Expect
    repeat: int
    tests: frozenset[str]
    changed: Changed | None = None


class Meant(NamedTuple):
    """Tests by name, and the bytes of their file."""

    named: Named
    blob: str
    origin: Origin


def answers(file: Meant, patch: Seen, parent: Seen, *, asked: Asked, is_product: Mapping[str, bool]) -> list[NodeProof]:
    """Return the answer for each test that a name means; one for the name itself where it means none.

    Args:
        file: the name.
        patch: what the patch's side left.
        parent: what the parent's side left.
        asked: what was asked for.
        is_product: for every path that was opened or that opened one, whether it is part of what is measured.
    """
    found = []
    for node in nodes_of(file.named, patch, parent) or [file.named.text]:
        sides = [shown(seen, node, path=file.named.path, repeat=asked.repeat) for seen in (patch, parent)]
        opened = {one for seen in (patch, parent) for one in seen.opened.get(node, ())}
        reach = reach_of(asked.changed, patch.ran.get(node), parent.ran.get(node))
        vacuous = text_read(opened, file.named.path, is_product=is_product, tests=asked.tests)
        cell = cell_of(sides[0], sides[1], expect=asked.expect, vacuous=vacuous, reaches=reach.answer)
        found.append(NodeProof(node, file.named.path, file.blob, file.origin, sides[0], sides[1], cell, vacuous, reach))
    return found


def reach_of(changed: Changed | None, patch: Mapping[str, int] | None, parent: Mapping[str, int] | None) -> Reach:
    """Return which changed lines a test ran, on either side; not known unless both sides were traced."""
    if changed is None or patch is None or parent is None:
        return Reach()
    return Reach(True, (*_ran(changed.patch, patch, "+"), *_ran(changed.parent, parent, "-")))


def _ran(changed: Mapping[str, int], ran: Mapping[str, int], sign: str) -> list[str]:
    return [
        f"{sign}{path}:{line}"
        for path, bits in sorted(changed.items())
        for line in range(bits.bit_length())
        if bits & ran.get(path, 0) & (1 << line)
    ]


def nodes_of(named_by: Named, *sides: Seen) -> list[str]:
    """Return the tests that a name means, on any side; pytest may count paths from a folder below."""
    found: dict[str, None] = {}
    for seen in sides:
        for node in seen.runs:
            one = named(node)
            if is_file(named_by.path, one.path) and named_by.covers(named_by.path, one.rest):
                found[node] = None
    return sorted(found)


def text_read(found: Iterable[Opened], path: str, *, is_product: Mapping[str, bool], tests: frozenset[str]) -> str:
    """Return how a test reads sources as text, empty where it does not.

    Args:
        found: what was read while it ran, and while its file was collected.
        path: the test's file.
        is_product: whether a path is part of what is measured.
        tests: the files of all tests of the proof; what another one reads is not this one's.
    """
    for one in sorted(found):
        is_mine = one.reader == path or (one.reader not in tests and not is_product[one.reader])
        if is_mine and one.path not in tests and is_product[one.path]:
            return f"it reads {one.path} as text (in {one.reader})"
    return ""
