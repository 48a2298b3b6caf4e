"""`admit run -- COMMAND`: run the tests, leave the gates' evidence, then decide."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from admit.cli.attempts import check_folder, documents_in, foreign, one_run_at_a_time, shard_of, started
from admit.cli.decide import add_patch, answer, check_asked, forget_decision
from admit.cli.progress import bar
from admit.errors import EvidenceError, InputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from admit.core.context import RunContext
    from admit.launch import Exit, Mark
    from admit.wiring import Workspace


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="-- COMMAND", help="the test command")
    parser.add_argument(
        "--timeout", type=float, metavar="SECONDS", help="kill the run after this long (default: as configured)"
    )
    parser.add_argument("--lane", help="the lane that this run belongs to (default: as configured)")
    parser.add_argument("--shard", default="1/1", metavar="I/N", help="which part of the suite this run is")
    parser.add_argument(
        "--attempt", type=int, metavar="N", help="which attempt at this commit it is (default: the next)"
    )
    parser.add_argument(
        "--no-base", action="store_true", help="judge with the patch's own tests, also where CI names a base"
    )
    parser.add_argument(
        "--approval", type=Path, action="append", metavar="FILE", help="a reviewer's signed approval (may be repeated)"
    )
    add_patch(parser)


def run(args: argparse.Namespace) -> int:
    """Run, seal what the run left if it ended by itself, decide on it, exit with the disposition."""
    check_run(args)
    if (base := _base(args)) is not None:
        from admit.cli.trial import run_on_base

        return run_on_base(args, base)
    return _run_here(args)


def _base(args: argparse.Namespace) -> str | None:
    """Return the base to judge with: as named, else as CI says; none where nobody names one."""
    if args.no_base:
        if args.base is not None:
            raise UsageError("--no-base", f"--base {args.base} beside it", allowed="one of the two")
        return None
    if args.base is not None:
        return str(args.base)
    from admit.wiring.base import found_base

    return found_base(os.environ, Path.cwd())


def _run_here(args: argparse.Namespace) -> int:
    """Run in the working tree, judged by the patch's own tests and files, and say so (contract 2.3)."""
    from admit.wiring import Asked, clock, moved_since, workspace

    space = workspace()
    if not space.is_initialised:
        raise InputError(str(space.root), "no admit.toml here", do="run `admit init` first, and commit what it writes")
    context = _context(space, args)
    folder = space.path("evidence.folder")
    if context.dirty:  # evidence for no commit: it must not mix with any commit's
        folder = folder.with_name(folder.name + "-uncommitted")
    check_folder(space)
    forget_decision(space, args)
    with one_run_at_a_time(folder):
        context = started(folder, context, attempt=args.attempt, patch_id=args.patch)
        before = documents_in(folder)
        found: dict[str, str] = {}

        def look() -> dict[str, str]:
            found.update(moved_since(space, context))
            if strange := foreign(folder, before, context.run_id):
                found["mixed-evidence"] = strange
            return found

        command = command_of(args, space)
        note = execute(space, command, folder, context=context, timeout_s=args.timeout, look=look)
        asked = Asked(
            folder,
            clock(),
            context.patch_id,
            base=args.base,
            policy=args.policy,
            notes=(*([note] if note else []), *_earlier(folder, context), *context.lock_differences),
            inadmissible=found,
            locked=context.locked,
        )
        return answer(space, asked, args)


def _earlier(folder: Path, context: RunContext) -> list[str]:
    others = [path for path in folder.glob("*.jsonl") if f".{context.run_id}-" not in path.name]
    return [f"{len(others)} documents of earlier attempts at this commit count too"] if others else []


def execute(
    space: Workspace,
    command: tuple[str, ...],
    folder: Path,
    *,
    context: RunContext,
    timeout_s: float | None = None,
    look: Callable[[], Mapping[str, str]] = dict,
) -> str:
    """Run a test command that leaves evidence in `folder`; return what a person should know of how it ended.

    Args:
        space: where it runs.
        command: the test command.
        folder: for the evidence.
        context: what the run is told.
        timeout_s: when it is killed; as configured by default.
        look: called when it has ended; says what makes its evidence inadmissible, for the closing records.

    Raises:
        LaunchError: the command cannot be started.
        KeyboardInterrupt: a person stopped it.
    """
    from admit.launch import run_child

    limit_s = timeout_s or space.settings.number("run.timeout_s")
    announced = announce(folder, context)
    ended = run_child(command, cwd=space.root, env=recorded_environment(folder), timeout_s=limit_s)
    if ended.interrupted:
        raise KeyboardInterrupt
    note = seal(folder, ended, context, look())
    for path in announced:
        path.unlink(missing_ok=True)
    return note


def command_of(args: argparse.Namespace, space: Workspace) -> tuple[str, ...]:
    """Return the test command: as given, else as configured."""
    words = args.command[1:] if args.command[:1] == ["--"] else args.command
    return tuple(words) or space.settings.words("run.command")


