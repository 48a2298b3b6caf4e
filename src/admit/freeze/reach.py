"""Which nodes a freeze reaches, and how wide it is (contract F2)."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

T = TypeVar("T")

Width: TypeAlias = Literal["node", "file", "directory", "class", "glob", "no test"]
"""How much an entry's node names: one test or one of its cases (`node`), or more than F2 lets a freeze reach."""


class Parts(NamedTuple):
    """A node id taken apart: path, test within it (None without `::`), parameter case (None without `[...]`)."""

    path: str
    test: str | None
    case: str | None


def parts_of(node: str) -> Parts:
    """Return the parts of a node id; a case may hold any characters, `::`, brackets and slashes included."""
    path, separator, rest = node.partition("::")
    if not separator:
        return Parts(path, None, None)
    if rest.endswith("]") and "[" in rest:
        test, _, case = rest.partition("[")
        return Parts(path, test, case[:-1])
    return Parts(path, rest, None)


def width_of(node: str) -> Width:
    """Return how wide a freeze of this node would be.

    What makes a class is the spelling, since nothing is imported here: in a `.py` file, a last part that starts with a
    capital and holds no dot (a doctest's name does). Elsewhere capitals name tests (`pkg/mail::TestSend` in Go).
    """
    path, test, case = parts_of(node)
    if _is_pattern(path, test or ""):
        return "glob"
    if test is None:
        return "file" if "." in path.rpartition("/")[2] else "directory"
    if not path or not test.rpartition("::")[2] or "::" in (test[:2], test[-2:]):
        return "no test"
    last = test.rpartition("::")[2].lstrip("_")
    if case is None and path.endswith(".py") and last[:1].isupper() and "." not in last:
        return "class"
    return "node"


def _is_pattern(path: str, test: str) -> bool:
    # a bracket that opens a path segment is a name (route folders of web frameworks), and so is a mark in a test's name
    # that has spaces (other runners' names are sentences); read so, each reaches exactly the node that it spells
    return bool(re.search(r"[*?]|[^/]\[", path)) or (bool(re.search(r"[*?]", test)) and " " not in test)


def reaches(frozen: str, node: str) -> bool:
    """Return whether a freeze of `frozen` reaches `node`: itself, its cases, or all that a wide one holds."""
    wanted, given = parts_of(frozen), parts_of(node)
    if frozen == node or (wanted.case is None and given.case is not None and wanted[:2] == given[:2]):
        return True
    match width_of(frozen):
        case "node" | "no test":
            return False
        case "file" | "directory":
            return given.path == wanted.path or given.path.startswith(wanted.path.rstrip("/") + "/")
        case "class":
            return node.startswith(f"{frozen}::")
        case "glob":
            return _globs(wanted, given)


def _globs(wanted: Parts, given: Parts) -> bool:
    if wanted.test is None:
        return fnmatchcase(given.path, wanted.path)
    if given.test is None or wanted.case not in (None, given.case):
        return False
    return fnmatchcase(f"{given.path}::{given.test}", f"{wanted.path}::{wanted.test}")


def finder(frozen: Mapping[str, T]) -> Callable[[str], T | None]:
    """Return the function that finds what a node is frozen by: its own entry, its test's, then any wide one's.

    Args:
        frozen: the nodes of the entries in force, each with whatever the caller keeps of them.
    """
    wide = [node for node in frozen if width_of(node) != "node"]

    def found(node: str) -> T | None:
        if (own := frozen.get(node)) is not None:
            return own
        if node.endswith("]"):
            path, test, _ = parts_of(node)
            if test is not None and (whole := frozen.get(f"{path}::{test}")) is not None:
                return whole
        return next((frozen[entry] for entry in wide if reaches(entry, node)), None)

    return found


def reached(frozen: Mapping[str, T], nodes: Iterable[str]) -> dict[str, T]:
    """Return the nodes, among those given, that the entries in force reach, each with what it is frozen by.

    A register of whole tests and cases costs a million nodes two look-ups each; one with wide entries, or with brackets
    in a path, costs them a comparison an entry.
    """
    if not frozen:
        return {}
    find = finder(frozen)
    tests = {entry for entry in frozen if "[" not in entry}
    if all(width_of(entry) == "node" and (entry in tests or parts_of(entry).case is not None) for entry in frozen):
        nodes = [node for node in nodes if node in frozen or node.partition("[")[0] in tests]
    return {node: entry for node in nodes if (entry := find(node)) is not None}
