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
from admit.pytest_plugin.execution import CALL, PHASES, SETUP, Execution
from admit.pytest_plugin.reading import ATTRIBUTE, PropertyRun, Reading, collect_error, skip_reason
from admit.pytest_plugin.terms import VARIABLE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from admit.core.context import RunContext
    from admit.pytest_plugin.calls import Calls
    from admit.pytest_plugin.collection import Collection
    from admit.pytest_plugin.link import ChannelEnd
    from admit.pytest_plugin.terms import Terms

BOTH: Final = (PROPERTY_GATE, FIXTURE_GATE)
"""Where a file that could not be collected is recorded: what it would have held is unknown."""


class Recorder:
    """Write the gates' documents of one session.

    Whatever goes wrong in here is said on standard error, never stops the user's tests, and leaves the documents
    without their end mark: they count as those of a run that died. `running` holds nodes that are under way.

    Args:
        folder: where the documents are written.
        context: what the run is told.
        terms: the part of it that the processes that run tests are told.
        calls: the calls of the node that is running, where tests run in this process.
        channel: takes the documents in place of files, in a run on a base.
    """

    def __init__(
        self, folder: str, context: RunContext, terms: Terms, *, calls: Calls, channel: ChannelEnd | None = None
    ) -> None:
        self._folder, self._context, self._terms, self._calls = folder, context, terms, calls
        self._channel = channel
        self.foreign: set[str] = set()
        self.running: dict[str, None] = {}
        self._documents: Documents | None = None
        self._session: pytest.Session | None = None
        self._open: dict[str | tuple[str, str], Execution] = {}
        self._properties: frozenset[str] = frozenset()
        self._uncollected: set[str] = set()
        self._names: dict[str, str] = {}
        self._bad = self._interrupted = self._has_planned = False
        self._trouble = ""

    def broken(self, error: BaseException) -> None:
        """Stop recording, for good: an error of the recorder's own must not look like a clean run."""
        self._trouble = self._trouble or f"{type(error).__name__}: {error}"
        if self._documents is not None:
            self._documents.abandon()
            self._documents = None
        if self._channel is not None:
            self._channel.hang_up()

    # ------------------------------------------------------------ the session

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Open the documents, before anything is collected."""
        self._session = session
        os.environ[VARIABLE] = self._terms.to_json()
        try:
            links = None if self._channel is None else self._channel.taken()
            self._documents = Documents(self._folder, self._context, pytest.__version__, links)
        except Exception as error:  # noqa: BLE001 - whatever it is, it must not stop the user's tests, nor look clean
            self.broken(error)

    def pytest_keyboard_interrupt(self) -> None:
        """Remember that the session was stopped, whatever exit status it asked for, and in which node."""
        self._interrupted = True
        current = os.environ.get("PYTEST_CURRENT_TEST", "")
        self.running[current.rpartition(" (")[0]] = None

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(self) -> None:
        """Record what is still open, then write the end marks."""
        os.environ.pop(VARIABLE, None)
        try:
            self._end()
        except Exception as error:  # noqa: BLE001 - as above
            self.broken(error)
        if self._channel is not None:
            self._channel.hang_up()
        if self._trouble:  # said here, because while tests run standard error may be captured
            sys.stderr.write(f"admit: recording failed, the gates count as not run: {self._trouble}\n")

    def _end(self) -> None:
        documents, session = self._documents, self._session
        if documents is None or session is None:
            return
        for key, execution in list(self._open.items()):
            node = key if isinstance(key, str) else key[0]
            if execution.worst is None and self._interrupted and node in self.running:
                execution.hidden(_INTERRUPTED, 0)
            self._emit(documents, node, execution)
        self._open.clear()
        for gate in BOTH:
            for node in documents[gate].unseen():
                reading = _INTERRUPTED if self._interrupted and node in self.running else _NEVER_RAN
                documents.not_run((gate,), node, why=reading.why or "never_ran", message=reading.message)
        self._look_for_foreign(documents)
        exit_code = int(getattr(session, "exitstatus", 3))
        ended = session_ended(
            exit_code, reported_bad=self._bad, reported_any=self._has_planned, is_interrupted=self._interrupted
        )
        documents.end(exit_code=exit_code, ended=ended)
        self._documents = None

    def _look_for_foreign(self, documents: Documents) -> None:
        trial = self._context.trial
        if trial is None or trial.part == "inventory":
            return
        from admit.pytest_plugin.foreign import NODE, foreign_modules

        if found := sorted(self.foreign.union(foreign_modules(trial))):
            said = f"not from the tree under judgement: {', '.join(found)}"
            documents.not_run(BOTH, NODE, why="conflict", message=said)

    def say(self, node: str, message: str) -> None:
        """Record something that is no outcome of a test, under a name that no test has."""
        try:
            if self._documents is not None:
                self._documents.not_run((FIXTURE_GATE,), node, why="no_verdict", message=message)
        except Exception as error:  # noqa: BLE001 - as above
            self.broken(error)

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
        self._has_planned |= bool(collection.nodes)
        planned, properties = collection.nodes, collection.properties
        if self._context.trial is not None and self._context.trial.part == "inventory":
            planned = (*planned, *(gone.node for gone in collection.gone))
            properties |= {gone.node for gone in collection.gone if gone.is_property}
        documents[PROPERTY_GATE].plan([node for node in planned if node in properties])
        documents[FIXTURE_GATE].plan([node for node in planned if node not in properties])
        for gate in BOTH:  # in which of the two a node comes to stand is only sure when it ran
            documents[gate].writer.timing(collection.timing)
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

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: Any) -> None:
        """Take one report; append the node's record when its last one has come."""
        try:
            calls, when = self._calls, report.when
            call = calls.pending.pop(when, None)
            if call is None or calls.is_special or call.excinfo is not None or not _is_plain(report):
                self._take(report, call)
            elif when != "teardown":  # nearly every report
                calls.bits |= PHASES[when]
            elif calls.bits == SETUP | CALL and not calls.pending:  # and nearly every node
                self._emit_pass(report.nodeid)
            else:
                self._take(report, call)
        except Exception as error:  # noqa: BLE001 - as above
            self.broken(error)

    def _emit_pass(self, nodeid: str) -> None:
        documents = self._documents
        if documents is not None:
            node = clean(nodeid)
            # the manifest is left out, so that readers take such lines in bulk; a property is never as plain as this
            documents[FIXTURE_GATE].node(NodeRecord(node, "pass", *documents.standing(node)))

    def _take(self, report: Any, call: pytest.CallInfo[None] | None) -> None:
        documents = self._documents
        if documents is None:
            return
        nodeid = report.nodeid
        # under xdist two workers may run nodes of one name at a time
        key = nodeid if "node" not in report.__dict__ else (nodeid, str(report.node.gateway.id))
        execution = self._open.get(key)
        if execution is None:
            execution = self._open[key] = Execution()
        if call is not None:
            execution.resume(self._calls.bits)
            self._calls.bits, self._calls.is_special = 0, True
        note = getattr(report, ATTRIBUTE, None) or self._calls.note(report, call)
        if self._is_done(report, execution, note):
            del self._open[key]
            self._emit(documents, nodeid, execution)

    def _is_done(self, report: Any, execution: Execution, note: dict[str, Any]) -> bool:
        """Fold one report into its node's execution and return whether it was the last."""
        when, is_superseded = report.when, report.outcome == "rerun"
        self._bad |= report.outcome == "failed" and not self._is_planted(report.nodeid)
        if "attempts" in note:
            hidden = note["hidden"]
            execution.hidden(None if hidden is None else Reading(*hidden), note["attempts"])
        if "property" in note and (execution.property_run is None or not execution.property_run.drift):
            execution.property_run = PropertyRun(*note["property"])
        if "reading" not in note:
            return "context" not in report.__dict__ and execution.passed(when)
        is_done = execution.read(when, Reading(*note["reading"]), is_superseded=is_superseded)
        return is_done or (when not in PHASES and not is_superseded)

    def _is_planted(self, nodeid: str) -> bool:
        trial = self._context.trial
        if trial is None or not trial.canary:
            return False
        from admit.trust.canaries import is_planted

        return is_planted(trial.canary, nodeid)

    def _emit(self, documents: Documents, nodeid: str, execution: Execution) -> None:
        self.running.pop(nodeid, None)
        node = self._names.get(nodeid) or clean(nodeid)
        gate = PROPERTY_GATE if node in self._properties or execution.property_run is not None else FIXTURE_GATE
        standing = documents.standing(node)
        if execution.is_plain_pass:
            documents[gate].node(NodeRecord(node, "pass", *standing))
        else:
            documents[gate].node(execution.record(node, standing, self._context.fixture_manifest))


def _is_plain(report: Any) -> bool:
    """Return whether a report is a pass of a whole phase, not of a subtest, and not one that was expected to fail."""
    seen = report.__dict__
    return report.outcome == "passed" and "wasxfail" not in seen and "context" not in seen and ATTRIBUTE not in seen


_INTERRUPTED: Final = Reading("not_run", "interrupted", "the run was interrupted while the node ran")
_NEVER_RAN: Final = Reading("not_run", "never_ran", "the run ended before the node was reached")
