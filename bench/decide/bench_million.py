"""Claim: 1,000,000 node records become a decision in at most 3 times a bare msgspec decode loop, under 500 MB.

Usage: python bench/decide/bench_million.py [NODES] [ROUNDS]   (default 200,000 and 3; the claim is for 1000000)
Each side runs in a process of its own, in turn; CPU and peak memory are the operating system's.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

PEER = """
import sys, msgspec
class Record(msgspec.Struct):
    record: str
    node: str = ""
    property_check: str = ""
    fixture_lock: str = ""
    flake_status: str = ""
decode, n = msgspec.json.Decoder(Record).decode, 0
for line in open(sys.argv[1], "rb"):
    n += decode(line).record == "node"
print(n)
"""

OURS = """
import sys
from datetime import UTC, datetime
from admit.adjudicate import Case, adjudicate
from admit.core.decision import Patch
from admit.core.rollup import RegisterState, Sampling
from admit.evidence.read import read_document
from admit.policy import load
from admit.render.json import decision_bytes
documents = tuple(read_document(path) for path in sys.argv[1:])
sampling = Sampling(datetime.now(UTC), {}, {})
case = Case(Patch(""), documents, (), load("router"), load("arbiter"), sampling, RegisterState(), {})
decision = adjudicate(case, decision_bytes)
assert decision.exit_code == 0, decision.line
print(decision.gates[0].counts.accepted)
"""


def write_documents(folder: Path, nodes: int, *, plan: bool) -> list[str]:
    """Write one big document and the two small ones that the policy requires; return their paths."""
    from admit.core.records import NodeRecord, Opening
    from admit.evidence.write import DocumentWriter

    paths = []
    for gate, count in (("property_check", nodes), ("fixture_check", 1), ("flaky_freeze", 0)):
        paths.append(str(folder / f"{gate}.x.jsonl"))
        names = [f"tests/test_module_{n % 997}.py::TestSomething::test_number[case-{n}]" for n in range(count)]
        with DocumentWriter(paths[-1], Opening(gate, "pr-1", "a" * 40, None, "pytest", "9", "run", "n")) as writer:
            if plan:
                writer.plan(names)
            for name in names:
                writer.node(NodeRecord(name, "pass", "match", "stable", fixture_manifest="sha256:" + "0" * 64))
            writer.close(ended="finished", exit_code=0, signal=None, closed_by="bench")
    return paths


def cost(code: str, *paths: str) -> tuple[float, float]:
    """Return CPU seconds and peak MB of one process."""
    child = subprocess.Popen([sys.executable, "-c", code, *paths], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        sys.exit(f"the process answered {status}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main() -> None:
    """Print medians and the ratio, with and without the plan of what was to run."""
    nodes = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    for plan in (False, True):
        with tempfile.TemporaryDirectory() as folder:
            paths = write_documents(Path(folder), nodes, plan=plan)
            pairs = [(cost(PEER, paths[0]), cost(OURS, *paths)) for _ in range(rounds)]
        peer, ours = (statistics.median(pair[side][0] for pair in pairs) for side in (0, 1))
        ratio = statistics.median(pair[1][0] / pair[0][0] for pair in pairs)
        peak = max(pair[1][1] for pair in pairs)
        what = "with" if plan else "without"
        print(
            f"{nodes:,} nodes, {what} plan: decode loop {peer:.2f} s CPU, decision {ours:.2f} s, "
            f"ratio {ratio:.2f}, peak {peak:.0f} MB"
        )


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    main()
