"""The pages on policies: every TOML that they show is read, and what they claim is so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from admit.core.verify import GUARANTEES, verify
from admit.policy import load, parse
from admit.policy.cases import read_cases, try_cases
from admit.policy.files import shipped_text

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "how-to" / "write-a-policy.md").read_text(encoding="utf-8")
WHY = (DOCS / "explanation" / "verification.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)


def block(start):
    """Return the one block that begins so."""
    (found,) = [text for text in BLOCKS if text.startswith(start)]
    return found


def test_the_policy_that_the_page_shows_is_read_and_holds():
    shown = parse(block('schema = "admit.policy/1"'), "page")
    assert verify(shown.ladder).holds
    assert shown.waived == (("property_check", "this repository has no property tests yet"),)


def test_the_gate_that_the_page_adds_fits_the_router():
    required, rest = block("required = ").split("\n", 1)
    signal, rule = rest.split("[[rule]]")
    text = re.sub(r"required = .*", required, shipped_text("router"))
    with_rule = text.replace('[[rule]]\nany = "unknown"', f'[[rule]]{rule}\n[[rule]]\nany = "unknown"') + signal
    ladder = parse(with_rule, "page").ladder
    assert ladder.decide("pass", "pass", "pass", "fail").reason == "contract"
    with pytest.raises(Exception, match="no rule covers property_check=pass, .* contract_check=fail"):
        parse(text + signal, "page")


def test_the_case_that_the_page_shows_holds_under_the_router():
    ladder = load("router").ladder
    report = try_cases(read_cases(block('schema = "admit.policy-cases/1"'), "page", ladder), ladder)
    assert (len(report.cases), report.wrong) == (1, ())


def test_every_block_of_the_page_is_tried():
    tried = ("[policy]", "required = ", 'schema = "admit.policy/1"', 'schema = "admit.policy-cases/1"')
    assert [text for text in BLOCKS if not text.startswith(tried)] == []


def test_the_explanation_names_every_guarantee_in_the_verifiers_words():
    rows = dict(re.findall(r"^\| `([a-z-]+)` \| ([^|]+) \|", WHY, re.MULTILINE))
    assert rows == GUARANTEES


def test_the_routers_steps_are_what_the_explanation_says():
    assert f"takes {verify(load('router').ladder).steps} steps" in WHY
