"""`admit decide`: a freeze that reaches nothing is said aloud (contract F2)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from admit.cli import main
from admit.core.records import NodeRecord, Opening
from admit.evidence.write import DocumentWriter, close_document

if TYPE_CHECKING:
    from admit.core.signals import Ended

NOW = "2026-11-30T12:00:00Z"
GATES = ("property_check", "fixture_check", "flaky_freeze")
SAID = "a.py::test_old is frozen, and no test of this name ran: if it was renamed or deleted, thaw it"


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in a workspace with one freeze in force and one that has expired."""
    (tmp_path / "admit.toml").write_text("")
    entries = [("a.py::test_old", "2026-12-20T00:00:00Z"), ("a.py::test_over", "2026-11-29T00:00:00Z")]
    (tmp_path / "admit.freezes.toml").write_text(
        "".join(f'[[freeze]]\nnode = "{node}"\nreason = "r"\nowner = "o"\nexpires = {end}\n' for node, end in entries)
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


def left(*nodes: str, ended: Ended | None = "finished", shards: int = 1, gates: tuple[str, ...] = GATES) -> None:
    """Leave the evidence of a run; `ended` None is one that died."""
    folder = Path(".admit/evidence")
    folder.mkdir(parents=True, exist_ok=True)
    for gate in gates:
        opening = Opening(gate, "pr-7", "c" * 40, None, "pytest", "9", "run", "n")._replace(shards=shards)
        path = folder / f"{gate}.run.jsonl"
        writer = DocumentWriter(path, opening)
        for node in () if gate == "flaky_freeze" else nodes:
            writer.node(NodeRecord(node, "pass", "match", "stable"))
        writer.finish(exit_code=0, ended="finished")
        writer.release()
        if ended:
            close_document(path, ended=ended, exit_code=0, signal=None, closed_by="launcher")


def notes(capsys: pytest.CaptureFixture[str]) -> list[str]:
    assert main(["decide", "--now", NOW, "--format", "json"]) == 2
    return [note for note in json.loads(capsys.readouterr().out)["notes"] if "no test of this name" in note]


def test_a_freeze_in_force_that_no_node_of_a_whole_run_has_is_said_aloud(capsys: pytest.CaptureFixture[str]) -> None:
    left("a.py::test_x")
    assert notes(capsys) == [SAID]


@pytest.mark.parametrize("node", ["a.py::test_old", "a.py::test_old[case]"])
def test_a_freeze_that_reaches_a_node_is_not(node: str, capsys: pytest.CaptureFixture[str]) -> None:
    left("a.py::test_x", node)
    assert notes(capsys) == []


@pytest.mark.parametrize(
    "run",
    [
        pytest.param({"ended": None}, id="died"),
        pytest.param({"ended": "timeout"}, id="timeout"),
        pytest.param({"shards": 2}, id="one shard of two"),
    ],
)
def test_where_the_run_was_not_whole_nobody_knows(run: dict[str, object], capsys: pytest.CaptureFixture[str]) -> None:
    left("a.py::test_x", **run)
    assert notes(capsys) == []


def test_where_nothing_ran_nobody_knows(capsys: pytest.CaptureFixture[str]) -> None:
    assert notes(capsys) == []
    left()
    assert notes(capsys) == []


def test_one_gate_that_died_keeps_it_unsaid(capsys: pytest.CaptureFixture[str]) -> None:
    left("a.py::test_x", gates=("fixture_check", "flaky_freeze"))
    left("a.py::test_y", ended=None, gates=("property_check",))
    assert notes(capsys) == []
