"""Exact verification against brute force: every answer, count and witness on random small ladders (contract V1, V2)."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from admit.core.diagram import Budget, TooLargeError
from admit.core.ladder import Ladder, Rule, UncoveredError
from admit.core.signals import Outcome, Signal
from admit.core.verify import GUARANTEES, Answer, Change, census, changed, closure, verify

ACCEPT, REJECT, HOLD, LATER = (
    Outcome("YES", "accept"),
    Outcome("NO", "reject"),
    Outcome("WAIT", "hold"),
    Outcome("LATER", "hold"),
)
OUTCOMES = (ACCEPT, REJECT, HOLD, LATER)
ORDERS = (
    frozenset(),
    frozenset({("YES", "NO"), ("YES", "WAIT"), ("YES", "LATER")}),
    frozenset({("YES", "WAIT"), ("WAIT", "NO")}),
    frozenset({("YES", "NO"), ("WAIT", "LATER")}),
)


@st.composite
def signal_sets(draw):
    """Return up to four signals of two to four states, their clean states anywhere."""
    signals = []
    for index in range(draw(st.integers(1, 4))):
        states = tuple("abcd"[: draw(st.integers(2, 4))])
        clean = draw(st.sets(st.sampled_from(states), min_size=1))
        signals.append(Signal(f"s{index}", states, frozenset(clean)))
    return tuple(signals)


def boxes_of(signals):
    """Return a strategy for a product of state sets, half of them whole, few of them empty."""
    return st.tuples(*(st.integers(0, 2 * 2 ** len(signal.states) - 1) for signal in signals)).map(
        lambda codes: tuple(states_of(signal, code) for signal, code in zip(signals, codes))
    )


def states_of(signal, code):
    """Return the states whose bits are set; all of them for a code beyond the bits."""
    if code >= 2 ** len(signal.states):
        return frozenset(signal.states)
    return frozenset(state for index, state in enumerate(signal.states) if code >> index & 1)


@st.composite
def ladders(draw, signals=None):
    """Return a ladder, total or not, dead rules and all."""
    signals = signals or draw(signal_sets())
    parts = draw(
        st.lists(st.tuples(st.sampled_from(OUTCOMES), boxes_of(signals), boxes_of(signals)), min_size=1, max_size=5)
    )
    rules = tuple(
        Rule(number, tuple(boxes), outcome, f"r{number}", "", "")
        for number, (outcome, *boxes) in enumerate(parts, start=1)
    )
    region = tuple(draw(st.lists(boxes_of(signals), max_size=2)))
    worse = draw(st.sampled_from(ORDERS))
    return Ladder("x", signals, outcomes=OUTCOMES, rules=rules, worse=worse, accept_region=region)


class BruteForce:
    """The same answers by looking at every combination, without a diagram and without the ladder's table."""

    def __init__(self, ladder):
        self.ladder = ladder
        self.ruled = {}
        for states in product(*(signal.states for signal in ladder.signals)):
            self.ruled[states] = next(
                (
                    rule
                    for rule in ladder.rules
                    if any(all(s in allowed for s, allowed in zip(states, box)) for box in rule.boxes)
                ),
                None,
            )

    def rank(self, states):
        """Return how far from clean, then where in order."""
        away = sum(state not in signal.clean for state, signal in zip(states, self.ladder.signals))
        return away, tuple(signal.states.index(state) for state, signal in zip(states, self.ladder.signals))

    def smallest(self, found):
        """Return the smallest combination and how many there are."""
        return (min(found, key=self.rank),), len(found)

    def worsenings(self):
        """Yield every pair of combinations that differ in one signal, better first."""
        for states in self.ruled:
            for position, signal in enumerate(self.ladder.signals):
                for worse in signal.states[signal.states.index(states[position]) + 1 :]:
                    yield states, (*states[:position], worse, *states[position + 1 :])

    def kind(self, states):
        """Return what a combination's outcome means."""
        return self.ruled[states].outcome.kind if self.ruled[states] else None

    def name(self, states):
        """Return a combination's outcome."""
        return self.ruled[states].outcome.name if self.ruled[states] else None

    def broken(self, guarantee):
        """Return witness and count of what breaks a guarantee; empty and 0 if it holds."""
        if guarantee == "no-dead-rule":
            return (), sum(rule not in self.ruled.values() for rule in self.ladder.rules)
        if guarantee == "total":
            found = [states for states, rule in self.ruled.items() if rule is None]
        elif guarantee == "accept-region":
            found = [
                states
                for states in self.ruled
                if self.kind(states) == "accept"
                and not any(all(s in a for s, a in zip(states, box)) for box in self.ladder.accept_region)
            ]
        else:
            worse = closure(self.ladder.worse)
            pairs = [
                (one, other)
                for one, other in self.worsenings()
                if (
                    self.kind(one) != "accept" and self.kind(other) == "accept"
                    if guarantee == "accept-monotone"
                    else (self.name(other), self.name(one)) in worse
                )
            ]
            if not pairs:
                return (), 0
            return min(pairs, key=lambda pair: (self.rank(pair[0]), self.rank(pair[1]))), len(pairs)
        return self.smallest(found) if found else ((), 0)


