"""`admit lock write|check|diff`: pin what the tests read, and check that it has not moved (contract section 6)."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def configure(parser: ArgumentParser) -> None:
    """Add the verbs."""
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="write|check|diff")
    for verb, text in _VERBS.items():
        one = verbs.add_parser(
            verb,
            help=text,
            description=text,
            epilog=f"example:\n  admit lock {verb}",
            formatter_class=parser.formatter_class,
        )
        one.add_argument("--format", choices=("text", "json", "markdown"), default="text")
        if verb != "write":
            one.add_argument(
                "--fast", action="store_true", help="trust a stat cache; the answer is marked cached and is no evidence"
            )


_VERBS = {
    "write": "Pin the configured sets: a person's act, in a reviewed commit.",
    "check": "Say whether what is pinned still stands: exit 0 match, 2 drifted or missing.",
    "diff": "List every difference between what is pinned and what is there.",
}


def run(args: Namespace) -> int:
    """Run one verb."""
    from admit.wiring import workspace, write_lock

    space = workspace()
    if args.verb == "write":
        sys.stdout.write(f"wrote {write_lock(space, progress=sys.stderr.isatty())}\n")
        return 0
    from admit.lock import report_text
    from admit.wiring import check_lock

    report = check_lock(space, fast=args.fast, progress=sys.stderr.isatty())
    sys.stdout.write(report_text(report, args.format, whole=args.verb == "diff"))
    return 0 if report.state == "match" or args.verb == "diff" else 2
