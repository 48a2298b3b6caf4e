"""Claim: a proof of one test on a mid-size repository takes at most twice as long as the two bare pytest runs.

Usage: bench_prove.py [--modules N] [--rounds N]

A repository of `--modules` source modules and as many test files; a patch repairs one function and brings a test and a
property that see it. The peer is what a person does by hand: `pytest NODE` on the patch, and on the parent with the
patch's test file copied over, in two worktrees that are there already, under the seed that a proof has. A proof makes
its own worktrees, runs the test three times on each side, and takes the worktrees away. Both take turns in one run;
wall is what a person waits, CPU is user and system time of the whole process tree.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ENV = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
SOURCE = '''\
"""Module {at}."""

import decimal
import json
import re


def total(values):
    return sum(values) + {at} - {at}


def even(values):
    return [value for value in values if value % 2 == 0]


def words(text):
    return re.findall(r"\\w+", text)
'''
BROKEN = SOURCE.replace("sum(values) +", "sum(values[:2]) +")
TESTS = """\
import pytest
from shop import module_{at} as module


@pytest.mark.parametrize("n", range(20))
def test_total(n):
    assert module.total(range(min(n, 2))) == sum(range(min(n, 2)))


def test_even():
    assert module.even([1, 2, 3, 4]) == [2, 4]


def test_words():
    assert module.words("a b c") == ["a", "b", "c"]
"""
NEW = """\
from hypothesis import given, strategies as st
from shop import module_0 as module


def test_many():
    assert module.total(range(20)) == sum(range(20))


@given(st.lists(st.integers(), max_size=20))
def test_any(values):
    assert module.total(values) == sum(values)
"""


def git(repo: Path, *words: str) -> str:
    command = ["git", "-c", "user.name=bench", "-c", "user.email=bench@localhost", *words]
    return subprocess.run(command, cwd=repo, check=True, capture_output=True, text=True).stdout.strip()


def lay_out(repo: Path, modules: int) -> None:
    (repo / "src" / "shop").mkdir(parents=True)
    (repo / "tests").mkdir()
    (repo / "src" / "shop" / "__init__.py").write_text("")
    (repo / "pyproject.toml").write_text('[tool.pytest.ini_options]\npythonpath = ["src"]\ntestpaths = ["tests"]\n')
    (repo / "tests" / "conftest.py").write_text("import pytest\n\n\n@pytest.fixture\ndef one():\n    return 1\n")
    for at in range(modules):
        text = (SOURCE if at else BROKEN).format(at=at)
        (repo / "src" / "shop" / f"module_{at}.py").write_text(text)
        (repo / "tests" / f"test_module_{at}.py").write_text(TESTS.format(at=at))
    git(repo, "init", "-q", "-b", "main")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "parent")
    (repo / "src" / "shop" / "module_0.py").write_text(SOURCE.format(at=0))
    (repo / "tests" / "test_new.py").write_text(NEW)
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "fix")


def spent(command: list[str], cwd: Path, expected: int) -> tuple[float, float]:
    """Return wall and CPU seconds of one command, which has to exit as expected."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, cwd=cwd, env=ENV, capture_output=True, text=True, check=False)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != expected:
        sys.exit(f"{command}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def by_hand(repo: Path, sides: tuple[Path, Path], node: str) -> tuple[float, float]:
    shutil.copy(repo / "tests" / "test_new.py", sides[1] / "tests" / "test_new.py")
    runs = [
        spent([sys.executable, "-m", "pytest", "-q", "--hypothesis-seed=0", node], side, code)
        for side, code in zip(sides, (0, 1), strict=True)
    ]
    return sum(wall for wall, _ in runs), sum(cpu for _, cpu in runs)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--modules", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=7)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        repo = Path(folder) / "repo"
        repo.mkdir()
        lay_out(repo, args.modules)
        sides = (Path(folder) / "patch", Path(folder) / "parent")
        for side, commit in zip(sides, ("HEAD", "HEAD^"), strict=True):
            git(repo, "worktree", "add", "--detach", "--quiet", os.fspath(side), commit)
        print(f"{args.modules} modules, {args.modules * 22} tests, {args.rounds} rounds, medians")
        is_held = True
        # who does not say which way a property is expected to fail pays for a third session, that of its replay
        for node, *expect in (
            ("tests/test_new.py::test_many",),
            ("tests/test_new.py::test_any", "--expect", "fails-on-parent"),
            ("tests/test_new.py::test_any",),
        ):
            proof = [sys.executable, "-m", "admit", "prove", node, *expect]
            by_hand(repo, sides, node)  # fills the caches of both
            spent(proof, repo, 0)
            pairs = [(by_hand(repo, sides, node), spent(proof, repo, 0)) for _ in range(args.rounds)]
            print(" ".join([node, *expect]))
            for at, name in ((0, "wall"), (1, "cpu")):
                bare, ours = (statistics.median(pair[side][at] for pair in pairs) for side in (0, 1))
                ratio = statistics.median(pair[1][at] / pair[0][at] for pair in pairs)
                print(f"  {name:4} two bare runs {bare:5.2f} s  proof {ours:5.2f} s  ratio {ratio:.2f}")
                is_held = is_held and ratio <= 2
        print(f"  claim: at most 2: {'held' if is_held else 'MISSED'}")
    sys.exit(0 if is_held else 1)


if __name__ == "__main__":
    main()
