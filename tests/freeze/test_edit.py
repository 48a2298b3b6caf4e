"""Edits of the register: one entry more or fewer, every other byte as it was (contract F4)."""

from __future__ import annotations

import tomllib
from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from admit.errors import InputError, UsageError
from admit.freeze.edit import EMPTY_REGISTER, with_entry, without_entries
from admit.freeze.entries import Entry
from admit.freeze.register import read_register

WHERE = "admit.freezes.toml"
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
ENTRY = Entry("b.py::test_y", "leaks a port", "@ben", datetime(2026, 12, 20, tzinfo=UTC))
BLOCK = '[[freeze]]\nnode = "b.py::test_y"\nreason = "leaks a port"\nowner = "@ben"\nexpires = 2026-12-20T00:00:00Z\n'

HAND_MADE = """\
# Our freezes. Ask #flakes before adding one.

[policy]  # agreed in March
horizon_days = 14

# the clock one
[[freeze]] # first
owner = "@ana"      # on leave until the 5th
node  = "a.py::test_x"
   # twice this week
expires = 2026-12-05T00:00:00Z
reason = '''
races
[[freeze]]

# not a comment'''
# still open

# about the second
[[freeze]]
node = "c.py::test_z[a::b]"
reason = "r"
owner = "o"
expires = 2026-12-06T00:00:00+01:00

# the end
"""


def test_an_entry_is_appended_in_one_order_of_keys() -> None:
    full = ENTRY._replace(opened=NOW, issue="#12", seen="both")
    assert with_entry("", full, WHERE) == (BLOCK + 'opened = 2026-11-30T12:00:00Z\nissue = "#12"\nseen = "both"\n')


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("", BLOCK, id="empty"),
        pytest.param(EMPTY_REGISTER, EMPTY_REGISTER + "\n" + BLOCK, id="header"),
        pytest.param("# head", "# head\n\n" + BLOCK, id="no-line-end-at-the-end"),
        pytest.param(HAND_MADE, HAND_MADE + "\n" + BLOCK, id="made-by-hand"),
        pytest.param("# head\r\n", ("# head\n\n" + BLOCK).replace("\n", "\r\n"), id="line-ends-of-windows"),
    ],
)
def test_adding_leaves_all_that_was_there_byte_for_byte(before: str, after: str) -> None:
    assert with_entry(before, ENTRY, WHERE) == after


@pytest.mark.parametrize(
    ("before", "number", "after", "comments"),
    [
        pytest.param(BLOCK, 1, "", (), id="the-only-one"),
        pytest.param("# head\n\n" + BLOCK, 1, "# head\n", (), id="the-only-one-below-a-head"),
        pytest.param("# head\n" + BLOCK.rstrip("\n"), 1, "# head\n", ("# head",), id="no-line-end-at-the-end"),
        pytest.param(
            BLOCK + "\n# two\n" + BLOCK.replace("b.py", "c.py"),
            1,
            "# two\n" + BLOCK.replace("b.py", "c.py"),
            (),
            id="the-first",
        ),
        pytest.param(
            HAND_MADE,
            1,
            HAND_MADE.replace(HAND_MADE[HAND_MADE.index("[[freeze]] # first") : HAND_MADE.index("# still open")], ""),
            ("# the clock one",),
            id="made-by-hand-first",
        ),
        pytest.param(
            HAND_MADE,
            2,
            HAND_MADE.replace(
                HAND_MADE[HAND_MADE.index('[[freeze]]\nnode = "c.py') : HAND_MADE.index("\n# the end")], ""
            ),
            ("# about the second",),
            id="made-by-hand-second",
        ),
        pytest.param(
            (BLOCK + "\n[policy]\nhorizon_days = 60\n").replace("\n", "\r\n"),
            1,
            "[policy]\r\nhorizon_days = 60\r\n",
            (),
            id="line-ends-of-windows",
        ),
    ],
)
def test_thawing_cuts_the_entry_and_leaves_comments_and_order(
    before: str, number: int, after: str, comments: tuple[str, ...]
) -> None:
    thawed = without_entries(before, [number], WHERE)
    assert (thawed.text, thawed.comments) == (after, comments)


def test_several_entries_are_cut_at_once() -> None:
    blocks = [BLOCK.replace("b.py", f"{name}.py") for name in "abcd"]
    assert without_entries("\n".join(blocks), [4, 1, 2], WHERE).text == blocks[2]


@pytest.mark.parametrize(
    "before",
    [
        pytest.param("freeze = []\n", id="inline-array"),
        pytest.param("freeze = 5\n", id="number"),
        pytest.param("[freeze]\n", id="table"),
    ],
)
def test_entries_written_otherwise_are_left_to_a_person(before: str) -> None:
    with pytest.raises(InputError, match=r"^admit.freezes.toml: .*edit the file by hand$"):
        with_entry(before, ENTRY, WHERE)


