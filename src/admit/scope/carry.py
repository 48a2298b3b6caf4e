"""A map brought along to a later commit: what need not run again, with its lines moved as the patch moved them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from admit.scope.columns import columns_of
from admit.scope.hunks import shifted
from admit.scope.map import NodeReach, numbers
from admit.scope.reach import answers

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from admit.scope.effects import Diff
    from admit.scope.map import ScopeMap


class Carried(NamedTuple):
    """What a map still knows at the end of a patch.

    `nodes` are those that the patch does not reach; `again` those that it may, and that have to run. `outside` is what
    the old run reached outside of nodes: the new run, which collects only a part, adds to it.
    """

    nodes: Mapping[str, NodeReach]
    again: frozenset[str]
    outside: NodeReach


def carried(old: ScopeMap, diff: Diff, paths: Iterable[str]) -> Carried:
    """Return what of a map holds after a patch.

    Args:
        old: the map of the patch's base.
        diff: the patch.
        paths: every Python file of the patch's end, which new numbers are given to.
    """
    found = answers(diff, columns_of(old))
    moving = _Moving(old, diff, paths)
    stays = {
        node: moving.moved(old.nodes[node])
        for number, node in enumerate(found.nodes)
        if not found.at(number).is_in_scope
    }
    return Carried(stays, frozenset(old.nodes.keys() - stays.keys()), moving.moved(old.outside))


class _Moving:
    """Where the lines of each file went."""

    def __init__(self, old: ScopeMap, diff: Diff, paths: Iterable[str]) -> None:
        at, edits = numbers(paths), {edit.path: edit for edit in diff.edits}
        self._files = {
            file: (at[path], edits[path].hunks if path in edits else ())
            for path, file in numbers(old.files).items()
            if path in at
        }

    def moved(self, reach: NodeReach) -> NodeReach:
        """Return what was reached, in the files and lines of the patch's end."""
        lines = {}
        for file, bits in reach.lines.items():
            if file in self._files:
                to, hunks = self._files[file]
                if now := shifted(bits, hunks):
                    lines[to] = now
        return reach._replace(lines=lines)
