"""What a run on a base held stays held: by a later decision, by the next run, by a run that was killed (T1, T4, E3)."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import admit.policy

if TYPE_CHECKING:
    from conftest import Repository

GOOD = """\
def split(cents, parts):
    share, rest = divmod(cents, parts)
    return [share + 1] * rest + [share] * (parts - rest)
"""

WRITES = """
text = open("tests/data/even.json").read()
open("tests/data/even.json", "w").write(text + " ")
"""


def judged(repository: Repository, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    return repository.admit("run", "--base", "main", *words, *repository.pytest(), **env)


def attribution(done: subprocess.CompletedProcess[str]) -> str:
    return done.stdout.splitlines()[0].partition("attribution=")[2] if done.stdout else done.stderr[-500:]


@pytest.fixture
def base(bare: Repository) -> Repository:
    assert bare.admit("init").returncode == 0
    bare.commit("base")
    bare.git("checkout", "-q", "-b", "patch")
    return bare


def test_a_new_test_that_writes_rules_where_it_runs_changes_no_rule_t1(base: Repository) -> None:
    base.git("checkout", "-q", "main")
    settings = (base.root / "admit.toml").read_text()
    base.write("admit.toml", re.sub("(?m)^router = .*", 'router = "own.toml"', settings))
    base.write("own.toml", (Path(admit.policy.__file__).parent / "router.toml").read_text())
    base.commit("rules of our own")
    base.git("checkout", "-q", "-B", "patch")
    base.write("tests/test_new.py", "def test_new():\n    open('own.toml', 'w').write('nothing = 1')\n")
    base.commit()
    done = judged(base)
    assert (done.returncode, attribution(done)) == (0, "all-gates-held"), done.stderr[-1500:]


def test_what_moved_while_tests_ran_holds_in_every_later_decision_l2(base: Repository) -> None:
    base.write("shop.py", GOOD + WRITES)
    base.commit()
    assert attribution(judged(base)) == "instrument-moved"
    for words in (("decide", "--base", "main"), ("decide",)):
        done = base.admit(*words)
        assert (done.returncode, attribution(done)) == (2, "instrument-moved"), words


def test_what_moved_while_the_patchs_own_tests_ran_holds_later_too_e5(base: Repository) -> None:
    base.write("shop.py", GOOD + WRITES)
    base.commit()
    done = base.admit("run", *base.pytest())
    assert done.returncode == 2
    base.git("checkout", "-q", "--", "tests/data/even.json")
    assert base.admit("decide").returncode == 2


def test_what_was_written_into_admits_own_folder_is_not_believed_by_the_next_run_t4(base: Repository) -> None:
    assert judged(base).returncode == 0
    (kept,) = (base.root / ".admit" / "inventory").glob("*.json")
    base.write(
        "tests/test_new.py",
        f"import pathlib\n\n\ndef test_new():\n    pathlib.Path({os.fspath(kept)!r}).write_text('mine')\n",
    )
    base.commit()
    done = judged(base)
    assert done.returncode == 2
    assert not kept.exists()


def test_a_run_that_is_killed_leaves_what_says_so_and_earlier_evidence_does_not_stand_in_for_it_e3(
    base: Repository,
) -> None:
    assert judged(base).returncode == 0
    process = subprocess.Popen(
        [str(Path(sys.executable).parent / "admit"), "run", "--base", "main", *base.pytest()],
        cwd=base.root,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    folder = base.root / ".admit" / "evidence"
    for _ in range(600):
        if list(folder.glob("*-begun.jsonl")):
            break
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for words in (("decide", "--base", "main"), ("decide",)):
        done = base.admit(*words)
        assert (done.returncode, attribution(done)) == (2, "evidence-gap"), done.stdout
    assert judged(base).returncode == 0


@pytest.mark.parametrize("name", ["with blank", "it's", 'quo"te'])
def test_a_temporary_folder_of_any_name_serves(base: Repository, tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    done = judged(base, TMPDIR=os.fspath(folder))
    assert done.returncode == 0, done.stdout + done.stderr[-800:]


def test_plugins_that_are_not_loaded_by_themselves_do_not_keep_the_recorder_out(base: Repository) -> None:
    done = judged(base, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")
    assert done.returncode == 0, done.stdout
    done = base.admit("run", *base.pytest(), PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")
    assert done.returncode in (0, 2), done.stdout
    decision = json.loads((base.root / ".admit" / "decision.json").read_text())
    assert all(gate["documents"] for gate in decision["gates"])


# ------------------------------------------------------------ rules that a patch brings along


@pytest.fixture
def ruled(base: Repository) -> Repository:
    """A base with rules of its own, and a reviewer's key in them."""
    base.git("checkout", "-q", "main")
    assert base.admit("keys", "new", "ana", "--out", os.fspath(base.root / ".git")).returncode == 0
    key = base.admit("keys", "show", os.fspath(base.root / ".git" / "ana.pub")).stdout.strip()
    shipped = (Path(admit.policy.__file__).parent / "router.toml").read_text()
    base.write("own.toml", f'{shipped}\n[trust]\napprovers = ["{key}"]\n')
    settings = (base.root / "admit.toml").read_text()
    base.write("admit.toml", re.sub("(?m)^router = .*", 'router = "own.toml"', settings))
    base.commit("rules of our own")
    base.git("checkout", "-q", "-B", "patch")
    return base


