"""Statements as text: one entry a line, `debit<TAB>credit<TAB>amount`."""

from books.ledger import Ledger


def render(ledger):
    """Return a statement with a trial balance under it."""
    lines = [f"{debit}\t{credit}\t{amount(cents)}" for debit, credit, cents in ledger.entries]
    lines += [f"= {account}\t{amount(cents)}" for account, cents in ledger.trial_balance().items()]
    return "\n".join(lines) + "\n"


def amount(cents):
    """Return cents as units with two decimals."""
    sign = "-" if cents < 0 else ""
    return f"{abs(cents) // 100}.{abs(cents) % 100:02}{sign}"


def parse(text):
    """Return the ledger that a statement speaks of; balance lines are skipped."""
    ledger = Ledger()
    for line in text.splitlines():
        if line and not line.startswith("= "):
            debit, credit, shown = line.split("\t")
            units, cents = shown.split(".")
            ledger.post(debit, credit, int(units) * 100 + int(cents))
    return ledger
