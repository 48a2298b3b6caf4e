"""`admit explain`: which decision it reads, and what it says where there is none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from admit.cli import main

NODE = "a.py::test_x"


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in a folder of a workspace, below its root."""
    (tmp_path / "admit.toml").write_text("")
    (tmp_path / "src").mkdir()
    monkeypatch.chdir(tmp_path / "src")
    return tmp_path


def test_without_an_argument_the_last_decision_is_explained(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["decide"])
    decided = capsys.readouterr().out
    assert (main(["explain"]), capsys.readouterr().out) == (0, decided)
    assert (root / ".admit" / "decision.json").is_file()
    assert json.loads((root / ".admit" / "decision.json").read_bytes())["schema"].startswith("admit.decision/")


def test_without_a_decision_it_says_how_to_get_one(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain"]) == 65
    said = "no decision yet; run `admit run` or `admit decide` first, or name a decision.json"
    assert capsys.readouterr().err == f"admit: {root}/.admit/decision.json: {said}\n"


def test_a_node_in_the_decisions_place_is_answered_with_the_order_of_both(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", NODE]) == 65
    assert f"name a decision.json first: admit explain DECISION {NODE}\n" in capsys.readouterr().err