def approve(repository: Repository, *words: str) -> None:
    done = repository.admit(
        *("approve", "--base", "main", "--reason", "seen", "--key", os.fspath(repository.root / ".git" / "ana.key")),
        *words,
    )
    assert done.returncode == 0, done.stderr


def test_a_policy_named_on_the_command_line_is_the_bases_t1(ruled: Repository) -> None:
    ruled.write("own.toml", "nothing = 1\n")
    ruled.commit()
    for words in (("run", "--base", "main", "--policy", "own.toml", *ruled.pytest()), ("decide", "--base", "main")):
        done = ruled.admit(*words)
        assert (done.returncode, attribution(done)) == (2, "control-files-touched"), done.stderr[-800:]
    ruled.write("mine.toml", (ruled.root / "own.toml").read_text())
    ruled.commit()
    done = ruled.admit("decide", "--base", "main", "--policy", "mine.toml")
    assert (done.returncode, "the base does not have it" in done.stderr) == (65, True)


def test_a_link_in_the_place_of_rules_is_refused_t1(ruled: Repository) -> None:
    ruled.git("checkout", "-q", "main")
    (ruled.root / "own.toml").rename(ruled.root / "real.toml")
    (ruled.root / "own.toml").symlink_to("real.toml")
    ruled.commit("a link")
    ruled.git("checkout", "-q", "-B", "patch")
    ruled.write("real.toml", "nothing = 1\n")
    ruled.commit()
    done = judged(ruled)
    assert (done.returncode, "a link in the place of a file under review" in done.stderr) == (65, True)


def test_an_approval_is_of_what_the_patch_changes_since_it_left_the_base_l5(ruled: Repository) -> None:
    ruled.write("admit.freezes.toml", "# a comment\n")
    ruled.commit()
    ruled.git("checkout", "-q", "main")
    ruled.write("own.toml", (ruled.root / "own.toml").read_text() + "# stricter\n")
    ruled.commit("stricter rules")
    ruled.git("checkout", "-q", "patch")
    approve(ruled, "--control")
    ruled.git("checkout", "-q", "-B", "back", "main")
    ruled.git("checkout", "-q", "HEAD~1", "--", "own.toml")
    ruled.commit("back to the laxer rules")
    assert attribution(judged(ruled)) == "control-files-touched"


@pytest.mark.parametrize("place", ["data", "tests/data"])
def test_an_approved_repin_merges_and_one_that_is_not_approved_in_whole_does_not_l5(
    ruled: Repository, place: str
) -> None:
    ruled.git("checkout", "-q", "main")
    ruled.write("data/rates.json", "1\n")
    settings = (ruled.root / "admit.toml").read_text()
    ruled.write("admit.toml", settings.replace('"tests/data/**"', '"tests/data/**", "data/**"'))
    assert ruled.admit("lock", "write").returncode == 0
    ruled.commit("more is pinned")
    ruled.git("checkout", "-q", "-B", "patch")
    file = "data/rates.json" if place == "data" else "tests/data/even.json"
    ruled.write(file, (ruled.root / file).read_text() + "\n")
    assert ruled.admit("lock", "write").returncode == 0
    ruled.commit()
    assert judged(ruled).returncode == 2
    approve(ruled, "--control")
    assert judged(ruled).returncode == 2
    approve(ruled, "--control", "--path", file)
    ruled.git("commit", "-q", "--allow-empty", "-m", "a head of its own")
    done = judged(ruled)
    assert (done.returncode, attribution(done)) == (0, "all-gates-held"), done.stdout


