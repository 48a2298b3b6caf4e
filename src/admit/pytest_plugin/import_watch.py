"""Run something right after a module's first import, at no cost where it is never imported."""

from __future__ import annotations

import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType


class ImportWatch(MetaPathFinder):
    """Call `then` once, when module `name` has been executed and before whoever imports it goes on."""

    def __init__(self, name: str, then: Callable[[], None]) -> None:
        self._name, self._then = name, then
        self._is_armed = True

    def keep_first(self) -> None:
        """Stand in front of every other finder, as long as the module was not imported: one that answers first wins.

        pytest's assertion rewriter is one for the package of every plugin, and Hypothesis is one.
        """
        if self._is_armed and sys.meta_path[:1] != [self]:
            self._leave()
            sys.meta_path.insert(0, self)

    def _leave(self) -> None:
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the module's spec with a loader that calls back, None for every other module."""
        del path, target
        if fullname != self._name:
            return None
        self._is_armed = False
        self._leave()
        spec = find_spec(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, self._then)
        return spec


class _Loader(Loader):
    """Stand in for a module's real loader while it is executed; the module is left with the real one."""

    def __init__(self, real: Loader, then: Callable[[], None]) -> None:
        self._real, self._then = real, then

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._real.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self._real
        if module.__spec__ is not None:
            module.__spec__.loader = self._real
        self._real.exec_module(module)
        self._then()
