"""Lock and freeze states come from the trusted files alone (contract L2, L4, F6)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.collect.trusted import lock_of, trusted
from admit.core.context import LockedNodes, RunContext
from admit.core.records import LOCK_RANK, NodeRecord
from admit.core.signals import LOCK_STATES


def context(lock="match", locked=(), frozen=None) -> RunContext:
    return RunContext(
        patch_id="pr-7",
        head="a" * 40,
        base=None,
        dirty=False,
        run_id="r",
        nonce="n",
        lane="default",
        shard=1,
        shards=1,
        attempt=1,
        property_markers=(),
        property_paths=(),
        lock=lock,
        locked=tuple(locked),
        fixture_manifest="sha256:" + "0" * 64,
        seed=0,
        profile={},
        frozen=frozen or {},
        register=(),
    )


PASS = NodeRecord("s::t", "pass", "missing", "stable")


@pytest.mark.parametrize("lock", LOCK_STATES)
def test_a_record_says_what_the_lock_says_and_never_what_the_report_says(lock) -> None:
    (record,) = trusted([PASS], context(lock))
    assert record.fixture_lock == lock


def test_a_set_tied_to_some_nodes_holds_those_alone() -> None:
    tied = [LockedNodes(("s::*", "other"), "drifted"), LockedNodes(("nothing",), "missing")]
    assert lock_of("s::t", context(locked=tied)) == "drifted"
    assert lock_of("x::t", context(locked=tied)) == "match"


@given(st.sampled_from(LOCK_STATES), st.lists(st.sampled_from(LOCK_STATES)))
def test_the_worst_of_the_sets_speaks(lock, states) -> None:
    found = lock_of("s::t", context(lock, [LockedNodes(("*",), state) for state in states]))
    assert LOCK_RANK[found] == max(map(LOCK_RANK.__getitem__, [lock, *states]))


def test_a_frozen_node_is_frozen_until_its_expiry() -> None:
    (record,) = trusted([PASS], context(frozen={"s::t": "2026-12-31T00:00:00Z"}))
    assert (record.flake_status, record.freeze_expires) == ("frozen", "2026-12-31T00:00:00Z")


def test_a_plain_pass_stays_plain_and_anything_else_names_its_manifest() -> None:
    failed = PASS._replace(check="fail")
    assert [record.fixture_manifest for record in trusted([PASS, failed], context())] == [None, "sha256:" + "0" * 64]
    (record,) = trusted([PASS], context("drifted"))
    assert record.fixture_manifest == "sha256:" + "0" * 64
