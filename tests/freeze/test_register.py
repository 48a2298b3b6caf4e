"""The register: what it accepts, what it refuses and in which words, what it says of its nodes (F1 to F3, A6, U4)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.core.records import NodeRecord
from admit.errors import InputError
from admit.freeze.entries import Entry
from admit.freeze.register import Policy, Register, in_force, read_register, records

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
WHERE = "admit.freezes.toml"


def entry(**changes: str | None) -> str:
    """Return the text of an entry that keeps every rule, with keys changed, added, or left out (None)."""
    keys = {
        "node": '"tests/test_a.py::test_x"',
        "reason": '"races with the clock"',
        "owner": '"@ana"',
        "expires": "2026-12-20T00:00:00Z",
    }
    lines = [f"{key} = {value}" for key, value in (keys | changes).items() if value is not None]
    return "\n".join(["[[freeze]]", *lines, ""])


def read(text: str, *, now: datetime = NOW, horizon: int = 30) -> Register:
    return read_register(text, WHERE, now=now, horizon_days_default=horizon)


def problems(text: str) -> list[str]:
    return [finding.text for finding in read(text).problems]


def test_an_entry_is_read_with_its_place() -> None:
    register = read("# head\n\n" + entry(opened="2026-11-29T00:00:00Z", issue='"#12"', seen='"both"'))
    assert register.entries == (
        Entry(
            node="tests/test_a.py::test_x",
            reason="races with the clock",
            owner="@ana",
            expires=datetime(2026, 12, 20, tzinfo=UTC),
            opened=datetime(2026, 11, 29, tzinfo=UTC),
            issue="#12",
            seen="both",
            number=1,
            line=3,
        ),
    )
    assert (register.state, register.problem, register.total) == ("ok", "", 1)


def test_an_empty_register_keeps_every_rule() -> None:
    register = read("# nothing is frozen\n")
    assert (register.state, register.entries, register.notes, records(register, NOW)) == ("ok", (), (), ())


PLACE = "admit.freezes.toml line 1, entry 1 (tests/test_a.py::test_x): "
NO_WHY = "admit.freezes.toml: [policy] allow_wide is true without a why; say in words why wide freezes are let in here"
NARROW = "; name one test or one parameter case: tests/test_a.py::test_x or tests/test_a.py::test_x[case]"


@pytest.mark.parametrize(
    ("text", "rule", "expected"),
    [
        pytest.param(
            entry(node=None),
            "missing-key",
            "admit.freezes.toml line 1, entry 1: no node; name the one test that flaked, as its runner prints it",
            id="no-node",
        ),
        pytest.param(
            entry(reason=None),
            "missing-key",
            PLACE + "no reason; say in a sentence what was seen and what is suspected",
            id="no-reason",
        ),
        pytest.param(
            entry(owner=None),
            "missing-key",
            PLACE + "no owner; name who will fix it: a person or a team that can be written to",
            id="no-owner",
        ),
        pytest.param(
            entry(expires=None),
            "missing-key",
            PLACE + "no expires; write the instant from which the node votes again, such as 2026-12-20T00:00:00Z",
            id="no-expiry",
        ),
        pytest.param(
            entry(until="2026-12-20T00:00:00Z"),
            "unknown-key",
            PLACE + "unknown key 'until'; allowed: node, reason, owner, expires, opened, issue, seen, no_history",
            id="unknown-key",
        ),
        pytest.param(
            entry(owner='["@ana"]'),
            "wrong-type",
            PLACE + "owner is ['@ana']; write it as text: owner = \"…\"",
            id="owner-is-a-list",
        ),
        pytest.param(
            entry(issue="12"),
            "wrong-type",
            PLACE + 'issue is 12; write it as text: issue = "…"',
            id="issue-is-a-number",
        ),
        pytest.param(
            entry(node="7"),
            "wrong-type",
            'admit.freezes.toml line 1, entry 1: node is 7; write it as text: node = "…"',
            id="node-is-a-number",
        ),
        pytest.param(
            entry(owner='" "'),
            "empty",
            PLACE + "owner is empty; name who will fix it: a person or a team that can be written to",
            id="owner-is-blank",
        ),
        pytest.param(
            entry(issue='""'), "empty", PLACE + "issue is empty; say it, or leave the key out", id="issue-is-empty"
        ),
        pytest.param(
            entry(node='" tests/test_a.py::test_x"'),
            "wrong-type",
            "admit.freezes.toml line 1, entry 1 ( tests/test_a.py::test_x): node has white space around it; "
            "name the one test that flaked, as its runner prints it",
            id="node-with-white-space",
        ),
        pytest.param(
            entry(expires="2026-12-20"),
            "expiry",
            PLACE
            + "expires: 2026-12-20 is a date, not an instant; write the hour it ends in UTC: 2026-12-20T00:00:00Z",
            id="bare-date",
        ),
        pytest.param(
            entry(expires='"never"'),
            "expiry",
            PLACE + "expires: 'never' is not an instant; write an instant such as 2026-12-20T00:00:00Z",
            id="never",
        ),
        pytest.param(
            entry(opened="2026-11-01"),
            "opened",
            PLACE + "opened: 2026-11-01 is a date, not an instant; write the hour it ends in UTC: 2026-11-01T00:00:00Z",
            id="opened-is-a-date",
        ),
        pytest.param(
            entry(opened="2026-12-20T00:00:00Z"),
            "opened",
            PLACE
            + "opened 2026-12-20T00:00:00Z is not before expires 2026-12-20T00:00:00Z; correct the one that is wrong",
            id="opened-at-its-end",
        ),
        pytest.param(
            entry(expires="2026-12-30T12:00:01Z"),
            "horizon",
            PLACE
            + "expires 2026-12-30T12:00:01Z, more than 30 days from now; write an instant up to 2026-12-30T12:00:00Z",
            id="a-second-beyond-the-horizon",
        ),
        pytest.param(
            entry(node='"tests/test_a.py"'),
            "too-wide",
            "admit.freezes.toml line 1, entry 1 (tests/test_a.py): freezes a whole file" + NARROW,
            id="file",
        ),
        pytest.param(
            entry(node='"tests"'),
            "too-wide",
            "admit.freezes.toml line 1, entry 1 (tests): freezes a whole directory" + NARROW,
            id="directory",
        ),
        pytest.param(
            entry(node='"tests/test_a.py::TestA"'),
            "too-wide",
            "admit.freezes.toml line 1, entry 1 (tests/test_a.py::TestA): freezes a whole class" + NARROW,
            id="class",
        ),
        pytest.param(
            entry(node='"tests/test_a.py::test_*"'),
            "too-wide",
            "admit.freezes.toml line 1, entry 1 (tests/test_a.py::test_*): is a pattern" + NARROW,
            id="pattern",
        ),
        pytest.param(
            entry(node='"tests/test_a.py::"'),
            "too-wide",
            "admit.freezes.toml line 1, entry 1 (tests/test_a.py::): names no test" + NARROW,
            id="no-test",
        ),
        pytest.param(
            entry(seen='"both"', no_history='"none"'),
            "history",
            PLACE + "both seen and no_history; keep the one that is true",
            id="two-histories",
        ),
        pytest.param(
            'freeze = "tests"\n',
            "wrong-type",
            "admit.freezes.toml: freeze is not a list of tables; write [[freeze]] above each entry",
            id="freeze-is-a-text",
        ),
        pytest.param(
            "[freeze]\nnode = 1\n",
            "wrong-type",
            "admit.freezes.toml: freeze is not a list of tables; write [[freeze]] above each entry",
            id="one-pair-of-brackets",
        ),
        pytest.param(
            "frozen = []\n",
            "unknown-key",
            "admit.freezes.toml: unknown key 'frozen'; allowed: [policy], [[freeze]]",
            id="unknown-table",
        ),
        pytest.param(
            "policy = 1\n",
            "policy",
            "admit.freezes.toml: policy is not a table; write [policy]",
            id="policy-is-a-number",
        ),
        pytest.param(
            "[policy]\nallow_all = true\n",
            "policy",
            "admit.freezes.toml: [policy] unknown key 'allow_all'; allowed: allow_wide, why, horizon_days",
            id="unknown-policy",
        ),
        pytest.param(
            '[policy]\nallow_wide = "yes"\n',
            "policy",
            "admit.freezes.toml: [policy] allow_wide is 'yes'; allowed: true, false",
            id="wide-is-a-word",
        ),
        pytest.param(
            "[policy]\nhorizon_days = true\n",
            "policy",
            "admit.freezes.toml: [policy] horizon_days is True; allowed: a whole number of days, 1 to 365",
            id="horizon-is-a-bool",
        ),
        pytest.param(
            "[policy]\nhorizon_days = 366\n",
            "policy",
            "admit.freezes.toml: [policy] horizon_days is 366; allowed: a whole number of days, 1 to 365",
            id="horizon-too-far",
        ),
        pytest.param(
            "[policy]\nhorizon_days = 0\n",
            "policy",
            "admit.freezes.toml: [policy] horizon_days is 0; allowed: a whole number of days, 1 to 365",
            id="no-horizon",
        ),
        pytest.param(
            "[policy]\nallow_wide = true\n",
            "policy",
            NO_WHY,
            id="wide-without-a-why",
        ),
        pytest.param(
            '[policy]\nallow_wide = true\nwhy = " "\n',
            "policy",
            NO_WHY,
            id="wide-with-a-blank-why",
        ),
        pytest.param(
            '[policy]\nwhy = "because"\n',
            "policy",
            "admit.freezes.toml: [policy] why stands without allow_wide = true; take it out",
            id="a-why-of-nothing",
        ),
    ],
)
def test_a_broken_rule_breaks_the_register_and_says_where_and_what_to_do(text: str, rule: str, expected: str) -> None:
    register = read(text)
    assert [(finding.rule, finding.text) for finding in register.problems] == [(rule, expected)]
    assert (register.state, register.problem) == ("broken", expected)
    assert not in_force(register, NOW)
    assert [(record.check, record.flake_status) for record in records(register, NOW)] == [("fail", "stable")]


def test_every_broken_rule_is_named_in_the_order_of_the_file() -> None:
    text = (
        "stray = 1\n"
        + entry(owner=None, node='"tests/a.py::test_q"')
        + entry(node='"tests"', expires="2027-12-20T00:00:00Z")
    )
    register = read(text)
    assert [(finding.number, finding.line, finding.rule) for finding in register.problems] == [
        (0, None, "unknown-key"),
        (1, 2, "missing-key"),
        (2, 6, "horizon"),
        (2, 6, "too-wide"),
    ]
    assert register.problem.endswith("allowed: [policy], [[freeze]] (and 3 more)")


def test_a_node_that_stands_twice_fails_and_names_the_first_place() -> None:
    register = read(entry() + entry(expires="2026-12-24T00:00:00Z"))
    place = "admit.freezes.toml line 6, entry 2 (tests/test_a.py::test_x)"
    said = f"{place}: the node is frozen already, at line 1; keep one of the two"
    assert [finding.text for finding in register.problems] == [said]
    assert in_force(register, NOW)["tests/test_a.py::test_x"].number == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "[[freeze]\n",
            "admit.freezes.toml: not TOML: ",
            id="broken-header",
        ),
        pytest.param(entry() + 'node = "b"\n', "admit.freezes.toml: not TOML: ", id="duplicate-key"),
        pytest.param("\ufeff", "admit.freezes.toml: not TOML: ", id="byte-order-mark"),
        pytest.param(f"a = {'9' * 5000}\n", "admit.freezes.toml: not TOML: ", id="endless-number"),
        pytest.param(
            f"a = {'[' * 100_000}\n", "admit.freezes.toml: not readable as TOML: nested too deep", id="too-deep"
        ),
        pytest.param("a = 2026-02-30T00:00:00Z\n", "admit.freezes.toml: not TOML: ", id="no-such-day"),
    ],
)
def test_what_is_not_toml_is_no_register_and_cannot_be_read(text: str, expected: str) -> None:
    with pytest.raises(InputError) as caught:
        read(text)
    assert str(caught.value).startswith(expected)


# ---------------------------------------------------------------- how far ahead, and how it ends


def test_an_expiry_at_the_horizon_itself_is_accepted() -> None:
    assert not problems(entry(expires="2026-12-30T12:00:00Z"))


def test_the_registers_own_horizon_counts_before_the_configured_one() -> None:
    text = "[policy]\nhorizon_days = 60\n" + entry(expires="2027-01-20T00:00:00Z")
    assert read(text, horizon=7).state == "ok"


def test_the_configured_horizon_counts_where_the_register_sets_none() -> None:
    assert read(entry(expires="2026-12-20T00:00:00Z"), horizon=7).state == "broken"


def test_a_policy_that_breaks_a_rule_opens_nothing() -> None:
    register = read(
        "[policy]\nallow_wide = true\nhorizon_days = 60\n" + entry(node='"tests"', expires="2027-01-20T00:00:00Z")
    )
    assert [finding.rule for finding in register.problems] == ["policy", "horizon", "too-wide"]
    assert register.policy == Policy()


def test_a_wide_freeze_is_in_force_where_the_register_says_why_aloud() -> None:
    register = read('[policy]\nallow_wide = true\nwhy = "moving to the new driver"\n' + entry(node='"tests/db"'))
    assert list(in_force(register, NOW)) == ["tests/db"]
    assert [note.text for note in register.notes] == [
        "admit.freezes.toml: wide freezes are let in: moving to the new driver"
    ]


def test_a_freeze_ends_at_its_instant_and_not_a_second_before() -> None:
    expires = datetime(2026, 12, 20, tzinfo=UTC)
    register = read(entry())
    assert in_force(register, expires - timedelta(seconds=1))
    assert not in_force(register, expires)


def test_an_expired_entry_is_inert_breaks_nothing_and_is_reported() -> None:
    now = datetime(2026, 12, 23, tzinfo=UTC)
    register = read(entry(), now=now)
    note = (
        "admit.freezes.toml line 1, entry 1 (tests/test_a.py::test_x): expired 3 days ago, at 2026-12-20T00:00:00Z: "
        "the node votes again; @ana: remove the entry"
    )
    assert (register.state, [finding.text for finding in register.notes]) == ("ok", [note])
    assert records(register, now) == (NodeRecord("tests/test_a.py::test_x", "pass", "match", "stable", message=note),)


def test_an_entry_in_force_passes_and_is_frozen_until_it_expires() -> None:
    assert records(read(entry()), NOW) == (
        NodeRecord(
            "tests/test_a.py::test_x",
            "pass",
            "match",
            "frozen",
            "2026-12-20T00:00:00Z",
            message="frozen: races with the clock (owner @ana)",
        ),
    )


def test_an_entry_that_breaks_a_rule_freezes_nothing_and_leaves_the_others_alone() -> None:
    register = read(entry(node='"tests"') + entry(owner=None) + entry(node='"b.py::test_y"'))
    assert list(in_force(register, NOW)) == ["b.py::test_y"]
    shown = {record.node: (record.check, record.flake_status) for record in records(register, NOW)}
    assert shown == {
        "tests": ("fail", "stable"),
        "tests/test_a.py::test_x": ("fail", "stable"),
        "b.py::test_y": ("pass", "frozen"),
    }


def test_an_entry_without_a_node_has_a_record_of_its_own() -> None:
    register = read(entry(node=None) + entry(node='"  "') + "stray = 1\n")
    assert [record.node for record in records(register, NOW)] == [
        "admit.freezes.toml entry 1",
        "admit.freezes.toml entry 2",
    ]
    broken = read("stray = 1\n")
    assert [(record.node, record.check) for record in records(broken, NOW)] == [(WHERE, "fail")]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param(entry(reason="'''\n[[freeze]]\n'''"), 1, id="a-header-inside-a-literal-string"),
        pytest.param(entry(reason='"""\n\\"""\n[[freeze]]\n"""""'), 1, id="a-header-inside-a-basic-string"),
        pytest.param("# '''\n" + entry(reason="'''\nr'''"), 2, id="quotes-in-a-comment"),
        pytest.param(entry().replace("[[freeze]]", "\t[[ 'freeze' ]] # x"), 1, id="a-header-written-otherwise"),
        pytest.param(entry().replace("\n", "\r\n"), 1, id="line-ends-of-windows"),
        pytest.param(
            'freeze = [{node = "a.py::test_x", reason = "r", owner = "o", expires = 2026-12-20T00:00:00Z}]\n',
            None,
            id="an-inline-array",
        ),
    ],
)
def test_a_line_is_named_where_it_is_certain(text: str, line: int | None) -> None:
    register = read(text)
    assert (register.state, [one.line for one in register.entries]) == ("ok", [line])


MUTATIONS = st.dictionaries(
    st.sampled_from(["node", "reason", "owner", "expires", "opened", "issue", "seen", "no_history", "policy", "x"]),
    st.one_of(
        st.none(),
        st.sampled_from(
            ['""', "1", "true", "[]", "{}", "nan", "2026-12-20", "12:00:00", "2026-12-20T00:00:00", '"tests"']
        ),
        st.sampled_from(["2026-12-20T00:00:00Z", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59Z"]),
    ),
)


@given(st.lists(MUTATIONS, max_size=4))
def test_whatever_stands_in_the_register_an_entry_freezes_only_if_it_keeps_every_rule(
    mutations: list[dict[str, str | None]],
) -> None:
    register = read("".join(entry(**mutation) for mutation in mutations))
    broken = {finding.number for finding in register.problems}
    held = in_force(register, NOW)
    assert all(one.number not in broken and NOW < one.expires <= NOW + timedelta(days=30) for one in held.values())
    said = records(register, NOW)
    assert (register.state == "broken") == any(record.check == "fail" for record in said)
    assert {record.node for record in said if record.flake_status == "frozen"} == set(held)
    assert len(said) == register.total + (0 in broken)
