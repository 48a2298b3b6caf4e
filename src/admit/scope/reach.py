"""The question: which nodes a patch reaches, and why (contract S1, S2). Whatever is not known is in scope."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from admit.scope.columns import OUTSIDE
from admit.scope.effects import effects_of
from admit.scope.reasons import Reach, Reason

if TYPE_CHECKING:
    from collections.abc import Mapping

    from admit.scope.columns import Columns
    from admit.scope.effects import Diff, Effects


class NoMap(NamedTuple):
    """There is no map that can be used, and why."""

    why: str


class Answers(NamedTuple):
    """Each node's answer: `by_number` those that have one of their own, `rest` that of all others of the map."""

    nodes: tuple[str, ...]
    by_number: Mapping[int, Reach]
    rest: Reach
    unlisted: Reach

    def at(self, number: int) -> Reach:
        """Return the answer of the node at a place in `nodes`."""
        return self.by_number.get(number, self.rest)

    def of(self, node: str) -> Reach:
        """Return a node's answer; one that the map does not have is in scope."""
        from bisect import bisect_left

        number = bisect_left(self.nodes, node)
        if number < len(self.nodes) and self.nodes[number] == node:
            return self.at(number)
        return self.unlisted


def answers(diff: Diff, columns: Columns | NoMap) -> Answers:
    """Return what each node of a map reaches of a patch."""
    if isinstance(columns, NoMap):
        none = Reach(Reason("no_map", text=columns.why))
        return Answers((), {}, none, none)
    if diff.base != columns.base:
        other = Reach(Reason("other_base", text=f"{columns.base[:12]}, and the patch's is {diff.base[:12]}"))
        return Answers(columns.nodes, {}, other, other)
    effects = effects_of(diff, columns)
    if seen := _seen(OUTSIDE, effects, columns):
        effects.all_see(seen._replace(kind="outside", text=""))
    rest = Reach(effects.everyone or _unknown(effects, columns) or Reason("apart" if diff.edits else "no_change"))
    own: dict[int, Reach] = {}
    if not rest.is_in_scope:
        own = {number: Reach(Reason("blind")) for number in columns.blind}
        own |= {number: Reach(Reason("spawned", text=what)) for number, what in columns.spawned.items()}
    own |= {number: Reach(reason) for number, reason in _covering(effects, columns).items()}
    own.pop(OUTSIDE, None)
    return Answers(columns.nodes, own, rest, Reach(Reason("new_node")))


def reach_of(node: str, diff: Diff, columns: Columns | NoMap) -> Reach:
    """Return what one node reaches of a patch."""
    return answers(diff, columns).of(node)


def _unknown(effects: Effects, columns: Columns) -> Reason | None:
    """Return what keeps anybody from knowing that some node does not cover the patch."""
    if not columns.complete:
        return Reason("incomplete")
    if OUTSIDE in columns.blind:
        return Reason("blind_run", text="tracing was not alive")
    if OUTSIDE in columns.spawned:
        return Reason("blind_run", text=columns.spawned[OUTSIDE])
    return effects.unknown


def _seen(number: int, effects: Effects, columns: Columns) -> Reason | None:
    """Return what of a patch's data one number reached; lines that ran outside of nodes are among the effects."""
    # an import opens its own source: only nodes are taken to read one as text
    data = (
        one
        for path, one in effects.opened.items()
        if number in columns.opened.get(path, ()) and path not in columns.files
    )
    folders = (one for path, one in effects.listed.items() if number in columns.listed.get(path, ()))
    return next(data, None) or next(folders, None)


def _covering(effects: Effects, columns: Columns) -> dict[int, Reason]:
    """Return the nodes that reached something of a patch, each with the first that it did."""
    found: dict[int, Reason] = {}
    for held, reached in (
        (effects.listed, columns.listed),
        (effects.opened, columns.opened),
        (effects.own, columns.own),
    ):
        for path, reason in held.items():
            found.update(dict.fromkeys(reached.get(path, ()), reason))
    for path, touched in effects.lines.items():
        for number, bits in columns.files[path].hits.items():
            for one in touched:
                if bits & one.bits:
                    found[number] = one.reason
                    break
    return found
