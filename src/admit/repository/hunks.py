"""Ask git what differs between two commits, line by line, with nothing that could hide a line (contract S1)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from admit.errors import InputError
from admit.repository.git import resolve, toplevel
from admit.repository.patch import merge_base
from admit.repository.process import ask, begin, bytes_of, demand, demanded, text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
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

_OBJECT: Final = re.compile(rb"[0-9a-f]{40,64} (blob|tree|commit|tag) (\d+)")


def lines_that_differ(root: Path | str, old: str, new: str) -> bytes:
    """Return what differs between two trees or commits: the raw table, then hunks without context.

    Raises:
        InputError: one of them is not here, or git cannot compare them.
    """
    return demand(root, *WORDS, "--end-of-options", old, new)


def commits(root: Path | str, *refs: str) -> tuple[str, tuple[str, ...]]:
    """Return the top of the working tree around `root`, and the full ids of commits, asked for in one go.

    Raises:
        InputError: no repository, or no such commit; in a shallow clone it may only not have been fetched.
    """
    return begin_commits(root, *refs)()


def begin_commits(root: Path | str, *refs: str) -> Callable[[], tuple[str, tuple[str, ...]]]:
    """Start to ask for the same, and return what waits for the answer, which has to be called.

    Raises:
        InputError: a name that cannot be one of a commit.
    """
    for ref in refs:
        if not ref or ref.startswith("-"):
            raise InputError(repr(ref), "cannot be the name of a commit", do="name a branch, a tag or a commit")
    begun = begin(root, "rev-parse", "--show-toplevel", *(f"{ref}^{{commit}}" for ref in refs))

    def finish() -> tuple[str, tuple[str, ...]]:
        answer = begun()
        lines = text_of(answer.out).removesuffix("\n").rsplit("\n", len(refs)) if answer.exit_code == 0 else [""]
        top, *ids = lines
        if top and len(ids) == len(refs) and all(re.fullmatch(r"[0-9a-f]{40,64}", one) for one in ids):
            return top, tuple(ids)
        return _each(root, refs)

    return finish


def _each(root: Path | str, refs: Iterable[str]) -> tuple[str, tuple[str, ...]]:
    """Return the same, asked for one by one, so that the error names the one that is not there."""
    from pathlib import Path

    where = Path(root)
    top = toplevel(where)
    if top is None:
        raise InputError(str(root), "no repository of git", do="run in a checkout of the patch")
    return str(top), tuple(resolve(where, ref) for ref in refs)


def left_at(root: Path | str, tip: str, head: str) -> str:
    """Return the commit at which a patch left the line of history that `tip` ends; both are full ids.

    Raises:
        InputError: they have no commit in common, as far as this clone goes.
    """
    answer = ask(root, "merge-base", tip, head)
    if answer.exit_code != 0:
        from pathlib import Path

        return merge_base(Path(root), tip, head)  # says what is wrong
    return text_of(answer.out).partition("\n")[0]


def contents(root: Path | str, names: Iterable[str]) -> dict[str, bytes | None]:
    """Return what blobs hold, by the names that git takes: an id, or `COMMIT:PATH`; None for what is no blob here.

    Raises:
        InputError: git cannot be asked, or a name has a line end in it.
    """
    return begin_contents(root, names)()


def begin_contents(root: Path | str, names: Iterable[str]) -> Callable[[], dict[str, bytes | None]]:
    """Start to ask for the same, and return what waits for the answer, which has to be called.

    Raises:
        InputError: git cannot be asked, or a name has a line end in it.
    """
    wanted = list(dict.fromkeys(names))
    if odd := next((name for name in wanted if "\n" in name), None):
        raise InputError(repr(odd), "git takes no name with a line end", do="move the file")
    if not wanted:
        return dict
    words = ("cat-file", "--batch")
    begun = begin(root, *words, stdin=b"".join(bytes_of(name) + b"\n" for name in wanted))
    return lambda: _held(demanded(begun(), words), wanted)


def _held(out: bytes, wanted: Iterable[str]) -> dict[str, bytes | None]:
    held: dict[str, bytes | None] = {}
    at = 0
    for name in wanted:
        end = out.index(b"\n", at)
        found = _OBJECT.fullmatch(out, at, end)
        held[name] = None
        at = end + 1
        if found:
            size = int(found[2])
            held[name] = out[at : at + size] if found[1] == b"blob" else None
            at += size + 1
    return held
