"""From what a test did on two commits to an answer: the four cells, and what leaves none of them (contract P1, P2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias, get_args

if TYPE_CHECKING:
    from collections.abc import Sequence

    from admit.core.signals import CheckState, Why

Shown: TypeAlias = Literal["passes", "fails", "flaky", "cannot_run"]
"""What a test does on one side: the same each time, or not, or nothing that is a verdict."""

Direction: TypeAlias = Literal["fails-on-patch", "fails-on-parent"]
"""Which way a test tells the two commits apart: a property finds the patch wrong (P1), a regression test the parent."""

Expect: TypeAlias = Literal["fails-on-patch", "fails-on-parent", "either"]
"""Which of the two was asked for."""

Answer: TypeAlias = Literal["proven", "tautology", "already_broken", "inverted", "vacuous", "flaky", "cannot_run"]
"""What a proof says of one test. Only `proven` is one."""

SHOWN: Final[tuple[Shown, ...]] = get_args(Shown)
DIRECTIONS: Final[tuple[Direction, ...]] = get_args(Direction)
EXPECTS: Final[tuple[Expect, ...]] = get_args(Expect)

ANSWERS: Final[dict[Answer, str]] = {
    "proven": "it fails on one side, each time and for the same reason, and passes on the other",
    "tautology": "it passes on both sides: it tells them not apart",
    "already_broken": "it fails on both sides",
    "inverted": "it tells them apart the other way round than was asked for",
    "vacuous": "whatever it answers is not about what the code does",
    "flaky": "it does not do the same each time on one side",
    "cannot_run": "it gives no verdict on one side",
}
"""Each answer, in words."""

UNREACHED: Final = "it runs no line that differs between the two"
"""Why a test is vacuous that passes on both sides, and on both runs nothing of what was changed."""


class Run(NamedTuple):
    """One execution of a test: the record of it, and what was seen of the exception that ended it.

    `exception` is the type's qualified name; `is_import` says that it is an import error, whatever its name.
    """

    check: CheckState
    why: Why | None = None
    message: str = ""
    exception: str = ""
    is_import: bool = False
    counterexample: str = ""
    reproduce: str = ""


class Side(NamedTuple):
    """What a test shows on one side. Of a failure the first execution speaks; `reason` says why it is no verdict."""

    shown: Shown
    reason: str = ""
    exception: str = ""
    message: str = ""
    counterexample: str = ""
    reproduce: str = ""


class Cell(NamedTuple):
    """An answer, the direction where there is one, and why it is the answer where the sides do not say that."""

    answer: Answer
    direction: Direction | None = None
    reason: str = ""


def side_of(runs: Sequence[Run], *, repeat: int) -> Side:
    """Return what some executions of a test on one side amount to; each of them has to say the same.

    Args:
        runs: the executions, in order.
        repeat: how many were asked for; fewer are no verdict.
    """
    for run in runs:
        if run.check == "not_run" and run.why == "flaky":
            return Side("flaky", run.message or "one execution both failed and passed")
        if said := _no_verdict(run):
            return Side("cannot_run", said)
    if len(runs) < max(1, repeat):
        return Side("cannot_run", f"it ran {len(runs)} of {max(1, repeat)} times")
    failed = [run for run in runs if run.check == "fail"]
    if not failed:
        return Side("passes")
    first = failed[0]
    if len(failed) < len(runs):
        return _failure("flaky", first, f"it failed {len(failed)} of {len(runs)} times: {first.message}")
    if len(kinds := sorted({run.exception for run in runs})) > 1:
        return _failure("flaky", first, f"it failed for several reasons: {', '.join(kinds)}")
    return _failure("fails", first, "")


def _failure(shown: Shown, run: Run, reason: str) -> Side:
    return Side(shown, reason, run.exception, run.message, run.counterexample, run.reproduce)


def _no_verdict(run: Run) -> str:
    """Return why one execution is no verdict, empty where it is one."""
    if run.check == "not_run":
        return _said(run)
    if run.check == "pass":
        return ""
    if run.is_import:
        return f"an import fails: {run.message}"
    # what an xfail or a fixture says is not what the test says of the code
    return "" if run.why is None else _said(run)


def _said(run: Run) -> str:
    word = (run.why or "no verdict").replace("_", " ")
    return f"{word}: {run.message}" if run.message else word


def replayed(side: Side, runs: Sequence[Run]) -> Side:
    """Return what a side that passes shows once the other side's counterexample was replayed there, too.

    Args:
        side: what its own executions amount to.
        runs: the replays; none where there was no counterexample to replay.
    """
    if side.shown != "passes":
        return side
    for run in runs:
        if said := _no_verdict(run):
            return Side("cannot_run", f"the other side's counterexample cannot be replayed: {said}")
        if run.check == "fail":
            return _failure("fails", run, "the other side's counterexample fails here, too")
    return side


def cell_of(
    patch: Side, parent: Side, *, expect: Expect = "either", vacuous: str = "", reaches: bool | None = None
) -> Cell:
    """Return what two sides amount to.

    Args:
        patch: what the test shows on the patch.
        parent: what it shows on the parent.
        expect: the direction that was asked for.
        vacuous: why a pass and a failure of this test are not about the code, empty where nothing speaks for that.
        reaches: whether it runs any changed line, None where nobody knows. One that tells the two apart does, somehow.
    """
    for side, name in ((patch, "patch"), (parent, "parent")):
        if side.shown == "cannot_run":
            return Cell("cannot_run", None, f"cannot run on the {name}: {side.reason}")
    for side, name in ((patch, "patch"), (parent, "parent")):
        if side.shown == "flaky":
            return Cell("flaky", None, f"on the {name}: {side.reason}")
    if patch.shown == parent.shown == "fails":
        return Cell("already_broken", None, patch.reason or parent.reason)
    if vacuous:
        return Cell("vacuous", None, vacuous)
    if patch.shown == parent.shown:
        return Cell("vacuous", None, UNREACHED) if reaches is False else Cell("tautology")
    direction: Direction = "fails-on-patch" if patch.shown == "fails" else "fails-on-parent"
    return Cell("proven" if expect in {direction, "either"} else "inverted", direction)
