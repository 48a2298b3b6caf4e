"""Claim: 1,000,000 node records in a document to a decision: at most 3 times a bare msgspec decode loop, under 500 MB.

Usage: python bench/evidence/bench_document.py [--full] [--rounds N]   (200,000 records; a million with --full)

The peer reads the same file line by line and decodes every node record into a bare msgspec Struct with the keys that
stand in it: it keeps nothing, checks no digest, no count, no order, no duplicate key. Ours gives the gate's state with
every node that did not pass. Each side runs in a process of its own, in turn, so that peak memory is its own.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from admit.core.fold import fold
from admit.core.records import Closing, Examples, NodeRecord, Opening
from admit.core.rollup import Sampling, ruling
from admit.evidence import wire
from admit.evidence.read import read_document
from admit.policy import for_gate, load

if TYPE_CHECKING:
    from collections.abc import Iterator

GATE: Final = "property_check"
KINDS: Final = {
    "plain": "plain passes, no plan",
    "planned": "plain passes, planned before",
    "failures": "one in a hundred failed",
    "properties": "passes with manifest, seed, examples, planned before",
}


class Counts(msgspec.Struct):
    """How many inputs a property saw."""

    ran: int
    valid: int
    max: int


class Bare(msgspec.Struct):
    """What the bare decode gives."""

    record: str
    node: str
    property_check: Literal["pass", "not_run", "fail"]
    fixture_lock: Literal["match", "missing", "drifted"]
    flake_status: Literal["stable", "frozen"]
    fixture_manifest: str | None = None
    seed: int | None = None
    message: str = ""
    examples: Counts | None = None


def records(kind: str, count: int) -> Iterator[NodeRecord]:
    """Yield sample records with node ids as pytest writes them."""
    for number in range(count):
        node = f"tests/unit/test_module_{number % 997}.py::TestClass{number % 31}::test_case_number[{number}]"
        record = NodeRecord(node, "pass", "match", "stable")
        if kind == "failures" and number % 100 == 7:
            record = record._replace(check="fail", message="assert 1 == 2")
        if kind == "properties":
            digest = "sha256:" + "5d" * 32
            record = record._replace(fixture_manifest=digest, seed=number, examples=Examples(100, 100, 100))
        yield record


def write(path: Path, kind: str, count: int) -> None:
    """Write a sealed sample document."""
    import hashlib

    sha = hashlib.sha256()
    with path.open("wb") as stream:

        def put(line: bytes) -> None:
            stream.write(line)
            sha.update(line)

        put(wire.opening_line(Opening(GATE, "pr-1", "a" * 40, None, "pytest", "9.2.0", "run-1", "nonce")))
        if kind in {"planned", "properties"}:
            for line in wire.plan_lines(record.node for record in records(kind, count)):
                put(line)
        for record in records(kind, count):
            put(wire.node_line(GATE, record))
        digest = "sha256:" + sha.hexdigest()
        stream.write(wire.closing_line(Closing(count, "finished", 0, None, "bench", digest)))


def bare(path: Path) -> int:
    """Decode every node record of a document and keep nothing."""
    decode = msgspec.json.Decoder(Bare).decode
    count = 0
    with path.open("rb") as stream:
        for line in stream:
            if line.startswith(b'{"record":"node"'):
                decode(line)
                count += 1
    return count


def ours(path: Path) -> int:
    """Read a document and roll it up into its gate's state."""
    found = fold(GATE, [read_document(path)])
    sampling = Sampling(datetime(2026, 11, 30, tzinfo=UTC), {}, {})
    counts = ruling(found, for_gate(load("arbiter"), GATE), sampling).counts
    return counts.accepted + counts.rejected


def one(side: str, path: Path, expected: int) -> None:
    """Run one side and print its CPU and wall seconds and how much the process's memory grew at most."""
    act = {"bare": bare, "ours": ours}[side]
    started, cpu = time.perf_counter(), time.process_time()
    count = act(path)
    figures = [time.process_time() - cpu, time.perf_counter() - started]
    assert count == expected, f"{count} of {expected} records"
    print(json.dumps([*figures, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))


def main() -> None:
    """Write each kind of document, run both sides in turn, print medians and ratios."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--kind", choices=KINDS, action="append")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        one(args.one[0], Path(args.one[1]), int(args.one[2]))
        return
    count = 1_000_000 if args.full else 200_000
    print(f"{count} records; medians of {args.rounds} processes a side, microseconds a record, MB at peak")
    heads = ("bare cpu", "ours cpu", "ratio", "bare wall", "ours wall", "ratio", "MB")
    print(f"{'':12}" + "".join(f"{head:>10}" for head in heads))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"{GATE}.bench.jsonl")
        for kind in args.kind or KINDS:
            write(path, kind, count)
            sides: dict[str, list[list[float]]] = {"bare": [], "ours": []}
            for _ in range(args.rounds):
                for side, runs in sides.items():
                    command = [sys.executable, __file__, "--one", side, str(path), str(count)]
                    runs.append(json.loads(subprocess.run(command, check=True, capture_output=True).stdout))
            (bare_cpu, bare_wall, _), (cpu, wall, peak) = (
                [statistics.median(part) for part in zip(*runs, strict=True)] for runs in sides.values()
            )
            print(
                f"{kind:12}{bare_cpu / count * 1e6:10.2f}{cpu / count * 1e6:10.2f}{cpu / bare_cpu:10.2f}"
                f"{bare_wall / count * 1e6:10.2f}{wall / count * 1e6:10.2f}{wall / bare_wall:10.2f}{peak:10.0f}"
            )
            path.unlink()


if __name__ == "__main__":
    main()
