from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any, NamedTuple

import pytest

from admit.scope.map import lines_of

DRIVER = Path(__file__).with_name("drive_tracer.py")

TRACERS = [
    pytest.param(
        "monitoring",
        marks=pytest.mark.skipif(not hasattr(sys, "monitoring"), reason="sys.monitoring is new in Python 3.12"),
    ),
    pytest.param(
        "coverage",
        marks=pytest.mark.skipif(importlib.util.find_spec("coverage") is None, reason="coverage.py is not installed"),
    ),
]


class Owner(NamedTuple):
    """What was attributed to one step."""

    lines: dict[str, list[int]]
    opened: list[str]
    listed: list[str]
    spawned: str
    alive: bool
    trouble: str


class Steps:
    """A small tree and the steps that a process runs in it, each an owner of its own."""

    def __init__(self, root: Path, tracer: str) -> None:
        self.root, self.tracer = root, tracer
        self.tree = root / "tree"
        self.tree.mkdir()
        self.files: list[str] | None = None

    def write(self, name: str, text: str) -> None:
        path = self.tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text).lstrip("\n"), encoding="utf-8")

    def run(self, *steps: str, tracer: str = "", tree: Path | None = None, before: str = "") -> dict[str, Owner]:
        """Run steps (Python text) in one process; `step-1` is the first one's owner."""
        files = self.files or [path.relative_to(self.tree).as_posix() for path in self.tree.rglob("*.py")]
        told = {
            "tracer": tracer or self.tracer,
            "tree": str(tree or self.tree),
            "files": files,
            "before": before,
            "steps": [dedent(step) for step in steps],
            "out": str(self.root / "out.json"),
        }
        done = subprocess.run(
            [sys.executable, str(DRIVER)],
            input=json.dumps(told),
            cwd=tree or self.tree,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        found: dict[str, dict[str, Any]] = json.loads((self.root / "out.json").read_text("utf-8"))
        return {
            name: Owner(
                {path: list(lines_of(int(bits, 16))) for path, bits in keys.pop("lines").items()},
                **keys,
            )
            for name, keys in found.items()
        }


@pytest.fixture(params=TRACERS)
def steps(tmp_path: Path, request: pytest.FixtureRequest) -> Steps:
    return Steps(tmp_path, request.param)


@pytest.fixture
def steps_of(tmp_path: Path) -> Callable[[str], Steps]:
    return lambda tracer: Steps(tmp_path, tracer)
