"""The pytest plugin that keeps each phase's call, so that a report is read while its exception is at hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from admit.pytest_plugin.reading import ATTRIBUTE, Reading, failure_of, reading_of, worse

if TYPE_CHECKING:
    from collections.abc import Callable

    from admit.pytest_plugin.property_watch import PropertyWatch
    from admit.pytest_plugin.reading import PropertyRun


class Calls:
    """Keep the calls of the node that is running, until their reports come; say more of those that are no plain pass.

    `pending` maps a phase to its call; `properties` are the nodes of the property gate, `hypothesis` those among them
    that Hypothesis runs, which `watch` looks at. `bits` are the phases of the running node that plainly passed, as long
    as there is nothing else to say of it; `is_special` says that there is: it is a property, or this is not its first
    attempt, or one of its reports was no plain pass.
    """

    def __init__(self) -> None:
        self.pending: dict[str, pytest.CallInfo[None]] = {}
        self.properties: frozenset[str] = frozenset()
        self.hypothesis: frozenset[str] = frozenset()
        self.watch: PropertyWatch | None = None
        self.bits = 0
        self.is_special = False
        self._item: pytest.Item | None = None
        self._attempts = 0
        self._hidden: Reading | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> None:
        """Keep the call. Not its exception: pytest's unittest plugin puts that in later."""
        when = call.when
        if when == "setup":
            self._begin(item)
        self.pending[when] = call

    def _begin(self, item: pytest.Item) -> None:
        if item is self._item:
            self._note_hidden()
            self._attempts += 1
            self.is_special = True
        else:
            self._item, self._attempts, self._hidden = item, 1, None
            self.is_special = bool(self.properties) and item.nodeid in self.properties
            self.bits = 0
        self.pending.clear()

    def _note_hidden(self) -> None:
        # the flaky plugin never reports the calls of attempts that it gives up
        for when, call in self.pending.items():
            if call.excinfo is not None:
                is_property = self._item is not None and self._item.nodeid in self.properties
                reading = failure_of(when, call.excinfo.value, is_property=is_property)
                self._hidden = worse(self._hidden, reading)

    def note(self, report: Any, call: pytest.CallInfo[None] | None) -> dict[str, Any]:
        """Return what there is to say of a report, in plain JSON values; empty for a plain pass.

        Args:
            report: the report.
            call: its call, taken out of `pending`; None where no call is known, as for a report that a plugin made up.
        """
        error = None if call is None or call.excinfo is None else call.excinfo.value
        reading = reading_of(report, error, is_property=report.nodeid in self.properties)
        note: dict[str, Any] = {}
        if report.when == "call" and report.nodeid in self.hypothesis and "context" not in report.__dict__:
            run = self._property_run()
            if run is not None:
                note["property"] = list(run)
            if reading is None:
                reading = _vacuous(run)
        if reading is not None:
            note["reading"] = list(reading)
        if report.when == "teardown":
            self._note_hidden()
            if self._hidden is not None or self._attempts > 1:
                note["hidden"] = None if self._hidden is None else list(self._hidden)
                note["attempts"] = self._attempts
        return note

    def _property_run(self) -> PropertyRun | None:
        return None if self.watch is None or self._item is None else self.watch.run_of(self._item)


def _vacuous(run: PropertyRun | None) -> Reading | None:
    """Return why a Hypothesis test that passed showed nothing; what was not counted is not a pass."""
    if run is None or run.valid is None:
        return Reading("not_run", "vacuous", "what ran could not be counted")
    return None if run.valid else Reading("not_run", "vacuous", "no valid example was run")


class WorkerCalls(Calls):
    """Put what there is to say onto the reports themselves, which xdist sends from a worker to its controller."""

    def __init__(self, broken: Callable[[BaseException], None]) -> None:
        super().__init__()
        self._broken = broken

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: Any) -> None:
        """Add the attribute, before xdist sends the report off."""
        try:
            note = self.note(report, self.pending.pop(report.when, None))
            if note:
                setattr(report, ATTRIBUTE, note)
        except Exception as error:  # noqa: BLE001 - whatever it is, it must not stop the user's tests, nor look clean
            self._broken(error)
