"""L5, T1, T7: an approval is a reviewer's, over exact content; what the patch brings along approves nothing."""

from __future__ import annotations

import json
import runpy
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.errors import InputError
from admit.trust.approvals import ABSENT, APPROVAL, ApprovalFile, approval_statement, covering, entry_of
from admit.trust.dsse import envelope_bytes
from admit.trust.statements import statement_bytes

SIGNING = runpy.run_path(str(Path(__file__).with_name("signing.py")))
ANA, BEN, payload_of, resigned = map(SIGNING.get, ("ANA", "BEN", "payload_of", "resigned"))
NOW = datetime(2026, 12, 1, tzinfo=UTC)
OLD, NEW = "1" * 40, "2" * 40
PLAIN = "100644"


class Change(NamedTuple):
    """A change as git tells it."""

    path: str = "tests/conftest.py"
    old_mode: str = PLAIN
    new_mode: str = PLAIN
    old_blob: str | None = OLD
    new_blob: str | None = NEW


CHANGE = Change()


def approval(*entries: Any, by: Any = ANA, expires: datetime | None = None) -> bytes:
    statement = approval_statement(entries or [entry_of(CHANGE)], reason="seen", now=NOW, expires=expires)
    return envelope_bytes(statement_bytes(statement), by)


def approved(
    raw: bytes, *, is_tracked: bool = False, approvers: tuple[str, ...] = (ANA.key_id,), now: datetime = NOW
) -> Any:
    return covering([ApprovalFile("a.dsse.json", raw, is_tracked)], approvers, now=now)


def test_what_a_reviewer_approved_is_allowed_and_says_who() -> None:
    found = approved(approval())
    assert found.allows(CHANGE)
    assert found.who(CHANGE) == (ANA.key_id,)
    assert found.problems == ()
    (one,) = found.approvals
    assert (one.reason, one.at, one.expires, one.source) == ("seen", "2026-12-01T00:00:00Z", None, "a.dsse.json")


@pytest.mark.parametrize(
    "other",
    [
        pytest.param({"new_blob": "3" * 40}, id="another content"),
        pytest.param({"old_blob": "3" * 40}, id="from another content"),
        pytest.param({"path": "conftest.py"}, id="another path"),
        pytest.param({"new_mode": "120000"}, id="a link with the same bytes"),
        pytest.param({"old_mode": "100755"}, id="another mode before"),
        pytest.param({"new_blob": None, "new_mode": ABSENT}, id="the file goes"),
        pytest.param({"old_blob": None, "old_mode": ABSENT}, id="the file comes"),
        pytest.param({"old_blob": NEW, "new_blob": OLD}, id="the way back"),
    ],
)
def test_one_difference_voids_it(other: Any) -> None:
    assert not approved(approval()).allows(CHANGE._replace(**other))


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(CHANGE._replace(old_mode=ABSENT, old_blob=None), id="added"),
        pytest.param(CHANGE._replace(new_mode=ABSENT, new_blob=None), id="deleted"),
        pytest.param(CHANGE._replace(old_mode="160000", new_mode="160000"), id="a submodule"),
        pytest.param(CHANGE._replace(new_mode="120000"), id="became a link"),
    ],
)
def test_any_kind_of_change_can_be_approved_as_it_is(change: Any) -> None:
    found = approved(approval(entry_of(change)))
    assert found.allows(change)
    assert not found.allows(CHANGE)


def test_it_names_no_commit_so_a_rebase_of_the_same_content_keeps_it() -> None:
    said = payload_of(approval())
    assert set(said["predicate"]) == {"reason", "at", "expires", "changes"}
    assert said["subject"] == [{"name": CHANGE.path, "digest": {"gitBlob": NEW}}]
    assert said["predicate"]["changes"] == [
        {"path": CHANGE.path, "old": f"{PLAIN} {OLD}", "new": f"{PLAIN} {NEW}", "nodes": []}
    ]


@pytest.mark.parametrize(("key", "kind"), [("100644", "gitBlob"), ("160000", "gitCommit")])
def test_a_file_that_goes_is_named_by_what_it_was(key: str, kind: str) -> None:
    gone = CHANGE._replace(old_mode=key, new_mode=ABSENT, new_blob=None)
    assert payload_of(approval(entry_of(gone)))["subject"] == [{"name": CHANGE.path, "digest": {kind: OLD}}]


def test_what_is_approved_for_a_node_is_not_approved_for_the_file_or_another_node() -> None:
    found = approved(approval(entry_of(CHANGE, ["t.py::a", "t.py::b"])))
    assert found.allows_node("t.py::a", CHANGE)
    assert found.allows_node("t.py::b", CHANGE)
    assert not found.allows_node("t.py::c", CHANGE)
    assert not found.allows(CHANGE)


def test_what_is_approved_for_a_file_is_approved_for_its_nodes() -> None:
    assert approved(approval()).allows_node("t.py::a", CHANGE)


@pytest.mark.parametrize("approvers", [(BEN.key_id,), ()])
def test_a_key_that_is_no_approvers_approves_nothing(approvers: tuple[str, ...]) -> None:
    found = approved(approval(), approvers=approvers)
    assert not found.allows(CHANGE)
    assert "none of the policy's approvers signed it" in found.problems[0]


