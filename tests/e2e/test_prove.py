"""`admit prove`: one test on two commits. Real git, real worktrees, real pytest, real Hypothesis (contract P1, P2)."""

from __future__ import annotations

import json
import os
import sys
import venv
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import admit
from admit.prove.reading import read_proof

if TYPE_CHECKING:
    import subprocess

    from conftest import Repository

BROKEN = "def split(cents, parts):\n    share, rest = divmod(cents, parts)\n    return [share] * parts\n"
FIXED = BROKEN.replace("[share] * parts", "[share + 1] * rest + [share] * (parts - rest)")
EVEN = "from shop import split\n\n\ndef test_even():\n    assert split(4, 2) == [2, 2]\n"
ODD = EVEN + "\n\ndef test_odd():\n    assert split(5, 2) == [3, 2]\n"
PROPERTY = (
    "from hypothesis import given, strategies as st\nfrom shop import split\n\n\n"
    "@given(st.integers(0, 1000), st.integers(1, 9))\n"
    "def test_p(cents, parts):\n    assert sum(split(cents, parts)) == cents\n"
)


@pytest.fixture
def base(bare: Repository) -> Repository:
    """Give a repository whose last commit is a parent."""
    bare.write(".gitignore", "__pycache__/\n.venv/\n.hypothesis/\n.pytest_cache/\n.admit/\n")
    bare.write("shop.py", BROKEN)
    bare.write("tests/test_shop.py", EVEN)
    bare.commit("parent")
    return bare


def prove(repository: Repository, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    return repository.admit("prove", *words, **env)


def answers(done: subprocess.CompletedProcess[str]) -> dict[str, tuple[str, str | None]]:
    """Return answer and direction of each test, of a proof printed as JSON, which is read back strictly."""
    assert done.stdout, done.stderr
    proof = read_proof(done.stdout.encode(), "stdout")
    assert done.returncode == (0 if proof.is_proven else 1)
    return {one.node.rpartition("::")[2]: (one.cell.answer, one.cell.direction) for one in proof.nodes}


def reason(done: subprocess.CompletedProcess[str]) -> str:
    return json.loads(done.stdout)["nodes"][0]["reason"]


def proven(repository: Repository, *words: str, **env: str) -> dict[str, tuple[str, str | None]]:
    return answers(prove(repository, *words, "--format", "json", **env))


def test_a_regression_test_is_proven_to_fail_on_the_parent_p2(base: Repository) -> None:
    base.write("shop.py", FIXED)
    base.write("tests/test_shop.py", ODD)
    head = base.commit("fix")
    out = base.root / ".admit" / "proof.json"
    out.parent.mkdir(exist_ok=True)
    done = prove(base, "tests/test_shop.py::test_odd", "--out", str(out))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0].endswith("proven: it fails on the parent, passes on the patch (P2)")
    assert done.stderr == ""  # progress is for terminals
    proof = read_proof(out.read_bytes(), "proof.json")
    (node,) = proof.nodes
    assert (proof.patch.commit, proof.parent.commit) == (head, base.git("rev-parse", "HEAD^"))
    assert (proof.patch.tree, proof.parent.tree) == tuple(
        base.git("rev-parse", f"{ref}^{{tree}}") for ref in ("HEAD", "HEAD^")
    )
    assert node.blob == base.git("rev-parse", "HEAD:tests/test_shop.py")
    assert (node.parent.exception, node.origin) == ("AssertionError", "patch")
    assert "assert [2, 2] == [3, 2]" in node.parent.message
    assert proof.measured.laid == {"tests/test_shop.py": node.blob}
    assert proof.measured.versions["python"] == ".".join(map(str, sys.version_info[:3]))
    assert base.git("status", "--porcelain") == ""
    assert base.git("worktree", "list").count("\n") == 0


