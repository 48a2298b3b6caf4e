"""pytest-xdist: workers run and observe, the controller records (boundary: a small file from worker to controller)."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Any, Final

import pytest

from admit.pytest_plugin.collection import from_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from admit.core.context import Trial
    from admit.pytest_plugin.collection import Collection
    from admit.pytest_plugin.recorder import Recorder
    from admit.pytest_plugin.terms import Terms

WORKER_INPUT: Final = "admit"
"""The key under which a controller tells its workers; a worker that is not told stays silent."""


class WorkerFile:
    """Hand a worker's collection to its controller, which xdist itself tells the node ids alone."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._is_broken = False

    def collected(self, collection: Collection) -> None:
        """Write the collection down, whole or not at all."""
        if self._is_broken:
            return
        with open(self._path + ".part", "w", encoding="ascii") as stream:
            stream.write(collection.to_json())
        os.rename(self._path + ".part", self._path)

    def broken(self, error: BaseException) -> None:
        """Tell the controller that this worker's observer failed; reports that follow are not to be trusted."""
        self._is_broken = True
        with (
            contextlib.suppress(OSError),
            open(self._path + ".broken", "a", encoding="utf-8", errors="replace") as file,
        ):
            file.write(f"{type(error).__name__}: {error}\n")


class WorkerModules:
    """Tell the controller which modules came from somewhere else than the tree under judgement."""

    def __init__(self, trial: Trial) -> None:
        self._trial = trial

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Look, when every test has run."""
        from admit.pytest_plugin.foreign import foreign_modules

        output: dict[str, Any] = session.config.workeroutput  # type: ignore[attr-defined]
        output[WORKER_INPUT] = foreign_modules(self._trial)


class Controller:
    """The controller's hooks: tell workers the terms, and read what they collected before anything is scheduled."""

    def __init__(self, recorder: Recorder, terms: Terms, folder: str, trial: Trial | None = None) -> None:
        self._recorder, self._terms, self._folder = recorder, terms, folder
        self._trial = None if trial is None else {**trial._asdict(), "replay": dict(trial.replay), "channel": ""}
        self._files: dict[str, str] = {}
        self._is_planned = False

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell a worker the terms and where to put its collection."""
        name = f".worker-{os.getpid()}-{node.gateway.id}"
        path = self._files[node.gateway.id] = os.path.join(self._folder, name)
        node.workerinput[WORKER_INPUT] = {"terms": self._terms.to_json(), "file": path, "trial": self._trial}

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: Any, ids: Sequence[str]) -> None:
        """Write down the plan, as the first worker collected it (each worker runs all of it under --dist=each)."""
        try:
            path = self._files[node.gateway.id]
            with open(path, encoding="ascii") as stream:
                collection = from_json(stream.read())
            os.unlink(path)
            if not self._is_planned or node.config.getoption("dist", "") == "each":
                self._is_planned = True
                self._recorder.collected(collection, ids)
        except Exception as error:  # noqa: BLE001 - it must not stop the user's tests, nor look clean
            self._recorder.broken(error)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """Take what a worker says of the modules that it loaded; one that crashed has its node recorded as crashed."""
        if self._trial is None or error is not None:
            return
        said = getattr(node, "workeroutput", {}).get(WORKER_INPUT)
        if said is None:
            self._recorder.broken(RuntimeError("an xdist worker did not say where its modules came from"))
        else:
            self._recorder.foreign.update(said)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Remember which nodes are under way in the workers, so that an interruption can name them."""
        self._recorder.running[nodeid] = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_unconfigure(self) -> None:
        """Notice workers whose observer failed, before the end marks are written."""
        for path in self._files.values():
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
            try:
                with open(path + ".broken", encoding="utf-8") as stream:
                    self._recorder.broken(RuntimeError(f"in an xdist worker: {stream.read().strip()}"))
                os.unlink(path + ".broken")
            except FileNotFoundError:
                pass
