"""`admit keys`, `sign`, `verify`, `approve`, as a person types them; none exits with 1 or 2, which are dispositions."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple, Protocol

import pytest

from admit.cli import main
from admit.cli.attempts import started
from admit.core.decision import Decision, Patch, PolicyRef
from admit.core.records import NodeRecord, Opening
from admit.evidence.read import find_documents
from admit.evidence.write import DocumentWriter
from admit.policy.files import shipped_text
from admit.render.json import decision_bytes
from admit.wiring import run_context

HEAD = "a" * 40
NODE = "tests/test_a.py::test_x"


class Answer(NamedTuple):
    """What one command gave back."""

    code: int
    out: str
    err: str


class Admit(Protocol):
    """Run admit with these words."""

    def __call__(self, *words: str) -> Answer: ...


@pytest.fixture
def admit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Admit:
    (tmp_path / "r").mkdir()
    monkeypatch.chdir(tmp_path / "r")

    def run(*words: str) -> Answer:
        code = main(list(words))
        said = capsys.readouterr()
        return Answer(code, said.out, said.err)

    return run


@pytest.fixture
def keys(admit: Admit) -> dict[str, str]:
    """Make three keys beside the repository, and return their ids."""
    return {name: admit("keys", "new", name, "--out", "..").out.split("\n")[0] for name in ("ana", "ben", "ci")}


def left(name: str = "property_check.1.jsonl", *, sealed: bool = True, gate: str = "property_check") -> str:
    with DocumentWriter(name, Opening(gate, "pr-7", HEAD, None, "pytest", "9", "run-1", "nonce")) as document:
        document.node(NodeRecord(NODE, "pass", "match", "stable"))
        if sealed:
            document.close(ended="finished", exit_code=0, signal=None, closed_by="launcher")
    return name


def policy(*lines: str) -> str:
    Path("../policy.toml").write_text("\n".join([shipped_text("router"), "[trust]", *lines, ""]))
    return "../policy.toml"


# ---------------------------------------------------------------- keys


def test_a_new_key_is_shown_as_a_policy_names_it(admit: Admit) -> None:
    made = admit("keys", "new", "ana")
    assert made.code == 0
    key_id = made.out.split("\n")[0]
    assert key_id.startswith("ed25519:")
    for name in ("ana.key", "ana.pub"):
        assert admit("keys", "show", name) == Answer(0, f"{key_id}\n", "")


def test_a_second_key_of_the_name_is_refused_and_the_first_stays(admit: Admit) -> None:
    admit("keys", "new", "ana")
    before = Path("ana.key").read_bytes()
    again = admit("keys", "new", "ana")
    assert (again.code, "a key is never overwritten" in again.err) == (74, True)
    assert Path("ana.key").read_bytes() == before


@pytest.mark.parametrize("name", ["../x", "", "a b", ".x", "é", "x" * 101])
def test_a_name_that_is_none_is_a_usage_error(name: str, admit: Admit) -> None:
    assert admit("keys", "new", name).code == 64


@pytest.mark.parametrize("words", [("keys", "new", "ana"), ("sign", "x", "--key", "../ana.key")])
def test_without_the_library_each_command_names_the_extra(
    words: tuple[str, ...], admit: Admit, keys: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "cryptography", None)
    answer = admit(*words)
    assert (answer.code, "pip install 'admit[sign]'" in answer.err) == (64, True)


# ---------------------------------------------------------------- sign and verify


def test_a_signed_document_verifies_by_key_and_by_policy(admit: Admit, keys: dict[str, str]) -> None:
    name = left()
    signed = admit("sign", name, "--key", "../ci.key")
    assert signed == Answer(0, f"{name}.dsse.json: signed by {keys['ci']}\n", "")
    says = f"{name}: holds: property_check for pr-7 at {HEAD}, run run-1, lane default; signed by {keys['ci']}\n"
    assert admit("verify", name, "--key", "../ci.pub") == Answer(0, says, "")
    asked = policy(f'evidence = {{ property_check = "{keys["ci"]}" }}')
    assert admit("verify", name, "--policy", asked) == Answer(0, says, "")


def test_what_nobody_names_a_key_for_is_not_checked_and_not_good(admit: Admit) -> None:
    name = left()
    Path(f"{name}.dsse.json").write_text("garbage")
    answer = admit("verify", name)
    assert (answer.code, "not checked: the policy names no key" in answer.out) == (65, True)


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        pytest.param(lambda: Path("property_check.1.jsonl.dsse.json").unlink(), "not signed", id="no envelope"),
        pytest.param(lambda: Path("property_check.1.jsonl.dsse.json").write_text("{"), "not JSON", id="no JSON"),
        pytest.param(lambda: Path("property_check.1.jsonl.dsse.json").write_bytes(b"\0\xff"), "UTF-8", id="no text"),
        pytest.param(lambda: (Path("property_check.1.jsonl").unlink(), left(gate="lint")), "another gate", id="other"),
    ],
)
def test_a_signature_that_does_not_hold_is_65_and_a_line_says_why(
    spoil: object, says: str, admit: Admit, keys: dict[str, str]
) -> None:
    name = left()
    admit("sign", name, "--key", "../ci.key")
    spoil()
    answer = admit("verify", name, "--key", "../ci.pub")
    assert (answer.code, says in answer.out) == (65, True)
    assert "1 of 1 are not signed as asked" in answer.err


def test_another_key_is_65(admit: Admit, keys: dict[str, str]) -> None:
    name = left()
    admit("sign", name, "--key", "../ben.key")
    answer = admit("verify", name, "--key", "../ci.pub", "--key", "../ana.pub")
    assert (answer.code, "none of the trusted keys signed it" in answer.out) == (65, True)


def test_one_bad_document_among_good_ones_is_65(admit: Admit, keys: dict[str, str]) -> None:
    good, bad = left(), left("property_check.2.jsonl")
    admit("sign", good, "--key", "../ci.key")
    answer = admit("verify", good, bad, "--key", "../ci.pub")
    assert (answer.code, answer.out.count("\n")) == (65, 2)


def test_an_unsealed_document_is_not_signed_and_neither_is_one_beside_it(admit: Admit, keys: dict[str, str]) -> None:
    good, bad = left(), left("property_check.2.jsonl", sealed=False)
    answer = admit("sign", good, bad, "--key", "../ci.key")
    assert (answer.code, "no closing record" in answer.err) == (65, True)
    assert list(Path().glob("*.dsse.json")) == []


@pytest.mark.parametrize("command", ["sign", "verify"])
def test_a_malformed_document_is_65_and_no_hold(command: str, admit: Admit, keys: dict[str, str]) -> None:
    Path("property_check.x.jsonl").write_text("{")
    assert admit(command, "property_check.x.jsonl", "--key", "../ci.key").code == 65


@pytest.mark.parametrize(
    "words",
    [
        ("sign", "--key", "../ci.key"),
        ("sign", "a", "--decision", "b", "--key", "../ci.key"),
        ("sign", "--decision", "b", "--key", "../ci.key", "--verifier", "me"),
        ("verify",),
        ("verify", "a", "--key", "../ci.pub", "--policy", "router"),
        ("verify", "--decision", "a"),
        ("approve",),
        ("approve", "--base", "HEAD", "--key", "../ana.key", "--reason", " ", "--control"),
        ("approve", "--base", "HEAD", "--key", "../ana.key", "--reason", "r"),
    ],
)
def test_a_command_line_that_asks_for_nothing_is_64(words: tuple[str, ...], admit: Admit, keys: dict[str, str]) -> None:
    assert admit(*words).code == 64


def test_envelopes_beside_documents_are_no_problem_of_the_folder_and_lost_ones_are(
    admit: Admit, keys: dict[str, str]
) -> None:
    Path("e").mkdir()
    name = left("e/property_check.1.jsonl")
    admit("sign", name, "--key", "../ci.key")
    assert find_documents("e") == ((name,), ())
    Path(name).unlink()
    assert find_documents("e").problems == (f"{name}.dsse.json: the document that it signs is not there",)
    Path("e/other.dsse.json").write_text("")
    assert len(find_documents("e").problems) == 2


def test_a_run_that_clears_a_document_away_clears_its_signature_too(
    admit: Admit, keys: dict[str, str], patch: None
) -> None:
    Path("e").mkdir()
    admit("sign", left("e/property_check.1.jsonl"), "--key", "../ci.key")
    started(Path("e"), run_context(Path.cwd()), attempt=None, patch_id=None)
    assert [path.name for path in Path("e").iterdir()] == ["context.json"]


def decided(kind: str = "accept") -> str:
    ref = PolicyRef("router", "sha256:" + "1" * 64)
    one = Decision("WORD", kind, "x", 1, "", "", "", Patch("pr-7", HEAD), (), ref, ref, "2026-12-01T00:00:00Z")
    Path("decision.json").write_bytes(decision_bytes(one))
    return "decision.json"


def test_a_signed_decision_verifies_and_no_other_does(admit: Admit, keys: dict[str, str]) -> None:
    name = decided()
    assert admit("sign", "--decision", name, "--key", "../ci.key", "--verifier", "https://ci.example/admit").code == 0
    says = f"{name}: holds: WORD attribution=x on {HEAD}, at 2026-12-01T00:00:00Z; signed by {keys['ci']}\n"
    assert admit("verify", "--decision", name, "--key", "../ci.pub") == Answer(0, says, "")
    assert admit("verify", "--decision", name, "--key", "../ana.pub").code == 65
    decided("hold")
    assert "it signs another decision" in admit("verify", "--decision", name, "--key", "../ci.pub").err
    Path(f"{name}.dsse.json").unlink()
    assert admit("verify", "--decision", name, "--key", "../ci.pub").code == 65


def test_a_decision_on_another_commit_does_not_verify_for_this_one_g6(
    admit: Admit, keys: dict[str, str], patch: None
) -> None:
    name = decided()
    admit("sign", "--decision", name, "--key", "../ci.key", "--verifier", "https://ci.example/admit")
    answer = admit("verify", "--decision", name, "--key", "../ci.pub", "--head", "HEAD")
    assert (answer.code, f"it is on {HEAD}" in answer.err) == (65, True)
    assert admit("verify", left(), "--key", "../ci.pub", "--head", "HEAD").code == 64


# ---------------------------------------------------------------- approve


def git(*words: str) -> None:
    who = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *who, *words], check=True, capture_output=True)


@pytest.fixture
def patch(admit: Admit, keys: dict[str, str]) -> None:
    """Commit a base, then a patch that edits a control file and a test."""
    git("init", "-q", "-b", "main")
    Path("tests").mkdir()
    for text in ("1", "2"):
        Path("admit.toml").write_text(f"# {text}\n")
        Path("tests/test_a.py").write_text(f"# {text}\n")
        Path("src.py").write_text(f"# {text}\n")
        git("add", ".")
        git("commit", "-q", "-m", text)


APPROVE = ("approve", "--base", "HEAD~1", "--key", "../ana.key", "--reason", "seen")


def approved_paths(path: str) -> list[str]:
    import base64

    payload = json.loads(base64.b64decode(json.loads(Path(path).read_text())["payload"]))
    return [one["path"] for one in payload["predicate"]["changes"]]


@pytest.mark.parametrize(
    ("what", "paths"),
    [
        pytest.param(("--control",), ["admit.toml"], id="control"),
        pytest.param(("--node", NODE), ["tests/test_a.py"], id="node"),
        pytest.param(("--path", "src.py", "--control"), ["admit.toml", "src.py"], id="path"),
    ],
)
def test_exactly_what_was_named_is_approved(
    what: tuple[str, ...], paths: list[str], admit: Admit, patch: None, keys: dict[str, str]
) -> None:
    answer = admit(*APPROVE, *what, "--out", "../a.dsse.json")
    assert answer.code == 0
    assert f"approved by {keys['ana']}" in answer.out
    assert approved_paths("../a.dsse.json") == paths


def test_an_approval_lies_where_the_settings_say_and_is_checked_there(
    admit: Admit, patch: None, keys: dict[str, str]
) -> None:
    admit(*APPROVE, "--node", NODE, "--expires", "2100-01-01T00:00:00Z")
    (path,) = Path(".admit/approvals").iterdir()
    answer = admit("approve", "--check", str(path), "--policy", policy(f'approvers = ["{keys["ana"]}"]'))
    assert answer.code == 0
    assert f"{path}: {keys['ana']} approved at " in answer.out
    assert "until 2100-01-01T00:00:00Z: seen" in answer.out
    assert f"as to {NODE}" in answer.out
    late = admit("approve", "--check", str(path), "--policy", "../policy.toml", "--now", "2100-01-01T00:00:00Z")
    assert (late.code, "expired" in late.out) == (65, True)
    assert admit("approve", "--check", str(path), "--policy", policy(f'approvers = ["{keys["ben"]}"]')).code == 65


def test_an_approval_in_the_commit_or_the_index_does_not_count(admit: Admit, patch: None, keys: dict[str, str]) -> None:
    admit(*APPROVE, "--control", "--out", "a.dsse.json")
    asked = ("--policy", policy(f'approvers = ["{keys["ana"]}"]'))
    assert admit("approve", "--check", "a.dsse.json", *asked).code == 0
    git("add", "a.dsse.json")
    assert "the patch brings it along" in admit("approve", "--check", "a.dsse.json", *asked).out
    git("commit", "-q", "-m", "a")
    assert admit("approve", "--check", "a.dsse.json", *asked).code == 65


def test_a_link_in_the_commit_to_an_approval_outside_does_not_count(
    admit: Admit, patch: None, keys: dict[str, str]
) -> None:
    admit(*APPROVE, "--control", "--out", "../a.dsse.json")
    Path("link").symlink_to("../a.dsse.json")
    git("add", "link")
    asked = ("--policy", policy(f'approvers = ["{keys["ana"]}"]'))
    assert admit("approve", "--check", "../a.dsse.json", *asked).code == 0
    assert admit("approve", "--check", "link", *asked).code == 65


@pytest.mark.parametrize(
    ("words", "code"),
    [
        pytest.param(("--path", "other.py"), 65, id="a path that does not change"),
        pytest.param(("--node", "tests/test_b.py::x"), 65, id="a node whose file does not change"),
        pytest.param(("--control", "--head", "HEAD~1"), 65, id="no control file changes"),
        pytest.param(("--control", "--base", "nowhere"), 65, id="no such base"),
        pytest.param(("--control", "--expires", "2000-01-01T00:00:00Z"), 64, id="over already"),
        pytest.param(("--control", "--key", "../ana.pub"), 65, id="the public key"),
    ],
)
def test_what_cannot_be_approved_is_refused_and_nothing_is_written(
    words: tuple[str, ...], code: int, admit: Admit, patch: None
) -> None:
    assert admit(*APPROVE, *words, "--out", "../a.dsse.json").code == code
    assert not Path("../a.dsse.json").exists()


def test_an_approval_is_never_overwritten(admit: Admit, patch: None) -> None:
    Path("../a.dsse.json").write_text("x")
    assert admit(*APPROVE, "--control", "--out", "../a.dsse.json").code == 74
    assert Path("../a.dsse.json").read_text() == "x"


def test_in_a_folder_of_a_repository_paths_are_told_from_its_root(
    admit: Admit, patch: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("sub/tests").mkdir(parents=True)
    for text in ("1", "2"):
        Path("sub/admit.toml").write_text(f"# {text}\n")
        Path("sub/tests/test_a.py").write_text(f"# {text}\n")
        git("add", ".")
        git("commit", "-q", "-m", text)
    monkeypatch.chdir("sub")
    words = ["../../ana.key" if word == "../ana.key" else word for word in APPROVE]
    assert admit(*words, "--control", "--node", NODE, "--out", "../../a.dsse.json").code == 0
    assert approved_paths("../../a.dsse.json") == ["sub/admit.toml", "sub/tests/test_a.py"]
