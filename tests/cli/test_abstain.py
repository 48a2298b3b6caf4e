"""`admit abstain write` where there is nothing to write."""

from __future__ import annotations

from pathlib import Path

import pytest

from admit.cli import main
from admit.core.records import NodeRecord, Opening
from admit.evidence.write import DocumentWriter, close_document

SKIPPED = NodeRecord("a.py::test_x", "not_run", "match", "stable", why="skip", message="no GPU")


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in a workspace."""
    (tmp_path / "admit.toml").write_text("")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def left(*records: NodeRecord) -> None:
    """Leave the evidence of a run that finished."""
    Path("e").mkdir()
    path = Path("e/fixture_check.run.jsonl")
    opening = Opening("fixture_check", "pr-7", "c" * 40, None, "pytest", "9", "run", "n")
    writer = DocumentWriter(path, opening)
    for record in records:
        writer.node(record)
    writer.finish(exit_code=5, ended="finished")
    writer.release()
    close_document(path, ended="finished", exit_code=5, signal=None, closed_by="launcher")


@pytest.mark.parametrize(
    ("folder", "said"),
    [
        pytest.param("nowhere", "nowhere: no such folder; run `admit run` first, or leave --evidence out", id="absent"),
        pytest.param("empty", "empty: no evidence here; run `admit run` first, or leave --evidence out", id="empty"),
        pytest.param("e", "e: the run found no tests, so there is nothing to declare", id="no tests"),
    ],
)
def test_nothing_to_read_is_said_and_the_file_stays(folder: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    left()
    Path("empty").mkdir()
    assert main(["abstain", "write", "--evidence", folder]) == 65
    assert said in capsys.readouterr().err
    assert not Path("admit.abstentions.toml").exists()


def test_what_a_run_shows_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    left(SKIPPED)
    assert main(["abstain", "write", "--evidence", "e"]) == 0
    assert 'node = "a.py::test_x"' in Path("admit.abstentions.toml").read_text()
    assert capsys.readouterr().out.startswith("added a.py::test_x\n")
