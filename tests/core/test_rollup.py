"""Roll-up: attempts and shards fold with laws, verdicts give one state a gate."""

from __future__ import annotations

import random
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.core import records as r
from admit.core.fold import contradictions, fold
from admit.core.ladder import Box, Ladder, Rule
from admit.core.records import Closing, Document, Examples, NodeRecord, Opening
from admit.core.rollup import RegisterState, Sampling, freeze_ruling, is_in_force, ruling
from admit.core.signals import CHECK_STATES, FLAKE_STATES, LOCK_STATES, WHYS, Outcome, Signal

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
NOTHING = Sampling(NOW, {}, {})


def arbiter(gate: str = "property_check") -> Ladder:
    """Make the contract's table 2.1 by hand, apart from the shipped policy."""
    check = Signal(gate, CHECK_STATES, frozenset({"pass"}))
    lock = Signal("fixture_lock", LOCK_STATES, frozenset({"match"}))
    flake = Signal("flake_status", FLAKE_STATES, frozenset({"stable"}))
    accept, reject, hold = Outcome("ACCEPT", "accept"), Outcome("REJECT", "reject"), Outcome("HOLD", "hold")

    def when(check_is: str = "", lock_is: str = "", flake_is: str = "") -> tuple[Box, ...]:
        sets = [
            frozenset({word}) if word else frozenset(signal.states)
            for word, signal in ((check_is, check), (lock_is, lock), (flake_is, flake))
        ]
        return (tuple(sets),)

    stem = gate.removesuffix("_check")
    rows = [
        (when(lock_is="drifted"), hold, "fixture_drifted"),
        (when(lock_is="missing"), hold, "fixture_missing"),
        (when(flake_is="frozen"), hold, "frozen_node"),
        (when("fail"), reject, f"{stem}_fail"),
        (when("not_run"), hold, f"{stem}_not_run"),
        (when("pass", "match", "stable"), accept, "clean"),
    ]
    rules = tuple(Rule(n, boxes, outcome, reason, "", reason) for n, (boxes, outcome, reason) in enumerate(rows, 1))
    return Ladder("arbiter", (check, lock, flake), outcomes=(accept, reject, hold), rules=rules)


def record(node: str = "t.py::a", **changes: object) -> NodeRecord:
    return NodeRecord(node, "pass", "match", "stable")._replace(**changes)


def document(
    *records: NodeRecord, ended: str | None = "finished", gate: str = "property_check", **opening: object
) -> Document:
    start = Opening(gate, "pr-1", "a" * 40, None, "pytest", "9", "run-1", "n")._replace(**opening)
    codes: dict[str, int] = {}
    details: dict[str, NodeRecord] = {}
    for one in records:
        code = r.code_of(one)
        codes[one.node] = r.joined(codes[one.node], code) if one.node in codes else code
        if code & r.STATE_MASK != r.PASS:
            details[one.node] = r.spokesman(details[one.node], one) if one.node in details else one
    closing = None if ended is None else Closing(len(records), ended, 0, None, "launcher", "sha256:0")
    return Document(start, codes, details, closing, f"sha256:{hash((start, records, ended)) & 0xFFFFFFFF:x}", "x.jsonl")


def state_of(*documents: Document, sampling: Sampling = NOTHING) -> tuple[str, str]:
    one = ruling(fold("property_check", documents), arbiter(), sampling)
    return one.state, one.detail


# -- laws of merging (contract U5, E6) -------------------------------------------------------------------------------

codes = st.builds(
    lambda check, lock, frozen, attempts, why: r.code_of(
        record(
            check=check,
            fixture_lock=lock,
            flake_status=frozen,
            attempts=attempts,
            why=why if check == "not_run" else None,
        )
    ),
    st.sampled_from(CHECK_STATES),
    st.sampled_from(LOCK_STATES),
    st.sampled_from(FLAKE_STATES),
    st.integers(1, 5),
    st.sampled_from(WHYS),
)


@given(codes, codes, codes)
def test_joining_attempts_is_associative_and_commutative(a: int, b: int, c: int) -> None:
    assert r.joined(a, b) == r.joined(b, a)
    assert r.joined(r.joined(a, b), c) == r.joined(a, r.joined(b, c))


@given(codes)
def test_joining_an_attempt_with_itself_changes_nothing_but_the_count(a: int) -> None:
    assert r.joined(a, a) & r.STATE_MASK == a & r.STATE_MASK


@given(codes, codes)
def test_a_failure_seen_is_never_laundered_by_another_attempt_u5(a: int, b: int) -> None:
    if "fail" in (r.check_of(a), r.check_of(b)):
        assert r.check_of(r.joined(a, b)) == "fail"


@given(codes, codes)
def test_side_by_side_a_node_passes_only_where_everything_passed(a: int, b: int) -> None:
    assert (r.check_of(r.joined(a, b)) == "pass") is (r.check_of(a) == r.check_of(b) == "pass")


