"""Fold codes: what one record packs into, what two pack into, and which record speaks."""

from __future__ import annotations

import pytest

from admit.core import records as r
from admit.core.records import Examples, NodeRecord
from admit.core.signals import INSTRUMENT_STATES, LOCK_STATES, PROVENANCE_STATES


def record(**changes):
    return NodeRecord("t.py::a", "pass", "match", "stable")._replace(**changes)


@pytest.mark.parametrize(
    ("changes", "seen"),
    [
        pytest.param({}, r.PASS, id="a pass"),
        pytest.param({"check": "fail"}, r.FAIL, id="a failure"),
        pytest.param({"check": "not_run"}, r.HARD, id="no verdict, and no reason"),
        pytest.param({"check": "not_run", "why": "skip"}, r.HARD, id="no verdict, for a reason of its own"),
        pytest.param({"check": "not_run", "why": "never_ran"}, r.GAP, id="not reached"),
        pytest.param({"check": "pass", "why": "never_ran"}, r.PASS, id="a pass is no gap, whatever it says beside"),
        pytest.param({"check": "fail", "why": "interrupted"}, r.FAIL, id="a failure is no gap (U5)"),
        pytest.param({"check": "fail", "flaky": True}, r.PASS | r.FAIL, id="a failure that also passed"),
        pytest.param({"check": "pass", "flaky": True}, r.PASS | r.FAIL, id="a pass that also failed"),
        pytest.param({"check": "not_run", "flaky": True}, r.PASS | r.FAIL | r.HARD, id="all three"),
        pytest.param({"examples": Examples(9, 0, 9)}, r.HARD, id="a pass of nothing"),
    ],
)
def test_a_code_says_which_checks_a_record_saw(changes, seen):
    assert r.code_of(record(**changes)) == r.ONE_ATTEMPT | seen


@pytest.mark.parametrize("lock", LOCK_STATES)
@pytest.mark.parametrize("frozen", ["stable", "frozen"])
@pytest.mark.parametrize("instrument", INSTRUMENT_STATES)
@pytest.mark.parametrize("provenance", PROVENANCE_STATES)
def test_a_code_keeps_each_part_of_a_record_apart(lock, frozen, instrument, provenance):
    code = r.code_of(
        record(fixture_lock=lock, flake_status=frozen, instrument=instrument, provenance=provenance, attempts=5)
    )
    assert r.check_of(code) == "pass"
    assert r.lock_of(code) == lock
    assert bool(code & r.FROZEN) is (frozen == "frozen")
    assert r.instrument_of(code) == instrument
    assert r.provenance_of(code) == provenance
    assert r.attempts_of(code) == 5
    assert code >> r.ATTEMPT_SHIFT == 5


def test_a_plain_pass_has_the_code_that_is_counted_without_a_look():
    assert r.code_of(record()) == r.CLEAN_CODE


@pytest.mark.parametrize(
    ("changes", "vacuous"),
    [
        pytest.param({}, False, id="a pass that counts no inputs"),
        pytest.param({"examples": Examples(1, 1, 100)}, False, id="one valid input"),
        pytest.param({"examples": Examples(9, 0, 100)}, True, id="none of its inputs was valid"),
        pytest.param({"examples": Examples(0, 0, 100)}, True, id="no input"),
        pytest.param({"examples": Examples(0, 1, 100)}, True, id="a valid input that did not run"),
        pytest.param({"counterexample": "x=0"}, True, id="a pass with a counterexample beside it"),
        pytest.param({"check": "fail", "counterexample": "x=0"}, False, id="a failure has something behind it"),
        pytest.param({"check": "not_run", "examples": Examples(0, 0, 1)}, False, id="what did not run claims nothing"),
    ],
)
def test_a_pass_with_nothing_behind_it_is_told_from_one_that_held(changes, vacuous):
    assert r.is_vacuous(record(**changes)) is vacuous


WORST_FIRST = [
    pytest.param({"fixture_lock": "drifted"}, {}, "lock_of", "drifted", id="drift"),
    pytest.param({"fixture_lock": "drifted"}, {"fixture_lock": "missing"}, "lock_of", "drifted", id="drift over none"),
    pytest.param({"instrument": "edited"}, {}, "instrument_of", "edited", id="an edited test"),
    pytest.param(
        {"instrument": "compromised"}, {"instrument": "edited"}, "instrument_of", "compromised", id="compromised"
    ),
    pytest.param({"provenance": "proven"}, {}, "provenance_of", "proven", id="a proven proposal"),
    pytest.param(
        {"provenance": "broken_on_base"}, {"provenance": "unproven"}, "provenance_of", "broken_on_base", id="broken"
    ),
]


@pytest.mark.parametrize(("worse", "better", "part", "expected"), WORST_FIRST)
def test_of_two_attempts_the_worse_part_stays(worse, better, part, expected):
    one, other = r.code_of(record(**worse)), r.code_of(record(**better))
    for code in (r.joined(one, other), r.joined(other, one), r.followed(one, other), r.followed(other, one)):
        assert getattr(r, part)(code) == expected


def test_each_part_of_two_attempts_is_joined_for_itself():
    one = r.code_of(record(fixture_lock="missing", instrument="edited", attempts=2))
    other = r.code_of(record(check="fail", flake_status="frozen", provenance="unproven", attempts=3))
    code = r.joined(one, other)
    assert (r.check_of(code), r.lock_of(code), r.attempts_of(code)) == ("fail", "missing", 5)
    assert (r.instrument_of(code), r.provenance_of(code)) == ("edited", "unproven")
    assert code & r.FROZEN
    assert r.is_flaky(code)


def test_a_freeze_that_one_attempt_shows_stays():
    frozen = r.code_of(record(flake_status="frozen"))
    assert r.joined(frozen, r.CLEAN_CODE) & r.FROZEN
    assert r.joined(r.CLEAN_CODE, frozen) & r.FROZEN
    assert not r.joined(r.CLEAN_CODE, r.CLEAN_CODE) & r.FROZEN


GAP, HARD = {"check": "not_run", "why": "never_ran"}, {"check": "not_run", "why": "skip"}


@pytest.mark.parametrize(
    ("louder", "quieter"),
    [
        pytest.param({"check": "fail"}, HARD | {"fixture_lock": "drifted"}, id="a failure over no verdict"),
        pytest.param({"check": "fail"}, {"fixture_lock": "drifted"}, id="a failure over a pass"),
        pytest.param(HARD, {"fixture_lock": "drifted"}, id="no verdict over a pass"),
        pytest.param(HARD, GAP | {"fixture_lock": "drifted"}, id="no verdict over a lost run"),
        pytest.param({}, GAP | {"fixture_lock": "drifted"}, id="a pass over a lost run"),
        pytest.param({"fixture_lock": "drifted"}, {"fixture_lock": "missing"}, id="drift over no lock"),
        pytest.param({"fixture_lock": "missing"}, {"flake_status": "frozen"}, id="no lock over a freeze"),
        pytest.param({"flake_status": "frozen"}, {"message": "z"}, id="a freeze over none"),
        pytest.param({"message": "b"}, {"message": "a"}, id="the later text where nothing else differs"),
    ],
)
def test_the_record_that_says_more_speaks_for_its_node(louder, quieter):
    one, other = record(**louder), record(**quieter)
    assert r.spokesman(one, other) == r.spokesman(other, one) == one
