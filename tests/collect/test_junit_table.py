"""Each row of the mapping table means what it says, and what fits no row is no pass (contract E4, E8)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from admit.collect.junit_cases import CASE_ROWS
from admit.collect.junit_children import CHILD_ROWS
from admit.collect.junit_rows import ATTEMPTS, ECHOES, PLAIN_ATTRIBUTES, WORD_ROWS
from admit.core.records import GAP_WHYS, NodeRecord
from admit.core.signals import WHYS

One = Callable[[str], NodeRecord]


@pytest.mark.parametrize("row", [pytest.param(row, id=row.key) for row in (*CHILD_ROWS, *CASE_ROWS)])
def test_the_example_of_a_row_reads_as_the_row_says(row, one: One, junit) -> None:
    record = one(row.example)
    assert (record.check, record.why) == (row.check, row.why)
    problems = junit(f'<testsuite name="s">{row.example}</testsuite>').problems
    assert bool(problems) is row.is_whole


@pytest.mark.parametrize("row", [pytest.param(row, id=f"{row.attribute}-{row.word}") for row in WORD_ROWS])
def test_a_word_in_an_attribute_reads_as_its_row_says(row, one: One) -> None:
    record = one(f'<testcase name="t" {row.attribute}="{row.word}"/>')
    assert (record.check, record.why) == (row.check, row.why)


def test_each_row_has_a_key_of_its_own_and_known_words() -> None:
    keys = Counter(row.key for row in (*CHILD_ROWS, *CASE_ROWS))
    assert [key for key, count in keys.items() if count > 1] == []
    assert {row.why for row in (*CHILD_ROWS, *CASE_ROWS, *WORD_ROWS)} - {None} <= set(WHYS)


def test_no_row_calls_a_case_passed_but_a_word_that_is_no_objection() -> None:
    assert [row.key for row in (*CHILD_ROWS, *CASE_ROWS) if row.check == "pass"] == []
    assert {row.word for row in WORD_ROWS if row.check == "pass"} == {"run", "passed", "completed", "pass"}


def test_no_word_in_a_report_makes_a_gap_that_a_later_pass_may_fill() -> None:
    """U5: a failure that says `interrupted` of itself must not be laundered by the next attempt."""
    assert not {row.why for row in (*CHILD_ROWS, *CASE_ROWS, *WORD_ROWS)} & GAP_WHYS


def test_the_last_row_for_a_failure_an_error_and_a_skip_fits_any() -> None:
    for tag in ("failure", "error", "skipped"):
        last = [row for row in CHILD_ROWS if tag in row.tags][-1]
        assert (last.kind, last.message, last.text, last.is_untyped) == (None, None, "", False)


@pytest.mark.parametrize(("tag", "other"), [pytest.param(other, tag, id=other) for other, tag in ATTEMPTS.items()])
def test_another_attempt_is_read_as_what_it_would_be_alone(tag: str, other: str, one: One) -> None:
    """U5: a node that failed once failed, whatever the writer calls it."""
    record = one(f'<testcase name="t"><{tag} message="no"/></testcase>')
    assert (record.check, record.flaky, record.attempts, record.why) == ("fail", True, 2, "flaky")
    assert one(f'<testcase name="t"><{other} message="no"/></testcase>').check == "fail"


def test_attempts_that_timed_out_before_a_pass_are_no_failure_and_no_pass(one: One) -> None:
    record = one('<testcase name="t"><flakyFailure type="test timeout"/></testcase>')
    assert (record.check, record.why, record.flaky, record.attempts) == ("not_run", "timeout", False, 2)


def test_a_failure_with_reruns_that_failed_as_well_is_no_flake(one: One) -> None:
    record = one('<testcase name="t"><failure/><rerunFailure/><rerunError/></testcase>')
    assert (record.check, record.flaky, record.attempts) == ("fail", False, 3)


@pytest.mark.parametrize(
    ("inside", "check", "why"),
    [
        pytest.param("<failure/><error/>", "fail", None, id="failure and error"),
        pytest.param("<skipped/><failure/>", "fail", None, id="skip and failure"),
        pytest.param("<failure/><skipped/>", "fail", None, id="failure and skip"),
        pytest.param('<skipped/><error message="failed on setup with x"/>', "not_run", "error_setup", id="skip, error"),
        pytest.param('<skipped message="x"/><unknown/>', "not_run", "no_verdict", id="skip, unknown"),
        pytest.param('<failure type="timedout"/><failure/>', "fail", None, id="timeout and failure"),
        pytest.param('<skipped type="todo"/><failure/><unknown/>', "not_run", "no_verdict", id="todo, unknown"),
        pytest.param('<skipped type="todo"/><failure/>', "not_run", "todo", id="todo, failure"),
        pytest.param("<system-out>FAILED</system-out><system-err/><properties/>", "pass", None, id="output alone"),
        pytest.param("<properties><property name='a'/></properties>", "pass", None, id="properties"),
        pytest.param("<properties><failure/></properties>", "not_run", "no_verdict", id="failure in properties"),
        pytest.param(
            "<properties><property><property/></property></properties>",
            "not_run",
            "no_verdict",
            id="too deep a property",
        ),
        pytest.param('<error type="T" message="Runtime error"/>', "fail", None, id="another writer's Runtime error"),
        pytest.param("<flakyFailure><odd/></flakyFailure>", "fail", "flaky", id="unknown word inside a failed attempt"),
        pytest.param("<![CDATA[ \n ]]>", "pass", None, id="blanks"),
        pytest.param("<!-- failure -->", "pass", None, id="a comment"),
        pytest.param("&#70;", "not_run", "no_verdict", id="text"),
    ],
)
def test_the_worst_in_a_case_speaks_for_it(inside: str, check: str, why: str | None, one: One) -> None:
    record = one(f'<testcase classname="c" name="t">{inside}</testcase>')
    assert (record.check, record.why) == (check, why)


@pytest.mark.parametrize("name", sorted(PLAIN_ATTRIBUTES - {"name", "classname", "class", "file", "filepath"}))
def test_a_plain_attribute_is_no_objection(name: str, one: One) -> None:
    assert one(f'<testcase name="t" {name}="x"/>').check == "pass"


@pytest.mark.parametrize(
    "attribute",
    ['Name2="t"', 'xmlns="urn:x"', 'xml:lang="en"', 'Status="run"', 'status=""', 'status="Run"', 'result="Completed"'],
)
def test_any_other_attribute_or_word_gives_no_verdict(attribute: str, one: One) -> None:
    record = one(f'<testcase name="t" {attribute}/>')
    assert (record.check, record.why) == ("not_run", "no_verdict")
    assert attribute.partition("=")[0] in record.message


def test_an_attribute_that_repeats_a_child_says_nothing_beside_it(one: One) -> None:
    assert ECHOES == {"failure": "failure"}
    assert one('<testcase name="t" failure="no"><failure message="no"/></testcase>').why is None
    assert one('<testcase name="t" failure="no"><skipped/></testcase>').why == "no_verdict"


@pytest.mark.parametrize(
    ("skipped", "reason"),
    [
        pytest.param('<skipped message="no net"/>', "no net", id="message"),
        pytest.param('<skipped message="  no net "/>', "  no net ", id="blanks kept"),
        pytest.param('<skipped message="no net">at a.py:3</skipped>', "no net", id="message before text"),
        pytest.param("<skipped> no net\n</skipped>", "no net", id="text"),
        pytest.param('<skipped message="Skipped">no net</skipped>', "no net", id="text behind a placeholder"),
        pytest.param('<skipped message="Skipped"/>', "Skipped", id="a placeholder alone"),
        pytest.param("<skipped/>", "", id="nothing"),
        pytest.param("<skipped><![CDATA[a < b]]></skipped>", "a < b", id="CDATA"),
        pytest.param('<skipped message="a&#10;b"/>', "a\nb", id="lines"),
        pytest.param(
            "<skipped message='collection skipped'>('/x/test_a.py', 3, 'Skipped: no net')</skipped>",
            "no net",
            id="a skipped file, without its place",
        ),
    ],
)
def test_the_reason_of_a_skip_is_kept_exactly(skipped: str, reason: str, one: One) -> None:
    """U7: an abstention compares it."""
    record = one(f'<testcase name="t">{skipped}</testcase>')
    assert (record.why, record.message) == ("skip", reason)


def test_two_long_reasons_stay_two(one: One) -> None:
    """U7: a reason that was cut must not stand for another."""
    a, b = (one(f'<testcase name="t"><skipped message="{"x" * 5000}{end}"/></testcase>') for end in "ab")
    assert a.message != b.message
    assert len(a.message) < 2200


def test_a_failure_keeps_its_message_and_its_text(one: One) -> None:
    record = one('<testcase name="t"><failure message="9 != 10">Traceback\n  line</failure></testcase>')
    assert (record.message, record.counterexample) == ("9 != 10", "Traceback\n  line")
    assert one('<testcase name="t"><failure>\n  9 != 10\n more</failure></testcase>').message == "9 != 10"


@pytest.mark.parametrize(
    ("case", "node"),
    [
        pytest.param('<testcase classname="c" name="t"/>', "s::c::t", id="suite, class, name"),
        pytest.param('<testcase name="t"/>', "s::t", id="no class name"),
        pytest.param('<testcase classname="s" name="t"/>', "s::t", id="class as suite"),
        pytest.param('<testcase classname="t" name="t"/>', "s::t", id="class as name"),
        pytest.param('<testcase file="a.py" classname="c" name="t"/>', "a.py::s::c::t", id="file"),
        pytest.param('<testcase filepath="a.py" name="t"/>', "a.py::s::t", id="file by another name"),
        pytest.param('<testcase file="/app/a.py" name="t"/>', "a.py::s::t", id="file under the root"),
        pytest.param('<testcase file="/else/a.py" name="t"/>', "/else/a.py::s::t", id="file elsewhere"),
        pytest.param('<testcase class="C" name="t"/>', "s::C::t", id="class by another name"),
        pytest.param('<testcase name="/app/b.js" time="1" classname="c"/>', "s::c::b.js", id="a path as its name"),
        pytest.param("<testcase/>", "s::(no name)", id="no name"),
        pytest.param('<testcase classname="c"/>', "s::c::(no name)", id="no name in a class"),
        pytest.param('<testcase name=" t"/>', "s:: t", id="blanks kept"),
    ],
)
def test_a_node_id_is_made_of_file_suites_class_and_name(case: str, node: str, junit) -> None:
    (record,) = junit(f'<testsuite name="s">{case}</testsuite>', root="/app/").records
    assert record.node == node


def test_nested_suites_stand_in_the_node_id_once_each_and_the_root_of_all_does_not(junit) -> None:
    text = (
        '<testsuites name="all"><testsuite name="a"><testsuite name="b"><testsuite name="a">'
        '<testcase classname="b" name="t"/></testsuite></testsuite></testsuite></testsuites>'
    )
    assert [record.node for record in junit(text).records] == ["a::b::t"]


@pytest.mark.parametrize("other", ["", " ", 'file="x.py" '])
def test_a_class_reads_its_cases_the_same_by_the_short_way_and_the_long_one(other: str, junit) -> None:
    names = ["first", "c", "third", "/app/x", " ", "", "fifth"]
    cases = [f'<testcase classname="c" {other}name="{name}" time="1"/>' for name in names]
    alone = [junit(f'<testsuite name="s">{case}</testsuite>', root="/app/").records[0] for case in cases]
    together = junit(f'<testsuite name="s">{"".join(cases)}</testsuite>', root="/app/").records
    assert list(together) == alone
    assert [record.check for record in alone] == ["pass"] * 4 + ["not_run"] * 2 + ["pass"]


@pytest.mark.parametrize(
    ("case", "failing", "flaky"),
    [
        pytest.param('<testcase name="t"><failure/></testcase>', 1, 0, id="failure"),
        pytest.param('<testcase name="t"><error message="failed on setup with x"/></testcase>', 1, 0, id="set-up"),
        pytest.param('<testcase name="t" status="failed"/>', 1, 0, id="a word"),
        pytest.param('<testcase name="t"><skipped type="todo"/><failure/></testcase>', 0, 0, id="todo"),
        pytest.param('<testcase name="t"><skipped/></testcase>', 0, 0, id="skip"),
        pytest.param('<testcase name="t"><flakyFailure/></testcase>', 0, 1, id="flaky"),
        pytest.param('<testcase name="t"><failure/><flakyFailure/></testcase>', 1, 0, id="flaky and failed"),
        pytest.param('<testcase name="t"/>', 0, 0, id="pass"),
    ],
)
def test_what_the_runner_calls_failed_is_counted_for_its_exit_code(case: str, failing: int, flaky: int, junit) -> None:
    report = junit(f'<testsuite name="s">{case}</testsuite>')
    assert (report.failing, report.flaky) == (failing, flaky)
