"""`admit arbitrate`: the arbiter on hand-written node records (contract E2, A5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from admit.cli.output import add_format, print_line
from admit.cli.route import evidence_bytes, surroundings
from admit.errors import EvidenceError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from admit.core.records import NodeRecord


def configure(parser: ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help="node records, JSON or JSON Lines; - is standard input"
    )
    parser.add_argument("--policy", help="arbiter, or a policy file (default: as configured, else arbiter)")
    parser.add_argument("--ledger", metavar="FILE", help="record the decision here")
    parser.add_argument("--now", help="the instant to decide at, for a replay (RFC 3339)")
    add_format(parser)


def run(args: Namespace) -> int:
    """Rule on every record, print one line for the set, return the exit code."""
    from admit.adjudicate import arbitrate

    policy, record, now = surroundings(args, "arbiter")
    records: list[tuple[str, NodeRecord]] = []
    problems, is_empty = [], False
    for name in args.files:
        try:
            found = _read(name)
        except EvidenceError as error:
            problems.append(str(error))
        else:
            records += found
            is_empty = is_empty or not found
    # a file with nothing in it says nothing of what it was to say: the set holds, as an empty set does (contract A5)
    decision = arbitrate(policy, [] if is_empty else records, now=now, problems=problems)
    record(decision)
    print_line(decision, args.format)
    return decision.exit_code


def _read(name: str) -> list[tuple[str, NodeRecord]]:
    from admit.evidence.nodes import read_node_records

    return read_node_records(evidence_bytes(name), name)