def check_run(args: argparse.Namespace) -> None:
    """Refuse options that say nothing that can be done.

    Raises:
        UsageError: one does.
    """
    check_asked(args)
    shard_of(args.shard)
    if args.attempt is not None and not 1 <= args.attempt <= 1_000_000:
        raise UsageError("--attempt", str(args.attempt)[:40], allowed="1 to 1000000")
    if args.timeout is not None and not 0 < args.timeout <= 10**9:
        raise UsageError("--timeout", str(args.timeout), allowed="seconds, more than 0")


def _context(space: Workspace, args: argparse.Namespace) -> RunContext:
    from admit.wiring import run_context

    shard, shards = shard_of(args.shard)
    context = run_context(space.root, patch_id=args.patch, base=args.base, launched=True, progress=bar())
    return context._replace(shard=shard, shards=shards, lane=args.lane or context.lane)


def recorded_environment(folder: Path) -> Mapping[str, str]:
    """Return the environment of a run whose recorder finds its terms in `folder`.

    The plugin is asked for by a variable, so that make, tox and scripts pass it on.
    """
    # by name, for where plugins are not loaded by themselves (PYTEST_DISABLE_PLUGIN_AUTOLOAD)
    asked = f"-p admit --admit={shlex.quote(os.fspath(folder.resolve()))}"
    # the order of sets and dicts of text is part of what tests measure: one seed for every run, unless somebody chose
    addopts = f"{os.environ.get('PYTEST_ADDOPTS', '')} {asked}".strip()
    return with_own_programs({"PYTHONHASHSEED": "0", **os.environ, "PYTEST_ADDOPTS": addopts})


def with_own_programs(environ: Mapping[str, str]) -> dict[str, str]:
    """Return an environment in which the programs of this Python's virtual environment come first.

    Where nobody activated it, that is where the plugin's pytest is.
    """
    if sys.prefix == sys.base_prefix:
        return dict(environ)
    path = os.pathsep.join([os.path.dirname(sys.executable), environ.get("PATH", os.defpath)])
    return {**environ, "PATH": path}


def seal(folder: Path, ended: Exit, context: RunContext, found: Mapping[str, str] | None = None) -> str:
    """Write the closing records if the run ended by itself; return what a person should know of how it ended.

    Args:
        folder: holds the run's documents.
        ended: how its process ended.
        context: what it was told.
        found: what makes its evidence inadmissible, by code: whoever decides on it later has to know (contract E5).
    """
    from admit.evidence.write import close_document
    from admit.launch import run_ended

    own = sorted(path for path in folder.glob("*.jsonl") if f".{context.run_id}-" in path.name)
    paths = [path for path in own if not path.name.endswith("-begun.jsonl")]
    if not paths:
        announce(folder, context, name="launch")
        code = f"exit code {ended.exit_code}" if ended.signal is None else f"signal {ended.signal}"
        return f"the command left no evidence ({code}): did it run pytest, with admit installed beside it?"
    marks = [_mark(path) for path in paths]
    how = run_ended(exit_code=ended.exit_code, timed_out=ended.timed_out, marks=marks)
    if how is None:
        return _died(ended, marks)
    said = sorted({mark.exit_code for mark in marks if mark is not None})
    reason = f"the command's exit code is {ended.exit_code}, pytest's {', '.join(map(str, said))}"
    reason = "" if how == "finished" else reason
    if found and how == "finished":
        how, sealed = "disturbed", next(f"{code}: {text}" for code, text in found.items())
    else:
        sealed = reason
    for path in paths:
        close_document(
            path, ended=how, exit_code=ended.exit_code, signal=ended.signal, closed_by="launcher", reason=sealed
        )
    return reason and f"the run ended as {how}: {reason}"


def announce(folder: Path, context: RunContext, *, instrument_of: str | None = None, name: str = "begun") -> list[Path]:
    """Leave a document without a closing record for every gate, until the run's own are there, and return which.

    Where this process is killed meanwhile, earlier evidence must not stand in for the run that was lost (contract U3).
    """
    from admit import __version__
    from admit.core.context import opening_of
    from admit.evidence.write import DocumentWriter

    paths = []
    for gate in ("property_check", "fixture_check", "flaky_freeze"):
        opening = opening_of(context, gate, tool="admit-run", tool_version=__version__)
        paths.append(folder / f"{gate}.{context.run_id}-{name}.jsonl")
        DocumentWriter(paths[-1], opening._replace(instrument_of=instrument_of)).release()
    return paths


def _mark(path: Path) -> Mark | None:
    from admit.evidence.write import survey
    from admit.launch import Mark

    try:
        finish = survey(path).finish
    except EvidenceError:
        return None  # torn or sealed by somebody else: it stays as it is, and reading it says what is wrong
    return Mark(finish.exit_code, finish.ended) if finish else None


def _died(ended: Exit, marks: list[Mark | None]) -> str:
    if ended.timed_out:
        return "the run was killed at its time limit; what it left has no closing record"
    if ended.signal is not None:
        return f"the run was ended by signal {ended.signal}; what it left has no closing record"
    silent = sum(mark is None for mark in marks)
    unfinished = f"{silent} of {len(marks)} documents unfinished"
    return f"the run exited {ended.exit_code} with {unfinished}: it left before its tests ended"
