"""How a session says that it ended: its exit status held against what it reported (contract E9)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from admit.core.signals import Ended


def session_ended(exit_code: int, *, reported_bad: bool, reported_any: bool, is_interrupted: bool) -> Ended:
    """Return how a session ended; `finished` only where its exit status fits what it reported.

    Args:
        exit_code: pytest's exit status.
        reported_bad: whether a report that pytest counts as failed was seen (a rerun attempt is none).
        reported_any: whether any test was reported.
        is_interrupted: whether something stopped the session, whatever exit status it asked for.
    """
    if is_interrupted or exit_code == 2:
        return "interrupted"
    if exit_code in {3, 4}:  # pytest's internal and usage errors
        return "crashed"
    fits = {0: not reported_bad, 1: reported_bad, 5: not reported_any}
    return "finished" if fits.get(exit_code, False) else "exit_disagrees"
