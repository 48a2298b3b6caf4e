"""The published schema of the abstentions file says what the code says."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.abstain.file import BY_DESIGN, KEYS, Abstentions, Declared, read_abstentions, rendered
from admit.errors import InputError

SCHEMA = json.loads((Path(__file__).parents[2] / "schemas" / "abstentions.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def test_the_schema_is_a_schema_and_has_the_same_keys_and_words() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    keys = SCHEMA["$defs"]["abstain"]["properties"]
    assert (sorted(keys), sorted(keys["why"]["enum"])) == (sorted(KEYS), sorted(BY_DESIGN))


def test_what_is_written_keeps_the_schema() -> None:
    by_node = {"a": Declared("skip", ""), "b": Declared("skip", ""), "c": Declared("todo", "r", "n")}
    assert VALIDATOR.is_valid(tomllib.loads(rendered(Abstentions("a.toml", by_node))))


VALUES = ['"x"', '""', '" x"', "1", "true", "[]", '["x"]', '["x", "y"]', '["x", "x"]', "[1]", '["x", 1]', "{}", None]
NEAR = st.dictionaries(st.sampled_from([*KEYS, "x"]), st.sampled_from([*VALUES, '"skip"', '"timeout"']), max_size=3)


@given(NEAR)
def test_schema_and_code_refuse_the_same_files(changes: dict[str, str | None]) -> None:
    keys = {"why": '"skip"', "reason": '"r"', "node": '"a"'} | changes
    text = "\n".join(["[[abstain]]", *(f"{key} = {value}" for key, value in keys.items() if value is not None)])
    try:
        read_abstentions(text, "a.toml")
    except InputError:
        is_refused = True
    else:
        is_refused = False
    assert VALIDATOR.is_valid(tomllib.loads(text)) != is_refused


@pytest.mark.parametrize("text", ["abstain = 1", "[abstain]", "abstain = [1]", "x = 1"])
def test_schema_and_code_refuse_the_same_shapes(text: str) -> None:
    with pytest.raises(InputError):
        read_abstentions(text, "a.toml")
    assert not VALIDATOR.is_valid(tomllib.loads(text))
