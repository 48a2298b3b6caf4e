"""One side of a proof: each node runs several times, each time in a process of its own (boundary; contract P1, P2).

A session collects once and forks for every execution, so that none sees what another left in memory, and a proof costs
little more than a plain run. What a process reports comes back over a pipe and is recorded here.
"""

from __future__ import annotations

import inspect
import json
import os
import platform
import signal
import sys
import warnings
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, NoReturn

import pytest

from admit.prove.seen import REPLAY, SAID, VERSIONS
from admit.pytest_plugin.foreign import foreign_modules
from admit.pytest_plugin.proof_watch import strangers
from admit.pytest_plugin.reading import ATTRIBUTE, Reading

if TYPE_CHECKING:
    from admit.core.context import Trial
    from admit.pytest_plugin.calls import Calls
    from admit.pytest_plugin.proof_lines import Lines
    from admit.pytest_plugin.proof_watch import ProofWatch
    from admit.pytest_plugin.recorder import Recorder

_HEAD: Final = 8
_RECORDER: Final = "admit-recorder"


class Proof:
    """The pytest plugin that runs nodes so, in place of pytest's own protocol.

    Args:
        trial: how often, and which counterexamples to replay.
        calls: of the session; each process goes on with a copy.
        recorder: takes what is reported.
        watch: has looked on since before the first conftest.
    """

    def __init__(self, trial: Trial, calls: Calls, *, recorder: Recorder, watch: ProofWatch) -> None:
        self._trial, self._calls, self._recorder, self._watch = trial, calls, recorder, watch

    def pytest_collection_finish(self) -> None:
        """Say which versions run the tests."""
        self._watch.pause()
        found = {"python": platform.python_version(), "pytest": pytest.__version__}
        if (hypothesis := sys.modules.get("hypothesis")) is not None:
            found["hypothesis"] = str(hypothesis.__version__)
        self._recorder.say(VERSIONS, json.dumps(found))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool:
        """Run a node as often as was asked for, then with the other side's counterexample, if there is one."""
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        again = ""
        for left in reversed(range(self._trial.repeat)):
            # what has to be the same each time is the failure; searching and shrinking anew would only find it again
            again = self._execute(item, item.nodeid, again, is_last=not left) or again
        if text := self._trial.replay.get(item.nodeid):
            self._execute(item, REPLAY + item.nodeid, text)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    def _execute(self, item: pytest.Item, name: str, replay: str, *, is_last: bool = False) -> str:
        """Run a node once and record it; return what reproduces its counterexample, if there is just one."""
        answer = self._forked(item, replay, is_last=is_last)
        if isinstance(answer, str):
            answer = {"reports": [], "foreign": [], "said": {}, "lost": answer}
        for keys in answer["reports"]:
            report = item.config.hook.pytest_report_from_serializable(config=item.config, data=keys)
            report.nodeid = name
            if report.failed:
                inspect.getmodule(_send.__code__)  # what each traceback asks is slow the first time, then remembered
            item.ihook.pytest_runtest_logreport(report=report)
        if "lost" in answer:
            item.ihook.pytest_runtest_logreport(report=_lost(item, name, answer["lost"]))
        self._recorder.foreign.update(answer["foreign"])
        self._recorder.say(SAID + name, json.dumps(answer["said"]))
        return str(answer.get("reproduce", ""))

    def _forked(self, item: pytest.Item, replay: str, *, is_last: bool) -> dict[str, Any] | str:
        """Return what a process of its own says of one execution, or why it says nothing."""
        reads, writes = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of threads that do not come along; what needs one does not answer
            child = os.fork()
        if child == 0:
            os.close(reads)
            self._run_and_leave(item, replay, writes, is_last=is_last)
        os.close(writes)
        raw = None
        try:
            raw = _received(reads)
        finally:
            os.close(reads)
            if raw is None:
                with suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
            _, status = os.waitpid(child, 0)
        if raw is not None:
            answer: dict[str, Any] = json.loads(raw)
            return answer
        code = os.waitstatus_to_exitcode(status)
        return "the process that ran it left without a word" if code >= 0 else f"it was ended by signal {-code}"

    def _run_and_leave(self, item: pytest.Item, replay: str, writes: int, *, is_last: bool) -> NoReturn:
        try:
            _send(writes, self._ran(item, replay, is_last=is_last))
        except BaseException as error:  # noqa: BLE001 - pytest.exit and an interrupt too: nothing gets out of here
            with suppress(BaseException):
                _send(writes, {"reports": [], "foreign": [], "said": {}, "lost": f"{type(error).__name__}: {error}"})
        finally:
            os._exit(0)

    def _ran(self, item: pytest.Item, replay: str, *, is_last: bool) -> dict[str, Any]:
        from _pytest.runner import runtestprotocol

        manager = item.config.pluginmanager
        for name in (_RECORDER, "terminalreporter"):  # they speak in the session's own process
            if manager.has_plugin(name):
                manager.unregister(name=name)
        kept = _Kept(item.config, self._calls)
        manager.register(kept, "admit-kept")
        if replay:
            from admit.pytest_plugin.replay import Replay

            manager.register(Replay({item.nodeid: replay}), "admit-replay")
        lines = None
        if is_last:  # to look on takes time, and once is enough
            self._watch.listen()
            lines = self._lines()
        runtestprotocol(item, log=True, nextitem=None)
        ran = None if lines is None else lines.ended()
        opened = sorted(self._watch.opened)
        foreign = [*foreign_modules(self._trial), *strangers(self._trial)]
        said = {**kept.raised, "opened": opened, "ran": ran}
        return {"reports": kept.reports, "foreign": foreign, "said": said, "reproduce": kept.reproduce}

    def _lines(self) -> Lines | None:
        """Begin to trace; None where nothing is to be traced, or there is nothing to do it with: then nobody knows."""
        from admit.errors import UsageError

        if not self._trial.traced:
            return None
        from admit.pytest_plugin.proof_lines import Lines

        try:
            return Lines(self._trial)
        except UsageError:
            return None