def test_what_the_patch_brings_along_approves_nothing() -> None:
    found = approved(approval(), is_tracked=True)
    assert not found.allows(CHANGE)
    assert found.problems == ("a.dsse.json: the patch brings it along, so it says nothing; keep it out of the commit",)


def test_whether_the_patch_brings_it_along_cannot_be_left_unsaid() -> None:
    with pytest.raises(TypeError):
        ApprovalFile("a.dsse.json", b"")


def test_it_counts_until_it_expires_and_not_from_then_on() -> None:
    until = NOW + timedelta(days=1)
    raw = approval(expires=until)
    assert approved(raw, now=until - timedelta(microseconds=1)).allows(CHANGE)
    late = approved(raw, now=until)
    assert not late.allows(CHANGE)
    assert late.problems == ("a.dsse.json: expired at 2026-12-02T00:00:00Z; have it reviewed again",)


def test_one_bad_file_spoils_no_good_one() -> None:
    files = [ApprovalFile("bad", b"{", False), ApprovalFile("good", approval(), False)]
    found = covering(files, (ANA.key_id,), now=NOW)
    assert found.allows(CHANGE)
    assert len(found.problems) == 1


def test_nobody_approved_anything_where_there_is_nothing() -> None:
    assert not covering([], (ANA.key_id,), now=NOW).allows(CHANGE)


def test_an_approval_of_nothing_is_not_signed() -> None:
    with pytest.raises(InputError, match="nothing to approve"):
        approval_statement([], reason="x", now=NOW, expires=None)


def changed(**keys: Any) -> Any:
    tree = payload_of(approval())
    tree["predicate"]["changes"][0] |= keys
    return tree


def said(**keys: Any) -> Any:
    tree = payload_of(approval())
    tree["predicate"] |= keys
    return tree


@pytest.mark.parametrize(
    ("tree", "says"),
    [
        pytest.param(SIGNING["payload_of"](SIGNING["signed"](SIGNING["document"]())), APPROVAL, id="a test result"),
        pytest.param(said(more=1), "unknown key 'more'", id="an unknown key"),
        pytest.param(said(reason=""), "allowed: a text", id="no reason"),
        pytest.param(said(at="yesterday"), "RFC 3339", id="no instant"),
        pytest.param(said(expires="2026-13-01T00:00:00Z"), "RFC 3339", id="a month too many"),
        pytest.param(said(expires="2026-12-01T00:00:00"), "RFC 3339", id="no zone"),
        pytest.param(said(expires=0), "RFC 3339", id="an end of another type"),
        pytest.param(said(changes=[]), "not empty", id="no changes"),
        pytest.param(said(changes={}), "not empty", id="changes of another type"),
        pytest.param(said(changes=[7]), "an object", id="a change of another type"),
        pytest.param(changed(more=1), "unknown key 'more'", id="an unknown key of a change"),
        pytest.param(changed(path="other.py"), "subjects are not what its changes say", id="another path"),
        pytest.param(
            changed(new=f"{PLAIN} {'3' * 40}"), "subjects are not what", id="another content than the subject"
        ),
        pytest.param(changed(new=NEW), "a mode, a blank and an id", id="no mode"),
        pytest.param(changed(new=7), "a mode, a blank and an id", id="a side of another type"),
        pytest.param(changed(old=f"{PLAIN} {NEW}"), "old and new are the same", id="no change"),
        pytest.param(changed(nodes=""), "a list of texts", id="nodes of another type"),
        pytest.param(changed(nodes=["a", "a"]), "none of them twice", id="a node twice"),
        pytest.param(payload_of(approval()) | {"subject": []}, "no such list", id="no subject"),
    ],
)
def test_an_approvers_signature_on_anything_but_an_approval_approves_nothing(tree: Any, says: str) -> None:
    found = approved(resigned(tree, ANA))
    assert found.approvals == ()
    assert says in found.problems[0]


def test_a_word_changed_after_signing_approves_nothing() -> None:
    envelope = json.loads(approval())
    envelope["payload"] = json.loads(approval(entry_of(CHANGE._replace(new_blob="3" * 40))))["payload"]
    found = approved(json.dumps(envelope).encode())
    assert found.approvals == ()
    assert "none of the policy's approvers" in found.problems[0]


@given(st.binary(max_size=60))
def test_whatever_lies_there_is_a_problem_in_one_line(raw: bytes) -> None:
    for found in (approved(raw), approved(resigned(raw, ANA))):
        assert found.approvals == ()
        assert found.problems[0].isprintable()


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9) | st.sampled_from([f"{PLAIN} {OLD}", OLD]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=9,
)


@given(st.sampled_from(["reason", "at", "expires", "changes", "path", "old", "new", "nodes"]), VALUES)
def test_any_value_anywhere_is_an_approval_or_a_problem(key: str, value: Any) -> None:
    tree = said(**{key: value}) if key in {"reason", "at", "expires", "changes"} else changed(**{key: value})
    found = approved(resigned(tree, ANA))
    assert len(found.approvals) + len(found.problems) == 1
    assert all(problem.isprintable() for problem in found.problems)
