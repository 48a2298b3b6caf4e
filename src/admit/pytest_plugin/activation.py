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

    from admit.core.context import RunContext
    from admit.pytest_plugin.collection import Collection
    from admit.pytest_plugin.terms import Terms

_PIN: Final = pytest.StashKey[Pin]()
_CONTEXT: Final = pytest.StashKey["RunContext | str"]()


def pin_early(config: pytest.Config) -> None:
    """Pin Hypothesis before conftests are imported, in the process that will record and in its xdist workers."""
    text = os.environ.get(VARIABLE)
    if text is None:
        context = _context(config, config.known_args_namespace.admit)
        if not isinstance(context, str):  # else `activate` says so: until then pytest captures standard error
            _pin(config, terms_of_run.terms_of(context, os.getpid()))
    elif "PYTEST_XDIST_WORKER" in os.environ:
        terms = _terms(text)
        if terms is not None and terms.owner == os.getppid():  # else a session nested in a test of a worker
            _pin(config, terms)


def activate(config: pytest.Config) -> None:
    """Register the plugins that this process needs; a session nested in a recorded one stays silent."""
    worker: dict[str, Any] | None = getattr(config, "workerinput", None)
    if worker is not None:
        _observe_in_worker(config, worker)
    elif VARIABLE not in os.environ:
        _record(config)


def _record(config: pytest.Config) -> None:
    folder: str = config.getoption("admit")
    context = _context(config, folder)
    if isinstance(context, str):
        _refuse(context)
        return
    from admit.pytest_plugin.recorder import Recorder

    terms = terms_of_run.terms_of(context, os.getpid())
    folder = _absolute(config, folder)
    calls = Calls()
    recorder = Recorder(folder, context, terms, calls)
    config.pluginmanager.register(recorder, "admit-recorder")
    if config.getoption("dist", "no") != "no":
        from admit.pytest_plugin.xdist import Controller

        config.pluginmanager.register(Controller(recorder, terms, folder), "admit-controller")
    else:
        _observe(config, terms, calls, collected=recorder.collected, broken=recorder.broken)


def _observe_in_worker(config: pytest.Config, worker: dict[str, Any]) -> None:
    from admit.pytest_plugin.xdist import WORKER_INPUT, WorkerFile

    told = worker.get(WORKER_INPUT)
    terms = None if told is None else _terms(told["terms"])
    if told is None or terms is None:
        return  # a worker of a session that does not record
    file = WorkerFile(told["file"])
    _observe(config, terms, WorkerCalls(file.broken), collected=file.collected, broken=file.broken)


def _observe(
    config: pytest.Config,
    terms: Terms,
    calls: Calls,
    *,
    collected: Callable[[Collection], None],
    broken: Callable[[BaseException], None],
) -> None:
    pin = _pin(config, terms)
    observer = Observer(terms, config.rootpath, pin=pin, calls=calls, collected=collected, broken=broken)
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
