"""Ask git what differs between two commits, line by line, with nothing that could hide a line (contract S1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from admit.repository.process import demand

if TYPE_CHECKING:
    from pathlib import Path

WORDS: Final = (
    "diff-tree",
    "-r",
    "-z",
    "--raw",
    "-p",
    "-U0",
    "--inter-hunk-context=0",
    "--no-renames",  # a renamed file is one that went and one that came: nobody guesses
    "--no-abbrev",
    "--no-relative",
    "--no-color",
    "--no-ext-diff",  # a program of the patch's choice would say what differs
    "--no-textconv",
    "--ignore-submodules=none",
    "--submodule=short",
    "--src-prefix=a/",
    "--dst-prefix=b/",
)


def lines_that_differ(root: Path, old: str, new: str) -> bytes:
    """Return what differs between two trees or commits: the raw table, then hunks without context.

    Raises:
        InputError: one of them is not here, or git cannot compare them.
    """
    return demand(root, *WORDS, "--end-of-options", old, new)
