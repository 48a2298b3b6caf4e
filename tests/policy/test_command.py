"""`admit policy show`, `verify` and `test`, as a person runs them (contract V1, V3, V4)."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from admit.cli import main
from admit.policy import SHIPPED, parse
from admit.policy.files import shipped_text

SAMPLES = Path(__file__).with_name("samples")
OURS = str(SAMPLES / "two-gates.toml")
CASES = str(SAMPLES / "cases.toml")


@pytest.fixture
def admit(capsys, tmp_path, monkeypatch):
    """Return a function that runs admit in an empty folder and returns exit code, standard output and error."""
    monkeypatch.chdir(tmp_path)

    def run(*words):
        code = main(["policy", *words])
        out, err = capsys.readouterr()
        return code, out, err

    return run


def written(folder, text, name="p.toml"):
    """Write a file and return its name."""
    (folder / name).write_text(text, encoding="utf-8")
    return name


# ---------------------------------------------------------------- show


def test_show_prints_rules_census_and_the_whole_table(admit):
    """V4."""
    code, out, err = admit("show", "router")
    assert (code, err) == (0, "")
    assert (
        "\n  MERGE_OK  accept  0          1\n  BLOCK     reject  1          19\n  ESCALATE  hold    2          44\n"
        in out
    )
    assert "\n  1  any gate is missing " in out
    table = out[out.index("\nTable\n") :].strip().split("\n")
    assert len(table) == 2 + 64
    assert table[2].split() == ["pass", "pass", "pass", "MERGE_OK", "all-gates-held", "7"]


@pytest.mark.parametrize("name", SHIPPED)
def test_the_table_shown_is_what_the_ladder_says(admit, name):
    """V4: everything derives from the data."""
    _, out, _ = admit("show", name, "--format", "json")
    shown, ladder = json.loads(out), parse(shipped_text(name), name).ladder
    assert shown["combinations"] == len(shown["table"]) == ladder.size
    assert sum(shown["census"].values()) == ladder.size
    for row in shown["table"]:
        rule = ladder.rule_on(row["states"])
        assert (row["outcome"], row["reason"], row["rule"]) == (rule.outcome.name, rule.reason, rule.number)


def test_markdown_keeps_what_a_policy_says_from_being_markup(admit, tmp_path, patch_policy):
    """V4: a reviewer reads it in a pull request."""
    text = patch_policy.replace('name = "ours"', 'name = "o|<b>[u](r)s"')
    code, out, _ = admit("show", written(tmp_path, text), "--format", "markdown")
    assert code == 0
    assert out.startswith("# Policy o\\|\\<b\\>\\[u\\](r)s\n")
    heads = [line for line in out.split("\n") if line.startswith("| --- ")]
    assert len(heads) == 5


class Page(HTMLParser):
    """Collects the tags and the text of a page."""

    def __init__(self):
        super().__init__()
        self.tags, self.words = [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.words.append(data)


def test_html_is_one_page_without_scripts_that_marks_what_rows_mean(admit, tmp_path, patch_policy):
    """V4."""
    text = patch_policy.replace('name = "ours"', 'name = "<script>alert(1)</script>"')
    code, out, _ = admit("show", written(tmp_path, text), "--format", "html")
    page = Page()
    page.feed(out)
    assert code == 0
    assert "script" not in {tag for tag, _ in page.tags}
    assert "Policy <script>alert(1)</script>" in page.words
    marked = [attrs["class"] for tag, attrs in page.tags if tag == "tr" and "class" in attrs]
    assert (marked.count("accept"), marked.count("reject"), marked.count("hold")) == (1 + 1 + 1, 1 + 1 + 7, 1 + 1 + 8)


@pytest.mark.parametrize("name", SHIPPED)
def test_toml_is_the_policy_to_copy(admit, name):
    """The issue: a team can copy one."""
    _, out, _ = admit("show", name, "--format", "toml")
    assert out == shipped_text(name)


def test_a_table_too_long_to_read_is_said_to_be_left_out(admit, tmp_path):
    """V4: seven gates have 16,384 combinations; the counts are exact all the same."""
    name = written(tmp_path, wide(7))
    _, out, _ = admit("show", name)
    assert "Table\nNot written out: 16384 combinations are more than 4096.\n" in out
    _, out, _ = admit("show", name, "--format", "json")
    shown = json.loads(out)
    assert shown["table"] is None
    assert shown["census"] == {"GO": 1, "STOP": 4**7 - 3**7, "LOOK": 3**7 - 1}


def wide(gates):
    """Return a policy of many gates."""
    names = [f"g{number}" for number in range(gates)]
    text = (SAMPLES / "two-gates.toml").read_text(encoding="utf-8")
    head, rest = text[: text.index("[[signal]]")], text[text.index("[[outcome]]") :]
    head = head.replace('["property_check", "fixture_check"]', json.dumps(names))
    signals = "".join(
        f'[[signal]]\nname = "{name}"\nstates = ["pass", "unknown", "missing", "fail"]\nclean = ["pass"]\n'
        for name in names
    )
    return head + signals + rest


def test_waived_gates_and_bounds_are_shown(admit, tmp_path, patch_policy):
    """R7, E5: a reviewer sees them."""
    text = patch_policy + '\n[waived]\nlint = "nobody asked"\n[evidence]\nbase_moved_hours = 5\nno_base = "hold"\n'
    _, out, _ = admit("show", written(tmp_path, text))
    assert re.search(r"waived +lint: nobody asked\n", out)
    assert re.search(r"base moved at most +5 hours\n", out)
    assert re.search(r"a decision without a base +holds\n", out)


def test_without_a_policy_the_configured_router_is_shown(admit, tmp_path, patch_policy):
    """The router of the repository around the current folder."""
    assert "Policy router\n" in admit("show")[1]
    written(tmp_path, patch_policy, "ours.toml")
    written(tmp_path, '[policy]\nrouter = "ours.toml"\n', "admit.toml")
    assert "Policy ours\n" in admit("show")[1]
    assert "policy ours (ours.toml)" in admit("verify")[1]


# ---------------------------------------------------------------- verify


@pytest.mark.parametrize("source", [*SHIPPED, OURS])
def test_verify_says_that_each_guarantee_holds(admit, source):
    """V1."""
    code, out, err = admit("verify", source)
    assert (code, err) == (0, "")
    assert [line.split()[:2] for line in out.split("\n") if line.startswith("holds")] == [
        ["holds", "total"],
        ["holds", "no-dead-rule"],
        ["holds", "accept-region"],
        ["holds", "accept-monotone"],
        ["holds", "order-monotone"],
    ]


def test_verify_shows_every_broken_guarantee_and_then_refuses(admit, tmp_path, patch_policy):
    """V1: exit 65, for no other command would take the policy."""
    text = patch_policy.replace('any = "fail"', 'any = ["fail", "missing"]').replace(
        '[[rule]]\noutcome = "LOOK"', '[[rule]]\nany = "fail"\noutcome = "LOOK"'
    )
    code, out, err = admit("verify", written(tmp_path, text))
    assert code == 65
    assert "3 combinations, the smallest: property_check=pass, fixture_check=unknown gives no outcome\n" in out
    assert "rule 3 (any gate is fail) is taken by rule 1\n" in out
    assert out.count("BROKEN") == 2
    assert "warning: the outcome LOOK is never given\n" in out
    assert err.startswith("admit: p.toml:38: rule 3: it can never match: rule 1 takes every combination that it covers")


def test_verify_fails_on_a_declared_order_that_is_broken(admit, tmp_path, patch_policy):
    """V1: exit 1; the policy can be used, but does not keep what it says."""
    text = patch_policy + '\n[order]\nworse = ["STOP < LOOK"]\n'
    code, out, err = admit("verify", written(tmp_path, text))
    assert (code, err) == (1, "")
    assert (
        "steps, the smallest: property_check=pass, fixture_check=unknown gives LOOK (rule 3), but the worse"
        " property_check=pass, fixture_check=fail gives STOP (rule 1)\n" in out
    )


def test_verify_fails_where_the_budget_gave_no_answer(admit):
    """V1: it says which guarantee it did obtain."""
    code, out, _ = admit("verify", "router", "--steps", "10", "--format", "json")
    shown = json.loads(out)
    assert code == 1
    assert shown["holds"] is False
    assert shown["census"] is None
    assert {answer["guarantee"]: answer["held"] for answer in shown["answers"]} == {
        "total": "not-obtained",
        "no-dead-rule": "not-obtained",
        "accept-region": "yes",
        "accept-monotone": "not-obtained",
        "order-monotone": "not-obtained",
    }
    assert "NOT OBTAINED  total" in admit("verify", "router", "--steps", "10")[1]


@pytest.mark.parametrize("steps", ["0", "-3", "many"])
def test_a_budget_that_is_none_is_a_usage_error(admit, steps):
    """R5: 64."""
    assert admit("verify", "router", "--steps", steps)[0] == 64


def test_verify_in_markdown_is_one_row_a_guarantee(admit):
    """For a comment."""
    _, out, _ = admit("verify", "router", "--format", "markdown")
    assert out.count("| holds |") == 5
    assert "Census: MERGE_OK 1, BLOCK 19, ESCALATE 44\n" in out


def test_verify_warns_of_a_gate_that_is_neither_required_nor_waived(admit, tmp_path, patch_policy):
    """R7: what a repository does not require, its policy says in words."""
    said = "warning: flaky_freeze is neither required nor waived: say why under [waived]\n"
    assert said in admit("verify", OURS)[1]
    waived = patch_policy + '\n[waived]\nflaky_freeze = "nothing is flaky here yet"\n'
    assert "warning" not in admit("verify", written(tmp_path, waived))[1]
    assert "warning" not in admit("verify", "router")[1]


def test_verify_warns_of_a_signal_that_no_record_has(admit, tmp_path, node_policy):
    """A node policy may be read for its own sake, but nothing could be ruled on with it."""
    more = node_policy.replace(
        "[[outcome]]", '[[signal]]\nname = "mood"\nstates = ["good", "bad"]\nclean = ["good"]\n\n[[outcome]]', 1
    )
    code, out, _ = admit("verify", written(tmp_path, more))
    assert code == 0
    assert "warning: no node record has the signal mood, so no node can be ruled on\n" in out


@pytest.mark.parametrize("verb", ["show", "verify"])
def test_a_policy_that_cannot_be_read_exits_65_with_one_line(admit, tmp_path, verb):
    """The house: broken input is an error that teaches."""
    code, out, err = admit(verb, written(tmp_path, 'schema = "admit.policy/2"\n'))
    assert (code, out) == (65, "")
    assert err == 'admit: p.toml: no rules_on; allowed: patch, node; write rules_on = "patch"\n'


def test_every_verb_has_help_with_an_example(admit, capsys):
    """The issue: each with `--help` that shows an example."""
    for verb in ("show", "verify", "test"):
        with pytest.raises(SystemExit) as left:
            main(["policy", verb, "--help"])
        assert left.value.code == 0
        assert f"example:\n  admit policy {verb} " in capsys.readouterr().out


# ---------------------------------------------------------------- test


def test_cases_that_hold(admit):
    """V3."""
    code, out, err = admit("test", CASES, "--policy", OURS)
    assert (code, err) == (0, "")
    assert out == f"3 of 3 cases hold under ours ({OURS}); 0 of 3 rules never tried\n"


def test_each_wrong_case_is_shown_with_the_rule_that_ruled(admit, tmp_path):
    """V3."""
    text = (
        Path(CASES)
        .read_text(encoding="utf-8")
        .replace('"STOP"', '"GO"')
        .replace('outcome = "LOOK"', 'outcome = "STOP"')
    )
    code, out, _ = admit("test", written(tmp_path, text, "c.toml"), "--policy", OURS)
    assert code == 1
    assert out.split("\n")[:3] == [
        (
            "wrong: c.toml:3: a counterexample stops it: property_check=fail, fixture_check=pass: expected GO failed,"
            " got STOP failed (rule 1: any gate is fail)"
        ),
        (
            "wrong: c.toml:13: nothing ran: property_check=missing, fixture_check=missing: expected STOP,"
            " got LOOK rest (rule 3: anything else)"
        ),
        f"1 of 3 cases hold under ours ({OURS}); 0 of 3 rules never tried",
    ]


def test_the_right_outcome_for_another_reason_is_wrong(admit, tmp_path):
    """V3: a case that gives a reason means it."""
    text = Path(CASES).read_text(encoding="utf-8").replace('reason = "failed"', 'reason = "rest"')
    code, out, _ = admit("test", written(tmp_path, text, "c.toml"), "--policy", OURS)
    assert code == 1
    assert "expected STOP rest, got STOP failed" in out


@pytest.mark.parametrize(
    ("flags", "code"), [pytest.param([], 0, id="is said"), pytest.param(["--every-rule"], 1, id="fails if asked")]
)
def test_a_rule_that_no_case_tries(admit, tmp_path, flags, code):
    """V3: a suite that is green for a rule that never ran proves nothing of it."""
    text = Path(CASES).read_text(encoding="utf-8")
    name = written(tmp_path, text[: text.rindex("[[case]]")], "c.toml")
    found, out, _ = admit("test", name, "--policy", OURS, *flags)
    assert found == code
    assert out.startswith("never tried: rule 3, anything else: LOOK\n")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        pytest.param(
            None,
            'schema = "admit.policy-cases/1"\n',
            "c.toml: no case, and an empty table of cases proves nothing; add a [[case]]",
            id="no case",
        ),
        pytest.param(
            None,
            'schema = "admit.policy-cases/1"\ncase = []\n',
            "c.toml:2: no case, and an empty table of cases proves nothing; add a [[case]]",
            id="an empty list",
        ),
        pytest.param(
            None,
            "",
            'c.toml: no schema; allowed: admit.policy-cases/1; write schema = "admit.policy-cases/1"',
            id="an empty file",
        ),
        pytest.param(None, "[[case]", "c.toml:1: no TOML: ", id="no TOML"),
        pytest.param(
            '"fail"',
            '"failed"',
            'c.toml:5: case 1: property_check has no state "failed"; allowed: pass, unknown, missing, fail',
            id="an unknown state",
        ),
        pytest.param(
            '"fail"',
            '"clean"',
            'c.toml:5: case 1: property_check has no state "clean"; allowed: pass, unknown, missing, fail',
            id="clean is no state of evidence",
        ),
        pytest.param(
            '"fail"',
            '["fail"]',
            "c.toml:5: case 1: given holds a list; allowed: one state of property_check: pass, unknown, missing, fail",
            id="several states",
        ),
        pytest.param(
            '"fail", fixture_check = "pass"',
            '"fail"',
            "c.toml:5: case 1: given leaves out fixture_check; allowed: pass, unknown, missing, fail",
            id="a signal left out",
        ),
        pytest.param(
            "property_check =",
            "lint =",
            'c.toml:5: case 1: given has "lint", which is no signal; allowed: property_check, fixture_check',
            id="an unknown signal",
        ),
        pytest.param(
            '"STOP"',
            '"BLOCK"',
            'c.toml:6: case 1: outcome is "BLOCK"; allowed: GO, STOP, LOOK',
            id="an unknown outcome",
        ),
        pytest.param(
            '"failed"',
            '"late"',
            'c.toml:7: case 1: reason is "late"; allowed: failed, held, rest',
            id="an unknown reason",
        ),
        pytest.param(
            "reason =",
            "because =",
            'c.toml:7: case 1: unknown key "because"; allowed: given, outcome, name, reason',
            id="an unknown key",
        ),
        pytest.param(
            '"missing", fixture_check = "missing"',
            '"fail", fixture_check = "pass"',
            "c.toml:15: case 3: the same combination as a counterexample stops it; delete one of the two",
            id="a case twice",
        ),
    ],
)
def test_a_table_of_cases_that_says_nothing_is_refused(admit, tmp_path, old, new, says):
    """V3: exit 65."""
    text = Path(CASES).read_text(encoding="utf-8").replace(old, new, 1) if old else new
    code, out, err = admit("test", written(tmp_path, text, "c.toml"), "--policy", OURS)
    assert (code, out) == (65, "")
    assert err.startswith(f"admit: {says}")


def test_cases_in_json_and_markdown(admit, tmp_path):
    """For machines and for comments."""
    text = Path(CASES).read_text(encoding="utf-8").replace('"STOP"', '"GO"')
    name = written(tmp_path, text, "c.toml")
    shown = json.loads(admit("test", name, "--policy", OURS, "--format", "json")[1])
    assert (shown["cases"], shown["untried"]) == (3, [])
    assert shown["wrong"] == [
        {
            "case": "a counterexample stops it",
            "where": "c.toml:3",
            "states": {"property_check": "fail", "fixture_check": "pass"},
            "expected": {"outcome": "GO", "reason": "failed"},
            "got": {"outcome": "STOP", "reason": "failed", "rule": 1},
        }
    ]
    assert admit("test", name, "--policy", OURS, "--format", "markdown")[1].startswith("- wrong: c.toml:3: ")