@given(ladder=ladders())
@settings(deadline=None, max_examples=200)
def test_every_guarantee_is_answered_as_by_looking_at_every_combination(ladder):
    """V1: held or not, how often broken, and the smallest witness."""
    brute = BruteForce(ladder)
    for answer in verify(ladder).answers:
        witness, broken = brute.broken(answer.guarantee)
        assert (answer.held, answer.broken, answer.witness) == ("no" if broken else "yes", broken, witness), answer


@given(ladders())
@settings(deadline=None)
def test_the_counts_of_the_rules_are_exact(ladder):
    """V4: the census adds up from them."""
    ruled = list(BruteForce(ladder).ruled.values())
    counts = verify(ladder).counts
    assert counts == tuple(ruled.count(rule) for rule in ladder.rules)
    given_outcomes = [rule.outcome for rule in ruled if rule]
    assert census(ladder, counts) == {outcome: given_outcomes.count(outcome) for outcome in OUTCOMES}


@given(ladders())
@settings(deadline=None)
def test_a_dead_rule_names_the_earlier_rules_that_take_its_combinations(ladder):
    """V1: dead by the union of earlier rules, not by one of them."""
    brute = BruteForce(ladder)
    for dead in verify(ladder).dead:
        covered = [states for states in brute.ruled if dead.rule.covers(states)]
        assert set(dead.taken_by) == {brute.ruled[states].number for states in covered}


@given(st.data())
@settings(deadline=None)
def test_what_changed_between_two_ladders_is_counted_exactly_with_its_smallest_combination(data):
    """V2: the cells of the matrix that are not zero, and nothing else."""
    signals = data.draw(signal_sets())
    old, new = data.draw(ladders(signals)), data.draw(ladders(signals))
    before, after = BruteForce(old), BruteForce(new)
    expected = {}
    for states in before.ruled:
        cell = before.name(states), after.name(states)
        if None not in cell and cell[0] != cell[1]:
            expected.setdefault(cell, []).append(states)
    found = {(change.old.name, change.new.name): (change.witness, change.combinations) for change in changed(old, new)}
    assert found == {cell: (min(them, key=before.rank), len(them)) for cell, them in expected.items()}


def test_a_ladder_is_compared_whatever_the_order_of_the_other_ones_signals():
    """V2: signals are matched by name."""
    one, other = Signal("one", ("a", "b"), frozenset("a")), Signal("other", ("a", "b", "c"), frozenset("a"))
    left = two_signals((one, other), {"one": "b"})
    right = two_signals((other, one), {"one": "b"})
    assert changed(left, right) == ()
    moved = changed(left, two_signals((other, one), {"other": "c"}))
    assert moved == (Change(HOLD, ACCEPT, 2, ("b", "a")), Change(ACCEPT, HOLD, 1, ("a", "c")))


def two_signals(signals, held):
    """Return a ladder that holds where the given signals have the given states, and else accepts."""
    box = tuple(frozenset(held.get(signal.name, "".join(signal.states))) for signal in signals)
    rest = tuple(frozenset(signal.states) for signal in signals)
    rules = (Rule(1, (box,), HOLD, "held", "", ""), Rule(2, (rest,), ACCEPT, "rest", "", ""))
    return Ladder("x", signals, outcomes=(ACCEPT, HOLD), rules=rules)


@pytest.mark.parametrize(
    ("signals", "message"),
    [
        pytest.param(
            (Signal("b", ("x", "y"), frozenset("x")),),
            "the new ladder has no signal a with the same states",
            id="another name",
        ),
        pytest.param(
            (Signal("a", ("x", "z"), frozenset("x")),),
            "the new ladder has no signal a with the same states",
            id="another state",
        ),
        pytest.param(
            (Signal("a", ("x", "y"), frozenset("x")), Signal("b", ("x", "y"), frozenset("x"))),
            "the ladders have different signals",
            id="one more",
        ),
    ],
)
def test_ladders_over_different_signals_are_not_compared(signals, message):
    """V2: a matrix of them would count nothing that exists."""
    old = two_signals((Signal("a", ("x", "y"), frozenset("x")),), {})
    with pytest.raises(ValueError, match=f"^{message}$"):
        changed(old, two_signals(signals, {}))


