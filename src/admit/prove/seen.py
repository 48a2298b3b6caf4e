"""What one side's run left, execution by execution: from node records in their order to runs (contract P1)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from admit.prove.cells import Run, Side, replayed, side_of
from admit.prove.nodes import named

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from admit.core.records import NodeRecord

REPLAY: Final = "admit::replay::"
"""What the name of a node begins with where it was replayed with the other side's counterexample."""

SAID: Final = "admit::said::"
"""The same where a record holds what was seen of an execution beside its outcome; both come in the same order."""

VERSIONS: Final = "admit::versions"
"""The name of the record that holds the versions of what ran the tests."""

FOREIGN: Final = "admit::foreign-module"
"""The name of the record that names modules which are not the worktree's."""

_IMPORTS: Final = frozenset({"ImportError", "ModuleNotFoundError"})


class Opened(NamedTuple):
    """A source that was read as text, and whose code read it; both are paths from the worktree's top."""

    path: str
    reader: str


class Seen(NamedTuple):
    """What one side's run left, by node id as pytest has it.

    `ran` has, for each test that was traced, a bit for each line that it ran, by file; of others nobody knows.
    `uncollected` says why files were not collected; `problem` why nothing of this side is a verdict, empty where
    nothing speaks against it.
    """

    runs: Mapping[str, Sequence[Run]]
    replays: Mapping[str, Sequence[Run]]
    opened: Mapping[str, frozenset[Opened]]
    ran: Mapping[str, Mapping[str, int]]
    uncollected: Mapping[str, str]
    versions: Mapping[str, str]
    problem: str = ""


def seen_of(records: Iterable[NodeRecord], problem: str = "") -> Seen:
    """Return what a side's records say, given in the order in which they were written.

    Args:
        records: of both gates.
        problem: what is wrong with the side as a whole, as far as it is known from elsewhere.
    """
    by: dict[str, list[NodeRecord]] = {}
    for record in records:
        by.setdefault(record.node, []).append(record)
    for record in by.pop(FOREIGN, []):
        problem = problem or record.message
    versions = _object(by.pop(VERSIONS, []))
    said = {node.removeprefix(SAID): by.pop(node) for node in list(by) if node.startswith(SAID)}
    uncollected = {
        node: f"it was not collected: {found[0].message}"
        for node, found in by.items()
        if found[0].why == "error_collect" or (found[0].why == "skip" and not named(node).rest)
    }
    runs = {node: _runs(found, said.get(node, [])) for node, found in by.items() if node not in uncollected}
    opened = {node: frozenset(one for record in found for one in _opened(record)) for node, found in said.items()}
    return Seen(
        {node: found for node, found in runs.items() if not node.startswith(REPLAY)},
        {node.removeprefix(REPLAY): found for node, found in runs.items() if node.startswith(REPLAY)},
        opened,
        {node: lines for node, found in said.items() if (lines := _ran(found)) is not None},
        uncollected,
        {str(name): str(version) for name, version in versions.items()},
        problem,
    )


def _runs(records: Sequence[NodeRecord], said: Sequence[NodeRecord]) -> tuple[Run, ...]:
    # what is said comes after each execution; where some is missing, which is of which cannot be told
    notes = [_object([one]) for one in said] if len(said) == len(records) else [{}] * len(records)
    return tuple(_run(record, note) for record, note in zip(records, notes, strict=True))


def _run(record: NodeRecord, note: Mapping[str, Any]) -> Run:
    if record.flaky:
        return Run("not_run", "flaky", record.message)
    if record.check != "fail":
        return Run(record.check, record.why, record.message)
    kind = str(note.get("exception") or record.message.partition(":")[0])  # of a subtest only the message tells
    is_import = note.get("is_import") is True or kind in _IMPORTS
    return Run("fail", record.why, record.message, kind, is_import, record.counterexample, record.reproduce)


def _object(records: Sequence[NodeRecord]) -> dict[str, Any]:
    """Return what the first record holds as JSON; as tests write into the same process, anything may stand there."""
    try:
        found = json.loads(records[0].message) if records else {}
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _opened(record: NodeRecord) -> list[Opened]:
    found = _object([record]).get("opened")
    rows = found if isinstance(found, list) else []
    return [Opened(*row) for row in rows if isinstance(row, list) and [type(one) for one in row] == [str, str]]


def _ran(said: Sequence[NodeRecord]) -> dict[str, int] | None:
    """Return the lines that a test ran, as the execution that was traced has them; None where there is none."""
    for record in said:
        lines = _object([record]).get("ran")
        if isinstance(lines, dict):
            return {path: _bits(value) for path, value in lines.items()}
    return None


def _bits(value: object) -> int:
    try:
        return max(0, int(value, 16)) if isinstance(value, str) else 0
    except ValueError:
        return 0


def shown(seen: Seen, node: str, *, path: str, repeat: int) -> Side:
    """Return what a test shows on a side.

    Args:
        seen: what the side's run left.
        node: the test, as pytest has it.
        path: its file, from the repository's top.
        repeat: how often it was to run.
    """
    if seen.problem:
        return Side("cannot_run", seen.problem)
    if node not in seen.runs:
        said = (why for file, why in seen.uncollected.items() if is_file(path, file))
        return Side("cannot_run", next(said, "there is no such test"))
    return replayed(side_of(seen.runs[node], repeat=repeat), seen.replays.get(node, ()))


def with_replays(seen: Seen, asked: Iterable[str]) -> Seen:
    """Return what a side left, with no verdict for each test whose counterexample was to be replayed and was not."""
    lost = Run("not_run", "never_ran", "the run ended before it was replayed")
    return seen._replace(replays={**dict.fromkeys(asked, (lost,)), **seen.replays})


def counterexamples(seen: Seen, *, repeat: int) -> dict[str, str]:
    """Return what reproduces the counterexample of each test that fails on a side and has one."""
    sides = {node: side_of(runs, repeat=repeat) for node, runs in seen.runs.items()}
    return {node: side.reproduce for node, side in sides.items() if side.shown == "fails" and side.reproduce}


def is_file(path: str, as_pytest_has_it: str) -> bool:
    """Return whether a path from the repository's top and one from pytest's root name the same file."""
    return path == as_pytest_has_it or path.endswith(f"/{as_pytest_has_it}")
