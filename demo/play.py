"""Lay out a small repository, send nine patches through its gates, and print what admit says of each.

Everything is real: git commits, pytest runs, Hypothesis, the installed `admit`. Usage: python demo/play.py [--keep DIR]
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
ADMIT = [sys.executable, "-m", "admit"]
PYTEST = [sys.executable, "-m", "pytest", "-q"]


class Patch(NamedTuple):
    """One patch: its title, the overlay that makes it, the branch it starts from, and the test command."""

    title: str
    overlay: str | None = None
    start: str = "main"
    command: tuple[str, ...] = tuple(PYTEST)


PATCHES = (
    Patch("a quicker balance", "1-good"),
    Patch("a split that loses a cent", "2-loses-a-cent"),
    Patch("the sign behind the number", "3-sign-behind-the-number"),
    Patch("both of these", "4-both"),
    Patch("fits the fixtures to the code", "5-fits-the-fixture-to-the-code"),
    Patch("a frozen test in the way", "1-good", start="frozen"),
    Patch("selects no test", "1-good", command=(*PYTEST, "-k", "nothing_has_this_name")),
    Patch("the run dies", "8-exits-early"),
    Patch("skips what fails", "9-skips-what-fails"),
)

FROZEN = "tests/test_statements.py::test_nobody_pays_himself"


def main() -> int:
    """Play the patches and print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep", type=Path, help="lay the repository out here and leave it there")
    args = parser.parse_args()
    if args.keep:
        args.keep.mkdir(parents=True)
        play(args.keep.resolve())
        return 0
    with tempfile.TemporaryDirectory(prefix="admit-demo-") as folder:
        play(Path(folder).resolve())
    return 0


def play(repo: Path) -> None:
    """Make the repository, then send each patch through its gates."""
    lay_out(repo)
    rows = []
    for number, patch in enumerate(PATCHES, 1):
        say(f"patch {number} of {len(PATCHES)}: {patch.title}")
        rows.append(row(repo, number, patch))
    say("")
    sys.stdout.write(table(rows))
    codes = " ".join(str(code) for *_, code, _ in rows)
    sys.stdout.write(f"\nexit codes: {codes} (0 merges, 1 blocks, 2 escalates)\n")
    ledger = json.loads(run(repo, *ADMIT, "log", "--format", "json").stdout)
    sys.stdout.write(f"ledger: {len(ledger)} decisions recorded\n")


def lay_out(repo: Path) -> None:
    """Commit the library, its control files, and a branch on which one test is frozen."""
    shutil.copytree(HERE / "base", repo, dirs_exist_ok=True)
    git(repo, "init", "-q", "-b", "main")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "A small double-entry ledger")
    for words in (["init"], ["abstain", "write"], ["lock", "check"]):
        done = run(repo, *ADMIT, *words)
        if done.returncode != 0:
            sys.exit(f"admit {' '.join(words)} answered {done.returncode}:\n{done.stdout}{done.stderr}")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "Put admit in front of the merge button")
    git(repo, "checkout", "-qb", "frozen")
    expires = time.strftime("%Y-%m-%dT00:00:00Z", time.gmtime(time.time() + 7 * 86400))
    add = ["freeze", "add", FROZEN, "--reason", "fails on slow machines", "--owner", "payments", "--expires", expires]
    done = run(repo, *ADMIT, *add, "--no-history", "seen on one developer's machine only")
    if done.returncode != 0:
        sys.exit(f"admit freeze add answered {done.returncode}:\n{done.stdout}{done.stderr}")
    git(repo, "commit", "-qam", "Freeze a flaky test for a week")


def row(repo: Path, number: int, patch: Patch) -> tuple[str, str, str, str, int, str]:
    """Commit one patch on a branch of its own, run it through the gates, return its row."""
    git(repo, "checkout", "-q", patch.start)
    git(repo, "checkout", "-qb", f"patch-{number}")
    if patch.overlay:
        shutil.copytree(HERE / "patches" / patch.overlay, repo, dirs_exist_ok=True)
    git(repo, "commit", "-qam", patch.title)
    started = time.monotonic()
    done = run(repo, *ADMIT, "run", "--patch", f"patch-{number}", "--format", "json", "--", *patch.command)
    took = f"{time.monotonic() - started:.1f} s"
    if done.returncode not in (0, 1, 2):
        sys.exit(f"admit run answered {done.returncode}:\n{done.stdout}{done.stderr}")
    decision = json.loads(done.stdout)
    gates = " ".join(f"{gate['state']:7}" for gate in decision["gates"])
    return str(number), patch.title, gates, f"{decision['outcome']:8} {decision['attribution']}", done.returncode, took


def table(rows: list[tuple[str, str, str, str, int, str]]) -> str:
    """Return the rows under their headings, in columns."""
    head = ("", "patch", "property fixture flaky", "disposition and reason", "exit", "time")
    cells = [tuple(str(cell) for cell in line) for line in (head, *rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(head))]
    padded = ([cell.ljust(width) for cell, width in zip(line, widths, strict=True)] for line in cells)
    return "".join("  ".join(line).rstrip() + "\n" for line in padded)


def run(repo: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a command in the repository."""
    return subprocess.run(command, cwd=repo, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)


def git(repo: Path, *words: str) -> None:
    """Run git, with a name of its own so that it works where none is configured."""
    who = ("-c", "user.name=demo", "-c", "user.email=demo@example.invalid", "-c", "commit.gpgsign=false")
    done = run(repo, "git", *who, *words)
    if done.returncode != 0:
        sys.exit(f"git {' '.join(words)} answered {done.returncode}:\n{done.stderr}")


def say(text: str) -> None:
    """Show progress on a terminal, nothing in a pipe."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()


if __name__ == "__main__":
    os.environ.pop("PYTEST_ADDOPTS", None)
    sys.exit(main())
