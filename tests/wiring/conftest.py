"""A small real repository, in which git and the installed command run as users run them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

_OURS = ("PYTEST_", "COV_", "COVERAGE_", "GITHUB_", "GITLAB_", "CI_", "PYTHONPATH")
"""Variables of the run that tests us: the repository under test is none of its patches."""


class Repository:
    """A git repository, and a folder of it to work in."""

    def __init__(self, root: Path, folder: str = "") -> None:
        self.root, self.here = root, root / folder

    def write(self, name: str, text: str) -> None:
        path = self.here / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def run(self, *command: str, **env: str) -> subprocess.CompletedProcess[str]:
        base = {key: value for key, value in os.environ.items() if not key.startswith(_OURS)}
        return subprocess.run(
            command,
            cwd=self.here,
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
            env={**base, **env},
        )

    def git(self, *words: str) -> str:
        who = ("-c", "user.name=n", "-c", "user.email=n@example.invalid", "-c", "commit.gpgsign=false")
        done = self.run("git", *who, "-c", "protocol.file.allow=always", *words)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def commit(self, **files: str) -> str:
        """Commit all there is, after files were written: `a__b__py` for `a/b.py`."""
        for name, text in files.items():
            *folders, stem, suffix = name.split("__")
            self.write("/".join([*folders, f"{stem}.{suffix}"]), text)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "x")
        return self.git("rev-parse", "HEAD")

    def admit(self, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
        return self.run(str(Path(sys.executable).parent / "admit"), *words, **env)

    def judged(self, base: str, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
        """Judge the commit at work with the base's tests."""
        return self.admit("run", "--base", base, *words, *self.pytest_words(), **env)

    @staticmethod
    def pytest_words() -> tuple[str, ...]:
        return ("--", sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")

    def reasons(self) -> set[str]:
        """Return why the nodes of the last decision were not accepted."""
        decision = json.loads((self.here / ".admit" / "decision.json").read_text())
        return {node["reason"] for gate in decision["gates"] for node in gate["nodes"]}


def furnish(found: Repository) -> None:
    found.write("pyproject.toml", '[tool.pytest.ini_options]\npythonpath = ["."]\n')
    found.write("shop.py", "def half(n):\n    return n // 2\n")
    found.write("tests/test_shop.py", "import shop\n\n\ndef test_half():\n    assert shop.half(4) == 2\n")
    found.write("tests/data/pinned.txt", "pinned\n")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """Give a repository with a module and a test of it."""
    found = Repository(tmp_path / "shop")
    found.root.mkdir()
    found.git("init", "-q", "-b", "main")
    furnish(found)
    return found


@pytest.fixture
def initialised(repository: Repository) -> Repository:
    """Give a repository with admit in front of its merge button."""
    assert repository.admit("init").returncode == 0
    repository.commit()
    return repository


@pytest.fixture
def workspace(tmp_path: Path) -> Repository:
    """Give the same, in a folder of a larger repository."""
    found = Repository(tmp_path / "all", "services/shop")
    found.here.mkdir(parents=True)
    found.git("init", "-q")
    furnish(found)
    assert found.admit("init").returncode == 0
    shutil.rmtree(found.here / ".git")
    found.write("../../other/tests/test_other.py", "def test_other():\n    pass\n")
    found.here, here = found.root, found.here
    found.git("init", "-q", "-b", "main")
    found.here = here
    found.commit()
    return found
