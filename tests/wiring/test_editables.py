"""A checkout that is installed as editable lends nothing to the tests of a worktree (contract T7)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from admit.wiring.editables import editable_folders, moved_imports

if TYPE_CHECKING:
    from conftest import Repository

FINDER = """\
import sys
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path

MAPPING = {mapping!r}
NAMESPACES = {namespaces!r}
PLACEHOLDER = "__editable__.shop-1.0.finder.__path_hook__"


class Finder:
    @classmethod
    def find_spec(cls, fullname, path=None, target=None):
        for package, place in MAPPING.items():
            if fullname == package or fullname.startswith(package + "."):
                whole = Path(place, *fullname.removeprefix(package).split(".")[1:])
                for candidate in (whole / "__init__.py", whole.with_name(whole.name + ".py")):
                    if candidate.exists():
                        return spec_from_file_location(fullname, candidate)


class Namespaces:
    @classmethod
    def hook(cls, path):
        if path == PLACEHOLDER:
            return cls
        raise ImportError

    @classmethod
    def find_spec(cls, fullname, target=None):
        if fullname in NAMESPACES:
            spec = ModuleSpec(fullname, None, is_package=True)
            spec.submodule_search_locations = NAMESPACES[fullname]
            return spec


def install():
    sys.meta_path.append(Finder)
    sys.path_hooks.append(Namespaces.hook)
    sys.path.append(PLACEHOLDER)
"""
"""What setuptools leaves beside the packages: tables by these names, a finder behind all others, a path hook."""

REDIRECTOR = """\
import sys
from importlib.util import spec_from_file_location


class RedirectingFinder:
    _redirections = {mapping!r}

    @classmethod
    def find_spec(cls, fullname, path=None, target=None):
        if fullname in cls._redirections:
            return spec_from_file_location(fullname, cls._redirections[fullname])


