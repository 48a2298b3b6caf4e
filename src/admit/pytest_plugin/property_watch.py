"""Watch Hypothesis tests while they run: what is in force, how many test cases run, how many of them are valid."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Final

import pytest

from admit.pytest_plugin.collection import is_hypothesis_item
from admit.pytest_plugin.exceptions import one_line
from admit.pytest_plugin.hypothesis_pin import PROFILE
from admit.pytest_plugin.reading import PropertyRun

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping

    from admit.pytest_plugin.hypothesis_pin import Pin

DERANDOMIZED: Final = "derandomized"
"""The seed of a test that takes its seed from its own source, and so from nobody's option."""

REPLAYED: Final = pytest.StashKey[int]()
"""How many counterexamples a test was replayed with: each of them ran whole, and did not fail."""

_COMPARED: Final = (
    "max_examples",
    "derandomize",
    "database",
    "verbosity",
    "phases",
    "stateful_step_count",
    "report_multiple_bugs",
    "suppress_health_check",
    "deadline",
    "print_blob",
    "backend",
)


class PropertyWatch:
    """The pytest plugin that looks at each Hypothesis test's call; registered only where there is such a test."""

    def __init__(self, pin: Pin) -> None:
        self._pin = pin
        self._item: pytest.Item | None = None
        self._run: PropertyRun | None = None

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Count test cases, innermost, so that Hypothesis' own plugin has taken its place already."""
        self._item = self._run = None
        if not is_hypothesis_item(item):
            return (yield)
        count = _Count()
        with contextlib.ExitStack() as stack:
            run = None
            try:
                run = in_force(item, self._pin)
                count.listen(stack, item)
            except Exception as error:  # noqa: BLE001 - a Hypothesis of another shape: not measured, so not a pass
                run = PropertyRun(None, 0, None, 0, f"could not be observed: {one_line(repr(error))}", "")
            try:
                return (yield)
            finally:
                self._item = item
                self._run = run._replace(ran=count.ran, valid=count.valid if count.is_measured else None)
                if REPLAYED in item.stash:
                    self._run = run._replace(ran=item.stash[REPLAYED], valid=item.stash[REPLAYED])

    def run_of(self, item: pytest.Item) -> PropertyRun | None:
        """Return what was seen of a test whose call has ended; None during the call and for every other test."""
        return self._run if item is self._item else None


class _Count:
    """Count a test's cases from the statistics that Hypothesis keeps anyway, so that counting costs nothing."""

    def __init__(self) -> None:
        self.ran = self.valid = 0
        self.is_measured = False

    def listen(self, stack: contextlib.ExitStack, item: pytest.Item) -> None:
        """Take the engine's statistics, and observe explicit examples one by one: they never reach the engine."""
        from hypothesis import statistics

        collector: Any = statistics.collector
        before: Callable[[Mapping[str, Any]], None] | None = collector.value

        def note(numbers: Mapping[str, Any]) -> None:
            self.engine(numbers)
            if before is not None:
                before(numbers)

        stack.enter_context(collector.with_value(note))
        if getattr(item.obj, "hypothesis_explicit_examples", ()):  # type: ignore[attr-defined]
            self._observe_explicit(stack)

    def engine(self, statistics: Mapping[str, Any]) -> None:
        """Add the cases of every phase of the engine."""
        self.is_measured = True
        for phase, numbers in statistics.items():
            if phase.endswith("-phase"):
                statuses = [case["status"] for case in numbers["test-cases"]]
                self.ran += len(statuses)
                self.valid += statuses.count("valid") + statuses.count("interesting")

    def _observe_explicit(self, stack: contextlib.ExitStack) -> None:
        from hypothesis.internal import observability

        def observe(observation: Any) -> None:
            if observation.type != "test_case":
                return
            if observation.how_generated != "explicit example":
                stop()  # observing the engine's cases would cost a third more
                return
            self.is_measured = True
            self.ran += 1
            self.valid += observation.status == "passed"

        def stop() -> None:
            observability.remove_observability_callback(observe)

        observability.add_observability_callback(observe)
        stack.callback(stop)


def in_force(item: pytest.Item, pin: Pin) -> PropertyRun:
    """Return the seed and settings that a Hypothesis test is about to run under, and where they differ."""
    test = _Test(item)
    profile, settings = pin.profile, test.settings
    seed = test.seed_in_force()
    drift = list(pin.problems)
    if profile is None:
        return PropertyRun(seed, 0, None, settings.max_examples, "; ".join(drift) or "Hypothesis is not pinned", "")
    asked = DERANDOMIZED if profile.derandomize else pin.terms.seed
    if seed != asked:
        drift.append(f"the seed in force is {seed}, not {asked}")
    differing = _differences(settings, profile)
    if differing and not _descends(settings, profile):
        drift.append(f"settings of another profile than {PROFILE!r}: {differing}")
        differing = ""
    return PropertyRun(seed, 0, None, settings.max_examples, one_line("; ".join(drift)), one_line(differing))


class _Test:
    """Where Hypothesis keeps a test's settings and its seed, for functions, methods and state machines."""

    def __init__(self, item: pytest.Item) -> None:
        from hypothesis import settings

        self.obj: Any = item.obj  # type: ignore[attr-defined]
        found = getattr(self.obj, "_hypothesis_internal_use_settings", None)
        if found is None:  # a state machine's runTest, whose TestCase holds them
            found = getattr(getattr(self.obj, "__self__", None), "settings", None)
        self.settings: Any = found if isinstance(found, settings) else settings.default

    def seed_in_force(self) -> int | str | None:
        """Return the seed by Hypothesis' own order: @seed, then derandomize, then the forced one, then chance."""
        from hypothesis import core

        machine = getattr(self.obj, "_hypothesis_state_machine_class", None)
        own = getattr(self.obj if machine is None else machine, "_hypothesis_internal_use_seed", None)
        if own is not None:
            return own if type(own) is int else one_line(str(own)) or "?"
        if self.settings.derandomize:
            return DERANDOMIZED
        forced: int | str | None = core.global_force_seed
        return forced


def _descends(settings: Any, profile: Any) -> bool:
    """Return whether a test's settings start from the gate's profile, so that what differs is the test's own wish.

    Another registered profile on the way was in force instead of the gate's, whatever it was derived from.
    """
    profiles = getattr(type(profile), "_profiles", {}).values()
    while settings is not None:
        if settings is profile:
            return True
        if any(settings is other for other in profiles):
            return False
        settings = getattr(settings, "_fallback", None)
    return False


def _differences(settings: Any, profile: Any) -> str:
    from hypothesis import HealthCheck

    # Hypothesis' pytest plugin adds this one to every parametrised test, by itself
    added = {getattr(HealthCheck, "differing_executors", None)}
    parts = []
    for name in _COMPARED:
        mine, asked = getattr(settings, name, None), getattr(profile, name, None)
        if mine != asked and not (name == "suppress_health_check" and set(mine or ()) ^ set(asked or ()) <= added):
            parts.append(f"{name}={_shown(mine)}")
    return ", ".join(parts)


def _shown(value: Any) -> str:
    if isinstance(value, tuple | list | set | frozenset):
        return "(" + " ".join(getattr(part, "name", str(part)) for part in value) + ")"
    return str(getattr(value, "name", value))
