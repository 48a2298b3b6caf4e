"""Verbs of a command, as rows: parser, help and dispatch derive from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable, Mapping


class Verb(NamedTuple):
    """One row: its name, what it does, an example that works, its arguments, its work."""

    name: str
    help: str
    example: str
    configure: Callable[[ArgumentParser], None]
    run: Callable[[Namespace], int]


def add_verbs(
    parser: ArgumentParser, verbs: Mapping[str, Verb], shared: Callable[[ArgumentParser], None] | None = None
) -> None:
    """Add a parser a verb; `shared` adds the arguments that all of them take."""
    choices = parser.add_subparsers(dest="verb", required=True, metavar="|".join(verbs))
    for verb in verbs.values():
        one = choices.add_parser(
            verb.name,
            help=verb.help,
            description=verb.help,
            epilog=f"example:\n  {verb.example}",
            formatter_class=parser.formatter_class,
            allow_abbrev=False,
        )
        verb.configure(one)
        if shared is not None:
            shared(one)
