"""What a test run is told before it starts: which patch, which gates, and what the trusted files say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias, get_args

from admit.core.records import Opening

if TYPE_CHECKING:
    from collections.abc import Mapping

    from admit.core.records import NodeRecord
    from admit.core.signals import LockState

Scalar: TypeAlias = bool | int | float | str | None
"""What a setting may hold."""


class LockedNodes(NamedTuple):
    """The lock state of the nodes that a named pinned set is tied to, by node-id patterns (contract L4)."""

    patterns: tuple[str, ...]
    state: LockState


TrialPart: TypeAlias = Literal["inventory", "judged", "proposals", "base", "proof"]
"""Which part of a run on a base a test run is (contract T2, T7), or that it is one side of a proof (P1, P2).

It only collects, on the base; it runs the base's tests on the patch's code; it runs the tests that the patch brings; it
runs on the base what failed on the patch; it runs a few nodes several times, each time in a process of its own.
"""

TRIAL_PARTS: Final[tuple[TrialPart, ...]] = get_args(TrialPart)


class Trial(NamedTuple):
    """What one part of a run on a base is told beside the rest.

    `tree` is the root of the worktree under judgement, `elsewhere` the folders from which none of its modules may come
    (the checkout that it was made from). `only` names the nodes to run, `files` the test files to collect, relative to
    `tree`; empty means all. `replay` maps a node to what reproduces its counterexample. `canary` is the word that makes
    this run's canaries, empty where none are planted. `channel` is the socket that records go to, empty for files.
    `repeat` is how often a proof runs each node; 0 leaves the replays alone. `traced` are the files,
    relative to `tree`, of which it wants to know the lines that run.
    """

    part: TrialPart
    base: str
    tree: str
    elsewhere: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    replay: Mapping[str, str] = {}
    canary: str = ""
    channel: str = ""
    repeat: int = 1
    traced: tuple[str, ...] = ()


class RunContext(NamedTuple):
    """Everything that a recorder fills in from trusted files rather than from the run (contract E3, L2, L3, F6).

    `lock` is the worst state of the sets that tie to every node, `locked` that of sets tied to some. `frozen` maps a
    node to its expiry (RFC 3339, UTC); `register` holds one record a register entry, for the gate `flaky_freeze`.
    `profile` and `seed` are the Hypothesis settings that the gate runs under. `launched` says that a parent process
    watches the run and writes the closing records. `lock_differences` says what drifted, the first few in words.
    `trial` is there in a run on a base.
    """

    patch_id: str
    head: str | None
    base: str | None
    dirty: bool
    run_id: str
    nonce: str
    lane: str
    shard: int
    shards: int
    attempt: int
    property_markers: tuple[str, ...]
    property_paths: tuple[str, ...]
    lock: LockState
    locked: tuple[LockedNodes, ...]
    fixture_manifest: str | None
    seed: int
    profile: Mapping[str, Scalar | tuple[str, ...]]
    frozen: Mapping[str, str]
    register: tuple[NodeRecord, ...]
    launched: bool = False
    lock_differences: tuple[str, ...] = ()
    trial: Trial | None = None
    timing_markers: tuple[str, ...] = ()


def opening_of(context: RunContext, gate: str, *, tool: str, tool_version: str) -> Opening:
    """Return the opening record of a gate's document of this run (contract E3, E5)."""
    return Opening(
        gate=gate,
        patch_id=context.patch_id,
        head=context.head,
        base=context.base,
        tool=tool,
        tool_version=tool_version,
        run_id=context.run_id,
        nonce=context.nonce,
        lane=context.lane,
        shard=context.shard,
        shards=context.shards,
        attempt=context.attempt,
        dirty=context.dirty,
    )
