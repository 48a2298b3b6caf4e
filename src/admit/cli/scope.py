"""`admit scope`: which tests a patch reaches, and why (contract S3)."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from admit.cli.scope_record import configure_record, run_record

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator

_EXITS = """exit codes:
  0   the question is answered, also where the answer is that nobody can tell
  64  usage, 65 input; 1 and 2 are never given
"""


def configure(parser: ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "--base",
        metavar="REF",
        help="what the patch is compared with, from where it left it (default: what CI names, else the map's own base)",
    )
    parser.add_argument("--map", metavar="FILE", help="the map to ask (default: .admit/scope/map)")
    parser.add_argument(
        "--node", nargs="+", action="extend", default=[], metavar="ID", help="ask for these tests alone"
    )
    parser.add_argument("--format", choices=("text", "json"), default="text", help="text for people, JSON for machines")
    parser.epilog = f"{parser.epilog}\n\n{_EXITS}"
    _add_record(parser)


def _add_record(parser: ArgumentParser) -> None:
    """Add the one verb, which writes down what the question is answered from."""
    text = "Run the tests once and write down what each of them reaches."
    verbs = parser.add_subparsers(dest="verb", metavar="[record]", help=text)
    record = verbs.add_parser(
        "record",
        description=text,
        epilog="example:\n  admit scope record -- python -m pytest",
        formatter_class=parser.formatter_class,
        allow_abbrev=False,
    )
    configure_record(record)


def run(args: Namespace) -> int:
    """Answer, and exit 0."""
    if args.verb == "record":
        return run_record(args)
    from admit.scope.report import json_of, text_of
    from admit.wiring.scope import scope_of

    with _uncollected():
        scoped = scope_of(os.getcwd(), os.environ, base=args.base, path=args.map)
        show = json_of if args.format == "json" else text_of
        sys.stdout.write(show(scoped.diff, scoped.answers, args.node))
    return 0


@contextmanager
def _uncollected() -> Iterator[None]:
    """Look for no cycles meanwhile: a map makes many values and none."""
    import gc

    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
