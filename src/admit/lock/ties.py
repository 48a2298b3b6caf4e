"""Which nodes a pinned set is tied to (contract L4)."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

EVERY_NODE: Final = "*"
"""The pattern that ties a set to every node; what a set has that names none."""


def is_tied(patterns: Iterable[str], node: str) -> bool:
    """Return whether one of the patterns names this node.

    `*` stands for any characters, slashes and colons included; everything else for itself, since brackets and question
    marks are common in node ids. A pattern that ends where a part of the node id ends names all that lies beneath:
    `tests/unit`, `tests/test_a.py`, `tests/test_a.py::TestB`, `tests/test_a.py::test_c` with all of its cases.
    """
    return any(pattern == EVERY_NODE or _compiled(pattern).fullmatch(node) for pattern in patterns)


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str]:
    body = ".*".join(re.escape(part) for part in re.split(r"\*+", pattern.rstrip("/")))
    return re.compile(rf"{body}(?:(?:/|::|\[).*)?", re.DOTALL)


def as_fnmatch(patterns: Iterable[str]) -> tuple[str, ...]:
    """Return patterns that `fnmatch.fnmatchcase` reads exactly as `is_tied` reads these."""
    made = []
    for pattern in patterns:
        if pattern == EVERY_NODE:
            made.append(pattern)
            continue
        body = re.sub(r"[?\[]", r"[\g<0>]", re.sub(r"\*+", "*", pattern.rstrip("/")))
        made += [body, f"{body}/*", f"{body}::*", f"{body}[[]*"]
    return tuple(made)


def unused_ties(patterns: Iterable[str], nodes: Iterable[str]) -> tuple[str, ...]:
    """Return the patterns that name none of the nodes: a misspelt one would let its set drift unseen."""
    known = list(nodes)
    return tuple(pattern for pattern in patterns if not any(is_tied((pattern,), node) for node in known))
