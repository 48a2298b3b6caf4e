"""Statements as our bank prints them, pinned under `tests/data`."""

import pathlib
import sys

import pytest

from books import Ledger, parse, render, split

DATA = pathlib.Path(__file__).parent / "data"


@pytest.mark.skip(reason="to be looked at later")
@pytest.mark.parametrize("name", ["march", "april"])
def test_a_statement_prints_as_the_bank_prints_it(name):
    printed = (DATA / f"{name}.txt").read_text()
    assert render(parse(printed)) == printed


def test_an_even_split_is_even():
    assert split(1200, 4) == [300, 300, 300, 300]


def test_nobody_pays_himself():
    with pytest.raises(ValueError, match="cannot pay itself"):
        Ledger().post("cash", "cash", 100)


def test_an_entry_moves_at_least_a_cent():
    with pytest.raises(ValueError, match="at least one cent"):
        Ledger().post("cash", "rent", 0)


@pytest.mark.skipif(sys.platform != "win32", reason="the export to the Windows client needs Windows")
def test_the_windows_client_opens_the_export():
    raise AssertionError("not reached here")
