"""`admit decide`: the whole pipeline on an evidence folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from admit.cli.output import add_format, print_whole
from admit.errors import LedgerError, UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from admit.adjudicate import Case
    from admit.core.decision import Decision
    from admit.wiring import Asked, Workspace


def configure(parser: ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("folder", nargs="?", type=Path, metavar="EVIDENCE_DIR", help="default: as configured")
    parser.add_argument("--head", help="the commit to judge (default: HEAD)")
    parser.add_argument(
        "--approval", type=Path, action="append", metavar="FILE", help="a reviewer's signed approval (may be repeated)"
    )
    parser.add_argument(
        "--inventory",
        type=Path,
        metavar="DIR",
        help="what the base's own run left as evidence: each node of it has to be there (default: as configured)",
    )
    parser.add_argument(
        "--no-base", action="store_true", help="decide by the rules that lie here, also where CI names a base"
    )
    parser.add_argument("--now", help="the instant to decide at, for a replay (RFC 3339)")
    add_patch(parser)


def add_patch(parser: ArgumentParser) -> None:
    """Add what `run` and `decide` share."""
    parser.add_argument("--patch", help="the patch's id (default: as the evidence says)")
    parser.add_argument("--base", metavar="REF", help="the commit that the patch is to be merged into")
    parser.add_argument("--policy", help="the router: a shipped policy's name or a file (default: as configured)")
    parser.add_argument("--out", type=Path, help="where the decision is written (default: .admit/decision.json)")
    parser.add_argument("--ledger", type=Path, help="where it is recorded (default: as configured)")
    add_format(parser)


def run(args: Namespace) -> int:
    """Decide, record, write, print, and exit with the disposition."""
    check_asked(args)
    base = _named_base(args)
    if base is not None:  # the configuration that lies here may be the patch's: it is not even read
        return _on_base(args, base)
    from admit.cli.attempts import check_links, measured_with
    from admit.wiring import workspace

    space = workspace()
    check_links(space)
    measured = measured_with(args.folder or space.path("evidence.folder"))
    if measured is None:
        return _on_nothing(args, space)
    if args.no_base:  # what the base's instrument held would be let go
        raise UsageError("--no-base", f"the evidence was measured with {measured}", do="leave --no-base out")
    return _on_base(args, measured)


def _named_base(args: Namespace) -> str | None:
    """Return the base whose rules decide, as named, else as CI says; None where nobody says.

    Raises:
        UsageError: one is named, and none is wanted.
    """
    from admit.wiring.base import found_base

    if args.no_base:
        if args.base is not None:
            raise UsageError("--no-base", f"--base {args.base} beside it", allowed="one of the two")
        return None
    return args.base or found_base(os.environ, Path.cwd())


def _on_nothing(args: Namespace, space: Workspace) -> int:
    """Decide by the files under review that lie here: nobody names a base."""
    from admit.wiring import Asked, instant
    from admit.wiring.base_evidence import inventory_folder

    folder = args.folder or space.path("evidence.folder")
    is_wanted = inventory_folder(space, args.inventory) is not None
    asked = Asked(
        folder=folder,
        notes=() if folder.is_dir() else (f"{folder} is no folder: there is no evidence",),
        now=instant(args.now),
        patch_id=args.patch,
        head=args.head,
        policy=args.policy,
        inadmissible={"no-inventory": _NO_BASE} if is_wanted else {},
    )
    return answer(space, asked, args)


_NO_BASE = "the base's evidence is to be looked at, and nobody names the base (--base REF)"


def _on_base(args: Namespace, base: str) -> int:
    """Decide by the files under review as the base has them, not as the patch does (contract T1)."""
    from tempfile import TemporaryDirectory

    from admit.cli.attempts import check_links
    from admit.wiring import Asked, instant, policy_of
    from admit.wiring.base import based, control_space, given_policy
    from admit.wiring.base_evidence import inventory_folder, kept_inventory, with_inventory
    from admit.wiring.patch import approvals_of, inadmissible, not_yet_pinned, sorted_changes

    patch = based(Path.cwd(), base, head=args.head)
    check_links(patch.space)
    folder, now = args.folder or patch.space.path("evidence.folder"), instant(args.now)
    with TemporaryDirectory(prefix="admit-control-") as place:
        control = control_space(patch, Path(place))
        given = given_policy(patch, args.policy, control.root)
        policy = policy_of(control, "policy.router", given)
        approved = approvals_of(patch, policy, now, args.approval or ())
        asked = Asked(
            folder=folder,
            now=now,
            patch_id=args.patch,
            head=patch.head,
            base=base,
            instrument=patch.base,
            policy=given,
            notes=(
                *(() if folder.is_dir() else (f"{folder} is no folder: there is no evidence",)),
                *approved.problems,
                *not_yet_pinned(patch),
            ),
            inadmissible=inadmissible(patch, sorted_changes(patch), approved, policy),
            control=control,
        )
        if (kept := inventory_folder(patch.space, args.inventory)) is not None:
            asked = with_inventory(asked, kept_inventory(patch, kept, policy), patch, approved)
        return answer(patch.space, asked, args)


def answer(space: Workspace, asked: Asked, args: Namespace) -> int:
    """Return the exit code of a decision that was recorded, written and printed, in this order."""
    from admit.adjudicate import adjudicate
    from admit.wiring import case_of, recorder

    record = recorder(args.ledger or space.path("ledger.path"), asked.now)
    out = decision_path(space, args)
    case = case_of(space, asked)
    decision = adjudicate(case._replace(notes=(*case.notes, *lost_freezes(case))), record)
    write_decision(decision, out)
    print_whole(decision, args.format)
    return decision.exit_code


def lost_freezes(case: Case) -> tuple[str, ...]:
    """Return a note for each freeze in force that reaches no node of the evidence, where every test gate's run ended.

    Of a run that did not come to its end nobody knows which nodes it would have had.
    """
    from admit.core.fold import fold
    from admit.core.signals import FREEZE_GATE
    from admit.freeze.history import orphans

    lost = orphans(case.sampling.frozen, case.documents) if case.sampling.frozen else ()
    tests = [document for document in case.documents if document.opening.gate != FREEZE_GATE]
    if not lost or not any(document.codes for document in tests):
        return ()
    for gate in sorted({document.opening.gate for document in tests}):
        folded = fold(gate, (document for document in tests if document.opening.gate == gate))
        if folded.gap or folded.unfinished:
            return ()
    said = "is frozen, and no test of this name ran: if it was renamed or deleted, thaw it"
    return tuple(f"{node} {said}" for node in lost)


def check_asked(args: Namespace) -> None:
    """Refuse an option that is given and empty, or holds what no id holds: a variable that was not set, mostly.

    Raises:
        UsageError: it is.
    """
    for name in ("patch", "base", "head", "lane", "policy"):
        text = getattr(args, name, None)
        if text is not None and not (text and text.isprintable() and len(text) <= MOST):
            raise UsageError(f"--{name}", repr(text[:40]), allowed=f"1 to {MOST} printable characters")


MOST = 500


def last_decision(space: Workspace) -> Path:
    """Return where decisions of this workspace go that name no other place."""
    return space.root / ".admit" / "decision.json"


def decision_path(space: Workspace, args: Namespace) -> Path:
    """Return where the decision goes.

    Raises:
        UsageError: something else stands there.
    """
    path: Path = args.out or last_decision(space)
    try:
        is_free = not path.is_symlink() and (not path.exists() or (path.is_file() and _is_decision(path)))
    except (OSError, ValueError):
        is_free = False
    if not is_free or not path.name:
        raise UsageError(
            "--out", f"{str(path)!r} is no place for a decision", allowed="a new file, or an earlier decision"
        )
    return path


def _is_decision(path: Path) -> bool:
    with path.open("rb") as stream:
        return b"admit.decision/" in stream.read(200)


def forget_decision(space: Workspace, args: Namespace) -> None:
    """Remove the decision of an earlier run, so that it cannot be read as this one's.

    Raises:
        LedgerError: it cannot be removed.
        UsageError: something else stands there.
    """
    path = decision_path(space, args)
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise LedgerError(str(path), f"cannot be removed: {error.strerror}", do="remove it, or name another") from error


def write_decision(decision: Decision, path: Path) -> None:
    """Write decision.json, whole or not at all.

    Raises:
        LedgerError: it cannot be written.
    """
    from admit.render.json import decision_bytes

    part = path.with_name(path.name + ".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(decision_bytes(decision, indent=1))
        part.replace(path)
    except OSError as error:
        raise LedgerError(
            str(path), f"cannot be written: {error.strerror}", do="free the path or name another with --out"
        ) from error
