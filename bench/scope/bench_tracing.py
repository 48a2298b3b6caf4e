"""Claim: tracing the files that a patch changes costs at most 15 % of CPU, and a whole map no more than coverage.py's.

Usage: python bench/scope/bench_tracing.py NAME=CLONE ...   (--help lists the options; without clones it says so)

Needs Python 3.12 or newer, and a git clone of each NAME of the table below (bare or not; nothing is written there). For
each project a virtual environment is made in WORK, with its test requirements, coverage.py, pytest-testmon if it can be
installed, and admit from this checkout. These take turns on the same suite, in the same settings of Hypothesis:

    plain      pytest
    recorder   and admit's recorder, which traces nothing
    changed    and tracing of the file named in the table, for every node: as on a patch that changes it
    map        and tracing of all Python files: as `admit scope record` does
    ctrace     coverage.py's C tracer, a context a node (a plugin of a dozen lines; pytest-cov would do more)
    testmon    pytest-testmon, an empty database

CPU is user plus system time as the kernel counts it (wait4), smallest of all rounds. Then every (node, file, line) in a
function's body that ctrace has must be in the map, as the node's or as what ran outside of nodes; nodes that are not
alive, or went where nobody follows, are counted apart. The exit code is 1 where a claim does not hold.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import statistics
import subprocess
import sys
import time
import venv
from pathlib import Path
from typing import Any, NamedTuple

from admit.core.context import RunContext
from admit.evidence.context import write_context
from admit.scope.map import lines_of, numbers
from admit.scope.told import Told, write_told
from admit.scope.traced import Traced, joined

ROOT = Path(__file__).parents[2]
CHANGED = 1.15


class Project(NamedTuple):
    """A project: what its tests need, and the file that a patch is taken to change: its largest."""

    name: str
    requires: tuple[str, ...]
    changed: str


PROJECTS = {
    one.name: one
    for one in (
        Project("jinja", ("pytest-timeout", "trio"), "src/jinja2/filters.py"),
        Project("attrs", ("cloudpickle", "pympler"), "src/attr/_make.py"),
    )
}

VARIANTS = ("plain", "recorder", "changed", "map", "ctrace", "testmon")

CONTEXT = RunContext(
    patch_id="bench",
    head="a" * 40,
    base=None,
    dirty=False,
    run_id="bench",
    nonce="bench",
    lane="default",
    shard=1,
    shards=1,
    attempt=1,
    property_markers=(),
    property_paths=(),
    lock="match",
    locked=(),
    fixture_manifest="sha256:" + "b" * 64,
    seed=0,
    profile={},
    frozen={},
    register=(),
)

PINNED = '''
"""Hypothesis as admit pins it, for every variant."""
import sys

import pytest


@pytest.hookimpl(trylast=True)
def pytest_configure():
    if "hypothesis" in sys.modules:
        from hypothesis import core, settings

        settings.register_profile("bench", database=None, deadline=None, print_blob=True, derandomize=False)
        settings.load_profile("bench")
        core.global_force_seed = 0
'''

CTRACE = '''
"""coverage.py's C tracer, a context a node."""
import os

import coverage
import pytest

seen = coverage.Coverage(
    data_file=os.environ["CTRACE_DATA"], config_file=False, include=[os.environ["CTRACE_TREE"] + "/*"]
)
seen.set_option("run:core", "ctrace")
seen.start()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item):
    seen.switch_context(item.nodeid)
    try:
        return (yield)
    finally:
        seen.switch_context("")


@pytest.hookimpl(trylast=True)
def pytest_unconfigure():
    seen.stop()
    seen.save()
