"""What recording adds to a pytest run: the plugin against --junitxml on the same trivial tests, in one run.

Usage: bench_plugin.py [--full]

Three variants take turns: plain pytest, --junitxml, --admit; CPU is user plus system time of the child as the kernel
counts it (wait4). The claim is the ratio of what --admit adds to what --junitxml adds, from the smallest CPU of each
(a busy machine only ever adds); medians stand beside it. Default 1,500 tests and 5 rounds; --full 5,000 and 7.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from admit.core.context import RunContext
from admit.evidence.context import write_context

CLAIM = 0.60
FILES = 10

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


def lay_out(root: Path, tests: int) -> None:
    (root / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    for number in range(FILES):
        lines = [f"def test_{test}(): pass" for test in range(tests // FILES)]
        (root / f"test_{number}.py").write_text("\n".join(lines) + "\n", encoding="utf-8")


def cpu_s(root: Path, *options: str) -> float:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
    foreign = ("PYTEST_", "ADMIT_", "PYTHONDONTWRITEBYTECODE")
    env = {key: value for key, value in os.environ.items() if not key.startswith(foreign)}
    # modules are compiled once, as where the package was installed; the warm-up fills this folder
    env |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPYCACHEPREFIX": str(root / "compiled")}
    with subprocess.Popen(command, cwd=root, env=env, stdout=subprocess.DEVNULL) as child:
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"{' '.join(command)} exited with {child.returncode}")
    return usage.ru_utime + usage.ru_stime


def play(root: Path, rounds: int) -> dict[str, list[float]]:
    seen: dict[str, list[float]] = {"plain": [], "junitxml": [], "admit": []}
    for number in range(-1, rounds):
        folder = root / f"evidence-{number}"
        folder.mkdir()
        write_context(folder / "context.json", CONTEXT)
        options = {
            "plain": (),
            "junitxml": (f"--junitxml={root}/report.xml",),
            "admit": ("-p", "admit", f"--admit={folder}"),
        }
        # each round starts with another variant, so that none of them always follows the same neighbour
        names = list(options)[number % 3 :] + list(options)[: number % 3]
        for name in names:
            took = cpu_s(root, *options[name])
            if number >= 0:  # the round before is the warm-up
                seen[name].append(took)
    return seen


def show(seen: dict[str, list[float]], tests: int) -> float:
    smallest = {name: min(values) for name, values in seen.items()}
    middle = {name: statistics.median(values) for name, values in seen.items()}
    print(f"{tests} trivial tests, {len(seen['plain'])} rounds, CPU seconds (min / median)")
    for name in seen:
        added = (smallest[name] - smallest["plain"]) * 1e6 / tests
        print(f"  {name:9} {smallest[name]:7.3f} / {middle[name]:7.3f}   adds {added:6.1f} us a test (min)")
    ratios = [
        (values["admit"] - values["plain"]) / (values["junitxml"] - values["plain"]) for values in (smallest, middle)
    ]
    print(f"added by --admit / added by --junitxml: {ratios[0]:.2f} (min), {ratios[1]:.2f} (median); claim: {CLAIM}")
    return ratios[0]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="5,000 tests, 7 rounds")
    tests, rounds = (5_000, 7) if parser.parse_args().full else (1_500, 5)
    with tempfile.TemporaryDirectory() as name:
        lay_out(Path(name), tests)
        return 0 if show(play(Path(name), rounds), tests) <= CLAIM else 1


if __name__ == "__main__":
    raise SystemExit(main())
