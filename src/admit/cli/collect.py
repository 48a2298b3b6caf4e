"""`admit collect FORMAT FILE...`: turn another tool's reports into a gate's evidence document (contract E8)."""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from admit.cli.attempts import shard_of
from admit.collect import FORMATS, LIMITS, reader_of
from admit.errors import EvidenceError, LedgerError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from admit.collect import Format, Report
    from admit.collect.files import Since
    from admit.collect.report import Ending
    from admit.core.context import RunContext
    from admit.core.records import NodeRecord, Opening

CLOSED_BY: Final = "collector"


class Asked(NamedTuple):
    """What the command line says of the reports: format, files, gate, where documents go, and how the run went."""

    form: Format
    names: tuple[str, ...]
    gate: str
    out: str
    root: str
    exit_code: int | None
    newer_than: Since | None


class Collected(NamedTuple):
    """What was written: the document, how often each check stands in it and why, the number of files, how it ended."""

    path: str
    counts: Counter[str]
    file_count: int
    ending: Ending
    notes: tuple[str, ...]


def configure(parser: argparse.ArgumentParser) -> None:
    """Add one verb a format, with the same arguments."""
    verbs = parser.add_subparsers(dest="report", metavar="FORMAT", required=True)
    for form in FORMATS.values():
        verb = verbs.add_parser(
            form.name,
            help=form.help,
            description=f"Turn {form.help} into one evidence document of a gate.",
            epilog=f"example:\n  admit collect {form.name} 'build/**/TEST-*.xml' --gate fixture_check --exit-code $?",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        _add_arguments(verb)


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "files", nargs="+", metavar="FILE", help="reports of one run, or patterns in quotes (** for folders in folders)"
    )
    add("--gate", required=True, help="the gate that the run speaks for, such as fixture_check")
    add("--exit-code", type=int, metavar="N", help="what the test command exited with; weaker evidence without it")
    add("--newer-than", metavar="WHEN", help="refuse reports last written before this file, or this instant (ISO 8601)")
    add("--patch", metavar="ID", help="the patch's id (default: the branch's name, or the commit)")
    add("--head", metavar="SHA", help="the commit that was tested (default: HEAD)")
    add("--base", metavar="REF", help="the commit that the patch is to be merged into")
    add("--shard", default="1/1", metavar="I/N", help="which part of the suite this run is (default: 1/1)")
    add("--attempt", type=int, default=1, metavar="N", help="which attempt at this commit it is (default: 1)")
    add("--run-id", metavar="ID", help="what tells runs apart (default: patch and commit, so that modules are one run)")
    add("--lane", help="the lane that the run belongs to (default: as configured)")
    add("--root", metavar="DIR", help="taken off absolute paths in node ids (default: the repository's root)")
    add("--out", metavar="DIR", help="the evidence folder (default: as configured)")


def run(args: argparse.Namespace) -> int:
    """Write the document, print one line of counts, return 0: what the evidence amounts to is for `decide` to say."""
    asked, context = _asked(args)
    collected = collect(asked, context)
    for note in (*collected.notes, *collected.ending.why):
        sys.stderr.write(f"admit: {note}\n")
    sys.stdout.write(summary(asked.gate, collected) + "\n")
    return 0


def _asked(args: argparse.Namespace) -> tuple[Asked, RunContext]:
    from admit.collect.files import since
    from admit.wiring import run_context, workspace

    space = workspace()
    asked = Asked(
        form=FORMATS[args.report],
        names=tuple(args.files),
        gate=checked_gate(args.gate),
        out=args.out or os.fspath(space.path("evidence.folder")),
        root=os.path.join(os.path.abspath(args.root or space.root), ""),
        exit_code=checked_exit(args.exit_code),
        newer_than=None if args.newer_than is None else since(args.newer_than),
    )
    shard, shards = shard_of(args.shard)
    if args.attempt < 1:
        raise UsageError("--attempt", str(args.attempt), allowed="1 and more")
    context = run_context(space.root, patch_id=args.patch, base=args.base)
    context = context._replace(
        head=args.head or context.head, lane=args.lane or context.lane, shard=shard, shards=shards, attempt=args.attempt
    )
    return asked, context._replace(run_id=args.run_id or run_of(context))


def run_of(context: RunContext) -> str:
    """Return the id of the run that reports belong to where nobody names it.

    It is the same for every call on one patch and commit, so that two modules collected one after the other are one
    run, and a report missing from one of them is not made up for by the other.
    """
    return f"collect:{context.patch_id}@{context.head or 'no-commit'}"


