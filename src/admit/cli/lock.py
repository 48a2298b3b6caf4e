"""`admit lock write|check|diff`: pin what the tests read, and check that it has not moved (contract section 6)."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from admit.cli.progress import bar

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from admit.lock.report import LockReport


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
        if verb != "write":
            one.add_argument("--format", choices=("text", "json", "markdown"), default="text")
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
        sys.stdout.write(f"wrote {write_lock(space, progress=bar())}\n")
        return 0
    from admit.wiring import check_lock

    report = check_lock(space, fast=args.fast, progress=bar())
    sys.stdout.write(_PRINT[args.format](report))
    if args.verb == "diff":
        return 0
    return 0 if report.state == "match" else 2


def _text(report: LockReport) -> str:
    return "".join(f"{line}\n" for line in (report.summary, *(f"  {one.text}" for one in report.differences)))


def _markdown(report: LockReport) -> str:
    from admit.render.markdown import cell

    return "".join(
        f"{line}\n"
        for line in (f"**{cell(report.summary)}**", "", *(f"- {cell(one.text)}" for one in report.differences))
    )


def _json(report: LockReport) -> str:
    tree = {
        "state": report.state,
        "is_evidence": report.is_evidence,
        "manifest": report.manifest,
        "files": report.files,
        "bytes": report.total_bytes,
        "sets": [one._asdict() for one in report.sets],
        "differences": [{**one._asdict(), "text": one.text} for one in report.differences],
        "not_compared": list(report.not_compared),
    }
    return json.dumps(tree, indent=1) + "\n"


_PRINT = {"text": _text, "json": _json, "markdown": _markdown}
