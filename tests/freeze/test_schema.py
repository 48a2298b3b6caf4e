"""The published schema of the register says what the code says."""

from __future__ import annotations

import json
import tomllib
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.freeze.edit import EMPTY_REGISTER, with_entry
from admit.freeze.entries import KEYS, REQUIRED, Entry
from admit.freeze.register import HORIZON_DAYS, LONGEST_HORIZON_DAYS, read_register

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
SCHEMA = json.loads((Path(__file__).parents[2] / "schemas" / "freezes.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
OF_THE_CLOCK_OR_OF_ANOTHER = {"horizon", "duplicate", "too-wide"}


def test_the_schema_is_a_schema_and_has_the_same_keys() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    freeze, policy = SCHEMA["$defs"]["freeze"], SCHEMA["properties"]["policy"]["properties"]
    assert (sorted(freeze["properties"]), sorted(freeze["required"])) == (sorted(KEYS), sorted(REQUIRED))
    horizon = policy["horizon_days"]
    assert (horizon["default"], horizon["maximum"]) == (HORIZON_DAYS, LONGEST_HORIZON_DAYS)


def test_what_freeze_add_writes_keeps_the_schema() -> None:
    entry = Entry("a.py::test_x[\n]", "r", "o", datetime(2026, 12, 20, tzinfo=UTC), NOW, "#1", "both")
    assert VALIDATOR.is_valid(as_json(tomllib.loads(with_entry(EMPTY_REGISTER, entry, "r.toml"))))


def as_json(value: Any) -> Any:
    match value:
        case dict():
            return {key: as_json(part) for key, part in value.items()}
        case list():
            return [as_json(part) for part in value]
        case datetime() | date() | time():
            return value.isoformat()
        case _:
            return value


TEXT_VALUES = ['"x"', '""', '" "', '" x"', "1", "true", "[]", "{}"]
TIME_VALUES = [
    "2026-12-20T00:00:00Z",
    "2026-12-20T00:00:00.5+01:30",
    '"2026-12-20T00:00:00Z"',
    '"2026-12-20 00:00:00+01:00"',
    "2026-12-20",
    '"2026-12-20"',
    "2026-12-20T00:00:00",
    "12:00:00",
    '"soon"',
    '"20261220T000000Z"',
    "1",
]
GOOD = {"node": '"a.py::test_x"', "reason": '"r"', "owner": '"o"', "expires": "2026-12-20T00:00:00Z"}


@st.composite
def tables(draw: st.DrawFn) -> str:
    """Return a register near to a good one."""
    keys: dict[str, str | None] = dict(GOOD)
    for key in draw(st.lists(st.sampled_from([*KEYS, "x"]), max_size=2)):
        if key == "opened":  # one that is read comes before `expires`, an order that no schema can ask for
            keys[key] = draw(st.sampled_from(["2026-11-20T00:00:00Z", *TIME_VALUES[4:]]))
        else:
            keys[key] = draw(st.sampled_from([None, *(TIME_VALUES if key == "expires" else TEXT_VALUES)]))
    lines = ["[[freeze]]", *(f"{key} = {value}" for key, value in keys.items() if value is not None)]
    policy = draw(
        st.dictionaries(st.sampled_from(["allow_wide", "why", "horizon_days", "x"]), st.sampled_from(POLICIES))
    )
    if policy:
        lines += ["[policy]", *(f"{key} = {value}" for key, value in policy.items())]
    return "\n".join([*draw(st.sampled_from([[], [], [], ["stray = 1"]])), *lines])


POLICIES = ["true", "false", '"x"', '" "', "1", "365", "366", "0", "1.0"]


@given(tables())
def test_schema_and_code_refuse_the_same_registers(text: str) -> None:
    register = read_register(text, "r.toml", now=NOW)
    wrong = [finding for finding in register.problems if finding.rule not in OF_THE_CLOCK_OR_OF_ANOTHER]
    data = as_json(tomllib.loads(text))
    if any(isinstance(value, float) for value in data.get("policy", {}).values()):
        return  # JSON Schema takes 1.0 for a whole number; TOML tells the two apart, and so does the code
    assert VALIDATOR.is_valid(data) == (not wrong), (wrong, list(VALIDATOR.iter_errors(data)))


@pytest.mark.parametrize("text", ["freeze = 1", "[freeze]", "policy = 1", "freeze = [1]"])
def test_schema_and_code_refuse_the_same_shapes(text: str) -> None:
    assert read_register(text, "r.toml", now=NOW).state == "broken"
    assert not VALIDATOR.is_valid(tomllib.loads(text))
