"""`admit collect`: reports in, a sealed document out; nothing sealed where a report is missing (contract E3, E8)."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from admit.cli import main
from admit.core.fold import fold
from admit.core.records import check_of
from admit.evidence.read import read_document

GREEN = '<testsuite name="s" tests="2"><testcase classname="c" name="a"/><testcase classname="c" name="b"/></testsuite>'
FAILED = '<testcase name="b"><failure message="no"/></testcase>'
RED = f'<testsuite name="s" tests="2" failures="1"><testcase name="a"/>{FAILED}</testsuite>'


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "init.defaultBranch=main"]
    subprocess.run([*git, "init", "-q", "."], cwd=tmp_path, check=True)
    (tmp_path / ".gitignore").write_text(".admit/\nbuild/\n")
    subprocess.run([*git, "add", "."], cwd=tmp_path, check=True)
    subprocess.run([*git, "commit", "-q", "-m", "first"], cwd=tmp_path, check=True)
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "green.xml").write_text(GREEN)
    (tmp_path / "build" / "red.xml").write_text(RED)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def collect(*words: str) -> int:
    return main(["collect", "junit", *words, "--gate", "fixture_check", "--out", "evidence"])


def documents(gate: str = "fixture_check"):
    return [read_document(path) for path in sorted(Path("evidence").glob(f"{gate}.*.jsonl"))]


def test_a_report_becomes_a_sealed_document(repository: Path, capsys) -> None:
    assert collect("build/red.xml", "--exit-code", "1", "--patch", "pr-7", "--attempt", "2", "--shard", "1/3") == 0
    (document,) = documents()
    head = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
    opening, closing = document.opening, document.closing
    assert (opening.gate, opening.patch_id, opening.head, opening.base) == ("fixture_check", "pr-7", head, None)
    assert (opening.attempt, opening.shard, opening.shards, opening.dirty) == (2, 1, 3, False)
    assert {node: check_of(code) for node, code in document.codes.items()} == {"s::a": "pass", "s::b": "fail"}
    assert (closing.ended, closing.exit_code, closing.signal, closing.closed_by) == ("finished", 1, None, "collector")
    assert closing.node_count == 2
    printed = capsys.readouterr()
    assert re.fullmatch(
        r"fixture_check: 1 pass, 1 fail, 0 not run, from 1 file; the run finished; evidence/\S+\n", printed.out
    )
    assert printed.err == ""


def test_the_lock_state_is_the_lock_s_and_without_a_lock_it_is_missing(repository: Path) -> None:
    """L2: a report says nothing of what its tests were pinned to, so nothing is guessed."""
    collect("build/green.xml")
    (document,) = documents()
    lock = {record.fixture_lock for record in document.details.values()}
    assert lock == {"missing"}


def test_the_freeze_register_is_recorded_beside_it(repository: Path) -> None:
    """U4: without a document its gate would be missing."""
    collect("build/green.xml")
    (document,) = documents("flaky_freeze")
    assert document.closing.ended == "finished"
    assert document.opening.head == documents()[0].opening.head


@pytest.mark.parametrize(
    ("words", "exit_code", "signal", "ended"),
    [
        pytest.param(["build/green.xml"], None, None, "finished", id="no exit code"),
        pytest.param(["build/green.xml", "--exit-code", "0"], 0, None, "finished", id="0"),
        pytest.param(["build/green.xml", "--exit-code", "1"], 1, None, "exit_disagrees", id="green and 1"),
        pytest.param(["build/red.xml", "--exit-code", "0"], 0, None, "exit_disagrees", id="red and 0"),
        pytest.param(["build/red.xml", "--exit-code", "137"], None, 9, "crashed", id="killed"),
        pytest.param(["build/red.xml", "--exit-code", "-9"], None, 9, "crashed", id="killed, as subprocess says"),
        pytest.param(["build/*.xml", "--exit-code", "1"], 1, None, "finished", id="a pattern"),
    ],
)
def test_the_closing_record_says_how_the_run_ended(words, exit_code, signal, ended, repository: Path, capsys) -> None:
    assert collect(*words) == 0
    closing = documents()[0].closing
    assert (closing.exit_code, closing.signal, closing.ended) == (exit_code, signal, ended)
    printed = capsys.readouterr()
    assert ("the run finished" in printed.out) is (ended == "finished")
    assert bool(printed.err) is (ended != "finished")


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        pytest.param("gone.xml", None, "cannot be read", id="a missing file"),
        pytest.param("gone*.xml", None, "no file fits", id="an empty pattern"),
        pytest.param("build", None, "it is a folder", id="a folder"),
        pytest.param("build/odd.xml", "", "empty", id="an empty file"),
        pytest.param("build/odd.xml", "<html/>", "root element is <html>", id="a page"),
        pytest.param("build/odd.xml", "<!DOCTYPE a [<!ENTITY b 'c'>]><testsuite/>", "declarations", id="declarations"),
    ],
)
def test_a_report_that_cannot_be_used_leaves_the_gate_missing_and_exits_2(
    name: str, text: str | None, found: str, repository: Path, capsys
) -> None:
    """What could be read of other reports does not make up for it, nor does another call on the same commit."""
    if text is not None:
        Path(name).write_text(text)
    assert collect("build/green.xml", name) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert found in printed.err
    assert "without its closing record" in printed.err
    assert printed.err.count("\n") == 1
    (document,) = documents()
    assert document.closing is None
    assert collect("build/green.xml") == 0
    assert fold("fixture_check", documents()).gap.endswith("has no closing record")


def test_a_later_attempt_fills_what_a_lost_one_left_open(repository: Path) -> None:
    """U5: a lost runner is no failure."""
    assert collect("gone.xml") == 2
    assert collect("build/green.xml", "--attempt", "2") == 0
    folded = fold("fixture_check", documents())
    assert (folded.gap, folded.unfinished) == ("", "")


def test_a_report_older_than_the_run_is_refused(repository: Path, capsys) -> None:
    Path("started").touch()
    os.utime("build/green.xml", ns=(1, 1))
    assert collect("build/green.xml", "--newer-than", "started") == 2
    assert "it was written before the file started" in capsys.readouterr().err
    os.utime("build/green.xml")
    assert collect("build/green.xml", "--newer-than", "started", "--attempt", "2") == 0


def test_a_report_that_breaks_off_closes_as_crashed_and_keeps_its_failures(repository: Path) -> None:
    Path("build/cut.xml").write_text(RED[:-15])
    assert collect("build/cut.xml", "--exit-code", "1") == 0
    (document,) = documents()
    assert document.closing.ended == "crashed"
    assert {node: check_of(code) for node, code in document.codes.items()} == {"s::a": "not_run", "s::b": "fail"}


def test_no_cases_make_an_empty_document_that_is_finished(repository: Path) -> None:
    """U3: it selected nothing, which the roll-up makes unknown."""
    Path("build/none.xml").write_text('<testsuites tests="0"/>')
    assert collect("build/none.xml") == 0
    (document,) = documents()
    assert (document.closing.ended, dict(document.codes)) == ("finished", {})


def test_a_repaired_report_is_said_to_be_one(repository: Path, capsys) -> None:
    Path("build/esc.xml").write_text(GREEN.replace('name="a"', 'name="a\x1b"'))
    assert collect("build/esc.xml") == 0
    assert "repaired" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["--gate", "flaky_freeze"], id="the register's own gate"),
        pytest.param(["--gate", "a b"], id="no gate's name"),
        pytest.param(["--gate", "node"], id="a word of the format"),
        pytest.param(["--gate", "g", "--shard", "3/2"], id="shard 3 of 2"),
        pytest.param(["--gate", "g", "--shard", "0/2"], id="shard 0"),
        pytest.param(["--gate", "g", "--shard", "1"], id="no number of shards"),
        pytest.param(["--gate", "g", "--shard", "1/2/3"], id="too many numbers"),
        pytest.param(["--gate", "g", "--attempt", "0"], id="attempt 0"),
        pytest.param(["--gate", "g", "--exit-code", "256"], id="no exit code"),
        pytest.param(["--gate", "g", "--exit-code", "-65"], id="no signal"),
        pytest.param(["--gate", "g", "--newer-than", "yesterday"], id="no instant"),
        pytest.param([], id="no gate"),
    ],
)
def test_a_usage_error_is_64_and_writes_nothing(words: list[str], repository: Path) -> None:
    """R5: never 0, 1 or 2."""
    assert main(["collect", "junit", "build/green.xml", "--out", "evidence", *words]) == 64
    assert not Path("evidence").exists()


def test_an_unknown_format_is_a_usage_error(repository: Path) -> None:
    assert main(["collect", "tap", "x"]) == 64


def test_two_modules_of_one_commit_are_one_run_and_two_commits_are_two(repository: Path) -> None:
    collect("build/green.xml")
    collect("build/red.xml")
    subprocess.run(
        ["git", "-c", "user.name=t", "-c", "user.email=t@e", "commit", "-q", "--allow-empty", "-m", "x"], check=True
    )
    collect("build/red.xml")
    runs = [document.opening.run_id for document in documents()]
    assert len(runs) == 3
    assert len(set(runs)) == 2


def test_absolute_paths_in_node_ids_begin_at_the_root(repository: Path) -> None:
    case = f'<testcase file="{repository}/src/a.py" name="t"/>'
    Path("build/paths.xml").write_text(f'<testsuite name="s">{case}</testsuite>')
    collect("build/paths.xml")
    collect("build/paths.xml", "--root", str(repository / "src"), "--attempt", "2")
    assert {node for document in documents() for node in document.codes} == {"src/a.py::s::t", "a.py::s::t"}


def test_help_shows_an_example(repository: Path, capsys) -> None:
    with pytest.raises(SystemExit):
        main(["collect", "junit", "--help"])
    assert "example:\n  admit collect junit" in capsys.readouterr().out