def collect(asked: Asked, context: RunContext) -> Collected:
    """Write one gate's document from reports, and one of the freeze register beside it.

    The document is begun before anything is read and sealed after everything was: whatever goes wrong between leaves a
    document without a closing record, and its gate is missing (contract E3, U3).

    Raises:
        EvidenceError: a report is missing, unreadable, stale or no report of the format.
        LedgerError: the document cannot be written.
    """
    from admit.collect.files import find_reports, read_reports
    from admit.collect.report import ending
    from admit.evidence.write import DocumentWriter

    path = _new_path(asked.out, asked.gate, context)
    counts: Counter[str] = Counter()
    reports: list[Report] = []
    read = reader_of(asked.form)
    with DocumentWriter(path, _opening(asked, context)) as writer:
        try:
            found = find_reports(asked.names)
            for name, raw in read_reports(found, limit=LIMITS.file_bytes, newer_than=asked.newer_than):
                report = read(raw, name, root=asked.root)
                for record in _filled(report, context):
                    writer.node(record)
                    counts[_counted(record)] += 1
                reports.append(report._replace(records=()))
        except EvidenceError as error:
            raise _left_open(error, path) from error
        how = ending(reports, asked.exit_code)
        exit_code = None if how.signal is not None else asked.exit_code
        reason = "; ".join(how.why)[:500]
        writer.close(ended=how.ended, exit_code=exit_code, signal=how.signal, closed_by=CLOSED_BY, reason=reason)
    _write_register(asked, context)
    notes = tuple(f"{report.source}: {note}" for report in reports for note in report.notes)
    return Collected(path, counts, len(reports), how, notes)


def _filled(report: Report, context: RunContext) -> Iterator[NodeRecord]:
    from admit.collect.trusted import trusted

    return trusted(report.records, context)


def _counted(record: NodeRecord) -> str:
    return f"not_run {record.why}" if record.check == "not_run" else record.check


def _left_open(error: EvidenceError, path: str) -> EvidenceError:
    said = f"{error}; {path} stays without its closing record, so the gate is missing"
    return EvidenceError("", said, do="delete it before you collect again")


def _write_register(asked: Asked, context: RunContext) -> None:
    """Write what the freeze register says, as every recorder does: without it the freeze gate is missing (U4)."""
    from admit.core.signals import FREEZE_GATE
    from admit.evidence.write import DocumentWriter

    opening = _opening(asked, context)._replace(gate=FREEZE_GATE)
    with DocumentWriter(_new_path(asked.out, FREEZE_GATE, context), opening) as writer:
        for record in context.register:
            writer.node(record)
        writer.close(ended="finished", exit_code=None, signal=None, closed_by=CLOSED_BY)


def _new_path(folder: str, gate: str, context: RunContext) -> str:
    part = f"{context.shard}of{context.shards}-{context.attempt}-{context.nonce[:12]}"
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise LedgerError(folder, f"cannot be made: {error.strerror}", do="name another folder with --out") from error
    return os.path.join(folder, f"{gate}.collected-{part}.jsonl")


def _opening(asked: Asked, context: RunContext) -> Opening:
    from admit import __version__
    from admit.core.context import opening_of

    return opening_of(context, asked.gate, tool=f"admit-collect-{asked.form.name}", tool_version=__version__)


def summary(gate: str, collected: Collected) -> str:
    """Return the one line of counts."""
    counts = collected.counts
    whys = ", ".join(f"{n} {key.partition(' ')[2]}" for key, n in sorted(counts.items()) if key.startswith("not_run"))
    not_run = sum(n for key, n in counts.items() if key.startswith("not_run"))
    files = f"{collected.file_count} file{'' if collected.file_count == 1 else 's'}"
    told = f"{counts['pass']} pass, {counts['fail']} fail, {not_run} not run{f' ({whys})' if whys else ''}"
    return f"{gate}: {told}, from {files}; the run {_ended(collected.ending)}; {collected.path}"


def _ended(how: Ending) -> str:
    return "finished" if how.ended == "finished" else f"counts as {how.ended}, so the gate cannot pass"


def checked_gate(gate: str) -> str:
    """Return a gate's name.

    Raises:
        UsageError: it cannot name a gate, or is the freeze register's.
    """
    from admit.core.signals import FREEZE_GATE
    from admit.evidence.wire import check_gate_name

    if gate == FREEZE_GATE:
        raise UsageError("--gate", f"{FREEZE_GATE} is read from the freeze register", do="name the gate of the tests")
    try:
        return check_gate_name(gate, "--gate")
    except EvidenceError as error:
        raise UsageError("", str(error)) from error


def checked_exit(code: int | None) -> int | None:
    """Return an exit code.

    Raises:
        UsageError: no process exits with it.
    """
    if code is None or -64 <= code <= 255:
        return code
    raise UsageError("--exit-code", str(code), allowed="0 to 255, or -N for signal N")
