"""`admit explain`: why, from the decision alone."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from admit.errors import InputError, UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def configure(parser: ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "decision", nargs="?", type=Path, help="a decision.json that admit wrote (default: .admit/decision.json)"
    )
    parser.add_argument("node", nargs="?", help="one node id; without it the whole decision is explained")
    parser.add_argument("--format", choices=("text", "json", "markdown"), default="text")


def run(args: Namespace) -> int:
    """Explain, and exit 0 where there was something to explain."""
    from admit.render.json import read_decision

    path = _last() if args.decision is None else args.decision
    try:
        raw = path.read_bytes()
    except OSError as error:
        do = (
            f"name a decision.json first: admit explain DECISION {path}"
            if "::" in str(path)
            else "name a decision.json"
        )
        raise InputError(str(path), f"cannot be read: {error.strerror}", do=do) from error
    decision = read_decision(raw, str(path))
    if args.node is None:
        from admit.cli.output import print_whole

        print_whole(decision, args.format)
        return 0
    from admit.render.explain import explain_node, near_names, unlisted

    answers = explain_node(decision, args.node)
    if not answers:
        near = near_names(decision, args.node)
        counted = unlisted(decision)
        more = f"{counted} accepted nodes are counted, not named" if counted else ""
        raise UsageError(args.node, "no such node in this decision", allowed=", ".join(near), do=more)
    _print(answers, args.format, args.node)
    return 0


def _last() -> Path:
    """Return where the last decision of this workspace stands.

    Raises:
        InputError: there is none.
    """
    from admit.cli.decide import last_decision
    from admit.wiring import workspace

    path = last_decision(workspace())
    if not path.exists():
        raise InputError(
            str(path), "no decision yet", do="run `admit run` or `admit decide` first, or name a decision.json"
        )
    return path


def _print(answers: list[str], how: str, node: str) -> None:
    match how:
        case "json":
            import json

            sys.stdout.write(json.dumps({"node": node, "because": answers}, indent=1) + "\n")
        case "markdown":
            from admit.render.markdown import code

            sys.stdout.write("\n".join(["```text", *map(code, answers), "```", ""]))
        case _:
            sys.stdout.write("\n".join(answers) + "\n")
