"""What a session collected: the planned nodes, which of them are properties, and what left the collection again."""

from __future__ import annotations

import json
import os
import sys
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from admit.pytest_plugin.exceptions import clean

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pytest

    from admit.pytest_plugin.terms import Terms

DESELECTED: Final = "deselected"
VANISHED: Final = "taken out of the collection without being deselected"

_MISUSED: Final = (
    "is_hypothesis_strategy_function",
    "hypothesis_explicit_examples",
    "_hypothesis_internal_use_seed",
    "_hypothesis_internal_settings_applied",
    "_hypothesis_internal_use_reproduce_failure",
)
"""What Hypothesis' other decorators leave on a function: without @given it is a property that somebody got wrong."""


class Gone(NamedTuple):
    """A node that was collected and will not run, and why."""

    node: str
    is_property: bool
    message: str


class Collection(NamedTuple):
    """The nodes that will run, as often as they were collected; which are properties; what will not run after all.

    `timing` are those that a marker calls timing-sensitive.
    """

    nodes: tuple[str, ...]
    properties: frozenset[str]
    gone: tuple[Gone, ...]
    timing: frozenset[str] = frozenset()

    def to_json(self) -> str:
        """Return the collection as one line of JSON."""
        return json.dumps([self.nodes, sorted(self.properties), self.gone, sorted(self.timing)])


def from_json(text: str) -> Collection:
    """Return the collection in a line that `Collection.to_json` wrote."""
    nodes, properties, gone, timing = json.loads(text)
    return Collection(tuple(nodes), frozenset(properties), tuple(Gone(*part) for part in gone), frozenset(timing))


class Classifier:
    """Tell property tests from the others: Hypothesis' own, and those under a marker or a path of the configuration."""

    def __init__(self, terms: Terms, root: Path) -> None:
        self._terms, self._root = terms, os.fspath(root)
        self._paths: dict[str, bool] = {}

    def is_property(self, item: pytest.Item) -> bool:
        """Return whether a test is a property test. Hypothesis is never imported for it."""
        if is_hypothesis_item(item):
            return True
        terms = self._terms
        if terms.markers and any(item.get_closest_marker(name) is not None for name in terms.markers):
            return True
        return bool(terms.paths) and self._is_property_path(os.fspath(item.path))

    @property
    def has_timing(self) -> bool:
        """Return whether there is such a marker at all."""
        return bool(self._terms.timing)

    def is_timing(self, item: pytest.Item) -> bool:
        """Return whether a marker of the configuration calls a test timing-sensitive (contract T8)."""
        return any(item.get_closest_marker(name) is not None for name in self._terms.timing)

    def _is_property_path(self, path: str) -> bool:
        known = self._paths.get(path)
        if known is None:
            relative = os.path.relpath(path, self._root).replace(os.sep, "/")
            known = self._paths[path] = any(fnmatchcase(relative, pattern) for pattern in self._terms.paths)
        return known


def is_hypothesis_item(item: pytest.Item) -> bool:
    """Return whether a test is Hypothesis' own, or one on which its decorators were misused."""
    hypothesis: Any = sys.modules.get("hypothesis")
    if hypothesis is None:
        return False
    obj = getattr(item, "obj", None)  # a doctest may have none
    if obj is None:
        return False
    return hypothesis.is_hypothesis_test(obj) is True or any(getattr(obj, name, None) for name in _MISUSED)


def name_of(item: pytest.Item, originals: Mapping[int, str]) -> str:
    """Return a node id as it was before a plugin (xdist's load groups) appended to it."""
    return clean(originals.get(id(item)) or item.nodeid if originals else item.nodeid)
