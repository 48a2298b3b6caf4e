"""The evidence that the base's own run left, as an inventory for any runner (contract T2; boundary: files)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from admit.repository import tracked
from admit.trust.inventory import Inventory, Leave, inventory_of
from admit.wiring.judging import read_folder, signed
from admit.wiring.patch import declared_renames

if TYPE_CHECKING:
    from admit.policy import Policy
    from admit.trust.approvals import Approved
    from admit.wiring.base import Based
    from admit.wiring.judging import Asked
    from admit.wiring.space import Workspace


def inventory_folder(space: Workspace, named: Path | None) -> Path | None:
    """Return where the base's evidence lies: as named, else as configured; None where neither says."""
    if named is not None:
        return named
    return space.path("trust.inventory") if space.settings.text("trust.inventory") else None


def kept_inventory(patch: Based, folder: Path, router: Policy) -> Inventory:
    """Return what the base's evidence in a folder names; what is wrong with it is its `problem`, never left out.

    Args:
        patch: the patch, whose base the evidence has to be of.
        folder: what was kept.
        router: the policy on patches; where it asks for signatures, it asks them of this evidence too (contract T5).
    """
    documents, problems = read_folder(patch.space, folder)
    documents, unsigned = signed(documents, router)
    wrong = [*_not_apart(patch, folder), *problems, *unsigned]
    found = Inventory(patch.base, {}, problem=wrong[0]) if wrong else inventory_of(documents, patch.base)
    said = f"what {folder} holds of the base is no inventory: {found.problem}"
    return found._replace(problem=said) if found.problem else found


def with_inventory(asked: Asked, inventory: Inventory, patch: Based, approved: Approved) -> Asked:
    """Return what is asked with the base's evidence in it; evidence that is no inventory holds (contract T2)."""
    if inventory.problem:
        return asked._replace(inadmissible={**asked.inadmissible, "no-inventory": inventory.problem})
    leave = Leave(dict(declared_renames(patch)), _let_go(patch, inventory, approved))
    return asked._replace(inventory=inventory, leave=leave)


def _let_go(patch: Based, inventory: Inventory, approved: Approved) -> frozenset[str]:
    """Return the nodes that may be gone: a reviewer approved what the patch does to the file that they begin with."""
    if not approved.approvals:
        return frozenset()
    changes = {change.path: change for change in patch.changes}
    found = (
        (node, changes.get(patch.in_top(node.partition("::")[0]))) for of in inventory.nodes.values() for node in of
    )
    return frozenset(node for node, change in found if change is not None and approved.allows_node(node, change))


def _not_apart(patch: Based, folder: Path) -> list[str]:
    """Return why the patch itself may have written what lies there."""
    if not folder.is_dir():
        return [f"{folder} is no folder"]
    top, path = patch.top.resolve(), Path(os.path.abspath(folder))
    places = [path.resolve(), path, *(place for place in path.parents if place.is_symlink())]
    inside = [place.relative_to(top).as_posix() for place in places if place.is_relative_to(top)]
    held = [name for place in inside for name in tracked(top, place)]
    return [f"the commit holds {name}, and the patch would say itself what it may lose" for name in held[:1]]
