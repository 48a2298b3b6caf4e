"""What a suite counts is held against what it lists; a contradiction keeps the run from finishing (contract E9)."""

from __future__ import annotations

import re

import pytest

from admit.collect.report import ending

P, F, E, S = (
    '<testcase name="p"/>',
    '<testcase name="f"><failure/></testcase>',
    '<testcase name="e"><error/></testcase>',
    '<testcase name="s"><skipped/></testcase>',
)


def suite(counts: str, *cases: str, name: str = "x") -> str:
    return f'<testsuite name="{name}" {counts}>{"".join(cases)}</testsuite>'


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(suite("", P, F, E, S), id="no counts"),
        pytest.param(suite('tests="" failures=" "', P), id="empty counts"),
        pytest.param(suite('tests="4" failures="1" errors="1" skipped="1"', P, F, E, S), id="all as listed"),
        pytest.param(suite('tests="4" failures="2" skipped="1"', P, F, E, S), id="errors counted as failures"),
        pytest.param(suite('tests="2" failures="1" errors="1"', F, E), id="none passes"),
        pytest.param(suite('tests="2"', P, F), id="failures not counted"),
        pytest.param(
            suite('tests="3" failures="1"', P, '<testcase name="r"><failure/><rerunFailure/></testcase>'),
            id="Surefire counts reruns",
        ),
        pytest.param(
            suite('tests="3" errors="1" failures="1"', P, '<testcase name="r"><failure/><error/></testcase>'),
            id="pytest counts results",
        ),
        pytest.param(
            '<testsuites tests="2" failures="1"><testsuite tests="1">' + P + "</testsuite>" + F + "</testsuites>",
            id="a case beside a suite",
        ),
        pytest.param(
            '<testsuite tests="2" failures="1"><testsuite tests="2" failures="1">' + P + F + "</testsuite>"
            '<testsuite tests="1">' + P + "</testsuite></testsuite>",
            id="node:test counts the suites inside",
        ),
        pytest.param(suite('tests="9" failures="2" hostname="tbd"', P, F), id="Catch2 counts assertions"),
        pytest.param(suite('tests="2" disabled="1"', P, '<testcase name="d" status="notrun"/>'), id="disabled"),
        pytest.param('<testsuites tests="0"/>', id="nothing"),
        pytest.param(suite('tests="1"', P), id="one"),
        pytest.param(
            suite('tests="2" failures="1" errors="1"', P, '<testcase name="r"><failure/><error/></testcase>'),
            id="tests counted by case, failures by element",
        ),
        pytest.param(
            '<testsuite name="x"><testsuite>' + F + '</testsuite><failure type="subtestsFailed"/></testsuite>',
            id="a summary of what is listed",
        ),
    ],
)
def test_counts_that_fit_are_no_problem(text: str, junit) -> None:
    assert junit(text).problems == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param(suite('tests="3"', P, P), "counts 3 tests and lists 2", id="a case is missing"),
        pytest.param(suite('tests="1"'), "counts 1 tests and lists 0", id="all cases are missing"),
        pytest.param(
            '<testsuites tests="5">' + suite('tests="1"', P) + "</testsuites>",
            "counts 5 tests and lists 1",
            id="in all",
        ),
        pytest.param(
            suite('errors="11"', P, P), "counts 11 failures and errors and lists 0", id="errors without a case"
        ),
        pytest.param(
            suite('failures="1"', P, S), "counts 1 failures and errors and lists 0", id="a failure without a case"
        ),
        pytest.param(
            suite('failures="2"', F, P), "counts 2 failures and errors and lists 1", id="one failure is missing"
        ),
        pytest.param(suite('tests="2" skipped="1"', P, P), "counts 1 passes and lists 2", id="a skip is not marked"),
        pytest.param(suite('tests="1"', P, P), "counts 1 passes and lists 2", id="a retry or a todo is not marked"),
        pytest.param(
            suite('tests="2" disabled="1"', P, P), "counts 1 passes and lists 2", id="a disabled test is not marked"
        ),
        pytest.param(
            suite('tests="9" failures="9" hostname="tbd"', P), "counts 0 passes and lists 1", id="Catch2 as well"
        ),
        pytest.param(suite('tests="many"', P), "tests='many', which is no count", id="no number"),
        pytest.param(suite('failures="-1"', P), "failures='-1', which is no count", id="less than nothing"),
        pytest.param(suite('tests="٣"', P), "which is no count|counts 3", id="other digits"),
        pytest.param(suite('tests="1' + "0" * 5000 + '"', P), "which is no count", id="a number too long to be one"),
        pytest.param(suite('xmlns="urn:x"', P), "unknown namespace 'urn:x'", id="namespace"),
        pytest.param(suite("", P, "<error message='gone'/>"), "suite 'x' itself failed: 'gone'", id="suite error"),
        pytest.param(suite("", P, "<failure>gone</failure>"), "suite 'x' itself failed: 'gone'", id="suite failure"),
        pytest.param(suite("", P, "<failure type='subtestsFailed'/>"), "itself failed", id="a summary of nothing"),
        pytest.param(suite("", P, "<skipped/>"), "unknown element <skipped>", id="suite skip"),
        pytest.param(suite("", P, "<group>" + P + "</group>"), "<testcase> inside <group>", id="cases out of reach"),
        pytest.param(suite("", P, "<system-out>" + F + "</system-out>"), "inside <system-out>", id="cases in output"),
    ],
)
def test_counts_that_do_not_fit_are_named_and_the_run_is_not_finished(text: str, words: str, junit) -> None:
    report = junit(text)
    assert any(re.search(words, problem) for problem in report.problems), report.problems
    assert ending([report], None).ended == "exit_disagrees"


def test_a_contradiction_touches_no_record(junit) -> None:
    """R3 of the page on formats, E9 here: a red run blames no node, a green one upgrades none."""
    assert [r.check for r in junit(suite('errors="1"', P, F, S)).records] == ["pass", "fail", "not_run"]


def test_many_contradictions_are_counted_and_not_all_named(junit) -> None:
    report = junit("<testsuites>" + suite('errors="1"', P) * 50 + "</testsuites>")
    assert len(report.problems) == 21
    assert report.problems[-1] == "30 more contradictions"
