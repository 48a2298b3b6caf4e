"""The one place that picks concrete parts: the clock, the ledger, the files that are trusted, what git says.

A name is imported from its module when somebody first asks for it, so that a command pays for what it uses alone.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from admit.wiring.instrument import check_lock, pinned_instrument, write_lock
    from admit.wiring.judging import Asked, case_of, moved_in, moved_since, read_folder, recorder
    from admit.wiring.space import Workspace, clock, initialised_root, instant, rfc3339, workspace
    from admit.wiring.telling import run_context
    from admit.wiring.trusted import control_files, limits_of, policy_of

__all__ = [
    "Asked",
    "Workspace",
    "case_of",
    "check_lock",
    "clock",
    "control_files",
    "initialised_root",
    "instant",
    "limits_of",
    "moved_in",
    "moved_since",
    "pinned_instrument",
    "policy_of",
    "read_folder",
    "recorder",
    "rfc3339",
    "run_context",
    "workspace",
    "write_lock",
]

_HOMES = {
    "instrument": "check_lock pinned_instrument write_lock",
    "judging": "Asked case_of moved_in moved_since read_folder recorder",
    "space": "Workspace clock initialised_root instant rfc3339 workspace",
    "telling": "run_context",
    "trusted": "control_files limits_of policy_of",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """Return a name of one of the modules, or what the module lacks as Python says it."""
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
    return found