@given(codes, codes)
def test_a_later_attempt_fills_a_gap_with_a_plain_pass_and_changes_nothing_else_u5(a: int, b: int) -> None:
    after = r.check_of(r.followed(a, b))
    if after == "pass":
        assert r.check_of(b) == "pass"
        assert r.check_of(a) == "pass" or a & (r.FAIL | r.HARD) == 0
    if "fail" in (r.check_of(a), r.check_of(b)):
        assert after == "fail"


records_ = st.builds(
    record,
    st.just("t.py::a"),
    check=st.sampled_from(CHECK_STATES),
    why=st.sampled_from([None, *WHYS]),
    fixture_lock=st.sampled_from(LOCK_STATES),
    flake_status=st.sampled_from(FLAKE_STATES),
    message=st.text(max_size=3),
)


@given(records_, records_, records_)
def test_which_record_speaks_for_a_node_does_not_depend_on_the_order(
    a: NodeRecord, b: NodeRecord, c: NodeRecord
) -> None:
    assert r.spokesman(a, b) == r.spokesman(b, a)
    assert r.spokesman(r.spokesman(a, b), c) == r.spokesman(a, r.spokesman(b, c))


@given(st.lists(st.lists(records_, max_size=3), min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_documents_fold_to_the_same_state_in_any_order_and_however_often_handed_in_e6(
    groups: list[list[NodeRecord]], shuffle: random.Random
) -> None:
    documents = [document(*group, run_id=f"run-{n}") for n, group in enumerate(groups)]
    expected = ruling(fold("property_check", documents), arbiter(), NOTHING)
    again = documents + documents[: shuffle.randrange(len(documents)) + 1]
    shuffle.shuffle(again)
    assert ruling(fold("property_check", again), arbiter(), NOTHING) == expected


@given(st.lists(records_, max_size=4), st.lists(records_, max_size=4))
def test_more_evidence_never_turns_a_gate_that_did_not_pass_into_one_that_passes_unless_a_lost_run_was_filled(
    first: list[NodeRecord], more: list[NodeRecord]
) -> None:
    before, _ = state_of(document(*first))
    after, _ = state_of(document(*first), document(*more, run_id="run-2", attempt=2))
    lost = any(one.why in r.GAP_WHYS for one in first)
    if after == "pass" and before != "pass":
        assert lost or not first


# -- states of a gate (contract U3) ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("documents", "state"),
    [
        pytest.param([], "missing", id="no document"),
        pytest.param([document(record(), ended=None)], "missing", id="no closing record"),
        pytest.param([document(record(check="fail"), ended=None)], "missing", id="a failure without a closing record"),
        pytest.param([document()], "unknown", id="ran to its end and selected nothing"),
        pytest.param([document(record())], "pass", id="one accept"),
        pytest.param([document(record(), record("t.py::b", check="fail"))], "fail", id="one reject among accepts"),
        pytest.param([document(record(check="not_run", why="skip"))], "unknown", id="a skip"),
        pytest.param([document(record(fixture_lock="drifted"))], "unknown", id="a drifted fixture"),
        pytest.param(
            [document(record(check="fail", fixture_lock="drifted"))], "unknown", id="drift outranks a failure"
        ),
        pytest.param([document(record(), ended="exit_disagrees")], "unknown", id="exit code and records disagree"),
        pytest.param([document(record(), ended="interrupted")], "unknown", id="interrupted"),
        pytest.param(
            [document(record(check="fail"), ended="exit_disagrees")],
            "fail",
            id="a failure in a run that contradicts itself",
        ),
        pytest.param([document(record(), shards=2)], "missing", id="one of two shards"),
        pytest.param(
            [document(record(), shards=2), document(record("t.py::b"), shard=2, shards=2)], "pass", id="both shards"
        ),
        pytest.param(
            [document(record(), shards=2), document(record("t.py::b"), shard=2, shards=3)],
            "missing",
            id="shards disagree",
        ),
        pytest.param([document(record()), document(record(), shard=7)], "missing", id="a shard that does not exist"),
        pytest.param(
            [document(record(), ended=None), document(record(), run_id="run-2", attempt=2)],
            "pass",
            id="a later attempt fills a lost run",
        ),
        pytest.param(
            [document(record(), ended=None), document(record())],
            "missing",
            id="two sessions of one run, one of them died",
        ),
        pytest.param(
            [document(record(check="fail"), ended=None), document(record(), run_id="run-2", attempt=2)],
            "fail",
            id="a failure in a lost run stays",
        ),
        pytest.param(
            [document(record(), ended="exit_disagrees"), document(record(), run_id="run-2", attempt=2)],
            "unknown",
            id="a run that contradicts itself is not filled",
        ),
        pytest.param(
            [document(record(), ended="interrupted"), document(record(), run_id="run-2", attempt=2)],
            "pass",
            id="an interrupted run is filled",
        ),
        pytest.param(
            [document(record(check="fail")), document(record(), run_id="run-2", attempt=2)],
            "fail",
            id="rerun until green",
        ),
        pytest.param(
            [document(record(), ended=None), document(record(), run_id="run-2")],
            "missing",
            id="a lost run is not filled by one of the same attempt",
        ),
        pytest.param(
            [document(record()), document(record(), ended=None, run_id="run-2", attempt=2)],
            "missing",
            id="a later attempt that died is not covered by an earlier one",
        ),
        pytest.param(
            [document(record()), document(record(), ended="interrupted", run_id="run-2", attempt=2)],
            "unknown",
            id="a later attempt that was interrupted is not covered by an earlier one",
        ),
        pytest.param(
            [document(record(), ended=None, lane="gpu"), document(record(), run_id="run-2", attempt=2)],
            "missing",
            id="a lost run is not filled from another lane",
        ),
        pytest.param(
            [
                document(record(check="not_run", why="never_ran")),
                document(record(), run_id="run-2", attempt=2),
            ],
            "pass",
            id="a node that was not reached is filled by a later attempt",
        ),
        pytest.param(
            [document(record(check="not_run", why="never_ran")), document(record(), run_id="run-2")],
            "unknown",
            id="a node that was not reached is not filled from beside",
        ),
        pytest.param(
            [document(record()), document(record(check="not_run", why="never_ran"), run_id="run-2", attempt=2)],
            "unknown",
            id="a node that a later attempt did not reach",
        ),
        pytest.param(
            [document(record(check="not_run", why="timeout")), document(record(), run_id="run-2", attempt=2)],
            "unknown",
            id="a timeout is not filled",
        ),
        pytest.param(
            [document(record(examples=Examples(100, 0, 100)))], "unknown", id="a property that held for nothing"
        ),
    ],
)
def test_a_gate_has_the_state_that_its_evidence_gives_it_u3(documents: list[Document], state: str) -> None:
    assert state_of(*documents)[0] == state


def test_a_node_that_failed_and_passed_is_unknown_where_the_policy_says_so_and_never_passes_u5() -> None:
    documents = [document(record(check="fail")), document(record(), run_id="run-2")]
    assert state_of(*documents, sampling=NOTHING._replace(flaky="unknown"))[0] == "unknown"


def test_a_frozen_node_leaves_its_gate_s_sample_and_is_named_u2() -> None:
    frozen = record(check="fail", flake_status="frozen", freeze_expires="2026-12-01T00:00:00Z")
    one = ruling(fold("property_check", [document(frozen, record("t.py::b"))]), arbiter(), NOTHING)
    assert one.state == "pass"
    assert [(left.node, left.why) for left in one.left] == [("t.py::a", "frozen")]


@pytest.mark.parametrize(
    ("expires", "state"),
    [
        pytest.param("2026-11-30T12:00:01Z", "unknown", id="a second before: frozen, so the sample is empty"),
        pytest.param("2026-11-30T12:00:00Z", "fail", id="at the instant: stable again"),
        pytest.param("2026-11-30T11:59:59Z", "fail", id="after"),
    ],
)
def test_a_freeze_ends_at_its_instant_whoever_forgot_it_a6(expires: str, state: str) -> None:
    frozen = record(check="fail", flake_status="frozen", freeze_expires=expires)
    assert state_of(document(frozen))[0] == state
    assert is_in_force(expires, NOW) is (state == "unknown")


def test_a_gate_whose_every_node_is_frozen_has_no_evidence_u3() -> None:
    assert (
        state_of(document(record()), sampling=NOTHING._replace(frozen={"t.py::a": "frozen until later"}))[0]
        == "unknown"
    )


@pytest.mark.parametrize(
    ("shown", "state"),
    [
        pytest.param(record(check="not_run", why="skip", message="needs Windows"), "pass", id="exactly that"),
        pytest.param(record(check="not_run", why="skip", message="needs a licence"), "unknown", id="another reason"),
        pytest.param(record(check="not_run", why="xfail", message="needs Windows"), "unknown", id="another kind"),
        pytest.param(record(check="not_run", why="timeout", message="needs Windows"), "unknown", id="a timeout"),
        pytest.param(record(), "unknown", id="an unexpected pass"),
        pytest.param(record(check="fail"), "fail", id="a failure"),
    ],
)
def test_a_declared_node_leaves_the_sample_only_while_it_shows_exactly_that_u7(shown: NodeRecord, state: str) -> None:
    sampling = NOTHING._replace(declared={"t.py::a": ("skip", "needs Windows")})
    assert state_of(document(shown, record("t.py::b")), sampling=sampling)[0] == state


def test_a_declared_node_that_passed_elsewhere_on_this_commit_holds_u7() -> None:
    sampling = NOTHING._replace(declared={"t.py::a": ("skip", "needs Windows")})
    skipped = document(record(check="not_run", why="skip", message="needs Windows"))
    assert state_of(skipped, document(record(), run_id="run-2"), sampling=sampling)[0] == "unknown"


def test_the_counts_name_every_node_once() -> None:
    one = ruling(
        fold(
            "property_check",
            [document(record(), record("t.py::b", check="fail"), record("t.py::c", check="not_run", why="skip"))],
        ),
        arbiter(),
        NOTHING._replace(frozen={"t.py::a": "frozen"}),
    )
    assert one.counts == (0, 1, 1, 1)
    assert one.counts.total == 3


# -- the gate of freezes (contract U4) -------------------------------------------------------------------------------


def entry(check: str = "pass", expires: str = "2026-12-05T00:00:00Z", **changes: object) -> NodeRecord:
    return record(check=check, flake_status="frozen", freeze_expires=expires, **changes)


@pytest.mark.parametrize(
    ("documents", "register", "frozen", "state"),
    [
        pytest.param([document(gate="flaky_freeze")], RegisterState(), (), "pass", id="an empty register"),
        pytest.param([], RegisterState(), (), "missing", id="no document"),
        pytest.param([document(gate="flaky_freeze", ended=None)], RegisterState(), (), "missing", id="the run died"),
        pytest.param(
            [document(gate="flaky_freeze", ended="crashed")], RegisterState(), (), "unknown", id="not to its end"
        ),
        pytest.param(
            [document(gate="flaky_freeze")], RegisterState(unreadable="gone"), (), "missing", id="register unreadable"
        ),
        pytest.param(
            [document(gate="flaky_freeze")], RegisterState(problem="no owner"), (), "fail", id="register broken now"
        ),
        pytest.param(
            [document(entry("fail"), gate="flaky_freeze")], RegisterState(), (), "fail", id="register broken then"
        ),
        pytest.param([document(entry(), gate="flaky_freeze")], RegisterState(), (), "unknown", id="an entry in force"),
        pytest.param(
            [document(entry(expires="2026-11-01T00:00:00Z"), gate="flaky_freeze")],
            RegisterState(),
            (),
            "pass",
            id="an expired entry",
        ),
        pytest.param(
            [document(gate="flaky_freeze")], RegisterState(), ("t.py::a",), "unknown", id="a frozen node in a sample"
        ),
        pytest.param(
            [document(entry("not_run"), gate="flaky_freeze")],
            RegisterState(),
            (),
            "unknown",
            id="an entry nobody checked, in force",
        ),
        pytest.param(
            [document(record(check="not_run"), gate="flaky_freeze")],
            RegisterState(),
            (),
            "unknown",
            id="an entry nobody checked",
        ),
    ],
)
def test_the_freeze_gate_has_the_state_that_the_register_gives_it_u4(
    documents: list[Document], register: RegisterState, frozen: tuple[str, ...], state: str
) -> None:
    assert freeze_ruling(fold("flaky_freeze", documents), register, frozen, now=NOW).state == state


# -- a run's end against what it recorded (contract E9) ---------------------------------------------------------------


def closed(one: Document, **changes: object) -> Document:
    return one._replace(closing=one.closing._replace(**changes), digest=one.digest + repr(changes))


@pytest.mark.parametrize(
    ("documents", "said"),
    [
        pytest.param([document(record())], "", id="green and green"),
        pytest.param(
            [closed(document(record()), exit_code=1)], "nothing recorded that would explain it", id="red, nothing red"
        ),
        pytest.param(
            [closed(document(record()), exit_code=1), document(record("b", check="fail"), gate="fixture_check")],
            "",
            id="red, and another gate says why",
        ),
        pytest.param([closed(document(record()), signal=9, exit_code=None)], "signal 9", id="a signal"),
        pytest.param([closed(document(record()), exit_code=None)], "no exit code", id="a report without an exit code"),
        pytest.param([closed(document(), exit_code=5)], "", id="nothing collected, and it says so"),
        pytest.param([closed(document(record()), exit_code=5)], "exit code 5", id="nothing collected, and a node"),
        pytest.param([document(shard=2, shards=2)], "shard 2 of 2 selected nothing", id="an empty shard"),
    ],
)
def test_a_run_whose_end_does_not_fit_what_it_recorded_cannot_pass_e9(documents: list[Document], said: str) -> None:
    against = contradictions(documents)
    assert (said in " ".join(against.values())) if said else against == {}
    first = [one for one in documents if one.opening.gate == "property_check"]
    if said:
        assert ruling(fold("property_check", first, against), arbiter(), NOTHING).state in {"unknown", "missing"}
