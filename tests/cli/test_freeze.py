"""`admit freeze`, as a person types it: what it prints, what it writes, which code it exits with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple, Protocol

import pytest

from admit.cli import main
from admit.core.records import NodeRecord, Opening
from admit.evidence.write import DocumentWriter

NOW = ("--now", "2026-11-30T12:00:00Z")
NODE = "tests/test_a.py::test_x"
ADD = ("add", NODE, "--reason", "races", "--owner", "@ana", "--expires", "14d", *NOW)
BY_HAND = ("--no-history", "seen by hand twice")
REGISTER = "admit.freezes.toml"
COMMIT = "c" * 40


class Answer(NamedTuple):
    """What one command gave back."""

    code: int
    out: str
    err: str


class Freeze(Protocol):
    """Run `admit freeze` with these words."""

    def __call__(self, *words: str) -> Answer: ...


@pytest.fixture
def freeze(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Freeze:
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> Answer:
        code = main(["freeze", *words])
        said = capsys.readouterr()
        return Answer(code, said.out, said.err)

    return run


def register(*entries: tuple[str, str, str], head: str = "") -> str:
    """Write a register of (node, owner, expiry) in the current folder, and return its text."""
    blocks = [f'[[freeze]]\nnode = "{n}"\nreason = "r"\nowner = "{o}"\nexpires = {e}\n' for n, o, e in entries]
    text = "\n".join([head, *blocks])
    Path(REGISTER).write_text(text)
    return text


def run_left(folder: Path, number: int, *records: NodeRecord) -> None:
    """Leave the document of one finished run."""
    folder.mkdir(exist_ok=True)
    opening = Opening("property_check", "pr-7", COMMIT, None, "pytest", "9", f"run-{number}", f"nonce-{number}")
    with DocumentWriter(folder / f"property_check.{number}.jsonl", opening) as writer:
        for record in records:
            writer.node(record)
        writer.close(ended="finished", exit_code=0, signal=None, closed_by="launcher")


PASSED = NodeRecord(NODE, "pass", "match", "stable")
FAILED = NodeRecord(NODE, "fail", "match", "stable")


# ---------------------------------------------------------------- add


def test_add_writes_a_first_register_and_says_what_it_recorded(freeze: Freeze) -> None:
    answer = freeze(*ADD, *BY_HAND)
    assert answer == Answer(
        0,
        f"frozen until 2026-12-14T12:00:00Z (14 days): {NODE}\n"
        "no history: seen by hand twice\n"
        "written to admit.freezes.toml: commit it as a change of its own\n",
        "",
    )
    assert (
        Path(REGISTER)
        .read_text()
        .endswith(
            "\n\n[[freeze]]\n"
            f'node = "{NODE}"\nreason = "races"\nowner = "@ana"\nexpires = 2026-12-14T12:00:00Z\n'
            'opened = 2026-11-30T12:00:00Z\nno_history = "seen by hand twice"\n'
        )
    )
    assert freeze("check", *NOW).code == 0


def test_add_keeps_what_stands_in_the_register(freeze: Freeze) -> None:
    before = register(("a.py::test_y", "@ben", "2026-12-01T00:00:00Z"), head="# ours\n")
    freeze(*ADD, *BY_HAND, "--issue", "#12")
    assert Path(REGISTER).read_text().startswith(before)
    assert 'issue = "#12"' in Path(REGISTER).read_text()


def test_add_records_the_flake_that_evidence_shows(freeze: Freeze, tmp_path: Path) -> None:
    run_left(tmp_path / "runs", 1, PASSED)
    run_left(tmp_path / "runs", 2, FAILED)
    answer = freeze(*ADD, "--evidence", "runs")
    assert answer.code == 0
    assert f"seen: passed and failed on commit {COMMIT} (property_check, 2 attempts): sha256:" in answer.out
    assert "warning" not in answer.out
    assert f'seen = "passed and failed on commit {COMMIT}' in Path(REGISTER).read_text()


def test_add_warns_of_a_counterexample(freeze: Freeze, tmp_path: Path) -> None:
    run_left(tmp_path / "runs", 1, PASSED)
    run_left(tmp_path / "runs", 2, FAILED._replace(counterexample="n=0"))
    paths = [str(path) for path in sorted((tmp_path / "runs").iterdir())]
    answer = freeze(*ADD, "--evidence", paths[0], "--evidence", paths[1])
    assert (
        "warning: a failing run reported a counterexample (n=0): replay it first; "
        "a property that fails on some inputs is broken, not flaky\n"
    ) in answer.out


def test_add_refuses_a_node_that_failed_every_time(freeze: Freeze, tmp_path: Path) -> None:
    run_left(tmp_path / "runs", 1, FAILED)
    run_left(tmp_path / "runs", 2, FAILED)
    assert freeze(*ADD, "--evidence", "runs") == Answer(
        64,
        "",
        f"admit: admit freeze add '{NODE}': failed on commit {COMMIT} (property_check, 2 attempts) and never passed: "
        "consistent, not flaky; find the defect and fix it\n",
    )
    assert not Path(REGISTER).exists()


@pytest.mark.parametrize(
    ("words", "code", "expected"),
    [
        pytest.param(
            ("add", "tests/test_a.py", "--reason", "r", "--owner", "o", "--expires", "7d"),
            64,
            "admit freeze add 'tests/test_a.py': freezes a whole file; name one test or one parameter case: "
            "tests/test_a.py::test_x or tests/test_a.py::test_x[case]",
            id="too-wide",
        ),
        pytest.param(
            ("add", NODE, "--reason", "r", "--owner", "o", "--expires", "2026-12-31T00:00:00Z"),
            64,
            f"admit freeze add '{NODE}': expires 2026-12-31T00:00:00Z, more than 30 days from now; "
            "write an instant up to 2026-12-30T12:00:00Z",
            id="beyond-the-horizon",
        ),
        pytest.param(
            ("add", NODE, "--reason", "r", "--owner", " ", "--expires", "7d"),
            64,
            f"admit freeze add '{NODE}': owner is empty; "
            "name who will fix it: a person or a team that can be written to",
            id="blank-owner",
        ),
        pytest.param(
            ("add", NODE, "--reason", "", "--owner", "o", "--expires", "7d"),
            64,
            f"admit freeze add '{NODE}': no reason; say in a sentence what was seen and what is suspected",
            id="empty-reason",
        ),
        pytest.param(
            ("add", NODE, "--reason", "r", "--owner", "o", "--expires", "2026-12-20"),
            64,
            "--expires: '2026-12-20' is a date, not an instant; "
            "write the hour it ends in UTC: 2026-12-20T00:00:00Z, or a span from now: 12h, 7d, 2w",
            id="bare-date",
        ),
        pytest.param(
            ("add", NODE, "--reason", "r", "--owner", "o", "--expires", "0d"),
            64,
            "--expires: 0d has passed; write an instant that is still to come",
            id="over-at-once",
        ),
    ],
)
def test_add_refuses_what_the_register_would(freeze: Freeze, words: tuple[str, ...], code: int, expected: str) -> None:
    assert freeze(*words, *BY_HAND, *NOW) == Answer(code, "", f"admit: {expected}\n")
    assert not Path(REGISTER).exists()


def test_add_refuses_a_node_that_is_frozen_already(freeze: Freeze) -> None:
    freeze(*ADD, *BY_HAND)
    before = Path(REGISTER).read_text()
    answer = freeze(*ADD, *BY_HAND)
    assert answer.err == (
        f"admit: admit freeze add '{NODE}': the node is frozen already, at line 4; keep one of the two\n"
    )
    assert (answer.code, Path(REGISTER).read_text()) == (64, before)


def test_add_leaves_the_faults_of_other_entries_to_their_owners(freeze: Freeze) -> None:
    register(("tests", "@ben", "2026-12-01T00:00:00Z"))
    assert freeze(*ADD, *BY_HAND).code == 0
    assert freeze("check", *NOW).code == 1


@pytest.mark.parametrize(
    "missing", [pytest.param(word, id=word.strip("-")) for word in ("--reason", "--owner", "--expires", "--no-history")]
)
def test_add_wants_owner_reason_expiry_and_a_word_on_history(freeze: Freeze, missing: str) -> None:
    words = [*ADD, *BY_HAND]
    at = words.index(missing)
    answer = freeze(*words[:at], *words[at + 2 :])
    assert answer.code == 64
    assert missing in answer.err


def test_add_takes_either_evidence_or_a_statement(freeze: Freeze) -> None:
    answer = freeze(*ADD, *BY_HAND, "--evidence", "runs")
    assert (answer.code, "not allowed with argument" in answer.err) == (64, True)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        pytest.param("runs/property_check.1.jsonl", "{}\n", "property_check.1.jsonl", id="malformed-in-a-folder"),
        pytest.param("runs/context.json", "{}", "admit: runs: holds no evidence document", id="no-document"),
        pytest.param("runs/notes.txt", "hello", "notes.txt", id="a-stranger-in-the-folder"),
    ],
)
def test_evidence_that_cannot_be_read_is_an_input_error(freeze: Freeze, name: str, text: str, expected: str) -> None:
    Path("runs").mkdir()
    Path(name).write_text(text)
    answer = freeze(*ADD, "--evidence", "runs")
    assert (answer.code, expected in answer.err) == (65, True)


def test_a_stranger_among_evidence_is_not_passed_over(freeze: Freeze, tmp_path: Path) -> None:
    run_left(tmp_path / "runs", 1, PASSED, FAILED)
    assert freeze(*ADD, "--evidence", "runs").code == 0
    (tmp_path / "runs" / "notes.txt").write_text("hello")
    answer = freeze(*ADD, "--evidence", "runs")
    assert (answer.code, "notes.txt" in answer.err) == (65, True)


@pytest.mark.parametrize("name", ["none.jsonl", "runs"])
def test_evidence_that_is_not_there_is_an_input_error(freeze: Freeze, name: str) -> None:
    answer = freeze(*ADD, "--evidence", name)
    assert (answer.code, name in answer.err) == (65, True)


# ---------------------------------------------------------------- list, check, due


def test_list_shows_what_there_is(freeze: Freeze) -> None:
    register((NODE, "@ana", "2026-12-14T12:00:00Z"), ("a.py::test_y", "@ben", "2026-11-29T00:00:00Z"))
    assert freeze("list", *NOW).out.splitlines()[:3] == [
        "LEFT               UNTIL                 OWNER  NODE                     REASON",
        "14 days            2026-12-14T12:00:00Z  @ana   tests/test_a.py::test_x  r",
        "expired 1 day ago  2026-11-29T00:00:00Z  @ben   a.py::test_y             r",
    ]
    assert freeze("list", "--format", "markdown", *NOW).out.startswith("| left |")
    assert json.loads(freeze("list", "--format", "json", *NOW).out)["freezes"][1]["state"] == "expired"


def test_an_expired_entry_is_reported_and_is_no_fault(freeze: Freeze) -> None:
    register((NODE, "@ana", "2026-11-29T00:00:00Z"))
    answer = freeze("check", *NOW)
    assert answer.code == 0
    assert "expired 1 day ago, at 2026-11-29T00:00:00Z: the node votes again; @ana: remove the entry" in answer.out


@pytest.mark.parametrize("how", ["text", "json", "markdown"])
def test_check_exits_1_for_a_register_that_breaks_a_rule(freeze: Freeze, how: str) -> None:
    register(("tests", "@ana", "2026-12-14T12:00:00Z"))
    answer = freeze("check", "--format", how, *NOW)
    assert (answer.code, "freezes a whole directory" in answer.out) == (1, True)


def test_check_says_which_frozen_nodes_a_run_does_not_have(freeze: Freeze, tmp_path: Path) -> None:
    register((NODE, "@ana", "2026-12-14T12:00:00Z"), ("old.py::test_x", "@ben", "2026-12-14T12:00:00Z"))
    run_left(tmp_path / "runs", 1, PASSED)
    answer = freeze("check", "--evidence", "runs", *NOW)
    assert answer == Answer(
        0,
        "admit.freezes.toml: ok: 2 freezes, 2 in force\n"
        "note: admit.freezes.toml line 8, entry 2 (old.py::test_x): no test of this name ran: "
        "renamed or deleted, so the freeze reaches nothing; @ben: thaw it\n",
        "",
    )


@pytest.mark.parametrize("verb", ["list", "check", "due", "thaw"])
def test_a_register_that_cannot_be_read_exits_65(freeze: Freeze, verb: str) -> None:
    more = [NODE] if verb == "thaw" else []
    answer = freeze(verb, *more, *NOW)
    assert answer == Answer(
        65, "", "admit: admit.freezes.toml: no such file; create it with admit init or admit freeze add\n"
    )
    Path(REGISTER).write_text("[[freeze")
    assert freeze(verb, *more, *NOW).code == 65


def test_due_groups_by_owner_and_fails_only_if_asked(freeze: Freeze) -> None:
    register((NODE, "@ana", "2026-12-03T12:00:00Z"), ("a.py::test_y", "@ben", "2026-12-20T00:00:00Z"))
    title = "admit.freezes.toml: 1 expiring within 7 days, 0 expired and not removed"
    expected = f"{title}\n\n@ana\n  3 days (2026-12-03T12:00:00Z): {NODE}: r\n"
    assert freeze("due", *NOW) == Answer(0, expected, "")
    assert freeze("due", "--fail-if-due", *NOW) == Answer(1, expected, "")
    assert freeze("due", "--within", "1d", "--fail-if-due", *NOW).code == 0
    assert "- 3 days" in freeze("due", "--format", "markdown", *NOW).out
    assert json.loads(freeze("due", "--within", "3w", "--format", "json", *NOW).out)["owners"][1]["owner"] == "@ben"


def test_due_refuses_a_span_that_is_none(freeze: Freeze) -> None:
    register()
    assert freeze("due", "--within", "soon", *NOW) == Answer(
        64, "", "admit: --within: 'soon' is not a span of time; write hours, days or weeks: 12h, 7d, 2w\n"
    )


# ---------------------------------------------------------------- thaw


def test_thaw_takes_out_one_entry_and_names_the_comment_that_it_left(freeze: Freeze) -> None:
    register((NODE, "@ana", "2026-12-14T12:00:00Z"), ("a.py::test_y", "@ben", "2026-12-14T12:00:00Z"), head="# ana's")
    answer = freeze("thaw", NODE, *NOW)
    assert answer == Answer(
        0,
        f"thawed: {NODE} (@ana): it votes from the change that lands this\nleft in place above it: # ana's\n",
        "",
    )
    text = Path(REGISTER).read_text()
    assert (text.startswith("# ana's\n"), NODE in text, "a.py::test_y" in text) == (True, False, True)


def test_thaw_takes_out_what_has_expired(freeze: Freeze) -> None:
    register((NODE, "@ana", "2026-11-30T12:00:00Z"), ("a.py::test_y", "@ben", "2026-11-30T12:00:01Z"))
    assert freeze("thaw", "--expired", *NOW).out.startswith(f"thawed: {NODE}")
    assert freeze("thaw", "--expired", *NOW) == Answer(0, "admit.freezes.toml: nothing has expired\n", "")
    assert "a.py::test_y" in Path(REGISTER).read_text()


def test_thaw_refuses_a_node_that_is_not_frozen_and_names_a_near_one(freeze: Freeze) -> None:
    before = register((NODE, "@ana", "2026-12-14T12:00:00Z"))
    assert freeze("thaw", NODE, "tests/test_a.py::test_z", *NOW) == Answer(
        64, "", f"admit: admit.freezes.toml: no freeze of 'tests/test_a.py::test_z'; allowed: {NODE}\n"
    )
    assert Path(REGISTER).read_text() == before


@pytest.mark.parametrize("words", [pytest.param((), id="neither"), pytest.param((NODE, "--expired"), id="both")])
def test_thaw_wants_nodes_or_expired(freeze: Freeze, words: tuple[str, ...]) -> None:
    register((NODE, "@ana", "2026-11-29T00:00:00Z"))
    answer = freeze("thaw", *words, *NOW)
    assert (answer.code, answer.err) == (
        64,
        "admit: admit freeze thaw: name nodes, or say --expired; see `admit freeze thaw --help`\n",
    )


# ---------------------------------------------------------------- where, and help


def test_another_register_can_be_named(freeze: Freeze) -> None:
    freeze(*ADD, *BY_HAND, "--register", "other.toml")
    assert Path("other.toml").exists()
    assert freeze("check", "--register", "other.toml", *NOW).out.startswith("other.toml: ok: 1 freeze, 1 in force\n")


def test_register_and_horizon_are_as_configured(freeze: Freeze) -> None:
    Path("admit.toml").write_text('[freeze]\nregister = "flakes.toml"\nhorizon_days = 7\n')
    assert freeze(*ADD, *BY_HAND).code == 64
    assert freeze("add", NODE, "--reason", "r", "--owner", "o", "--expires", "7d", *BY_HAND, *NOW).code == 0
    assert Path("flakes.toml").exists()


@pytest.mark.parametrize("verb", ["add", "list", "check", "due", "thaw"])
def test_each_verb_has_help_with_an_example(freeze: Freeze, verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        freeze(verb, "--help")
    assert caught.value.code == 0
    assert f"example:\n  admit freeze {verb}" in capsys.readouterr().out


def test_a_verb_is_wanted(freeze: Freeze) -> None:
    assert freeze().code == 64
