"""Which tests a name on the command line means: one test, all cases of one, all of a class or a file."""

from __future__ import annotations

from typing import NamedTuple


class Named(NamedTuple):
    """A name: the file, from the repository's top, and what follows its first `::`; empty means all of the file."""

    path: str
    rest: str

    @property
    def text(self) -> str:
        """Return the name as pytest spells it."""
        return f"{self.path}::{self.rest}" if self.rest else self.path

    def covers(self, path: str, rest: str) -> bool:
        """Return whether a test is meant: it itself, a case of it, or one inside of it."""
        if path != self.path:
            return False
        return not self.rest or rest == self.rest or rest.startswith((f"{self.rest}::", f"{self.rest}["))


def named(text: str) -> Named:
    """Return the name in a node id; what a parameter holds is never taken for a part of it."""
    path, _, rest = text.partition("::")
    return Named(path, rest)
