"""The pytest plugin that watches the collection, in the process that runs tests."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from admit.pytest_plugin.collection import (
    DESELECTED,
    VANISHED,
    Classifier,
    Collection,
    Gone,
    is_hypothesis_item,
    name_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence
    from pathlib import Path

    from admit.core.context import Trial
    from admit.pytest_plugin.calls import Calls
    from admit.pytest_plugin.hypothesis_pin import Pin
    from admit.pytest_plugin.terms import Terms


class Observer:
    """Say what was collected, which of it are properties, and what left the collection again.

    Args:
        terms: what the run is told.
        root: the directory that path patterns start from.
        pin: keeps Hypothesis under the gate's profile.
        calls: is told which nodes are properties.
        collected: is told what was collected, before anything runs.
        broken: is told of an error of the recorder's own, which must never look like a clean run.
        trial: the part of a run on a base that this session is, if it is one.
    """

    def __init__(
        self,
        terms: Terms,
        root: Path,
        *,
        pin: Pin,
        calls: Calls,
        collected: Callable[[Collection], None],
        broken: Callable[[BaseException], None],
        trial: Trial | None = None,
    ) -> None:
        self._classifier = Classifier(terms, root)
        self._pin, self._calls, self._collected, self._broken = pin, calls, collected, broken
        self._found: list[pytest.Item] = []
        self._originals: dict[int, str] = {}
        self._deselected: list[pytest.Item] = []
        self._trial = trial

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_make_collect_report(self) -> Generator[None, Any, Any]:
        """Bring back the gate's profile before a module is imported: a conftest may have loaded another."""
        self._pin.enforce()
        return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(
        self, session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
    ) -> Generator[None, Any, Any]:
        """Remember what was found before anything is taken out again."""
        if self._trial is not None and self._trial.part == "proof":
            is_wanted = _named(self._trial)
            items[:] = [item for item in items if is_wanted(item)]  # plugins see what they would if it were asked for
        self._found = list(items)
        if config.getoption("loadgroup", False):
            self._originals = {id(item): item.nodeid for item in items}
        result = yield
        if self._trial is not None:
            try:
                self._settle(self._trial, session, items)
            except Exception as error:  # noqa: BLE001 - as below
                self._broken(error)
        return result

    def _settle(self, trial: Trial, session: pytest.Session, items: list[pytest.Item]) -> None:
        """Bring what was collected to what the part runs, after every option and plugin had its say."""
        if trial.part == "base":
            only = frozenset(trial.only)
            for part in (items, self._found, self._deselected):
                part[:] = [item for item in part if name_of(item, self._originals) in only]
        if trial.canary:
            from admit.pytest_plugin.planting import Planting

            planting = Planting(trial)
            session.config.pluginmanager.register(planting, "admit-planting")
            planting.plant(session, items, self._found)

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        """Remember what an option or a plugin deselects."""
        self._deselected += items

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Hand over the planned set, before anything runs."""
        try:
            self._pin.enforce()
            self._hand_over(session)
        except Exception as error:  # noqa: BLE001 - whatever it is, it must not stop the user's tests, nor look clean
            self._broken(error)

    def _hand_over(self, session: pytest.Session) -> None:
        is_property, originals = self._classifier.is_property, self._originals
        items = session.items
        nodes = tuple(name_of(item, originals) for item in items)
        properties = [item for item in items if is_property(item)]
        gone = [(name_of(item, originals), item, DESELECTED) for item in self._deselected]
        kept = {*map(id, items), *map(id, self._deselected)}
        lost = [item for item in self._found if id(item) not in kept]
        if lost:  # or replaced by a plugin, under the same name
            known = {*nodes, *(name for name, _, _ in gone)}
            found = [(name_of(item, originals), item, VANISHED) for item in lost]
            gone += [row for row in found if row[0] not in known]
        times = 1 if self._trial is None else self._trial.repeat
        self._collected(
            Collection(
                nodes * times,
                frozenset(name_of(item, originals) for item in properties),
                tuple(Gone(name, is_property(item), why) for name, item, why in gone),
                self._timing([*items, *(item for _, item, _ in gone)]),
            )
        )
        self._calls.properties = frozenset(item.nodeid for item in properties)
        self._calls.hypothesis = frozenset(item.nodeid for item in properties if is_hypothesis_item(item))
        if self._calls.hypothesis:
            self._calls.watch = self._pin.watch(session.config)
        if self._trial is not None and self._trial.replay and self._trial.part != "proof":
            self._replay(session, self._trial.replay)
        self._found, self._deselected = [], []

    def _timing(self, items: list[pytest.Item]) -> frozenset[str]:
        classifier = self._classifier
        if not classifier.has_timing:
            return frozenset()
        return frozenset(name_of(item, self._originals) for item in items if classifier.is_timing(item))

    def _replay(self, session: pytest.Session, replay: Mapping[str, str]) -> None:
        from admit.pytest_plugin.replay import Replay

        names = {item.nodeid: name_of(item, self._originals) for item in session.items}
        texts = {nodeid: replay[name] for nodeid, name in names.items() if name in replay}
        session.config.pluginmanager.register(Replay(texts), "admit-replay")


def _named(trial: Trial) -> Callable[[pytest.Item], bool]:
    """Return whether a test is among those that a proof names, by files from the worktree's top (contract P1)."""
    from admit.prove.nodes import named

    wanted, top = [named(text) for text in trial.only], os.path.realpath(trial.tree)

    def is_wanted(item: pytest.Item) -> bool:
        path = os.path.relpath(os.path.realpath(item.path), top).replace(os.sep, "/")
        return any(one.covers(path, item.nodeid.partition("::")[2]) for one in wanted)

    return is_wanted
