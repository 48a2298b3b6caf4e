"""The published schemas of what `admit policy --format json` prints say what the code prints (contract V1, V3, V4)."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any, get_args

import jsonschema
import pytest

from admit.core.signals import EXIT_OF_KIND
from admit.core.verify import GUARANTEES, Held, verify
from admit.policy import SHIPPED, case_report, export, load, report
from admit.policy.cases import read_cases, try_cases
from admit.policy.model import EvidenceOptions, Flaky, InstrumentEdits, NoBase, RulesOn, TrustOptions
from admit.policy.text import read_draft

SAMPLES = Path(__file__).with_name("samples")
FOLDER = Path(__file__).parents[2] / "schemas"
TWO_GATES, ONE_NODE = ((SAMPLES / f"{name}.toml").read_text(encoding="utf-8") for name in ("two-gates", "one-node"))
CASES = (SAMPLES / "cases.toml").read_text(encoding="utf-8")
BROKEN = TWO_GATES.replace('any = "fail"', 'any = ["fail", "missing"]').replace(
    '[[rule]]\noutcome = "LOOK"', '[[rule]]\nany = "fail"\noutcome = "LOOK"'
)
"""Two gates with a dead rule, and with combinations that no rule covers."""

SCHEMAS = {
    name: json.loads((FOLDER / f"{name}.schema.json").read_text(encoding="utf-8"))
    for name in ("policy-sheet", "policy-verification", "policy-test")
}
VALIDATORS = {name: jsonschema.Draft202012Validator(schema) for name, schema in SCHEMAS.items()}
MAPS = {"waived", "census", "states", "region", "witness"}
"""Objects whose keys are the policy's own words, so that no schema closes them."""


def drafted(text):
    return read_draft(text, "p.toml").policy


def sheet(policy, *, steps=None):
    counts = verify(policy.ladder, **({} if steps is None else {"steps": steps})).counts
    return export.as_json(policy, counts)


def verification(policy, *, steps=None):
    return report.as_json(policy, verify(policy.ladder, **({} if steps is None else {"steps": steps})))


def trial(text):
    policy = drafted(TWO_GATES)
    return case_report.as_json(policy, try_cases(read_cases(text, "c.toml", policy.ladder), policy.ladder))


def printed():
    """Return outputs of every kind: of all shipped policies, of our own, of broken ones, and without an answer."""
    own = {"two gates": drafted(TWO_GATES), "one node": drafted(ONE_NODE)}
    key = f'"ed25519:{"a" * 64}"'
    trust = f'\n[trust]\napprovers = [{key}]\ntiming_lanes = ["quiet"]\n[trust.evidence]\nfixture_check = [{key}]\n'
    waived = drafted(TWO_GATES + '\n[waived]\nlint = "nobody asked"\n[evidence]\nbase_moved_hours = 5\n')
    unordered = drafted(TWO_GATES + '\n[order]\nworse = ["STOP < LOOK"]\n')
    for name, policy in ({name: load(name) for name in SHIPPED} | own).items():
        yield pytest.param("policy-sheet", sheet(policy), id=f"the sheet of {name}")
        yield pytest.param("policy-verification", verification(policy), id=f"what {name} promises")
    yield pytest.param("policy-sheet", sheet(waived), id="a sheet with what is waived")
    yield pytest.param("policy-sheet", sheet(drafted(TWO_GATES + trust)), id="a sheet with keys and lanes")
    yield pytest.param("policy-sheet", sheet(load("router"), steps=10), id="a sheet past the budget")
    yield pytest.param("policy-verification", verification(load("router"), steps=10), id="past the budget")
    yield pytest.param("policy-verification", verification(drafted(BROKEN)), id="a dead rule and a gap")
    yield pytest.param("policy-verification", verification(unordered), id="a declared order that is broken")
    yield pytest.param("policy-test", trial(CASES), id="cases that hold")
    yield pytest.param("policy-test", trial(CASES.replace('"STOP"', '"GO"')), id="a wrong case")
    one = CASES[: CASES.index("[[case]]", CASES.index("[[case]]") + 1)]
    yield pytest.param("policy-test", trial(one), id="rules that no case tried")


PRINTED = [*printed()]


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_schema_is_one(name):
    jsonschema.Draft202012Validator.check_schema(SCHEMAS[name])


@pytest.mark.parametrize(("name", "text"), PRINTED)
def test_what_is_printed_fits(name, text):
    assert list(VALIDATORS[name].iter_errors(json.loads(text))) == []


