"""The plugin's end of a run's channel: connected before any code of the project runs, then out of sight (boundary)."""

from __future__ import annotations

import os
import shlex
import socket
import struct
from typing import TYPE_CHECKING, Final

from admit.errors import LedgerError

if TYPE_CHECKING:
    import pytest

ADDOPTS: Final = "PYTEST_ADDOPTS"

SEND_S: Final = 60
"""How long a record waits for a parent that does not read; after that the document is broken."""

HANG_UP_S: Final = 10
"""How long a recorder waits for its parent to have taken everything."""


def connected(path: str, number: int) -> list[socket.socket]:
    """Return connections to a run's channel, one a document.

    Raises:
        LedgerError: the other end is not there.
    """
    links: list[socket.socket] = []
    try:
        for _ in range(number):
            link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            links.append(link)
            # the kernel keeps the time: records are written past Python's socket object
            link.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("@ll", SEND_S, 0))
            link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("@ll", HANG_UP_S, 0))
            link.connect(path)
    except OSError as error:
        hang_up(links)
        raise LedgerError(
            "channel", f"cannot be reached: {error.strerror}", do="only the run that it was made for can use it"
        ) from error
    return links


def hang_up(links: list[socket.socket]) -> None:
    """Let go of connections, whatever came of them."""
    for link in links:
        link.close()


class ChannelEnd:
    """The connections of one session, made before the project's first conftest is imported.

    `trouble` says why there are none.
    """

    def __init__(self, path: str, number: int) -> None:
        self._links: list[socket.socket] = []
        self.trouble: LedgerError | None = None
        try:
            self._links = connected(path, number)
        except LedgerError as error:
            self.trouble = error

    def taken(self) -> list[socket.socket]:
        """Return the connections.

        Raises:
            LedgerError: there are none.
        """
        if self.trouble is not None:
            raise self.trouble
        return self._links

    def hang_up(self) -> None:
        """Let go of the connections, whatever came of them."""
        hang_up(self._links)


def hide_option(config: pytest.Config) -> None:
    """Take `--admit` out of the variable that processes started by tests inherit, until the session is over.

    A pytest nested in a test stays silent anyway where it inherits the recorder's own variable, but a test may clear
    that one alone. Workers of xdist read the variable themselves, so it is taken out where tests run, not before.
    """
    before = os.environ.get(ADDOPTS)
    if before is not None:
        os.environ[ADDOPTS] = _without_option(before)
        config.add_cleanup(lambda: os.environ.__setitem__(ADDOPTS, before))


def _without_option(addopts: str) -> str:
    words = iter(shlex.split(addopts))
    kept = []
    for word in words:
        if word == "--admit":
            next(words, None)
        elif not word.startswith("--admit="):
            kept.append(word)
    return shlex.join(kept)
