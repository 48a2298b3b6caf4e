"""What a patch may not measure itself with, told by path (contract T3, T7)."""

from __future__ import annotations

import pytest

from admit.repository import Change
from admit.trust.instrument import Rules, measure_of, shadow_places

FILE, LINK, SUBMODULE, ABSENT = "100644", "120000", "160000", "000000"
RULES = Rules(frozenset({"admit.toml"}), standing=frozenset({"src/packaging", "code"}))


def changed(path: str) -> Change:
    return Change(path, FILE, FILE, "1", "2")


def added(path: str, mode: str = FILE) -> Change:
    return Change(path, ABSENT, mode, None, "2")


@pytest.mark.parametrize(
    ("path", "measure"),
    [
        ("admit.toml", "control"),
        ("sub/admit.toml", "product"),
        ("tests/data/x.json", "test"),
        ("src/shop/tests/__init__.py", "test"),
        ("src/shop/test_cart.py", "test"),
        ("cart_test.py", "test"),
        ("src/shop/__snapshots__/a.ambr", "test"),
        ("test/x.py", "test"),
        ("src/test/x.py", "product"),
        ("conftest.py", "runner"),
        ("src/shop/conftest.py", "runner"),
        ("tests/conftest.py", "runner"),
        ("pyproject.toml", "runner"),
        ("Makefile", "runner"),
        ("tasks.py", "runner"),
        ("src/shop/tasks.py", "product"),
        ("x.dist-info/entry_points.txt", "runner"),
        ("lib/a.pth", "runner"),
        ("requirements-dev.txt", "runner"),
        ("requirements/dev.in", "runner"),
        (".github/workflows/ci.yml", "runner"),
        ("src/shop/__pycache__/cart.cpython-311.pyc", "cache"),
        ("tests/__pycache__/x.pyc", "cache"),
        (".hypothesis/examples/x", "cache"),
        ("src/shop/cart.py", "product"),
        ("README.md", "product"),
    ],
)
def test_a_changed_file_is(path: str, measure: str) -> None:
    assert measure_of(changed(path), RULES) == measure


@pytest.mark.parametrize("path", ["pytest.py", "hypothesis/__init__.py", "filecmp.py", "src/random.py", "json/x.so"])
def test_a_new_file_that_shadows_the_runner_or_the_library_is_runner(path: str) -> None:
    assert measure_of(added(path), RULES) == "runner"
    assert measure_of(changed(path), RULES) == "product"


def test_a_new_link_that_shadows_is_runner() -> None:
    assert measure_of(added("json", LINK), RULES) == "runner"


@pytest.mark.parametrize("path", ["src/packaging/new.py", "code/new.py", "html/index.html", "src/shop/random.py"])
def test_a_new_file_that_shadows_nothing_new_is_product(path: str) -> None:
    assert measure_of(added(path), RULES) == "product"


@pytest.mark.parametrize("path", ["code.py", "code/__init__.py", "src/packaging/__init__.so", "src/code/x.py"])
def test_a_folder_that_stands_lets_in_no_module_beside_it_and_does_not_become_a_package(path: str) -> None:
    assert measure_of(added(path), RULES) == "runner"


@pytest.mark.parametrize("path", ["code", "src/packaging", "src"])
@pytest.mark.parametrize("mode", [LINK, SUBMODULE])
def test_what_leads_to_modules_elsewhere_shadows_wherever_the_base_stood(path: str, mode: str) -> None:
    assert measure_of(added(path, mode), RULES) == "runner"
    assert measure_of(Change(path, FILE, mode, "1", "2"), RULES) == "runner"
    assert measure_of(Change(path, mode, mode, "1", "2"), RULES) == "runner"


def test_a_submodule_that_leaves_shadows_nothing() -> None:
    assert measure_of(Change("json", SUBMODULE, ABSENT, "1", None), RULES) == "product"


@pytest.mark.parametrize(
    ("path", "prefix", "found"),
    [
        ("src/attr/x.py", "", {"src/": "attr"}),
        ("attr.py", "", {"": "attr.py"}),
        ("shop/attr.py", "", {}),
        ("attr/readme.txt", "", {}),
        ("sub/src/attr/x.py", "sub/", {"sub/src/": "attr"}),
        ("sub/attr/x.py", "sub/", {"sub/": "attr"}),
        ("src/attr/x.py", "src/", {"src/": "attr"}),
    ],
)
def test_the_place_where_a_runners_name_would_stand_is_told(path: str, prefix: str, found: dict[str, str]) -> None:
    assert dict(shadow_places(added(path), prefix)) == found


@pytest.mark.parametrize("path", ["tests", "test", "src/shop/tests"])
def test_a_link_where_a_folder_of_tests_stood_is_test(path: str) -> None:
    assert measure_of(added(path, LINK), RULES) == "test"


def test_a_submodule_under_tests_is_runner_and_elsewhere_product() -> None:
    assert measure_of(Change("tests/data", SUBMODULE, SUBMODULE, "1", "2"), RULES) == "runner"
    assert measure_of(Change("vendor/lib", SUBMODULE, SUBMODULE, "1", "2"), RULES) == "product"


def test_a_repository_adds_patterns_and_a_workspace_has_its_own_top() -> None:
    rules = Rules(frozenset(), tests=("sub/checks/*",), runner=("sub/run.sh",), prefix="sub/")
    measures = {path: measure_of(changed(path), rules) for path in ("sub/checks/a.py", "sub/run.sh", "sub/test/a.py")}
    assert measures == {"sub/checks/a.py": "test", "sub/run.sh": "runner", "sub/test/a.py": "test"}
    assert measure_of(added("sub/src/random.py"), rules) == "runner"


@pytest.mark.parametrize("path", ["admit.toml", "Admit.toml", "ADMIT.TOML"])
def test_a_twin_in_case_of_a_file_under_review_is_under_review_t1(path: str) -> None:
    change = Change(path, "000000", "100644", None, "1" * 40)
    assert measure_of(change, Rules(control=frozenset({"admit.toml"}))) == "control"
