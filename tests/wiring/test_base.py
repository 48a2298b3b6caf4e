"""The base of a patch: what CI says of it, what a repository has of it, what a run makes of it (contract T1, T7)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from admit.errors import InputError
from admit.wiring.base import base_moved_on, based, control_space, found_base

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Repository

A, B, C = "a" * 40, "b" * 40, "c" * 40
MAIN = "refs/remotes/origin/main"
PULL = {"pull_request": {"base": {"sha": A}}}
QUEUE = {"merge_group": {"base_sha": B}}
GITHUB = {"GITHUB_ACTIONS": "true"}
GITLAB = {"GITLAB_CI": "true"}


def event(folder: Path, content: Any) -> dict[str, str]:
    path = folder / "event.json"
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return GITHUB | {"GITHUB_EVENT_PATH": str(path)}


# -- what CI says -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("environ", "base"),
    [
        pytest.param({}, None, id="nowhere"),
        pytest.param(GITHUB, None, id="GitHub, no patch"),
        pytest.param(GITHUB | {"GITHUB_BASE_REF": ""}, None, id="GitHub, a push"),
        pytest.param(GITHUB | {"GITHUB_BASE_REF": "main"}, MAIN, id="GitHub, a pull request"),
        pytest.param({"GITHUB_BASE_REF": "main"}, None, id="a variable of GitHub's elsewhere"),
        pytest.param(GITHUB | {"CI_MERGE_REQUEST_DIFF_BASE_SHA": A}, None, id="a variable of GitLab's on GitHub"),
        pytest.param(GITHUB | {"GITHUB_EVENT_PATH": "/no/such/file"}, None, id="GitHub, an event that is not there"),
        pytest.param(GITHUB | {"GITHUB_EVENT_PATH": "/"}, None, id="GitHub, an event that is a folder"),
        pytest.param(GITHUB | {"GITHUB_EVENT_PATH": "a\0b"}, None, id="GitHub, an event that is no path"),
        pytest.param(GITLAB, None, id="GitLab, no patch"),
        pytest.param(GITLAB | {"CI_MERGE_REQUEST_TARGET_BRANCH_SHA": A}, A, id="GitLab, merged results"),
        pytest.param(
            GITLAB | {"CI_MERGE_REQUEST_TARGET_BRANCH_SHA": "", "CI_MERGE_REQUEST_DIFF_BASE_SHA": B},
            B,
            id="GitLab, a merge request",
        ),
        pytest.param(
            GITLAB | {"CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main", "CI_MERGE_REQUEST_DIFF_BASE_SHA": B},
            MAIN,
            id="GitLab, its target first",
        ),
        pytest.param({"CI_MERGE_REQUEST_DIFF_BASE_SHA": B}, None, id="a variable of GitLab's elsewhere"),
    ],
)
def test_the_base_is_what_the_job_says(tmp_path: Path, environ: dict[str, str], base: str | None) -> None:
    assert found_base(environ, tmp_path) == base


@pytest.mark.parametrize(
    ("content", "base"),
    [
        pytest.param(PULL, A, id="a pull request"),
        pytest.param(QUEUE, B, id="a merge queue"),
        pytest.param(PULL | QUEUE, B, id="both"),
        pytest.param({"pull_request": {"base": {"sha": ""}}}, None, id="empty"),
        pytest.param({"pull_request": {"base": {"sha": 7}}}, None, id="a number"),
        pytest.param({"pull_request": {"base": None}}, None, id="no base"),
        pytest.param({"pull_request": [A]}, None, id="an array inside"),
        pytest.param({"pull_request": {"base": A}}, None, id="a word where an object belongs"),
        pytest.param({"merge_group": None, **PULL}, A, id="an empty queue"),
        pytest.param([], None, id="an array"),
        pytest.param(b"", None, id="nothing"),
        pytest.param(b'{"pull_request": {"base": {"sha": "aaa', None, id="cut"),
        pytest.param(b"\xff\xfe", None, id="bytes"),
        pytest.param(b"[" * 100_000, None, id="deep"),
    ],
)
def test_the_event_of_a_github_job_says_the_base(tmp_path: Path, content: Any, base: str | None) -> None:
    assert found_base(event(tmp_path, content), tmp_path) == base


def test_of_a_pull_request_the_branch_is_taken_where_it_was_fetched_as_the_event_stays_behind(
    repository: Repository, tmp_path: Path
) -> None:
    environ = event(tmp_path, {"pull_request": {"base": {"sha": repository.commit()}}})
    environ["GITHUB_BASE_REF"] = "main"
    assert found_base(environ, repository.here) == repository.git("rev-parse", "HEAD")
    repository.git("update-ref", MAIN, repository.commit())
    assert found_base(environ, repository.here) == MAIN


def test_a_tag_that_is_named_like_the_branch_is_not_taken_for_it(repository: Repository) -> None:
    first = repository.commit()
    repository.git("update-ref", MAIN, first)
    repository.git("tag", "origin/main", repository.commit())
    found = found_base(GITHUB | {"GITHUB_BASE_REF": "main"}, repository.here)
    assert found is not None
    assert repository.git("rev-parse", found) == first


def test_a_base_that_was_not_fetched_is_named_and_nothing_is_judged_without_it(repository: Repository) -> None:
    repository.commit()
    done = repository.admit("run", "--", "true", **GITHUB, GITHUB_BASE_REF="main")
    assert (done.returncode, done.stdout) == (65, "")
    assert f"{MAIN}: no such commit in this repository" in done.stderr


def test_a_job_s_base_judges_and_no_base_takes_it_back(initialised: Repository) -> None:
    initialised.git("update-ref", MAIN, "HEAD")
    initialised.commit(shop__py="def half(n):\n    return n // 2 + (n == 4)\n")
    initialised.commit(tests__test_shop__py="def test_half():\n    pass\n")
    command = initialised.pytest_words()
    done = initialised.admit("run", *command, **GITHUB, GITHUB_BASE_REF="main")
    assert (done.returncode, initialised.reasons()) == (2, {"test_edited"}), done.stderr[-2000:]
    done = initialised.admit("run", "--no-base", *command, **GITHUB, GITHUB_BASE_REF="main")
    assert "no-base: " in done.stdout


# -- where the patch left it ------------------------------------------------------------------------------------------


def test_a_patch_is_told_from_where_it_left_the_base(repository: Repository) -> None:
    base = repository.commit(admit__toml="")
    repository.git("switch", "-qc", "patch")
    head = repository.commit(new__py="")
    repository.git("switch", "-q", "main")
    tip = repository.commit(other__py="")
    repository.git("switch", "-q", "patch")
    patch = based(repository.here, "main")
    assert (patch.base, patch.tip, patch.head, patch.prefix) == (base, tip, head, "")
    assert [change.path for change in patch.changes] == ["new.py"]
    assert based(repository.here, "main", head="main").changes == ()


def test_the_workspace_is_the_nearest_one_that_the_base_has(repository: Repository) -> None:
    base = repository.commit(sub__admit__toml="", admit__toml="")
    (repository.root / "sub" / "deep").mkdir()
    repository.write("sub/deep/admit.toml", "")
    repository.commit()
    patch = based(repository.root / "sub" / "deep", base)
    assert (patch.space.root, patch.prefix) == (repository.root / "sub", "sub/")
    assert patch.in_top("x.py") == "sub/x.py"
    assert based(repository.root, base).prefix == ""


@pytest.mark.parametrize(
    ("ref", "found"),
    [
        pytest.param("gone", "gone: no such commit", id="no such commit"),
        pytest.param("unrelated", "no commit in common", id="another history"),
        pytest.param("main", "main:admit.toml: the base does not have it", id="no admit.toml"),
    ],
)
def test_a_base_that_cannot_judge_is_refused(repository: Repository, ref: str, found: str) -> None:
    repository.commit()
    repository.git("update-ref", "refs/heads/unrelated", repository.git("commit-tree", "HEAD^{tree}", "-m", "y"))
    with pytest.raises(InputError, match=found):
        based(repository.here, ref)


def test_settings_of_the_base_that_cannot_be_read_are_refused_by_their_name(repository: Repository) -> None:
    repository.commit(admit__toml="[")
    with pytest.raises(InputError, match=r"main:admit\.toml"):
        based(repository.here, "main")


def test_a_folder_without_a_commit_is_refused(repository: Repository, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no commit is checked out here"):
        based(tmp_path, "main")
    with pytest.raises(InputError, match="no commit is checked out here"):
        based(repository.here, "main")


def test_files_under_review_are_the_base_s_whatever_the_patch_does_to_them(
    repository: Repository, tmp_path: Path
) -> None:
    repository.write("sub/admit.freezes.toml", "# base\n")
    base = repository.commit(sub__admit__toml="")
    repository.here = repository.root / "sub"
    repository.write("admit.freezes.toml", "# patch\n")
    repository.write("admit.sha256", "")
    repository.commit()
    control = control_space(based(repository.here, base), tmp_path / "control")
    held = {path.name: path.read_text() for path in control.root.iterdir()}
    assert held == {"admit.toml": "", "admit.freezes.toml": "# base\n"}


# -- a base that moved on ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "said"),
    [
        pytest.param("admit.freezes.toml", "the base has others by now: admit.freezes.toml", id="under review"),
        pytest.param("admit.toml", "the base has others by now: admit.toml", id="configuration"),
        pytest.param("other.py", "", id="another file"),
        pytest.param("sub/admit.toml", "", id="another workspace"),
    ],
)
def test_a_patch_that_stayed_behind_the_files_under_review_says_so(
    repository: Repository, name: str, said: str
) -> None:
    repository.commit(admit__toml="")
    repository.git("branch", "patch")
    repository.write(name, "# new\n")
    repository.commit()
    repository.git("switch", "-q", "patch")
    repository.commit(shop__py="")
    assert base_moved_on(based(repository.here, "main")) == said
    repository.git("rebase", "-q", "main")
    assert base_moved_on(based(repository.here, "main")) == ""


def test_a_run_on_a_base_whose_files_under_review_moved_on_holds_until_it_is_up_to_date_e5(
    initialised: Repository,
) -> None:
    initialised.git("branch", "patch")
    register = (initialised.here / "admit.freezes.toml").read_text()
    initialised.write("admit.freezes.toml", register + "# another line\n")
    assert initialised.admit("lock", "write").returncode == 0
    initialised.commit()
    initialised.git("switch", "-q", "patch")
    initialised.commit(shop__py="def half(n):\n    return n >> 1\n")
    done = initialised.judged("main")
    assert done.returncode == 2
    assert done.stdout.startswith("ESCALATE attribution=base-moved\n"), done.stdout + done.stderr[-2000:]
    initialised.git("rebase", "-q", "main")
    done = initialised.judged("main")
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]


# -- a workspace in a folder of the repository ------------------------------------------------------------------------

BUG = "def half(n):\n    return n // 2 + (n == 4)\n"
MORE = "def half(n):\n    return n // 2\n\n\ndef third(n):\n    return n // 3\n"


def test_in_a_folder_a_feature_with_its_test_merges(workspace: Repository) -> None:
    workspace.write("tests/test_third.py", "import shop\n\n\ndef test_third():\n    assert shop.third(3) == 1\n")
    workspace.commit(shop__py=MORE)
    done = workspace.judged("main~1")
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    assert "proposal tests/test_third.py::test_third" in done.stdout


@pytest.mark.parametrize(
    ("files", "exit_code", "reasons"),
    [
        pytest.param({"shop.py": BUG}, 1, {"fixture_fail"}, id="a bug"),
        pytest.param(
            {"shop.py": BUG, "tests/test_shop.py": "def test_half():\n    pass\n"}, 2, {"test_edited"}, id="edited"
        ),
        pytest.param({"tests/test_shop.py": ""}, 2, {"fixture_not_run"}, id="lost"),
        pytest.param({"tests/test_new.py": "def test_new():\n    assert 0\n"}, 2, {"unproven_property"}, id="new"),
        pytest.param({"../../other/tests/test_other.py": "def test_other():\n    assert 0\n"}, 0, set(), id="outside"),
    ],
)
def test_in_a_folder_a_patch_gets_what_it_gets_at_the_top(
    workspace: Repository, files: dict[str, str], exit_code: int, reasons: set[str]
) -> None:
    for name, text in files.items():
        workspace.write(name, text)
    workspace.commit()
    done = workspace.judged("main~1")
    assert (done.returncode, workspace.reasons()) == (exit_code, reasons), done.stdout + done.stderr[-2000:]


@pytest.mark.parametrize(
    ("name", "attribution"),
    [
        pytest.param("../../conftest.py", "instrument-edited", id="conftest above"),
        pytest.param("conftest.py", "instrument-edited", id="conftest"),
        pytest.param("random.py", "instrument-edited", id="a name of the library"),
        pytest.param("admit.toml", "control-files-touched", id="configuration"),
        pytest.param("tests/data/pinned.txt", "fixture_repinned", id="a pinned file"),
    ],
)
def test_in_a_folder_what_waits_for_a_reviewer_waits(workspace: Repository, name: str, attribution: str) -> None:
    path = workspace.here / name
    workspace.write(name, (path.read_text() if path.exists() else "") + "# more\n")
    workspace.commit()
    done = workspace.admit("decide", "--base", "main~1")
    assert (done.returncode, done.stdout.splitlines()[:1]) == (2, [f"ESCALATE attribution={attribution}"]), done.stderr


def test_what_git_does_not_track_is_brought_into_the_folder_s_place_in_the_worktree(workspace: Repository) -> None:
    workspace.write(
        "tests/test_shop.py",
        "import pathlib\n\n\ndef test_half():\n"
        "    assert pathlib.Path('node_modules/there.txt').read_text() == 'there'\n",
    )
    workspace.write(".gitignore", (workspace.here / ".gitignore").read_text() + "node_modules/\n")
    workspace.commit()
    workspace.write("node_modules/there.txt", "there")
    workspace.commit(shop__py=MORE)
    done = workspace.judged("main~1")
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]


def test_nodes_are_known_where_pytest_counts_from_above_the_folder(workspace: Repository) -> None:
    (workspace.here / "pyproject.toml").rename(workspace.root / "pyproject.toml")
    (workspace.root / "pyproject.toml").write_text('[tool.pytest.ini_options]\npythonpath = ["services/shop"]\n')
    workspace.commit()
    workspace.commit(shop__py=BUG)
    workspace.commit(tests__test_shop__py="def test_half():\n    pass\n")
    done = workspace.judged("main~2")
    assert (done.returncode, workspace.reasons()) == (2, {"test_edited"}), done.stdout + done.stderr[-2000:]
    assert "services/shop/tests/test_shop.py::test_half" in done.stdout