def test_a_feature_may_go_with_its_test_when_a_reviewer_says_so_t7(ruled: Repository) -> None:
    ruled.git("checkout", "-q", "main")
    ruled.write("extra.py", "def one():\n    return 1\n")
    ruled.write("tests/test_extra.py", "from extra import one\n\n\ndef test_one():\n    assert one() == 1\n")
    ruled.commit("a feature")
    ruled.git("checkout", "-q", "-B", "patch")
    (ruled.root / "extra.py").unlink()
    (ruled.root / "tests" / "test_extra.py").unlink()
    ruled.commit()
    assert judged(ruled).returncode == 2
    approve(ruled, "--path", "tests/test_extra.py")
    ruled.git("commit", "-q", "--allow-empty", "-m", "a head of its own")
    done = judged(ruled)
    assert (done.returncode, attribution(done)) == (0, "all-gates-held"), done.stdout
    assert "given up with a reviewer's leave: tests/test_extra.py" in done.stdout


@pytest.mark.parametrize(
    "link",
    [".admit", ".admit/decision.json.part", ".admit/ledger.db", ".admit/evidence", ".admit/evidence/context.json"],
)
def test_nothing_is_written_through_a_link_that_a_commit_brings(base: Repository, tmp_path: Path, link: str) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine\n")
    path = base.root / link
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(precious)
    base.git("add", "-f", link)
    base.git("commit", "-qm", "a link")
    for words in (("run", "--base", "main", *base.pytest()), ("run", *base.pytest()), ("decide", "--base", "main")):
        done = base.admit(*words)
        assert (done.returncode, "a link that the commit brings" in done.stderr) == (65, True), words
    assert precious.read_text() == "mine\n"


# ------------------------------------------------------------ decisions after a run


def test_what_a_patch_changes_of_the_rules_holds_without_a_base_named_too_t1(base: Repository) -> None:
    base.write("admit.freezes.toml", "# a comment\n")
    base.commit()
    assert attribution(judged(base)) == "control-files-touched"
    done = base.admit("decide")
    assert (done.returncode, attribution(done)) == (2, "control-files-touched"), done.stderr
    assert base.admit("decide", "--no-base").returncode == 64


def test_a_decision_from_a_checkout_of_the_base_asks_what_the_patch_touches_t1(base: Repository) -> None:
    base.write("admit.freezes.toml", "# a comment\n")
    head = base.commit()
    assert judged(base).returncode == 2
    base.git("checkout", "-q", "main")
    done = base.admit("decide", "--head", head)
    assert (done.returncode, attribution(done)) == (2, "control-files-touched"), done.stdout


def test_evidence_that_another_commits_tests_left_is_none_e5(base: Repository) -> None:
    base.write("tests/test_shop.py", "def test_nothing():\n    pass\n")
    base.commit()
    base.admit("run", "--base", "HEAD", *base.pytest())
    done = base.admit("decide", "--base", "main")
    assert (done.returncode, attribution(done)) == (2, "mixed-evidence"), done.stdout


def test_a_github_job_decides_with_its_base_t1(base: Repository) -> None:
    base.write("admit.freezes.toml", "# a comment\n")
    base.commit()
    assert base.admit("run", *base.pytest()).returncode in (0, 2)
    base.git("update-ref", "refs/remotes/origin/main", "main")
    done = base.admit("decide", GITHUB_ACTIONS="true", GITHUB_BASE_REF="main")
    assert (done.returncode, attribution(done)) == (2, "control-files-touched"), done.stdout + done.stderr


def test_a_sparse_checkout_hides_no_test_of_the_base_t2(base: Repository) -> None:
    base.git("checkout", "-q", "main")
    base.write(
        "more/tests/test_more.py", "from shop import split\n\n\ndef test_more():\n    assert split(3, 2) == [2, 1]\n"
    )
    base.commit("more tests")
    base.git("checkout", "-q", "-B", "patch")
    base.write("shop.py", GOOD.replace("[share + 1] * rest", "[share + 1] * rest * (cents != 3)"))
    base.commit()
    base.git("sparse-checkout", "set", "tests")
    done = judged(base)
    assert done.returncode == 1, done.stdout


def test_a_policy_that_the_patch_turns_into_a_link_is_the_bases_t1(ruled: Repository, tmp_path: Path) -> None:
    outside = ruled.root / ".git" / "outside.toml"
    outside.write_text("nothing = 1\n")
    (ruled.root / "own.toml").unlink()
    (ruled.root / "own.toml").symlink_to("/etc/hostname")
    ruled.commit()
    done = ruled.admit("decide", "--base", "main", "--policy", "own.toml")
    assert (done.returncode, attribution(done)) == (2, "control-files-touched"), done.stderr