def test_a_property_is_proven_to_fail_on_the_patch_with_a_counterexample_that_passes_on_the_parent_p1(
    base: Repository,
) -> None:
    base.write("shop.py", FIXED)
    base.commit("parent")
    base.write("shop.py", BROKEN)
    base.write("tests/test_p.py", PROPERTY)
    base.commit("patch")
    done = prove(base, "tests/test_p.py::test_p")
    assert done.returncode == 0, done.stderr
    assert "it fails on the patch, passes on the parent (P1)" in done.stdout
    assert "counterexample: Failing test case: test_p( cents=1, parts=2, )" in done.stdout
    assert proven(base, "tests/test_p.py", "--expect", "fails-on-parent") == {"test_p": ("inverted", "fails-on-patch")}


@pytest.mark.parametrize("expect", ["either", "fails-on-parent"])
def test_a_property_that_fails_on_the_parent_has_its_counterexample_replayed_on_the_patch_p2(
    base: Repository, expect: str
) -> None:
    base.write("shop.py", FIXED)
    base.write("tests/test_p.py", PROPERTY)
    base.commit("fix")
    done = prove(base, "tests/test_p.py", "--expect", expect)
    assert done.returncode == 0, done.stdout
    assert "the counterexample passes on the other side" in done.stdout


OFTEN = "def holds(n):\n    return n < int('123456')\n"
ONCE = "def holds(n):\n    return n != int('123456')\n"  # which no search of 100 inputs finds
HOLDS = (
    "import shop\nfrom hypothesis import given, strategies as st\n\n\n"
    "@given(st.integers(0, 10**9))\ndef test_p(n):\n    assert shop.holds(n)\n"
)


@pytest.mark.parametrize(("patch", "parent"), [(OFTEN, ONCE), (ONCE, OFTEN)], ids=["p1", "p2"])
def test_a_counterexample_that_fails_on_the_passing_side_too_proves_nothing(
    base: Repository, patch: str, parent: str
) -> None:
    base.write("shop.py", parent)
    base.commit("parent")
    base.write("shop.py", patch)
    base.write("tests/test_p.py", HOLDS)
    base.commit("patch")
    done = prove(base, "tests/test_p.py", "--format", "json")
    assert answers(done) == {"test_p": ("already_broken", None)}
    assert reason(done) == "the other side's counterexample fails here, too"


@pytest.mark.parametrize(
    ("body", "answer"),
    [
        pytest.param("assert split(4, 2)", "tautology", id="passes on both"),
        pytest.param("assert split(5, 2) == [9]", "already_broken", id="fails on both"),
        pytest.param("import pytest; pytest.skip('no')", "cannot_run", id="skips"),
        pytest.param("from shop import later", "cannot_run", id="an import that fails on both"),
        pytest.param("import shop; assert 'rest + ' in open(shop.__file__).read()", "vacuous", id="reads the source"),
        pytest.param("import os, time; assert time.time_ns() % 2 + split(5, 2)[0] % 2", "flaky", id="by chance"),
        pytest.param("import os; os._exit(0) if split(5, 2) == [2, 2] else None", "cannot_run", id="ends the process"),
    ],
)
def test_what_is_no_proof_says_what_it_is(base: Repository, body: str, answer: str) -> None:
    base.write("shop.py", FIXED)
    base.write("tests/test_b.py", f"from shop import split\n\n\ndef test_b():\n    {body}\n")
    base.commit("fix")
    # a coin that falls the same way twenty times on the side that passes and on the one that fails
    found = proven(base, "tests/test_b.py", *(("--repeat", "20") if answer == "flaky" else ()))
    assert {one for one, _ in found.values()} == {answer}


