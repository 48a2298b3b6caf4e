"""The pytest plugin of the process that runs tests: it looks at what only that process can see."""

from __future__ import annotations

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
from admit.pytest_plugin.reading import ATTRIBUTE, Reading, reading_of, worse

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from pathlib import Path

    from admit.pytest_plugin.hypothesis_pin import Pin
    from admit.pytest_plugin.terms import Terms


class Observer:
    """Say what was collected, and put onto reports what their exception says while it is at hand.

    A report is given one attribute of plain JSON values, which survives the way from an xdist worker to its controller.
    A plain pass is given none: nearly every report is one.

    Args:
        terms: what the run is told.
        root: the directory that path patterns start from.
        collected: is told what was collected, before anything runs.
        pin: keeps Hypothesis under the gate's profile.
        broken: is told of an error of the recorder's own, which must never look like a clean run.
    """

    def __init__(
        self,
        terms: Terms,
        root: Path,
        *,
        collected: Callable[[Collection], None],
        pin: Pin,
        broken: Callable[[BaseException], None],
    ) -> None:
        self._classifier = Classifier(terms, root)
        self._collected, self._pin, self._broken = collected, pin, broken
        self._found: list[pytest.Item] = []
        self._originals: dict[int, str] = {}
        self._deselected: list[pytest.Item] = []
        self._properties: set[str] = set()
        self._item: pytest.Item | None = None
        self._attempts = 0
        self._worst: Reading | None = None
        self._is_watched = False

    # ------------------------------------------------------------ collection

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_make_collect_report(self) -> Generator[None, Any, Any]:
        """Bring back the gate's profile before a module is imported: a conftest may have loaded another."""
        self._pin.enforce()
        return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> Generator[None, Any, Any]:
        """Remember what was found before anything is taken out again."""
        self._found = list(items)
        if config.getoption("loadgroup", False):
            self._originals = {id(item): item.nodeid for item in items}
        return (yield)

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
        properties = [item for item in session.items if is_property(item)]
        self._properties = {item.nodeid for item in properties}
        nodes = tuple(name_of(item, originals) for item in session.items)
        gone = [(name_of(item, originals), item, DESELECTED) for item in self._deselected]
        known = {*nodes, *(name for name, _, _ in gone)}
        found = [(name_of(item, originals), item, VANISHED) for item in self._found]
        gone += [row for row in found if row[0] not in known]
        self._collected(
            Collection(
                nodes,
                frozenset(name_of(item, originals) for item in properties),
                tuple(Gone(name, is_property(item), why) for name, item, why in gone),
            )
        )
        if any(map(is_hypothesis_item, properties)):
            self._pin.watch(session.config)
        self._found, self._deselected = [], []

    # ------------------------------------------------------------ reports

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
        """Read every report that is not a plain pass while its exception is at hand."""
        report = yield
        try:
            when = call.when
            if when == "setup":
                self._begin(item)
            if (
                call.excinfo is None
                and report.outcome == "passed"
                and "wasxfail" not in report.__dict__
                and (when == "setup" or not self._is_watched)
            ):
                return report  # nearly every report
            self._read(item, call, report)
        except Exception as error:  # noqa: BLE001 - as above
            self._broken(error)
        return report

    def _begin(self, item: pytest.Item) -> None:
        if item is self._item:
            self._attempts += 1
            self._is_watched = True
        else:
            self._item, self._attempts, self._worst = item, 1, None
            # a call of a property is looked at even where it passed
            self._is_watched = bool(self._properties) and item.nodeid in self._properties

    def _read(self, item: pytest.Item, call: pytest.CallInfo[None], report: Any) -> None:
        when = call.when
        error = call.excinfo
        property_run = self._pin.run_of(item) if when == "call" and self._properties else None
        if error is None and report.outcome == "passed" and "wasxfail" not in report.__dict__ and property_run is None:
            if when == "teardown" and (self._worst is not None or self._attempts > 1):
                setattr(report, ATTRIBUTE, self._hidden())
            return
        self._is_watched = True
        reading = reading_of(
            report, None if error is None else error.value, is_property=item.nodeid in self._properties
        )
        if property_run is not None and reading is None and not property_run.valid:
            count = "what ran could not be counted" if property_run.valid is None else "no valid example was run"
            reading = Reading("not_run", "vacuous", count)
        if when != "teardown":  # tear-downs are always reported
            self._worst = worse(self._worst, reading)
        note = {"reading": None if reading is None else list(reading), "outcome": report.outcome}
        if property_run is not None:
            note["property"] = list(property_run)
        if when == "teardown":
            note |= self._hidden()
        setattr(report, ATTRIBUTE, note)

    def _hidden(self) -> dict[str, Any]:
        # the flaky plugin never reports the attempts that it gives up; the last phase carries what they showed
        return {"worst": None if self._worst is None else list(self._worst), "attempts": self._attempts}
