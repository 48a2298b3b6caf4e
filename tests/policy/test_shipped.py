"""The shipped policies against the contract's words, written a second time here as plain conditions."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from itertools import product
from pathlib import Path

import pytest

from admit import policy
from admit.core.ladder import EAGER, UnknownStateError
from admit.core.verify import census, verify
from admit.policy import compile as compiler
from admit.policy.files import shipped_text

CHECK = ("pass", "fail", "not_run")
LOCK = ("match", "drifted", "missing")
FLAKE = ("stable", "frozen")
INSTRUMENT = ("intact", "edited", "compromised")
PROVENANCE = ("established", "proven", "unproven", "broken_on_base")
GATE = ("pass", "unknown", "missing", "fail")


def arbiter(property_check, fixture_lock, flake_status):
    """Contract 2.1, row by row."""
    if fixture_lock == "drifted":
        return "HOLD", "fixture_drifted"
    if fixture_lock == "missing":
        return "HOLD", "fixture_missing"
    if flake_status == "frozen":
        return "HOLD", "frozen_node"
    if property_check == "fail":
        return "REJECT", "property_fail"
    if property_check == "not_run":
        return "HOLD", "property_not_run"
    return "ACCEPT", "clean"


def trusted(instrument, fixture_lock, flake_status, provenance, check):
    """Contract 2.3, in its own order."""
    if instrument == "compromised":
        return "HOLD", "instrument_compromised"
    if instrument == "edited":
        return "HOLD", "test_edited"
    outcome, reason = arbiter("pass", fixture_lock, flake_status)
    if outcome == "HOLD":
        return outcome, reason
    if provenance == "broken_on_base":
        return "HOLD", "already_broken"
    if provenance == "unproven":
        return "HOLD", "unproven_property"
    return arbiter(check, fixture_lock, flake_status)


def router(property_check, fixture_check, flaky_freeze):
    """Contract 2.2, row by row."""
    gates = {property_check, fixture_check, flaky_freeze}
    if "missing" in gates:
        return "ESCALATE", "evidence-gap"
    if property_check == fixture_check == "fail":
        return "BLOCK", "behavior-and-invariant"
    if fixture_check == "fail":
        return "BLOCK", "concrete-behavior"
    if property_check == "fail":
        return "BLOCK", "invariant-or-over-specified-property"
    if flaky_freeze == "fail":
        return "BLOCK", "freeze-register"
    if "unknown" in gates:
        return "ESCALATE", "inadmissible-evidence"
    return "MERGE_OK", "all-gates-held"


ORACLES = {
    "arbiter": (arbiter, ("property_check", "fixture_lock", "flake_status"), (CHECK, LOCK, FLAKE)),
    "trusted-arbiter": (
        trusted,
        ("instrument", "fixture_lock", "flake_status", "provenance", "property_check"),
        (INSTRUMENT, LOCK, FLAKE, PROVENANCE, CHECK),
    ),
    "router": (router, ("property_check", "fixture_check", "flaky_freeze"), (GATE, GATE, GATE)),
}
EVERY = [
    pytest.param(name, states, id=f"{name}: {' '.join(states)}")
    for name, (_, _, vocabularies) in ORACLES.items()
    for states in product(*vocabularies)
]


def test_every_combination_is_tried():
    """A4, R3, 2.3: 18, 64 and 216."""
    assert len(EVERY) == 18 + 64 + 216


@pytest.mark.parametrize(("name", "states"), EVERY)
def test_a_combination_gives_what_the_contract_says(name, states):
    """Sections 2.1, 2.2 and 2.3, whole."""
    oracle, names, _ = ORACLES[name]
    rule = policy.load(name).ladder.rule_on(dict(zip(names, states)))
    assert (rule.outcome.name, rule.reason) == oracle(*states)


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        pytest.param("arbiter", {"ACCEPT": 1, "REJECT": 1, "HOLD": 16}, id="A4: of 18 exactly one accepts"),
        pytest.param("router", {"MERGE_OK": 1, "BLOCK": 19, "ESCALATE": 44}, id="R3: 1 merges, 19 block, 44 escalate"),
        pytest.param("trusted-arbiter", {"ACCEPT": 2, "REJECT": 2, "HOLD": 212}, id="2.3: two clean combinations"),
    ],
)
def test_the_census_is_the_contracts(name, counts):
    """A4, R3, by the table and by the verifier."""
    ladder = policy.load(name).ladder
    assert Counter(ladder.table[states].outcome.name for states in ladder.combinations()) == counts
    found = verify(ladder)
    assert {outcome.name: count for outcome, count in census(ladder, found.counts).items()} == counts


@pytest.mark.parametrize("name", policy.SHIPPED)
def test_every_guarantee_is_obtained_and_holds(name):
    """V1: the declared partial order of outcomes included."""
    found = verify(policy.load(name).ladder)
    assert [(answer.guarantee, answer.held) for answer in found.answers if answer.held != "yes"] == []


@pytest.mark.parametrize("name", policy.SHIPPED)
def test_the_generated_tuples_are_what_the_toml_says(name):
    """They are what a command decides with, and the TOML is what people review."""
    built, read = policy.load(name), policy.parse(shipped_text(name), name)
    assert built._replace(ladder=None) == read._replace(ladder=None)
    for part in ("name", "signals", "outcomes", "rules", "worse", "accept_region", "table"):
        assert getattr(built.ladder, part) == getattr(read.ladder, part), part


def test_generating_again_gives_the_same_bytes():
    """Run `python -m admit.policy.compile` after editing a shipped policy."""
    committed = Path(compiler.__file__).with_name("_shipped.py").read_text(encoding="utf-8")
    assert compiler.generated() == committed


@pytest.mark.parametrize("name", policy.SHIPPED)
def test_the_whole_table_is_there_before_the_first_question(name):
    """A decision is one lookup."""
    ladder = policy.load(name).ladder
    assert len(ladder.table) == ladder.size <= EAGER


def test_no_toml_and_no_verifier_is_loaded_for_a_shipped_policy():
    """What `admit route` pays at start-up."""
    heavy = "tomllib json hashlib dataclasses inspect pathlib admit.core.verify admit.core.diagram admit.policy.text"
    code = (
        "import sys; before = set(sys.modules); from admit import policy; policy.load('router');"
        f"policy.for_gate(policy.load('arbiter'), 'lint'); print(set({heavy.split()}) & (set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


@pytest.mark.parametrize("gate", ["fixture_check", "lint", "contract_check"])
def test_the_arbiter_of_another_gate_spells_its_check_like_the_gate_and_rules_the_same(gate):
    """A7."""
    plain = policy.load("arbiter")
    ladder = policy.for_gate(plain, gate)
    stem = gate.removesuffix("_check")
    assert [signal.name for signal in ladder.signals] == [gate, "fixture_lock", "flake_status"]
    for states in plain.ladder.combinations():
        mine, theirs = ladder.table[states], plain.ladder.table[states]
        assert mine.reason == theirs.reason.replace("property_", f"{stem}_")
        assert mine.text == theirs.text.replace("property_check", gate)
        assert mine._replace(reason="", text="") == theirs._replace(reason="", text="")
    assert verify(ladder).holds


def test_a_gates_reasons_are_those_that_the_contract_spells():
    """A7: rows 4 and 5 say `fixture_fail` and `fixture_not_run`."""
    ladder = policy.for_gate(policy.load("arbiter"), "fixture_check")
    assert [rule.reason for rule in ladder.rules[3:5]] == ["fixture_fail", "fixture_not_run"]


def test_the_propertys_own_reasons_that_do_not_begin_with_its_stem_stay():
    """2.3: `unproven_property` is no spelling of the check."""
    ladder = policy.for_gate(policy.load("trusted-arbiter"), "fixture_check")
    assert "unproven_property" in [rule.reason for rule in ladder.rules]


def test_the_gate_of_the_check_itself_gets_the_very_ladder():
    """A7."""
    plain = policy.load("arbiter")
    assert policy.for_gate(plain, "property_check") is plain.ladder


def test_with_the_added_signals_clean_the_trusted_arbiter_is_the_arbiter_row_for_row():
    """2.3."""
    plain, under_suspicion = policy.load("arbiter").ladder, policy.load("trusted-arbiter").ladder
    for check, lock, flake in plain.combinations():
        row = plain.table[check, lock, flake]
        for provenance in ("established", "proven"):
            same = under_suspicion.table["intact", lock, flake, provenance, check]
            assert same._replace(number=0, boxes=()) == row._replace(number=0, boxes=())


@pytest.mark.parametrize("word", ["FAIL", "Pass", "", "passed", "skip", "pass ", "clean"])
def test_an_unknown_word_is_never_ruled_on(word):
    """E4: not by a default either."""
    ladder = policy.load("router").ladder
    for place in range(3):
        states = ["pass", "pass", "pass"]
        states[place] = word
        with pytest.raises(UnknownStateError):
            ladder.decide(*states)


@pytest.mark.parametrize("states", [(), ("pass",), ("pass", "pass"), ("pass",) * 4])
def test_the_wrong_number_of_words_is_never_ruled_on(states):
    """E4."""
    with pytest.raises(UnknownStateError):
        policy.load("router").ladder.decide(*states)
