"""`admit approve`: a reviewer's signed word on exactly what a patch changes, and what it covers (contract L5)."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from admit.errors import InputError, LedgerError, UsageError, one_line

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterable

    from admit.repository import Change
    from admit.trust.approvals import Approval, Entry
    from admit.wiring import Workspace


def configure(parser: ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("--base", metavar="REF", help="the commit that the patch is to be merged into")
    parser.add_argument("--head", metavar="REF", default="HEAD", help="the patch (default: HEAD)")
    parser.add_argument("--key", metavar="FILE", help="the reviewer's private key")
    parser.add_argument("--reason", metavar="TEXT", help="why, in words, for whoever asks later")
    parser.add_argument("--control", action="store_true", help="approve every control file that the patch changes")
    parser.add_argument(
        "--node", action="append", default=[], metavar="NODE", help="approve a test's new form, or loss"
    )
    parser.add_argument("--path", action="append", default=[], metavar="PATH", help="approve a file, from the root")
    parser.add_argument("--expires", metavar="INSTANT", help="until when it counts (RFC 3339; default: no end)")
    parser.add_argument("--now", metavar="INSTANT", help="the instant to approve or check at (RFC 3339)")
    parser.add_argument(
        "--out", metavar="FILE", help="where it goes (default: a new file in the folder trust.approvals)"
    )
    parser.add_argument(
        "--check", nargs="+", default=[], metavar="FILE", help="say whose approvals these are, and of what"
    )
    parser.add_argument("--policy", help="whose approvals count (with --check; default: the router as configured)")


def run(args: Namespace) -> int:
    """Approve, or check approvals; neither is a disposition."""
    from admit.wiring import workspace

    return (_check if args.check else _approve)(workspace(), args)


def _approve(space: Workspace, args: Namespace) -> int:
    from admit.trust.approvals import approval_statement
    from admit.trust.dsse import envelope_bytes
    from admit.trust.signedfiles import read_signer, write_new
    from admit.trust.statements import statement_bytes
    from admit.wiring import instant

    for name in ("base", "key", "reason"):
        if not (getattr(args, name) or "").strip():
            raise UsageError(f"--{name}", "absent or empty", do="see `admit approve --help`")
    if not (args.control or args.node or args.path):
        raise UsageError("admit approve", "nothing to approve", allowed="--control, --node, --path")
    signer, now = read_signer(args.key), instant(args.now)
    expires = None if args.expires is None else instant(args.expires)
    if expires is not None and expires <= now:
        raise UsageError("--expires", f"{args.expires} is over", allowed="an instant to come")
    entries = _entries(space, args)
    payload = statement_bytes(approval_statement(entries, reason=args.reason, now=now, expires=expires))
    path = args.out or _new_place(space, payload)
    write_new(path, envelope_bytes(payload, signer))
    sys.stdout.write(one_line(f"{path}: approved by {signer.key_id}") + "\n")
    _print_entries(entries)
    return 0


def _new_place(space: Workspace, payload: bytes) -> str:
    from hashlib import sha256

    folder = space.path("trust.approvals")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LedgerError(str(folder), f"cannot be made: {error.strerror}", do="name a file with --out") from error
    return os.fspath(folder / f"{sha256(payload).hexdigest()[:16]}.dsse.json")


def _entries(space: Workspace, args: Namespace) -> list[Entry]:
    """Return what is approved: changes of control files, of files named, of the files of nodes."""
    from admit.repository import changes, merge_base
    from admit.trust.approvals import entry_of
    from admit.wiring import control_files

    prefix = _prefix(space)
    # from where the patch left the base: what the base did since is no change of the patch's
    base = merge_base(space.root, args.base, args.head)
    found = {change.path: change for change in changes(space.root, base, args.head)}
    entries = []
    if args.control:
        touched = [prefix + name for name in control_files(space) if prefix + name in found]
        if not touched:
            raise InputError("--control", "the patch changes no control file", do="nothing has to be approved there")
        entries += [entry_of(found[path]) for path in touched]
    entries += [entry_of(_changed(found, prefix + path)) for path in args.path]
    nodes: dict[str, list[str]] = {}
    for node in args.node:
        nodes.setdefault(prefix + node.partition("::")[0], []).append(node)
    return entries + [entry_of(_changed(found, path), named) for path, named in nodes.items()]


def _prefix(space: Workspace) -> str:
    """Return how paths of the workspace begin where they are counted from the top of the repository."""
    from admit.repository import toplevel

    top = toplevel(space.root)
    return "" if top is None or top == space.root else space.root.relative_to(top).as_posix() + "/"


def _changed(found: dict[str, Change], path: str) -> Change:
    if path not in found:
        some = ", ".join(sorted(found)[:10]) or "it changes nothing"
        raise InputError(path, "the patch does not change it", allowed=some, do="name what the patch changes")
    return found[path]


def _print_entries(entries: Iterable[Entry]) -> None:
    for one in entries:
        what = f"  {one.path}: {one.old.blob or 'absent'} -> {one.new.blob or 'absent'}"
        what += f", as to {', '.join(one.nodes)}" if one.nodes else ""
        sys.stdout.write(one_line(what) + "\n")


def _check(space: Workspace, args: Namespace) -> int:
    from admit.trust.approvals import ApprovalFile, covering
    from admit.trust.signedfiles import read_small
    from admit.wiring import instant, policy_of

    approvers = policy_of(space, "policy.router", args.policy).trust.approvers
    files = []
    for path in args.check:
        raw = read_small(path)
        if raw is None:
            raise InputError(path, "there is no such file", do="name what `admit approve` wrote")
        files.append(ApprovalFile(path, raw, _is_tracked(space, path)))
    approved = covering(files, approvers, now=instant(args.now))
    for one in approved.approvals:
        _print_approval(one)
    for problem in approved.problems:
        sys.stdout.write(f"{problem}\n")
    if approved.problems:
        raise InputError("", f"{len(approved.problems)} of {len(files)} do not count", do="the lines above say why")
    return 0


def _print_approval(one: Approval) -> None:
    until = "" if one.expires is None else f", until {one.expires}"
    sys.stdout.write(one_line(f"{one.source}: {one.key_id} approved at {one.at}{until}: {one.reason}") + "\n")
    _print_entries(one.entries)


def _is_tracked(space: Workspace, path: str) -> bool:
    """Return whether the commit or the index holds a file, or what it leads to; outside of the repository none does."""
    from admit.repository import tracked

    root = os.path.realpath(space.root)
    names = (os.path.relpath(one, root) for one in (_place(path), os.path.realpath(path)))
    return any(not name.startswith("../") and tracked(space.root, f"./{name}") for name in names)


def _place(path: str) -> str:
    """Return where a file itself lies, whatever it leads to."""
    folder, name = os.path.split(path)
    return os.path.join(os.path.realpath(folder or "."), name)