def test_a_test_that_passes_on_both_and_runs_nothing_of_the_change_is_vacuous(base: Repository) -> None:
    pytest.importorskip("coverage", reason="below Python 3.12 coverage.py traces")
    base.write("shop.py", FIXED + "\n\ndef other():\n    return 1\n")
    base.commit("parent")
    base.write("shop.py", BROKEN + "\n\ndef other():\n    return 1\n")
    base.write(
        "tests/test_b.py",
        "import subprocess, sys\nimport shop\n\n\ndef test_other():\n    assert shop.other() == 1\n\n\n"
        "def test_even():\n    assert shop.split(4, 2) == [2, 2]\n\n\n"
        "def test_spawns():\n    assert subprocess.run([sys.executable, '-c', '']).returncode == 0\n",
    )
    base.commit("patch")
    done = prove(base, "tests/test_b.py", "--format", "json")
    # what another process ran nobody saw
    assert {name: answer for name, (answer, _) in answers(done).items()} == {
        "test_even": "tautology",
        "test_other": "vacuous",
        "test_spawns": "tautology",
    }
    reach = {one.node.rpartition("::")[2]: one.reach for one in read_proof(done.stdout.encode(), "p").nodes}
    assert reach["test_even"].lines == ("+shop.py:3", "-shop.py:3")
    assert not reach["test_spawns"].is_known


def test_a_test_of_what_the_parent_does_not_have_cannot_run_there(base: Repository) -> None:
    base.write("shop.py", FIXED + "\n\ndef halves(cents):\n    return split(cents, 2)\n")
    base.write("tests/test_h.py", "from shop import halves\n\n\ndef test_h():\n    assert halves(4) == [2, 2]\n")
    base.commit("feature")
    done = prove(base, "tests/test_h.py::test_h", "--format", "json")
    assert answers(done) == {"test_h": ("cannot_run", None)}
    assert reason(done).startswith("cannot run on the parent: it was not collected: ImportError: cannot import name")


def test_new_support_of_the_tests_comes_along_and_code_does_not(base: Repository) -> None:
    base.write("shop.py", FIXED)
    base.write("conftest.py", "import pytest\n\n\n@pytest.fixture\ndef five():\n    return 5\n")
    base.write("tests/data/odd.json", "[3, 2]\n")
    base.write(
        "tests/test_new.py",
        "import json, pathlib\nfrom shop import split\n\n\ndef test_new(five):\n"
        "    want = pathlib.Path(__file__).parent / 'data' / 'odd.json'\n"
        "    assert split(five, 2) == json.loads(want.read_text())\n",
    )
    base.commit("fix")
    done = prove(base, "tests/test_new.py", "--format", "json")
    assert answers(done) == {"test_new": ("proven", "fails-on-parent")}
    laid = read_proof(done.stdout.encode(), "p").measured.laid
    assert sorted(laid) == ["conftest.py", "tests/data/odd.json", "tests/test_new.py"]


def test_new_parameters_and_tests_that_moved_are_proven_by_their_new_names(base: Repository) -> None:
    base.write("shop.py", FIXED)
    base.git("mv", "tests/test_shop.py", "tests/test_moved.py")
    base.write(
        "tests/test_moved.py",
        "import pytest\nfrom shop import split\n\n\n"
        "@pytest.mark.parametrize('n, want', [(4, 2), (5, 3), (7, 4)], ids=['4', 'a::b', '7[x]'])\n"
        "def test_n(n, want):\n    assert split(n, 2)[0] == want\n",
    )
    base.commit("fix")
    assert proven(base, "tests/test_moved.py::test_n[a::b]", "tests/test_moved.py::test_n[7[x]]") == {
        "b]": ("proven", "fails-on-parent"),
        "test_n[7[x]]": ("proven", "fails-on-parent"),
    }
    done = prove(base, "tests/test_moved.py::test_n")
    assert (done.returncode, done.stdout.splitlines()[-1].partition(":")[0]) == (1, "2 of 3 proven")


