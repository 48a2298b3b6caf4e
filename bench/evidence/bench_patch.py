"""Claim: a patch document's bytes to its decision's bytes: at most 2 times a bare msgspec decode of the same bytes.

Usage: python bench/evidence/bench_patch.py [ROUNDS]

Peers, on the same 64 documents in the same run: a bare msgspec Struct decode, which lets a key stand twice, checks
no limit and decides nothing; and the standard library's `json.loads`. Ours refuses duplicate keys all the same: it
compares a document's length with the least that a second key would add, and reads strictly whatever is longer.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from typing import TYPE_CHECKING, Literal

import msgspec

from admit.core.signals import GATE_STATES
from admit.errors import EvidenceError
from admit.evidence.hot import patch_decider
from admit.policy import load

if TYPE_CHECKING:
    from collections.abc import Callable

    from admit.core.ladder import Rule

State = Literal["pass", "unknown", "missing", "fail"]
GATES = ("property_check", "fixture_check", "flaky_freeze")


class Bare(msgspec.Struct):
    """What the bare decode gives."""

    patch_id: str
    property_check: State
    fixture_check: State
    flaky_freeze: State


def answer(rule: Rule) -> bytes:
    """Return the line that `admit route` prints."""
    return f"{rule.outcome.name} attribution={rule.reason}\n".encode()


def seconds(act: Callable[[bytes], object], documents: list[bytes], loops: int) -> float:
    """Return the CPU seconds of one call, taken over all documents."""
    started = time.process_time()
    for _ in range(loops):
        for raw in documents:
            act(raw)
    return (time.process_time() - started) / (loops * len(documents))


def main() -> None:
    """Run the readers in turn and print medians and ratios."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    combinations = [(a, b, c) for a in GATE_STATES for b in GATE_STATES for c in GATE_STATES]
    documents = [
        json.dumps({"patch_id": f"pr-{number}", **dict(zip(GATES, states, strict=True))}).encode()
        for number, states in enumerate(combinations, 1800)
    ]
    ladder = load("router").ladder
    decide = patch_decider(ladder, answer)
    bare = msgspec.json.Decoder(Bare).decode
    for raw, states in zip(documents, combinations, strict=True):
        assert decide(raw, "e.json") == answer(ladder.decide(*states))
    twice = documents[0].replace(b"{", b'{"property_check": "pass", ', 1)
    try:
        decide(twice, "e.json")
    except EvidenceError as error:
        print(f"a key twice: {error}")
    assert bare(twice)
    acts: dict[str, Callable[[bytes], object]] = {
        "bare msgspec decode": bare,
        "admit: bytes to decision bytes": lambda raw: decide(raw, "e.json"),
        "json.loads": json.loads,
    }
    figures: dict[str, list[float]] = {name: [] for name in acts}
    for _ in range(rounds):
        for name, act in acts.items():
            figures[name].append(seconds(act, documents, 20))
    peer = statistics.median(figures["bare msgspec decode"])
    print(f"{'':32} {'median us':>10} {'least us':>9} {'ratio':>6}")
    for name, values in figures.items():
        median = statistics.median(values)
        print(f"{name:32} {median * 1e6:10.3f} {min(values) * 1e6:9.3f} {median / peer:6.2f}")


if __name__ == "__main__":
    main()