def test_entries_written_otherwise_are_not_cut() -> None:
    with pytest.raises(InputError) as caught:
        without_entries('freeze = [{node = "a"}]\n', [1], WHERE)
    assert str(caught.value) == (
        "admit.freezes.toml: entries are not written as [[freeze]] tables; edit the file by hand"
    )


def test_an_edit_that_would_say_something_else_is_refused() -> None:
    # the sub-table belongs to the first entry, and would fall to the one before if the entry alone were cut
    text = BLOCK.replace("b.py", "a.py") + BLOCK + "[freeze.more]\nx = 1\n"
    with pytest.raises(InputError) as caught:
        without_entries(text, [2], WHERE)
    assert str(caught.value) == "admit.freezes.toml: this edit would change more than one entry; edit the file by hand"


def test_bytes_that_are_not_utf_8_are_refused_before_they_are_written() -> None:
    with pytest.raises(UsageError, match="the entry holds bytes that are not UTF-8"):
        with_entry("", ENTRY._replace(reason="\udcff"), WHERE)


def test_an_edit_of_what_is_not_toml_is_refused() -> None:
    with pytest.raises(InputError, match="not TOML"):
        with_entry("[[freeze", ENTRY, WHERE)


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(lambda text: text.strip())


@given(TEXTS, TEXTS, st.sampled_from(["\n", "\r\n"]))
@example("\x7f", "\x00\x1f\x7f\x85\u2028\r\n\t\\\"'", "\n")
def test_any_text_survives_being_written_and_read(reason: str, case: str, end: str) -> None:
    entry = ENTRY._replace(node=f"b.py::test_y[{case}]", reason=reason)
    register = read_register(with_entry(f"# head{end}", entry, WHERE), WHERE, now=NOW)
    assert [one._replace(number=0, line=None) for one in register.entries] == [entry]


@st.composite
def registers(draw: st.DrawFn) -> tuple[str, int]:
    """Return a register as people write them, comments and blank lines anywhere, and how many entries it has."""
    filler = st.lists(st.sampled_from(["", "# one", "  # [[freeze]]", "#", '# """']), max_size=3)
    total = draw(st.integers(0, 4))
    end = draw(st.sampled_from(["\n", "\r\n"]))
    lines: list[str] = draw(filler)
    for number in range(total):
        keys = [
            f'node = "a.py::test_{number}"',
            draw(st.sampled_from(['reason = "r" # why', 'reason = """\n[[freeze]]\n# no\n"""', "reason = '''\n\n'''"])),
            'owner = "o"',
            "expires = 2026-12-20T00:00:00Z",
        ]
        lines += [draw(st.sampled_from(["[[freeze]]", " [[freeze]]  # x", "[[ freeze ]]"]))]
        for key in draw(st.permutations(keys)):
            lines += [*key.split("\n"), *draw(st.sampled_from([[], [], ["# inside"]]))]
        lines += draw(filler)
        if draw(st.booleans()) and "[policy]" not in lines:
            lines += ["[policy]", "horizon_days = 60", *draw(filler)]
    return end.join(lines) + (end if draw(st.booleans()) else ""), total


@given(registers())
def test_adding_and_thawing_again_gives_the_same_bytes(made: tuple[str, int]) -> None:
    text, total = made
    added = with_entry(text, ENTRY, WHERE)
    assert added.startswith(text)
    end = "\r\n" if "\r\n" in text else "\n"
    assert without_entries(added, [total + 1], WHERE).text == (text if not text or text.endswith(end) else text + end)


@given(registers(), st.data())
def test_thawing_keeps_every_other_entry_and_every_line_outside_in_order(
    made: tuple[str, int], data: st.DataObject
) -> None:
    text, total = made
    gone = data.draw(st.sets(st.integers(1, total)) if total else st.just(set()))
    after = without_entries(text, gone, WHERE).text
    before = tomllib.loads(text)
    kept = [table for number, table in enumerate(before.get("freeze", []), 1) if number not in gone]
    assert tomllib.loads(after).get("freeze", []) == kept
    assert tomllib.loads(after).get("policy") == before.get("policy")
    lines = (line.rstrip("\r") for line in text.split("\n"))
    # every line that is left stood there before, in this order
    assert all(line.rstrip("\r") in lines for line in after.split("\n") if line.strip())
    outside = [line for line in text.split("\n") if line.strip() in {"# one", "#", '# """', "# [[freeze]]"}]
    assert [line for line in after.split("\n") if line.strip() in {"# one", "#", '# """', "# [[freeze]]"}] == outside
