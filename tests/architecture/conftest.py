"""The sources as the architecture tests see them: parsed, never imported."""

from __future__ import annotations

import ast
import runpy
import subprocess
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).parents[2]


class Source(NamedTuple):
    """One module of the package: dotted name, path from the root, text and tree."""

    name: str
    path: str
    text: str
    tree: ast.Module

    def is_in(self, room: str) -> bool:
        return self.name == room or self.name.startswith(f"{room}.")

    def imported(self) -> list[tuple[int, str]]:
        """Return (line, dotted name) of each import; of `from a import b` it is `a.b`."""
        found: list[tuple[int, str]] = []
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                found += [(node.lineno, alias.name) for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                origin = self._origin(node)
                found += [(node.lineno, f"{origin}.{alias.name}") for alias in node.names]
        return found

    def _origin(self, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        package = self.name if self.path.endswith("__init__.py") else self.name.rpartition(".")[0]
        for _ in range(node.level - 1):
            package = package.rpartition(".")[0]
        return f"{package}.{node.module}" if node.module else package


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def sources() -> list[Source]:
    found = []
    for path in sorted((ROOT / "src" / "admit").rglob("*.py")):
        name = ".".join(path.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__init__")
        text = path.read_text("utf-8")
        found.append(Source(name, str(path.relative_to(ROOT)), text, ast.parse(text)))
    assert found, "no sources: the checks below would pass by looking at nothing"
    return found


@pytest.fixture(scope="session")
def boundary() -> dict[str, Any]:
    return runpy.run_path(str(Path(__file__).with_name("boundary.py")))


@pytest.fixture(scope="session")
def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


@pytest.fixture(scope="session")
def tracked() -> list[Path]:
    """Every file under version control; in an unpacked source archive, every file but hidden and generated ones."""
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listing.returncode == 0 and listing.stdout:
        found = [ROOT / name for name in listing.stdout.decode().split("\0") if name]
    else:
        parts = (path.relative_to(ROOT) for path in ROOT.rglob("*"))
        found = [ROOT / p for p in parts if not any(s.startswith(".") or s == "__pycache__" for s in p.parts)]
    return [path for path in found if path.is_file() and not path.is_symlink()]