def test_counts_of_other_rules_are_not_cut_to_fit():
    """V4: a census is over all rules or none."""
    with pytest.raises(ValueError, match="zip"):
        census(crossed(pairs=1), (1, 2))


def test_an_accept_region_of_another_length_is_not_cut_to_fit():
    """V1: what is declared about one signal says nothing of two."""
    signals = tuple(Signal(f"s{n}", ("a", "b"), frozenset("a")) for n in range(2))
    rules = (Rule(1, ((frozenset("a"), frozenset("ab")),), ACCEPT, "r", "", ""),)
    ladder = Ladder("x", signals, outcomes=OUTCOMES, rules=rules, accept_region=((frozenset("a"),),))
    with pytest.raises(ValueError, match="zip"):
        verify(ladder)


def test_of_the_steps_between_several_outcomes_the_smallest_is_the_witness():
    """V1: the one nearest to clean, which is not the first by its states' names."""
    signals = (Signal("one", ("a", "b", "c", "d"), frozenset("c")), Signal("other", ("a", "b"), frozenset("a")))
    every = frozenset("abcd")
    rules = (
        Rule(1, ((frozenset("c"), frozenset("a")),), LATER, "r", "", ""),
        Rule(2, ((frozenset("c"), frozenset("b")),), HOLD, "r", "", ""),
        Rule(3, ((frozenset("a"), frozenset("a")),), REJECT, "r", "", ""),
        Rule(4, ((every, frozenset("ab")),), ACCEPT, "r", "", ""),
    )
    worse = frozenset({("YES", "NO"), ("WAIT", "LATER")})
    answer = verify(Ladder("x", signals, outcomes=OUTCOMES, rules=rules, worse=worse)).answer("order-monotone")
    assert answer.witness == (("c", "a"), ("c", "b"))


def test_past_the_budget_an_answer_is_not_obtained_and_never_yes():
    """V1: it never degrades in silence."""
    ladder = crossed(pairs=4)
    found = verify(ladder, steps=40)
    assert not found.holds
    assert found.counts is None
    assert {answer.held for answer in found.answers} == {"not-obtained", "yes"}
    assert [answer.guarantee for answer in found.answers if answer.held == "yes"] == ["accept-region"]


@given(ladders(), st.integers(1, 400))
@settings(max_examples=200)
def test_whatever_the_budget_an_answer_is_the_whole_ones_or_not_obtained(ladder, steps):
    """V1: a budget takes answers away and changes none."""
    whole, part = verify(ladder), verify(ladder, steps=steps)
    for answer in part.answers:
        assert answer in {whole.answer(answer.guarantee), Answer(answer.guarantee, "not-obtained")}
    assert part.counts in {whole.counts, None}
    assert part.steps <= steps
    known = {dead.rule: set(dead.taken_by) for dead in whole.dead}
    for dead in part.dead:
        assert known[dead.rule] <= set(dead.taken_by) < {rule.number for rule in ladder.rules}


def test_a_budget_is_spent_to_the_last_step():
    """V1: as many steps as the whole takes are enough, and one less is not."""
    ladder = crossed(pairs=3)
    needed = verify(ladder).steps
    assert verify(ladder, steps=needed).holds
    short = verify(ladder, steps=needed - 1)
    assert short.steps == needed - 1
    assert not (short.holds and short.counts)


def test_of_two_pairs_the_one_that_begins_nearer_to_clean_is_the_smallest():
    """V1: however much further away the pair's other end is."""
    clean = frozenset("abc")
    signals = tuple(Signal(f"s{n}", ("a", "b", "c"), frozenset("a") if n == 0 else clean) for n in range(3))
    far, near = tuple(map(frozenset, "baa")), tuple(map(frozenset, "aac"))
    rules = (
        Rule(1, (far, near), ACCEPT, "r", "", ""),
        Rule(2, ((clean,) * 3,), HOLD, "r", "", ""),
    )
    answer = verify(Ladder("x", signals, outcomes=OUTCOMES, rules=rules)).answer("accept-monotone")
    assert answer.witness == (("a", "a", "a"), ("a", "a", "c"))
    rules = (Rule(1, (far, tuple(map(frozenset, "abc"))), ACCEPT, "r", "", ""), rules[1])
    answer = verify(Ladder("x", signals, outcomes=OUTCOMES, rules=rules)).answer("accept-monotone")
    assert answer.witness == (("a", "a", "a"), ("b", "a", "a"))


