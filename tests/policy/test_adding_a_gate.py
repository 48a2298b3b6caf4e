"""A gate added later can only make merging harder, whatever the rules say (contract R6), and readers never crash."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from admit.errors import InputError
from admit.policy import SHIPPED, parse
from admit.policy.files import shipped_text

STATES = ("pass", "unknown", "missing", "fail")
KINDS = {"GO": "accept", "STOP": "reject", "LOOK": "hold"}
SAMPLES = Path(__file__).with_name("samples")


def policy_text(gates, rules, region=""):
    """Return a patch policy of some gates and rules as text."""
    head = f'schema = "admit.policy/1"\nname = "x"\nrules_on = "patch"\nrequired = {list(gates)}\n'.replace("'", '"')
    signals = "".join(
        f'[[signal]]\nname = "{gate}"\nstates = ["pass", "unknown", "missing", "fail"]\nclean = ["pass"]\n'
        for gate in gates
    )
    outcomes = "".join(f'[[outcome]]\nname = "{name}"\nmeans = "{kind}"\n' for name, kind in KINDS.items())
    return head + signals + outcomes + region + "".join(rules)


ANY = ("", 'any = "fail"', 'any = "missing"', 'any = ["unknown", "missing"]', 'any = "clean"')
ALL = ("", 'all = "clean"', 'all = "pass"', 'all = ["pass", "unknown"]', 'all = ["fail", "missing"]')
WHEN = (
    "",
    'when = { a = "fail" }',
    'when = { b = ["unknown", "missing"] }',
    'when = { a = "clean", b = "pass" }',
    'when = { a = ["pass", "fail"], b = ["pass", "missing"] }',
)
RULES = tuple(
    f'[[rule]]\n{some}\n{every}\n{named}\noutcome = "{outcome}"\nreason = "r"\n'
    for some, every, named, outcome in product(ANY, ALL, WHEN, KINDS)
    if some or every or named
)
some_rules = st.lists(st.sampled_from(RULES), max_size=3)
CATCH_ALL = '[[rule]]\noutcome = "LOOK"\nreason = "rest"\n'
ACCEPT = '[[rule]]\nall = "clean"\noutcome = "GO"\nreason = "held"\n'


def accepted(ladder):
    """Return the combinations that accept."""
    return {states for states in ladder.combinations() if ladder.table[states].outcome.kind == "accept"}


def grown(written):
    """Return what some rules accept over two gates and over one more; None where either policy is refused."""
    try:
        before = parse(policy_text(("a", "b"), written), "before").ladder
        after = parse(policy_text(("a", "b", "c"), written), "after").ladder
    except InputError:
        return None  # somebody has to look at it, which is as hard as merging gets
    return accepted(before), accepted(after)


def lets_nothing_new_in(before, after):
    """Return whether every combination that accepts with a gate more accepted without it, and that gate passes."""
    return {states[:2] for states in after} <= before and {states[2] for states in after} <= {"pass"}


@pytest.mark.parametrize("last", [pytest.param([ACCEPT, CATCH_ALL], id="accept"), pytest.param([CATCH_ALL], id="none")])
def test_every_one_rule_before_the_accept_lets_nothing_new_in_when_a_gate_is_added(last):
    """R6: all of them, and enough are read for that to mean something."""
    found = [pair for rule in RULES if (pair := grown([rule, *last]))]
    assert all(lets_nothing_new_in(*pair) for pair in found)
    assert len(found) >= 20


@given(some_rules, st.booleans())
@settings(max_examples=400)
def test_a_gate_added_to_a_policy_that_is_read_lets_nothing_new_in(some, with_accept):
    """R6: the same rules over one gate more accept only what they accepted without it."""
    pair = grown([*some, *([ACCEPT] if with_accept else []), CATCH_ALL])
    assert pair is None or lets_nothing_new_in(*pair)


@given(some_rules)
@settings(max_examples=200)
def test_a_policy_that_is_read_accepts_nothing_but_the_clean_combination(some):
    """Section 0: whatever its rules say."""
    try:
        ladder = parse(policy_text(("a", "b"), [*some, ACCEPT, CATCH_ALL]), "p").ladder
    except InputError:
        return
    assert accepted(ladder) <= {("pass", "pass")}


@pytest.mark.parametrize("state", STATES)
def test_the_router_with_a_gate_more_merges_only_if_that_passes_too(state):
    """R6: a team copies the router and adds a gate, and edits no rule."""
    text = shipped_text("router").replace('"flaky_freeze"]', '"flaky_freeze", "lint"]')
    text += '\n[[signal]]\nname = "lint"\nstates = ["pass", "unknown", "missing", "fail"]\nclean = ["pass"]\n'
    if state == "pass":
        text = text.replace(
            '[[rule]]\nany = "unknown"',
            '[[rule]]\nany = "fail"\noutcome = "BLOCK"\nreason = "x"\n\n[[rule]]\nany = "unknown"',
        )
        ladder = parse(text, "p.toml").ladder
        assert ladder.size == 256
        assert accepted(ladder) == {("pass",) * 4}
    else:
        with pytest.raises(InputError, match="no rule covers .*lint=fail"):
            parse(text, "p.toml")


def test_a_region_that_names_its_signals_has_to_be_reviewed_when_a_gate_is_added(patch_policy):
    """R6: only `all-clean` grows by itself, and it grows stricter."""
    region = '\n[accept]\nregion = [{ property_check = "pass", fixture_check = "pass" }]\n'
    parse(patch_policy + region, "p.toml")
    more = (patch_policy + region).replace('"fixture_check"]', '"fixture_check", "lint"]')
    more += '\n[[signal]]\nname = "lint"\nstates = ["pass", "unknown", "missing", "fail"]\nclean = ["pass"]\n'
    with pytest.raises(InputError, match="a table of the region leaves out lint"):
        parse(more, "p.toml")


# ---------------------------------------------------------------- any bytes at all

TEXTS = [shipped_text(name) for name in SHIPPED] + [
    (SAMPLES / name).read_text(encoding="utf-8") for name in ("two-gates.toml", "one-node.toml")
]


@st.composite
def damaged(draw):
    """Return a policy with lines deleted, doubled, swapped, or words exchanged."""
    lines = draw(st.sampled_from(TEXTS)).split("\n")
    for _ in range(draw(st.integers(1, 4))):
        place, other = (draw(st.integers(0, len(lines) - 1)) for _ in range(2))
        match draw(st.sampled_from(("delete", "double", "swap", "word", "cut", "noise"))):
            case "delete":
                lines[place] = ""
            case "double":
                lines.insert(other, lines[place])
            case "swap":
                lines[place], lines[other] = lines[other], lines[place]
            case "word":
                lines[place] = lines[place].replace("pass", draw(st.sampled_from(("clean", "fail", "x", "", "1"))))
            case "cut":
                lines[place] = lines[place][: draw(st.integers(0, 20))]
            case _:
                lines[place] += draw(st.text(max_size=5))
    return "\n".join(lines)


@given(st.one_of(damaged(), damaged(), st.text(max_size=60)))
@settings(max_examples=200)
def test_a_damaged_policy_is_read_or_refused_and_never_accepts_what_is_not_clean(text):
    """Section 0: no traceback, and no accept that nobody wrote."""
    try:
        ladder = parse(text, "p.toml").ladder
    except InputError:
        return
    for states in accepted(ladder):
        assert all(state in signal.clean for state, signal in zip(states, ladder.signals))
