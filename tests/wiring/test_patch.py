"""What a patch's files are to the measurement, told from the commits of a real repository (contract T3)."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest

from admit.wiring.base import based
from admit.wiring.patch import holds_compiled, rules_of, sorted_changes

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Repository


def committed(repository: Repository, *names: str) -> str:
    for name in names:
        repository.write(name, "")
    return repository.commit()


def runner(repository: Repository, base: str) -> set[str]:
    return {change.path for change in sorted_changes(based(repository.here, base)).runner}


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the file in which a `git` in front of the real one keeps what it is asked."""
    programs, log = tmp_path / "programs", tmp_path / "asked"
    programs.mkdir()
    (programs / "git").write_text(f'#!/bin/sh\necho "$@" >>{log}\nexec {shutil.which("git")} "$@"\n')
    (programs / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    return log


@pytest.mark.parametrize("package", ["attr", "src/attr", "sub/attr", "sub/src/attr"])
def test_a_new_module_in_a_package_of_a_runners_name_that_the_base_has_is_product(
    repository: Repository, package: str
) -> None:
    repository.here = repository.root / ("sub" if package.startswith("sub/") else "")
    repository.here.mkdir(exist_ok=True)
    repository.write("admit.toml", "")
    repository.here, here = repository.root, repository.here
    base = committed(repository, f"{package}/__init__.py")
    committed(repository, f"{package}/_x.py", f"{package}/deep/_y.py")
    repository.here = here
    assert runner(repository, base) == set()


@pytest.mark.parametrize(
    ("standing", "name"),
    [
        pytest.param("attr/__init__.py", "attr.py", id="a module beside a folder"),
        pytest.param("attr/__init__.py", "attr.so", id="a compiled module beside a folder"),
        pytest.param("attr/__init__.py", "src/attr/__init__.py", id="in another place"),
        pytest.param("src/attr/__init__.py", "attr/_x.py", id="at the top, where src has it"),
        pytest.param("attr.py", "attr/__init__.py", id="a package beside a module"),
        pytest.param("json/schema.json", "json/__init__.py", id="what makes a folder a package"),
        pytest.param("attrs/__init__.py", "attr/__init__.py", id="another name"),
        pytest.param("docs/attr/x.py", "attr/x.py", id="deeper"),
    ],
)
def test_a_new_module_that_shadows_what_the_base_did_not_stays_runner(
    repository: Repository, standing: str, name: str
) -> None:
    base = committed(repository, "admit.toml", standing)
    committed(repository, name)
    assert runner(repository, base) == {name}


def test_a_link_in_the_place_of_a_folder_of_a_runners_name_is_runner(repository: Repository) -> None:
    base = committed(repository, "admit.toml", "json/schema.json", "other/__init__.py")
    repository.git("rm", "-rq", "json")
    (repository.root / "json").symlink_to("other")
    repository.commit()
    assert runner(repository, base) == {"json"}


def test_the_base_is_asked_where_the_patch_adds_a_runners_name_and_nowhere_else(
    repository: Repository, asked: Path
) -> None:
    base = committed(repository, "admit.toml", "src/attr/__init__.py")
    committed(repository, "src/shop/new.py", "random_numbers.py")
    patch = based(repository.here, base)
    asked.write_text("")
    rules_of(patch)
    assert asked.read_text() == ""
    committed(repository, "src/attr/_x.py", "src/attr/_y.py")
    patch = based(repository.here, base)
    asked.write_text("")
    rules_of(patch)
    lines = [line for line in asked.read_text().splitlines() if "ls-tree" in line]
    assert [line[line.index("ls-tree") :] for line in lines] == [f"ls-tree -z --full-tree --name-only {base} -- src/"]


# -- submodules -------------------------------------------------------------------------------------------------------

LIB = "def half(n):\n    return n // 2\n"
BUG = "def half(n):\n    return n // 2 + (n == 4)\n"


class Library:
    """A project whose product is in a submodule for the most part."""

    def __init__(self, repository: Repository, source: Path) -> None:
        self.repository, self.source = repository, source
        self.inside = repository.root / "vendor" / "lib"

    def moved(self, **files: str) -> str:
        """Move the submodule to a commit with other files, and return the commit in it."""
        for name, text in files.items():
            path = self.inside / name.replace("__", "/").replace("_py", ".py")
            path.write_text(text)
        self.repository.here = self.inside
        found = self.repository.commit()
        self.repository.here = self.repository.root
        self.repository.commit()
        return found


@pytest.fixture
def library(repository: Repository, tmp_path: Path) -> Library:
    source = tmp_path / "source"
    found = Library(repository, source)
    source.mkdir()
    repository.here = source
    repository.git("init", "-q", "-b", "main")
    repository.write("lib.py", LIB)
    repository.write("tests/test_lib.py", "import lib\n\n\ndef test_lib():\n    assert lib.half(4) == 2\n")
    repository.commit()
    repository.here = repository.root
    repository.git("submodule", "add", "-q", str(source), "vendor/lib")
    options = 'pythonpath = [".", "vendor/lib"]\ntestpaths = ["tests"]\naddopts = "-p no:asyncio"\n'
    repository.write("pyproject.toml", f"[tool.pytest.ini_options]\n{options}")
    repository.write("shop.py", "from lib import half\n")
    assert repository.admit("init").returncode == 0
    repository.commit()
    return found


def test_a_submodule_that_moves_is_judged_where_the_patch_moves_it(library: Library) -> None:
    library.moved(lib_py="def half(n):\n    return n >> 1\n")
    done = library.repository.judged("HEAD~1")
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    assert "without the submodule" not in done.stdout
    library.moved(lib_py=BUG)
    (library.inside / "lib.py").write_text(LIB)  # what is not committed there is not measured
    assert library.repository.judged("HEAD~1").returncode == 1


def test_tests_that_need_a_submodule_which_is_not_here_let_nothing_in_and_it_is_said(
    library: Library, tmp_path: Path
) -> None:
    repository = library.repository
    base = repository.git("rev-parse", "HEAD")
    commit = library.moved(lib_py=BUG)
    repository.git("clone", "-q", str(repository.root), str(tmp_path / "clone"))
    repository.here = repository.root = tmp_path / "clone"
    done = repository.judged(base)
    assert done.returncode == 2, done.stdout
    assert f"note: the tests ran without the submodule vendor/lib at {commit[:12]}" in done.stdout
    repository.git("config", "submodule.vendor/lib.url", str(library.inside))
    repository.git("submodule", "update", "-q", "--init")
    done = repository.judged(base)
    assert done.returncode == 1, done.stdout
    assert "without the submodule" not in done.stdout


def test_tests_that_pass_without_a_submodule_let_the_patch_in_and_it_is_said(library: Library, tmp_path: Path) -> None:
    repository = library.repository
    repository.write("shop.py", LIB)
    base = repository.commit()
    library.moved(lib_py=BUG)
    repository.git("clone", "-q", str(repository.root), str(tmp_path / "clone"))
    repository.here = repository.root = tmp_path / "clone"
    done = repository.judged(base)
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    assert done.stdout.count("note: the tests ran without the submodule vendor/lib at ") == 2
    assert not list(repository.here.glob(".admit/inventory/*"))  # with the submodule it may be another


def test_a_base_s_tests_inside_of_a_submodule_that_moves_wait_for_a_reviewer(library: Library) -> None:
    repository = library.repository
    config = (repository.root / "pyproject.toml").read_text()
    repository.write("pyproject.toml", config.replace('testpaths = ["tests"]', 'testpaths = ["tests", "vendor"]'))
    repository.commit()
    library.moved(lib_py="def half(n):\n    return 7\n", tests__test_lib_py="def test_lib():\n    pass\n")
    repository.write("tests/test_shop.py", "")
    done = repository.judged("HEAD~1")
    assert "instrument-edited: vendor/lib/tests/test_lib.py::test_lib (1 in all) is in a submodule" in done.stdout
    assert done.returncode != 0
    repository.write("shop.py", LIB + "\n")
    repository.git("checkout", "-q", "--", "tests")
    repository.commit()
    done = repository.judged("HEAD~1")
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]


