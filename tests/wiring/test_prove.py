"""What a proof is made of: which commits, which files are the patch's on both sides (contract P1, P2)."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from admit.errors import InputError
from admit.scope.map import lines_of
from admit.wiring.prove import changed_lines, check_same, laid_over, laid_tests, pair_of, product_of, targets_of


class Repository:
    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir()
        self.git("init", "-q", "-b", "main")

    def git(self, *words: str) -> str:
        who = ("-c", "user.name=n", "-c", "user.email=n@example.invalid", "-c", "commit.gpgsign=false")
        return subprocess.run(
            ["git", *who, *words], cwd=self.root, check=True, capture_output=True, text=True
        ).stdout.strip()

    def commit(self, **files: str | None) -> str:
        for name, text in files.items():
            path = self.root / name.replace("__", "/").replace("_py", ".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink() if text is None else path.write_text(text)
        self.git("add", "-A")
        self.git("commit", "-qm", "commit", "--allow-empty")
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    found = Repository(tmp_path / "repository")
    found.commit(shop_py="1", tests__test_a_py="1", tests__old_py="1")
    return found


def test_tests_and_what_they_read_are_the_patchs_on_both_sides_and_code_and_caches_are_not(
    repository: Repository,
) -> None:
    repository.commit(
        shop_py="2", tests__test_a_py="2", tests__old_py=None, conftest_py="2", lib__checks_py="2", a__b_pyc="2"
    )
    pair = pair_of(repository.root, {})
    targets = targets_of(pair, repository.root, ["tests/test_a.py::test_x", "lib/checks.py"])
    assert {path: blob is None for path, blob in laid_over(pair, targets).items()} == {
        "conftest.py": False,
        "lib/checks.py": False,  # wherever the tests themselves lie
        "tests/old.py": True,
        "tests/test_a.py": False,
    }


def test_a_path_may_start_where_one_stands_or_at_the_top(repository: Repository) -> None:
    repository.commit()
    pair = pair_of(repository.root / "tests", {})
    for text in ("test_a.py::test_x", "tests/test_a.py::test_x", "../tests/test_a.py::test_x"):
        (target,) = targets_of(pair, repository.root / "tests", [text])
        assert (target.named.text, target.origin) == ("tests/test_a.py::test_x", "patch")


def test_a_file_that_no_commit_has_is_taken_as_it_lies(repository: Repository) -> None:
    repository.commit()
    (repository.root / "new.py").write_text("3")
    pair = pair_of(repository.root, {})
    (target,) = targets_of(pair, repository.root, ["new.py"])
    assert (target.loose, target.origin) == (b"3", "working-tree")
    assert target.blob == repository.git("hash-object", "new.py")
    assert laid_over(pair, [target]) == {"new.py": target.blob}


def test_the_parent_is_where_the_patch_left_the_base_that_ci_names_unless_it_has_landed(repository: Repository) -> None:
    root = repository.git("rev-parse", "HEAD")
    repository.git("checkout", "-qb", "topic")
    first = repository.commit(a_py="1")
    repository.commit(a_py="2")
    ci = {"GITLAB_CI": "true", "CI_MERGE_REQUEST_TARGET_BRANCH_SHA": "main"}
    assert pair_of(repository.root, ci).parent.commit == root
    assert pair_of(repository.root, {}).parent.commit == first
    assert pair_of(repository.root, ci, parent="HEAD^").parent.commit == first
    repository.git("branch", "-f", "main", "HEAD")
    assert pair_of(repository.root, ci).parent.commit == first


def test_in_a_shallow_clone_a_parent_that_is_not_there_says_what_to_fetch(repository: Repository) -> None:
    repository.commit()
    cut = repository.root.parent / "cut"
    repository.git("clone", "-q", "--depth=1", f"file://{repository.root}", str(cut))
    with pytest.raises(InputError, match="fetch the whole history"):
        pair_of(cut, {})


def test_test_files_that_differ_by_a_byte_are_not_compared(repository: Repository) -> None:
    repository.commit()
    pair = pair_of(repository.root, {})
    targets = targets_of(pair, repository.root, ["tests/test_a.py"])
    one = laid_tests(targets, repository.root)
    check_same(one, {"tests/test_a.py": b"1"})
    with pytest.raises(InputError, match="not the same on both sides"):
        check_same(one, {"tests/test_a.py": b"1\r"})
    with pytest.raises(InputError, match="cannot be read once it is laid out"):
        laid_tests(targets, repository.root / "tests")


def test_what_measures_is_no_product(repository: Repository) -> None:
    repository.commit()
    assert product_of(pair_of(repository.root, {}), ["shop.py", "tests/test_a.py", "conftest.py", "lib/x.py"]) == {
        "shop.py": True,
        "tests/test_a.py": False,
        "conftest.py": False,
        "lib/x.py": True,
    }


BODY = "import os\nX = 1\n\n\ndef f():\n    # why\n    return 1\n"


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        pytest.param(BODY, BODY.replace("return 1", "return 2"), ({7}, {7}), id="a body"),
        pytest.param(BODY, BODY.replace("    return", "    os\n    return"), ({7}, set()), id="a line more"),
        pytest.param(BODY, BODY.replace("    return 1", "    return 1\n    # end"), None, id="a comment"),
        pytest.param(BODY, BODY.replace("X = 1", "X = 2"), None, id="at import"),
        pytest.param(BODY, BODY.replace("f()", "f(n=1)"), None, id="a signature"),
        pytest.param(BODY, "def f(:\n", None, id="does not compile"),
        pytest.param(None, BODY, None, id="a new file"),
        pytest.param(BODY, None, None, id="gone"),
        pytest.param(BODY, BODY, None, id="nothing"),
    ],
)
def test_lines_that_differ_are_known_where_all_of_them_are_in_bodies(
    repository: Repository, old: str | None, new: str | None, lines: tuple[set[int], set[int]] | None
) -> None:
    if old is not None:
        repository.commit(code_py=old)
    repository.commit(notes="2", tests__test_a_py="X = 2\n", **({} if old == new else {"code_py": new}))
    pair = pair_of(repository.root, {})
    changed = changed_lines(pair, laid_over(pair, targets_of(pair, repository.root, ["tests/test_a.py"])))
    assert (changed is None) == (lines is None)
    if changed is not None:
        assert [set(lines_of(side["code.py"])) for side in changed] == list(lines)
