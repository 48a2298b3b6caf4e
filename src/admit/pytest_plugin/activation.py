"""Decide what this pytest process is: the one that records, a worker of it, or one nested in a test (boundary)."""

from __future__ import annotations

import os
import shlex
import sys
from typing import TYPE_CHECKING, Any, Final

import pytest

from admit.errors import AdmitError, UsageError
from admit.pytest_plugin import terms as terms_of_run
from admit.pytest_plugin.calls import Calls, WorkerCalls
from admit.pytest_plugin.hypothesis_pin import Pin
from admit.pytest_plugin.observer import Observer
from admit.pytest_plugin.terms import VARIABLE

if TYPE_CHECKING:
    from collections.abc import Callable

    from admit.core.context import RunContext, Trial
    from admit.pytest_plugin.collection import Collection
    from admit.pytest_plugin.link import ChannelEnd
    from admit.pytest_plugin.proof_watch import ProofWatch
    from admit.pytest_plugin.terms import Terms

_PIN: Final = pytest.StashKey[Pin]()
_CHANNEL: Final[pytest.StashKey[ChannelEnd]] = pytest.StashKey()
_WATCH: Final[pytest.StashKey[ProofWatch]] = pytest.StashKey()
_IS_TRACED: Final = pytest.StashKey[bool]()
_UNTRACED: Final = pytest.StashKey[str]()
_TOLD_FILE: Final = "tracing.json"  # `admit.scope.told.TOLD_FILE`, which is imported where it is there
_CONTEXT: Final = pytest.StashKey["RunContext | str"]()


def pin_early(config: pytest.Config) -> None:
    """Pin Hypothesis before conftests are imported, in the process that will record and in its xdist workers."""
    text = os.environ.get(VARIABLE)
    if text is None:
        context = _context(config, config.known_args_namespace.admit)
        if not isinstance(context, str):  # else `activate` says so: until then pytest captures standard error
            _pin(config, terms_of_run.terms_of(context, os.getpid()))
            _trace(config)
            if context.trial is not None:
                _begin(config, context.trial)
    elif "PYTEST_XDIST_WORKER" in os.environ:
        terms = _terms(text)
        if terms is not None and terms.owner == os.getppid():  # else a session nested in a test of a worker
            _pin(config, terms)
            _trace(config)


def activate(config: pytest.Config) -> None:
    """Register the plugins that this process needs; a session nested in a recorded one stays silent."""
    worker: dict[str, Any] | None = getattr(config, "workerinput", None)
    if worker is not None:
        _observe_in_worker(config, worker)
        _go_on_tracing(config, is_worker=True)
    elif VARIABLE not in os.environ:
        _record(config)
        _go_on_tracing(config, is_worker=False)


def _go_on_tracing(config: pytest.Config, *, is_worker: bool) -> None:
    if why := config.stash.get(_UNTRACED, ""):
        sys.stderr.write(f"admit: nothing is traced: {why}\n")
    if config.stash.get(_IS_TRACED, False):
        from admit.pytest_plugin import tracing

        tracing.go_on(config, has_workers=not is_worker and config.getoption("dist", "no") != "no")


def _trace(config: pytest.Config) -> None:
    """Begin to trace what nodes reach, where that is asked for, before a conftest is imported (contract S1)."""
    folder = _absolute(config, config.known_args_namespace.admit)
    if not os.path.lexists(os.path.join(folder, _TOLD_FILE)):
        return
    from admit.pytest_plugin import tracing

    try:
        config.stash[_IS_TRACED] = tracing.begin(config, folder)
    except AdmitError as error:
        config.stash[_UNTRACED] = str(error)  # until `activate` pytest captures standard error


def _record(config: pytest.Config) -> None:
    folder: str = config.getoption("admit")
    context = _context(config, folder)
    if isinstance(context, str):
        _refuse(context)
        return
    from admit.pytest_plugin.recorder import Recorder

    terms = terms_of_run.terms_of(context, os.getpid())
    folder = _absolute(config, folder)
    calls, trial = Calls(), context.trial
    recorder = Recorder(folder, context, terms, calls=calls, channel=config.stash.get(_CHANNEL, None))
    config.pluginmanager.register(recorder, "admit-recorder")
    if trial is not None and (watch := config.stash.get(_WATCH, None)) is not None:
        from admit.pytest_plugin.proof import Proof

        config.pluginmanager.register(Proof(trial, calls, recorder=recorder, watch=watch), "admit-proof")
    if trial is not None and trial.canary:
        from admit.pytest_plugin.planting import Quiet

        config.pluginmanager.register(Quiet(trial), "admit-quiet")
    has_workers = config.getoption("dist", "no") != "no"
    if has_workers and not (trial is not None and config.getoption("collectonly")):  # xdist only runs tests in workers
        from admit.pytest_plugin.xdist import Controller

        config.pluginmanager.register(Controller(recorder, terms, folder, trial), "admit-controller")
    else:
        _observe(config, terms, calls, collected=recorder.collected, broken=recorder.broken, trial=trial)