def test_several_tests_are_proven_at_once_and_one_that_is_not_keeps_exit_code_1(base: Repository) -> None:
    base.write("shop.py", FIXED)
    base.write("tests/test_shop.py", ODD)
    base.write("tests/test_broken.py", "from shop import nothing\n")
    base.commit("fix")
    words = (
        "tests/test_shop.py::test_odd",
        "tests/test_shop.py::test_even",
        "tests/test_broken.py",
        "tests/test_shop.py::x",
    )
    found = proven(base, *words)
    assert {name: answer for name, (answer, _) in found.items()} == {
        "test_odd": "proven",
        "test_even": "tautology",
        "tests/test_broken.py": "cannot_run",
        "x": "cannot_run",
    }


def test_a_merge_is_compared_with_its_first_parent_and_another_parent_can_be_named(base: Repository) -> None:
    base.git("checkout", "-qb", "side")
    base.write("shop.py", FIXED)
    base.write("tests/test_shop.py", ODD)
    base.commit("fix")
    base.git("checkout", "-q", "main")
    base.write("README", "")
    base.commit("meanwhile")
    base.git("merge", "-q", "--no-ff", "-m", "merge", "side")
    assert proven(base, "tests/test_shop.py::test_odd") == {"test_odd": ("proven", "fails-on-parent")}
    assert proven(base, "tests/test_shop.py::test_odd", "--parent", "side") == {"test_odd": ("tautology", None)}
    base.git("checkout", "-q", "side")
    env = {"GITLAB_CI": "true", "CI_MERGE_REQUEST_TARGET_BRANCH_SHA": "main^1"}
    assert proven(base, "tests/test_shop.py::test_odd", **env) == {"test_odd": ("proven", "fails-on-parent")}


def test_a_file_that_no_commit_has_yet_is_proven_too_and_says_so(base: Repository) -> None:
    base.write("shop.py", FIXED)
    base.commit("fix")
    base.write("proposals/test_p.py", PROPERTY)
    done = prove(base, "proposals/test_p.py")
    assert done.returncode == 0, done.stdout
    assert "proposals/test_p.py is in no commit yet: this proof counts for no patch" in done.stdout


def test_a_workspace_in_a_folder_is_proven_from_there(base: Repository) -> None:
    for name in ("pyproject.toml", "shop.py", "tests/test_shop.py"):
        base.write(f"sub/{name}", (base.root / name).read_text())
    base.write("shop.py", "raise SystemExit\n")
    base.commit("parent")
    base.write("sub/shop.py", FIXED)
    base.write("sub/tests/test_shop.py", ODD)
    base.commit("fix")
    there = type(base)(base.root / "sub")
    assert proven(there, "tests/test_shop.py::test_odd") == {"test_odd": ("proven", "fails-on-parent")}
    assert proven(there, "sub/tests/test_shop.py::test_odd") == {"test_odd": ("proven", "fails-on-parent")}


def test_the_seed_and_the_settings_are_the_parents_and_stand_in_the_record(base: Repository) -> None:
    pins = '[lock.sets.all]\npaths = ["tests/data/**"]\n\n[hypothesis]\n'
    base.write("admit.toml", pins + "seed = 7\nmax_examples = 12\n")
    assert base.admit("lock", "write").returncode == 0
    base.commit("parent")
    base.write("admit.toml", pins + "seed = 8\nmax_examples = 1\n")
    base.write("shop.py", FIXED)
    base.write("tests/test_p.py", PROPERTY)
    base.commit("fix")
    done = prove(base, "tests/test_p.py", "--format", "json")
    assert answers(done) == {"test_p": ("proven", "fails-on-parent")}
    measured = read_proof(done.stdout.encode(), "p").measured
    assert (measured.seed, measured.profile["max_examples"], measured.profile["database"]) == (7, 12, None)
    assert measured.lock is not None
    assert measured.manifest is not None


def without_pythonpath(base: Repository) -> None:
    for name in ("pyproject.toml", "shop.py"):
        base.git("rm", "-q", name)
    base.write("pytest.ini", "[pytest]\n")
    base.write("src/shop.py", BROKEN)
    base.commit("parent")


