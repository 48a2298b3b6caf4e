"""See which lines of a few files one execution of a proof runs, in a process of its own (boundary; contract P1)."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from admit.scope.places import Places
from admit.scope.reached import Reached
from admit.scope.tracer_audit import Watch

if TYPE_CHECKING:
    from admit.core.context import Trial
    from admit.scope.reached import LineTracer


class Lines:
    """See the lines that run from now on, until `ended`.

    Args:
        trial: names the files.

    Raises:
        UsageError: there is nothing to trace with.
    """

    def __init__(self, trial: Trial) -> None:
        places = Places(trial.tree, trial.traced, apart=(sys.prefix, sys.exec_prefix))
        self._outside, self._test = Reached(), Reached()
        self._tracer = _tracer(places, trial.traced)
        self._watch = Watch(places, self._outside, self._tracer.hears)
        self._tracer.start(self._outside)
        self._tracer.switch(self._test)
        self._watch.current = self._test

    def ended(self) -> dict[str, str] | None:
        """Return a bit for each line by file, in hexadecimal; None where the test went where no tracer follows."""
        self._watch.look_back()
        self._tracer.check()
        self._tracer.switch(self._outside)
        self._tracer.stop()
        self._watch.stop()
        test = self._test
        return {path: hex(bits) for path, bits in test.lines.items()} if test.is_alive and not test.spawned else None


def _tracer(places: Places, files: tuple[str, ...]) -> LineTracer:
    from admit.scope import tracer_monitoring

    if tracer_monitoring.is_here():
        return tracer_monitoring.MonitoringTracer(places)
    from admit.scope.tracer_coverage import CoverageTracer

    return CoverageTracer(places, files)
