"""What a patch's files are to the measurement, told from the commits of a real repository (contract T3)."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest

from admit.wiring.base import based
from admit.wiring.patch import rules_of, sorted_changes

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
