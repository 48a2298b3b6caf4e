"""`admit scope record`: run the tests once and write down what each of them reaches (contract S1)."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

from admit.errors import InputError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from admit.wiring.scope_record import Recorded, Recording

MOST_NAMED = 5
"""How many nodes that were not traced are named."""

_EXITS = """exit codes:
  0   the map is written, whether tests passed or failed
  64  usage, 65 no map could be made, 74 it could not be written, 75 the test command cannot be started
"""


def configure_record(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="-- COMMAND", help="the test command")
    parser.add_argument(
        "--map",
        default=argparse.SUPPRESS,  # else it would take the place of one that stands before the verb
        metavar="FILE",
        help="where the map goes (default: .admit/scope/map)",
    )
    parser.add_argument("--full", action="store_true", help="run every test, also those that an older map still knows")
    parser.add_argument(
        "--timeout", type=float, metavar="SECONDS", help="kill the run after this long (default: as configured)"
    )
    parser.epilog = f"{parser.epilog}\n\n{_EXITS}"


def run_record(args: argparse.Namespace) -> int:
    """Run the tests that an older map does not know, write the map, say on standard error what it has."""
    import shutil
    import tempfile
    from pathlib import Path

    from admit.wiring.scope_record import recording_of

    if args.timeout is not None and not 0 < args.timeout <= 10**9:
        raise UsageError("--timeout", str(args.timeout), allowed="seconds, more than 0")
    recording = recording_of(Path.cwd(), path=None if args.map is None else Path(args.map), is_full=args.full)
    if recording.is_done:
        _say(f"the map is of {recording.head[:12]} already, and knows every test; --full records it again")
        return 0
    _say(f"recording what the tests reach on {recording.head[:12]}: {recording.why}")
    private = Path(tempfile.mkdtemp(prefix="admit-s-"))
    try:
        _write(recording, _played(recording, args, private))
    finally:
        shutil.rmtree(private, ignore_errors=True)
    return 0


def _played(recording: Recording, args: argparse.Namespace, private: Path) -> Recorded:
    """Run the test command with tracing asked for, and return the map that comes of it."""
    from admit.cli.run import command_of, recorded_environment
    from admit.evidence.context import CONTEXT_FILE, write_context
    from admit.launch import run_child
    from admit.scope.told import write_told
    from admit.wiring import run_context
    from admit.wiring.scope_record import recorded

    space, out = recording.space, private / "parts"
    out.mkdir()
    write_context(private / CONTEXT_FILE, run_context(space.root, patch_id="scope"))
    write_told(private, recording.told(out))
    limit_s = args.timeout or space.settings.number("run.timeout_s")
    ended = run_child(command_of(args, space), cwd=space.root, env=recorded_environment(private), timeout_s=limit_s)
    if ended.interrupted:
        raise KeyboardInterrupt
    if ended.timed_out:
        raise InputError("the test command", f"it did not end within {limit_s:g} seconds", do="see --timeout")
    return recorded(recording, out)


def _write(recording: Recording, made: Recorded) -> None:
    from admit.scope.mapfile import write_map

    write_map(recording.place, made.map)
    size = os.path.getsize(recording.place)
    count, files = len(made.map.nodes), len(made.map.files)
    _say(f"{recording.place}: {count} tests ({made.ran} ran now), {files} files, {size} bytes")
    for problem in made.problems:
        _say(problem)
    for node, why in list(made.why.items())[:MOST_NAMED]:
        _say(f"not traced, so that it is in scope of every patch: {node}: {why}")
    if len(made.why) > MOST_NAMED:
        _say(f"and {len(made.why) - MOST_NAMED} more that were not traced")
    spawned = sum(bool(reach.spawned) for reach in made.map.nodes.values())
    if spawned:
        _say(f"{spawned} tests went where no tracer follows (a process, native code): in scope of every patch")
    if made.map.outside.spawned:
        _say(f"what ran outside of tests went where no tracer follows ({made.map.outside.spawned}): nobody can tell")


def _say(text: str) -> None:
    sys.stderr.write(f"admit: {text}\n")
    sys.stderr.flush()
