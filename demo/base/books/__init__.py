"""A small double-entry ledger."""

from books.ledger import Ledger
from books.money import split
from books.statement import parse, render

__all__ = ["Ledger", "parse", "render", "split"]
