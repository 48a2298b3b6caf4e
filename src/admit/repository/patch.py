"""What git says of a patch: which files it changes, what stood in them, where it left its base, what it declares."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from admit.errors import InputError
from admit.repository.git import resolve
from admit.repository.process import DEEPEN, ask, demand, is_shallow, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

LINK: Final = "120000"
"""The mode of a symbolic link."""

SUBMODULE: Final = "160000"
"""The mode of an entry that names a commit of another repository."""

ABSENT: Final = "000000"
"""The mode on the side where there is no such file."""


class Change(NamedTuple):
    """One file that differs: its path from the top of the working tree, modes and blob ids; None where it is absent.

    Of a submodule the ids are those of commits. A renamed file is one that went and one that came: nobody guesses.
    """

    path: str
    old_mode: str
    new_mode: str
    old_blob: str | None
    new_blob: str | None

    @property
    def is_added(self) -> bool:
        """The base has nothing at this path."""
        return self.old_blob is None

    @property
    def is_deleted(self) -> bool:
        """The patch has nothing at this path."""
        return self.new_blob is None

    @property
    def modes(self) -> frozenset[str]:
        """What stands there on either side."""
        return frozenset({self.old_mode, self.new_mode}) - {ABSENT}


def changes(root: Path, base: str, head: str) -> tuple[Change, ...]:
    """Return every file that differs between two commits, sorted by path, submodules included.

    Raises:
        InputError: one of them is not a commit here, or git cannot compare them.
    """
    old, new = resolve(root, base), resolve(root, head)
    words = ("-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--no-relative", "--ignore-submodules=none")
    fields = iter(demand(root, "diff-tree", *words, old, new).split(b"\0"))
    return tuple(sorted(_change(raw, next(fields)) for raw in fields if raw))


def _change(raw: bytes, path: bytes) -> Change:
    old_mode, new_mode, old, new, _ = raw.decode("ascii").removeprefix(":").split(" ")
    return Change(
        text_of(path),
        old_mode,
        new_mode,
        None if old_mode == ABSENT else old,
        None if new_mode == ABSENT else new,
    )


def merge_base(root: Path, a: str, b: str) -> str:
    """Return the commit at which two lines of history parted.

    Raises:
        InputError: one of them is not a commit here, or they have no commit in common.
    """
    answer = ask(root, "merge-base", resolve(root, a), resolve(root, b))
    if answer.exit_code != 0:
        do = DEEPEN if is_shallow(root) else "name a base that the patch started from"
        raise InputError(f"{a} {b}", "no commit in common", do=do)
    return answer.text().strip()


def blob(root: Path, commit: str, path: str) -> bytes | None:
    """Return what a file held in a commit, None where it has no such file; of a symbolic link, where it leads.

    Raises:
        InputError: there is no such commit, or the content is missing from the repository.
    """
    found = resolve(root, commit)
    out = demand(root, "ls-tree", "-z", "--full-tree", found, "--", path) if path else b""
    for line in out.split(b"\0"):
        entry, _, name = line.partition(b"\t")
        if line and text_of(name) == path and entry.split(b" ")[1] == b"blob":
            key = entry.split(b" ")[2].decode("ascii")
            return blobs(root, [key])[key]
    return None


def is_link(root: Path, commit: str, path: str) -> bool:
    """Return whether a commit has a symbolic link at a path, or on the way there.

    Raises:
        InputError: there is no such commit.
    """
    parts = path.split("/")
    ways = ["/".join(parts[: n + 1]) for n in range(len(parts))]
    out = demand(root, "ls-tree", "-z", "--full-tree", resolve(root, commit), "--", *ways)
    return any(line.startswith(LINK.encode("ascii")) for line in out.split(b"\0"))


def blobs(root: Path, ids: Iterable[str]) -> Mapping[str, bytes]:
    """Return the content of blobs by id, read by one child process.

    Raises:
        InputError: one of them is missing from the repository, or is no blob.
    """
    wanted = sorted(set(ids))
    out = demand(root, "cat-file", "--batch", stdin="".join(f"{key}\n" for key in wanted).encode("ascii"))
    held, at = {}, 0
    for key in wanted:
        end = out.index(b"\n", at)
        words = out[at:end].decode("ascii", "replace").split(" ")
        if words[:2] != [key, "blob"]:
            raise InputError(key, "no such blob in this repository", do="fetch the whole history")
        size = int(words[2])
        held[key] = out[end + 1 : end + 1 + size]
        at = end + size + 2
    return held


def names(root: Path, commit: str, folder: str = "") -> frozenset[str]:
    """Return the paths of what stands directly in a folder of a commit, folders too; empty where there is no folder.

    Raises:
        InputError: there is no such commit.
    """
    where = ("--", f"{folder.rstrip('/')}/") if folder else ()
    out = demand(root, "ls-tree", "-z", "--full-tree", "--name-only", resolve(root, commit), *where)
    return frozenset(text_of(name) for name in out.split(b"\0") if name)


def trailers(root: Path, base: str, head: str, key: str) -> tuple[str, ...]:
    """Return the values of a trailer in the messages of a patch's commits, oldest first.

    Raises:
        InputError: one of them is not a commit here, or `key` cannot be a trailer's name.
    """
    if not re.fullmatch(r"[A-Za-z0-9-]+", key):
        raise InputError(key, "cannot be the name of a trailer", allowed="letters, digits, hyphens")
    span = f"{resolve(root, base)}..{resolve(root, head)}"
    wanted = f"--format=%(trailers:key={key},valueonly=true,unfold=true,separator=%x00)"
    words = ("--reverse", "-z", "--no-color", "--no-show-signature", "--no-notes", "--encoding=UTF-8")
    found = demand(root, "log", *words, wanted, span).split(b"\0")
    return tuple(value for raw in found if (value := text_of(raw).strip()))
