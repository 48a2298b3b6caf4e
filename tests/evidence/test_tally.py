"""Planned, seen, lost: what a tally keeps, against a count by hand (contract U3, U5)."""

from __future__ import annotations

from collections import Counter
from functools import reduce
from itertools import pairwise
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from admit.core import records as r
from admit.core.records import NodeRecord
from admit.evidence.tally import NodeTally, has_more_to_say

if TYPE_CHECKING:
    from collections.abc import Iterable

NODES = st.sampled_from("abc")
RECORDS = st.builds(
    NodeRecord,
    NODES,
    st.sampled_from(["pass", "pass", "pass", "fail", "not_run"]),
    st.sampled_from(["match", "match", "drifted"]),
    st.just("stable"),
    attempts=st.integers(1, 3),
)
PLANS = st.lists(NODES, max_size=6)


def told(plans: list[list[str]], blocks: list[list[NodeRecord]], late: Iterable[str] = ()) -> NodeTally:
    tally = NodeTally()
    for plan in plans:
        tally.plan(plan)
    for block in blocks:
        tally.meet([record.node for record in block])
        plain = [record for record in block if r.code_of(record) == r.CLEAN_CODE]
        tally.add_plain(record.node for record in plain)
        for record in block:
            if record not in plain:
                tally.add(record)
    tally.plan(list(late))
    tally.add_never_ran()
    return tally


def by_hand(plan: list[str], records: list[NodeRecord]) -> dict[str, int]:
    planned, seen = Counter(plan), Counter(record.node for record in records)
    codes = {}
    for node in planned | seen:
        own = [r.code_of(record) for record in records if record.node == node]
        code = reduce(r.joined, own) if own else r.GAP
        codes[node] = code | r.HARD if own and planned[node] > seen[node] else code
    return codes


def split(records: list[NodeRecord], cuts: list[int]) -> list[list[NodeRecord]]:
    places = sorted({0, len(records), *(cut % (len(records) + 1) for cut in cuts)})
    return [records[start:end] for start, end in pairwise(places)]


@given(plan=PLANS, records=st.lists(RECORDS, max_size=8), cuts=st.lists(st.integers(0, 8)), at=st.integers(0, 6))
def test_a_tally_counts_as_one_would_by_hand(
    plan: list[str], records: list[NodeRecord], cuts: list[int], at: int
) -> None:
    tally = told([plan[:at], plan[at:]], split(records, cuts))
    assert tally.codes == by_hand(plan, records)


@given(plan=PLANS, at=st.integers(0, 6), more=st.lists(RECORDS, max_size=3), cuts=st.lists(st.integers(0, 9)))
def test_a_run_in_the_order_of_its_plan_counts_like_any_other(
    plan: list[str], at: int, more: list[NodeRecord], cuts: list[int]
) -> None:
    records = [NodeRecord(node, "pass", "match", "stable") for node in plan[:at]] + more
    assert told([plan], split(records, cuts)).codes == by_hand(plan, records)


@given(plan=PLANS, records=st.lists(RECORDS, max_size=6), late=PLANS)
def test_a_late_plan_adds_what_was_not_seen_and_changes_nothing_else(
    plan: list[str], records: list[NodeRecord], late: list[str]
) -> None:
    codes = told([plan], [records] if records else [[]], late).codes
    assert codes == {**dict.fromkeys(late, r.GAP), **by_hand(plan, records)}


@given(records=st.lists(RECORDS, max_size=8))
def test_a_node_has_details_if_one_of_its_records_has_more_to_say(records: list[NodeRecord]) -> None:
    tally = told([], [records])
    assert tally.details.keys() == {record.node for record in records if has_more_to_say(record)}
    for node, detail in tally.details.items():
        own = [record for record in records if record.node == node and has_more_to_say(record)]
        assert detail == reduce(r.spokesman, own)


@given(records=st.lists(RECORDS, max_size=8))
def test_a_tally_whose_run_died_has_no_pass_left_and_every_failure(records: list[NodeRecord]) -> None:
    whole, lost = told([], [records]), NodeTally()
    for record in records:
        lost.meet([record.node])
        lost.add(record)
    lost.demote_passes()
    lost.add_never_ran()
    for node, code in whole.codes.items():
        assert not lost.codes[node] & r.PASS
        assert (r.check_of(lost.codes[node]) == "fail") is (r.check_of(code) == "fail")
        assert r.lock_of(lost.codes[node]) == r.lock_of(code)
        assert r.check_of(lost.codes[node]) != "pass"
        if code & r.PASS:
            assert node in lost.details
