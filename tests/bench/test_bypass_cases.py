"""The cases of bench/bypass are sound: what can be known of them without playing them."""

from __future__ import annotations

import importlib
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

BENCH = Path(__file__).parents[2] / "bench" / "bypass"
MODULES = ("bugs", "cases", "layers", "oracle", "repository", "rivals")


@pytest.fixture(scope="module")
def bench() -> Iterator[Any]:
    sys.path.insert(0, str(BENCH))
    try:
        yield SimpleNamespace(**{name: importlib.import_module(name) for name in MODULES})
    finally:
        sys.path.remove(str(BENCH))


@pytest.fixture(scope="module")
def attacks(bench: Any) -> list[Any]:
    return [attack for layer in bench.layers.ATTACKS.values() for attack in layer]


@pytest.fixture(scope="module")
def base(bench: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    tree = tmp_path_factory.mktemp("bypass") / "base"
    bench.repository.lay_out_base(tree)
    return tree


def test_each_case_has_a_name_of_its_own(bench: Any, attacks: list[Any]) -> None:
    names = [case.id for case in (*attacks, *bench.layers.HONEST)]
    assert sorted(set(names)) == sorted(names)


def test_there_are_at_least_eighty_attacks_in_ten_layers_and_twenty_honest_patches(bench: Any, attacks: Any) -> None:
    assert len(attacks) >= 80
    assert len(bench.layers.HONEST) >= 20
    assert min(len(layer) for layer in bench.layers.ATTACKS.values()) >= 5
    assert len(bench.layers.ATTACKS) == 10


def test_each_attack_says_what_is_meant_to_stop_it_or_why_nothing_does(attacks: list[Any]) -> None:
    assert [attack.id for attack in attacks if bool(attack.meant) is bool(attack.gap)] == []


def test_each_attack_changes_something(attacks: list[Any]) -> None:
    assert [a.id for a in attacks if not (a.edits or a.bug or a.arrange or a.after)] == []


def test_the_product_is_right_on_the_base_and_wrong_with_each_fault(bench: Any, base: Path, tmp_path: Path) -> None:
    assert bench.oracle.wrong_answers(base) == frozenset()
    for name, bug in bench.bugs.BUGS.items():
        tree = tmp_path / name
        shutil.copytree(base, tree)
        bench.repository.apply(tree, bug.edits)
        assert bench.oracle.wrong_answers(tree) & bug.wrong, name


def test_each_patch_fits_the_base(bench: Any, attacks: list[Any], base: Path, tmp_path: Path) -> None:
    for case in (*attacks, *bench.layers.HONEST):
        tree = tmp_path / case.id
        shutil.copytree(base, tree)
        if getattr(case, "bug", "") and not case.inside:
            bench.repository.apply(tree, bench.bugs.BUGS[case.bug].edits)
        pinned = {name for name, edit in case.edits.items() if isinstance(edit, bench.cases.Repin)}
        bench.repository.apply(tree, {name: edit for name, edit in case.edits.items() if name not in pinned})


def test_each_attack_that_holds_its_fault_in_a_form_of_its_own_answers_wrongly(
    bench: Any, attacks: list[Any], base: Path, tmp_path: Path
) -> None:
    right = []
    for attack in attacks:
        if attack.inside:
            tree = tmp_path / attack.id
            shutil.copytree(base, tree)
            bench.repository.apply(tree, attack.edits)
            right += [] if bench.oracle.wrong_answers(tree) else [attack.id]
    assert right == []


@pytest.mark.parametrize(
    ("exit_code", "tests", "bad", "passed", "letters"),
    [
        pytest.param(0, 2, 0, {"x", "y"}, "abc", id="all there"),
        pytest.param(0, 1, 0, {"x"}, "ab", id="one gone"),
        pytest.param(0, 2, 1, {"x", "y"}, "a", id="one failed in the report"),
        pytest.param(0, 0, 0, set(), "a", id="no report"),
        pytest.param(1, 2, 0, {"x", "y"}, "b", id="red by exit code"),
        pytest.param(1, 2, 1, {"x"}, "", id="red"),
    ],
)
def test_the_plain_rules_let_in(bench: Any, exit_code: int, tests: int, bad: int, passed: Any, letters: str) -> None:
    base = bench.rivals.PlainRun(0, 2, 0, frozenset({"x", "y"}), "")
    patch = bench.rivals.PlainRun(exit_code, tests, bad, frozenset(passed), "")
    assert bench.rivals.fooled(base, patch) == letters
