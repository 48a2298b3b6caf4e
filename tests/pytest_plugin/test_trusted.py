"""What the trusted files say of a node stands in its record, whatever the node shows (contract A6, L4, F6)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from admit.core.context import LockedNodes
from admit.core.records import NodeRecord

if TYPE_CHECKING:
    from tests.pytest_plugin.conftest import Project, Session

    from admit.core.context import RunContext

GATE = "fixture_check"
EXPIRES = "2026-12-24T00:00:00Z"
FROZEN = "test_a.py::test_frozen[a::b]"


@pytest.fixture(scope="module")
def session(new_project: Callable[[], Project], context: Callable[..., RunContext]) -> Session:
    project = new_project()
    project.write(
        "test_a.py",
        """
        import pytest
        def test_plain(): pass
        @pytest.mark.parametrize("p", ["a::b"])
        def test_frozen(p): assert 0
        def test_pinned(): pass
        def test_pinned_twice(): pass
        """,
    )
    project.write("test_b.py", "import no_such_module\n")
    register = (
        NodeRecord(FROZEN, "pass", "match", "frozen", EXPIRES, message="race in the cache"),
        NodeRecord("test_a.py", "fail", "match", "frozen", EXPIRES, message="a file is too wide"),
    )
    locked = (
        LockedNodes(("test_a.py::test_pinned*",), "missing"),
        LockedNodes(("*_twice", "no match"), "drifted"),
    )
    told = context(locked=locked, frozen={FROZEN: EXPIRES, "test_b.py": EXPIRES}, register=register)
    return project.run("-q", "--continue-on-collection-errors", context=told)


def test_a_frozen_node_keeps_its_check_and_says_until_when_it_is_frozen(session: Session) -> None:
    record = session.node(GATE, FROZEN)
    assert (record["check"], record["flake_status"], record["freeze_expires"]) == ("fail", "frozen", EXPIRES)


@pytest.mark.parametrize(
    ("node", "lock"),
    [
        ("test_plain", "match"),
        ("test_pinned", "missing"),
        ("test_pinned_twice", "drifted"),
        ("test_frozen[a::b]", "match"),
    ],
)
def test_a_node_has_the_worst_lock_state_of_the_sets_that_it_uses(session: Session, node: str, lock: str) -> None:
    record = session.node(GATE, f"test_a.py::{node}")
    assert record["fixture_lock"] == lock


def test_a_node_that_was_not_run_is_frozen_all_the_same(session: Session) -> None:
    record = session.node(GATE, "test_b.py")
    assert (record["why"], record["flake_status"], record["freeze_expires"]) == ("error_collect", "frozen", EXPIRES)


def test_the_freeze_gate_has_one_record_a_register_entry(session: Session) -> None:
    assert session.verdict("flaky_freeze", FROZEN) == ("pass", None, "race in the cache")
    assert session.verdict("flaky_freeze", "test_a.py") == ("fail", None, "a file is too wide")
    assert session.names("flaky_freeze") == session.planned("flaky_freeze") == [FROZEN, "test_a.py"]


def test_a_drifted_lock_stands_in_every_record(project: Project, context: Callable[..., RunContext]) -> None:
    project.write("test_a.py", "def test_a(): pass\ndef test_b(): assert 0\n")
    session = project.run("-q", context=context(lock="drifted"))
    assert {node: session.node(GATE, node)["fixture_lock"] for node in session.names(GATE)} == {
        "test_a.py::test_a": "drifted",
        "test_a.py::test_b": "drifted",
    }
