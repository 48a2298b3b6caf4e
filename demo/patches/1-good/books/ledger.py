"""Entries move cents from one account to another; nothing is ever lost between them."""


class Ledger:
    def __init__(self):
        self._entries = []

    def post(self, debit, credit, cents):
        if cents <= 0:
            raise ValueError(f"an entry moves at least one cent, not {cents}")
        if debit == credit:
            raise ValueError(f"{debit} cannot pay itself")
        self._entries.append((debit, credit, cents))

    @property
    def entries(self):
        return tuple(self._entries)

    def accounts(self):
        return sorted({name for debit, credit, _ in self._entries for name in (debit, credit)})

    def balance(self, account):
        return self.trial_balance().get(account, 0)

    def trial_balance(self):
        totals = dict.fromkeys(self.accounts(), 0)
        for debit, credit, cents in self._entries:
            totals[debit] += cents
            totals[credit] -= cents
        return totals
