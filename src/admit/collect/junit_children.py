"""Rows of the mapping table for what stands inside a case: failures, errors, skips, in the words of each writer."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from admit.collect.junit_rows import ChildRow

if TYPE_CHECKING:
    from admit.core.signals import Why

_ANY_BAD: Final = ("failure", "error")
_JUNIT4: Final = "org.junit.runners.model.TestTimedOutException"
_Part: TypeAlias = Literal["type", "message", "text"]
_TIMED_OUT: Final[tuple[tuple[str, _Part, str, str], ...]] = (
    ("pytest-timeout", "message", r"Failed: Timeout \(?>[\d.]+s", "Failed: Timeout (&gt;0.2s) from pytest-timeout."),
    ("JUnit 4", "type", r"org\.junit\.runners\.model\.TestTimedOutException", _JUNIT4),
    ("JUnit 5", "message", r"[^()\s]+\([^()]*\) timed out after \d+ ", "slow() timed out after 1 second"),
    ("node:test", "type", "testTimeoutFailure", "testTimeoutFailure"),
    ("cargo-nextest", "type", "(?:test|benchmark) timeout", "test timeout"),
    ("Ginkgo", "type", "timedout", "timedout"),
    ("Mocha", "message", r"Timeout of \d+ms exceeded\.", "Timeout of 20ms exceeded."),
    ("Vitest", "message", r"Test timed out in \d+ms\.", "Test timed out in 20ms."),
    ("Playwright", "text", "Test timeout of ", "Test timeout of 30000ms exceeded."),
    (
        "Jest",
        "text",
        'thrown: "Exceeded timeout of ',
        "Error: thrown: &quot;Exceeded timeout of 20 ms for a test.&quot;",
    ),
    ("go test", "text", "panic: test timed out after ", "=== RUN   TestSlow\npanic: test timed out after 1s"),
)


def _timeout_row(writer: str, part: _Part, pattern: str, example: str) -> ChildRow:
    element = f"<failure>{example}</failure>" if part == "text" else f'<failure {part}="{example}"/>'
    shown = example.partition("\n")[2] or example
    row = ChildRow(
        f"timeout-{re.sub('[^a-z0-9]+', '-', writer.lower())}",
        writer,
        f"`failure` or `error` with {'a line' if part == 'text' else f'a {part}'} like `{_plain(shown)}`",
        _ANY_BAD,
        "not_run",
        "timeout",
        f'<testcase classname="c" name="t">{element}</testcase>',
    )
    match part:
        case "text":
            return row._replace(text=pattern)
        case "type":
            return row._replace(kind=re.compile(pattern))
        case "message":
            return row._replace(message=re.compile(pattern))


def _plain(text: str) -> str:
    return text.replace("&gt;", ">").replace("&quot;", '"')


def _case(children: str, attributes: str = 'classname="c" name="t"') -> str:
    return f"<testcase {attributes}>{children}</testcase>"


_HYPOTHESIS: Final[tuple[tuple[str, str, Why], ...]] = (
    ("hypothesis-flaky", "Flaky(?:Failure|Replay|StrategyDefinition|BackendFailure)?", "flaky"),
    ("hypothesis-deadline", "DeadlineExceeded", "deadline"),
    ("hypothesis-health", "FailedHealthCheck", "health_check"),
    ("hypothesis-unsatisfiable", "Unsatisfiable", "unsatisfiable"),
    ("hypothesis-invalid", "Invalid(?:Argument|Definition|State)", "invalid_test"),
)


def _hypothesis_row(key: str, name: str, why: Why) -> ChildRow:
    shown = name.partition("(")[0] + ("Argument" if name.startswith("Invalid") else "")
    return ChildRow(
        key,
        "pytest, Hypothesis",
        f"`failure` whose message begins with `hypothesis.errors.{shown}`: the property gave no verdict",
        ("failure",),
        "not_run",
        why,
        _case(f'<failure message="hypothesis.errors.{shown}: no verdict"/>'),
        message=re.compile(rf"hypothesis\.errors\.{name}\b"),
    )


CHILD_ROWS: Final[tuple[ChildRow, ...]] = (
    ChildRow(
        "xdist-crash",
        "pytest-xdist",
        "`failure` or `error` because a worker crashed",
        _ANY_BAD,
        "not_run",
        "crashed",
        _case("<error message=\"failed on setup with &quot;worker 'gw1' crashed while running 'a::b'&quot;\"/>"),
        message=re.compile("(?:failed on setup with \")?worker '[^']*' crashed while running "),
    ),
    ChildRow(
        "pytest-setup",
        "pytest",
        "`error` whose message begins with `failed on setup with`: the test's body never ran",
        ("error",),
        "not_run",
        "error_setup",
        _case('<error message="failed on setup with &quot;RuntimeError: no port&quot;"/>'),
        message=re.compile("failed on setup with "),
    ),
    ChildRow(
        "pytest-teardown",
        "pytest",
        "`error` whose message begins with `failed on teardown with`: what the test promises was not kept",
        ("error",),
        "fail",
        "error_teardown",
        _case('<error message="failed on teardown with &quot;RuntimeError: leak&quot;"/>'),
        message=re.compile("failed on teardown with "),
    ),
    ChildRow(
        "pytest-collect",
        "pytest",
        "`error` with the message `collection failure`: the tests of a whole file never ran",
        ("error",),
        "not_run",
        "error_collect",
        _case('<error message="collection failure">ImportError: no module</error>', 'classname="" name="tests.test_a"'),
        message=re.compile("collection failure$"),
        is_whole=True,
    ),
    ChildRow(
        "pytest-internal",
        "pytest",
        "`error` with the message `internal error`: pytest itself failed",
        ("error",),
        "not_run",
        "error",
        _case('<error message="internal error">KeyError</error>', 'classname="pytest" name="internal"'),
        message=re.compile("internal error$"),
        is_whole=True,
    ),
    ChildRow(
        "pytest-xpass",
        "pytest, unittest",
        "`failure` or `error` beginning with `[XPASS(strict)]` or `Unexpected success`: a failure was expected",
        _ANY_BAD,
        "fail",
        "xpass",
        _case('<failure message="[XPASS(strict)] issue 7">[XPASS(strict)] issue 7</failure>'),
        message=re.compile(r"\[XPASS\(strict\)\]|(?:Failed: )?Unexpected success"),
    ),
    *(_hypothesis_row(*row) for row in _HYPOTHESIS),
    ChildRow(
        "hypothesis-flaky-group",
        "pytest, Hypothesis",
        "`failure` whose message ends in `[single exception in FlakyFailure]`: the property gave no verdict",
        ("failure",),
        "not_run",
        "flaky",
        _case("<failure message=\"AssertionError('no') [single exception in FlakyFailure]\"/>"),
        message=re.compile(r"(?s:.*)\[single exception in Flaky\w*\]$"),
    ),
    *(_timeout_row(*row) for row in _TIMED_OUT),
    ChildRow(
        "node-before",
        "node:test",
        "`failure` of type `hookFailed` from a `before` or `beforeEach` hook",
        ("failure",),
        "not_run",
        "error_setup",
        _case('<failure type="hookFailed" message="failed running beforeEach hook"/>'),
        kind=re.compile("hookFailed"),
        message=re.compile("failed running before"),
    ),
    ChildRow(
        "node-after",
        "node:test",
        "`failure` of type `hookFailed` from an `after` or `afterEach` hook",
        ("failure",),
        "fail",
        "error_teardown",
        _case('<failure type="hookFailed" message="failed running afterEach hook"/>'),
        kind=re.compile("hookFailed"),
        message=re.compile("failed running after"),
    ),
    ChildRow(
        "node-cancelled",
        "node:test",
        "`failure` of type `cancelledByParent` or `testAborted`: the test was given up before it answered",
        ("failure",),
        "not_run",
        "no_verdict",
        _case('<failure type="cancelledByParent" message="test did not finish before its parent and was cancelled"/>'),
        kind=re.compile("cancelledByParent|testAborted"),
    ),
    ChildRow(
        "nextest-exec",
        "cargo-nextest",
        "`error` of type `execution failure`: the test's program could not be started",
        ("error",),
        "not_run",
        "error_setup",
        _case('<error type="execution failure"/>'),
        kind=re.compile("execution failure"),
    ),
    ChildRow(
        "go-no-result",
        "go-junit-report",
        "`error` with the message `No test result found`: the test began and never ended",
        ("error",),
        "not_run",
        "no_verdict",
        _case('<error message="No test result found"/>'),
        message=re.compile("No test result found$"),
        is_untyped=True,
    ),
    ChildRow(
        "go-build",
        "go-junit-report",
        "`error` with the message `Build error`: the package did not compile",
        ("error",),
        "not_run",
        "error_collect",
        _case('<error message="Build error">undefined: x</error>', 'classname="example.com/p" name="[build failed]"'),
        message=re.compile("Build error$"),
        is_untyped=True,
        is_whole=True,
    ),
    ChildRow(
        "go-run",
        "go-junit-report",
        "`error` with the message `Runtime error`: the package failed outside of its tests",
        ("error",),
        "not_run",
        "error",
        _case('<error message="Runtime error">panic: no</error>', 'classname="example.com/p" name="Failure"'),
        message=re.compile("Runtime error$"),
        is_untyped=True,
        is_whole=True,
    ),
    ChildRow(
        "phpunit-risky",
        "PHPUnit",
        "`error` or `failure` of type `…RiskyTestError` or `…RiskyTest`: the test asserted nothing",
        _ANY_BAD,
        "not_run",
        "vacuous",
        _case(r'<error type="PHPUnit\Framework\RiskyTestError">This test did not perform any assertions</error>'),
        kind=re.compile(r"PHPUnit\\Framework\\(?:RiskyTestError|RiskyTest)"),
    ),
    ChildRow(
        "ginkgo-lost",
        "Ginkgo",
        "`error` of type `interrupted` or `failure` of type `aborted`: somebody stopped the run",
        _ANY_BAD,
        "not_run",
        "no_verdict",
        _case(
            '<error type="interrupted" message="interrupted by user"/>', 'classname="s" name="t" status="interrupted"'
        ),
        kind=re.compile("interrupted|aborted"),
    ),
    ChildRow(
        "failure",
        "all",
        "any other `failure`, empty ones included",
        ("failure",),
        "fail",
        None,
        _case("<failure/>"),
    ),
    ChildRow(
        "error",
        "all",
        "any other `error`: the test's body threw",
        ("error",),
        "fail",
        None,
        _case('<error type="java.lang.IllegalStateException" message="no"/>'),
    ),
    ChildRow(
        "pytest-xfail",
        "pytest",
        "`skipped` of type `pytest.xfail`",
        ("skipped",),
        "not_run",
        "xfail",
        _case('<skipped type="pytest.xfail" message="issue 7"/>'),
        kind=re.compile(r"pytest\.xfail"),
    ),
    ChildRow(
        "unittest-xfail",
        "unittest-xml-reporting",
        "`skipped` of type `XFAIL`",
        ("skipped",),
        "not_run",
        "xfail",
        _case('<skipped type="XFAIL" message="expected failure"/>'),
        kind=re.compile("XFAIL"),
    ),
    ChildRow(
        "node-todo",
        "node:test",
        "`skipped` of type `todo`, with a `failure` beside it or not",
        ("skipped",),
        "not_run",
        "todo",
        _case('<skipped type="todo" message="later"/><failure type="testCodeFailure" message="no"/>'),
        kind=re.compile("todo"),
        is_expected=True,
    ),
    ChildRow(
        "catch2-mayfail",
        "Catch2",
        "`skipped` with the message `TEST_CASE tagged with !mayfail`, with a `failure` beside it or not",
        ("skipped",),
        "not_run",
        "xfail",
        _case('<skipped message="TEST_CASE tagged with !mayfail"/><failure message="1==2" type="CHECK"/>'),
        message=re.compile("TEST_CASE tagged with !mayfail$"),
        is_expected=True,
    ),
    ChildRow(
        "ctest-not-started",
        "CTest",
        "`skipped` because the program or a required file is not there, or a fixture failed",
        ("skipped",),
        "not_run",
        "error_setup",
        _case('<skipped message="Unable to find executable"/>', 'classname="t" name="t" status="notrun"'),
        message=re.compile("Unable to find (?:executable|required file)|Fixture dependency failed|Failed to start"),
    ),
    ChildRow(
        "skipped",
        "all",
        "any other `skipped`",
        ("skipped",),
        "not_run",
        "skip",
        _case('<skipped message="no database here"/>'),
    ),
)
"""Children of a case, first row that fits. `rerunFailure` and `flakyFailure` are read as a `failure` each, `rerunError`
and `flakyError` as an `error`: one attempt more, whatever the writer calls it (contract U5)."""
