"""Play one part of a run on a base: a child process whose records come over a channel (contract T4, T7)."""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from admit.core.fold import contradictions, fold
from admit.core.signals import FREEZE_GATE
from admit.wiring import limits_of, read_folder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from admit.core.context import RunContext, Trial
    from admit.core.fold import Folded
    from admit.launch import Exit
    from admit.wiring import Workspace

GATES = ("property_check", "fixture_check", FREEZE_GATE)


class Bench(NamedTuple):
    """Where parts are played: the worktree, the command and its environment, and a folder that no test is told of.

    `is_quiet` keeps what the command prints to itself.
    """

    space: Workspace
    command: tuple[str, ...]
    environ: Mapping[str, str]
    private: Path
    timeout_s: float
    is_quiet: bool = False


class Played(NamedTuple):
    """What a part left: each gate's documents folded, how its process ended, what a person should know of that.

    `heard` is the folder of the documents, `timing` the nodes that markers call timing-sensitive.

    `problems` says what was not as a run's own recorder does it; where it is not empty, the instrument is compromised.
    """

    folded: Mapping[str, Folded]
    ended: Exit
    note: str
    problems: tuple[str, ...]
    heard: Path
    timing: frozenset[str] = frozenset()


def play(bench: Bench, context: RunContext, trial: Trial, said: str = "") -> Played:
    """Run the command as one part of a run on a base and return what came over the channel; `said` tells people what.

    Raises:
        LaunchError: it cannot be started, or no channel can be made.
        KeyboardInterrupt: a person stopped it.
    """
    from admit.cli.run import seal
    from admit.evidence.adopt import adopter, has_finished
    from admit.evidence.context import CONTEXT_FILE, write_context
    from admit.launch import run_child
    from admit.trust.channel import Channel, Terms

    place = Path(tempfile.mkdtemp(prefix=f"{trial.part}-", dir=bench.private))
    told, heard = place / "told", place / "heard"
    told.mkdir(mode=0o700)
    # a part is folded by itself; which shard of the patch's evidence it becomes stands in the run's own documents
    context = context._replace(run_id=f"{context.run_id}-{trial.part}", shard=1, shards=1)
    limits = limits_of(bench.space)
    unsaid = context._replace(
        nonce=_WITHHELD, trial=trial
    )  # the run is not told the nonce that its documents will have
    terms = Terms(GATES, adopter(unsaid, nonce=context.nonce, limits=limits), has_finished, limits.document_bytes)
    with Channel(heard, context.run_id, terms) as channel:
        unsaid = unsaid._replace(trial=trial._replace(channel=channel.path))
        write_context(told / CONTEXT_FILE, unsaid)
        _say(trial, said)
        env = _environment(bench, told)
        ended = run_child(bench.command, cwd=bench.space.root, env=env, timeout_s=bench.timeout_s, quiet=bench.is_quiet)
        channel.finish()
    if ended.interrupted:
        raise KeyboardInterrupt
    note = seal(heard, ended, context)
    documents, unread = read_folder(bench.space, heard)
    against = contradictions(documents)
    folded = {gate: fold(gate, [one for one in documents if one.opening.gate == gate], against) for gate in GATES}
    timing = frozenset().union(*(one.timing for one in documents))
    return Played(folded, ended, note, (*channel.problems, *unread), heard, timing)


_WITHHELD = "withheld"


_SAID = {
    "inventory": "collecting the base's tests",
    "judged": "running the base's tests on the patch's code",
    "proposals": "running the tests that the patch brings or edits",
    "base": "running on the base what failed on the patch",
}


def _say(trial: Trial, said: str = "") -> None:
    if said := said or _SAID.get(trial.part, ""):  # a proof says by itself how far it is
        sys.stderr.write(f"admit: {said}\n")
        sys.stderr.flush()


def at_home(command: tuple[str, ...], home: Path, tree: Path) -> tuple[str, ...]:
    """Return a command whose program is found: one named by a path that only the checkout has is taken from there."""
    program = command[0] if command else ""
    if "/" in program and not os.path.isabs(program) and not (tree / program).exists() and (home / program).exists():
        return (os.fspath(home / program), *command[1:])
    return command


def _environment(bench: Bench, told: Path) -> Mapping[str, str]:
    asked = f"-p admit --admit={shlex.quote(os.fspath(told))}"
    return {**bench.environ, "PYTEST_ADDOPTS": f"{bench.environ.get('PYTEST_ADDOPTS', '')} {asked}".strip()}


def asked(context: RunContext) -> int:
    """Return how many inputs the profile asks of a property that says nothing itself."""
    number = context.profile.get("max_examples")
    return number if isinstance(number, int) else 0
