"""`admit freeze`: declare, list, check and end freezes of flaky tests (contract section 4)."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from admit.cli.output import add_format
from admit.cli.verbs import Verb, add_verbs
from admit.errors import EvidenceError, InputError, UsageError, one_line

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterable
    from datetime import datetime, timedelta

    from admit.core.records import Document
    from admit.freeze.entries import Entry
    from admit.freeze.history import History
    from admit.freeze.register import Register


def configure(parser: ArgumentParser) -> None:
    """Add the verbs."""
    add_verbs(parser, VERBS, _configure_where)


def _configure_where(parser: ArgumentParser) -> None:
    parser.add_argument("--register", type=Path, metavar="FILE", help="the register (default: as configured)")
    parser.add_argument("--now", metavar="INSTANT", help="replay at this RFC 3339 instant (default: the clock)")


def run(args: Namespace) -> int:
    """Do what the verb says."""
    return VERBS[args.verb].run(args)


class _Where(NamedTuple):
    """The register's file, the horizon that is configured, and the one instant of this command."""

    path: Path
    horizon_days: int
    now: datetime

    def register(self, text: str) -> Register:
        from admit.freeze.register import read_register

        return read_register(text, str(self.path), now=self.now, horizon_days_default=self.horizon_days)


def _where(args: Namespace) -> _Where:
    from admit.wiring import instant, workspace

    space = workspace()
    path: Path = args.register or space.path("freeze.register")
    if path.is_relative_to(here := Path.cwd()):
        path = path.relative_to(here)
    return _Where(path, space.settings.number("freeze.horizon_days"), instant(args.now))


# ---------------------------------------------------------------- add


def _configure_add(parser: ArgumentParser) -> None:
    parser.add_argument("node", metavar="NODE", help="one test, or one parameter case, as its runner prints it")
    parser.add_argument("--reason", required=True, help="what was seen and what is suspected")
    parser.add_argument("--owner", required=True, help="who will fix it")
    parser.add_argument("--expires", required=True, metavar="WHEN", help="an RFC 3339 instant, or a span: 12h, 7d, 2w")
    parser.add_argument("--issue", default="", help="where the work on it is tracked")
    seen = parser.add_mutually_exclusive_group(required=True)
    seen.add_argument(
        "--evidence",
        action="append",
        type=Path,
        metavar="PATH",
        help="an evidence document, or a folder of them, that shows the node both passing and failing on one commit",
    )
    seen.add_argument("--no-history", metavar="STATEMENT", help="say in words that there is no such history, and why")


def _add(args: Namespace) -> int:
    from admit.freeze.edit import EMPTY_REGISTER, with_entry
    from admit.freeze.entries import Entry
    from admit.freeze.files import read_text, replace_text
    from admit.freeze.instant import rfc3339, time_left

    where = _where(args)
    was = read_text(where.path) if where.path.exists() or where.path.is_symlink() else None
    seen, warning = _seen(args)
    entry = Entry(
        args.node,
        args.reason,
        args.owner,
        _expiry(args.expires, where.now),
        opened=where.now.replace(microsecond=0),
        issue=args.issue,
        seen=seen,
        no_history=args.no_history or "",
    )
    text = with_entry(EMPTY_REGISTER if was is None else was, entry, str(where.path))
    _refuse_broken(where.register(text), args)
    replace_text(where.path, text, was=was)
    left = time_left(entry.expires, where.now)
    said = [f"frozen until {rfc3339(entry.expires)} ({left}): {entry.node}"]
    said += [f"seen: {seen}"] if seen else [f"no history: {entry.no_history}"]
    said += [warning] if warning else []
    _say([*said, f"written to {where.path}: commit it as a change of its own"])
    return 0


def _refuse_broken(register: Register, args: Namespace) -> None:
    """Refuse the entry that was added last if it breaks a rule; those of others are theirs to mend."""
    for finding in register.problems:
        if finding.number == register.total:
            raise UsageError(f"admit freeze add {args.node!r}", finding.found, do=finding.do)


def _expiry(text: str, now: datetime) -> datetime:
    from admit.freeze.instant import Refused, span_of, utc_instant

    span = span_of(text)
    expires = utc_instant(text) if isinstance(span, Refused) else utc_instant(now + span)
    if isinstance(expires, Refused):
        raise UsageError("--expires", expires.found, do=f"{expires.do}, or a span from now: 12h, 7d, 2w")
    if expires <= now:
        raise UsageError("--expires", f"{text} has passed", do="write an instant that is still to come")
    return expires


def _seen(args: Namespace) -> tuple[str, str]:
    """Return what to record of the history that evidence shows, and a warning about it; both empty without evidence."""
    from admit.freeze.history import flake_seen, history_of
    from admit.freeze.instant import Refused

    if args.evidence is None:
        return "", ""
    history = history_of(args.node, documents(args.evidence))
    seen = flake_seen(history)
    if isinstance(seen, Refused):
        raise UsageError(f"admit freeze add {args.node!r}", seen.found, do=seen.do)
    return seen, _warning(history)


def _warning(history: History) -> str:
    if not history.counterexample:
        return ""
    found = f"a failing run reported a counterexample ({history.counterexample})"
    return f"warning: {found}: replay it first; a property that fails on some inputs is broken, not flaky"


