"""Policies that are refused, each with the whole text of the refusal."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from admit.errors import InputError
from admit.evidence.wire import RESERVED as RECORD_KEYS
from admit.policy import parse
from admit.policy.document import RESERVED

SAMPLES = Path(__file__).with_name("samples")
PATCH = (SAMPLES / "two-gates.toml").read_text(encoding="utf-8")
NODE = (SAMPLES / "one-node.toml").read_text(encoding="utf-8")


def edited(case):
    """Return a sample after the one edit of a case."""
    base, old = (SAMPLES / f"{case['sample']}.toml").read_text(encoding="utf-8"), case.get("old", "")
    assert old in base
    return base.replace(old, case["new"], -1 if case.get("every") else 1) if old else base + case["new"]


REFUSED = [
    pytest.param(edited(case), case["says"], id=case["name"])
    for case in tomllib.loads((SAMPLES / "refused.toml").read_text(encoding="utf-8"))["refused"]
]


@pytest.mark.parametrize(("text", "refusal"), REFUSED)
def test_a_refusal_says_where_what_what_is_allowed_and_what_to_do(text, refusal):
    """Section 10, R6, R7: nothing is taken for what it was probably meant to be."""
    with pytest.raises(InputError) as refused:
        parse(text, "p.toml")
    assert str(refused.value) == refusal


@pytest.mark.parametrize("base", [pytest.param(PATCH, id="patch"), pytest.param(NODE, id="node")])
def test_the_policy_that_the_edits_begin_with_is_not_refused(base):
    """The counterpart of every case above."""
    assert parse(base, "p.toml").source == "p.toml"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param(PATCH.replace('"ours"', "ours"), 2, id="no TOML"),
        pytest.param(PATCH.replace('name = "ours"', 'name = "ours"\nname = "ours"'), 3, id="a key twice"),
        pytest.param(PATCH + "\n[order]\nworse = [\n", None, id="cut off"),
    ],
)
def test_broken_toml_is_refused_with_the_parsers_line(text, line):
    """The parser's own words differ between versions of Python."""
    with pytest.raises(InputError, match=f"p.toml:{line}: no TOML: " if line else "p.toml.*: no TOML: "):
        parse(text, "p.toml")


def test_toml_nested_too_deep_is_refused_and_no_crash():
    """No traceback reaches the user."""
    with pytest.raises(InputError, match="p.toml"):
        parse("a = " + "[" * 100_000 + "]" * 100_000, "p.toml")


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        pytest.param(PATCH[: PATCH.index("[[rule]]")], "p.toml: no rule; add a [[rule]]", id="no rules"),
        pytest.param(
            "rule = []\n" + PATCH[: PATCH.index("[[rule]]")],
            "p.toml:1: 0 tables called rule; allowed: 1 to 2000",
            id="an empty list of rules",
        ),
        pytest.param(
            "rule = 3\n" + PATCH[: PATCH.index("[[rule]]")],
            "p.toml:1: rule holds a whole number; allowed: tables, each under a line [[rule]]",
            id="rules that are no tables",
        ),
        pytest.param("", 'p.toml: no schema; allowed: admit.policy/1; write schema = "admit.policy/1"', id="empty"),
    ],
)
def test_a_policy_without_its_parts_is_refused(text, refusal):
    """Nothing rules by default."""
    with pytest.raises(InputError) as refused:
        parse(text, "p.toml")
    assert str(refused.value) == refusal


def test_a_policy_too_large_to_verify_is_refused_with_what_was_obtained(monkeypatch):
    """V1: it never degrades in silence."""
    monkeypatch.setattr("admit.policy.soundness.STEPS", 5)
    with pytest.raises(InputError) as refused:
        parse(PATCH, "p.toml")
    assert str(refused.value) == (
        "p.toml: too large to verify: 5 steps gave no answer for accept-monotone"
        " (obtained: no-dead-rule, total, accept-region); require fewer gates, or write fewer and simpler rules"
    )


@pytest.mark.parametrize("name", sorted(RECORD_KEYS))
def test_no_gate_can_be_called_what_evidence_refuses(name):
    """A policy that requires such a gate could never be satisfied: no document can be named so."""
    assert name in RESERVED
    with pytest.raises(InputError, match=f"signal {name}: evidence documents use this word as a key"):
        parse(PATCH.replace("fixture_check", name), "p.toml")
