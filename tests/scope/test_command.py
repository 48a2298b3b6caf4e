"""`admit scope` in a repository: the map, the patch and the base come together (contract S1 to S4)."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from admit.cli import main
from admit.scope.map import NodeReach, ScopeMap, bits_of
from admit.scope.mapfile import write_map
from admit.scope.shape import shape_of

SOURCE = "import os\n\n\ndef f():\n    a = 1\n    return a\n\n\ndef g():\n    return 2\n"
Commit = Callable[[], str]
Git = Callable[..., str]
Asked = Callable[..., dict[str, str]]


def node(lines: list[int], *opened: str) -> NodeReach:
    return NodeReach(True, "", {0: bits_of(lines)} if lines else {}, frozenset(opened), frozenset(), "tests/test_a.py")


NODES = {"f": node([5, 6]), "g": node([10]), "reads": node([], "docs/a.md")}


def map_of(root: Path, base: str, git: Git) -> ScopeMap:
    paths = [path for path in git("ls-files", "-z", "*.py").split("\0") if path]
    files = {path: shape_of((root / path).read_bytes(), git("rev-parse", f"{base}:{path}").strip()) for path in paths}
    return ScopeMap(base, "monitoring", "3.13.0", files, NODES, NodeReach(True, "", {}, frozenset(), frozenset()), True)


@pytest.fixture
def base(repository: Path, commit: Commit, git: Git) -> str:
    """A commit with a map of it."""
    (repository / "a.py").write_text(SOURCE)
    (repository / "docs").mkdir()
    (repository / "docs" / "a.md").write_text("a page\n")
    (repository / ".gitignore").write_text(".admit/\n")
    made = commit()
    write_map(repository / ".admit" / "scope" / "map", map_of(repository, made, git))
    return made


@pytest.fixture
def asked(repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Asked:
    """Ask in the repository and return the reason of each node."""
    monkeypatch.chdir(repository)

    def run(*words: str) -> dict[str, str]:
        assert main(["scope", "--format", "json", *words]) == 0
        tree = json.loads(capsys.readouterr().out)
        return {one["node"]: one["reason"] for one in tree["nodes"]} or {"no map": tree["no_map"]}

    return run


def edit(root: Path, old: str, new: str) -> None:
    text = (root / "a.py").read_text()
    assert old in text
    (root / "a.py").write_text(text.replace(old, new))


def test_the_nodes_that_ran_what_a_commit_changes_are_shown(
    repository: Path, base: str, commit: Commit, asked: Asked, capsys: pytest.CaptureFixture[str]
) -> None:
    edit(repository, "a = 1", "a = 3")
    head = commit()
    assert asked() == {"f": "line", "g": "apart", "reads": "apart"}
    assert asked("--base", base) == asked("--base", "HEAD~1") == asked()
    assert main(["scope"]) == 0
    assert capsys.readouterr().out == (
        f"{base[:12]}..{head[:12]}: 1 file (what is not committed is not among them)\n"
        "3 tests: 1 cover the patch, 0 unknown, 2 do not cover it\n"
        "covers: a.py:5: it ran a line that changes (f)\n"
        "  f\n"
    )


def test_without_a_change_no_node_is_reached(base: str, asked: Asked) -> None:
    assert set(asked().values()) == {"no_change"}


def test_what_is_not_committed_is_not_asked_about(repository: Path, base: str, asked: Asked) -> None:
    edit(repository, "a = 1", "a = 3")
    assert set(asked().values()) == {"no_change"}


def test_a_patch_that_python_refuses_is_in_scope_of_everybody(
    repository: Path, base: str, commit: Commit, asked: Asked
) -> None:
    edit(repository, "a = 1", "a = (")
    commit()
    assert set(asked().values()) == {"unreadable"}


def test_a_renamed_module_is_in_scope_of_everybody(repository: Path, base: str, commit: Commit, asked: Asked) -> None:
    (repository / "a.py").rename(repository / "b.py")
    commit()
    assert set(asked().values()) == {"import"}


def test_a_node_can_be_asked_for_alone_and_a_new_one_is_in_scope(base: str, asked: Asked) -> None:
    assert asked("--node", "g", "new") == {"g": "no_change", "new": "new_node"}


def test_a_page_is_for_those_that_open_it(repository: Path, base: str, commit: Commit, asked: Asked) -> None:
    (repository / "docs" / "a.md").write_text("another page\n")
    commit()
    assert asked() == {"f": "apart", "g": "apart", "reads": "data"}


def test_a_map_of_another_base_tells_nothing(repository: Path, base: str, commit: Commit, asked: Asked) -> None:
    (repository / "docs" / "a.md").write_text("another page\n")
    later = commit()
    edit(repository, "a = 1", "a = 3")
    commit()
    assert set(asked("--base", later).values()) == {"other_base"}


def test_the_patch_is_compared_from_where_it_left_its_base(
    repository: Path, base: str, commit: Commit, git: Git, asked: Asked
) -> None:
    edit(repository, "a = 1", "a = 3")
    commit()
    git("switch", "-q", "-c", "moved", base)
    edit(repository, "return 2", "return 3")
    commit()
    git("switch", "-q", "main")
    assert asked("--base", "moved") == {"f": "line", "g": "apart", "reads": "apart"}


@pytest.mark.parametrize("variables", [{"GITHUB_ACTIONS": "true", "GITHUB_BASE_REF": "trunk"}], ids=["GitHub"])
def test_the_base_that_ci_names_is_the_one_that_counts(
    repository: Path,
    base: str,
    commit: Commit,
    git: Git,
    asked: Asked,
    monkeypatch: pytest.MonkeyPatch,
    variables: dict[str, str],
) -> None:
    edit(repository, "return 2", "return 3")
    later = commit()
    git("update-ref", "refs/remotes/origin/trunk", later)
    for key, value in variables.items():
        monkeypatch.setenv(key, value)
    assert set(asked().values()) == {"other_base"}


@pytest.mark.parametrize("damage", ["none", "torn", "edited", "foreign", "folder", "gone base"])
def test_without_a_map_that_is_whole_every_node_is_in_scope(
    repository: Path, base: str, asked: Asked, damage: str, git: Git
) -> None:
    path = repository / ".admit" / "scope" / "map"
    raw = path.read_bytes()
    match damage:
        case "torn":
            path.write_bytes(raw[: len(raw) // 2])
        case "edited":
            path.write_bytes(raw[:60] + b"x" + raw[61:])
        case "foreign":
            path.write_bytes(b"SQLite format 3\0")
        case "gone base":
            write_map(path, map_of(repository, base, git)._replace(base="e" * 40))
        case _:
            path.unlink()
            if damage == "folder":
                path.mkdir()
    assert set(asked("--node", "f", "g").values()) == {"no_map"}
    assert asked() != {"no map": None}


def test_a_map_that_the_patch_brings_along_is_not_read(
    repository: Path, base: str, git: Git, commit: Commit, asked: Asked
) -> None:
    edit(repository, "a = 1", "a = 3")
    git("add", "-f", ".admit/scope/map")
    commit()
    assert "git tracks it" in asked()["no map"]


def test_a_map_that_a_link_of_the_patch_leads_to_is_not_read(
    repository: Path, base: str, commit: Commit, asked: Asked
) -> None:
    (repository / ".admit").rename(repository / "brought")
    (repository / ".admit").symlink_to("brought")
    (repository / ".gitignore").unlink()
    commit()
    assert "git tracks it" in asked()["no map"]


def test_a_map_of_a_repository_inside_is_not_read(repository: Path, base: str, commit: Commit, asked: Asked) -> None:
    (repository / ".admit" / ".git").mkdir()
    assert "git tracks it" in asked()["no map"]


def test_a_map_may_lie_outside_of_the_repository(repository: Path, base: str, asked: Asked, tmp_path: Path) -> None:
    os.replace(repository / ".admit" / "scope" / "map", tmp_path / "map")
    assert set(asked("--map", str(tmp_path / "map")).values()) == {"no_change"}
    assert set(asked("--map", "../map").values()) == {"no_change"}
    assert "no such file" in asked()["no map"]


def test_what_the_base_calls_inert_matters_to_nodes_that_open_it(
    repository: Path, commit: Commit, git: Git, asked: Asked
) -> None:
    (repository / "a.py").write_text(SOURCE)
    (repository / "docs").mkdir()
    (repository / "docs" / "conf.py").write_text("a = 1\n")
    (repository / "docs" / "a.md").write_text("a page\n")
    (repository / ".gitignore").write_text(".admit/\n")
    (repository / "admit.toml").write_text('[scope]\ninert = ["docs/*"]\n')
    base = commit()
    write_map(repository / ".admit" / "scope" / "map", map_of(repository, base, git))
    (repository / "docs" / "conf.py").write_text("a = 2\n")
    (repository / "docs" / "a.md").write_text("another page\n")
    (repository / "admit.toml").write_text('[scope]\ninert = ["*"]\n')
    (repository / "conftest.py").touch()
    commit()
    assert asked() == {"f": "configuration", "g": "configuration", "reads": "data"}
    git("rm", "-q", "conftest.py")
    git("checkout", "-q", base, "--", "admit.toml")
    commit()
    assert asked() == {"f": "apart", "g": "apart", "reads": "data"}


def test_a_workspace_inside_of_the_repository_has_its_own_map_and_settings(
    repository: Path, commit: Commit, git: Git, asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repository / "sub").mkdir()
    (repository / "a.py").write_text(SOURCE)
    (repository / "sub" / "admit.toml").write_text('[scope]\ninert = ["sub/page.md"]\n')
    (repository / "sub" / "page.md").write_text("a page\n")
    (repository / ".gitignore").write_text(".admit/\n")
    base = commit()
    write_map(repository / "sub" / ".admit" / "scope" / "map", map_of(repository, base, git))
    edit(repository, "return 2", "return 3")
    commit()
    monkeypatch.chdir(repository / "sub")
    assert asked() == {"f": "apart", "g": "line", "reads": "apart"}


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        pytest.param(["--base", "no-such"], 65, "no such commit", id="no such base"),
        pytest.param(["--base=-x"], 65, "cannot be the name of a commit", id="a base that is an option"),
        pytest.param(["--format", "yaml"], 64, "invalid choice", id="no such format"),
        pytest.param(["--what"], 64, "unrecognized", id="no such option"),
    ],
)
def test_a_question_that_cannot_be_asked_is_refused(
    base: str, asked: Asked, capsys: pytest.CaptureFixture[str], words: list[str], code: int, said: str
) -> None:
    assert main(["scope", *words]) == code
    assert said in capsys.readouterr().err


def test_outside_of_a_repository_it_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["scope"]) == 65
    assert "no repository of git" in capsys.readouterr().err


def test_settings_of_the_base_that_cannot_be_read_are_an_error(
    repository: Path, commit: Commit, git: Git, asked: Asked, capsys: pytest.CaptureFixture[str]
) -> None:
    (repository / "a.py").write_text(SOURCE)
    (repository / "admit.toml").write_text("[scope]\ninert = 5\n")
    (repository / ".gitignore").write_text(".admit/\n")
    base = commit()
    write_map(repository / ".admit" / "scope" / "map", map_of(repository, base, git))
    assert main(["scope"]) == 65
    assert "inert" in capsys.readouterr().err
