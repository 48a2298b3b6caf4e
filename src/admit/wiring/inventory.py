"""What the base collects, kept by its tree, so that it is collected once (contract T2; boundary: files)."""

from __future__ import annotations

import json
import os
import sys
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

from admit.core.records import Examples

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from admit.wiring.space import Workspace

SCHEMA = "admit.inventory/1"


class Inventory(NamedTuple):
    """The nodes of a base with the gate that each is of, and the inputs that a property had, where that is known."""

    nodes: Mapping[str, str]
    seen: Mapping[str, Examples]


def inventory_path(space: Workspace, top: Path, base: str, command: tuple[str, ...]) -> Path:
    """Return where the inventory of a base is kept: another tree, command, Python or version collects something else.

    Raises:
        InputError: there is no such commit.
    """
    from importlib.metadata import PackageNotFoundError, version

    from admit.repository.process import demand

    tree = demand(top, "rev-parse", f"{base}^{{tree}}").decode("ascii").strip()
    versions = []
    for name in space.settings.words("lock.versions"):
        try:
            versions.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            versions.append(name)
    settings = [space.settings.words(key) for key in ("gates.property_markers", "gates.property_paths")]
    told = json.dumps([SCHEMA, tree, command, sys.version, versions, settings, os.fspath(space.root)])
    return space.root / ".admit" / "inventory" / f"{sha256(told.encode()).hexdigest()}.json"


def read_inventory(path: Path) -> Inventory | None:
    """Return what is kept there, None where nothing is or it is not whole: then the base is collected again."""
    try:
        keys = json.loads(path.read_bytes())
        return _inventory(keys)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def _inventory(keys: Any) -> Inventory | None:
    nodes = {str(node): str(gate) for node, gate in keys["nodes"].items()}
    seen = {str(node): Examples(*map(int, counts)) for node, counts in keys["seen"].items()}
    digest = keys["digest"]
    return Inventory(nodes, seen) if keys["schema"] == SCHEMA and nodes and digest == _digest(nodes, seen) else None


def keep_inventory(path: Path, inventory: Inventory) -> None:
    """Keep an inventory; where it cannot be written, the base is collected again the next time."""
    nodes, seen = dict(inventory.nodes), {node: list(counts) for node, counts in inventory.seen.items()}
    keys = {"schema": SCHEMA, "digest": _digest(inventory.nodes, inventory.seen), "nodes": nodes, "seen": seen}
    part = path.with_suffix(".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(json.dumps(keys), encoding="utf-8")
        part.replace(path)
    except (OSError, ValueError):
        return


def _digest(nodes: Mapping[str, str], seen: Mapping[str, Examples]) -> str:
    text = json.dumps([sorted(nodes.items()), sorted((node, *counts) for node, counts in seen.items())])
    return sha256(text.encode()).hexdigest()


def state_of(folder: Path, *, but: frozenset[str]) -> dict[str, tuple[int, int, int]]:
    """Return what tells that a file under admit's own folder was written: size, time of change, place.

    Args:
        folder: `.admit`.
        but: names of files that others may write meanwhile: the ledger's.
    """
    found: dict[str, tuple[int, int, int]] = {}
    for path in sorted(folder.rglob("*")):
        try:
            seen = path.lstat()
        except OSError:
            continue
        if not path.is_dir() and not any(path.name.startswith(name) for name in but):
            found[os.fspath(path.relative_to(folder))] = (seen.st_size, seen.st_ctime_ns, seen.st_ino)
    return found
