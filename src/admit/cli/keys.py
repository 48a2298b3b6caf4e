"""`admit keys`: make the keys that sign evidence, decisions and approvals, and say how a policy names them."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final

from admit.cli.verbs import Verb, add_verbs
from admit.errors import UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def configure(parser: ArgumentParser) -> None:
    """Add the verbs."""
    add_verbs(parser, VERBS)


def run(args: Namespace) -> int:
    """Do what the verb says."""
    return VERBS[args.verb].run(args)


def _configure_new(parser: ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="what people call the key: a gate, a person")
    parser.add_argument("--out", default=".", metavar="DIR", help="where the two files go (default: here)")


def _new(args: Namespace) -> int:
    from admit.trust.signedfiles import write_key_pair

    allowed = "letters, digits, _ . and -, a letter or digit first"
    if not args.name.replace("-", "").replace("_", "").replace(".", "").isalnum() or not args.name.isascii():
        raise UsageError("NAME", repr(args.name[:40]), allowed=allowed)
    if not args.name[0].isalnum() or len(args.name) > 100:
        raise UsageError("NAME", repr(args.name[:40]), allowed=allowed)
    if not os.path.isdir(args.out):
        raise UsageError("--out", f"{args.out[:200]!r} is no folder", do="make it first")
    private, public, key_id = write_key_pair(args.out, args.name)
    sys.stdout.write(f"{key_id}\nprivate: {private} (keep it out of the repository)\npublic: {public}\n")
    return 0


def _configure_show(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a public or private key")


def _show(args: Namespace) -> int:
    from admit.trust.signedfiles import read_key_id

    sys.stdout.write(f"{read_key_id(args.file)}\n")
    return 0


VERBS: Final = {
    "new": Verb("new", "Make a key: NAME.key, which signs, and NAME.pub.", "admit keys new ana", _configure_new, _new),
    "show": Verb("show", "Print a key as a policy names it.", "admit keys show ana.pub", _configure_show, _show),
}
