"""`admit log`: the last decisions from the ledger."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from admit.errors import InputError, UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from admit.ledger.base import Entry


def configure(parser: ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("-n", type=int, default=20, metavar="N", help="how many entries, newest last (default 20)")
    parser.add_argument("--ledger", type=Path, help="ledger file (default: as configured)")
    parser.add_argument("--format", choices=("text", "json", "markdown"), default="text")


def run(args: Namespace) -> int:
    """Print the entries."""
    from admit.ledger.sqlite import SqliteLedger
    from admit.wiring import workspace

    if args.n < 1:
        raise UsageError("-n", str(args.n), allowed="1 or more")
    path = args.ledger or workspace().path("ledger.path")
    if not path.exists():
        raise InputError(str(path), "no ledger here", do="decide something first: `admit run -- python -m pytest`")
    ledger = SqliteLedger(path, read_only=True)
    try:
        entries = ledger.last(args.n)
    finally:
        ledger.close()
    sys.stdout.write(_PRINT[args.format]([_row(entry) for entry in entries]))
    return 0


def _row(entry: Entry) -> dict[str, Any]:
    try:
        body = json.loads(entry.body)
    except ValueError:
        body = {}
    patch = body.get("patch") or {}
    return {
        "seq": entry.seq,
        "appended_at": entry.appended_at,
        "kind": entry.kind,
        "patch_id": patch.get("patch_id", ""),
        "head": patch.get("head"),
        "outcome": body.get("outcome", "?"),
        "attribution": body.get("attribution", "?"),
        "exit_code": body.get("exit_code"),
        "router": (body.get("router") or {}).get("digest"),
        "digest": entry.digest.hex(),
    }


def _text(rows: list[dict[str, Any]]) -> str:
    from admit.render.text import safe

    return "".join(
        f"{row['seq']:>6}  {row['appended_at'][:19]}Z  {row['outcome']:9} {row['attribution']:36} "
        f"{safe(row['patch_id'], 40)}  {(row['head'] or '-')[:12]}\n"
        for row in rows
    )


def _json(rows: list[dict[str, Any]]) -> str:
    return json.dumps(rows, indent=1) + "\n"


def _markdown(rows: list[dict[str, Any]]) -> str:
    from admit.render.markdown import cell

    head = ["| # | when | disposition | attribution | patch | head |", "|---|---|---|---|---|---|"]
    keys = ("seq", "appended_at", "outcome", "attribution", "patch_id", "head")
    return "\n".join([*head, *("| " + " | ".join(cell(str(row[key])) for key in keys) + " |" for row in rows)]) + "\n"


_PRINT = {"text": _text, "json": _json, "markdown": _markdown}
