"""`admit verify`: check documents, or a decision, against their signatures (contract T5)."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from admit.cli.sign import check_named, read_decision_file, read_sealed
from admit.errors import InputError, UsageError, one_line

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Sequence

    from admit.core.decision import Decision


def configure(parser: ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("files", nargs="*", metavar="FILE", help="documents, each with its envelope beside it")
    parser.add_argument("--decision", metavar="FILE", help="a decision, instead of evidence")
    parser.add_argument(
        "--key",
        action="append",
        default=[],
        metavar="PUB",
        help="a key that is trusted with all of it; may be repeated",
    )
    parser.add_argument("--head", metavar="REF", help="the commit that the decision has to be on (with --decision)")
    parser.add_argument("--policy", help="take the keys of each gate from a policy (default: the router as configured)")


def run(args: Namespace) -> int:
    """Print a line a file; exit 0 where every signature holds, 65 where one does not."""
    check_named(args)
    if args.key and args.policy:
        raise UsageError("--key", "--policy is given too", allowed="one of the two")
    if args.decision:
        return _decision(args)
    if args.head:
        raise UsageError("--head", "no --decision beside it", do="a document's commit is printed; a decision checks it")
    wrong = [path for path in args.files if not _holds(path, _keys(args, path))]
    if wrong:
        raise InputError("", f"{len(wrong)} of {len(args.files)} are not signed as asked", do="the lines above say why")
    return 0


def _keys(args: Namespace, path: str) -> Sequence[str] | None:
    """Return the keys that are trusted with a document's gate; None where nobody says which."""
    from admit.trust.signedfiles import read_key_id
    from admit.wiring import policy_of, workspace

    if args.key:
        return [read_key_id(given) for given in args.key]
    policy = policy_of(workspace(), "policy.router", args.policy)
    return dict(policy.trust.evidence).get(read_sealed(path).opening.gate)


def _holds(path: str, keys: Sequence[str] | None) -> bool:
    from admit.trust.signatures import SUFFIX, signed_by
    from admit.trust.signedfiles import read_small

    document = read_sealed(path)
    opening = document.opening
    if keys is None:
        said = f"{path}: not checked: the policy names no key for {opening.gate}; name one with --key"
        sys.stdout.write(one_line(said) + "\n")
        return False
    try:
        by = signed_by(document, read_small(path + SUFFIX), keys)
    except InputError as error:
        sys.stdout.write(f"{error}\n")
        return False
    of = f"{opening.gate} for {opening.patch_id} at {opening.head}, run {opening.run_id}, lane {opening.lane}"
    sys.stdout.write(one_line(f"{path}: holds: {of}; signed by {', '.join(by)}") + "\n")
    return True


def _decision(args: Namespace) -> int:
    from admit.trust.signatures import SUFFIX, decision_signed_by
    from admit.trust.signedfiles import read_key_id, read_small

    if not args.key:
        raise UsageError("--key", "none; a policy names keys for evidence alone", do="name the key of who decided")
    decision, digest = read_decision_file(args.decision)
    raw = read_small(args.decision + SUFFIX)
    if raw is None:
        raise InputError(args.decision, "not signed", do="sign it: `admit sign --decision`")
    by = decision_signed_by(decision, digest, raw, [read_key_id(given) for given in args.key])
    _check_head(decision, args)
    on = f"on {decision.patch.head or 'no commit'}, at {decision.now}"
    sys.stdout.write(one_line(f"{args.decision}: holds: {decision.line} {on}; signed by {', '.join(by)}") + "\n")
    return 0


def _check_head(decision: Decision, args: Namespace) -> None:
    """Refuse a decision on another commit: its signature holds for ever, and says nothing of this one."""
    from admit.repository import resolve
    from admit.wiring import workspace

    if args.head and decision.patch.head != (head := resolve(workspace().root, args.head)):
        found = f"it is on {decision.patch.head or 'no commit'}"
        raise InputError(args.decision, found, allowed=head, do="verify the decision on this commit")
