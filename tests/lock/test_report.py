"""Drift in a set holds the nodes that are tied to it, and no others (contract L2, L4)."""

from __future__ import annotations

from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.core.signals import LOCK_STATES
from admit.lock.difference import DIFFERENCE_KINDS, Difference
from admit.lock.pinned import PinnedSet
from admit.lock.report import LockReport, is_repin, lock_state_of, locked_nodes, report_of, worst

GENERAL = PinnedSet("general", ("g/**",))
A = PinnedSet("a", ("a/**",), ("t/test_a.py",))
B = PinnedSet("b", ("b/**",), ("t/test_b.py::*", "t/test_ab.py"))


def report(*differences: Difference, sets: tuple[PinnedSet, ...] = (GENERAL, A, B)) -> LockReport:
    return report_of([(one, 1) for one in sets], differences, not_compared=(), manifest="sha256:0", counts=(3, 30))


def drift(*sets: str) -> Difference:
    return Difference("changed", "x", sets, "0", "1")


@pytest.mark.parametrize(
    ("found", "node", "state"),
    [
        pytest.param([], "t/test_a.py::x", "match", id="nothing"),
        pytest.param([drift("a")], "t/test_a.py::x[1]", "drifted", id="its set"),
        pytest.param([drift("a")], "t/test_b.py::x", "match", id="another set"),
        pytest.param([drift("a")], "t/test_c.py::x", "match", id="a node tied to the general set only"),
        pytest.param([drift("general")], "t/test_c.py::x", "drifted", id="the general set"),
        pytest.param([drift("a", "b")], "t/test_ab.py::x", "drifted", id="two sets"),
        pytest.param([drift()], "t/test_c.py::x", "drifted", id="what concerns all"),
        pytest.param([Difference("seed", "seed")], "t/test_c.py::x", "drifted", id="another seed"),
        pytest.param([Difference("set-empty", "a", ("a",))], "t/test_a.py::x", "missing", id="its set is empty"),
        pytest.param([Difference("set-empty", "a", ("a",))], "t/test_b.py::x", "match", id="another set is empty"),
        pytest.param([Difference("set-empty", "a", ("a",)), drift("a")], "t/test_a.py::x", "drifted", id="both"),
    ],
)
def test_a_node_has_the_state_of_its_sets(found: list[Difference], node: str, state: str) -> None:
    assert lock_state_of(report(*found), node) == state


def test_a_node_that_no_set_is_tied_to_is_held_by_what_concerns_all_only() -> None:
    assert lock_state_of(report(drift("a"), sets=(A, B)), "t/test_c.py::x") == "match"
    assert lock_state_of(report(drift(), sets=(A, B)), "t/test_c.py::x") == "drifted"


@pytest.mark.parametrize("kind", DIFFERENCE_KINDS)
def test_no_difference_is_a_match(kind: str) -> None:
    one = Difference(kind, "x", (), "p", "f")  # type: ignore[arg-type]
    found = report(one)
    assert found.state != "match"
    assert [part.state for part in found.sets] == [found.state] * 3
    assert lock_state_of(found, "anything") == found.state
    assert one.text.startswith(("x:", "seed:", "Hypothesis setting x:", "version of x:"))


def test_without_manifest_or_lock_every_node_is_missing() -> None:
    found = report(Difference("manifest-missing", "admit.sha256"), sets=())
    assert (found.state, lock_state_of(found, "t/test_a.py::x"), locked_nodes(found)) == (
        "missing",
        "missing",
        ("missing", ()),
    )


somethings = st.lists(
    st.builds(
        Difference,
        st.sampled_from(["changed", "set-empty", "seed"]),
        st.just("x"),
        st.sampled_from([(), ("a",), ("b",), ("general",), ("a", "b")]),
    ),
    max_size=4,
)
nodes = st.sampled_from(["t/test_a.py::x", "t/test_b.py::y[1]", "t/test_ab.py::z", "t/test_c.py::w", "t/test_b.py"])


@given(somethings, nodes, st.sampled_from([(GENERAL, A, B), (A, B), (GENERAL,)]))
def test_the_state_by_patterns_is_the_state_by_report(
    found: list[Difference], node: str, sets: tuple[PinnedSet, ...]
) -> None:
    """What a recorder works out from the run's context, as it does, with `fnmatch`."""
    made = report(*found, sets=sets)
    general, special = locked_nodes(made)
    states = [part.state for part in special if any(fnmatchcase(node, pattern) for pattern in part.patterns)]
    assert worst([general, *states]) == lock_state_of(made, node)


@given(somethings, somethings, nodes)
def test_one_more_difference_never_makes_a_state_better(
    found: list[Difference], more: list[Difference], node: str
) -> None:
    before, after = report(*found), report(*found, *more)
    assert LOCK_STATES.index(lock_state_of(before, node)) <= LOCK_STATES.index(lock_state_of(after, node))
    assert LOCK_STATES.index(before.state) <= LOCK_STATES.index(after.state)


@given(somethings)
def test_the_order_of_differences_makes_no_difference(found: list[Difference]) -> None:
    assert report(*found) == report(*reversed(found)) == report(*found, *found)


def test_a_repin_is_a_patch_whose_files_fit_its_own_lock_and_not_the_bases() -> None:
    """Contract L5."""
    same, drifted = report(), report(drift("a"))
    assert is_repin(drifted, same)
    assert not is_repin(same, same)
    assert not is_repin(drifted, drifted)
    missing = report(Difference("lock-missing", "admit.lock"), sets=())
    assert not is_repin(drifted, missing)
    assert not is_repin(missing, same)


def test_the_summary_says_what_was_not_compared_and_that_a_cache_answered() -> None:
    made = report(drift("a"))._replace(not_compared=("seed", "versions"))
    assert made.summary == "drifted: 3 files, 30 bytes, differences: 1, not compared: seed, versions"
    assert made.is_evidence
    cached = report()._replace(cached=True)
    assert cached.summary == "match (cached, not evidence): 3 files, 30 bytes"
    assert not cached.is_evidence


def test_a_difference_is_one_line_whatever_stands_in_it() -> None:
    assert Difference("link-target", "a\\nb", (), "x\ny", "\x1b[31m{path}").text == (
        "a\\nb: pinned as a link to x\\ny, but leads to \\x1b[31m{path}"
    )