def _begin(config: pytest.Config, trial: Trial) -> None:
    """Hold the session to its part of a run on a base, and reach the channel before anybody else can."""
    from admit.pytest_plugin.parts import Part

    config.pluginmanager.register(Part(trial), "admit-part")
    if trial.channel:
        from admit.pytest_plugin.documents import GATES
        from admit.pytest_plugin.link import ChannelEnd

        config.stash[_CHANNEL] = ChannelEnd(trial.channel, len(GATES))
    if trial.part == "proof":
        from admit.pytest_plugin.proof_watch import ProofWatch

        config.stash[_WATCH] = ProofWatch(trial)


def _observe_in_worker(config: pytest.Config, worker: dict[str, Any]) -> None:
    from admit.pytest_plugin.xdist import WORKER_INPUT, WorkerFile

    told = worker.get(WORKER_INPUT)
    terms = None if told is None else _terms(told["terms"])
    if told is None or terms is None:
        return  # a worker of a session that does not record
    file = WorkerFile(told["file"])
    trial = None
    if told["trial"] is not None:
        from admit.core.context import Trial
        from admit.pytest_plugin.parts import Part
        from admit.pytest_plugin.xdist import WorkerModules

        trial = Trial(**told["trial"])
        part = Part(trial)
        part.pytest_cmdline_main(config)  # a worker is told its part later than that
        config.pluginmanager.register(part, "admit-part")
        config.pluginmanager.register(WorkerModules(trial), "admit-modules")
    _observe(config, terms, WorkerCalls(file.broken), collected=file.collected, broken=file.broken, trial=trial)


def _observe(
    config: pytest.Config,
    terms: Terms,
    calls: Calls,
    *,
    collected: Callable[[Collection], None],
    broken: Callable[[BaseException], None],
    trial: Trial | None = None,
) -> None:
    if trial is not None:
        from admit.pytest_plugin.link import hide_option

        hide_option(config)
    pin = _pin(config, terms)
    observer = Observer(terms, config.rootpath, pin=pin, calls=calls, collected=collected, broken=broken, trial=trial)
    config.pluginmanager.register(calls, "admit-calls")
    config.pluginmanager.register(observer, "admit-observer")


def _pin(config: pytest.Config, terms: Terms) -> Pin:
    pin = config.stash.get(_PIN, None)
    if pin is None:
        pin = config.stash[_PIN] = Pin(terms)
        pin.arm()
    else:
        pin.enforce()
    return pin


def _context(config: pytest.Config, folder: str) -> RunContext | str:
    """Return the run context, read once, or why there is none: then nothing is recorded."""
    if _CONTEXT not in config.stash:
        try:
            config.stash[_CONTEXT] = _read_context(config, _absolute(config, folder))
        except AdmitError as error:
            config.stash[_CONTEXT] = str(error)
        except Exception as error:  # noqa: BLE001 - whatever it is, it must not stop the user's tests
            config.stash[_CONTEXT] = f"{type(error).__name__}: {error}"
    return config.stash[_CONTEXT]


def _read_context(config: pytest.Config, folder: str) -> RunContext:
    _check_spelling(config, folder)
    path = os.path.join(folder, "context.json")
    if os.path.lexists(path):
        from admit.evidence.context import read_context

        return read_context(path)
    from admit.wiring import run_context

    return run_context(config.rootpath)


def _check_spelling(config: pytest.Config, folder: str) -> None:
    # before plugins are loaded pytest takes DIR in `--admit DIR` for a test path, and looks for its root directory from
    # there: every node id would be another one
    given = shlex.split(os.environ.get("PYTEST_ADDOPTS", "")) + [str(arg) for arg in config.invocation_params.args]
    start = os.fspath(config.invocation_params.dir)
    if "--admit" in given and os.path.commonpath([start, os.path.realpath(folder)]) != start:
        raise UsageError(
            "--admit", f"{folder} stands apart from the option", do="write --admit=DIR, with an equals sign"
        )


def _refuse(text: str) -> None:
    sys.stderr.write(f"admit: nothing is recorded, the gates count as not run: {text}\n")


def _terms(text: str) -> Terms | None:
    try:
        return terms_of_run.from_json(text)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        _refuse(f"{VARIABLE} cannot be read: {error}")
        return None


def _absolute(config: pytest.Config, folder: str) -> str:
    return os.path.join(config.invocation_params.dir, folder)