class _Kept:
    """Keep the reports of an execution, each with what only the process that ran it can see."""

    def __init__(self, config: pytest.Config, calls: Calls) -> None:
        self._config, self._calls = config, calls
        self.reports: list[Any] = []
        self.raised: dict[str, Any] = {}
        self.reproduce = ""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: Any) -> None:
        """Take one."""
        call = self._calls.pending.pop(report.when, None)
        if call is not None and call.excinfo is not None and report.when == "call":
            error = call.excinfo.value
            self.raised = {"exception": _kind(error), "is_import": _is_import(error)}
        if note := self._calls.note(report, call):
            setattr(report, ATTRIBUTE, note)
            reading = Reading(*note["reading"]) if "reading" in note else None
            if reading is not None and reading.check == "fail" and "\n" not in reading.reproduce:
                self.reproduce = reading.reproduce
        self.reports.append(self._config.hook.pytest_report_to_serializable(config=self._config, report=report))


def _kind(error: BaseException) -> str:
    """Return the name of an exception's type, of a group with those of its members."""
    kind = type(error)
    name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    if isinstance(error, BaseExceptionGroup):
        return f"{name}({', '.join(sorted({_kind(one) for one in error.exceptions}))})"
    return name


def _is_import(error: BaseException) -> bool:
    if isinstance(error, BaseExceptionGroup):
        return any(map(_is_import, error.exceptions))
    return isinstance(error, ImportError)


def _lost(item: pytest.Item, name: str, why: str) -> pytest.TestReport:
    report = pytest.TestReport(name, item.location, {}, "failed", why, "???")  # type: ignore[arg-type]
    setattr(report, ATTRIBUTE, {"reading": list(Reading("not_run", "crashed", why))})
    return report


def _send(fd: int, answer: dict[str, Any]) -> None:
    raw = json.dumps(answer, default=str).encode("ascii")
    block = len(raw).to_bytes(_HEAD, "big") + raw
    while block:
        block = block[os.write(fd, block) :]


def _received(fd: int) -> bytes | None:
    """Return a whole message, None where the other end left before; processes that a test left behind may hold it."""
    head = _exactly(fd, _HEAD)
    return None if head is None else _exactly(fd, int.from_bytes(head, "big"))


def _exactly(fd: int, size: int) -> bytes | None:
    parts = []
    while size:
        part = os.read(fd, min(size, 1 << 20))
        if not part:
            return None
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
