"""Claim: `admit route` from a cold process costs at most 1.3 times a bare script, and a third of `diff-cover --help`.

Usage: python bench/startup/bench_route.py [ROUNDS]   (where diff-cover is not installed beside admit, it is said)
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
EVIDENCE = '{"patch_id": "pr-1841", "property_check": "fail", "fixture_check": "pass", "flaky_freeze": "unknown"}'


def one_run(command: list[str], folder: str) -> tuple[float, float]:
    """Return wall and CPU seconds of one cold process."""
    before, started = os.times(), time.perf_counter()
    subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, check=False)
    wall, after = time.perf_counter() - started, os.times()
    return wall, after.children_user + after.children_system - before.children_user - before.children_system


def main() -> None:
    """Run the commands in turn and print medians and ratios."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    folder = tempfile.mkdtemp()
    Path(folder, "e.json").write_text(EVIDENCE)
    bin_ = Path(sys.executable).parent
    commands = {
        "bare python": [sys.executable, "-c", "pass"],
        "bare script": [sys.executable, str(HERE / "bare_route.py"), "e.json"],
        "admit route": [str(bin_ / "admit"), "route", "--evidence", "e.json"],
    }
    if (bin_ / "diff-cover").exists():
        commands["diff-cover --help"] = [str(bin_ / "diff-cover"), "--help"]
    else:
        print("diff-cover is not installed here: that ratio is not measured")
    figures: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    for command in commands.values():
        one_run(command, folder)
    for _ in range(rounds):
        for name, command in commands.items():
            figures[name].append(one_run(command, folder))
    shutil.rmtree(folder)
    ours = figures["admit route"]
    print(f"{'':20} {'wall ms':>8} {'cpu ms':>8}   admit route / this (medians; wall, cpu)")
    for name, pairs in figures.items():
        wall, cpu = (statistics.median(part) for part in zip(*pairs, strict=True))
        ratios = (statistics.median(o[i] for o in ours) / (wall, cpu)[i] for i in (0, 1))
        print(f"{name:20} {wall * 1e3:8.1f} {cpu * 1e3:8.1f}   {' '.join(f'{ratio:.2f}' for ratio in ratios)}")


if __name__ == "__main__":
    main()
