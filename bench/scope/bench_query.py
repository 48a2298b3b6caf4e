"""Claim: `admit scope` on 10,000 nodes and a million (node, line) pairs takes at most 3 times what `git diff` takes.

Usage: python bench/scope/bench_query.py [--rounds N] [--nodes N] [--files N] [--pairs N] [--strict]

A repository of Python files and a map of it are made up; every node runs lines of a few files, as tests do. The patch
changes lines of bodies in five files, and a page. Every contender runs in a process of its own, in turns: `git diff
BASE` says what differs, as a person asks for it; `admit scope` says that and which of the nodes it reaches. The start
of an interpreter with `admit` in it (`admit --version`) is measured in the same rounds and taken off. What is left has
the imports of the command in it; an interpreter that imports them and does no more is printed beside it. So is `git
diff BASE HEAD`, which looks at no file of the working tree and costs the same whatever the repository's size: no
question that starts three processes of git can be within 3 times of that. `--strict` makes a missed claim the exit
code 1.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final, NamedTuple

from admit.scope.map import NodeReach, ScopeMap, span
from admit.scope.mapfile import write_map
from admit.scope.shape import shape_of

LIMIT: Final = 3.0
IMPORTS: Final = "import admit.cli, admit.cli.scope, admit.wiring.scope, admit.scope.report"
FUNCTIONS, BODY = 25, 8
ENVIRONMENT: Final = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
WHO: Final = (
    "-c",
    "user.name=n",
    "-c",
    "user.email=n@example.invalid",
    "-c",
    "commit.gpgsign=false",
    "-c",
    "gc.auto=0",
)


def git(root: Path, *words: str) -> str:
    return subprocess.run(["git", *WHO, *words], cwd=root, check=True, capture_output=True, text=True).stdout.strip()


def source(number: int) -> str:
    """Return a module of functions; ten lines each, with the blank ones between them."""
    lines = [f'"""Module {number}."""', ""]
    for function in range(FUNCTIONS):
        lines += [f"def f{function}(x):", *(f"    y{line} = x + {line * number}" for line in range(BODY - 1))]
        lines += ["    return x", ""]
    return "\n".join(lines) + "\n"


def repository(root: Path, *, files: int, nodes: int, pairs: int) -> str:
    """Make a repository with a map of its first commit, then a patch; return the first commit."""
    draw = random.Random(7)
    paths = [f"src/package{number % 40}/module{number}.py" for number in range(files)]
    tests = [f"tests/package{number % 40}/test_{number}.py" for number in range(nodes // 20)]
    for number, path in enumerate([*paths, *tests]):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(source(number) if path in paths else "def test_a():\n    pass\n")
    (root / "page.md").write_text("a page\n" * 100)
    (root / ".gitignore").write_text(".admit/\n")
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "base")
    git(root, "gc", "-q")
    base = git(root, "rev-parse", "HEAD")
    write_map(root / ".admit" / "scope" / "map", a_map(root, base, draw, nodes=nodes, pairs=pairs))
    for path in draw.sample(paths, 5):
        text = (root / path).read_text()
        for function in draw.sample(range(FUNCTIONS), 3):
            head = f"def f{function}(x):\n"
            text = text.replace(head + "    y0 = x", head + "    y0 = 1 + x")
        (root / path).write_text(text)
    (root / "page.md").write_text("a page\n" * 50 + "another\n" + "a page\n" * 50)
    git(root, "commit", "-q", "-a", "-m", "patch")
    return base


def a_map(root: Path, base: str, draw: random.Random, *, nodes: int, pairs: int) -> ScopeMap:
    """Return a map in which every node runs whole functions of a few files, until there are so many pairs."""
    rows = (line.split("\t") for line in git(root, "ls-tree", "-r", base).splitlines())
    blobs = {path: entry.split(" ")[2] for entry, path in rows if path.endswith(".py")}
    files = {path: shape_of((root / path).read_bytes(), blob) for path, blob in blobs.items()}
    traced = [(file, files[path].functions) for file, path in enumerate(sorted(files)) if path.startswith("src/")]
    reaches = {}
    per_node = pairs // nodes
    for number in range(nodes):
        lines: dict[int, int] = {}
        left = per_node
        while left > 0:
            file, functions = draw.choice(traced)
            for one in draw.sample(functions, 3):
                take = min(left, one.body_last - one.body_first + 1)
                lines[file] = lines.get(file, 0) | span(one.body_first, one.body_first + take - 1)
                left -= take
        place = f"tests/package{number // 20 % 40}/test_{number // 20}.py"
        reaches[f"{place}::test_something_of_module[{number}]"] = NodeReach(
            True, "", lines, frozenset(), frozenset(), place
        )
    return ScopeMap(
        base, "monitoring", "3.13.0", files, reaches, NodeReach(True, "", {}, frozenset(), frozenset()), True
    )


class Cost(NamedTuple):
    """Seconds of CPU, children's too, and of wall time."""

    cpu: float
    wall: float


