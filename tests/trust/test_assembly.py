"""What a node amounts to after a run on a base."""

from __future__ import annotations

import itertools

import pytest

from admit.core.records import Examples, NodeRecord
from admit.trust.assembly import Parts, Review, assembled, replays, to_run_on_base

GATE = "fixture_check"
NODE, OTHER = "t.py::a", "t.py::b"


def record(node: str = NODE, **changes: object) -> NodeRecord:
    return NodeRecord(node, "pass", "match", "stable")._replace(**changes)


FAILED = record(check="fail")


def parts(*judged: NodeRecord, new: tuple[NodeRecord, ...] = (), **changes: object) -> Parts:
    return Parts(
        inventory={one.node: GATE for one in judged} | changes.pop("inventory", {}),
        judged={GATE: {one.node: one for one in judged}},
        proposals={GATE: {one.node: one for one in new}},
        on_base={},
        seen_on_base={},
    )._replace(**changes)


def review(**changes: object) -> Review:
    return Review(frozenset(), frozenset(), frozenset())._replace(
        **{key: frozenset(value) if key != "compromised" else value for key, value in changes.items()}
    )


def only(parts: Parts, review: Review = review()) -> NodeRecord:  # noqa: B008 - a value
    (found,) = assembled(parts, review)[GATE]
    return found


def test_a_node_of_the_base_that_passes_is_what_it_was() -> None:
    assert only(parts(record())) == record()


def test_a_failure_of_an_untouched_test_stays_a_plain_failure_a3() -> None:
    assert only(parts(FAILED)) == FAILED


def test_what_fails_on_the_base_as_well_was_broken_before_t7() -> None:
    assert only(parts(FAILED, on_base={NODE: FAILED})).provenance == "broken_on_base"
    assert only(parts(FAILED, on_base={NODE: record()})).provenance == "established"
    not_run = record(check="not_run", why="crashed")
    assert only(parts(FAILED, on_base={NODE: not_run})).provenance == "established"


def test_a_pass_is_not_broken_on_the_base() -> None:
    assert only(parts(record(), on_base={NODE: FAILED})) == record()


def test_an_edited_test_whose_base_form_fails_holds_t7() -> None:
    found = only(parts(FAILED, new=(record(),)), review(edited=[NODE]))
    assert (found.instrument, found.check) == ("edited", "fail")


def test_an_edit_that_was_not_needed_needs_nobodys_leave_t7() -> None:
    assert only(parts(record(), new=(record(),)), review(edited=[NODE])) == record()


def test_an_edited_test_that_was_broken_on_the_base_is_still_an_edited_test() -> None:
    found = only(parts(FAILED, on_base={NODE: FAILED}), review(edited=[NODE]))
    assert (found.instrument, found.provenance) == ("edited", "established")


def test_an_approved_new_form_speaks_for_its_node_t7() -> None:
    assert only(parts(FAILED, new=(record(),)), review(edited=[NODE], approved=[NODE])) == record()
    assert only(parts(FAILED, new=(FAILED,)), review(edited=[NODE], approved=[NODE])).check == "fail"


def test_an_approval_without_a_new_form_that_ran_gives_nothing() -> None:
    assert only(parts(FAILED), review(edited=[NODE], approved=[NODE])).instrument == "edited"


@pytest.mark.parametrize(
    "new", [FAILED, record(check="not_run", why="error_setup"), record(check="not_run", why="crashed")]
)
def test_a_new_form_that_fails_or_breaks_holds_although_the_base_form_passes(new: NodeRecord) -> None:
    assert only(parts(record(), new=(new,)), review(edited=[NODE])).instrument == "edited"


def test_a_test_that_the_patch_deletes_gives_no_verdict_t2() -> None:
    found = only(parts(record()), review(lost=[NODE]))
    assert (found.check, found.why) == ("not_run", "vanished")
    assert only(parts(record()), review(lost=[NODE], approved=[NODE])) == record()


def test_a_deleted_test_that_fails_in_its_base_form_is_an_edited_test() -> None:
    assert only(parts(FAILED), review(lost=[NODE])).instrument == "edited"


def test_a_node_that_the_base_collects_and_the_run_did_not_is_not_run_t2() -> None:
    found = {one.node: one for one in assembled(parts(record(), inventory={OTHER: GATE}), review())[GATE]}
    assert (found[OTHER].check, found[OTHER].why) == ("not_run", "vanished")
    assert found[NODE] == record()


def test_a_node_that_changed_its_gate_did_not_vanish() -> None:
    moved = parts(record(), inventory={NODE: "property_check"})
    assert [(gate, [one.node for one in records]) for gate, records in assembled(moved, review()).items()] == [
        (GATE, [NODE]),
        ("property_check", []),
    ]


@pytest.mark.parametrize("check", ["pass", "fail", "not_run"])
def test_a_node_that_the_base_does_not_have_is_a_proposal_p3(check: str) -> None:
    new = record(OTHER, check=check)
    found = {one.node: one for one in assembled(parts(record(), new=(new,)), review())[GATE]}
    assert found[OTHER] == new._replace(provenance="unproven")


def test_a_case_that_the_patchs_code_adds_to_a_test_of_the_base_is_a_proposal_p3() -> None:
    extra = parts(record(), record(OTHER))._replace(inventory={NODE: GATE})
    found = {one.node: one.provenance for one in assembled(extra, review())[GATE]}
    assert found == {NODE: "established", OTHER: "unproven"}


def test_a_compromised_instrument_takes_every_node_with_it_t4() -> None:
    all_of_it = parts(record(), new=(record("t.py::new"),), inventory={OTHER: GATE})
    found = assembled(all_of_it, review(compromised="a canary sang", edited=[NODE], approved=[NODE]))[GATE]
    assert {one.node for one in found} == {NODE, OTHER, "t.py::new"}
    assert {one.instrument for one in found} == {"compromised"}


