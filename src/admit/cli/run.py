"""`admit run -- COMMAND`: run the tests, leave the gates' evidence, then decide."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from typing import TYPE_CHECKING

from admit.cli.decide import add_patch, answer
from admit.cli.progress import bar
from admit.errors import EvidenceError, InputError, LedgerError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

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
    parser.add_argument("--attempt", type=int, default=1, metavar="N", help="which attempt at this commit it is")
    add_patch(parser)


def run(args: argparse.Namespace) -> int:
    """Run, seal what the run left if it ended by itself, decide on it, exit with the disposition."""
    from admit.wiring import Asked, clock, workspace

    space = workspace()
    if not space.is_initialised:
        raise InputError(str(space.root), "no admit.toml here", do="run `admit init` first, and commit what it writes")
    folder = space.path("evidence.folder")
    context = _context(space, args)
    note = execute(space, _command(args, space), folder, context=context, timeout_s=args.timeout)
    asked = Asked(folder, clock(), context.patch_id, base=args.base, policy=args.policy, notes=(note,) if note else ())
    return answer(space, asked, args)


def execute(
    space: Workspace, command: tuple[str, ...], folder: Path, *, context: RunContext, timeout_s: float | None = None
) -> str:
    """Run a test command so that it leaves evidence in `folder`; return what a person should know of how it ended.

    Raises:
        LaunchError: the command cannot be started.
        LedgerError: the folder cannot be prepared.
        KeyboardInterrupt: a person stopped it.
    """
    from admit.launch import run_child

    _prepare(folder, context)
    limit_s = timeout_s or space.settings.number("run.timeout_s")
    ended = run_child(command, cwd=space.root, env=_environment(folder), timeout_s=limit_s)
    if ended.interrupted:
        raise KeyboardInterrupt
    return seal(folder, ended)


def _command(args: argparse.Namespace, space: Workspace) -> tuple[str, ...]:
    words = args.command[1:] if args.command[:1] == ["--"] else args.command
    return tuple(words) or space.settings.words("run.command")


def _context(space: Workspace, args: argparse.Namespace) -> RunContext:
    from admit.wiring import run_context

    shard, shards = _shard(args.shard)
    if args.attempt < 1:
        raise UsageError("--attempt", str(args.attempt), allowed="1, 2, 3 …")
    context = run_context(space.root, patch_id=args.patch, base=args.base, launched=True, progress=bar())
    return context._replace(shard=shard, shards=shards, attempt=args.attempt, lane=args.lane or context.lane)


def _prepare(folder: Path, context: RunContext) -> None:
    """Empty the evidence folder of an earlier run and leave the context of this one in it."""
    from admit.evidence.context import CONTEXT_FILE, write_context

    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path in sorted(folder.iterdir()):
            if path.name == CONTEXT_FILE or path.name.endswith(".jsonl"):
                path.unlink()
    except OSError as error:
        raise LedgerError(
            str(folder), f"cannot be prepared: {error.strerror}", do="free the path or configure another"
        ) from error
    write_context(folder / CONTEXT_FILE, context)


def _shard(text: str) -> tuple[int, int]:
    first, slash, second = text.partition("/")
    if slash and first.isdecimal() and second.isdecimal() and 1 <= int(first) <= int(second):
        return int(first), int(second)
    raise UsageError("--shard", repr(text), allowed="I/N, such as 2/4")


def _environment(folder: Path) -> Mapping[str, str]:
    """Return the run's environment: the plugin is asked for by a variable, so that make, tox and scripts pass it on.

    Where admit runs from a virtual environment that nobody activated, that environment's programs come first: the
    plugin is beside this Python's pytest.
    """
    asked = f"--admit={shlex.quote(os.fspath(folder.resolve()))}"
    env = {**os.environ, "PYTEST_ADDOPTS": f"{os.environ.get('PYTEST_ADDOPTS', '')} {asked}".strip()}
    if sys.prefix != sys.base_prefix:
        env["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", os.defpath)])
    return env


def seal(folder: Path, ended: Exit) -> str:
    """Write the closing records if the run ended by itself; return what a person should know of how it ended."""
    from admit.evidence.write import close_document
    from admit.launch import run_ended

    paths = sorted(folder.glob("*.jsonl"))
    marks = [_mark(path) for path in paths]
    how = run_ended(exit_code=ended.exit_code, timed_out=ended.timed_out, marks=marks)
    if how is None:
        return _died(ended, marks)
    for path in paths:
        close_document(path, ended=how, exit_code=ended.exit_code, signal=ended.signal, closed_by="launcher")
    if not paths:
        code = ended.exit_code
        return f"the command left no evidence (exit code {code}): did it run pytest, with admit installed beside it?"
    return "" if how == "finished" else f"the run ended as {how}, exit code {ended.exit_code}"


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
