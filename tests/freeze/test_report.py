"""What the register looks like to people and to scheduled jobs (contract F3, F5)."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from admit.freeze import report
from admit.freeze.register import Register, read_register

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
TEXT = """\
[[freeze]]
node = "a.py::test_x"
reason = "races"
owner = "@ana"
expires = 2026-12-20T00:00:00Z
issue = "#12"
opened = 2026-11-29T00:00:00Z

[[freeze]]
node = "a.py::test_y[a|`<b>`*]"
reason = "leaks <a> | port"
owner = "@ben"
expires = 2026-12-01T00:00:00Z

[[freeze]]
node = "a.py::test_z"
reason = "slow"
owner = "@ana"
expires = 2026-11-27T00:00:00Z
no_history = "seen by hand"

[[freeze]]
node = "tests"
reason = "all"
owner = "@cy"
expires = 2026-12-24T00:00:00Z

[[freeze]]
node = "a.py::test_q"
reason = "r"
owner = "@cy"
"""


def read(text: str = TEXT) -> Register:
    return read_register(text, "admit.freezes.toml", now=NOW)


FINDINGS = """\
problem: admit.freezes.toml line 22, entry 4 (tests): freezes a whole directory; name one test or one parameter case: \
tests/test_a.py::test_x or tests/test_a.py::test_x[case]
problem: admit.freezes.toml line 28, entry 5 (a.py::test_q): no expires; write the instant from which the node votes \
again, such as 2026-12-20T00:00:00Z
note: admit.freezes.toml line 15, entry 3 (a.py::test_z): expired 3 days ago, at 2026-11-27T00:00:00Z: the node votes \
again; @ana: remove the entry
"""


def test_the_list_shows_time_left_owner_and_reason() -> None:
    assert report.list_text(read(), NOW) == (
        """\
