"""Hypothesis under the gate's own profile and seed, without importing it for projects that do not use it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

from admit.pytest_plugin.import_watch import ImportWatch

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from admit.pytest_plugin.property_watch import PropertyWatch
    from admit.pytest_plugin.terms import Terms

PROFILE: Final = "admit"
"""The profile's name. Under CI=true Hypothesis loads a profile `ci` by itself, which ignores a seed option."""

DEFAULTS: Final[dict[str, Any]] = {
    "max_examples": 100,
    "derandomize": False,
    "database": None,
    "verbosity": "normal",
    "stateful_step_count": 50,
    "report_multiple_bugs": True,
    "suppress_health_check": (),
    "deadline": None,
    "print_blob": True,
    "backend": "hypothesis",
}
"""What a field is where the context does not say: every field is explicit, so that nothing is inherited from CI."""


class Pin:
    """Keep Hypothesis under the gate's profile and seed, and say where that failed.

    `problems` holds what could not be pinned: every property record says so and counts as drifted (contract L3).
    """

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.problems: list[str] = []
        self.profile: Any = None
        self._import_watch = ImportWatch("hypothesis", self.apply)

    def arm(self) -> None:
        """Pin now if Hypothesis is there, else as soon as somebody imports it."""
        if "hypothesis" in sys.modules:
            self.apply()
        else:
            self._import_watch.keep_first()

    def apply(self) -> None:
        """Register and load the profile, and force the seed; never raises into whoever imports Hypothesis."""
        self._guarded(self._apply)

    def _apply(self) -> None:
        from hypothesis import core, settings

        wanted, unknown = _fields(DEFAULTS | dict(self.terms.profile))
        if unknown:
            self.problems.append(f"this Hypothesis does not know the settings {', '.join(unknown)}")
        self.profile = settings(settings.get_profile("default"), **wanted)
        settings.register_profile(PROFILE, self.profile)
        settings.load_profile(PROFILE)
        vars(core)["global_force_seed"] = self.terms.seed

    def enforce(self) -> None:
        """Bring the profile and the seed back if anybody loaded or set others; never raises."""
        if self.profile is not None:
            self._guarded(self._bring_back)
        elif "hypothesis" not in sys.modules:
            self._import_watch.keep_first()
        elif not self.problems:
            self.apply()  # somebody got at it past the watch; what was made before shows as drifted

    def _bring_back(self) -> None:
        from hypothesis import core, settings

        if settings.default is not self.profile:
            settings.register_profile(PROFILE, self.profile)
            settings.load_profile(PROFILE)
        vars(core)["global_force_seed"] = self.terms.seed

    def _guarded(self, act: Callable[[], None]) -> None:
        try:
            act()
        except Exception as error:  # noqa: BLE001 - a Hypothesis of another shape; its properties count as drifted
            self.problems.append(f"Hypothesis could not be pinned: {type(error).__name__}: {error}")

    def watch(self, config: pytest.Config) -> PropertyWatch:
        """Watch Hypothesis tests while they run; a session without any is spared the hook."""
        from admit.pytest_plugin.property_watch import PropertyWatch

        watch = PropertyWatch(self)
        config.pluginmanager.register(watch, "admit-property-watch")
        return watch


def _fields(asked: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return the settings to pass to Hypothesis, in its own types, and those that it does not know."""
    import inspect

    from hypothesis import HealthCheck, Phase, Verbosity, settings

    known = {name for name, p in inspect.signature(settings.__init__).parameters.items() if p.kind is p.KEYWORD_ONLY}
    asked = {"phases": tuple(phase.name for phase in Phase), **asked}
    kinds = {"phases": Phase, "suppress_health_check": HealthCheck}
    fields: dict[str, Any] = {}
    for name in known & asked.keys():
        value = asked[name]
        if name in kinds:
            value = tuple(kinds[name][word] for word in value)
        elif name == "verbosity":
            value = Verbosity[value]
        fields[name] = value
    unknown = [name for name in asked if name not in known and asked[name] != DEFAULTS.get(name)]
    return fields, sorted(unknown)
