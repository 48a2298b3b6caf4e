"""What gates leave behind, typed: node records, openings, closings, documents, and the code that folds records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from admit.core.signals import INSTRUMENT_STATES, LOCK_STATES, PROVENANCE_STATES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from admit.core.signals import CheckState, Ended, FlakeState, InstrumentState, LockState, ProvenanceState, Why


class Examples(NamedTuple):
    """How many inputs a property really saw: executed, valid among them, and the configured maximum."""

    ran: int
    valid: int
    max: int


class NodeRecord(NamedTuple):
    """What one gate says of one node (contract E2).

    `freeze_expires` is a UTC instant in RFC 3339 text; a frozen record without one is malformed (A6). `attempts` counts
    the executions that the record speaks of; `flaky` says that they both passed and failed (U5). `instrument` and
    `provenance` are what a run on a base adds (2.3): what measured the node, and where the node comes from.
    """

    node: str
    check: CheckState
    fixture_lock: LockState
    flake_status: FlakeState
    freeze_expires: str | None = None
    fixture_manifest: str | None = None
    seed: int | str | None = None
    why: Why | None = None
    message: str = ""
    counterexample: str = ""
    reproduce: str = ""
    attempts: int = 1
    flaky: bool = False
    examples: Examples | None = None
    instrument: InstrumentState = "intact"
    provenance: ProvenanceState = "established"


class Opening(NamedTuple):
    """The opening record of a document: which gate, which patch, which run (contract E3, E5).

    `instrument_of` is the commit whose tests and configuration measured (contract T7); None: they were the patch's.
    """

    gate: str
    patch_id: str
    head: str | None
    base: str | None
    tool: str
    tool_version: str
    run_id: str
    nonce: str
    lane: str = "default"
    shard: int = 1
    shards: int = 1
    attempt: int = 1
    dirty: bool = False
    instrument_of: str | None = None


class Closing(NamedTuple):
    """The closing record: how many node records, how the run ended, digest of all that came before (contract E3).

    `reason` says in words why a run did not finish, for the person who reads the decision.
    """

    node_count: int
    ended: Ended
    exit_code: int | None
    signal: int | None
    closed_by: str
    digest: str
    reason: str = ""


class Document(NamedTuple):
    """One evidence document, folded node by node while it was read.

    `codes` maps each node to its fold code (below). `details` keeps the record that speaks for a node wherever there is
    more to say than a plain pass; a frozen node is always in it. `closing` is None where the run died (contract U3).
    `timing` are the nodes that the run's markers call timing-sensitive (T8).
    """

    opening: Opening
    codes: Mapping[str, int]
    details: Mapping[str, NodeRecord]
    closing: Closing | None
    digest: str
    source: str
    timing: frozenset[str] = frozenset()


# A fold code packs what a roll-up needs of a node into one small integer, so that a million nodes merge cheaply:
#   bits 0-3  the checks seen: PASS, FAIL, HARD (no verdict, for a reason of its own), GAP (no verdict: run lost)
#   bits 4-5  the worst lock state, as its index in LOCK_STATES (match, missing, drifted)
#   bit  6    frozen, as the record says
#   bits 7-8  the worst instrument state, as its index in INSTRUMENT_STATES
#   bits 9-10 the worst provenance, as its index in PROVENANCE_STATES
#   bits 11-  number of attempts
PASS: Final = 1
FAIL: Final = 2
HARD: Final = 4
GAP: Final = 8
CHECKS: Final = PASS | FAIL | HARD | GAP
LOCK_SHIFT: Final = 4
LOCK_MASK: Final = 3 << LOCK_SHIFT
FROZEN: Final = 1 << 6
INSTRUMENT_SHIFT: Final = 7
INSTRUMENT_MASK: Final = 3 << INSTRUMENT_SHIFT
PROVENANCE_SHIFT: Final = 9
PROVENANCE_MASK: Final = 3 << PROVENANCE_SHIFT
ATTEMPT_SHIFT: Final = 11
ONE_ATTEMPT: Final = 1 << ATTEMPT_SHIFT
STATE_MASK: Final = ONE_ATTEMPT - 1
TRUST_MASK: Final = INSTRUMENT_MASK | PROVENANCE_MASK
CLEAN_CODE: Final = ONE_ATTEMPT | PASS
"""One attempt that passed, lock match, stable: the code of nearly every node."""

GAP_WHYS: Final[frozenset[Why]] = frozenset({"never_ran", "interrupted", "truncated", "aborted", "deselected"})
"""No verdict because the node was not reached, which a later attempt on the same commit may fill (contract U5)."""

_SEEN: Final[dict[CheckState, int]] = {"pass": PASS, "not_run": HARD, "fail": FAIL}

LOCK_RANK: Final[dict[LockState, int]] = {state: rank for rank, state in enumerate(LOCK_STATES)}
_INSTRUMENT_RANK: Final[dict[InstrumentState, int]] = {state: rank for rank, state in enumerate(INSTRUMENT_STATES)}
_PROVENANCE_RANK: Final[dict[ProvenanceState, int]] = {state: rank for rank, state in enumerate(PROVENANCE_STATES)}


def code_of(record: NodeRecord) -> int:
    """Return the fold code of one record."""
    seen = _SEEN[record.check]
    if record.why in GAP_WHYS and record.check == "not_run":
        seen = GAP
    if is_vacuous(record):
        seen = HARD
    if record.flaky:
        seen |= PASS | FAIL
    frozen = FROZEN if record.flake_status == "frozen" else 0
    trust = 0
    if record.instrument != "intact" or record.provenance != "established":
        trust = _INSTRUMENT_RANK[record.instrument] << INSTRUMENT_SHIFT
        trust |= _PROVENANCE_RANK[record.provenance] << PROVENANCE_SHIFT
    return seen | LOCK_RANK[record.fixture_lock] << LOCK_SHIFT | frozen | trust | record.attempts << ATTEMPT_SHIFT


def is_vacuous(record: NodeRecord) -> bool:
    """Return whether a pass has nothing behind it: no valid input ran, or a counterexample stands beside it."""
    if record.check != "pass":
        return False
    examples = record.examples
    return bool(record.counterexample) or (examples is not None and min(examples.valid, examples.ran) < 1)


def followed(earlier: int, later: int) -> int:
    """Return the code of an attempt and a later one: a plain pass later fills a gap, and nothing else (contract U5)."""
    if later & CHECKS == PASS:
        earlier &= ~GAP
    return joined(earlier, later)


def joined(a: int, b: int) -> int:
    """Return the code of what stands side by side, worst of each part, attempts added (contract U5, E6).

    Associative and commutative; idempotent but for the attempts, whose double counting is prevented one level up, where
    a document counts once however often it is handed in.
    """
    seen = (a | b) & CHECKS
    lock = max(a & LOCK_MASK, b & LOCK_MASK)
    rest = (a | b) & FROZEN
    if (a | b) & TRUST_MASK:
        rest |= max(a & INSTRUMENT_MASK, b & INSTRUMENT_MASK) | max(a & PROVENANCE_MASK, b & PROVENANCE_MASK)
    return seen | lock | rest | ((a >> ATTEMPT_SHIFT) + (b >> ATTEMPT_SHIFT)) << ATTEMPT_SHIFT


def check_of(code: int) -> CheckState:
    """Return the check that a fold code amounts to: a failure seen is a failure, and only plain passes are a pass."""
    if code & FAIL:
        return "fail"
    return "pass" if code & CHECKS == PASS else "not_run"


def lock_of(code: int) -> LockState:
    """Return the worst lock state in a fold code."""
    return LOCK_STATES[(code & LOCK_MASK) >> LOCK_SHIFT]


def instrument_of(code: int) -> InstrumentState:
    """Return the worst instrument state in a fold code."""
    return INSTRUMENT_STATES[(code & INSTRUMENT_MASK) >> INSTRUMENT_SHIFT]


def provenance_of(code: int) -> ProvenanceState:
    """Return the worst provenance in a fold code."""
    return PROVENANCE_STATES[(code & PROVENANCE_MASK) >> PROVENANCE_SHIFT]


def attempts_of(code: int) -> int:
    """Return how many attempts a fold code counts."""
    return code >> ATTEMPT_SHIFT


def is_flaky(code: int) -> bool:
    """Return whether attempts on one commit both passed and failed."""
    return code & (PASS | FAIL) == PASS | FAIL


def spokesman(a: NodeRecord, b: NodeRecord) -> NodeRecord:
    """Return the record that speaks for a node after a merge: the worst; content breaks ties, so order is nothing."""
    return max(a, b, key=_weight)


def _weight(record: NodeRecord) -> tuple[int, int, int, str]:
    # a verdict outranks none, a hard no-verdict outranks a lost run; then drift, then freezes, then any total order
    check = {"fail": 3, "pass": 1, "not_run": 0 if record.why in GAP_WHYS else 2}[record.check]
    return check, LOCK_RANK[record.fixture_lock], int(record.flake_status == "frozen"), repr(record)
