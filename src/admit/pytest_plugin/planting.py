"""Plant the canaries beside a project's tests, and take them away again (contract T4; boundary: one file)."""

from __future__ import annotations

import contextlib
import os
import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import pytest

from admit.trust import canaries

if TYPE_CHECKING:
    from collections.abc import Sequence

    from admit.core.context import Trial


class Planting:
    """Plant one run's canaries, once its collection is settled: no option and no hook of a project selects among them.

    Their file stands beside the first test that was collected, so that the same conftests and fixtures apply. Each
    process that runs tests writes it, always the same, and removes it at its end: the others have imported it by then.

    Args:
        trial: the part of the run.
    """

    def __init__(self, trial: Trial) -> None:
        self._word, self._tree = trial.canary, os.path.realpath(trial.tree)
        self._path = ""

    def plant(self, session: pytest.Session, items: list[pytest.Item], found: Sequence[pytest.Item]) -> None:
        """Add the canaries to the items that will run: one that must fail first, the others last.

        Args:
            session: the session.
            items: what will run; where that is nothing, nothing is planted.
            found: what was collected, in that order, which no plugin has shuffled yet.
        """
        running = set(map(id, items))
        neighbour = next((item for item in (*found, *items) if id(item) in running), None)
        if neighbour is None:
            return
        folder = os.path.dirname(os.path.realpath(neighbour.path))
        if os.path.commonpath([folder, self._tree]) != self._tree:
            raise RuntimeError(f"{neighbour.nodeid} does not lie in the tree under judgement")
        path = self._path = os.path.join(folder, _file_name(session.config, canaries.file_stem(self._word)))
        _write(path, canaries.source(self._word))
        planted = self._collect(session, neighbour, path)
        first = canaries.first(self._word)
        items[:0] = [item for item in planted if item.name == first]
        items += [item for item in planted if item.name != first]

    def _collect(self, session: pytest.Session, neighbour: pytest.Item, path: str) -> list[pytest.Item]:
        files: Any = pytest.File
        file = neighbour.getparent(files)
        parent = session if file is None or file.parent is None else file.parent
        module_path = type(neighbour.path)(os.path.dirname(neighbour.path), os.path.basename(path))
        hook = session.gethookproxy(module_path)
        module = hook.pytest_pycollect_makemodule(module_path=module_path, parent=parent)
        return list(session.genitems(module))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        """Remove the file, and what Python made of it."""
        if not self._path:
            return
        folder, name = os.path.split(self._path)
        cache = os.path.join(folder, "__pycache__")
        with contextlib.suppress(OSError):
            os.unlink(self._path)
        with contextlib.suppress(OSError):
            for other in os.listdir(cache):
                if other.startswith(name.removesuffix("py")):
                    os.unlink(os.path.join(cache, other))
            os.rmdir(cache)  # where nothing else is in it


class Quiet:
    """Keep planted failures out of a run's failures, on the terminal and in its exit code, and say what they are.

    So the exit code stays what the project's own tests and plugins make it: a missed threshold of coverage shows.
    """

    def __init__(self, trial: Trial) -> None:
        self._word = trial.canary
        self._session: pytest.Session | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Remember whose failures are counted."""
        self._session = session

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: Any) -> None:
        """Take back that pytest counted a canary's failure."""
        if report.failed and self._session is not None and canaries.is_planted(self._word, report.nodeid):
            self._session.testsfailed -= 1

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: Any) -> tuple[str, str, str] | None:
        """Count a canary's answer by itself; one that could not be set up shows like any other."""
        if report.when == "call" and canaries.is_planted(self._word, report.nodeid):
            return "planted", "", "PLANTED"
        return None

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Say what they are."""
        if terminalreporter.stats.get("planted"):
            terminalreporter.write_line("admit planted tests of its own, most of which must fail; they are not counted")


def _file_name(config: pytest.Config, stem: str) -> str:
    """Return a name that the project's own pattern for test files fits, so that pytest rewrites its assertions."""
    for pattern in config.getini("python_files"):
        name: str = pattern.rpartition("/")[2].replace("*", stem, 1).replace("*", "")
        if re.fullmatch(r"\w+\.py", name) and stem in name and fnmatchcase(name, pattern.rpartition("/")[2]):
            return name
    return f"test_{stem}.py"


def _write(path: str, text: str) -> None:
    part = f"{path}.{os.getpid()}"
    with open(part, "x", encoding="ascii") as stream:
        stream.write(text)
    os.replace(part, path)  # a worker that writes it again writes the same