def test_a_budget_counts_steps_one_by_one():
    """V1."""
    budget = Budget(3)
    for used in (1, 2, 3):
        budget.spend()
        assert budget.used == used
    with pytest.raises(TooLargeError):
        budget.spend()
    assert budget.used == 3


def test_the_order_that_says_only_that_accepting_is_better_costs_no_step_more():
    """V1: on a total ladder it is accept-monotone, which was answered just before."""
    orders = (frozenset(), frozenset({("YES", "NO"), ("YES", "WAIT")}), frozenset({("YES", "NO")}))
    none, accept_first, other = (verify(crossed(pairs=3, order=order)).steps for order in orders)
    assert none == accept_first < other


def test_an_order_reaches_from_what_is_declared_to_what_follows():
    """V1: a is better than b, and b than c."""
    assert closure({("a", "b"), ("b", "c"), ("c", "d")}) == {
        *(("a", other) for other in "bcd"),
        *(("b", other) for other in "cd"),
        ("c", "d"),
    }


def test_what_follows_from_a_declared_order_is_verified_too():
    """V1: YES < WAIT < NO is broken by a step from NO to YES."""
    signal = Signal("s", ("a", "b"), frozenset("a"))
    rules = (Rule(1, ((frozenset("a"),),), REJECT, "r", "", ""), Rule(2, ((frozenset("b"),),), ACCEPT, "r", "", ""))
    worse = frozenset({("YES", "WAIT"), ("WAIT", "NO")})
    answer = verify(Ladder("x", (signal,), outcomes=OUTCOMES, rules=rules, worse=worse)).answer("order-monotone")
    assert (answer.held, answer.witness, answer.broken) == ("no", (("a",), ("b",)), 1)


def test_with_enough_steps_the_same_ladder_is_verified_whole():
    """V1: the counterpart of the test above."""
    found = verify(crossed(pairs=4))
    assert found.holds
    assert sum(found.counts or ()) == 5**8


ACCEPT_FIRST = frozenset({("YES", "NO"), ("YES", "WAIT")})


def crossed(*, pairs, order=ACCEPT_FIRST):
    """Return a ladder that ties the first half of its signals to the second, the worst case for the written order."""
    signals = tuple(Signal(f"s{i}", ("a", "b", "c", "d", "e"), frozenset("a")) for i in range(2 * pairs))
    every = frozenset("abcde")
    rules = []
    for pair in range(pairs):
        for states in ("bc", "de"):
            box = tuple(frozenset(states) if i in (pair, pair + pairs) else every for i in range(2 * pairs))
            rules.append(Rule(len(rules) + 1, (box,), REJECT, "r", "", ""))
    clean = (tuple(frozenset("a") for _ in signals),)
    rules.append(Rule(len(rules) + 1, clean, ACCEPT, "clean", "", ""))
    rules.append(Rule(len(rules) + 1, ((every,) * len(signals),), HOLD, "rest", "", ""))
    return Ladder("crossed", signals, outcomes=(ACCEPT, REJECT, HOLD), rules=tuple(rules), worse=order)


def test_a_ladder_of_more_combinations_than_can_be_listed_is_verified_exactly():
    """V1: 20 signals of five states, 9.5e13 combinations, tied in the worst way; counts are exact integers."""
    ladder = crossed(pairs=10)
    found = verify(ladder)
    assert found.holds
    assert found.counts is not None
    assert sum(found.counts) == 5**20
    free = 25 - 8  # of the 25 combinations of a pair, those that neither of its two rules takes
    assert found.counts[-2:] == (1, free**10 - 1)


def test_there_is_one_answer_a_guarantee_in_order():
    """V1: nothing is left out."""
    assert [answer.guarantee for answer in verify(crossed(pairs=1)).answers] == list(GUARANTEES)


def test_a_ladder_that_is_not_total_raises_where_it_is_looked_up():
    """V1: a gap found by the verifier is the gap that a lookup hits."""
    signal = Signal("a", ("x", "y"), frozenset("x"))
    ladder = Ladder("gap", (signal,), outcomes=(HOLD,), rules=(Rule(1, ((frozenset("x"),),), HOLD, "r", "", ""),))
    assert verify(ladder).answer("total").witness == (("y",),)
    with pytest.raises(UncoveredError):
        ladder.decide("y")
