"""Repositories that the tests of the scope make."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Git = Callable[..., str]


@pytest.fixture
def git(tmp_path: Path) -> Git:
    """Run git in a fresh repository, with nobody's configuration, and return what it prints."""
    env = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    env |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    env |= {f"GIT_{who}_{what}": "x@y" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    root = tmp_path / "repository"
    root.mkdir()

    def run(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=root, env=env, check=True, capture_output=True, text=True).stdout

    run("init", "-q", "-b", "main")
    return run


@pytest.fixture
def repository(tmp_path: Path, git: Git) -> Path:
    return tmp_path / "repository"


@pytest.fixture
def commit(git: Git) -> Callable[[], str]:
    """Commit all that lies in the repository and return the commit's id."""

    def run() -> str:
        git("add", "-A")
        git("commit", "-q", "--allow-empty", "-m", "a commit")
        return git("rev-parse", "HEAD").strip()

    return run
