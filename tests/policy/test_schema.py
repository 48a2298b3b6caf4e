"""The published schema of a policy says what the reader does, as far as a schema can."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import get_args

import jsonschema
import pytest

from admit.core.signals import EXIT_OF_KIND, GATE_STATES
from admit.policy import SHIPPED
from admit.policy import document as format_
from admit.policy.files import shipped_text
from admit.policy.model import Flaky, NoBase, RulesOn

SAMPLES = Path(__file__).with_name("samples")
SCHEMA = json.loads((Path(__file__).parents[2] / "schemas" / "policy.schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
ACROSS_PARTS = frozenset(
    {
        "all clean",
        "all not shared",
        "all unknown",
        "any unknown",
        "a check called like a key of evidence",
        "a check that is another signal",
        "a check that is no signal",
        "clean not first",
        "a clean state less than the contract says",
        "a combination that no rule covers",
        "a gate called like a key of evidence",
        "a gate with a name that no document can have",
        "a region that is not clean",
        "a region that leaves a signal out",
        "a required gate without a signal",
        "a rule that contradicts itself",
        "a rule that one earlier rule takes",
        "a rule that two earlier rules take between them",
        "a signal that is not required",
        "a state that no record has",
        "a worse signal that brings an accept about",
        "all of clean states in a rule that does not accept",
        "an accept outside the region",
        "an accept that asks any gate",
        "an accept that leaves a gate out",
        "a fall-through that accepts",
        "order accept",
        "order circle",
        "order unknown",
        "outcome twice",
        "region signal",
        "rule outcome",
        "signal twice",
        "waived signal",
        "when signal",
        "when state",
        "when state2",
    }
)
"""Refusals of what one part says of another, which a schema cannot see."""


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_policy_fits(name):
    VALIDATOR.validate(tomllib.loads(shipped_text(name)))


@pytest.mark.parametrize("name", ["two-gates", "one-node"])
def test_a_sample_fits(name):
    VALIDATOR.validate(tomllib.loads((SAMPLES / f"{name}.toml").read_text(encoding="utf-8")))


def refused():
    """Return every refused sample that is TOML, with whether a schema can see why."""
    for case in tomllib.loads((SAMPLES / "refused.toml").read_text(encoding="utf-8"))["refused"]:
        base, old = (SAMPLES / f"{case['sample']}.toml").read_text(encoding="utf-8"), case.get("old", "")
        text = base.replace(old, case["new"], -1 if case.get("every") else 1) if old else base + case["new"]
        name = case["name"].split(": ")[-1]
        yield pytest.param(tomllib.loads(text), name in ACROSS_PARTS, id=name)


@pytest.mark.parametrize(("policy", "across_parts"), [*refused()])
def test_what_the_reader_refuses_does_not_fit_unless_one_part_speaks_of_another(policy, across_parts):
    assert VALIDATOR.is_valid(policy) == across_parts


@pytest.mark.parametrize(
    ("part", "keys"),
    [
        ("signal", format_.SIGNAL_KEYS),
        ("outcome", format_.OUTCOME_KEYS),
        ("rule", format_.RULE_KEYS),
        ("evidence", format_.EVIDENCE_KEYS),
    ],
)
def test_the_schema_knows_the_readers_keys(part, keys):
    required, optional = keys
    assert set(SCHEMA["$defs"][part]["properties"]) == {*required, *optional}
    assert set(SCHEMA["$defs"][part].get("required", ())) == set(required)


@pytest.mark.parametrize("rules_on", get_args(RulesOn))
def test_the_schema_knows_the_readers_keys_at_the_top(rules_on):
    required, optional = format_.KEYS[rules_on]
    assert {*SCHEMA["properties"], *SCHEMA["$defs"][rules_on]["properties"]} == {*required, *optional}


def test_the_schema_knows_the_readers_words():
    options = SCHEMA["$defs"]["evidence"]["properties"]
    assert tuple(options["flaky"]["enum"]) == get_args(Flaky)
    assert tuple(options["no_base"]["enum"]) == get_args(NoBase)
    assert tuple(SCHEMA["$defs"]["outcome"]["properties"]["means"]["enum"]) == tuple(EXIT_OF_KIND)
    assert tuple(SCHEMA["$defs"]["gate_states"]["items"]["enum"]) == GATE_STATES
    assert SCHEMA["properties"]["schema"]["const"] == format_.SCHEMA


CASES = jsonschema.Draft202012Validator(
    json.loads((Path(__file__).parents[2] / "schemas" / "policy-cases.schema.json").read_text(encoding="utf-8"))
)


def test_a_table_of_cases_fits_its_schema():
    CASES.validate(tomllib.loads((SAMPLES / "cases.toml").read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    "edit",
    [
        pytest.param(lambda table: table.update(case=[]), id="no case"),
        pytest.param(lambda table: table.update(schema="admit.policy-cases/2"), id="another schema"),
        pytest.param(lambda table: table.update(more=1), id="an unknown key"),
        pytest.param(lambda table: table["case"][0].update(because="x"), id="an unknown key of a case"),
        pytest.param(lambda table: table["case"][0].pop("outcome"), id="no outcome"),
        pytest.param(lambda table: table["case"][0]["given"].update(property_check=["fail"]), id="several states"),
    ],
)
def test_a_table_of_cases_that_is_refused_does_not_fit(edit):
    table = tomllib.loads((SAMPLES / "cases.toml").read_text(encoding="utf-8"))
    edit(table)
    assert not CASES.is_valid(table)