def run(command: list[str], folder: Path) -> Cost:
    started = time.perf_counter()
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, env=ENVIRONMENT)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{command} ended with {process.returncode}")
    return Cost(usage.ru_utime + usage.ru_stime, wall)


def main() -> None:
    """Make the repository, let everybody answer in turns, print medians and ratios."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--nodes", type=int, default=10_000)
    parser.add_argument("--files", type=int, default=4_000)
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--strict", action="store_true")
    parser.add_argument("--keep", type=Path, help="make the repository there and leave it")
    args = parser.parse_args()
    root = args.keep or Path(tempfile.mkdtemp(prefix="admit-bench-"))
    root.mkdir(exist_ok=True)
    base = repository(root, files=args.files, nodes=args.nodes, pairs=args.pairs)
    size = (root / ".admit" / "scope" / "map").stat().st_size
    print(f"{args.nodes} nodes, {args.pairs} pairs, {args.files} modules; the map has {size / 1e6:.1f} MB")
    admit = [str(Path(sys.executable).parent / "admit")]
    commands = {
        "git diff BASE": ["git", "diff", base],
        "git diff BASE HEAD": ["git", "diff", base, "HEAD"],
        "admit --version": [*admit, "--version"],
        "admit's imports": [sys.executable, "-c", IMPORTS],
        "admit scope": [*admit, "scope"],
        "admit scope --base main~1": [*admit, "scope", "--base", "main~1"],
    }
    costs: dict[str, list[Cost]] = {name: [] for name in commands}
    names = list(commands)
    for number in range(args.rounds + 1):
        for name in names[number % len(names) :] + names[: number % len(names)]:
            cost = run(commands[name], root)
            if number:  # the first round fills caches
                costs[name].append(cost)
    if not args.keep:
        shutil.rmtree(root)
    middle = {
        name: Cost(*(statistics.median(part) for part in zip(*held, strict=True))) for name, held in costs.items()
    }
    start, peer = middle["admit --version"], middle["git diff BASE"]
    print(f"{'':28} {'cpu ms':>8} {'wall ms':>8}   without `admit --version`, against git diff BASE (cpu, wall)")
    worst = 0.0
    for name, cost in middle.items():
        taken = start if name.startswith("admit") else Cost(0, 0)
        ratio = Cost(*((mine - off) / its for mine, off, its in zip(cost, taken, peer, strict=True)))
        print(f"{name:28} {cost.cpu * 1e3:8.1f} {cost.wall * 1e3:8.1f}   {ratio.cpu:.2f} {ratio.wall:.2f}")
        worst = ratio.wall if name == "admit scope" else worst
    print(f"claim: at most {LIMIT} in wall time: {'met' if worst <= LIMIT else 'NOT MET'} ({worst:.2f})")
    if args.strict and worst > LIMIT:
        sys.exit(1)


if __name__ == "__main__":
    main()
