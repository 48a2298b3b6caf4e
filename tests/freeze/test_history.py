"""Flake history: only a node that passed and failed on one commit flaked (contract F4)."""

from __future__ import annotations

from itertools import permutations

import pytest

from admit.core.records import Closing, Document, NodeRecord, Opening, code_of
from admit.core.signals import FREEZE_GATE, CheckState, LockState
from admit.freeze.history import flake_seen, history_of, orphans
from admit.freeze.instant import Refused

NODE = "tests/test_a.py::test_x"
COMMIT = "c" * 40
OTHER = "d" * 40


def record(check: CheckState, node: str = NODE, **more: object) -> NodeRecord:
    return NodeRecord(node, check, "match", "stable")._replace(**more)  # type: ignore[arg-type]


def document(*records: NodeRecord, digest: str = "sha256:1", head: str | None = COMMIT, **more: object) -> Document:
    opening = Opening("property_check", "pr-7", head, None, "pytest", "9", "run", digest)
    opening = opening._replace(**{key: value for key, value in more.items() if key != "closing"})  # type: ignore[arg-type]
    closing = (
        None if more.get("closing", True) is None else Closing(len(records), "finished", 0, None, "launcher", digest)
    )
    codes = {one.node: code_of(one) for one in records}
    details = {one.node: one for one in records if one.check != "pass"}
    return Document(opening, codes, details, closing, digest, f"{digest[-1]}.jsonl")


def seen(*documents: Document, node: str = NODE) -> str | Refused:
    return flake_seen(history_of(node, documents))


def test_a_node_that_passed_and_failed_on_one_commit_flaked() -> None:
    found = seen(document(record("pass"), digest="sha256:1"), document(record("fail"), digest="sha256:2"))
    assert found == f"passed and failed on commit {COMMIT} (property_check, 2 attempts): sha256:1, sha256:2"


def test_one_document_whose_reruns_disagree_is_enough() -> None:
    found = seen(document(record("fail", flaky=True, attempts=3)))
    assert found == f"passed and failed on commit {COMMIT} (property_check, 3 attempts): sha256:1"


def test_only_some_of_many_documents_are_named() -> None:
    many = [document(record("pass" if i else "fail"), digest=f"sha256:{i}") for i in range(6)]
    found = seen(*many)
    assert isinstance(found, str)
    assert found.endswith("sha256:0, sha256:1, sha256:2, sha256:3 and 2 more")


def test_a_flake_on_several_commits_is_recorded_from_the_one_with_most_attempts() -> None:
    found = seen(
        document(record("fail", flaky=True), digest="sha256:1", head=OTHER),
        document(record("fail", flaky=True, attempts=5), digest="sha256:2"),
    )
    assert (
        found == f"passed and failed on commit {COMMIT} (property_check, 5 attempts): sha256:2; and on 1 other commit"
    )


def test_the_order_of_documents_changes_nothing() -> None:
    three = [
        document(record("pass"), digest="sha256:1"),
        document(record("fail"), digest="sha256:2"),
        document(record("fail"), digest="sha256:3", head=OTHER),
    ]
    assert len({history_of(NODE, order) for order in permutations(three)}) == 1


