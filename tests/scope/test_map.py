"""The values of the map and how they combine (contract S1)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from admit.scope.map import NOTHING, NodeReach, bits_of, lines_of, numbers, plus, span

LINES = st.frozensets(st.integers(1, 200))
PATHS = st.frozensets(st.sampled_from(["a.json", "b/c.txt", "b"]))
REACHES = st.builds(
    NodeReach,
    st.booleans(),
    st.just(""),
    st.dictionaries(st.integers(0, 3), LINES.map(bits_of)),
    PATHS,
    PATHS,
    st.just("t.py"),
)


@given(LINES)
def test_a_set_of_lines_comes_back_in_order(lines: frozenset[int]) -> None:
    assert list(lines_of(bits_of(lines))) == sorted(lines)


@given(st.integers(1, 50), st.integers(-5, 60))
def test_a_span_has_both_ends(first: int, last: int) -> None:
    assert list(lines_of(span(first, last))) == list(range(first, last + 1))


def test_files_are_numbered_in_the_order_of_their_paths() -> None:
    assert numbers(["b.py", "a.py"]) == {"a.py": 0, "b.py": 1}


@given(REACHES, REACHES, REACHES)
def test_adding_reaches_is_associative_commutative_and_idempotent(a: NodeReach, b: NodeReach, c: NodeReach) -> None:
    assert plus(plus(a, b), c) == plus(a, plus(b, c))
    assert plus(a, b) == plus(b, a)
    assert plus(a, a) == a


@given(REACHES)
def test_what_reached_nothing_adds_nothing(a: NodeReach) -> None:
    assert plus(a, NOTHING) == a == plus(NOTHING, a)


@given(REACHES, REACHES)
def test_together_they_are_alive_only_if_both_were(a: NodeReach, b: NodeReach) -> None:
    assert plus(a, b).alive == (a.alive and b.alive)
