"""Modules that come from another checkout than the one under judgement leave no clean run (contract T7)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

from admit.core.context import Trial
from admit.pytest_plugin.foreign import foreign_modules

if TYPE_CHECKING:
    from tests.pytest_plugin.conftest import Parent

XDIST = ("xdist", "xdist.looponfail")
NODE = "admit::foreign-module"


def checkout(parent: Parent) -> Path:
    """Lay a checkout with a product beside the worktree."""
    other = parent.project.root.parent / "checkout"
    other.mkdir()
    (other / "shop.py").write_text("PRICE = 1\n")
    parent.project.write("test_a.py", "def test_a(): import shop\ndef test_b(): pass\n")
    return other


@pytest.mark.parametrize("extra", [(), ("-n2",)], ids=["alone", "xdist"])
@pytest.mark.parametrize("part", ["judged", "proposals", "base"])
def test_both_gates_say_which_module_came_from_elsewhere(parent: Parent, part: str, extra: tuple[str, ...]) -> None:
    other = checkout(parent)
    parent.project.write("conftest.py", f"import sys\nsys.path.insert(0, {str(other)!r})\n")
    asked = {"files": ("test_a.py",), "only": ("test_a.py::test_a",), "elsewhere": (str(other),)}
    tried = parent.run(part, "-q", *extra, plugins=XDIST, **asked)  # type: ignore[arg-type]
    for gate in ("property_check", "fixture_check"):
        (line,) = [line for line in tried.lines(gate) if line.get("node") == NODE]
        assert (line[gate], line["why"]) == ("not_run", "conflict")
        assert line["message"] == f"not from the tree under judgement: shop ({other}/shop.py)"


@pytest.mark.parametrize("extra", [(), ("-n2",)], ids=["alone", "xdist"])
def test_a_run_on_the_tree_alone_says_nothing(parent: Parent, extra: tuple[str, ...]) -> None:
    other = checkout(parent)
    parent.project.write("shop.py", "PRICE = 2\n")
    tried = parent.run("judged", "-q", *extra, plugins=XDIST, elsewhere=(str(other),))
    assert sorted(tried.records()) == ["test_a.py::test_a", "test_a.py::test_b"]
    assert tried.ended() == ["finished"]


def loaded(monkeypatch: pytest.MonkeyPatch, file: Path | None, **names: object) -> None:
    module = ModuleType("probe")
    vars(module).update({"__file__": None if file is None else str(file), **names})
    monkeypatch.setitem(sys.modules, "probe", module)


@pytest.fixture
def trial(tmp_path: Path) -> Trial:
    (tmp_path / "checkout" / "tree").mkdir(parents=True)
    return Trial("judged", "b", str(tmp_path / "checkout" / "tree"), (str(tmp_path / "checkout"),))


@pytest.mark.parametrize(
    ("path", "is_foreign"),
    [
        ("checkout/shop.py", True),
        ("checkout/tree/shop.py", False),
        ("checkout/tree/../shop.py", True),
        ("checkout-2/shop.py", False),
        ("checkout/.venv/lib/python3/site-packages/six.py", False),
        ("checkout/.venv/lib/python3/dist-packages/six.py", False),
        ("link/shop.py", True),
        ("checkout/tree/linked.py", True),
    ],
)
def test_a_module_is_foreign_by_its_real_path(
    trial: Trial, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, is_foreign: bool
) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "checkout")
    (tmp_path / "checkout" / "tree" / "linked.py").symlink_to(tmp_path / "checkout" / "shop.py")
    loaded(monkeypatch, tmp_path / path)
    assert bool(foreign_modules(trial)) is is_foreign


def test_what_an_environment_inside_the_checkout_holds_is_not_the_checkout(
    trial: Trial, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded(monkeypatch, tmp_path / "checkout" / "env" / "lib" / "string.py")
    assert foreign_modules(trial)
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "checkout" / "env"))
    assert foreign_modules(trial) == []


def test_a_namespace_package_is_foreign_by_any_of_its_folders(
    trial: Trial, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded(monkeypatch, None, __path__=[str(tmp_path / "checkout" / "tree" / "ns"), str(tmp_path / "checkout" / "ns")])
    assert foreign_modules(trial) == [f"probe ({tmp_path / 'checkout' / 'ns'}/)"]


def test_modules_that_load_themselves_late_are_not_loaded_for_it(trial: Trial, tmp_path: Path) -> None:
    script = f"""
import importlib.util, sys, json
from admit.core.context import Trial
from admit.pytest_plugin.foreign import foreign_modules
spec = importlib.util.spec_from_file_location("late", {str(tmp_path / "late.py")!r})
spec.loader = importlib.util.LazyLoader(spec.loader)
module = sys.modules["late"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
class Odd:
    __slots__ = ()
sys.modules["odd"] = Odd()
sys.modules["none"] = None
print(json.dumps(foreign_modules(Trial("judged", "b", "/", ("/nowhere",)))))
"""
    (tmp_path / "late.py").write_text("print('loaded')\n")
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []
