"""Names of pinned files: bytes inside the repository, their text for JSON and for people, their twins."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Final

from admit.errors import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

SKIPPED_NAMES: Final = (b".git", b".admit")
"""What no set ever pins, at any depth: git's own files and ours, which change without the repository changing."""

CACHE_NAMES: Final = (b"__pycache__", b".pytest_cache", b".hypothesis", b".mypy_cache", b".ruff_cache")
"""Folders that tools rewrite on every run: a lock that pins one drifts on the next run."""


def refusal(path: bytes) -> str:
    """Return why no manifest may name this path, or an empty text where it may."""
    if not path:
        return "an empty name"
    if b"\0" in path:
        return "a name with a zero byte"
    if path.startswith(b"/"):
        return "an absolute path"
    parts = path.split(b"/")
    if b".." in parts:
        return "a path that leaves the repository or walks back"
    if b"." in parts or b"" in parts:
        return "a path with an empty part or a dot for a part"
    return ""


def all_are_plain(paths: Iterable[bytes]) -> bool:
    """Return whether `refusal` has nothing to say about any of these paths, none of which holds a newline.

    One search over all of them costs a hundredth of a question a path.
    """
    text = b"/" + b"/\n/".join(paths) + b"/"
    return not any(bad in text for bad in (b"//", b"/./", b"/../", b"\0"))


def name_of(path: bytes) -> str:
    """Return a path as text that `path_of` turns back into the same bytes, whatever bytes they are."""
    return path.decode("utf-8", "surrogateescape")


def path_of(name: str) -> bytes:
    """Return the bytes of a path that `name_of` made text of.

    Raises:
        ValueError: text that stands for no bytes, such as half of a surrogate pair.
    """
    return name.encode("utf-8", "surrogateescape")


def shown(path: bytes) -> str:
    """Return a path for a person: one line, every odd character escaped; `.` for the root."""
    return one_line(path.decode("utf-8", "backslashreplace")) or "."


def canonical_form(path: bytes) -> str:
    """Return the form in which two Unicode spellings of one name (NFC, NFD) are equal."""
    return unicodedata.normalize("NFC", name_of(path))


def caseless_form(path: bytes) -> str:
    """Return the form in which names are equal that some file systems cannot tell apart (Unicode 3.13, D145)."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", name_of(path)).casefold())


def twins(paths: Iterable[bytes]) -> list[tuple[bytes, bytes]]:
    """Return the pairs of different paths that are equal under normalisation and case folding."""
    first: dict[str, bytes] = {}
    found = []
    for path in paths:
        other = first.setdefault(caseless_form(path), path)
        if other != path:
            found.append((other, path))
    return found


def twin_among(path: bytes, forms: Mapping[str, bytes]) -> bytes | None:
    """Return the other path with this one's caseless form, given the paths by theirs."""
    other = forms.get(caseless_form(path))
    return other if other != path else None
