"""What one side's records say of each execution, and what both sides' amount to (contract P1, P2)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from admit.core.records import NodeRecord
from admit.prove.answers import Asked, Changed, Meant, answers, text_read
from admit.prove.cells import UNREACHED, Run, Side
from admit.prove.nodes import named
from admit.prove.record import Commit, Measured, Proof, Reach
from admit.prove.report import text_of
from admit.prove.seen import (
    FOREIGN,
    REPLAY,
    SAID,
    VERSIONS,
    Opened,
    counterexamples,
    is_file,
    seen_of,
    shown,
    with_replays,
)

X, Y = "tests/test_a.py::test_x", "tests/test_a.py::test_y"


def record(node: str, check: str = "pass", **more: Any) -> NodeRecord:
    return NodeRecord(node, check, "match", "stable", **more)


def said(node: str, **what: Any) -> NodeRecord:
    return record(SAID + node, "not_run", why="no_verdict", message=json.dumps(what))


FAILED = record(X, "fail", message="KeyError: 'a'", counterexample="f(n=1)", reproduce="@r")


def test_each_execution_comes_with_what_was_said_of_it() -> None:
    seen = seen_of([FAILED, said(X, exception="KeyError", is_import=False), record(Y), said(Y), record(X), said(X)], "")
    assert seen.runs == {
        X: (Run("fail", None, "KeyError: 'a'", "KeyError", False, "f(n=1)", "@r"), Run("pass")),
        Y: (Run("pass"),),
    }


@pytest.mark.parametrize(
    ("records", "exception", "is_import"),
    [
        pytest.param([FAILED], "KeyError", False, id="nothing said"),
        pytest.param([FAILED, said(X, exception="pkg.Mine"), said(X)], "KeyError", False, id="said too often"),
        pytest.param([FAILED, said(X)._replace(message="{")], "KeyError", False, id="no JSON"),
        pytest.param([FAILED, said(X)._replace(message="[1]")], "KeyError", False, id="no object"),
        pytest.param([FAILED, said(X, exception="pkg.Mine", is_import=True)], "pkg.Mine", True, id="an import error"),
        pytest.param([FAILED._replace(message="ImportError: b")], "ImportError", True, id="by the message alone"),
        pytest.param([FAILED, said(X, exception="ImportError", is_import="no")], "ImportError", True, id="by the type"),
    ],
)
def test_an_import_error_is_known_by_what_is_said_or_by_its_name(records, exception, is_import) -> None:
    (run,) = seen_of(records).runs[X]
    assert (run.exception, run.is_import) == (exception, is_import)


def test_a_record_that_is_flaky_by_itself_is_no_failure() -> None:
    assert seen_of([FAILED._replace(flaky=True)]).runs[X][0].why == "flaky"


def test_modules_of_another_tree_leave_no_verdict_for_any_test() -> None:
    seen = seen_of([record(X), said(X), record(FOREIGN, "not_run", why="conflict", message="not from the tree: a (b)")])
    assert shown(seen, X, path="tests/test_a.py", repeat=1) == Side("cannot_run", "not from the tree: a (b)")
    assert list(seen.runs) == [X]


def test_a_problem_of_the_side_comes_first() -> None:
    assert shown(seen_of([record(X)], "it died"), X, path="tests/test_a.py", repeat=1).reason == "it died"


@pytest.mark.parametrize("file", ["tests/test_a.py", "test_a.py"])
@pytest.mark.parametrize("why", ["error_collect", "skip"])
def test_a_file_that_was_not_collected_says_why(file: str, why: str) -> None:
    seen = seen_of([record(file, "not_run", why=why, message="ImportError: b")] * 2)
    side = shown(seen, X, path="tests/test_a.py", repeat=1)
    assert side == Side("cannot_run", "it was not collected: ImportError: b")
    assert shown(seen, "b.py::t", path="tests/b.py", repeat=1).reason == "there is no such test"


def test_what_else_a_side_says_is_kept_apart_from_its_tests() -> None:
    versions = record(VERSIONS, "not_run", why="no_verdict", message='{"python": "3.13.0"}')
    replay = [record(REPLAY + X), said(REPLAY + X)]
    seen = seen_of([versions, FAILED, said(X, opened=[["a.py", "tests/test_a.py"], ["b.py"], [1, 2]]), *replay])
    assert seen.versions == {"python": "3.13.0"}
    assert list(seen.runs) == [X]
    assert seen.replays == {X: (Run("pass"),)}
    assert seen.opened[X] == {Opened("a.py", "tests/test_a.py")}


def test_only_a_failure_that_is_the_same_each_time_has_a_counterexample_to_replay() -> None:
    assert counterexamples(seen_of([FAILED, FAILED]), repeat=2) == {X: "@r"}
    assert counterexamples(seen_of([FAILED, record(X)]), repeat=2) == {}
    assert counterexamples(seen_of([FAILED]), repeat=2) == {}


def test_a_counterexample_that_was_to_be_replayed_and_was_not_leaves_no_verdict() -> None:
    seen = with_replays(seen_of([record(X), record(Y), record(REPLAY + Y)]), {X: "@r", Y: "@r"})
    assert "cannot be replayed: never ran" in shown(seen, X, path="tests/test_a.py", repeat=1).reason
    assert shown(seen, Y, path="tests/test_a.py", repeat=1) == Side("passes")


@pytest.mark.parametrize(
    ("path", "pytest_has", "same"),
    [
        ("a/test_x.py", "a/test_x.py", True),
        ("a/test_x.py", "test_x.py", True),
        ("a/test_x.py", "x.py", False),
        ("test_x.py", "a/test_x.py", False),
    ],
)
def test_a_path_from_pytests_root_names_the_file_below(path: str, pytest_has: str, same: bool) -> None:
    assert is_file(path, pytest_has) is same


PRODUCT = {
    "a.py": True,
    "b.py": True,
    "tests/test_a.py": False,
    "tests/test_b.py": False,
    "conftest.py": False,
    "checks/own.py": True,
}
FILES = frozenset({"tests/test_a.py", "tests/test_b.py", "checks/own.py"})


@pytest.mark.parametrize(
    ("path", "reader", "mine"),
    [
        pytest.param("a.py", "tests/test_a.py", True, id="by the test"),
        pytest.param("a.py", "conftest.py", True, id="by what tests share"),
        pytest.param("a.py", "tests/test_b.py", False, id="by another test"),
        pytest.param("a.py", "b.py", False, id="by the code itself"),
        pytest.param("tests/test_b.py", "tests/test_a.py", False, id="another test"),
        pytest.param("conftest.py", "tests/test_a.py", False, id="what is no product"),
        pytest.param("checks/own.py", "tests/test_a.py", False, id="a test outside of the tests"),
    ],
)
def test_reading_the_source_under_test_as_text_is_named(path: str, reader: str, mine: bool) -> None:
    found = text_read([Opened(path, reader)], "tests/test_a.py", is_product=PRODUCT, tests=FILES)
    assert found == (f"it reads {path} as text (in {reader})" if mine else "")


def test_a_test_outside_of_the_tests_that_reads_a_source_is_named_too() -> None:
    found = text_read([Opened("a.py", "checks/own.py")], "checks/own.py", is_product=PRODUCT, tests=FILES)
    assert found == "it reads a.py as text (in checks/own.py)"


ASKED = Asked("either", 1, frozenset({"tests/test_a.py"}))


def proven(name: str, patch: list[NodeRecord], parent: list[NodeRecord]) -> list[tuple[str, str]]:
    file = Meant(named(name), "b" * 40, "patch")
    found = answers(file, seen_of(patch), seen_of(parent), asked=ASKED, is_product={})
    return [(one.node, one.cell.answer) for one in found]


def test_a_name_is_answered_test_by_test() -> None:
    assert proven("tests/test_a.py", [record(X), record(Y)], [FAILED, record(Y)]) == [(X, "proven"), (Y, "tautology")]


def test_a_case_that_only_one_side_has_cannot_run_on_the_other() -> None:
    assert proven("tests/test_a.py", [record(X), record(Y)], [FAILED]) == [(X, "proven"), (Y, "cannot_run")]


def test_a_name_that_means_no_test_is_answered_by_itself() -> None:
    assert proven("tests/test_a.py::test_z", [record(X)], [record(X)]) == [("tests/test_a.py::test_z", "cannot_run")]


CHANGED = Changed({"a.py": 0b11000, "b.py": 0b10}, {"a.py": 0b100, "b.py": 0})


@pytest.mark.parametrize(
    ("changed", "patch", "parent", "reach"),
    [
        pytest.param(CHANGED, None, None, Reach(), id="not traced"),
        pytest.param(CHANGED, {}, None, Reach(), id="traced on one side"),
        pytest.param(None, {}, {}, Reach(), id="nobody can tell"),
        pytest.param(CHANGED, {}, {}, Reach(True), id="none"),
        pytest.param(CHANGED, {"a.py": "0x7", "c.py": "0xff"}, {"a.py": "0xb"}, Reach(True), id="others"),
        pytest.param(CHANGED, {"a.py": "0x18"}, {}, Reach(True, ("+a.py:3", "+a.py:4")), id="on the patch"),
        pytest.param(CHANGED, {}, {"a.py": "0x4"}, Reach(True, ("-a.py:2",)), id="on the parent"),
        pytest.param(CHANGED, {"a.py": 8, "b.py": "x"}, {"a.py": "-0x4"}, Reach(True), id="no lines"),
        pytest.param(CHANGED, [], {}, Reach(), id="no object"),
    ],
)
def test_a_test_that_passes_on_both_and_runs_no_changed_line_is_vacuous(changed, patch, parent, reach) -> None:
    file, asked = Meant(named(X), "b" * 40, "patch"), ASKED._replace(changed=changed)
    sides = [seen_of([record(X), said(X, ran=patch)]), seen_of([record(X), said(X, ran=parent)])]
    (one,) = answers(file, *sides, asked=asked, is_product={})
    assert (one.cell.answer, one.reach) == ("vacuous" if reach == Reach(True) else "tautology", reach)
    assert one.cell.reason == (UNREACHED if reach == Reach(True) else "")


def test_a_test_that_tells_the_two_apart_is_proven_whatever_lines_were_seen() -> None:
    file, asked = Meant(named(X), "b" * 40, "patch"), ASKED._replace(changed=CHANGED)
    sides = [seen_of([record(X), said(X, ran={})]), seen_of([FAILED, said(X, ran={})])]
    assert answers(file, *sides, asked=asked, is_product={})[0].cell.answer == "proven"


def test_of_several_executions_the_one_that_was_traced_speaks() -> None:
    seen = seen_of([record(X), said(X, ran=None), record(X), said(X, ran={"a.py": "0x8"})])
    assert seen.ran == {X: {"a.py": 8}}


def test_the_report_says_the_answer_the_failure_and_the_count() -> None:
    file = Meant(named("tests/test_a.py"), "b" * 40, "working-tree")
    found = answers(file, seen_of([record(X), record(Y)]), seen_of([FAILED, record(Y)]), asked=ASKED, is_product={})
    measured = Measured(None, None, 0, {}, {}, {})
    proof = Proof(Commit("1" * 40, "2" * 40), Commit("3" * 40, "4" * 40), "either", 1, measured, tuple(found))
    assert text_of(proof).splitlines() == [
        f"{X}: proven: it fails on the parent, passes on the patch (P2)",
        "  on the parent: KeyError: 'a'",
        "  counterexample: f(n=1)",
        "  the counterexample passes on the other side",
        "  tests/test_a.py is in no commit yet: this proof counts for no patch",
        f"{Y}: tautology: it passes on both sides: it tells them not apart",
        "  tests/test_a.py is in no commit yet: this proof counts for no patch",
        f"1 of 2 proven: patch {'1' * 12}, parent {'3' * 12}, 1 times each",
    ]