LEFT                UNTIL                 OWNER  NODE                    REASON
19 days             2026-12-20T00:00:00Z  @ana   a.py::test_x            races (#12)
12 hours            2026-12-01T00:00:00Z  @ben   a.py::test_y[a|`<b>`*]  leaks <a> | port
expired 3 days ago  2026-11-27T00:00:00Z  @ana   a.py::test_z            slow
broken, inert       2026-12-24T00:00:00Z  @cy    tests                   all
admit.freezes.toml: broken: 5 freezes, 2 in force, 1 expired, 2 broken
"""
        + FINDINGS
    )


def test_the_check_is_the_state_the_counts_and_every_finding() -> None:
    assert report.check_text(read(), NOW) == (
        "admit.freezes.toml: broken: 5 freezes, 2 in force, 1 expired, 2 broken\n" + FINDINGS
    )


@pytest.mark.parametrize("show", [report.list_text, report.list_markdown, report.check_text, report.check_markdown])
def test_an_empty_register_is_said_to_be_empty(show: object) -> None:
    assert callable(show)
    assert show(read(""), NOW) == "admit.freezes.toml: ok: 0 freezes, 0 in force\n"


def test_the_markdown_table_holds_whatever_a_node_is_called() -> None:
    table = report.list_markdown(read(), NOW).splitlines()
    assert table[0] == "| left | owner | node | expires | reason |"
    assert table[3] == (
        "| 12 hours | @ben | `` a.py::test_y[a\\|`<b>`*] `` | 2026-12-01T00:00:00Z | leaks &lt;a> \\| port |"
    )


def test_a_finding_in_markdown_cannot_become_markup() -> None:
    found = read('[[freeze]]\nnode = "<b>*`x`*"\nreason = "r"\nowner = "o"\nexpires = 2026-12-20T00:00:00Z\n')
    assert "(&lt;b>\\*\\`x\\`\\*): is a pattern" in report.check_markdown(found, NOW)


def test_no_format_lets_a_text_break_its_line() -> None:
    broken = TEXT.replace('"races"', '"ra\\nces\\u001b[31m"')
    for show in (report.list_text, report.list_markdown):
        assert "ra\\nces\\x1b[31m" in show(read(broken), NOW)
    assert "ra\\nces" in report.due_text(report.due(read(broken), NOW, timedelta(days=30)))


def test_the_json_list_names_each_freeze_problem_and_note() -> None:
    shown = json.loads(report.list_json(read(), NOW))
    assert {key: shown[key] for key in ("schema", "register", "now", "state")} == {
        "schema": "admit.freeze.list/1",
        "register": "admit.freezes.toml",
        "now": "2026-11-30T12:00:00Z",
        "state": "broken",
    }
    assert shown["freezes"][0] == {
        "node": "a.py::test_x",
        "state": "in_force",
        "days_left": 19,
        "owner": "@ana",
        "reason": "races",
        "expires": "2026-12-20T00:00:00Z",
        "opened": "2026-11-29T00:00:00Z",
        "issue": "#12",
        "entry": 1,
        "line": 1,
    }
    assert [(one["state"], one["days_left"]) for one in shown["freezes"]] == [
        ("in_force", 19),
        ("in_force", 0),
        ("expired", 0),
        ("broken", 23),
    ]
    assert [(one["rule"], one["entry"], one["line"], one["node"]) for one in shown["problems"]] == [
        ("too-wide", 4, 22, "tests"),
        ("missing-key", 5, 28, "a.py::test_q"),
    ]
    assert [(one["rule"], one["entry"]) for one in shown["notes"]] == [(None, 3)]


def test_due_names_what_expires_soon_and_what_has_by_owner() -> None:
    found = report.due(read(), NOW, timedelta(days=1))
    assert (
        report.due_text(found)
        == """\
admit.freezes.toml: 1 expiring within 1 day, 1 expired and not removed

@ana
  expired 3 days ago (2026-11-27T00:00:00Z): a.py::test_z: slow

@ben
  12 hours (2026-12-01T00:00:00Z): a.py::test_y[a|`<b>`*]: leaks <a> | port
"""
    )


def test_due_takes_in_the_last_instant_of_its_span() -> None:
    to_the_second = datetime(2026, 12, 1, tzinfo=UTC) - NOW
    assert "a.py::test_y" in report.due_text(report.due(read(), NOW, to_the_second))
    assert "a.py::test_y" not in report.due_text(report.due(read(), NOW, to_the_second - timedelta(seconds=1)))


def test_due_in_markdown_keeps_mentions_and_quotes_nodes() -> None:
    assert (
        report.due_markdown(report.due(read(), NOW, timedelta(days=20)))
        == """\
admit.freezes.toml: 2 expiring within 20 days, 1 expired and not removed

@ana:

- expired 3 days ago (2026-11-27T00:00:00Z): `a.py::test_z`: slow
- 19 days (2026-12-20T00:00:00Z): `a.py::test_x`: races (#12)

@ben:

- 12 hours (2026-12-01T00:00:00Z): `` a.py::test_y[a|`<b>`*] ``: leaks &lt;a> | port
"""
    )


def test_due_in_json_groups_by_owner() -> None:
    shown = json.loads(report.due_json(report.due(read(), NOW, timedelta(hours=36))))
    assert (shown["schema"], shown["within_s"]) == ("admit.freeze.due/1", 129_600)
    assert [(one["owner"], [freeze["node"] for freeze in one["freezes"]]) for one in shown["owners"]] == [
        ("@ana", ["a.py::test_z"]),
        ("@ben", ["a.py::test_y[a|`<b>`*]"]),
    ]


@pytest.mark.parametrize(
    ("within", "expected"),
    [
        pytest.param(timedelta(hours=36), "admit.freezes.toml: nothing expires within 36 hours\n", id="hours"),
        pytest.param(timedelta(days=14), "admit.freezes.toml: nothing expires within 14 days\n", id="days"),
    ],
)
def test_nothing_due_is_said(within: timedelta, expected: str) -> None:
    found = report.due(read(TEXT.split("\n\n", maxsplit=1)[0]), NOW, within)
    assert report.due_text(found) == report.due_markdown(found) == expected
