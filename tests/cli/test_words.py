"""`route` and `arbitrate` on hand-written evidence, through the command line's own entry point."""

from __future__ import annotations

import io
import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from admit.cli import main

if TYPE_CHECKING:
    from pathlib import Path

CLEAN = {"patch_id": "pr-1841", "property_check": "pass", "fixture_check": "pass", "flaky_freeze": "pass"}
NODE = {"node": "t.py::a", "property_check": "pass", "fixture_lock": "match", "flake_status": "stable"}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in a folder that is no initialised repository."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    return tmp_path


def said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(list(words))
    out, err = capsys.readouterr()
    return code, out, err


def write(name: str, content: object) -> str:
    with open(name, "wb") as stream:
        stream.write(content if isinstance(content, bytes) else json.dumps(content).encode())
    return name


@pytest.mark.parametrize(
    ("changes", "code", "line"),
    [
        pytest.param({}, 0, "MERGE_OK attribution=all-gates-held", id="clean"),
        pytest.param(
            {"property_check": "fail", "flaky_freeze": "unknown"},
            1,
            "BLOCK attribution=invariant-or-over-specified-property",
            id="the contract's own example",
        ),
        pytest.param(
            {"fixture_check": "missing", "property_check": "fail"},
            2,
            "ESCALATE attribution=evidence-gap",
            id="missing outranks fail",
        ),
        pytest.param({"flaky_freeze": "fail"}, 1, "BLOCK attribution=freeze-register", id="the register R4"),
    ],
)
def test_route_prints_one_line_and_exits_with_the_disposition_e1_r5(
    capsys: pytest.CaptureFixture[str], changes: dict[str, str], code: int, line: str
) -> None:
    assert said(capsys, "route", "--evidence", write("e.json", CLEAN | changes)) == (code, line + "\n", "")


def test_a_gate_that_the_evidence_leaves_out_is_missing_e1(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = said(capsys, "route", "--evidence", write("e.json", {"patch_id": "x", "property_check": "pass"}))
    assert (code, out) == (2, "ESCALATE attribution=evidence-gap\n")


@pytest.mark.parametrize(
    ("raw", "found"),
    [
        pytest.param(b"", "empty", id="empty"),
        pytest.param(b"[]", "", id="an array"),
        pytest.param(json.dumps(CLEAN | {"property_check": "PASS"}).encode(), '"PASS"', id="another case"),
        pytest.param(json.dumps(CLEAN | {"extra": 1}).encode(), "extra", id="an unknown key"),
        pytest.param(
            b'{"patch_id":"x","property_check":"fail","property_check":"pass"}', "property_check", id="a key twice"
        ),
        pytest.param(json.dumps(CLEAN)[:-1].encode(), "", id="cut"),
        pytest.param(b"\xff\xfe", "", id="bytes"),
        pytest.param(json.dumps(CLEAN | {"patch_id": None}).encode(), "patch_id", id="no patch"),
        pytest.param(b"[" * 100_000, "", id="deep"),
        pytest.param(json.dumps(CLEAN).encode() + b"{}", "", id="two documents in one"),
    ],
)
def test_malformed_evidence_escalates_and_names_file_and_value_e4(
    capsys: pytest.CaptureFixture[str], raw: bytes, found: str
) -> None:
    code, out, err = said(capsys, "route", "--evidence", write("e.json", raw))
    assert (code, out) == (2, "ESCALATE attribution=malformed-evidence\n")
    assert "e.json" in err
    assert found in err
    assert "Traceback" not in err


def test_evidence_that_is_not_there_escalates(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = said(capsys, "route", "--evidence", "gone.json")
    assert (code, out) == (2, "ESCALATE attribution=malformed-evidence\n")
    assert "gone.json" in err


def test_documents_of_two_patches_are_mixed_e5(capsys: pytest.CaptureFixture[str]) -> None:
    one, two = write("1.json", CLEAN), write("2.json", CLEAN | {"patch_id": "pr-2"})
    assert said(capsys, "route", "--evidence", one, two)[:2] == (2, "ESCALATE attribution=mixed-evidence\n")


def test_two_words_for_one_gate_join_to_the_worse_in_any_order_e6(capsys: pytest.CaptureFixture[str]) -> None:
    one, two = write("1.json", CLEAN), write("2.json", CLEAN | {"fixture_check": "fail"})
    for order in ([one, two], [two, one], [one, two, one]):
        assert said(capsys, "route", "--evidence", *order)[:2] == (1, "BLOCK attribution=concrete-behavior\n")


def test_standard_input_is_evidence_too(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(json.dumps(CLEAN).encode())))
    assert said(capsys, "route", "--evidence", "-")[0] == 0


@pytest.mark.parametrize("how", ["json", "markdown"])
def test_other_formats_carry_the_same_disposition(capsys: pytest.CaptureFixture[str], how: str) -> None:
    code, out, _ = said(capsys, "route", "--evidence", write("e.json", CLEAN), "--format", how)
    assert code == 0
    assert json.loads(out)["outcome"] == "MERGE_OK" if how == "json" else "**MERGE\\_OK**" in out


def test_route_is_stateless_outside_of_an_initialised_repository(
    capsys: pytest.CaptureFixture[str], elsewhere: Path
) -> None:
    said(capsys, "route", "--evidence", write("e.json", CLEAN))
    assert sorted(path.name for path in elsewhere.iterdir()) == [".git", "e.json"]


@pytest.mark.parametrize("command", ["route", "arbitrate"])
def test_the_ledger_gets_a_line_where_one_is_named(
    capsys: pytest.CaptureFixture[str], elsewhere: Path, command: str
) -> None:
    files = ["--evidence", write("e.json", CLEAN)] if command == "route" else [write("r.json", NODE)]
    assert said(capsys, command, *files, "--ledger", "l.db")[0] == 0
    code, out, _ = said(capsys, "log", "--ledger", "l.db", "--format", "json")
    assert (code, [row["exit_code"] for row in json.loads(out)]) == (0, [0])


def test_inside_an_initialised_repository_route_records(capsys: pytest.CaptureFixture[str], elsewhere: Path) -> None:
    (elsewhere / "admit.toml").write_text("")
    (elsewhere / "sub").mkdir()
    assert said(capsys, "route", "--evidence", write("e.json", CLEAN))[0] == 0
    with closing(sqlite3.connect(elsewhere / ".admit" / "ledger.db")) as connection:
        assert connection.execute("select count(*) from sqlite_master").fetchone()[0] > 0
    assert "MERGE_OK" in said(capsys, "log")[1]


def test_a_decision_that_cannot_be_recorded_is_not_given_g1(
    capsys: pytest.CaptureFixture[str], elsewhere: Path
) -> None:
    (elsewhere / "l.db").mkdir()
    code, out, err = said(capsys, "route", "--evidence", write("e.json", CLEAN), "--ledger", "l.db")
    assert (code, out) == (74, "")
    assert err.count("\n") == 1


# -- arbitrate --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "code", "line"),
    [
        pytest.param(NODE, 0, "ACCEPT reason=clean", id="one object"),
        pytest.param(
            [NODE, NODE | {"node": "b", "property_check": "fail"}], 1, "REJECT reason=property_fail", id="an array"
        ),
        pytest.param(
            b"\n".join(json.dumps(NODE | {"node": str(n)}).encode() for n in range(3)) + b"\n",
            0,
            "ACCEPT reason=clean",
            id="JSON Lines",
        ),
        pytest.param(b"", 2, "HOLD reason=no_evidence", id="nothing A5"),
        pytest.param(b"[]", 2, "HOLD reason=no_evidence", id="an empty array A5"),
        pytest.param(
            NODE | {"fixture_lock": "drifted", "property_check": "fail"}, 2, "HOLD reason=fixture_drifted", id="A1"
        ),
        pytest.param(NODE | {"fixture_lock": "missing"}, 2, "HOLD reason=fixture_missing", id="missing"),
        pytest.param(NODE | {"flake_status": "frozen"}, 2, "HOLD reason=malformed-evidence", id="frozen for ever A6"),
        pytest.param(
            NODE | {"flake_status": "frozen", "freeze_expires": "2099-01-01T00:00:00Z"},
            2,
            "HOLD reason=frozen_node",
            id="frozen A2",
        ),
        pytest.param(
            NODE | {"flake_status": "frozen", "freeze_expires": "2020-01-01T00:00:00Z", "property_check": "fail"},
            1,
            "REJECT reason=property_fail",
            id="a freeze that is over A6",
        ),
        pytest.param(NODE | {"property_check": "passed"}, 2, "HOLD reason=malformed-evidence", id="an unknown word"),
    ],
)
def test_arbitrate_prints_one_line_and_exits_with_the_outcome_e2_a5(
    capsys: pytest.CaptureFixture[str], content: object, code: int, line: str
) -> None:
    assert said(capsys, "arbitrate", write("r.json", content))[:2] == (code, line + "\n")