def environment(folder: Path, *places: str) -> str:
    """Return the Python of an environment that has what this one has, and imports from further places by itself."""
    venv.create(folder)
    ours = [path for path in sys.path if path.endswith("site-packages")] + [str(Path(admit.__file__).parents[1])]
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "linked.pth").write_text("".join(f"{path}\n" for path in (*ours, *places)))
    return str(folder / "bin" / "python")


def run_by(base: Repository, python: str) -> None:
    base.write("admit.toml", f'[run]\ncommand = ["{python}", "-m", "pytest"]\n')
    base.commit("how tests are run")
    base.write("src/shop.py", FIXED)
    base.write("tests/test_shop.py", ODD)
    base.commit("fix")


def test_a_project_that_is_linked_into_the_environment_is_taken_from_each_worktree(base: Repository) -> None:
    without_pythonpath(base)
    run_by(base, environment(base.root / ".venv", str(base.root / "src")))
    assert proven(base, "tests/test_shop.py::test_odd") == {"test_odd": ("proven", "fails-on-parent")}


def test_a_project_that_is_installed_gives_no_verdict(base: Repository) -> None:
    without_pythonpath(base)
    python = environment(base.root / ".venv")
    (packages,) = (base.root / ".venv").glob("lib/python*/site-packages")
    (packages / "shop.py").write_text(BROKEN)
    run_by(base, python)
    done = prove(base, "tests/test_shop.py::test_odd", "--format", "json")
    assert answers(done) == {"test_odd": ("cannot_run", None)}
    assert "not from the tree under judgement: shop (" in reason(done)


def test_bytecode_of_one_side_never_runs_on_the_other(base: Repository) -> None:
    # the same size and time: by these Python takes a compiled module for that of its source
    base.write("shop.py", "def split(a, b):\n    return [2, 2]\n")
    base.write("tests/test_shop.py", EVEN)
    base.commit("parent")
    base.write("shop.py", "def split(a, b):\n    return [3, 2]\n")
    base.write("tests/test_shop.py", ODD)
    base.run(sys.executable, "-m", "compileall", "-q", ".")
    base.git("add", "-Af", ".")
    base.git("commit", "-qm", "fix, and what Python made of it")
    for path in base.root.rglob("*.py"):
        os.utime(path, (1e9, 1e9))
    assert proven(base, "tests/test_shop.py::test_odd") == {"test_odd": ("proven", "fails-on-parent")}


def test_options_of_the_person_who_asks_change_nothing(base: Repository) -> None:
    base.write("shop.py", FIXED)
    base.write("tests/test_shop.py", ODD)
    base.commit("fix")
    env = {"PYTEST_ADDOPTS": "-k nothing", "PYTHONDONTWRITEBYTECODE": "1", "CI": "true"}
    assert proven(base, "tests/test_shop.py::test_odd", **env) == {"test_odd": ("proven", "fails-on-parent")}


def test_a_command_that_runs_no_tests_gives_no_verdict(base: Repository) -> None:
    base.write("admit.toml", '[run]\ncommand = ["true"]\n')
    base.commit("parent")
    base.write("shop.py", FIXED)
    base.commit("fix")
    done = prove(base, "tests/test_shop.py", "--format", "json")
    assert answers(done) == {"tests/test_shop.py": ("cannot_run", None)}
    assert "the command left no evidence" in reason(done)


def test_what_the_tests_print_is_shown_on_request(base: Repository) -> None:
    base.write("shop.py", FIXED)
    base.write("tests/test_shop.py", ODD)
    base.commit("fix")
    assert "passed" in prove(base, "tests/test_shop.py::test_odd", "--verbose").stderr


def test_a_proof_gives_the_same_bytes_again(base: Repository) -> None:
    base.write("shop.py", FIXED)
    base.write("tests/test_p.py", PROPERTY)
    base.commit("fix")
    first, second = (prove(base, "tests/test_p.py", "--format", "json") for _ in range(2))
    assert first.stdout == second.stdout