sys.meta_path.insert(0, RedirectingFinder)
"""


class Environment:
    """A virtual environment with pytest and admit in it, which no checkout is installed in yet."""

    def __init__(self, root: Path) -> None:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", root], check=True)
        self.python = str(root / "bin" / "python")
        (self.packages,) = root.glob("lib/python*/site-packages")
        ours = [path for path in sys.path if path.endswith("site-packages")]
        lines = [f"import site; site.addsitedir({path!r})\n" for path in ours]
        (self.packages / "aa_ours.pth").write_text("".join(lines))

    def with_path(self, *places: Path) -> None:
        (self.packages / "shop.pth").write_text("".join(f"{place}\n" for place in places))

    def with_finder(self, mapping: dict[str, str], namespaces: dict[str, list[str]] | None = None) -> None:
        text = FINDER.format(mapping=mapping, namespaces=namespaces or {})
        (self.packages / "__editable___shop_1_0_finder.py").write_text(text)
        name = "__editable___shop_1_0_finder"
        (self.packages / "__editable__.shop-1.0.pth").write_text(f"import {name}; {name}.install()\n")

    def with_redirections(self, mapping: dict[str, str]) -> None:
        (self.packages / "_editable_impl_shop.py").write_text(REDIRECTOR.format(mapping=mapping))
        (self.packages / "shop.pth").write_text("import _editable_impl_shop\n")

    def folders(self, top: Path) -> tuple[str, ...]:
        return editable_folders(os.environ, top, program=self.python)

    def imported(self, code: str, top: Path, tree: Path, **environ: str) -> str:
        """Return what a program prints that is started as tests start one."""
        first = moved_imports(self.folders(top), top, tree)
        env = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(first), **environ}
        done = subprocess.run([self.python, "-c", code], env=env, cwd=tree, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        return done.stdout.strip()


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    return Environment(tmp_path_factory.mktemp("environment") / "venv")


@pytest.fixture
def environment(built: Environment) -> Environment:
    """Give an environment, as it was built; without what was compiled of a file of the same size and second."""
    for path in built.packages.rglob("*shop*"):
        path.unlink()
    return built


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    """Give a checkout and a worktree, which say who they are."""
    for name in ("checkout", "own/tree"):
        for folder in ("src/shop", "lib/code", "src/space/part"):
            path = tmp_path / name / folder / "__init__.py"
            path.parent.mkdir(parents=True)
            path.write_text(f"WHO = {path.parts[len(tmp_path.parts)]!r}\n")
    (tmp_path / "checkout" / "src" / "shop" / "loose.py").write_text("")
    return tmp_path / "checkout", tmp_path / "own" / "tree"


# -- what is imported -------------------------------------------------------------------------------------------------


def test_without_an_editable_install_nothing_is_moved(environment: Environment, pair: tuple[Path, Path]) -> None:
    assert environment.folders(pair[0]) == ()
    assert moved_imports((), *pair) == ()
    assert list(pair[1].parent.iterdir()) == [pair[1]]


def test_of_an_interpreter_that_cannot_be_asked_nothing_is_known(tmp_path: Path) -> None:
    assert editable_folders(os.environ, tmp_path, program="no-such-python") == ()
    assert editable_folders(os.environ, tmp_path, program="false") == ()
    assert editable_folders(os.environ, tmp_path, program="true") == ()


def test_packages_that_are_installed_inside_of_the_checkout_are_no_part_of_it(environment: Environment) -> None:
    assert environment.folders(Path(environment.python).parent.parent) == ()


@pytest.mark.parametrize("how", ["path", "finder", "renamed", "redirected", "namespace", "namespace path"])
def test_an_import_of_the_checkout_is_the_worktree_s(
    environment: Environment, pair: tuple[Path, Path], how: str
) -> None:
    top, tree = pair
    name = "shop"
    if how == "path":
        environment.with_path(top / "src")
    elif how == "finder":
        environment.with_finder({"shop": f"{top}/src/shop"})
    elif how == "renamed":
        environment.with_finder({"shop": f"{top}/lib/code"})
    elif how == "redirected":
        environment.with_redirections({"shop": f"{top}/src/shop/__init__.py"})
    elif how == "namespace":
        name = "space.part"
        environment.with_finder({}, {"space": [f"{top}/src/space"]})
    else:
        name = "space.part"
        environment.with_path(top / "src")
    assert environment.folders(top) != ()
    code = (
        f"import {name} as it, sys; print(it.WHO, 'code' in sys.modules, sys.modules['{name.split('.')[0]}'].__path__)"
    )
    place = {"shop": "src/shop", "space.part": "src/space"}[name] if how != "renamed" else "lib/code"
    assert environment.imported(code, top, tree).replace("_NamespacePath(", "").rstrip(")") == (
        f"own False ['{tree}/{place}']"
    )


@pytest.mark.parametrize("how", ["path", "finder"])
def test_what_only_the_checkout_has_cannot_be_imported(
    environment: Environment, pair: tuple[Path, Path], how: str
) -> None:
    top, tree = pair
    if how == "path":
        environment.with_path(top / "src", top)
    else:
        environment.with_finder({"shop": f"{top}/src/shop", "gone": f"{top}/src/shop"})
    (tree / "src" / "shop" / "__init__.py").unlink()
    code = """
import importlib
for name in ("shop.loose", "gone", "src.shop.loose"):
    try:
        importlib.import_module(name)
    except ImportError as error:
        print(error)
"""
    assert "loose" in environment.imported(code, top, tree)
    assert len(environment.imported(code, top, tree).splitlines()) == 3


def test_order_and_packages_stay_and_so_does_a_module_of_the_same_name(
    environment: Environment, pair: tuple[Path, Path]
) -> None:
    top, tree = pair
    environment.with_path(top / "src")
    asked = "import json, sys; print(json.dumps(sys.path))"
    alone = subprocess.run([environment.python, "-c", asked], cwd=tree, capture_output=True, text=True, check=True)
    before = [path.replace(str(top), str(tree)) for path in json.loads(alone.stdout)]
    assert json.loads(environment.imported(asked, top, tree)) == before
    hidden = environment.packages / "sitecustomize.py"
    hidden.write_text("import sys\nsys.hidden = __file__\n")
    try:
        assert environment.imported("import sys; print(sys.hidden)", top, tree) == str(hidden)
    finally:
        hidden.unlink()


def test_a_worktree_inside_of_the_checkout_stays_itself(environment: Environment, pair: tuple[Path, Path]) -> None:
    top, tree = pair[0], pair[0] / "temporary" / "tree"
    (tree / "src" / "shop").mkdir(parents=True)
    (tree / "src" / "shop" / "__init__.py").write_text("WHO = 'tree'\n")
    environment.with_path(top / "src", tree / "src")
    assert environment.imported("import shop; print(shop.WHO, shop.__file__)", top, tree) == (
        f"tree {tree}/src/shop/__init__.py"
    )


# -- what is judged ---------------------------------------------------------------------------------------------------

GOOD = "def half(n):\n    return n // 2\n"
IN_PROCESS = "import shop\n\n\ndef test_half():\n    assert shop.half(4) == 2\n"
IN_A_CHILD = """\
import subprocess
import sys


