"""`admit run --base`: the base's instrument judges the patch's code. Real git, real pytest, real Hypothesis."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import subprocess

    from conftest import Repository

GOOD = """\
def split(cents, parts):
    share, rest = divmod(cents, parts)
    return [share + 1] * rest + [share] * (parts - rest)
"""
BROKEN = GOOD.replace("(parts - rest)", "(parts - rest - (cents == 1200))")
MORE = GOOD + "\n\ndef halves(cents):\n    return split(cents, 2)\n"
NEW_TEST = "from shop import halves\n\n\ndef test_halves():\n    assert halves(4) == [2, 2]\n"


def judged(repository: Repository, *words: str, base: str = "HEAD~1") -> subprocess.CompletedProcess[str]:
    return repository.admit("run", "--base", base, *words, *repository.pytest())


def line(done: subprocess.CompletedProcess[str]) -> str:
    return done.stdout.splitlines()[0] if done.stdout else done.stderr[-500:]


def reasons(repository: Repository) -> set[tuple[str, str | None]]:
    decision = json.loads((repository.root / ".admit" / "decision.json").read_text())
    return {(one["reason"], one["record"]["why"]) for gate in decision["gates"] for one in gate["nodes"]}


def left(repository: Repository) -> dict[str, str]:
    decision = json.loads((repository.root / ".admit" / "decision.json").read_text())
    return {one["node"]: one["why"] for gate in decision["gates"] for one in gate["left"]}


@pytest.fixture
def base(bare: Repository) -> Repository:
    assert bare.admit("init").returncode == 0
    bare.commit("base")
    return bare


def test_a_feature_with_its_test_merges_and_the_test_is_counted_as_a_proposal_p3(base: Repository) -> None:
    base.write("shop.py", MORE)
    base.write("tests/test_halves.py", NEW_TEST)
    base.commit()
    done = judged(base)
    assert (done.returncode, line(done)) == (0, "MERGE_OK attribution=all-gates-held"), done.stderr[-2000:]
    assert left(base) == {"tests/test_halves.py::test_halves": "proposal"}
    assert "no-base" not in done.stdout
    assert base.git("status", "--porcelain") == ""
    assert base.git("worktree", "list").count("\n") == 0
    again = judged(base)
    assert again.returncode == 0
    assert "collecting the base's tests" in done.stderr
    assert "collecting the base's tests" not in again.stderr


def test_a_bug_blocks_by_the_bases_tests_a3(base: Repository) -> None:
    base.write("shop.py", BROKEN)
    base.commit()
    assert line(judged(base)).startswith("BLOCK attribution=")


def test_tests_that_the_command_leaves_out_are_named_until_they_are_declared_u7(base: Repository) -> None:
    base.write("shop.py", MORE)
    base.commit()
    done = base.admit("run", "--base", "HEAD~1", *base.pytest("-k", "even"))
    assert line(done) == "ESCALATE attribution=unregistered-exclusion", done.stdout + done.stderr[-2000:]
    assert "1 node was left out" in done.stdout
    assert "tests/test_shop.py::test_no_cent_is_lost" in done.stdout
    assert ("property_not_run", "deselected") in reasons(base)


@pytest.mark.parametrize(
    ("tests", "reason"),
    [
        pytest.param("def test_nothing():\n    pass\n", "test_edited", id="deleted"),
        pytest.param("import pytest\n\npytest.skip('later', allow_module_level=True)\n", "test_edited", id="skipped"),
        pytest.param(
            "from shop import split\n\n\ndef test_no_cent_is_lost():\n    pass\n\n\n"
            "def test_an_even_split():\n    assert split(1200, 4) == [300] * 3\n",
            "test_edited",
            id="expectation follows the bug",
        ),
    ],
)
def test_a_bug_behind_edited_tests_holds_t7(base: Repository, tests: str, reason: str) -> None:
    base.write("shop.py", BROKEN)
    base.write("tests/test_shop.py", tests)
    base.commit()
    done = judged(base)
    assert done.returncode == 2, done.stdout
    assert reason in {one for one, _ in reasons(base)}


def test_a_test_that_the_patch_takes_away_gives_no_verdict_until_its_rename_is_declared_t2(base: Repository) -> None:
    text = (base.root / "tests" / "test_shop.py").read_text()
    base.write("tests/test_shop.py", text.replace("test_an_even_split", "test_in_even_parts"))
    base.commit()
    assert judged(base).returncode == 2
    assert ("fixture_not_run", "vanished") in reasons(base)
    old, new = "tests/test_shop.py::test_an_even_split", "tests/test_shop.py::test_in_even_parts"
    base.git("commit", "-q", "--amend", "-m", f"rename\n\nAdmit-Rename: {old} => {new}")
    done = judged(base)
    assert done.returncode == 0, done.stdout


def test_a_new_test_that_fails_holds_and_does_not_reject_p3(base: Repository) -> None:
    base.write("tests/test_new.py", "def test_new():\n    assert False\n")
    base.commit()
    assert judged(base).returncode == 2
    assert reasons(base) == {("unproven_property", None)}


def test_what_fails_on_the_base_as_well_holds_and_does_not_reject_t7(bare: Repository) -> None:
    bare.write("tests/test_broken.py", "def test_broken():\n    assert False\n")
    bare.admit("init")
    bare.commit("base")
    bare.write("shop.py", MORE)
    bare.commit()
    assert judged(bare).returncode == 2
    assert reasons(bare) == {("already_broken", None)}


@pytest.mark.parametrize(
    ("name", "text", "attribution"),
    [
        pytest.param("conftest.py", "", "instrument-edited", id="conftest"),
        pytest.param("pytest.ini", "[pytest]\naddopts = -k even\n", "instrument-edited", id="pytest.ini"),
        pytest.param("random.py", "", "instrument-edited", id="a name of the standard library"),
        pytest.param("admit.freezes.toml", "# nothing\n", "control-files-touched", id="register"),
        pytest.param("admit.toml", "", "control-files-touched", id="configuration"),
        pytest.param("tests/data/even.json", "[300, 300, 300,  300]\n", "fixture_repinned", id="a pinned fixture"),
    ],
)
def test_what_waits_for_a_reviewer_holds_t1_t3_l5(base: Repository, name: str, text: str, attribution: str) -> None:
    base.write(name, text)
    base.commit()
    done = judged(base)
    assert line(done) == f"ESCALATE attribution={attribution}", done.stdout


def test_a_bug_beside_an_edit_that_waits_for_a_reviewer_stays_a_block(base: Repository) -> None:
    base.write("shop.py", BROKEN)
    base.write("conftest.py", "")
    base.commit()
    done = judged(base)
    assert done.returncode == 1
    assert "instrument-edited: conftest.py" in done.stdout


@pytest.mark.parametrize(
    "trick",
    [
        pytest.param(
            "import pytest\npytest.raises = lambda *a, **k: __import__('contextlib').suppress(*a)\n", id="raises"
        ),
        pytest.param(
            "import hypothesis.strategies as s\n_i = s.integers\ns.integers = lambda *a, **k: s.just(0)\n",
            id="strategies",
        ),
        pytest.param(
            "from _pytest.runner import CallInfo\n_f = CallInfo.from_call\n"
            "def _g(func, when, **k):\n"
            "    return _f((lambda: None) if when == 'call' else func, when, **k)\n"
            "CallInfo.from_call = _g\n",
            id="the runner",
        ),
    ],
)
def test_product_code_that_changes_how_tests_measure_compromises_the_instrument_t4(
    base: Repository, trick: str
) -> None:
    base.write("shop.py", trick + GOOD)
    base.commit()
    done = judged(base)
    assert done.returncode == 2, done.stdout
    assert "instrument_compromised" in {one for one, _ in reasons(base)}


@pytest.mark.parametrize("end", ["import os; os._exit(0)", "import pytest; pytest.exit('done', returncode=0)"])
def test_product_code_that_ends_the_run_merges_nothing_u3(base: Repository, end: str) -> None:
    base.write("shop.py", GOOD.replace("    share", f"    {end}\n    share"))
    base.commit()
    assert judged(base).returncode == 2


def test_code_that_gives_up_on_hard_inputs_starves_its_property(base: Repository) -> None:
    base.write(
        "shop.py",
        GOOD.replace(
            "    share", "    import hypothesis\n    hypothesis.assume(cents < 600 or cents == 1200)\n    share", 1
        ),
    )
    base.commit()
    done = judged(base)
    assert done.returncode == 2, done.stdout
    assert {why for _, why in reasons(base)} == {"vacuous"}


def test_a_property_that_gives_up_as_often_as_on_the_base_still_counts_the_first_time_too(base: Repository) -> None:
    base.write(
        "tests/test_even.py",
        "from hypothesis import assume, given, strategies as st\n\nfrom shop import split\n\n\n"
        "@given(st.integers(0, 1000))\ndef test_even(n):\n    assume(n % 2 == 0)\n"
        "    assert split(n, 2) == [n // 2] * 2\n",
    )
    base.commit("a property that gives up on every other input")
    base.write("shop.py", MORE)
    base.commit()
    first, again = judged(base), judged(base)
    assert (first.returncode, again.returncode) == (0, 0), first.stdout
    assert "running on the base" in first.stderr
    assert "running on the base" not in again.stderr


def test_a_makefile_that_swallows_the_exit_code_is_not_the_one_that_runs(base: Repository) -> None:
    base.write("Makefile", "test:\n\tpython -m pytest -q\n")
    base.commit("base with a Makefile")
    base.write("Makefile", "test:\n\tpython -m pytest -q -k none || true\n")
    base.write("shop.py", BROKEN)
    base.commit()
    done = base.admit("run", "--base", "HEAD~1", "--", "make", "-s", "test")
    assert done.returncode == 1, done.stdout
    base.git("revert", "--no-edit", "HEAD")
    base.write("shop.py", MORE)
    base.commit()
    done = base.admit("run", "--base", "HEAD~3", "--", "make", "-s", "test")
    assert done.returncode == 0, done.stdout


def test_a_base_without_admit_says_what_to_do(bare: Repository) -> None:
    bare.admit("init")
    bare.commit()
    done = judged(bare)
    assert (done.returncode, done.stdout) == (65, "")
    assert "merge what `admit init` writes first" in done.stderr
    assert judged(bare, base="nowhere").returncode == 65


def test_decide_reads_the_files_under_review_from_the_base_t1(base: Repository) -> None:
    base.write("admit.policy.toml", "nonsense")
    base.write("admit.toml", (base.root / "admit.toml").read_text() + '\n[policy]\nrouter = "admit.policy.toml"\n')
    base.commit()
    done = base.admit("decide", "--base", "HEAD~1")
    assert line(done) == "ESCALATE attribution=control-files-touched", done.stderr
    assert base.admit("run", "--base", "HEAD~1", "--no-base").returncode == 64


def test_an_approval_lets_an_edit_stand_unless_the_patch_brings_it_t1(bare: Repository) -> None:
    outside = bare.root.parent
    assert bare.admit("keys", "new", "ana", "--out", str(outside)).returncode == 0
    shown = bare.admit("keys", "show", str(outside / "ana.key")).stdout
    key_id = next(word for word in shown.split() if word.startswith("ed25519:"))
    assert bare.admit("init").returncode == 0
    policy = bare.admit("policy", "show", "router", "--format", "toml").stdout
    bare.write("admit.policy.toml", policy + f'\n[trust]\napprovers = ["{key_id}"]\n')
    config = (bare.root / "admit.toml").read_text()
    bare.write("admit.toml", config.replace('router = "router"', 'router = "admit.policy.toml"'))
    bare.admit("lock", "write")
    bare.commit("base")
    bare.write("conftest.py", "")
    bare.commit("patch")
    assert line(judged(bare)) == "ESCALATE attribution=instrument-edited"
    words = ("--base", "HEAD~1", "--key", str(outside / "ana.key"), "--reason", "seen", "--path", "conftest.py")
    done = bare.admit("approve", *words, "--out", str(outside / "approval.json"))
    assert done.returncode == 0, done.stderr
    done = judged(bare, "--approval", str(outside / "approval.json"))
    assert (done.returncode, line(done)) == (0, "MERGE_OK attribution=all-gates-held"), done.stderr
    bare.write("conftest.py", "# another content\n")
    bare.write("approval.json", (outside / "approval.json").read_text())
    bare.git("add", "-A")
    bare.git("commit", "-q", "--amend", "--no-edit")
    assert line(judged(bare, "--approval", str(outside / "approval.json"))) == "ESCALATE attribution=instrument-edited"
    bare.write("conftest.py", "")
    bare.git("commit", "-qa", "--amend", "--no-edit")
    assert line(judged(bare, "--approval", "approval.json")) == "ESCALATE attribution=instrument-edited"


def test_unsigned_evidence_of_a_gate_that_has_to_sign_is_missing_t5(bare: Repository) -> None:
    outside = bare.root.parent
    for name in ("gate", "other"):
        assert bare.admit("keys", "new", name, "--out", str(outside)).returncode == 0
    shown = bare.admit("keys", "show", str(outside / "gate.key")).stdout
    key_id = next(word for word in shown.split() if word.startswith("ed25519:"))
    assert bare.admit("init").returncode == 0
    policy = bare.admit("policy", "show", "router", "--format", "toml").stdout
    bare.write("admit.policy.toml", policy + f'\n[trust.evidence]\nfixture_check = ["{key_id}"]\n')
    config = (bare.root / "admit.toml").read_text()
    bare.write("admit.toml", config.replace('router = "router"', 'router = "admit.policy.toml"'))
    bare.admit("lock", "write")
    bare.commit("base")
    done = bare.admit("run", *bare.pytest())
    assert line(done) == "ESCALATE attribution=evidence-gap", done.stdout
    (document,) = (bare.root / ".admit" / "evidence").glob("fixture_check.*.jsonl")
    assert bare.admit("sign", str(document), "--key", str(outside / "other.key")).returncode == 0
    assert line(bare.admit("decide")) == "ESCALATE attribution=evidence-gap"
    document.with_name(document.name + ".dsse.json").unlink()
    assert bare.admit("sign", str(document), "--key", str(outside / "gate.key")).returncode == 0
    done = bare.admit("decide")
    assert (done.returncode, line(done)) == (0, "MERGE_OK attribution=all-gates-held"), done.stdout
