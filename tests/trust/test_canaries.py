"""Canaries: known outcomes for known reasons, and every other outcome or reason is wrong (contract T4)."""

from __future__ import annotations

import ast
import re
from typing import Any

import pytest

from admit.core.records import Examples, NodeRecord
from admit.trust.canaries import CASES, file_stem, first, is_planted, planted, source, wrong

WORD = "5eed"
FILE = f"tests/unit/test_{file_stem(WORD)}.py"
TREE = ast.parse(source(WORD))
LINES = source(WORD).splitlines()


def texts(name: str) -> list[str]:
    """Return the string constants in a planted test."""
    found = next(node for node in ast.walk(TREE) if isinstance(node, ast.FunctionDef) and node.name == name)
    return [node.value for node in ast.walk(found) if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def secret(name: str) -> str:
    return next(text for text in texts(name) if re.fullmatch("[0-9a-f]{24}", text))


PLAIN = "fails passes stripped not-raised raises skips unequal far raises-another".split()
PROPERTIES = "falsified lists text explicit holds spread".split()
LABELS = PLAIN + PROPERTIES
NAMES = dict(zip(LABELS, planted(WORD), strict=True))


def record(label: str, **keys: Any) -> NodeRecord:
    return NodeRecord(f"{FILE}::{NAMES[label]}", "fail", "match", "stable")._replace(**keys)


def own_error(name: str) -> str:
    return re.findall(rf"class (E[0-9a-f]+)\(Exception\):\n    pass\n\n\ndef {name}\(", source(WORD))[0]


def counterexample(label: str, x: str, how: str = "Falsifying example") -> dict[str, str]:
    name = NAMES[label]
    return {
        "message": f"AssertionError: {secret(name)} assert 1; settings of its own: max_examples=100",
        "counterexample": f"{how}: {name}(\n    x={x},\n)",
    }


def threshold() -> int:
    return int(re.findall(rf"def {NAMES['falsified']}\(x\):\n\s+assert x < (\d+)", source(WORD))[0])


def length(label: str) -> int:
    return int(re.findall(rf"def {NAMES[label]}\(x\):\n\s+assert len\(x\) < (\d+)", source(WORD))[0])


def big() -> int:
    return 10**15 + int(next(text for text in texts(NAMES["explicit"]) if text.isdigit() and len(text) != 24))


def right() -> dict[str, NodeRecord]:
    """Return what a sound run leaves of each canary."""
    raised = NAMES["not-raised"], NAMES["raises"], NAMES["raises-another"]
    unequal = " != ".join(
        re.findall(rf"def {NAMES['unequal']}\(\):\n.*\n\n.*assertEqual\((\d+), (\d+)", source(WORD))[0]
    )
    records = [
        record("fails", message=f"AssertionError: {secret(NAMES['fails'])} assert 1 == 2"),
        record("passes", check="pass"),
        record("stripped", message=f"AssertionError: {secret(NAMES['stripped'])}"),
        record("not-raised", message=f"Failed: DID NOT RAISE {own_error(raised[0])}"),
        record("raises", message=f"{own_error(raised[1])}: {secret(raised[1])}"),
        record("skips", check="not_run", why="skip", message=secret(NAMES["skips"])),
        record("unequal", message=f"AssertionError: {unequal} : {secret(NAMES['unequal'])}"),
        record("far", message=f"AssertionError: {secret(NAMES['far'])} assert 1 == 2 ± 2.0e-06"),
        record("raises-another", message=f"{own_error(raised[2])}: {secret(raised[2])}"),
        record("falsified", **counterexample("falsified", str(threshold()))),
        record("lists", **counterexample("lists", str([0] * length("lists")))),
        record("text", **counterexample("text", repr("a" * length("text")))),
        record("explicit", **counterexample("explicit", f"{big():_}", "Failing explicit example")),
        record("holds", check="pass", examples=Examples(CASES, CASES, CASES)),
        record("spread", message=f"ArithmeticError: {secret(NAMES['spread'])}"),
    ]
    return {one.node: one for one in records}


def changed(label: str, **keys: Any) -> dict[str, NodeRecord]:
    records = right()
    node = f"{FILE}::{NAMES[label]}"
    return records | {node: records[node]._replace(**keys)}


def test_canaries_that_did_what_they_were_planted_to_do_are_not_wrong() -> None:
    other = NodeRecord("tests/test_a.py::test_a", "fail", "match", "stable", message="whatever")
    assert wrong(WORD, right() | {other.node: other}) == ""


def test_every_run_has_its_own_names_and_secrets() -> None:
    assert not {*planted(WORD), file_stem(WORD)} & {*planted("other"), file_stem("other")}
    assert not set(re.findall("[0-9a-f]{24}", source(WORD))) & set(re.findall("[0-9a-f]{24}", source("other")))
    assert first(WORD) == NAMES["fails"]


def test_nothing_in_the_planted_names_says_what_they_are() -> None:
    for name in (*planted(WORD), file_stem(WORD)):
        assert not re.search("admit|canary|plant|fail|pass", name)


@pytest.mark.parametrize(
    ("node", "planted"),
    [
        (f"{FILE}::test_x", True),
        (FILE, True),
        (f"{file_stem(WORD)}_test.py::test_x[1]", True),
        (f"tests/test_a.py::test_x[{file_stem(WORD)}]", False),
        (f"{file_stem(WORD)}/test_a.py::test_x", False),
        ("tests/test_a.py::test_x", False),
    ],
)
def test_a_canary_is_known_by_its_file(node: str, planted: bool) -> None:
    assert is_planted(WORD, node) is planted


@pytest.mark.parametrize("label", LABELS)
def test_a_canary_without_a_record_is_wrong(label: str) -> None:
    records = right()
    del records[f"{FILE}::{NAMES[label]}"]
    assert wrong(WORD, records).endswith("has no record")


def test_no_records_at_all_are_wrong() -> None:
    assert wrong(WORD, {}) == "the canary that must fail by a plain assertion has no record"


@pytest.mark.parametrize("label", LABELS)
def test_the_opposite_outcome_is_wrong(label: str) -> None:
    check = "fail" if label in {"passes", "holds"} else "pass"
    assert "gave" in wrong(WORD, changed(label, check=check))


@pytest.mark.parametrize("label", [label for label in LABELS if label not in {"passes", "holds"}])
def test_the_right_outcome_for_another_reason_is_wrong(label: str) -> None:
    said = "Failed: Using @settings on a test without @given is completely pointless."
    assert said in wrong(WORD, changed(label, message=said))


@pytest.mark.parametrize("label", LABELS)
def test_no_verdict_is_wrong(label: str) -> None:
    assert "(error_setup)" in wrong(WORD, changed(label, check="not_run", why="error_setup", message="no database"))


@pytest.mark.parametrize(
    ("label", "keys"),
    [
        pytest.param("falsified", counterexample("falsified", str(threshold() + 1)), id="another number"),
        pytest.param("falsified", counterexample("falsified", f"{threshold()}.0"), id="another type"),
        pytest.param("falsified", counterexample("falsified", "__import__('os')"), id="no literal"),
        pytest.param("falsified", {"counterexample": ""}, id="no example"),
        pytest.param("lists", counterexample("lists", str([0] * (length("lists") + 1))), id="a longer list"),
        pytest.param("lists", counterexample("lists", str([0] * (length("lists") - 1) + [1])), id="another list"),
        pytest.param("text", counterexample("text", repr("b" * length("text"))), id="another text"),
        pytest.param("explicit", counterexample("explicit", str(big())), id="found without the example"),
        pytest.param("holds", {"examples": None}, id="nothing counted"),
        pytest.param("holds", {"examples": Examples(CASES, CASES - 1, CASES)}, id="fewer inputs"),
        pytest.param("holds", {"flaky": True}, id="flaky"),
        pytest.param("spread", {"message": "ArithmeticError: 1 different inputs"}, id="one input again and again"),
        pytest.param("fails", {"message": f"AssertionError: {secret(NAMES['raises'])}"}, id="another canary's secret"),
        pytest.param("stripped", {"message": f"AssertionError: {secret(NAMES['stripped'])}0"}, id="a longer secret"),
    ],
)
def test_a_canary_that_fails_by_another_input_or_holds_for_fewer_is_wrong(label: str, keys: dict[str, Any]) -> None:
    assert "gave" in wrong(WORD, changed(label, **keys))


def test_what_was_not_planted_in_the_planted_file_is_wrong() -> None:
    extra = NodeRecord(f"{FILE}::test_extra", "pass", "match", "stable")
    assert "test_extra, which was not planted" in wrong(WORD, right() | {extra.node: extra})
    failed = NodeRecord(FILE, "not_run", "match", "stable", why="error_collect")
    assert wrong(WORD, right() | {FILE: failed})


def test_every_run_of_a_repeated_canary_must_be_right() -> None:
    records = right()
    plain = records.pop(f"{FILE}::{NAMES['fails']}")
    node = f"{FILE}::{NAMES['fails']}"
    records |= {f"{node}[{n}]": plain._replace(node=f"{node}[{n}]") for n in "12"}
    assert wrong(WORD, records) == ""
    records[f"{node}[2]"] = records[f"{node}[2]"]._replace(check="pass")
    assert "gave pass" in wrong(WORD, records)


def without_hypothesis() -> dict[str, NodeRecord]:
    names = [NAMES[label] for label in PROPERTIES]
    absent = re.findall(r'def (\w+)\(\):\n        raise LookupError\("(\w+)"\)', source(WORD))
    assert [name for name, _ in absent] == names
    records = [NodeRecord(f"{FILE}::{n}", "fail", "match", "stable", message=f"LookupError: {t}") for n, t in absent]
    return right() | {one.node: one for one in records}


def test_without_hypothesis_its_canaries_say_so() -> None:
    assert wrong(WORD, without_hypothesis()) == ""


def test_hypothesis_that_ran_for_other_tests_was_there() -> None:
    other = NodeRecord("tests/test_a.py::test_p", "pass", "match", "stable", examples=Examples(5, 5, 5))
    assert "LookupError" in wrong(WORD, without_hypothesis() | {other.node: other})


def test_hypothesis_is_there_for_all_of_its_canaries_or_for_none() -> None:
    node = f"{FILE}::{NAMES['holds']}"
    assert "LookupError" in wrong(WORD, right() | {node: without_hypothesis()[node]})
    assert wrong(WORD, without_hypothesis() | {node: right()[node]})