def documents(paths: Iterable[Path]) -> list[Document]:
    """Return the evidence documents in these files and folders.

    Raises:
        InputError: a path does not exist, a folder holds none, or a document is malformed.
    """
    from admit.evidence.read import read_document
    from admit.wiring import limits_of, read_folder, workspace

    space = workspace()
    found: list[Document] = []
    for path in paths:
        try:
            if not path.is_dir():
                found.append(read_document(path, limits=limits_of(space)))
                continue
            inside, problems = read_folder(space, path)
        except EvidenceError as error:
            raise InputError(error.where, error.found, allowed=error.allowed, do=error.do) from error
        if problems or not inside:
            said = problems[0] if problems else "holds no evidence document"
            raise InputError(str(path), said, do="run the tests first, and hand in what they left")
        found += inside
    return found


# ---------------------------------------------------------------- list, check, due


def _configure_check(parser: ArgumentParser) -> None:
    add_format(parser)
    parser.add_argument(
        "--evidence",
        action="append",
        type=Path,
        metavar="PATH",
        help="documents of a whole run, or a folder of them: say which frozen nodes it does not have",
    )


def _configure_due(parser: ArgumentParser) -> None:
    add_format(parser)
    parser.add_argument(
        "--within", default="7d", metavar="SPAN", help="how far to look ahead: 12h, 7d, 2w (default 7d)"
    )
    parser.add_argument("--fail-if-due", action="store_true", help="exit 1 if there is anything to say")


def _read(args: Namespace) -> tuple[Register, datetime]:
    from admit.freeze.files import read_text

    where = _where(args)
    return where.register(read_text(where.path)), where.now


def _list(args: Namespace) -> int:
    from admit.freeze.report import LISTS

    sys.stdout.write(LISTS[args.format](*_read(args)))
    return 0


def _check(args: Namespace) -> int:
    from admit.freeze.entries import Finding
    from admit.freeze.history import orphans
    from admit.freeze.register import in_force
    from admit.freeze.report import CHECKS

    register, now = _read(args)
    if args.evidence:
        held = in_force(register, now)
        lost = (held[node] for node in orphans(held, documents(args.evidence)))
        said = "no test of this name ran: renamed or deleted, so the freeze reaches nothing"
        notes = [
            Finding(register.where, entry.number, entry.line, entry.node, said, f"{entry.owner}: thaw it")
            for entry in lost
        ]
        register = register._replace(notes=(*register.notes, *notes))
    sys.stdout.write(CHECKS[args.format](register, now))
    return 1 if register.problems else 0


def _due(args: Namespace) -> int:
    from admit.freeze.report import DUES, due

    register, now = _read(args)
    found = due(register, now, _span(args.within))
    sys.stdout.write(DUES[args.format](found))
    return 1 if found.rows and args.fail_if_due else 0


def _span(text: str) -> timedelta:
    from admit.freeze.instant import Refused, span_of

    span = span_of(text)
    if isinstance(span, Refused):
        raise UsageError("--within", span.found, do=span.do)
    return span


# ---------------------------------------------------------------- thaw


def _configure_thaw(parser: ArgumentParser) -> None:
    parser.add_argument("node", nargs="*", metavar="NODE", help="frozen nodes, as the register writes them")
    parser.add_argument("--expired", action="store_true", help="every entry that has expired")


def _thaw(args: Namespace) -> int:
    from admit.freeze.edit import without_entries
    from admit.freeze.files import read_text, replace_text

    if bool(args.node) == args.expired:
        raise UsageError("admit freeze thaw", "name nodes, or say --expired", do="see `admit freeze thaw --help`")
    where = _where(args)
    was = read_text(where.path)
    register = where.register(was)
    gone = [
        entry for entry in register.entries if (entry.is_over(where.now) if args.expired else entry.node in args.node)
    ]
    _refuse_absent(args.node, gone, register)
    thawed = without_entries(was, [entry.number for entry in gone], str(where.path))
    replace_text(where.path, thawed.text, was=was)
    said = [f"thawed: {entry.node} ({entry.owner}): it votes from the change that lands this" for entry in gone]
    said += [f"left in place above it: {comment}" for comment in thawed.comments]
    _say(said or [f"{where.path}: nothing has expired"])
    return 0


def _refuse_absent(nodes: list[str], gone: list[Entry], register: Register) -> None:
    absent = sorted(set(nodes) - {entry.node for entry in gone})
    if not absent:
        return
    from difflib import get_close_matches

    known = [entry.node for entry in register.entries]
    near = get_close_matches(absent[0], known, n=3) or known[:3]
    raise UsageError(
        register.where,
        f"no freeze of {absent[0]!r}",
        allowed=", ".join(near),
        do="" if known else "the register holds no freeze that can be read",
    )


def _say(lines: Iterable[str]) -> None:
    sys.stdout.write("".join(f"{one_line(line)}\n" for line in lines))


VERBS: Final[dict[str, Verb]] = {
    verb.name: verb
    for verb in (
        Verb(
            "add",
            "Freeze one node for a while, and record the flake that was seen.",
            "admit freeze add tests/test_sync.py::test_retry --reason 'races with the clock' --owner @ana "
            "--expires 14d --evidence .admit/evidence",
            _configure_add,
            _add,
        ),
        Verb("list", "Show every freeze: time left, owner, reason.", "admit freeze list", add_format, _list),
        Verb(
            "check",
            "Check that the register keeps its own rules: exit 0 if it does, 1 if not.",
            "admit freeze check --evidence .admit/evidence",
            _configure_check,
            _check,
        ),
        Verb(
            "due",
            "Say what expires soon or has expired, and to whom it belongs, for a scheduled job to post.",
            "admit freeze due --within 7d --format markdown",
            _configure_due,
            _due,
        ),
        Verb(
            "thaw",
            "Take freezes out of the register, so that their nodes vote again.",
            "admit freeze thaw tests/test_sync.py::test_retry",
            _configure_thaw,
            _thaw,
        ),
    )
}