'''

READ_CTRACE = """
import json, sys
from coverage import CoverageData
data = CoverageData(sys.argv[1])
data.read()
print(json.dumps({name: data.contexts_by_lineno(name) for name in data.measured_files()}))
"""


class Took(NamedTuple):
    """What a run took, and its last line."""

    cpu_s: float
    wall_s: float
    said: str


class Place:
    """A project's work tree, its environment, and where the variants leave things.

    Args:
        project: one of the table.
        clone: of it.
        work: for all of that.
    """

    def __init__(self, project: Project, clone: Path, work: Path) -> None:
        self.project, self.home, self.work = project, work / "environments" / project.name, work / "left" / project.name
        self.tree = (work / "trees" / project.name).resolve()
        self.work.mkdir(parents=True, exist_ok=True)
        if not self.tree.exists():
            subprocess.run(["git", "clone", "-q", str(clone.resolve()), str(self.tree)], check=True)
        for name, text in (("bench_pinned", PINNED), ("bench_ctrace", CTRACE)):
            (self.work / f"{name}.py").write_text(text, "utf-8")
        if not (self.home / ".made").exists():
            self._make()
        self.has_testmon = self._pip("show", "pytest-testmon") == 0

    def _make(self) -> None:
        say(f"{self.project.name}: making its environment")
        venv.create(self.home, with_pip=True, clear=True)
        wanted = ["pytest", "hypothesis", "coverage", *self.project.requires, "-e", str(self.tree), str(ROOT)]
        if self._pip("install", "-q", *wanted) != 0:
            raise SystemExit(f"the environment of {self.project.name} cannot be made")
        self._pip("install", "-q", "pytest-testmon")
        (self.home / ".made").touch()

    def _pip(self, *words: str) -> int:
        command = [self.python, "-m", "pip", "--disable-pip-version-check", *words]
        return subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode

    @property
    def python(self) -> str:
        """The environment's interpreter."""
        return str(self.home / "bin" / "python")

    def files(self) -> tuple[str, ...]:
        """Return every Python file of the commit."""
        out = subprocess.run(["git", "ls-files", "-z", "*.py"], cwd=self.tree, check=True, capture_output=True).stdout
        return tuple(sorted(filter(None, out.decode().split("\0"))))

    def run(self, variant: str) -> Took:
        """Run the suite once."""
        folder = self.work / variant
        subprocess.run(["rm", "-rf", str(folder)], check=True)
        (folder / "parts").mkdir(parents=True)
        write_context(folder / "context.json", CONTEXT)
        told = {"changed": (self.project.changed,), "map": self.files()}
        if variant in told:
            write_told(folder, Told(str(self.tree), str(folder / "parts"), told[variant]))
        options = {"ctrace": ["-p", "bench_ctrace"], "testmon": ["--testmon"], "plain": []}
        own = options.get(variant, ["-p", "admit", f"--admit={folder}"])
        rest = ["-p", "no:cacheprovider"] if variant != "testmon" else []
        others = [] if variant == "testmon" else ["-p", "no:testmon"]
        command = [self.python, "-m", "pytest", "-q", "-p", "bench_pinned", *rest, *others, *own]
        foreign = ("PYTEST_", "ADMIT_", "COV", "PYTHON", "CI")
        env = {key: value for key, value in os.environ.items() if not key.startswith(foreign)}
        env |= {"PYTHONPATH": str(self.work), "PYTHONHASHSEED": "0", "TESTMON_DATAFILE": str(folder / "testmon")}
        env |= {"CTRACE_DATA": str(folder / "ctrace.data"), "CTRACE_TREE": str(self.tree)}
        return took(command, self.tree, env, folder / "printed.txt")


def took(command: list[str], cwd: Path, env: dict[str, str], printed: Path) -> Took:
    with printed.open("wb") as stream:
        started = time.perf_counter()
        with subprocess.Popen(command, cwd=cwd, env=env, stdout=stream, stderr=stream) as child:
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        wall = time.perf_counter() - started
    last = printed.read_text("utf-8", "replace").strip().rpartition("\n")[2]
    return Took(usage.ru_utime + usage.ru_stime, wall, f"{last} (exit {child.returncode})")


def play(place: Place, rounds: int, variants: list[str]) -> dict[str, list[Took]]:
    """Let the variants take turns; the round before the first is the warm-up."""
    seen: dict[str, list[Took]] = {name: [] for name in variants}
    for number in range(-1, rounds):
        at = number % len(variants)
        for name in variants[at:] + variants[:at]:
            one = place.run(name)
            if number >= 0:
                seen[name].append(one)
            say(f"{place.project.name} {number} {name}: {one.cpu_s:.2f} s CPU, {one.wall_s:.2f} s, {one.said}")
    return seen


def show(name: str, seen: dict[str, list[Took]]) -> dict[str, float]:
    """Print the figures and return each variant's CPU over that of plain pytest."""
    plain = min(one.cpu_s for one in seen["plain"])
    ratios = {}
    print(f"\n{name}: {seen['plain'][0].said}; CPU s (min / median), wall s (min), over plain pytest (min CPU)")
    for variant, all_of in seen.items():
        cpu = [one.cpu_s for one in all_of]
        ratios[variant] = min(cpu) / plain
        figures = f"{min(cpu):7.2f} / {statistics.median(cpu):7.2f}   {min(one.wall_s for one in all_of):7.2f}"
        print(f"  {variant:9} {figures}   {ratios[variant]:5.2f}   {all_of[0].said if variant == 'testmon' else ''}")
    return ratios


def compare(place: Place) -> int:
    """Print how the map and ctrace differ in function bodies; return how many pairs the map misses."""
    parts = [(path.name, path.read_bytes()) for path in (place.work / "map" / "parts").iterdir()]
    known = numbers(place.files())
    traced = joined(parts, known)
    command = [place.python, "-c", READ_CTRACE, str(place.work / "ctrace" / "ctrace.data")]
    theirs = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    mine = _pairs(traced, list(known))
    outside = {(path, line) for _, path, line in _of("", traced.outside, list(known))}
    missed, count = [], 0
    for file, lines in theirs.items():
        path = os.path.relpath(file, place.tree)
        inside = bodies(Path(file).read_bytes())
        for line, nodes in lines.items():
            for node in filter(None, nodes if int(line) in inside else []):
                count += 1
                if (node, path, int(line)) not in mine and (path, int(line)) not in outside:
                    missed.append((node, path, int(line)))
    blind = {node for node, reach in traced.nodes.items() if not reach.alive}
    spawned = {node: reach.spawned for node, reach in traced.nodes.items() if reach.spawned}
    size = sum(len(raw) for _, raw in parts)
    print(f"  {count} pairs of ctrace in bodies, {len(missed)} missed; {len(mine)} of the map's; {size} bytes of parts")
    print(
        f"  {len(traced.nodes)} nodes, {len(blind)} not alive, {len(spawned)} not followed; complete: {traced.complete}"
    )
    for node in sorted(blind)[:3]:
        print(f"    not alive: {node}: {traced.why.get(node)}")
    for what in sorted(set(spawned.values())):
        print(f"    not followed: {sum(one == what for one in spawned.values())} by {what}")
    if traced.outside.spawned:
        print(f"    outside of nodes, not followed: {traced.outside.spawned}")
    for one in missed[:5]:
        print(f"    missed: {one}")
    return len([one for one in missed if one[0] not in blind and one[0] not in spawned])


def _pairs(traced: Traced, paths: list[str]) -> set[tuple[str, str, int]]:
    return {pair for node, reach in traced.nodes.items() for pair in _of(node, reach, paths)}


def _of(node: str, reach: Any, paths: list[str]) -> set[tuple[str, str, int]]:
    return {(node, paths[number], line) for number, bits in reach.lines.items() for line in lines_of(bits)}


def bodies(source: bytes) -> set[int]:
    """Return the lines inside of functions' bodies."""
    found: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found |= set(range(node.body[0].lineno, (node.end_lineno or 0) + 1))
    return found


def say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clones", nargs="*", metavar="NAME=CLONE")
    parser.add_argument("--work", type=Path, default=Path("bench-tracing"), help="for work trees and environments")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=VARIANTS, default=list(VARIANTS), help="only these variants")
    args = parser.parse_args()
    clones = dict(word.split("=", 1) for word in args.clones)
    if not hasattr(sys, "monitoring") or not clones or clones.keys() - PROJECTS.keys():
        print(f"not measured: it needs Python 3.12 or newer and clones, NAME=CLONE, of: {', '.join(PROJECTS)}")
        return 0 if not clones else 64
    held = True
    for name, clone in clones.items():
        place = Place(PROJECTS[name], Path(clone), args.work.resolve())
        variants = [one for one in args.only if one != "testmon" or place.has_testmon]
        ratios = show(name, play(place, args.rounds, variants))
        if {"map", "ctrace"} <= ratios.keys():
            held &= compare(place) == 0 and ratios["map"] <= ratios["ctrace"]
        held &= ratios.get("changed", 0) <= CHANGED
    said = "held" if held else "NOT held"
    print(f"\nclaims: changed at most {CHANGED} of plain, map at most ctrace, no pair missed: {said}")
    return 0 if held else 1


if __name__ == "__main__":
    raise SystemExit(main())
