"""The published schema of decisions says what the code writes."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import get_args

import jsonschema
import pytest

from admit.core import signals
from admit.core.decision import LeftWhy
from admit.render.json import decision_bytes

SCHEMA = json.loads((Path(__file__).parents[2] / "schemas" / "decision.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def sample() -> dict[str, object]:
    spec = importlib.util.spec_from_file_location("decision_samples", Path(__file__).with_name("test_decision.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return json.loads(decision_bytes(module.decision()))


def test_what_the_code_writes_is_valid() -> None:
    VALIDATOR.check_schema(SCHEMA)
    assert list(VALIDATOR.iter_errors(sample())) == []


@pytest.mark.parametrize("key", sorted(SCHEMA["properties"]))
def test_a_decision_without_a_key_is_invalid(key: str) -> None:
    tree = sample()
    del tree[key]
    assert not VALIDATOR.is_valid(tree)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"exit_code": 0}, id="a reject that exits 0"),
        pytest.param({"kind": "accept"}, id="an accept that exits 1"),
        pytest.param({"extra": 1}, id="an unknown key"),
        pytest.param({"schema": "admit.decision/2"}, id="another schema"),
    ],
)
def test_a_decision_that_contradicts_itself_is_invalid_r5(change: dict[str, object]) -> None:
    assert not VALIDATOR.is_valid(sample() | change)


def test_its_vocabularies_are_those_of_the_code() -> None:
    record = SCHEMA["$defs"]["record"]["properties"]
    assert record["check"]["enum"] == list(signals.CHECK_STATES)
    assert record["fixture_lock"]["enum"] == list(signals.LOCK_STATES)
    assert record["flake_status"]["enum"] == list(signals.FLAKE_STATES)
    assert record["why"]["enum"] == [*signals.WHYS, None]
    assert record["instrument"]["enum"] == list(signals.INSTRUMENT_STATES)
    assert record["provenance"]["enum"] == list(signals.PROVENANCE_STATES)
    assert SCHEMA["$defs"]["left"]["properties"]["why"]["enum"] == list(get_args(LeftWhy))
    assert SCHEMA["$defs"]["document"]["properties"]["ended"]["enum"] == ["", *signals.ENDS]
