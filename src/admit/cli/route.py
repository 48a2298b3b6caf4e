"""`admit route`: the router on hand-written gate states (contract E1, R5)."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, cast

from admit.cli.output import add_format, print_line

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable, Mapping

    from admit.core.decision import Decision
    from admit.core.signals import GateState
    from admit.policy import Policy


def configure(parser: ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "--evidence",
        nargs="+",
        required=True,
        metavar="FILE",
        help="JSON documents, one patch each; - is standard input",
    )
    parser.add_argument("--policy", help="router, or a policy file (default: as configured, else router)")
    parser.add_argument("--ledger", metavar="FILE", help="record the decision here")
    parser.add_argument("--now", help="the instant to decide at, for a replay (RFC 3339)")
    add_format(parser)


def run(args: Namespace) -> int:
    """Rule, record where there is a ledger, print one line, return the exit code."""
    policy, record, now = surroundings(args, "router")
    decision = rule_on_words(policy, *_read(args.evidence, policy))._replace(now=now)
    record(decision)
    print_line(decision, args.format)
    return decision.exit_code


def rule_on_words(policy: Policy, patch_id: str, words: Mapping[str, str], found: Mapping[str, str]) -> Decision:
    """Return the decision on gate states that somebody wrote down; a gate without a word is missing (contract E1)."""
    from admit.core.decision import GateRuling, Patch, PolicyRef, held, ruled

    ladder = policy.ladder
    states = {signal.name: words.get(signal.name, "missing") for signal in ladder.signals}
    gates = tuple(GateRuling(gate, cast("GateState", state), "as the evidence says") for gate, state in states.items())
    decision = ruled(
        ladder.rule_on(states),
        gates,
        Patch(patch_id),
        router=PolicyRef(ladder.name, policy.digest),
        arbiter=PolicyRef("", ""),
    )
    return held(decision, ladder, found)


def surroundings(args: Namespace, shipped: str) -> tuple[Policy, Callable[[Decision], None], str]:
    """Return the policy that rules, what records, and the instant: as configured in an initialised repository.

    Elsewhere it is the shipped policy, and without `--ledger` nothing records.
    """
    if args.ledger is None and args.now is None and not _is_in_workspace():
        from admit.policy import load

        policy = load(args.policy or shipped, "patch" if shipped == "router" else "node")
        return policy, _record_nothing, time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    from pathlib import Path

    from admit.wiring import instant, policy_of, recorder, rfc3339, workspace

    space, now = workspace(), instant(args.now)
    policy = policy_of(space, f"policy.{shipped}", args.policy)
    if args.ledger is None and not space.is_initialised:
        return policy, _record_nothing, rfc3339(now)
    return policy, recorder(Path(args.ledger or space.path("ledger.path")), now), rfc3339(now)


def _record_nothing(_decision: Decision) -> None:
    """Record nothing: outside of an initialised repository `route` and `arbitrate` are stateless."""


def _is_in_workspace() -> bool:
    # the same walk as `wiring.initialised_root`, on text: this runs at every cold start
    folder = os.getcwd()
    while True:
        if os.path.isfile(os.path.join(folder, "admit.toml")):
            return True
        parent = os.path.dirname(folder)
        if parent == folder or os.path.exists(os.path.join(folder, ".git")):
            return False
        folder = parent


def _read(names: list[str], policy: Policy) -> tuple[str, Mapping[str, str], Mapping[str, str]]:
    """Return the patch's id, the words for its gates, and why they are not admissible if they are not."""
    from admit.errors import EvidenceError
    from admit.evidence.patch import MixedEvidence, merge_patches, read_patch

    gates = {signal.name: signal.states for signal in policy.ladder.signals}
    try:
        merged = merge_patches([read_patch(evidence_bytes(name), name, gates=gates) for name in names], gates=gates)
    except EvidenceError as error:
        return "", {}, {"malformed-evidence": str(error)}
    if isinstance(merged, MixedEvidence):
        return "", {}, {"mixed-evidence": str(merged)}
    return merged.patch_id, merged.states, {}


def evidence_bytes(name: str) -> bytes:
    """Return the bytes of a file, or of standard input for `-`.

    Raises:
        EvidenceError: it cannot be read, or is larger than small evidence may be.
    """
    from admit.errors import EvidenceError
    from admit.evidence.strict import LIMITS

    if name != "-":
        from admit.evidence.files import read_whole

        return read_whole(name, limits=LIMITS)
    raw = sys.stdin.buffer.read(LIMITS.value_bytes + 1)
    if len(raw) > LIMITS.value_bytes:
        raise EvidenceError("standard input", f"more than {LIMITS.value_bytes} bytes", do="write a file for each patch")
    return raw