def test_half():
    code = "import shop; assert shop.half(4) == 2"
    assert subprocess.run([sys.executable, "-c", code], cwd="/").returncode == 0
"""


def installed(repository: Repository, environment: Environment, *, tests: str, folder: str) -> None:
    """Lay out a project under `src` or a folder of another name, installed as editable, with admit in front of it."""
    (repository.root / "shop.py").unlink()
    repository.write("pyproject.toml", "[tool.pytest.ini_options]\naddopts = '-p no:asyncio'\n")
    repository.write(f"{folder}/__init__.py", GOOD)
    repository.write("tests/test_shop.py", tests)
    assert repository.admit("init").returncode == 0
    config = (repository.root / "admit.toml").read_text()
    repository.write("admit.toml", config.replace('"python", "-m"', f'"{environment.python}", "-m"'))
    assert repository.admit("lock", "write").returncode == 0
    repository.commit()
    environment.with_finder({"shop": str(repository.root / folder)})


def judged(repository: Repository) -> tuple[int, set[str]]:
    done = repository.admit("run", "--base", "HEAD~1")
    assert done.returncode in {0, 1, 2}, done.stderr
    return done.returncode, repository.reasons()


@pytest.mark.parametrize("folder", ["src/shop", "lib/code"])
@pytest.mark.parametrize("tests", [IN_PROCESS, IN_A_CHILD], ids=["in the process", "in a child"])
def test_with_setuptools_finder_the_commit_is_judged_and_not_what_lies_in_the_checkout(
    repository: Repository, environment: Environment, tests: str, folder: str
) -> None:
    installed(repository, environment, tests=tests, folder=folder)
    repository.write(f"{folder}/__init__.py", GOOD + "\n\ndef third(n):\n    return n // 3\n")
    repository.commit()
    repository.write(f"{folder}/__init__.py", "raise RuntimeError('not committed')\n")
    assert judged(repository) == (0, set())
    repository.write(f"{folder}/__init__.py", GOOD.replace("n //", "1 + n //"))
    repository.git("commit", "-qa", "--amend", "-m", "x")
    repository.write(f"{folder}/__init__.py", GOOD)
    assert judged(repository) == (1, {"fixture_fail"})


@pytest.mark.parametrize("tests", [IN_PROCESS, IN_A_CHILD], ids=["in the process", "in a child"])
def test_with_setuptools_finder_a_module_that_was_not_committed_is_not_there(
    repository: Repository, environment: Environment, tests: str
) -> None:
    installed(repository, environment, tests=tests, folder="src/shop")
    repository.write("src/shop/__init__.py", "from shop.loose import half\n")
    repository.commit()
    repository.write("src/shop/loose.py", GOOD)
    exit_code, reasons = judged(repository)
    assert exit_code in {1, 2}
    assert reasons


def test_with_the_finder_of_setuptools_itself_the_commit_is_judged(
    repository: Repository, environment: Environment
) -> None:
    setuptools = pytest.importorskip("setuptools.command.editable_wheel", reason="this environment has no setuptools")
    installed(repository, environment, tests=IN_A_CHILD, folder="lib/code")
    mapping = {"shop": str(repository.root / "lib/code")}
    (finder,) = environment.packages.glob("__editable___shop_*_finder.py")
    finder.write_text(setuptools._finder_template("__editable__.shop-1.0.finder", mapping, {}))
    repository.write("lib/code/__init__.py", GOOD.replace("n //", "1 + n //"))
    repository.commit()
    repository.write("lib/code/__init__.py", GOOD)
    assert judged(repository) == (1, {"fixture_fail"})
