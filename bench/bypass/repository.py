"""The base as a git repository with admit in front of it, a clone for every case, and a case's patch in it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from cases import Append, Copy, Link, Repin, WithoutLine

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cases import Edit

HERE = Path(__file__).parent
WHO = ("-c", "user.name=bench", "-c", "user.email=bench@example.invalid", "-c", "commit.gpgsign=false")
ODD_NAME = "tests/data/fêtes locales.txt"
"""A file whose name git shows in quotes; it is written here, since no file of this project may have such a name."""

REGISTER = """\

# Ended long ago and still here: reported until somebody removes it, and without effect.
[[freeze]]
node = "tests/test_sheet.py::test_a_sheet_ends_with_its_last_day"
reason = "failed on the build machine with the old clock"
owner = "team-sheets"
expires = 2026-01-10T00:00:00Z
"""


def environment() -> dict[str, str]:
    """Return what commands run with: this interpreter first on the path, nothing that steers a test run."""
    steering = ("PYTEST_", "HYPOTHESIS_", "ADMIT", "PYTHON", "GIT_", "CI", "GITHUB_", "GITLAB_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(steering)}
    path = f"{Path(sys.executable).parent}{os.pathsep}{kept.get('PATH', '')}"
    return {**kept, "PATH": path, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


def run(tree: Path, *command: str, timeout: float = 120, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder; more variables by name. One that does not end in time answers 124."""
    try:
        return subprocess.run(
            command,
            cwd=tree,
            env={**environment(), **more},
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            stdin=subprocess.DEVNULL,
            timeout=timeout,
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 124, "", "did not end in time")


def git(tree: Path, *words: str) -> str:
    """Run git and return what it prints.

    Raises:
        RuntimeError: git did not do it.
    """
    done = run(tree, "git", *WHO, *words)
    if done.returncode != 0:
        raise RuntimeError(f"git {' '.join(words)} answered {done.returncode}: {done.stderr}")
    return done.stdout.strip()


def lay_out_base(tree: Path) -> str:
    """Make the base's repository in `tree` and return its commit."""
    shutil.copytree(HERE / "base", tree, ignore=shutil.ignore_patterns("__pycache__", ".*"))
    (tree / ODD_NAME).write_text("2026-05-08\n")
    git(tree, "init", "-q", "-b", "main")
    commit(tree, "A small almanac")
    for words in (["init"], ["abstain", "write"], ["lock", "write"]):
        done = run(tree, sys.executable, "-m", "admit", *words)
        if done.returncode != 0:
            raise RuntimeError(f"admit {' '.join(words)} answered {done.returncode}: {done.stdout}{done.stderr}")
    with (tree / "admit.freezes.toml").open("a") as stream:
        stream.write(REGISTER)
    commit(tree, "Put admit in front of the merge button")
    return git(tree, "rev-parse", "HEAD")


def clone(base: Path, tree: Path) -> None:
    """Copy the repository with everything that git does not keep."""
    shutil.copytree(base, tree, symlinks=True)


def commit(tree: Path, message: str) -> None:
    """Commit everything, ignored files that are tracked or listed for it too."""
    git(tree, "add", "-A")
    git(tree, "commit", "-q", "--allow-empty", "-m", message)


def apply(tree: Path, edits: Mapping[str, Edit]) -> None:
    """Make edits in a working tree; what depends on the others comes last."""
    sources = [edit.source for edit in edits.values() if isinstance(edit, Copy)]
    base = {name: run(tree, "git", "show", f"HEAD:{name}").stdout.encode() for name in sources}
    for name, edit in edits.items():
        path = tree / name
        if isinstance(edit, Repin):
            continue
        text = _edited(path, edit, base)
        if (text is None or isinstance(edit, Link)) and (path.is_symlink() or path.exists()):
            path.unlink()
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(edit, Link):
            path.symlink_to(edit.target)
        elif text is not None:
            path.write_bytes(text)
    if any(isinstance(edit, Repin) for edit in edits.values()):
        run(tree, sys.executable, "-m", "admit", "lock", "write")


def _edited(path: Path, edit: Edit, base: Mapping[str, bytes]) -> bytes | None:
    match edit:
        case None | Link() | Repin():
            return None
        case str():
            return _dated(edit)
        case Copy():
            return base[edit.source]
        case Append():
            return path.read_bytes() + _dated(edit.text)
        case WithoutLine():
            lines = path.read_text().splitlines(keepends=True)
            return "".join(line for line in lines if edit.word not in line).encode()
        case _:
            return _replaced(path, edit)


def _replaced(path: Path, pairs: tuple[tuple[str, str], ...]) -> bytes:
    text = path.read_bytes().decode()
    for old, new in pairs:
        if text.count(old) != 1:
            raise RuntimeError(f"{path.name}: {old!r} stands there {text.count(old)} times, not once")
        text = text.replace(old, new)
    return _dated(text)


def _dated(text: str) -> bytes:
    soon = time.strftime("%Y-%m-%dT00:00:00Z", time.gmtime(time.time() + 8 * 86400))
    return text.replace("{SOON}", soon).encode()
