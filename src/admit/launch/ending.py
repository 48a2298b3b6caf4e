"""How a run ended: what its parent saw, held against what the run said of itself (contract E9, U3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from admit.core.signals import Ended


class Mark(NamedTuple):
    """A session's own end mark: the exit code that it was about to give, and how it says that it ended."""

    exit_code: int
    ended: Ended


def run_ended(*, exit_code: int | None, timed_out: bool, marks: Sequence[Mark | None]) -> Ended | None:
    """Return how the run ended, or None where it died and its documents stay without a closing record.

    Args:
        exit_code: of the child process; None where a signal ended it.
        timed_out: whether the parent had to kill it.
        marks: the end mark of each document that the run left; None where a document has none.
    """
    if timed_out or exit_code is None or None in marks:
        return None
    said = {mark.ended for mark in marks if mark is not None}
    if said - {"finished"}:
        return min(said - {"finished"})
    codes = {mark.exit_code for mark in marks if mark is not None}
    # a green process over a red session, or a red one over green sessions: one of them is not telling what happened
    if (exit_code == 0) != (codes <= {0}):
        return "exit_disagrees"
    return "finished"
