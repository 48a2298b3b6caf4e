from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any, NamedTuple

import pytest

from admit.core.context import RunContext, Trial, TrialPart
from admit.core.records import Document, NodeRecord
from admit.evidence.adopt import adopter, has_finished
from admit.evidence.context import write_context
from admit.evidence.read import read_document
from admit.evidence.record import node_record
from admit.pytest_plugin.documents import GATES
from admit.trust import canaries
from admit.trust.channel import Channel, Terms

PROFILE = {"max_examples": 25, "deadline": None, "derandomize": False, "print_blob": True, "database": None}


def a_context(**changes: Any) -> RunContext:
    """Return a run context as a launcher writes it, with some fields changed."""
    plain = RunContext(
        patch_id="pr-7",
        head="a" * 40,
        base="b" * 40,
        dirty=False,
        run_id="run",
        nonce="n0nce",
        lane="default",
        shard=1,
        shards=1,
        attempt=1,
        property_markers=(),
        property_paths=(),
        lock="match",
        locked=(),
        fixture_manifest="sha256:" + "c" * 64,
        seed=0,
        profile=PROFILE,
        frozen={},
        register=(),
        launched=False,
    )
    return plain._replace(**changes)


class Session(NamedTuple):
    """What one pytest process left behind."""

    exit_code: int
    stdout: str
    stderr: str
    folder: Path

    def paths(self, gate: str) -> list[Path]:
        return sorted(self.folder.glob(f"{gate}.*.jsonl"))

    def lines(self, gate: str) -> list[dict[str, Any]]:
        """Return the raw records of a gate's only document."""
        (path,) = self.paths(gate)
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

    def every(self, gate: str, node: str) -> list[dict[str, Any]]:
        return [line for line in self.lines(gate) if line["record"] == "node" and line["node"] == node]

    def node(self, gate: str, node: str) -> dict[str, Any]:
        """Return the only record of a node, the check under the key `check`."""
        found = self.every(gate, node)
        assert len(found) == 1, f"{len(found)} records of {node}: {self.stdout}\n{self.stderr}"
        return found[0] | {"check": found[0][gate]}

    def verdict(self, gate: str, node: str) -> tuple[str, str | None, str]:
        record = self.node(gate, node)
        return record["check"], record.get("why"), record.get("message", "")

    def names(self, gate: str) -> list[str]:
        return [line["node"] for line in self.lines(gate) if line["record"] == "node"]

    def planned(self, gate: str) -> list[str]:
        return [node for line in self.lines(gate) if line["record"] == "plan" for node in line["nodes"]]

    def ended(self, gate: str = "fixture_check") -> str | None:
        """Return what the document's end mark says, None where it has none."""
        return next((line["ended"] for line in self.lines(gate) if line["record"] == "finish"), None)

    def document(self, gate: str) -> Document:
        (path,) = self.paths(gate)
        return read_document(path)


class Project:
    """A small project in a folder of its own, whose tests real pytest processes run with the plugin."""

    def __init__(self, root: Path) -> None:
        self.root = root / "project"
        self.root.mkdir()
        self.folder = root / "evidence"
        self.folder.mkdir()
        self.write("pytest.ini", "[pytest]\n")

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text), encoding="utf-8")

    def command(self, *args: str, plugins: tuple[str, ...] = ()) -> list[str]:
        named = [part for plugin in ("admit", *plugins) for part in ("-p", plugin)]
        return [sys.executable, "-m", "pytest", *named, "-p", "no:cacheprovider", f"--admit={self.folder}", *args]

    def environment(self, **changes: str) -> dict[str, str]:
        # the run that tests the plugin may itself be recorded, run under xdist, or on a CI machine
        foreign = ("PYTEST_", "ADMIT_", "HYPOTHESIS_", "COV_")
        env = {key: value for key, value in os.environ.items() if not key.startswith(foreign) and key != "CI"}
        return env | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONDONTWRITEBYTECODE": "1", **changes}

    def run(
        self,
        *args: str,
        plugins: tuple[str, ...] = (),
        context: RunContext | None = None,
        env: dict[str, str] | None = None,
    ) -> Session:
        """Run pytest once; `context` is what a launcher wrote."""
        return self.run_command(self.command(*args, plugins=plugins), context=context, env=env)

    def run_command(
        self, command: list[str], *, context: RunContext | None = None, env: dict[str, str] | None = None
    ) -> Session:
        """Run a whole command once; `context` is what a launcher wrote."""
        write_context(self.folder / "context.json", context or a_context())
        done = subprocess.run(
            command,
            cwd=self.root,
            env=self.environment(**(env or {})),
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=120,
            check=False,
        )
        return Session(done.returncode, done.stdout, done.stderr, self.folder)


class Tried(NamedTuple):
    """What a parent received of one part of a run on a base."""

    session: Session
    channel: Channel

    @property
    def problems(self) -> tuple[str, ...]:
        return self.channel.problems

    def lines(self, gate: str) -> list[dict[str, Any]]:
        """Return the raw records of a gate, of all sessions."""
        paths = [Path(path) for paths in self.channel.sessions for path in paths if f"/{gate}." in path]
        return [json.loads(line) for path in paths for line in path.read_text("utf-8").splitlines()]

    def planned(self, *gates: str) -> list[str]:
        gates = gates or ("property_check", "fixture_check")
        plans = [line for gate in gates for line in self.lines(gate) if line["record"] == "plan"]
        return [node for line in plans for node in line["nodes"]]

    def records(self) -> dict[str, NodeRecord]:
        """Return the node records of both gates."""
        return {
            line["node"]: node_record({k: v for k, v in line.items() if k != "record"}, gate, gate=gate)
            for gate in ("property_check", "fixture_check")
            for line in self.lines(gate)
            if line["record"] == "node"
        }

    def verdicts(self) -> dict[str, tuple[str, str | None]]:
        """Return check and why of every node that is not planted."""
        return {n: (r.check, r.why) for n, r in self.records().items() if not canaries.is_planted(WORD, n)}

    def wrong(self) -> str:
        return canaries.wrong(WORD, self.records())

    def ended(self) -> list[str]:
        return [line["ended"] for line in self.lines("fixture_check") if line["record"] == "finish"]


WORD = "5eed"


class Parent:
    """Plays the parent of a run on a base: a channel, a context, a child process."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.runs = 0

    def run(
        self,
        part: TrialPart,
        *args: str,
        command: list[str] | None = None,
        plugins: tuple[str, ...] = (),
        env: dict[str, str] | None = None,
        **trial: Any,
    ) -> Tried:
        """Run one part; `trial` holds fields of `Trial`."""
        project = self.project
        context = a_context(launched=True)
        terms = Terms(GATES, adopter(context, nonce="secret"), has_finished, 10_000_000)
        self.runs += 1
        with Channel(project.root.parent / f"kept-{self.runs}", context.run_id, terms) as channel:
            told = Trial(part, "b" * 40, str(project.root), channel=channel.path)._replace(**trial)
            session = project.run_command(
                command or project.command(*args, plugins=plugins), context=context._replace(trial=told), env=env
            )
        return Tried(session, channel)


@pytest.fixture
def parent(project: Project) -> Parent:
    return Parent(project)


@pytest.fixture(scope="session")
def new_project(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Project]:
    """Return a maker of projects, for modules that play many situations in one run."""
    return lambda: Project(tmp_path_factory.mktemp("plugin"))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


@pytest.fixture(scope="session")
def context() -> Callable[..., RunContext]:
    return a_context
