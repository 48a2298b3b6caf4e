"""What a reader gives: records of nodes, what contradicts itself in the run, how the run ended (contract E8, E9)."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from admit.core.records import NodeRecord
    from admit.core.signals import Ended


class Limits(NamedTuple):
    """How large a report may be before it is refused: bytes of one file, nesting of its elements, nodes in it."""

    file_bytes: int = 512_000_000
    depth: int = 100
    nodes: int = 5_000_000


LIMITS: Final = Limits()
"""What is allowed where nobody says otherwise."""

MESSAGE_CHARS: Final = 2_000
"""Longest message of a record: a longer one is cut and made distinct, because an abstention compares it whole (U7)."""

DETAIL_CHARS: Final = 8_000
"""Longest counterexample of a record."""


class Report(NamedTuple):
    """One file, read.

    `records` say what each node showed; their lock and freeze states are only placeholders until a run context fills
    them in. `problems` are contradictions in the run itself: any one keeps the run from counting as finished. `cut`
    says where the file breaks off, empty if it is whole. `failing` counts cases that the runner itself calls failed,
    `flaky` those that it calls passed after a failed attempt. `notes` are for people.
    """

    source: str
    records: tuple[NodeRecord, ...]
    problems: tuple[str, ...] = ()
    cut: str = ""
    failing: int = 0
    flaky: int = 0
    notes: tuple[str, ...] = ()


class Ending(NamedTuple):
    """How a run ended, why it is not `finished` if it is not, and its signal where the exit code says one."""

    ended: Ended
    why: tuple[str, ...]
    signal: int | None


def ending(reports: Sequence[Report], exit_code: int | None) -> Ending:
    """Return how the run that left these reports ended (contract E9).

    The two channels stay apart: nothing here touches a node's record. What contradicts itself outranks a run that was
    lost, because a later attempt may make up for the second and never for the first (U5).

    Args:
        reports: every file of the run.
        exit_code: what its process exited with, if the caller knows; negative, or 128 and more, for a signal.
    """
    failing, flaky = sum(report.failing for report in reports), sum(report.flaky for report in reports)
    contradictions = [f"{report.source}: {problem}" for report in reports for problem in report.problems]
    if exit_code == 0 and failing:
        contradictions.append(f"exit code 0, and {failing} failing cases are listed")
    killed, signal = _killed(exit_code)
    losses = ([killed] if killed else []) + [f"{report.source}: {report.cut}" for report in reports if report.cut]
    if exit_code and not failing and not flaky and not losses:
        contradictions.append(f"exit code {exit_code}, and no failing case is listed")
    why = (*contradictions, *losses)
    if contradictions:
        return Ending("exit_disagrees", why, signal)
    if losses:
        return Ending("timeout" if exit_code == TIMEOUT_EXIT else "crashed", why, signal)
    return Ending("finished", why, signal)


TIMEOUT_EXIT: Final = 124
"""What timeout(1) exits with when it has ended its command."""

_SHELL_EXITS: Final = {
    TIMEOUT_EXIT: "exit code 124: the run was ended at a time limit",
    125: "exit code 125: the command that starts the run failed",
    126: "exit code 126: the run's command could not be executed",
    127: "exit code 127: the run's command was not found",
}


def _killed(exit_code: int | None) -> tuple[str, int | None]:
    if exit_code is None:
        return "", None
    if exit_code in _SHELL_EXITS:
        return _SHELL_EXITS[exit_code], None
    signal = -exit_code if exit_code < 0 else exit_code - 128
    if exit_code < 0 or 0 < signal <= 64:  # a shell adds 128, subprocess negates
        return f"exit code {exit_code}: the run was ended by signal {signal}", signal
    return "", None


def shortened(text: str, limit: int = MESSAGE_CHARS) -> str:
    """Return text, cut at `limit` characters with its length and digest, so that different texts stay different."""
    if len(text) <= limit:
        return text
    digest = hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:16]
    return f"{text[:limit]}… ({len(text)} characters, sha256:{digest})"
