"""Claim: a full check of the lock costs less than `sha256sum -c`, and no more than OpenSSL where files are large.

Usage: python bench/lock/bench_lock.py [--full] [--rounds N] [--strict]

- 100,000 files of 4 KiB: at most 1/1.8 of the CPU time of `sha256sum -c`, and at most 1/1.7 of its wall time on a cold
  cache.
- Files of 1 MiB and more: within 15 % of `openssl dgst -sha256` in CPU time, and in wall time where as many processes
  of it as there are cores share the files.
- Memory: the same for a file of 1 GiB as for one of 1 MiB.

By default there are 20,000 small files and 120 MiB of large ones, where the start of an interpreter counts for a fifth
and more; the claims are for `--full`, and only there they are judged. Every contender runs in a process of its own, in
turns; what is compared are medians of rounds, CPU being user and system time with that of children. `admit` is the
whole check in a fresh interpreter: reading both files, walking, hashing every byte, comparing. Its start alone is
printed too. It finds what `sha256sum -c` lets pass (an extra file, a changed mode, a link).

Whoever quotes a figure names the build of sha256sum that is printed: one without OpenSSL hashes several times more
slowly than the processor can, which flatters everybody else. The cold rounds need the superuser, who drops the caches
of the whole machine. `--strict` makes a missed claim the exit code 1.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final, NamedTuple

SUBJECT: Final = """
import sys
from admit.lock.check import check, read_lock_files
report = check(sys.argv[1], read_lock_files(sys.argv[1]))
assert report.state == "match" and report.is_evidence, report.summary
"""
# an installed package has its modules compiled; here the first run, which is not counted, compiles them
ENVIRONMENT: Final = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
PIN: Final = """
import sys
from admit.lock.pinned import PinnedSet, instrument
from admit.lock.write import write
write(sys.argv[1], [PinnedSet("all", ("**",))], instrument=instrument(0, {}, {}))
"""
DROP: Final = Path("/proc/sys/vm/drop_caches")
SEED: Final = os.urandom(1 << 20)


class Cost(NamedTuple):
    """What one run took: seconds of CPU and wall time, and the largest memory of any of its processes, MiB."""

    cpu: float
    wall: float
    memory: float


def run(command: list[str], folder: Path) -> Cost:
    """Run a command to its end."""
    started = time.perf_counter()
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, env=ENVIRONMENT)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{command[0]} ended with {process.returncode}")
    return Cost(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024)


def take_turns(
    commands: dict[str, list[str]], folder: Path, *, rounds: int, cold: bool = False
) -> dict[str, list[Cost]]:
    """Run every command once a round, each round in another order."""
    costs: dict[str, list[Cost]] = {name: [] for name in commands}
    names = list(commands)
    for number in range(rounds):
        for name in names[number % len(names) :] + names[: number % len(names)]:
            if cold:
                os.sync()
                DROP.write_text("3\n", "ascii")
            costs[name].append(run(commands[name], folder))
    return costs


def median(costs: list[Cost], field: str) -> float:
    """Return the median of one field."""
    return statistics.median(getattr(cost, field) for cost in costs)


def lay_out(folder: Path, *, files: int, size: int) -> list[str]:
    """Write files of different content, a thousand a folder; return their names."""
    names = []
    for number in range(files):
        name = f"d{number // 1000:03}/f{number:06}.bin"
        if number % 1000 == 0:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
        at = number * 37 % (len(SEED) // 2)
        head = number.to_bytes(8, "big") + SEED[at : at + min(size, len(SEED) // 2) - 8]
        with open(folder / name, "wb") as file:
            file.writelines(head[: size - start] for start in range(0, size, len(head)))
        names.append(name)
    return names


def pin(folder: Path) -> None:
    """Write the lock of everything in a folder; elsewhere, since children are charged for their parent's memory."""
    run([sys.executable, "-c", PIN, str(folder)], folder)


def ours(folder: Path) -> list[str]:
    """Return the command for admit's full check."""
    return [sys.executable, "-c", SUBJECT, str(folder)]


def say(what: str, costs: dict[str, list[Cost]], peer: str, *, field: str, times_less: float) -> bool:
    """Print two medians and their ratio, and return whether the claim held."""
    theirs, own = median(costs[peer], field), median(costs["admit"], field)
    held = theirs / own >= times_less
    verdict = verdict_of(held)
    print(f"{what:28} {field:4} {peer} {theirs:.3f} s, admit {own:.3f} s, ratio {theirs / own:.2f} ", end="")
    print(f"(claim {times_less:.2f}: {verdict})")
    return held


def verdict_of(held: bool) -> str:
    """Return whether a claim held, where it is judged."""
    if "--full" not in sys.argv:
        return "not judged"
    return "held" if held else "MISSED"


