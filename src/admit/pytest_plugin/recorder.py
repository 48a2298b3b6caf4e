"""The pytest plugin that records: reports become node records as they happen, in the controller alone under xdist."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, Final

import pytest

from admit.core.records import NodeRecord
from admit.pytest_plugin.documents import FIXTURE_GATE, PROPERTY_GATE, Documents
from admit.pytest_plugin.ending import session_ended
from admit.pytest_plugin.exceptions import clean
from admit.pytest_plugin.execution import PHASES, Execution
from admit.pytest_plugin.reading import ATTRIBUTE, PropertyRun, Reading, bare_reading, collect_error, skip_reason
from admit.pytest_plugin.terms import VARIABLE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from admit.core.context import RunContext
    from admit.pytest_plugin.collection import Collection
    from admit.pytest_plugin.terms import Terms

BOTH: Final = (PROPERTY_GATE, FIXTURE_GATE)
"""Where a file that could not be collected is recorded: what it would have held is unknown."""


class Recorder:
    """Write the gates' documents of one session.

    Whatever goes wrong in here is said on standard error, never stops the user's tests, and leaves the documents
    without their end mark: they count as those of a run that died.
    """

    def __init__(self, folder: str, context: RunContext, terms: Terms) -> None:
        self._folder, self._context, self._terms = folder, context, terms
        self._documents: Documents | None = None
        self._session: pytest.Session | None = None
        self._open: dict[tuple[str, str | None], Execution] = {}
        self._running: dict[str, None] = {}
        self._properties: frozenset[str] = frozenset()
        self._uncollected: set[str] = set()
        self._names: dict[str, str] = {}
        self._bad = self._interrupted = False
        self._trouble = ""

    def broken(self, error: BaseException) -> None:
        """Stop recording, for good: an error of the recorder's own must not look like a clean run."""
        self._trouble = self._trouble or f"{type(error).__name__}: {error}"
        if self._documents is not None:
            self._documents.abandon()
            self._documents = None

    # ------------------------------------------------------------ the session

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Open the documents, before anything is collected."""
        self._session = session
        os.environ[VARIABLE] = self._terms.to_json()
        try:
            self._documents = Documents(self._folder, self._context, pytest.__version__)
        except Exception as error:  # noqa: BLE001 - whatever it is, it must not stop the user's tests, nor look clean
            self.broken(error)

    def pytest_keyboard_interrupt(self) -> None:
        """Remember that the session was stopped, whatever exit status it asked for."""
        self._interrupted = True

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(self) -> None:
        """Record what is still open, then write the end marks."""
        os.environ.pop(VARIABLE, None)
        try:
            self._end()
        except Exception as error:  # noqa: BLE001 - as above
            self.broken(error)
        if self._trouble:  # said here, because while tests run standard error may be captured
            sys.stderr.write(f"admit: recording failed, the gates count as not run: {self._trouble}\n")

    def _end(self) -> None:
        documents, session = self._documents, self._session
        if documents is None or session is None:
            return
        for (node, _), execution in list(self._open.items()):
            if execution.worst is None and self._interrupted and node in self._running:
                execution.hidden(_INTERRUPTED, 0)
            self._emit(documents, node, execution)
        self._open.clear()
        for gate in BOTH:
            for node in documents[gate].unseen():
                reading = _INTERRUPTED if self._interrupted and node in self._running else _NEVER_RAN
                documents.not_run((gate,), node, why=reading.why or "never_ran", message=reading.message)
        exit_code = int(getattr(session, "exitstatus", 3))
        reported = any(documents[gate].planned for gate in BOTH)
        ended = session_ended(
            exit_code, reported_bad=self._bad, reported_any=reported, is_interrupted=self._interrupted
        )
        documents.end(exit_code=exit_code, ended=ended)
        self._documents = None

    # ------------------------------------------------------------ collection

    def collected(self, collection: Collection, reported_as: Sequence[str] = ()) -> None:
        """Write down the planned set of each gate, and what was collected and will not run.

        Args:
            collection: what was collected.
            reported_as: the ids under which the same nodes will be reported, where a plugin appends to them.
        """
        documents = self._documents
        if documents is None:
            return
        self._names |= dict(zip(reported_as, collection.nodes, strict=False))
        self._properties |= collection.properties
        properties = collection.properties
        documents[PROPERTY_GATE].plan([node for node in collection.nodes if node in properties])
        documents[FIXTURE_GATE].plan([node for node in collection.nodes if node not in properties])
        for node, is_property, message in collection.gone:
            gate = PROPERTY_GATE if is_property else FIXTURE_GATE
            documents.not_run((gate,), node, why="deselected", message=message)

    def pytest_collectreport(self, report: Any) -> None:
        """Record a file that could not be collected, or that skipped itself: what it holds is unknown to both gates."""
        try:
            documents = self._documents
            if report.outcome == "passed" or documents is None:
                return
            self._bad |= report.outcome == "failed"
            node = clean(report.nodeid) or "."
            if node in self._uncollected:  # xdist: every worker says so
                return
            self._uncollected.add(node)
            if report.outcome == "failed":
                documents.not_run(BOTH, node, why="error_collect", message=collect_error(report.longrepr))
            else:
                documents.not_run(BOTH, node, why="skip", message=skip_reason(report.longrepr))
        except Exception as error:  # noqa: BLE001 - as above
            self.broken(error)

    # ------------------------------------------------------------ reports

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Remember which nodes are under way, so that an interruption can name them."""
        self._running[nodeid] = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: Any) -> None:
        """Take one report; append the node's record when its last one has come."""
        documents = self._documents
        if documents is None:
            return
        try:
            seen = report.__dict__
            worker = seen.get("worker_id")
            if worker is None and "node" in seen:
                worker = str(report.node.gateway.id)  # the controller's own report of a worker that died
            key = report.nodeid, worker
            execution = self._open.get(key)
            if execution is None:
                execution = self._open[key] = Execution()
            if ATTRIBUTE not in seen and report.outcome == "passed" and "wasxfail" not in seen:
                # a subtest that passed says nothing of its node's phases
                is_done = "context" not in seen and execution.passed(report.when)
            else:
                is_done = self._take(report, execution)
            if is_done:
                del self._open[key]
                self._emit(documents, key[0], execution)
        except Exception as error:  # noqa: BLE001 - as above
            self.broken(error)

    def _take(self, report: Any, execution: Execution) -> bool:
        note: dict[str, Any] = getattr(report, ATTRIBUTE, None) or {"reading": list(bare_reading(report))}
        outcome, when = report.outcome, report.when
        is_subtest = "context" in report.__dict__
        # what the report said when it was made counts, too: a hook may have rewritten it since
        self._bad |= outcome != "rerun" and "failed" in {outcome, note.get("outcome")}
        if "attempts" in note:
            worst = note["worst"]
            execution.hidden(None if worst is None else Reading(*worst), note["attempts"])
        if note.get("property") and (execution.property_run is None or not execution.property_run.drift):
            execution.property_run = PropertyRun(*note["property"])
        reading = note.get("reading")
        if reading is None and outcome not in {"passed", "rerun"}:
            reading = bare_reading(report)  # it was a pass when it was made
        if reading is None:
            return not is_subtest and execution.passed(when)
        is_done = execution.read(when, Reading(*reading), is_superseded=outcome == "rerun")
        return is_done or (when not in PHASES and outcome != "rerun")

    def _emit(self, documents: Documents, nodeid: str, execution: Execution) -> None:
        self._running.pop(nodeid, None)
        node = self._names.get(nodeid) or clean(nodeid)
        gate = PROPERTY_GATE if node in self._properties or execution.property_run is not None else FIXTURE_GATE
        standing = documents.standing(node)
        if execution.is_plain_pass:
            # nearly every record; the manifest is left out, so that readers take such lines in bulk
            documents[gate].node(NodeRecord(node, "pass", *standing))
        else:
            documents[gate].node(execution.record(node, standing, self._context.fixture_manifest))


_INTERRUPTED: Final = Reading("not_run", "interrupted", "the run was interrupted while the node ran")
_NEVER_RAN: Final = Reading("not_run", "never_ran", "the run ended before the node was reached")