def test_one_file_that_cannot_be_read_holds_the_records_of_the_others_e4(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = said(capsys, "arbitrate", write("r.json", NODE), write("s.json", b"{"))
    assert (code, out) == (2, "HOLD reason=malformed-evidence\n")
    assert "s.json" in err


# -- usage ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        pytest.param([], id="nothing"),
        pytest.param(["rout"], id="no such command"),
        pytest.param(["route"], id="no evidence"),
        pytest.param(["route", "--evidence"], id="an empty list"),
        pytest.param(["route", "--evidence", "e.json", "--format", "xml"], id="no such format"),
        pytest.param(["route", "--evid", "e.json"], id="an abbreviation"),
        pytest.param(["explain", "d.json", "a.py::test_x", "b"], id="explain two nodes"),
        pytest.param(["lock"], id="no verb"),
    ],
)
def test_a_usage_error_is_64_and_never_a_disposition_r5(capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    assert said(capsys, *words)[0] == 64


def test_a_bug_in_admit_is_70_with_its_traceback_and_never_a_disposition_r5(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr("admit.core.decision.ruled", broken)
    code, out, err = said(capsys, "route", "--evidence", write("e.json", CLEAN))
    assert (code, out) == (70, "")
    assert "RuntimeError: a bug" in err


@pytest.mark.parametrize(
    ("words", "said_"),
    [
        pytest.param(
            ["route", "--evidence", "e.json", "--policy", "arbiter"], "rules on a node, not on a patch", id="route"
        ),
        pytest.param(["arbitrate", "r.json", "--policy", "router"], "rules on a patch, not on a node", id="arbitrate"),
        pytest.param(
            ["arbitrate", "r.json", "--policy", "trusted-arbiter"],
            "no record carries: instrument, provenance",
            id="trusted",
        ),
        pytest.param(["route", "--evidence", "e.json", "--policy", "gone.toml"], "gone.toml", id="no such file"),
    ],
)
def test_a_policy_that_rules_on_something_else_is_refused(
    capsys: pytest.CaptureFixture[str], words: list[str], said_: str
) -> None:
    write("e.json", CLEAN)
    write("r.json", NODE)
    code, out, err = said(capsys, *words)
    assert (code, out) == (65, "")
    assert said_ in err