def test_a_submodule_of_pinned_data_that_moves_holds_and_is_judged_where_the_base_has_it(library: Library) -> None:
    repository = library.repository
    repository.git("submodule", "add", "-q", str(library.source), "tests/data/lib")
    library.inside = repository.root / "tests" / "data" / "lib"
    shutil.rmtree(library.inside / "tests")
    library.moved()
    repository.write(
        "tests/test_data.py",
        "import pathlib\n\n\ndef test_data():\n"
        "    assert '// 2\\n' in (pathlib.Path(__file__).parent / 'data/lib/lib.py').read_text()\n",
    )
    assert repository.admit("lock", "write").returncode == 0
    assert "tests/data/lib/lib.py" in (repository.root / "admit.sha256").read_text()
    base = repository.commit()
    library.moved(lib_py=BUG)
    done = repository.judged(base)
    assert done.stdout.startswith("ESCALATE attribution=instrument-edited\n"), done.stdout
    assert "it would have been: MERGE_OK" in done.stdout


def test_a_test_that_writes_into_a_submodule_moves_the_instrument(library: Library) -> None:
    repository = library.repository
    repository.write(
        "tests/test_write.py", "def test_write():\n    open('vendor/lib/tests/test_lib.py', 'a').close()\n"
    )
    base = repository.commit()
    repository.write("shop.py", "from lib import half\n\nTHIRD = 3\n")
    repository.commit()
    assert repository.judged(base).returncode == 0
    repository.write(
        "tests/test_write.py", "def test_write():\n    open('vendor/lib/tests/test_lib.py', 'a').write('#')\n"
    )
    base = repository.commit()
    repository.write("shop.py", "from lib import half\n\nTHIRD = 4\n")
    repository.commit()
    done = repository.judged(base)
    assert done.stdout.startswith("ESCALATE attribution=instrument-moved\n"), done.stdout
    assert not (library.inside / "tests" / "test_lib.py").read_text().endswith("#")


def test_a_parent_without_its_submodule_proves_nothing_p2(library: Library, tmp_path: Path) -> None:
    repository = library.repository
    first = repository.git("rev-parse", "HEAD:vendor/lib")
    library.moved(lib_py=BUG.replace("(n == 4)", "1 - 1"))
    repository.git("clone", "-q", str(repository.root), str(tmp_path / "clone"))
    repository.here = repository.root = tmp_path / "clone"
    repository.git("config", "submodule.vendor/lib.url", f"file://{library.inside}")
    repository.git("submodule", "update", "-q", "--init", "--depth=1")
    words = ("prove", "tests/test_shop.py::test_half", "--expect", "fails-on-parent", "--format", "json")
    done = repository.admit(*words)
    assert done.returncode == 1, done.stdout
    assert f"the tests ran without the submodule vendor/lib at {first[:12]}" in done.stdout
    assert "proven" not in done.stdout.replace("unproven", "")


def test_compiled_modules_in_a_submodule_s_commit_are_seen(library: Library) -> None:
    tree = library.repository.root
    assert not holds_compiled(tree)
    library.repository.here = library.inside
    library.repository.write("lib.pyc", "")
    library.repository.git("add", "-f", "lib.pyc")
    assert holds_compiled(tree)
