"""What a look at the working tree found: the plain values that walking, hashing and comparing pass on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

Standing: TypeAlias = Literal["absent", "file", "link", "directory", "pipe", "socket", "device", "behind-link"]
"""What stands at a path. `behind-link`: a folder on the way to it is a symbolic link."""

STANDING_WORDS: Final[dict[Standing, str]] = {
    "absent": "nothing",
    "file": "a file",
    "link": "a symbolic link",
    "directory": "a directory",
    "pipe": "a named pipe",
    "socket": "a socket",
    "device": "a device",
    "behind-link": "behind a symbolic link",
}


class Folder(NamedTuple):
    """Regular files of one folder that belong to the same sets, which `sets` holds as bits."""

    path: bytes
    names: list[bytes]
    sets: int

    @property
    def prefix(self) -> bytes:
        """Return what stands before each name."""
        return self.path + b"/" if self.path else b""


class LinkSeen(NamedTuple):
    """A symbolic link of some sets.

    `target` is its text; `leads_to` the path in the repository where it ends, None outside of it; `stands` what is
    there; `beneath` every file and link under that, where it is a directory.
    """

    path: bytes
    target: bytes
    sets: int
    leads_to: bytes | None
    stands: Standing
    beneath: tuple[bytes, ...] = ()


class Refused(NamedTuple):
    """Something in a set that is neither file, link nor directory (`error` empty), or that could not be looked at."""

    path: bytes
    sets: int
    stands: Standing
    error: str = ""


class Walked(NamedTuple):
    """Everything that the patterns of some sets take, files in the order of their paths' bytes, as in a manifest."""

    folders: list[Folder]
    links: list[LinkSeen]
    refused: list[Refused]

    def counts(self) -> dict[int, int]:
        """Return the number of files and links in each combination of sets."""
        counts: dict[int, int] = {}
        for folder in self.folders:
            counts[folder.sets] = counts.get(folder.sets, 0) + len(folder.names)
        for link in self.links:
            counts[link.sets] = counts.get(link.sets, 0) + 1
        return counts


class Gone(NamedTuple):
    """A pinned path that the walk did not come by: what stands there now, or why that cannot be said (`error`).

    `via` is the symbolic link on the way to it, `is_outside` whether that leads out of the repository.
    """

    path: bytes
    stands: Standing
    via: bytes = b""
    is_outside: bool = False
    error: str = ""


Outcome: TypeAlias = Literal["read", "changing", "unreadable", "not_a_file"]


class Observed(NamedTuple):
    """One file as it was read, from its first byte to its last while nothing changed (`read`), or why not.

    `lf_digest` and `crlf_digest` are those of its content with every line end made LF, or CRLF; they are worked out
    only where the digest was not the expected one. `stamp` is what a stat cache compares.
    """

    path: bytes
    outcome: Outcome
    digest: bytes = b""
    size: int = 0
    is_executable: bool = False
    is_lfs_pointer: bool = False
    lf_digest: bytes = b""
    crlf_digest: bytes = b""
    error: str = ""
    stamp: tuple[int, ...] = ()

    @property
    def is_odd(self) -> bool:
        """Return whether the file may not be taken for what it seems: it was not read, or is a Git LFS pointer."""
        return self.outcome != "read" or self.is_lfs_pointer


class Read(NamedTuple):
    """What reading some files gave.

    `text` holds the manifest's lines of those that were read while they stayed the same, in the order in which they
    were asked for; `files` and `total_bytes` count them. `executable` are the paths with an execute bit. `odd` are
    files that could not be read so, Git LFS pointers, and those whose observation was asked for.
    """

    text: bytes
    files: int
    total_bytes: int
    executable: list[bytes]
    odd: list[Observed]


NOTHING_READ: Final = Read(b"", 0, 0, [], [])


def joined(reads: Iterable[Read]) -> Read:
    """Return several readings as one, in their order."""
    each = list(reads)
    return Read(
        b"".join([read.text for read in each]),
        sum(read.files for read in each),
        sum(read.total_bytes for read in each),
        [path for read in each for path in read.executable],
        [seen for read in each for seen in read.odd],
    )
