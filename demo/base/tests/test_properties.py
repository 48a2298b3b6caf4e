"""What holds for every ledger."""

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from books import Ledger, parse, render, split

names = st.sampled_from(["cash", "bank", "sales", "rent", "tax"])
cents = st.integers(1, 10_000_000)


@given(st.integers(0, 10_000_000), st.integers(1, 50))
def test_a_split_loses_no_cent(amount, parts):
    shares = split(amount, parts)
    assert len(shares) == parts
    assert sum(shares) == amount


@given(st.lists(st.tuples(names, names, cents).filter(lambda entry: entry[0] != entry[1])))
def test_a_statement_reads_back_as_the_same_entries(entries):
    ledger = Ledger()
    for entry in entries:
        ledger.post(*entry)
    assert parse(render(ledger)).entries == ledger.entries


class Bookkeeping(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.ledger = Ledger()

    @rule(debit=names, credit=names, amount=cents)
    def post(self, debit, credit, amount):
        if debit != credit:
            self.ledger.post(debit, credit, amount)

    @invariant()
    def balances_add_up_to_zero(self):
        assert sum(self.ledger.trial_balance().values()) == 0


TestBookkeeping = Bookkeeping.TestCase