def places(tree: Any, path: tuple[str | int, ...] = (), word: str = ""):
    """Return the path of every object whose keys the format gives; of a list's objects, the first."""
    if isinstance(tree, dict):
        if word not in MAPS:
            yield path
        for key, value in tree.items():
            yield from places(value, (*path, key), key)
    elif isinstance(tree, list) and tree:
        yield from places(tree[0], (*path, 0), word)


def at(tree: Any, path: tuple[str | int, ...]) -> Any:
    for step in path:
        tree = tree[step]
    return tree


@pytest.mark.parametrize(("name", "text"), PRINTED)
def test_a_key_more_or_less_does_not_fit(name, text):
    for path in places(json.loads(text)):
        changed = json.loads(text)
        at(changed, path)["more"] = 1
        assert not VALIDATORS[name].is_valid(changed), path
        for key in at(json.loads(text), path):
            changed = json.loads(text)
            del at(changed, path)[key]
            assert not VALIDATORS[name].is_valid(changed), (path, key)


@pytest.mark.parametrize(
    ("name", "edit"),
    [
        pytest.param("policy-sheet", lambda tree: tree.update(schema="admit.policy-sheet/2"), id="another sheet"),
        pytest.param("policy-sheet", lambda tree: tree.update(check="x"), id="a check of a policy on patches"),
        pytest.param("policy-sheet", lambda tree: tree.update(required=[]), id="no required gate"),
        pytest.param("policy-sheet", lambda tree: tree["outcomes"][1].update(exit_code=0), id="a reject that exits 0"),
        pytest.param("policy-sheet", lambda tree: tree.update(rules_on="node"), id="a policy on nodes with evidence"),
        pytest.param("policy-verification", lambda tree: tree["answers"].pop(), id="four guarantees"),
        pytest.param("policy-verification", lambda tree: tree["answers"].reverse(), id="another order"),
        pytest.param("policy-verification", lambda tree: tree["answers"][0].update(held="maybe"), id="maybe"),
        pytest.param(
            "policy-verification",
            lambda tree: tree["answers"][0].update(held="no", broken=1),
            id="holds, and one broken",
        ),
        pytest.param("policy-verification", lambda tree: tree["answers"][0].update(broken=1), id="held, and broken"),
        pytest.param("policy-verification", lambda tree: tree.update(holds=False), id="all held, and it does not hold"),
        pytest.param("policy-test", lambda tree: tree.update(cases=0), id="no case"),
        pytest.param("policy-test", lambda tree: tree.update(untried=[0]), id="rule 0"),
    ],
)
def test_an_output_that_contradicts_itself_does_not_fit(name, edit):
    policy = load("router")
    made = {"policy-sheet": sheet, "policy-verification": verification}
    tree = json.loads(made[name](policy) if name in made else trial(CASES))
    before = deepcopy(tree)
    edit(tree)
    assert VALIDATORS[name].is_valid(before)
    assert not VALIDATORS[name].is_valid(tree)


def test_the_schemas_know_the_codes_words():
    shown, found = SCHEMAS["policy-sheet"], SCHEMAS["policy-verification"]
    answer = found["$defs"]["answer"]["properties"]
    guarantees = [one["properties"]["guarantee"]["const"] for one in found["properties"]["answers"]["prefixItems"]]
    assert answer["guarantee"]["enum"] == guarantees == list(GUARANTEES)
    assert tuple(answer["held"]["enum"]) == get_args(Held)
    assert tuple(shown["properties"]["rules_on"]["enum"]) == get_args(RulesOn)
    assert tuple(shown["$defs"]["outcome"]["properties"]["means"]["enum"]) == tuple(EXIT_OF_KIND)
    options = shown["$defs"]["evidence"]["properties"]
    assert tuple(options) == EvidenceOptions._fields
    assert tuple(options["flaky"]["enum"]) == get_args(Flaky)
    assert tuple(options["no_base"]["enum"]) == get_args(NoBase)
    trust = shown["$defs"]["trust"]["properties"]
    assert tuple(trust) == TrustOptions._fields
    assert tuple(trust["instrument_edits"]["enum"]) == get_args(InstrumentEdits)
    names = {name: schema["properties"]["schema"]["const"] for name, schema in SCHEMAS.items()}
    assert names == {
        "policy-sheet": export.SCHEMA,
        "policy-verification": report.SCHEMA,
        "policy-test": case_report.SCHEMA,
    }
