"""The rooms in the docs, in the import contract and in the folder are the same rooms."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any


def documented(root: Path) -> list[set[str]]:
    """Return the rooms of each line of the table in the architecture page, top first."""
    page = (root / "docs" / "explanation" / "architecture.md").read_text("utf-8")
    table = page.partition("## Rooms")[2].partition("\n- ")[0]
    rows = [row.split("|")[2] for row in table.splitlines() if row.startswith("|")][2:]
    return [set(re.findall(r"`(\w+)`", row)) for row in rows]


def contracted(project: dict[str, Any]) -> list[set[str]]:
    """Return the rooms of each layer of the import contract, top first."""
    (contract,) = (c for c in project["tool"]["importlinter"]["contracts"] if c["id"] == "rooms")
    assert contract["exhaustive"] is True
    layers = [set(re.findall(r"\w+", layer)) for layer in contract["layers"]]
    assert layers[0] == {"__main__"}, "`python -m admit` calls an edge and is no room"
    return layers[1:]


def test_the_contract_enforces_the_page(root: Path, project: dict[str, Any]) -> None:
    assert contracted(project) == documented(root)


def test_each_folder_is_a_room(root: Path, project: dict[str, Any]) -> None:
    """A folder without `__init__.py` is invisible to the import contract, so it is looked for here."""
    rooms = set().union(*contracted(project))
    found = {
        path.stem for path in (root / "src" / "admit").iterdir() if path.suffix == ".py" or any(path.glob("**/*.py"))
    }
    assert found - rooms <= {"__init__", "__main__"}


def test_each_folder_of_sources_is_a_package(root: Path) -> None:
    folders = {path.parent for path in (root / "src" / "admit").rglob("*.py")}
    assert [str(folder.relative_to(root)) for folder in folders if not (folder / "__init__.py").is_file()] == []
