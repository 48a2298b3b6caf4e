"""The one place that picks concrete parts: the clock, the ledger, the files that are trusted, what git says."""

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
