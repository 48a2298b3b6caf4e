"""Whom a policy trusts: the keys of approvers and of gates, the lanes that timing counts on (T5, T7, T8, L5)."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import get_args

import jsonschema
import pytest

from admit.core.verify import verify
from admit.errors import InputError
from admit.policy import SHIPPED, TrustOptions, load, parse
from admit.policy import document as format_
from admit.policy.export import FORMATS
from admit.policy.model import InstrumentEdits

PATCH, NODE = (
    Path(__file__).with_name("samples").joinpath(f"{name}.toml").read_text("utf-8")
    for name in ("two-gates", "one-node")
)
SCHEMA = json.loads((Path(__file__).parents[2] / "schemas" / "policy.schema.json").read_text("utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
ANA, BEN, CI = (f"ed25519:{digit * 64}" for digit in "abc")
WHOLE = f"""
[trust]
approvers = ["{ANA}", "{BEN}"]
timing_lanes = ["bench-1", "bench/2"]
instrument_edits = "say"

[trust.evidence]
property_check = "{CI}"
fixture_check = ["{CI}", "{BEN}"]
"""
LINE = PATCH.count("\n") + 1


def test_what_is_left_out_trusts_nobody_and_holds() -> None:
    assert parse(PATCH, "p.toml").trust == TrustOptions((), (), (), "hold")


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_policy_trusts_nobodys_key(name: str) -> None:
    assert load(name).trust == TrustOptions()


def test_what_is_written_is_kept_gates_in_order() -> None:
    signed = (("fixture_check", (CI, BEN)), ("property_check", (CI,)))
    assert parse(PATCH + WHOLE, "p.toml").trust == TrustOptions((ANA, BEN), signed, ("bench-1", "bench/2"), "say")


def test_what_is_written_fits_the_schema() -> None:
    VALIDATOR.validate(tomllib.loads(PATCH + WHOLE))


SPELLED = "ed25519: and 64 hexadecimal digits in lower case, as `admit keys show` prints them"
REFUSED = [
    pytest.param(
        '[trust]\napprover = "x"',
        2,
        '[trust]: unknown key "approver"; allowed: approvers, evidence, '
        'timing_lanes, instrument_edits; did you mean "approvers"?',
        id="unknown key",
    ),
    pytest.param(
        f'[trust]\napprovers = "{ANA.upper()}"',
        2,
        f'[trust]: approvers has "{ANA.upper()}"; allowed: {SPELLED}',
        id="another spelling",
    ),
    pytest.param(
        f'[trust]\napprovers = "{ANA[:-1]}"',
        2,
        f'[trust]: approvers has "{ANA[:-1]}"; allowed: {SPELLED}',
        id="a digit short",
    ),
    pytest.param("[trust]\napprovers = []", 2, "[trust]: approvers is empty; allowed: at least one key", id="empty"),
    pytest.param(
        "[trust]\napprovers = 7",
        2,
        "[trust]: approvers holds a whole number; allowed: a key or a list of keys",
        id="another type",
    ),
    pytest.param(
        "[trust]\napprovers = [7]",
        2,
        "[trust]: approvers holds a whole number; allowed: keys only",
        id="another type in a list",
    ),
    pytest.param(
        f'[trust]\napprovers = ["{ANA}", "{ANA}"]', 2, f'[trust]: approvers has "{ANA}" twice; name it once', id="twice"
    ),
    pytest.param(
        '[trust]\ntiming_lanes = "a lane"',
        2,
        '[trust]: timing_lanes has "a lane"; allowed: 1 to 100 characters of ASCII, no blanks',
        id="a lane with a blank",
    ),
    pytest.param(
        '[trust]\ninstrument_edits = "allow"', 2, '[trust]: instrument_edits is "allow"; allowed: hold, say', id="edits"
    ),
    pytest.param('[trust]\nevidence = ["x"]', 2, "[trust]: evidence holds a list; allowed: a table", id="no table"),
]


@pytest.mark.parametrize(("text", "line", "says"), REFUSED)
def test_a_refusal_says_where_what_and_what_is_allowed(text: str, line: int, says: str) -> None:
    with pytest.raises(InputError) as refused:
        parse(f"{PATCH}\n{text}\n", "p.toml")
    assert str(refused.value) == f"p.toml:{LINE + line}: {says}"
    assert not VALIDATOR.is_valid(tomllib.loads(f"{PATCH}\n{text}\n"))


def test_a_gate_that_is_not_required_cannot_be_signed() -> None:
    with pytest.raises(InputError) as refused:
        parse(f'{PATCH}\n[trust.evidence]\nproperty_chek = "{CI}"\n', "p.toml")
    assert str(refused.value) == (
        f"p.toml:{LINE + 2}: [trust.evidence]: property_chek is no required gate; "
        "allowed: property_check, fixture_check; name a gate whose documents are judged"
    )


def test_a_policy_on_nodes_trusts_nobody() -> None:
    with pytest.raises(InputError, match='unknown key "trust"'):
        parse(NODE + WHOLE, "p.toml")
    assert not VALIDATOR.is_valid(tomllib.loads(NODE + WHOLE))


EDITS = [
    pytest.param(ANA, "ed25519:" + "d" * 64, id="an approver"),
    pytest.param(f'property_check = "{CI}"', "", id="a gate that must be signed"),
    pytest.param(f'property_check = "{CI}"', f'property_check = "{BEN}"', id="a gate's key"),
    pytest.param(', "bench/2"', "", id="a lane"),
    pytest.param('"say"', '"hold"', id="what an edit does"),
    pytest.param(WHOLE, "", id="all of it"),
]


@pytest.mark.parametrize(("old", "new"), EDITS)
def test_whom_it_trusts_is_part_of_a_policys_digest(old: str, new: str) -> None:
    assert old in PATCH + WHOLE
    assert parse(PATCH + WHOLE, "p").digest != parse((PATCH + WHOLE).replace(old, new), "p").digest


def test_the_order_of_keys_and_lanes_is_no_part_of_the_digest() -> None:
    turned = WHOLE.replace(f'["{ANA}", "{BEN}"]', f'["{BEN}", "{ANA}"]').replace(
        '["bench-1", "bench/2"]', '["bench/2", "bench-1"]'
    )
    assert turned != WHOLE
    assert parse(PATCH + WHOLE, "p").digest == parse(PATCH + turned, "p").digest


def test_a_default_that_is_written_out_keeps_the_digest() -> None:
    written = parse(PATCH + '\n[trust]\ninstrument_edits = "hold"\n', "p")
    assert written.digest == parse(PATCH, "p").digest


@pytest.mark.parametrize("how", FORMATS)
def test_the_sheet_shows_all_of_it(how: str) -> None:
    policy = parse(PATCH + WHOLE, "p.toml")
    shown = FORMATS[how](policy, verify(policy.ladder).counts)
    for text in (ANA, BEN, CI, "bench-1", "bench/2", "says so" if how != "json" else '"say"'):
        assert text in shown


def test_the_schema_knows_the_readers_keys_and_words() -> None:
    required, optional = format_.TRUST_KEYS
    trust = SCHEMA["$defs"]["trust"]
    assert (set(trust["properties"]), set(trust.get("required", ()))) == (set(optional), set(required))
    assert tuple(trust["properties"]["instrument_edits"]["enum"]) == get_args(InstrumentEdits)
