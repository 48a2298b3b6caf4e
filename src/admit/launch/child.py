"""The child process: its own process group, a time limit, nothing of it left behind."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from typing import TYPE_CHECKING, NamedTuple

from admit.errors import LaunchError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

GRACE_S = 5.0
"""Seconds between asking a run to stop and killing it."""


class Exit(NamedTuple):
    """How a child process ended: its exit code, or the signal that ended it, and whether it ran out of time."""

    exit_code: int | None
    signal: int | None
    timed_out: bool
    interrupted: bool


def run_child(
    command: Sequence[str], *, cwd: Path, env: Mapping[str, str], timeout_s: float, quiet: bool = False
) -> Exit:
    """Run `command` to its end and return how it ended; whatever of its process group is left then is killed.

    Standard output goes to standard error, so that a caller's own standard output stays machine-readable.

    Raises:
        LaunchError: the command cannot be started.
    """
    out = subprocess.DEVNULL if quiet else _stderr_fileno()
    try:
        child = subprocess.Popen(  # noqa: S603 - running the given command is what this is for
            list(command), cwd=cwd, env=dict(env), stdout=out, stderr=out, start_new_session=True
        )
    except (OSError, ValueError) as error:
        raise LaunchError(
            command[0] if command else "run", f"cannot be started: {error}", do="name a command that exists"
        ) from error
    timed_out = interrupted = False
    try:
        child.wait(timeout_s)
    except subprocess.TimeoutExpired:
        timed_out = True
    except KeyboardInterrupt:
        interrupted = True
        _signal_group(child.pid, signal.SIGINT)
    finally:
        _stop(child)
    code = child.returncode
    return Exit(code if code >= 0 else None, -code if code < 0 else None, timed_out, interrupted)


def _stderr_fileno() -> int:
    return 2


def _stop(child: subprocess.Popen[bytes]) -> None:
    if child.poll() is None:
        _signal_group(child.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(GRACE_S)
    # the group outlives its leader: a process that a test left behind could still write to the evidence
    _signal_group(child.pid, signal.SIGKILL)
    child.wait()


def _signal_group(group: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
