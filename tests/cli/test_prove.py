"""`admit prove`: what it refuses before anything runs, and how a proof counts (contract P1, P2)."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from admit.cli import main


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("GITHUB_ACTIONS", "GITLAB_CI"):
        monkeypatch.delenv(name, raising=False)
    git("init", "-q", "-b", "main")
    (tmp_path / "test_a.py").write_text("def test_x(): pass\n")
    git("add", "-A")
    git("commit", "-qm", "root")
    return tmp_path


def git(*words: str) -> None:
    who = ("-c", "user.name=n", "-c", "user.email=n@example.invalid", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *who, *words], check=True, capture_output=True)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("prove",), 64, "required: NODE"),
        (("prove", "a.py", "--repeat", "0"), 64, "--repeat: 0; allowed: 1 to 100"),
        (("prove", "a.py", "--repeat", "101"), 64, "--repeat: 101"),
        (("prove", "a.py", "--repeat", "x"), 64, "invalid int value"),
        (("prove", "a.py", "--expect", "neither"), 64, "invalid choice"),
        (("prove", "a.py", "--format", "markdown"), 64, "invalid choice"),
        (("prove", "a.py", "--timeout", "-1"), 64, "--timeout: -1.0"),
        (("prove", "test_a.py"), 65, "a root commit: it has no parent to compare with; name a commit with --parent"),
        (("prove", "test_a.py", "--patch", "nowhere"), 65, "nowhere: no such commit"),
        (("prove", "test_a.py", "--parent", "nowhere"), 65, "nowhere: no such commit"),
        (("prove", "test_a.py", "--parent", "HEAD"), 65, "patch and parent are one commit"),
    ],
)
def test_what_cannot_be_asked_is_refused(
    repository: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], code: int, said: str
) -> None:
    assert main(list(words)) == code
    shown = capsys.readouterr()
    assert said in shown.err
    assert shown.out == ""


def test_a_file_that_nobody_has_is_refused(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    git("commit", "-q", "--allow-empty", "-m", "patch")
    assert main(["prove", "test_b.py::test_x"]) == 65
    assert "no such test file" in capsys.readouterr().err
    assert main(["prove", "../test_a.py"]) == 65


def test_outside_of_a_repository_there_is_nothing_to_prove(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert main(["prove", "a.py"]) == 65
    assert "no repository of git" in capsys.readouterr().err


def test_the_help_says_what_each_exit_code_means(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["prove", "--help"])
    shown = capsys.readouterr().out
    assert "0   every test is proven" in shown
    assert "2 is never given" in shown
