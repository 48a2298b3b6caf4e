"""Start a program and take what it prints, without the module `subprocess`, whose import costs more than the program.

Boundary: processes.
"""

from __future__ import annotations

import os
import select
from contextlib import suppress
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_INPUT: Final = 8192
"""What any pipe takes at once, so that nobody waits for a reader; more has to go by another way."""

_CHUNK: Final = 1 << 20
_STANDARD: Final = 3


class Running:
    """A program at work; who started it has to `finish` it.

    Args:
        words: the program, found on PATH, and its arguments.
        env: its environment.
        stdin: what it reads, at most `MOST_INPUT` bytes.

    Raises:
        FileNotFoundError: there is no such program.
    """

    def __init__(self, words: list[str], env: Mapping[str, str], stdin: bytes) -> None:
        assert len(stdin) <= MOST_INPUT
        self._pid = 0
        (in_read, in_write), (out_read, out_write), (err_read, err_write) = (os.pipe() for _ in range(_STANDARD))
        self._ends: tuple[int, ...] = (out_read, err_read)
        try:
            ends = enumerate((in_read, out_write, err_write))
            actions = [(os.POSIX_SPAWN_DUP2, end, number) for number, end in ends]
            self._pid = os.posix_spawnp(words[0], words, env, file_actions=actions)
            with suppress(BrokenPipeError):  # it may end without reading
                os.write(in_write, stdin)
        except BaseException:
            self._stop()
            raise
        finally:
            for end in (in_read, in_write, out_write, err_write):
                os.close(end)

    def finish(self) -> tuple[int, bytes, bytes]:
        """Wait for the end and return the exit code, negative for a signal, and both outputs."""
        try:
            out, err = _read(*self._ends)
            pid, self._pid = self._pid, 0
            return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), out, err
        finally:
            self._stop()

    def _stop(self) -> None:
        """Close what is open; where somebody stopped us, end the program."""
        ends, self._ends = self._ends, ()
        for end in ends:
            os.close(end)
        if self._pid:
            pid, self._pid = self._pid, 0
            os.kill(pid, 9)
            os.waitpid(pid, 0)


def _read(*ends: int) -> list[bytes]:
    """Return what comes through pipes until all of them end."""
    parts: dict[int, list[bytes]] = {end: [] for end in ends}
    poll = select.poll()
    for end in ends:
        poll.register(end, select.POLLIN)
    left = len(ends)
    while left:
        for end, _ in poll.poll():
            if chunk := os.read(end, _CHUNK):
                parts[end].append(chunk)
            else:
                poll.unregister(end)
                left -= 1
    return [b"".join(parts[end]) for end in ends]


def can_run(stdin: bytes) -> bool:
    """Say whether a program may be started here: little to read, and no standard stream of this process is closed."""
    if len(stdin) > MOST_INPUT or not hasattr(os, "posix_spawnp"):
        return False
    with suppress(OSError):
        for number in range(_STANDARD):
            os.fstat(number)
        return True
    return False
