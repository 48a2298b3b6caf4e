"""What one part of a run on a base asks of pytest: only collect, run to the end, only these files (contract T2, T7)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from admit.trust.canaries import is_planted

if TYPE_CHECKING:
    from collections.abc import Generator

    from admit.core.context import Trial

_STOPS_EARLY = ("stepwise", "stepwise_skip")


class Part:
    """The pytest plugin that holds a session to its part; registered before options are final.

    Args:
        trial: the part.
    """

    def __init__(self, trial: Trial) -> None:
        self._trial = trial
        self._wanted: frozenset[str] | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_cmdline_main(self, config: pytest.Config) -> None:
        """Set the options that the part needs, before any plugin reads them."""
        option = config.option
        if self._trial.part == "inventory":
            option.collectonly = True
        option.maxfail = 0  # a canary that fails must not cut the run short
        for name in _STOPS_EARLY:
            if getattr(option, name, False):
                setattr(option, name, False)
        if self._trial.part == "proof":
            self._narrow(config)
        elif self._files(config) is not None and not getattr(option, "pyargs", False):
            # a file that is named and not wanted would be a usage error, not an empty collection
            config.args[:] = [arg for arg in config.args if self._is_kept(config, arg)]

    def _narrow(self, config: pytest.Config) -> None:
        """Collect the named files alone, whatever was to be collected; one that is broken keeps no other from it."""
        config.args[:] = sorted(path for path in self._files(config) or () if os.path.isfile(path))
        option = config.option
        option.continue_on_collection_errors = True
        option.numprocesses, option.dist, option.tx = None, "no", []  # workers would only cost time
        for name in ("lf", "failedfirst", "newfirst"):
            setattr(option, name, False)

    @pytest.hookimpl(tryfirst=True)
    def pytest_ignore_collect(self, collection_path: Any, config: pytest.Config) -> bool | None:
        """Pass over what a proof has not named; else pytest makes a node of every file in the folder."""
        if self._trial.part != "proof":
            return None
        names = {os.path.basename(path) for path in self._files(config) or ()}
        is_other = os.path.basename(collection_path) not in names and not os.path.isdir(collection_path)
        return True if is_other else None

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collect_file(self, file_path: Any, parent: pytest.Collector) -> Generator[None, Any, Any]:
        """Collect nothing from a file that is not wanted; conftests and packages are no files to collect."""
        found = yield
        if self._trial.canary and is_planted(self._trial.canary, os.path.basename(file_path)):
            return []  # another worker of xdist was quicker; here they are planted when everything else is collected
        wanted = self._files(parent.config)
        return found if wanted is None or os.path.realpath(file_path) in wanted else []

    def _files(self, config: pytest.Config) -> frozenset[str] | None:
        """Return the real paths of the files that are collected; None where all are."""
        if self._wanted is None:
            trial = self._trial
            files = {os.path.join(trial.tree, name) for name in trial.files}
            if trial.part != "proof":
                files |= {os.path.join(config.rootpath, node.partition("::")[0]) for node in trial.only}
            self._wanted = frozenset(map(os.path.realpath, files))
        selects = self._trial.part in {"proposals", "base", "proof"}
        return self._wanted if selects else None

    def _is_kept(self, config: pytest.Config, arg: str) -> bool:
        path = os.path.join(config.invocation_params.dir, arg.partition("::")[0])
        return not os.path.isfile(path) or os.path.realpath(path) in (self._files(config) or ())