def test_each_shard_of_a_run_on_a_base_counts_and_all_together_merge_e6(base: Repository) -> None:
    base.write("shop.py", GOOD + "\n")
    base.commit()
    for shard, test in (("1/2", "test_no_cent_is_lost"), ("2/2", "test_an_even_split")):
        command = base.pytest(f"tests/test_shop.py::{test}")
        done = base.admit("run", "--base", "main", "--shard", shard, *command)
    assert (done.returncode, attribution(done)) == (0, "all-gates-held"), done.stdout


def test_a_killed_run_in_place_leaves_what_says_so_too_e3(base: Repository) -> None:
    assert base.admit("run", *base.pytest()).returncode == 0
    wait = "import time, sys; sys.stderr.write('here'); sys.stderr.flush(); time.sleep(60)"
    process = subprocess.Popen(
        [str(Path(sys.executable).parent / "admit"), "run", "--", sys.executable, "-c", wait],
        cwd=base.root,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stderr is not None
    process.stderr.read(4)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert attribution(base.admit("decide")) == "evidence-gap"


def test_what_is_uncommitted_here_is_said_not_to_be_judged_e5(base: Repository) -> None:
    base.write("shop.py", GOOD + "\n")
    base.commit()
    base.write("shop.py", "broken")
    done = judged(base)
    assert (done.returncode, "not what is uncommitted here: shop.py" in done.stdout) == (0, True)


def test_an_approval_that_is_not_there_is_no_approval_that_is_passed_over(base: Repository) -> None:
    done = judged(base, "--approval", "absent.json")
    assert (done.returncode, "there is no such file" in done.stderr) == (65, True)


def test_a_fixture_added_to_a_pinned_set_merges_and_what_is_due_is_said_l2(base: Repository) -> None:
    base.write("tests/data/new.json", "[]\n")
    base.commit()
    done = judged(base)
    assert done.returncode == 0, done.stdout
    assert "once merged, pinned sets hold files that nobody pinned: tests/data/new.json" in done.stdout


def test_a_name_that_the_terminal_cannot_show_is_shown_escaped(base: Repository) -> None:
    base.write("tests/test_\u00e9.py", "def test_new():\n    pass\n")
    base.commit()
    done = judged(base, PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr[-600:]
    assert "tests/test_\\xe9.py::test_new" in done.stdout


@pytest.mark.parametrize("on_base", [True, False], ids=["on a base", "in place"])
def test_a_run_of_another_commit_makes_nobody_forget_a_failure_u5(base: Repository, on_base: bool) -> None:
    flaky = "import os\n\n\ndef test_flaky():\n    assert not os.path.exists({!r})\n"
    sign = base.root / ".git" / "fail"
    base.git("checkout", "-q", "main")
    base.write("tests/test_flaky.py", flaky.format(os.fspath(sign)))
    base.commit("a test that depends on the machine")
    base.git("checkout", "-q", "-B", "patch")
    base.write("shop.py", GOOD + "\n")
    base.commit()
    base.git("checkout", "-q", "-b", "other", "main")
    base.write("shop.py", GOOD + "\n\n")
    base.commit()
    run = (lambda: judged(base)) if on_base else (lambda: base.admit("run", *base.pytest()))
    base.git("checkout", "-q", "patch")
    sign.touch()
    assert run().returncode != 0
    sign.unlink()
    base.git("checkout", "-q", "other")
    assert run().returncode == 0
    base.git("checkout", "-q", "patch")
    done = run()
    assert done.returncode == (2 if on_base else 1), done.stdout  # on a base it is broken there as well
    assert "run 2 times, both passed and failed" in done.stdout
    base.git("checkout", "-q", "other")
    assert run().returncode == 0


def test_a_loss_that_came_with_the_product_is_not_approved_with_an_edit_of_a_test_t2(ruled: Repository) -> None:
    ruled.git("checkout", "-q", "main")
    ruled.write("shop.py", GOOD + "\nCASES = [1, 2]\n")
    ruled.write(
        "tests/test_cases.py",
        "import pytest\nfrom shop import CASES\n\n\n@pytest.mark.parametrize('case', CASES)\n"
        "def test_case(case):\n    assert case\n",
    )
    ruled.commit("cases that the product names")
    ruled.git("checkout", "-q", "-B", "patch")
    ruled.write("shop.py", GOOD + "\nCASES = [1]\n")
    ruled.write("tests/test_shop.py", (ruled.root / "tests" / "test_shop.py").read_text() + "\n# a comment\n")
    ruled.commit()
    approve(ruled, "--path", "tests/test_shop.py")
    done = judged(ruled)
    assert (done.returncode, "vanished" in done.stdout) == (2, True), done.stdout
