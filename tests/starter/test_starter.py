"""What `admit init` proposes."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

import pytest

from admit.policy import load, parse
from admit.settings import read_settings
from admit.starter import config_text, ignore_lines, look_at, waived_router
from admit.starter.pins import pinned_globs

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("names", "globs"),
    [
        pytest.param(
            ["tests/test_a.py", "tests/data/x.json", "tests/data/deep/y.csv"], ("tests/data/**",), id="a folder of data"
        ),
        pytest.param(["tests/test_a.py", "tests/x.json"], ("tests/*.json",), id="data beside code"),
        pytest.param(
            ["src/p/tests/test_a.py", "src/p/tests/__snapshots__/a.ambr"],
            ("src/p/tests/__snapshots__/**",),
            id="nested",
        ),
        pytest.param(["tests/test_a.py", "tests/d/x[1]/y"], ("tests/d/**",), id="a name with glob characters inside"),
        pytest.param(["tests/test_a.py", "data/x.json"], ("admit.toml",), id="data that no test folder holds"),
        pytest.param(["a.py"], ("admit.toml",), id="nothing"),
        pytest.param(["tests/README.md", "tests/test_a.py"], ("admit.toml",), id="a readme is no fixture"),
    ],
)
def test_what_tests_read_and_is_not_code_is_pinned_first_l2(names: list[str], globs: tuple[str, ...]) -> None:
    assert pinned_globs(names, "admit.toml") == globs


@pytest.mark.parametrize(
    ("text", "is_property"),
    [
        pytest.param("from hypothesis import given\n@given(st.integers())\ndef test_a(x): ...\n", True, id="given"),
        pytest.param("import hypothesis\n@hypothesis.given(x)\ndef test_a(x): ...\n", True, id="dotted"),
        pytest.param("class T(RuleBasedStateMachine): ...\n", True, id="state machine"),
        pytest.param("@pytest.mark.property\ndef test_a(): ...\n", True, id="marker"),
        pytest.param("def test_given_nothing(): ...\n", False, id="only the word"),
    ],
)
def test_property_tests_are_recognised_by_what_makes_them_run(tmp_path: Path, text: str, is_property: bool) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_a.py").write_text(text)
    assert bool(look_at(tmp_path, "admit.toml").property_files) is is_property


def test_the_configuration_written_can_be_read_and_pins_what_was_found(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / 'we"ird.json').write_text("{}")
    (tmp_path / "tests" / "test_a.py").write_text("")
    settings = read_settings(config_text(look_at(tmp_path, "admit.toml"), router="router").encode())
    assert settings.sets[0].paths == ("tests/*.json",)


def test_a_repository_without_property_tests_gets_a_router_that_says_so_in_words_r7() -> None:
    policy = parse(waived_router(files("admit.policy").joinpath("router.toml").read_text("utf-8")), "admit.policy.toml")
    assert policy.required == ("fixture_check", "flaky_freeze")
    assert [gate for gate, _ in policy.waived] == ["property_check"]
    assert policy.waived[0][1].startswith("this repository has no property tests yet")
    shipped = [rule.reason for rule in load("router").ladder.rules]
    lost = {"behavior-and-invariant", "invariant-or-over-specified-property"}
    assert [rule.reason for rule in policy.ladder.rules] == [reason for reason in shipped if reason not in lost]


def test_only_the_lines_that_are_missing_are_added_to_gitignore() -> None:
    assert ignore_lines(frozenset({"__pycache__/", ".admit/"})) == (".pytest_cache/", ".hypothesis/")
