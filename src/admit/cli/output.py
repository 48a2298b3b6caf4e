"""Decisions on standard output, in the format asked for."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from admit.core.decision import Decision

FORMATS: Final = ("text", "json", "markdown")


def say(text: str, *, is_whole: bool = False) -> None:
    """Write a line to standard error; where nobody can listen, the exit code says it."""
    from admit.errors import one_line

    try:
        sys.stderr.write((text if is_whole else one_line(text)) + "\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        return


def add_format(parser: ArgumentParser) -> None:
    """Add `--format`, which every command that prints a result has."""
    parser.add_argument(
        "--format", choices=FORMATS, default="text", help="text for people, json for machines, markdown for comments"
    )


def print_line(decision: Decision, how: str) -> None:
    """Print a decision on hand-written evidence: one line of text, or the whole in another format."""
    if how == "text":
        sys.stdout.write(decision.line + "\n")
        if decision.rule == 0 or not decision.router.name:
            say(f"admit: {decision.detail}")
    else:
        print_whole(decision, how)


def print_whole(decision: Decision, how: str) -> None:
    """Print everything that a decision holds."""
    match how:
        case "json":
            from admit.render.json import decision_bytes

            sys.stdout.write(decision_bytes(decision, indent=1).decode())
        case "markdown":
            from admit.render.markdown import markdown

            sys.stdout.write(markdown(decision))
        case _:
            from admit.render.text import coloured, plain, text

            sys.stdout.write(text(decision, coloured if wants_colour() else plain))


def wants_colour() -> bool:
    """Return whether standard output is a terminal and nobody set `NO_COLOR`."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
