"""A small real repository for the installed command."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

CODE = """\
def split(cents, parts):
    share, rest = divmod(cents, parts)
    return [share + 1] * rest + [share] * (parts - rest)
"""

TESTS = """\
import json
import pathlib

from hypothesis import given
from hypothesis import strategies as st

from shop import split


@given(st.integers(0, 1000), st.integers(1, 9))
def test_no_cent_is_lost(cents, parts):
    assert sum(split(cents, parts)) == cents


def test_an_even_split():
    want = json.loads((pathlib.Path(__file__).parent / "data" / "even.json").read_text())
    assert split(1200, 4) == want
"""


_OURS = ("PYTEST_", "COV_", "COVERAGE_", "GITHUB_", "GITLAB_", "CI_")
"""Variables of the run that tests us: the repository under test is none of its patches."""


class Repository:
    """A git repository with admit in front of it."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def run(self, *command: str, **env: str) -> subprocess.CompletedProcess[str]:
        base = {key: value for key, value in os.environ.items() if not key.startswith(_OURS)}
        return subprocess.run(
            command,
            cwd=self.root,
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
            env={**base, **env},
        )

    def git(self, *words: str) -> str:
        who = ("-c", "user.name=n", "-c", "user.email=n@example.invalid", "-c", "commit.gpgsign=false")
        done = self.run("git", *who, *words)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def commit(self, title: str = "change") -> str:
        self.git("add", "-A")
        self.git("commit", "-qm", title)
        return self.git("rev-parse", "HEAD")

    def admit(self, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
        return self.run(str(Path(sys.executable).parent / "admit"), *words, **env)

    def pytest(self, *words: str) -> tuple[str, ...]:
        return ("--", sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words)


def laid_out(root: Path) -> Repository:
    repository = Repository(root)
    repository.git("init", "-q", "-b", "main")
    repository.write("shop.py", CODE)
    repository.write("tests/test_shop.py", TESTS)
    repository.write("tests/data/even.json", "[300, 300, 300, 300]\n")
    repository.write("pyproject.toml", '[tool.pytest.ini_options]\npythonpath = ["."]\n')
    repository.commit("base")
    return repository


@pytest.fixture
def bare(tmp_path: Path) -> Repository:
    """Give a repository that admit has not seen yet."""
    return laid_out(tmp_path)


@pytest.fixture
def repository(bare: Repository) -> Repository:
    """Give a repository with admit in front of its merge button."""
    done = bare.admit("init")
    assert done.returncode == 0, done.stderr
    bare.commit("admit")
    return bare