def test_whatever_the_review_says_no_node_of_the_base_is_upgraded() -> None:
    """Over every combination: a pass comes out only where the base's form, or an approved new form, passed."""
    forms = [record(), FAILED, record(check="not_run", why="skip"), record(check="not_run", why="crashed")]
    for judged, new, base in itertools.product(forms, [None, *forms], [None, *forms]):
        for edited, lost, approved in itertools.product([True, False], repeat=3):
            made = parts(judged, new=() if new is None else (new,), on_base={} if base is None else {NODE: base})
            says = review(
                edited=[NODE] if edited else [], lost=[NODE] if lost else [], approved=[NODE] if approved else []
            )
            found = next(iter(assembled(made, says)[GATE]), None)
            if found is None:
                assert lost
                assert approved
                assert new is None
                assert judged.check != "pass"
                continue
            clean = found.check == "pass" and found.instrument == "intact"
            let_stand = approved and (edited or lost) and new is not None and new.check == "pass"
            if clean:
                assert judged.check == "pass" or let_stand
            if judged.check == "pass" and lost and not approved:
                assert not clean


def test_a_lost_test_leaves_only_with_leave_and_never_where_the_instrument_is_broken_t4() -> None:
    lost = {"lost": [NODE]}
    assert assembled(parts(FAILED), review(**lost, approved=[NODE]))[GATE] == []
    assert len(assembled(parts(FAILED), review(**lost))[GATE]) == 1
    broken = review(**lost, approved=[NODE])._replace(compromised="a canary sang")
    assert [one.instrument for one in assembled(parts(FAILED), broken)[GATE]] == ["compromised"]
    nothing = parts()._replace(inventory={NODE: GATE}, judged={GATE: {}})
    assert assembled(nothing, review(approved=[NODE]))[GATE] == []
    assert [one.why for one in assembled(nothing, review())[GATE]] == ["vanished"]
    assert [one.instrument for one in assembled(nothing, broken)[GATE]] == ["compromised"]


@pytest.mark.parametrize(
    ("now", "before", "is_starved"),
    [
        pytest.param(Examples(100, 100, 100), Examples(100, 100, 100), False, id="as before"),
        pytest.param(Examples(140, 100, 100), Examples(100, 100, 100), True, id="gives up often"),
        pytest.param(Examples(105, 100, 100), Examples(100, 100, 100), False, id="gives up a few times"),
        pytest.param(Examples(100, 60, 100), Examples(100, 100, 100), True, id="sees less"),
        pytest.param(Examples(2, 2, 100), Examples(2, 2, 100), False, id="has two inputs in all"),
        pytest.param(Examples(190, 95, 100), Examples(190, 95, 100), False, id="always gave up often"),
    ],
)
def test_a_property_that_the_patch_starves_gives_no_verdict(now: Examples, before: Examples, is_starved: bool) -> None:
    found = only(parts(record(examples=now), seen_on_base={NODE: before}))
    assert (found.why == "vacuous") is is_starved
    assert (found.check == "pass") is not is_starved


@pytest.mark.parametrize(
    ("before", "now", "said", "is_weaker"),
    [
        pytest.param(Examples(100, 100, 100), Examples(100, 100, 100), "", False, id="as strong"),
        pytest.param(Examples(100, 100, 100), Examples(300, 300, 300), "", False, id="stronger"),
        pytest.param(Examples(100, 100, 100), Examples(10, 10, 10), "", True, id="fewer examples"),
        pytest.param(Examples(100, 100, 100), Examples(9, 2, 100), "", True, id="a strategy that gives two"),
        pytest.param(Examples(100, 100, 100), None, "", True, id="no property any more"),
        pytest.param(
            Examples(100, 100, 100),
            Examples(100, 100, 100),
            "settings of its own: derandomize=True",
            True,
            id="settings of its own",
        ),
    ],
)
def test_an_edit_that_weakens_a_property_waits_for_a_reviewer(
    before: Examples, now: Examples | None, said: str, is_weaker: bool
) -> None:
    made = parts(record(examples=before), new=(record(examples=now, message=said),))
    found = only(made, review(edited=[NODE]))
    assert (found.instrument == "edited") is is_weaker
    assert (found.check == "not_run") is is_weaker
    assert only(made, review(edited=[NODE], approved=[NODE])).check == "pass"


def test_settings_that_the_base_has_as_well_are_no_weakening() -> None:
    told = record(examples=Examples(9, 9, 9), message="settings of its own: max_examples=9")
    assert only(parts(told, new=(told,)), review(edited=[NODE])) == told


def test_the_base_is_asked_about_failures_and_about_properties_that_gave_up_and_nothing_else() -> None:
    starving = record("p1", examples=Examples(120, 100, 100))
    few = record("p2", examples=Examples(2, 2, 100))
    full = record("p3", examples=Examples(100, 100, 100))
    made = parts(
        FAILED, record(OTHER), starving, few, full, record("edited", check="fail"), record("skipped", check="not_run")
    )
    assert to_run_on_base(made, review(edited=["edited"])) == ("p1", "p2", NODE)
    known = made._replace(seen_on_base={"p1": Examples(1, 1, 1)})
    assert to_run_on_base(known, review(edited=["edited"])) == ("p2", NODE)


def test_only_what_failed_with_something_to_replay_is_replayed() -> None:
    blob = "@reproduce_failure('6', b'x')"
    made = parts(record(check="fail", reproduce=blob), record(OTHER, check="fail"))
    assert replays(made, [NODE, OTHER]) == {NODE: blob}