def small_files(folder: Path, *, files: int, rounds: int) -> list[bool]:
    """Measure many small files, warm and cold."""
    names = lay_out(folder, files=files, size=4096)
    pin(folder)
    commands = {"sha256sum -c": ["sha256sum", "-c", "--quiet", "admit.sha256"], "admit": ours(folder)}
    what = f"{len(names):,} files of 4 KiB"
    run(ours(folder), folder)
    time.sleep(3)  # files must have been left alone for two seconds, as a repository's are
    warm = take_turns(commands, folder, rounds=rounds)
    held = [say(f"{what}, warm", warm, "sha256sum -c", field="cpu", times_less=1.8)]
    walls = [median(warm[name], "wall") for name in ("sha256sum -c", "admit")]
    print(f"{what + ', warm':28} wall sha256sum -c {walls[0]:.3f} s, admit {walls[1]:.3f} s (nothing claimed)")
    if not os.access(DROP, os.W_OK):
        print(f"{what}, cold: not measured, dropping caches needs the superuser")
        return held
    cold = take_turns(commands, folder, rounds=max(3, rounds // 2), cold=True)
    return [*held, say(f"{what}, cold", cold, "sha256sum -c", field="wall", times_less=1.7)]


def large_files(folder: Path, *, files: int, size: int, rounds: int) -> list[bool]:
    """Measure large files against OpenSSL's own command."""
    names = lay_out(folder, files=files, size=size)
    pin(folder)
    share = max(1, -(-files // cores()))
    shared = f"printf '%s\\n' {' '.join(names)} | xargs -n {share} -P {cores()} openssl dgst -sha256 -r"
    commands = {
        "openssl dgst": ["openssl", "dgst", "-sha256", "-r", *names],
        f"openssl x{cores()}": ["sh", "-c", shared],
        "sha256sum -c": ["sha256sum", "-c", "--quiet", "admit.sha256"],
        "admit": ours(folder),
    }
    costs = take_turns(commands, folder, rounds=rounds)
    what = f"{files} files of {size >> 20} MiB"
    print(f"{what:28} cpu  sha256sum -c {median(costs['sha256sum -c'], 'cpu'):.3f} s (not claimed against)")
    return [
        say(what, costs, "openssl dgst", field="cpu", times_less=1 / 1.15),
        say(what, costs, f"openssl x{cores()}", field="wall", times_less=1 / 1.15),
    ]


def memory(folder: Path, *, size: int) -> list[bool]:
    """Measure the largest memory for a small and a large file."""
    peaks = []
    for name, length in (("small", 1 << 20), ("large", size)):
        inner = folder / name
        inner.mkdir()
        with open(inner / "file.bin", "wb") as file:
            file.truncate(length)
        pin(inner)
        costs = [run(ours(inner), inner) for _ in range(5)]
        peaks.append(median(costs, "memory"))
        if name == "small":
            print(f"start: a check of one file takes {median(costs, 'cpu'):.3f} s of CPU")
    held = peaks[1] - peaks[0] < 8
    figures = f"{peaks[0]:.0f} MiB for 1 MiB, {peaks[1]:.0f} MiB for {size >> 20} MiB"
    print(f"memory: {figures}: {verdict_of(held)}")
    return [held]


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def build() -> str:
    """Return which builds are compared."""
    import ssl

    def first_line(*command: str) -> str:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\n")[0]

    path = shutil.which("sha256sum") or sys.exit("no sha256sum here")
    linked = subprocess.run(["ldd", path], capture_output=True, text=True, check=False).stdout
    crypto = "linked with libcrypto" if "libcrypto" in linked else "without libcrypto"
    python = f"Python {sys.version.split()[0]} with {ssl.OPENSSL_VERSION}"
    builds = [f"{first_line('sha256sum', '--version')}, {crypto}", first_line("openssl", "version"), python]
    return "; ".join([*builds, f"{cores()} cores"])


def main() -> int:
    """Measure every claim; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="as many and as large files as the claim says")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--strict", action="store_true", help="end with 1 if a claim is missed")
    asked = parser.parse_args()
    print(build())
    print(f"load before: {os.getloadavg()[0]:.1f}")
    held: list[bool] = []
    with tempfile.TemporaryDirectory(prefix="admit-bench-") as name:
        top = Path(name)
        for inner in ("small", "middle", "large", "memory"):
            (top / inner).mkdir()
        held += small_files(top / "small", files=100_000 if asked.full else 20_000, rounds=asked.rounds)
        middle, large = (1000, 400) if asked.full else (60, 30)
        held += large_files(top / "middle", files=middle, size=1 << 20, rounds=asked.rounds)
        held += large_files(top / "large", files=2, size=large << 20, rounds=asked.rounds)
        held += memory(top / "memory", size=1 << (30 if asked.full else 28))
    if not asked.full:
        return 0
    print(f"claims held: {sum(held)} of {len(held)}; load after: {os.getloadavg()[0]:.1f}")
    return int(asked.strict and not all(held))


if __name__ == "__main__":
    sys.exit(main())