@pytest.mark.parametrize(
    ("documents", "expected"),
    [
        pytest.param(
            [document(record("fail"), digest="sha256:1"), document(record("fail"), digest="sha256:2")],
            Refused(
                f"failed on commit {COMMIT} (property_check, 2 attempts) and never passed: consistent, not flaky",
                "find the defect and fix it",
            ),
            id="failed-every-time",
        ),
        pytest.param(
            [document(record("fail"), digest="sha256:1"), document(record("fail"), digest="sha256:1")],
            Refused(
                f"failed on commit {COMMIT} (property_check, 1 attempt) and never passed: consistent, not flaky",
                "find the defect and fix it",
            ),
            id="one-document-handed-in-twice",
        ),
        pytest.param(
            [document(record("fail"), digest="sha256:1"), document(record("pass"), digest="sha256:2", head=OTHER)],
            Refused(
                f"failed on commit {COMMIT} (property_check, 1 attempt) and passed on commit {OTHER} "
                "(property_check, 1 attempt): a change between commits, not a flake",
                "find the change and fix it",
            ),
            id="failed-here-passed-there",
        ),
        pytest.param(
            [document(record("pass"))],
            Refused(
                f"passed on commit {COMMIT} (property_check, 1 attempt): no failure was seen",
                "a freeze is for a node that flakes; hand in the runs that failed",
            ),
            id="passed-every-time",
        ),
        pytest.param(
            [document(record("not_run", why="timeout"))],
            Refused(
                f"gave no verdict on commit {COMMIT} (property_check, 1 attempt): no failure was seen",
                "a freeze is for a node that flakes; hand in the runs that failed",
            ),
            id="no-verdict",
        ),
        pytest.param([], Refused("no document names the node", "write it as the evidence does"), id="no-documents"),
        pytest.param(
            [document(record("fail", node="tests/test_a.py::test_y"))],
            Refused("no document names the node", "write it as the evidence does"),
            id="another-node",
        ),
        pytest.param(
            [
                document(record("pass"), digest="sha256:1", closing=None),
                document(record("fail"), digest="sha256:2", dirty=True),
            ],
            Refused(
                "no usable document names the node "
                "(left out: 1.jsonl: no closing record, the run died; 2.jsonl: evidence for no commit)",
                "hand in runs on a commit, to their end",
            ),
            id="nothing-usable",
        ),
        pytest.param(
            [
                document(record("fail", node=f"{NODE}[1]"), digest="sha256:1"),
                document(record("pass", node=f"{NODE}[1]"), record("fail", node=f"{NODE}[2]"), digest="sha256:2"),
            ],
            Refused("no document names the node, but cases of it flaked", f"freeze the case: {NODE}[1]"),
            id="a-case-of-it-flaked",
        ),
    ],
)
def test_what_shows_no_flake_is_refused(documents: list[Document], expected: Refused) -> None:
    assert seen(*documents) == expected


@pytest.mark.parametrize(
    ("lost", "why"),
    [
        pytest.param(
            document(record("pass"), digest="sha256:2", closing=None), "no closing record, the run died", id="died"
        ),
        pytest.param(document(record("pass"), digest="sha256:2", head=None), "evidence for no commit", id="no-commit"),
        pytest.param(document(record("pass"), digest="sha256:2", dirty=True), "evidence for no commit", id="dirty"),
        pytest.param(
            document(record("pass", fixture_lock="drifted"), digest="sha256:2"), "fixtures drifted", id="drifted"
        ),
        pytest.param(
            document(record("pass", fixture_lock="missing"), digest="sha256:2"), "fixtures missing", id="missing"
        ),
    ],
)
def test_a_run_that_cannot_be_compared_makes_no_flake(lost: Document, why: str) -> None:
    history = history_of(NODE, [document(record("fail")), lost])
    assert history.left_out == (f"2.jsonl: {why}",)
    assert isinstance(flake_seen(history), Refused)


def test_a_register_entry_that_passed_is_no_pass_of_the_test() -> None:
    entry = [document(record(check), digest=f"sha256:{check}", gate=FREEZE_GATE) for check in ("pass", "fail")]
    assert seen(*entry) == Refused("no document names the node", "write it as the evidence does")


def test_two_gates_that_disagree_about_a_node_are_no_flake() -> None:
    found = seen(document(record("fail")), document(record("pass"), digest="sha256:2", gate="fixture_check"))
    assert isinstance(found, Refused)


def test_a_counterexample_that_a_failing_run_reported_is_kept_for_a_warning() -> None:
    flaky = document(record("fail", flaky=True, counterexample="n=0"))
    assert history_of(NODE, [flaky]).counterexample == "n=0"
    assert not history_of(NODE, [document(record("fail", flaky=True))]).counterexample


def test_a_frozen_node_that_no_run_has_is_an_orphan() -> None:
    ran = document(record("pass", node="a.py::test_x[1]"), record("fail", node="new/b.py::test_y"))
    register = document(record("pass", node="old/b.py::test_y"), digest="sha256:2", gate=FREEZE_GATE)
    frozen = ["a.py::test_x", "a.py::test_x[1]", "a.py::test_x[2]", "old/b.py::test_y", "new"]
    assert orphans(frozen, [ran, register]) == ("a.py::test_x[2]", "old/b.py::test_y")


def test_entries_that_reach_the_same_node_are_no_orphans() -> None:
    ran = document(record("pass", node="t/a.py::test_x[1]"))
    assert orphans(["t", "t/a.py", "t/a.py::test_x", "t/a.py::test_x[1]"], [ran]) == ()


@pytest.mark.parametrize("lock", ["drifted", "missing"])
def test_fixtures_that_moved_for_another_node_leave_a_document_usable(lock: LockState) -> None:
    other = record("pass", node="b.py::test_y", fixture_lock=lock)
    assert isinstance(seen(document(record("fail", flaky=True), other)), str)
