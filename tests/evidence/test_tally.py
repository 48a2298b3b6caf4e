"""Planned, seen, lost: what a tally keeps, against a count by hand (contract U3, U5)."""

from __future__ import annotations

from collections import Counter
from functools import reduce
from itertools import pairwise
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from admit.core import records as r
from admit.core.records import Examples, NodeRecord
from admit.core.signals import CHECK_STATES, FLAKE_STATES, LOCK_STATES, WHYS
from admit.evidence import wire
from admit.evidence.tally import NodeTally, has_more_to_say

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from admit.core.records import Document, Opening

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
        tally.add_plain([record.node for record in plain])
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


@given(
    record=st.builds(
        NodeRecord,
        NODES,
        st.sampled_from(CHECK_STATES),
        st.sampled_from(LOCK_STATES),
        st.sampled_from(FLAKE_STATES),
        freeze_expires=st.just("2026-12-24T00:00:00Z"),
        why=st.none() | st.sampled_from(WHYS),
        message=st.sampled_from(["", "m"]),
        counterexample=st.sampled_from(["", "c"]),
        attempts=st.integers(1, 2),
        flaky=st.booleans(),
        examples=st.none() | st.builds(Examples, st.just(9), st.integers(0, 1), st.just(9)),
    ).filter(lambda record: record.check != "pass" or record.why is None or record.flaky),
    spaced=st.booleans(),
)
def test_every_record_counts_as_what_the_core_says_of_it_however_it_is_spelled(
    record: NodeRecord, spaced: bool, opening: Opening, sealed: Callable[..., bytes], fold: Callable[[bytes], Document]
) -> None:
    line = wire.node_line(opening.gate, record)
    found = fold(sealed([wire.opening_line(opening), b" " + line if spaced else line], count=1))
    assert found.codes == {record.node: r.code_of(record)}
    if r.code_of(record) & r.STATE_MASK != r.PASS:
        assert found.details == {record.node: record}
