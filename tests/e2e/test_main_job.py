"""The installed command on a real repository: real git, real pytest, real Hypothesis, real kills."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Repository


def decision(repository: Repository) -> dict[str, object]:
    return json.loads((repository.root / ".admit" / "decision.json").read_text())


def states(repository: Repository) -> dict[str, str]:
    return {gate["gate"]: gate["state"] for gate in decision(repository)["gates"]}


def test_init_says_what_it_did_touches_nothing_that_exists_and_leaves_a_repository_that_merges(
    bare: Repository,
) -> None:
    first = bare.admit("init")
    assert first.returncode == 0
    assert "1 of them with property tests" in first.stdout
    for name in (
        "admit.toml",
        "admit.freezes.toml",
        "admit.abstentions.toml",
        "admit.sha256",
        "admit.lock",
        ".gitignore",
    ):
        assert (bare.root / name).exists()
    before = {path.name: path.read_bytes() for path in bare.root.iterdir() if path.is_file()}
    again = bare.admit("init")
    assert again.returncode == 0
    assert before == {path.name: path.read_bytes() for path in bare.root.iterdir() if path.is_file()}
    bare.commit()
    done = bare.admit("run", *bare.pytest())
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "MERGE_OK attribution=all-gates-held")


def test_a_repository_without_property_tests_does_not_require_their_gate_and_its_policy_says_so_r7(
    bare: Repository,
) -> None:
    bare.write("tests/test_shop.py", "from shop import split\ndef test_a():\n    assert split(4, 2) == [2, 2]\n")
    bare.commit()
    done = bare.admit("init")
    assert "no property tests" in done.stdout
    assert "this repository has no property tests yet" in (bare.root / "admit.policy.toml").read_text()
    bare.commit()
    done = bare.admit("run", *bare.pytest())
    assert done.returncode == 0, done.stdout
    assert "property_check is waived" in done.stdout
    # and when somebody adds the first one, the waiver does not hide it
    bare.write(
        "tests/test_more.py",
        "from hypothesis import given, strategies as st\n@given(st.integers())\ndef test_p(x): pass\n",
    )
    bare.commit()
    done = bare.admit("run", *bare.pytest())
    assert (done.returncode, done.stdout.splitlines()[0]) == (2, "ESCALATE attribution=unlisted-gate")


@pytest.mark.parametrize(
    ("name", "text", "code", "attribution", "said"),
    [
        pytest.param(
            "shop.py",
            "def split(cents, parts):\n    return [cents // parts] * parts\n",
            1,
            "invariant-or-over-specified-property",
            "counterexample:",
            id="a broken invariant",
        ),
        pytest.param(
            "tests/data/even.json",
            "[1200, 0, 0, 0]\n",
            2,
            "inadmissible-evidence",
            "fixture_drifted",
            id="a fixture that moved",
        ),
        pytest.param(
            "shop.py",
            "import os\nos._exit(0)\n",
            2,
            "evidence-gap",
            "died",
            id="a run that exits green before its tests",
        ),
        pytest.param(
            "shop.py",
            "import os\ndef split(cents, parts):\n    os._exit(0)\n",
            2,
            "evidence-gap",
            "documents unfinished",
            id="a run that exits green within a test",
        ),
        pytest.param(
            "shop.py",
            "import os\ndef split(c, p):\n    os.kill(os.getpid(), 9)\n",
            2,
            "evidence-gap",
            "signal 9",
            id="kill -9",
        ),
        pytest.param(
            "shop.py", "raise ImportError('gone')\n", 2, "inadmissible-evidence", "error_collect", id="an import error"
        ),
        pytest.param(
            "conftest.py",
            "import pytest\n@pytest.fixture(autouse=True)\ndef f():\n    pytest.skip('not today')\n",
            2,
            "inadmissible-evidence",
            "not today",
            id="everything skipped",
        ),
        pytest.param(
            "conftest.py",
            "def pytest_collection_modifyitems(items):\n    items[:] = []\n",
            2,
            "unregistered-exclusion",
            "deselected",
            id="everything dropped",
        ),
        pytest.param(
            "conftest.py",
            "def pytest_sessionfinish(session):\n    session.exitstatus = 0\n"
            "def pytest_runtest_setup(item):\n    raise RuntimeError('no')\n",
            2,
            "inadmissible-evidence",
            "error_setup",
            id="set-up breaks and the exit code is painted green",
        ),
    ],
)
def test_a_bad_patch_is_not_merged_and_the_reason_says_why(
    repository: Repository, name: str, text: str, code: int, attribution: str, said: str
) -> None:
    repository.write(name, text)
    repository.commit()
    done = repository.admit("run", *repository.pytest())
    assert (done.returncode, decision(repository)["attribution"]) == (code, attribution), done.stdout + done.stderr
    assert said in done.stdout + done.stderr


def test_a_run_beyond_its_time_limit_is_killed_with_all_that_it_started_and_its_gates_are_missing(
    repository: Repository,
) -> None:
    repository.write(
        "shop.py",
        "import subprocess, time\ndef split(c, p):\n    subprocess.Popen(['sleep', '987'])\n    time.sleep(987)\n",
    )
    repository.commit()
    done = repository.admit("run", "--timeout", "4", *repository.pytest())
    assert (done.returncode, decision(repository)["attribution"]) == (2, "evidence-gap")
    assert "time limit" in done.stdout
    assert subprocess.run(["pgrep", "-f", "sleep 987"], capture_output=True, check=False).stdout == b""


def test_a_makefile_that_swallows_the_exit_code_does_not_make_a_failure_green(repository: Repository) -> None:
    repository.write("shop.py", "def split(cents, parts):\n    return [cents // parts] * parts\n")
    repository.write("Makefile", f"test:\n\t-{sys.executable} -m pytest -q || true\n")
    repository.commit()
    done = repository.admit("run", "--", "make", "test")
    assert (done.returncode, decision(repository)["attribution"]) == (1, "invariant-or-over-specified-property"), (
        done.stdout
    )


def test_two_sessions_in_one_command_both_count(repository: Repository) -> None:
    one = f"{sys.executable} -m pytest -q -p no:cacheprovider"
    script = f"{one} -k even && {one} -k cent"
    done = repository.admit("run", "--", "sh", "-c", script)
    # each session deselected the other's test, and a deselected node gives no verdict
    assert done.returncode == 2
    script = f"{one} tests/test_shop.py::test_an_even_split && {one} tests/test_shop.py::test_no_cent_is_lost"
    done = repository.admit("run", "--", "sh", "-c", script)
    assert done.returncode == 0, done.stdout


def test_a_command_that_is_no_pytest_leaves_every_gate_missing(repository: Repository) -> None:
    done = repository.admit("run", "--", "true")
    assert (done.returncode, decision(repository)["attribution"]) == (2, "evidence-gap")
    assert "left no evidence" in done.stdout


def test_a_command_that_does_not_exist_is_no_disposition(repository: Repository) -> None:
    assert repository.admit("run", "--", "no-such-program").returncode == 75


def test_uncommitted_changes_escalate_and_say_what_it_would_have_been_e5(repository: Repository) -> None:
    repository.write("new.py", "x = 1\n")
    done = repository.admit("run", *repository.pytest())
    assert (done.returncode, decision(repository)["attribution"]) == (2, "uncommitted-changes")
    assert "it would have been: MERGE_OK" in done.stdout


def test_a_freeze_takes_its_node_out_and_escalates_until_it_ends_a6_u2(repository: Repository) -> None:
    node = "tests/test_shop.py::test_an_even_split"
    expires = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 86400))
    add = (
        "freeze",
        "add",
        node,
        "--reason",
        "flaky",
        "--owner",
        "me",
        "--expires",
        expires,
        "--no-history",
        "seen once",
    )
    done = repository.admit(*add)
    assert done.returncode == 0, done.stderr
    repository.write(
        "shop.py",
        "def split(cents, parts):\n    share, rest = divmod(cents, parts)\n"
        "    return [share] * (parts - rest) + [share + 1] * rest\n",
    )
    repository.commit()
    done = repository.admit("run", *repository.pytest())
    assert (done.returncode, states(repository)["flaky_freeze"]) == (2, "unknown"), done.stdout
    assert "frozen tests/test_shop.py::test_an_even_split" in done.stdout
    later = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 2 * 86400))
    done = repository.admit("decide", "--now", later)
    assert done.returncode == 0, done.stdout


def test_abstain_write_declares_what_gives_no_verdict_by_design_and_a_new_skip_holds_u7(repository: Repository) -> None:
    skipped = "\n\nimport pytest\n@pytest.mark.skip(reason='needs a licence')\ndef test_licensed(): pass\n"
    tests = (repository.root / "tests" / "test_shop.py").read_text()
    repository.write("tests/test_shop.py", tests + skipped)
    repository.commit()
    assert repository.admit("run", *repository.pytest()).returncode == 2
    done = repository.admit("abstain", "write", *repository.pytest())
    assert done.returncode == 0, done.stderr
    repository.commit()
    done = repository.admit("run", *repository.pytest())
    assert done.returncode == 0, done.stdout
    assert "abstained tests/test_shop.py::test_licensed: skip: needs a licence" in done.stdout
    assert repository.admit("abstain", "check").returncode == 0
    repository.write("tests/test_shop.py", tests + skipped.replace("a licence", "a day off"))
    repository.commit()
    assert repository.admit("run", *repository.pytest()).returncode == 2
    assert repository.admit("abstain", "check").returncode == 2


def test_decide_gives_the_same_bytes_for_the_same_evidence_policy_and_instant_e7(repository: Repository) -> None:
    repository.admit("run", *repository.pytest())
    now = "2027-01-01T00:00:00Z"
    for name in ("1.json", "2.json"):
        done = repository.admit("decide", "--now", now, "--out", f".admit/{name}")
        assert done.returncode == 0, done.stdout
    assert (repository.root / ".admit" / "1.json").read_bytes() == (repository.root / ".admit" / "2.json").read_bytes()


def test_evidence_of_another_commit_is_stale_e5(repository: Repository) -> None:
    assert repository.admit("run", *repository.pytest()).returncode == 0
    repository.write("shop.py", "def split(cents, parts):\n    return []\n")
    repository.commit()
    done = repository.admit("decide")
    assert (done.returncode, decision(repository)["attribution"]) == (2, "evidence-gap")
    assert "stale-evidence" in done.stdout


@pytest.mark.parametrize("how", ["cut", "removed", "edited", "stray"])
def test_tampered_evidence_is_never_merged(repository: Repository, how: str) -> None:
    assert repository.admit("run", *repository.pytest()).returncode == 0
    path = next((repository.root / ".admit" / "evidence").glob("fixture_check.*.jsonl"))
    raw = path.read_bytes()
    match how:
        case "cut":
            path.write_bytes(raw[: len(raw) * 2 // 3])
        case "removed":
            path.unlink()
        case "edited":
            path.write_bytes(raw.replace(b'"finished"', b'"interrupted"', 1))
        case _:
            path.with_name("notes.txt").write_text("hello")
    assert repository.admit("decide").returncode == 2


def test_a_commit_that_brings_a_state_folder_of_its_own_escalates(repository: Repository) -> None:
    repository.write(".admit/ledger.db", "planted")
    repository.git("add", "-f", ".admit/ledger.db")
    repository.commit()
    repository.admit("run", "--ledger", "../ledger.db", *repository.pytest())
    assert "tracked-state" in (repository.root / ".admit" / "decision.json").read_text()


def test_a_run_that_cannot_be_recorded_gives_no_disposition_g1(repository: Repository) -> None:
    (repository.root / ".admit").mkdir(exist_ok=True)
    (repository.root / ".admit" / "ledger.db").mkdir()
    done = repository.admit("run", *repository.pytest())
    assert (done.returncode, done.stdout) == (74, "")
    assert not (repository.root / ".admit" / "decision.json").exists()


def test_the_ledger_has_a_line_for_every_run(repository: Repository) -> None:
    for _ in range(2):
        repository.admit("run", *repository.pytest())
    rows = json.loads(repository.admit("log", "--format", "json").stdout)
    assert [row["outcome"] for row in rows] == ["MERGE_OK", "MERGE_OK"]


def test_an_interrupted_run_decides_nothing(repository: Repository) -> None:
    repository.write(
        "shop.py", "import time, pathlib\ndef split(c, p):\n    pathlib.Path('started').touch()\n    time.sleep(30)\n"
    )
    repository.commit()
    command = [str(Path(sys.executable).parent / "admit"), "run", *repository.pytest()]
    child = subprocess.Popen(
        command,
        cwd=repository.root,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        # a shell that runs the suite in the background has it ignored, and children inherit that
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509 - no threads here
    )
    started = repository.root / "started"
    deadline = time.monotonic() + 60
    while not started.exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    os.kill(child.pid, signal.SIGINT)
    out, _ = child.communicate(timeout=60)
    assert (child.returncode, out) == (130, b"")


def test_run_without_init_teaches_what_to_do(bare: Repository) -> None:
    done = bare.admit("run", *bare.pytest())
    assert done.returncode == 65
    assert "admit init" in done.stderr


# -- running again, and evidence that is not the run's own -------------------------------------------------------------


def test_running_again_launders_nothing_u5(repository: Repository) -> None:
    failing = "import os\ndef test_retry():\n    assert os.environ.get('FLAKE') != '1'\n"
    repository.write("tests/test_retry.py", failing)
    repository.commit()
    assert repository.admit("run", *repository.pytest(), FLAKE="1").returncode == 1
    for words in ((), ("--attempt", "2"), ("--attempt", "1"), ("--patch", "another-name")):
        done = repository.admit("run", *words, *repository.pytest())
        assert done.returncode != 0, done.stdout
    assert "both passed and failed" in repository.admit("decide").stdout
    repository.write("README", "a new commit starts afresh\n")
    repository.commit()
    assert repository.admit("run", *repository.pytest()).returncode == 0


def test_a_run_that_was_lost_is_filled_by_the_next_one_and_the_decision_says_so_u5(repository: Repository) -> None:
    assert repository.admit("run", "--timeout", "0.2", *repository.pytest()).returncode == 2
    done = repository.admit("run", *repository.pytest())
    assert done.returncode == 0, done.stdout
    assert "attempt 1 of the run was lost, attempt 2 filled it" in done.stdout


def test_a_later_run_that_is_lost_is_not_covered_by_an_earlier_one_u3(repository: Repository) -> None:
    assert repository.admit("run", *repository.pytest()).returncode == 0
    assert repository.admit("run", "--", "true").returncode == 2


@pytest.mark.parametrize(
    ("script", "attribution"),
    [
        pytest.param("cp .admit/saved/*.jsonl .admit/evidence/; exit 1", "mixed-evidence", id="copied from elsewhere"),
        pytest.param("echo 'x = 1' >> shop.py; {pytest}", "uncommitted-changes", id="edits what it tests"),
        pytest.param(
            "git checkout -q -b other; {pytest}; git commit -qm x --allow-empty", "uncommitted-changes", id="commits"
        ),
        pytest.param(
            "{pytest}; echo '[]' > tests/data/even.json", "uncommitted-changes", id="edits a fixture afterwards"
        ),
    ],
)
def test_a_command_that_moves_what_is_measured_gets_no_merge(
    repository: Repository, script: str, attribution: str
) -> None:
    assert repository.admit("run", *repository.pytest()).returncode == 0
    saved = repository.root / ".admit" / "saved"
    (repository.root / ".admit" / "evidence").rename(saved)
    for path in saved.glob("*.jsonl"):
        path.write_bytes(path.read_bytes().replace(b'"run_id":"2', b'"run_id":"3'))
    repository.git("config", "user.name", "n")
    repository.git("config", "user.email", "n@example.invalid")
    pytest_ = f"{sys.executable} -m pytest -q -p no:cacheprovider"
    done = repository.admit("run", "--", "sh", "-c", script.format(pytest=pytest_))
    assert done.returncode == 2, done.stdout
    found = decision(repository)
    assert attribution in (found["attribution"], *(note.partition(":")[0] for note in found["notes"])), done.stdout


def test_only_one_run_is_at_work_in_a_folder(repository: Repository) -> None:
    done = repository.admit(
        "run", "--", "sh", "-c", f"{Path(sys.executable).parent}/admit run -- true; echo $? > .admit/inner"
    )
    assert done.returncode == 2
    assert (repository.root / ".admit" / "inner").read_text() == "75\n"


def test_a_set_that_is_configured_and_not_pinned_is_drift_l4(repository: Repository) -> None:
    text = (repository.root / "admit.toml").read_text()
    repository.write("admit.toml", text + '\n[lock.sets.more]\npaths = ["tests/*.py"]\n')
    repository.commit()
    assert repository.admit("lock", "check").returncode == 2
    done = repository.admit("run", *repository.pytest())
    assert (done.returncode, decision(repository)["attribution"]) == (2, "inadmissible-evidence")


def test_drift_in_a_set_that_is_tied_to_no_node_holds_everything_l4(repository: Repository) -> None:
    text = (repository.root / "admit.toml").read_text()
    more = '\n[lock.sets.more]\npaths = ["extra/*"]\nnodes = ["test/typo.py::*"]\n'
    repository.write("extra/a.txt", "a\n")
    repository.write("admit.toml", text + more)
    assert repository.admit("lock", "write").returncode == 0
    repository.commit()
    assert repository.admit("run", *repository.pytest()).returncode == 0
    repository.write("extra/a.txt", "b\n")
    repository.commit()
    done = repository.admit("run", *repository.pytest())
    assert (done.returncode, decision(repository)["attribution"]) == (2, "instrument-moved")


def test_a_repository_that_git_does_not_read_is_no_clean_one_e5(repository: Repository) -> None:
    (repository.root / ".git" / "HEAD").write_text("garbage")
    assert repository.admit("run", *repository.pytest()).returncode == 65


def test_outside_of_git_nothing_merges_e5(repository: Repository) -> None:
    subprocess.run(["rm", "-rf", str(repository.root / ".git")], check=True)
    done = repository.admit("run", *repository.pytest())
    assert (done.returncode, decision(repository)["attribution"]) == (2, "uncommitted-changes")


@pytest.mark.parametrize("out", ["admit.toml", ".admit/ledger.db", ".", "/dev/null", "shop.py"])
def test_a_decision_overwrites_nothing_but_a_decision(repository: Repository, out: str) -> None:
    repository.admit("run", *repository.pytest())
    path = repository.root / out
    before = path.read_bytes() if path.is_file() else None
    assert repository.admit("decide", "--out", out).returncode == 64
    assert before == (path.read_bytes() if path.is_file() else None)


def test_a_run_removes_the_decision_of_an_earlier_one_before_it_starts(repository: Repository) -> None:
    assert repository.admit("run", *repository.pytest()).returncode == 0
    assert repository.admit("run", "--", "no-such-program").returncode == 75
    assert not (repository.root / ".admit" / "decision.json").exists()


def test_evidence_never_lies_where_git_tracks_files(repository: Repository) -> None:
    text = (repository.root / "admit.toml").read_text()
    repository.write("admit.toml", text + '\n[evidence]\nfolder = "tests/data"\n')
    repository.write("tests/data/records.jsonl", "{}\n")
    repository.admit("lock", "write")
    repository.commit()
    done = repository.admit("run", *repository.pytest())
    assert done.returncode == 65
    assert (repository.root / "tests" / "data" / "records.jsonl").read_text() == "{}\n"


@pytest.mark.parametrize("word", ["--patch=", "--base=", "--attempt=0", "--timeout=nan", "--shard=3/2"])
def test_an_option_that_makes_no_sense_is_refused_before_anything_runs(repository: Repository, word: str) -> None:
    assert repository.admit("run", word, "--", "touch", "ran").returncode == 64
    assert not (repository.root / "ran").exists()
