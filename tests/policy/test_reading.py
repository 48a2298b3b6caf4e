"""What a policy may say and how it is read: conditions, defaults, digests, lines, files."""

from __future__ import annotations

import pytest

from admit import policy
from admit.core.verify import verify
from admit.errors import InputError
from admit.policy import EvidenceOptions, load, parse
from admit.policy.files import MAX_BYTES, shipped_text
from admit.policy.lines import Source
from admit.policy.text import read_draft


def rule_text(ladder):
    """Return the rules' conditions in words."""
    return [rule.text for rule in ladder.rules]


def outcomes(ladder):
    """Return what every combination gives."""
    return {states: ladder.table[states].outcome.name for states in ladder.combinations()}


def with_rule(text, condition):
    """Return a policy whose first rule has another condition."""
    return text.replace('any = "fail"', condition)


@pytest.mark.parametrize(
    ("condition", "stops", "words"),
    [
        pytest.param('any = "fail"', lambda p, f: "fail" in {p, f}, "any gate is fail", id="any"),
        pytest.param(
            'any = ["fail", "missing"]',
            lambda p, f: bool({"fail", "missing"} & {p, f}),
            "any gate is fail or missing",
            id="any of several",
        ),
        pytest.param('all = "fail"', lambda p, f: p == f == "fail", "every gate is fail", id="all"),
        pytest.param(
            'all = ["fail", "unknown"]',
            lambda p, f: {p, f} <= {"fail", "unknown"},
            "every gate is fail or unknown",
            id="all of several",
        ),
        pytest.param(
            'when = { property_check = "fail" }', lambda p, f: p == "fail", "property_check is fail", id="one signal"
        ),
        pytest.param(
            'when = { fixture_check = ["missing", "fail"], property_check = "clean" }',
            lambda p, f: p == "pass" and f in {"missing", "fail"},
            "property_check is clean and fixture_check is missing or fail",
            id="two signals, one of them clean",
        ),
        pytest.param(
            'any = "fail"\nall = ["fail", "missing"]\nwhen = { fixture_check = "missing" }',
            lambda p, f: p == "fail" and f == "missing",
            "any gate is fail and every gate is fail or missing and fixture_check is missing",
            id="all three kinds must hold",
        ),
    ],
)
def test_a_condition_covers_what_its_words_say(patch_policy, condition, stops, words):
    """`any`, `all` and `when` of one rule must all hold."""
    ladder = parse(with_rule(patch_policy, condition), "p.toml").ladder
    assert {states for states, given in outcomes(ladder).items() if given == "STOP"} == {
        states for states in ladder.combinations() if stops(*states)
    }
    assert ladder.rules[0].text == words


def test_a_rule_without_conditions_takes_the_rest(patch_policy):
    """It may hold or reject; to accept it would be refused."""
    ladder = parse(patch_policy, "p.toml").ladder
    assert ladder.rules[2].text == "anything else"
    assert verify(ladder).counts == (7, 1, 8)


def test_rules_keep_their_numbers_reasons_and_where_to_look(patch_policy):
    """U6: a decision names the rule."""
    text = patch_policy.replace('reason = "failed"', 'reason = "failed"\nlook_first = "the code"')
    rules = parse(text, "p.toml").ladder.rules
    assert [(rule.number, rule.reason, rule.look_first) for rule in rules] == [
        (1, "failed", "the code"),
        (2, "held", ""),
        (3, "rest", ""),
    ]


def test_what_is_left_out_has_its_default(patch_policy):
    """U5, 2.3, E5, V1."""
    read = parse(patch_policy, "p.toml")
    assert read.options == EvidenceOptions("fail", "say", None, None)
    assert read.ladder.worse == {("GO", "STOP"), ("GO", "LOOK")}
    assert read.ladder.accept_region == ((frozenset({"pass"}), frozenset({"pass"})),)
    assert (read.waived, read.about, read.check) == ((), "", "")


def test_what_is_written_out_is_kept(patch_policy):
    """U5, 2.3, E5, R7."""
    text = patch_policy + (
        '\n[evidence]\nflaky = "unknown"\nno_base = "hold"\nbase_moved_commits = 20\nbase_moved_hours = 0\n'
        '\n[waived]\nflaky_freeze = "no test here is flaky yet"\n[order]\nworse = ["GO < STOP", "STOP < LOOK"]\n'
    )
    read = parse(text, "p.toml")
    assert read.options == EvidenceOptions("unknown", "hold", 20, 0)
    assert read.waived == (("flaky_freeze", "no test here is flaky yet"),)
    assert read.ladder.worse == {("GO", "STOP"), ("STOP", "LOOK")}
    assert read.required == ("property_check", "fixture_check")


def test_an_accept_region_may_be_part_of_the_clean_combinations(node_policy):
    """V1: narrower than all-clean, signal by signal."""
    region = '\n[accept]\nregion = [{ property_check = "pass", provenance = "established" }]\n'
    with pytest.raises(InputError, match="rule 1: YES outside the accept region, for .* provenance=proven"):
        parse(node_policy + region, "p.toml")
    narrow = node_policy.replace('all = "clean"', 'when = { property_check = "pass", provenance = "established" }')
    ladder = parse(narrow + region, "p.toml").ladder
    assert [states for states, given in outcomes(ladder).items() if given == "YES"] == [("pass", "established")]


def test_an_accept_region_may_be_several_tables_with_the_word_clean(node_policy):
    """V1: what `all-clean` says, said signal by signal."""
    region = (
        '\n[accept]\nregion = [{ property_check = "clean", provenance = "proven" },'
        ' { property_check = "pass", provenance = "established" }]\n'
    )
    assert verify(parse(node_policy + region, "p.toml").ladder).holds


def test_an_order_that_is_declared_and_broken_is_no_refusal_but_a_finding(patch_policy):
    """V1: the declared order is reported by `admit policy verify`; accept-monotone alone is demanded."""
    ladder = parse(patch_policy + '\n[order]\nworse = ["LOOK < STOP"]\n', "p.toml").ladder
    answer = verify(ladder).answer("order-monotone")
    assert answer.held == "yes"
    ladder = parse(patch_policy + '\n[order]\nworse = ["STOP < LOOK"]\n', "p.toml").ladder
    answer = verify(ladder).answer("order-monotone")
    assert (answer.held, answer.witness) == ("no", (("pass", "unknown"), ("pass", "fail")))


@pytest.mark.parametrize(
    "order",
    ["MERGE_OK < ESCALATE < BLOCK", "MERGE_OK < BLOCK < ESCALATE"],
)
def test_the_router_is_monotone_under_no_total_order(order):
    """V1: missing outranks fail, so the shipped router declares BLOCK and ESCALATE incomparable."""
    one, two, three = order.split(" < ")
    text = shipped_text("router").replace(
        'worse = ["MERGE_OK < BLOCK", "MERGE_OK < ESCALATE"]', f'worse = ["{one} < {two}", "{two} < {three}"]'
    )
    answer = verify(parse(text, "p.toml").ladder).answer("order-monotone")
    assert answer.held == "no"
    better, worse = answer.witness
    assert sum(one != other for one, other in zip(better, worse)) == 1


# ---------------------------------------------------------------- digest

SAME = [
    pytest.param(lambda t: "# a comment\n" + t.replace("\n\n", "\n\n\n"), id="comments and blank lines"),
    pytest.param(lambda t: t.replace('any = "fail"', 'any = ["fail"]'), id="a list of one word"),
    pytest.param(
        lambda t: t.replace('outcome = "STOP"\nreason = "failed"', 'reason = "failed"\noutcome = "STOP"'),
        id="order of keys",
    ),
    pytest.param(lambda t: t + '\n[accept]\nregion = "all-clean"\n', id="the default region"),
    pytest.param(lambda t: t + '\n[order]\nworse = ["GO < LOOK", "GO < STOP"]\n', id="the default order"),
    pytest.param(lambda t: t + '\n[evidence]\nno_base = "say"\nflaky = "fail"\n', id="default options"),
    pytest.param(lambda t: t.replace('name = "ours"', 'name = "ours"\nabout = "What it is for."'), id="about"),
    pytest.param(lambda t: t.replace("\n", "\r\n"), id="CRLF"),
    pytest.param(
        lambda t: t.replace('["property_check", "fixture_check"]', '["fixture_check", "property_check"]'),
        id="the order in which gates are required",
    ),
]

OTHER = [
    pytest.param(lambda t: t.replace('name = "ours"', 'name = "theirs"'), id="name"),
    pytest.param(lambda t: t.replace("STOP", "BLOCK"), id="an outcome's name"),
    pytest.param(lambda t: t.replace('reason = "failed"', 'reason = "broke"'), id="a reason"),
    pytest.param(lambda t: t.replace('any = "fail"', 'any = ["fail", "missing"]'), id="a condition"),
    pytest.param(
        lambda t: t.replace('all = "clean"', 'when = { property_check = "pass", fixture_check = "pass" }'),
        id="the same combinations, but not those of a gate added later",
    ),
    pytest.param(
        lambda t: t.replace('"unknown", "missing", "fail"', '"missing", "unknown", "fail"'), id="states' order"
    ),
    pytest.param(lambda t: t + '\n[evidence]\nflaky = "unknown"\n', id="an option"),
    pytest.param(lambda t: t + '\n[waived]\nlint = "not yet"\n', id="a waived gate"),
    pytest.param(lambda t: t + '\n[order]\nworse = ["GO < STOP"]\n', id="the order of outcomes"),
    pytest.param(lambda t: swapped(t, "[[signal]]", "[[outcome]]"), id="the order of signals"),
    pytest.param(lambda t: swapped(t, "[[outcome]]", "[[rule]]"), id="the order of outcomes in the file"),
    pytest.param(lambda t: swapped(t, "[[rule]]", None), id="the order of rules"),
]


def swapped(text, head, end):
    """Return a text with the first two tables of a kind swapped."""
    start = text.index(head)
    stop = text.index(end) if end else len(text)
    parts = text[start:stop].split(head)[1:]
    parts[0], parts[1] = parts[1], parts[0]
    return text[:start] + "".join(head + part for part in parts) + text[stop:]


@pytest.mark.parametrize("change", SAME)
def test_two_files_that_decide_alike_have_one_digest(patch_policy, change):
    """The issue: two files in one order give one digest."""
    changed = change(patch_policy)
    assert changed != patch_policy
    assert parse(changed, "q.toml").digest == parse(patch_policy, "p.toml").digest


@pytest.mark.parametrize("change", OTHER)
def test_a_change_that_decides_gives_another_digest(patch_policy, change):
    """G1: a decision names its policy by the digest."""
    changed = change(patch_policy)
    assert changed != patch_policy
    assert parse(changed, "p.toml").digest != parse(patch_policy, "p.toml").digest


def test_a_digest_names_its_algorithm(patch_policy):
    """G1."""
    algorithm, _, digits = parse(patch_policy, "p.toml").digest.partition(":")
    assert (algorithm, len(digits)) == ("sha256", 64)


# ---------------------------------------------------------------- sources


def test_a_policy_is_loaded_by_path(tmp_path, patch_policy):
    """A team's own."""
    path = tmp_path / "ours.toml"
    path.write_text(patch_policy, encoding="utf-8")
    read = load(str(path), "patch")
    assert (read.source, read.ladder.name) == (str(path), "ours")


@pytest.mark.parametrize(
    ("source", "rules_on", "message"),
    [
        pytest.param(
            "arbiter",
            "patch",
            "arbiter: it rules on a node, not on a patch; name a patch policy, such as router",
            id="node",
        ),
        pytest.param(
            "router",
            "node",
            "router: it rules on a patch, not on a node; name a node policy, such as arbiter",
            id="patch",
        ),
        pytest.param(
            "nowhere.toml",
            None,
            "nowhere.toml: no policy can be read there: No such file or directory; check the path",
            id="no file",
        ),
        pytest.param(".", None, ".: no policy can be read there: Is a directory; check the path", id="a folder"),
        pytest.param(
            "a\0b", None, "a\\x00b: no policy can be read there: embedded null byte; check the path", id="no path"
        ),
    ],
)
def test_what_is_no_fitting_policy_is_refused(source, rules_on, message, tmp_path, monkeypatch):
    """Exit 65, in one line."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as refused:
        load(source, rules_on)
    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(
            b'name = "a"\nabout = "\xff"\n', ":2: byte 20 is not UTF-8; save the file as UTF-8", id="not UTF-8"
        ),
        pytest.param(
            b"#" * (MAX_BYTES + 1), f": more than {MAX_BYTES} bytes; check that it is a policy", id="too large"
        ),
        pytest.param(b"\xef\xbb\xbf" + b'schema = "admit.policy/1"', "no TOML: ", id="a byte order mark"),
    ],
)
def test_a_file_that_is_no_text_is_refused(tmp_path, content, message):
    """E4's habits hold for policies."""
    path = tmp_path / "p.toml"
    path.write_bytes(content)
    with pytest.raises(InputError) as refused:
        load(str(path))
    assert message in str(refused.value)


def test_a_gate_called_like_another_signal_has_no_arbiter():
    """A7: two signals of one name could not be told apart."""
    with pytest.raises(InputError, match="the gate fixture_lock is called like a signal of this policy"):
        policy.for_gate(load("arbiter"), "fixture_lock")


def test_a_patch_policy_has_no_gate_to_be_spelled_for():
    """A7."""
    with pytest.raises(InputError, match="router: it rules on a patch, not on nodes"):
        policy.for_gate(load("router"), "fixture_check")


# ---------------------------------------------------------------- lines

TEXT = '''\
top = 1
about = """
[[rule]]
key = 2
"""
"quoted" = 3
dotted.key = 4

[[rule]]  # the first
key = 5
list = [
  "a",
]

[[ rule ]]
key = 6
'key' = 7

[table]
key = 8
'''


@pytest.mark.parametrize(
    ("place", "line"),
    [
        pytest.param(("", 0, "top"), 1, id="at the top"),
        pytest.param(("", 0, "quoted"), 6, id="quoted"),
        pytest.param(("", 0, "dotted"), 7, id="dotted"),
        pytest.param(("", 0, "table"), 19, id="a table of its own"),
        pytest.param(("rule", 0, "key"), 10, id="in the first table, not in a string"),
        pytest.param(("rule", 0, "list"), 11, id="a list of several lines"),
        pytest.param(("rule", 1, "key"), 16, id="in the second table"),
        pytest.param(("rule", 1, ""), 15, id="the second table itself"),
        pytest.param(("rule", 1, "absent"), 15, id="a key that is not there"),
        pytest.param(("rule", 2, "key"), None, id="a table that is not there"),
        pytest.param(("", 0, "absent"), None, id="a key that is nowhere"),
        pytest.param(("", 0, ""), None, id="the text itself"),
    ],
)
def test_a_message_finds_the_line(place, line):
    """The parser tells no positions."""
    assert Source("p", TEXT).at(*place) == (f"p:{line}" if line else "p")


def test_a_draft_is_read_whether_it_is_sound_or_not(patch_policy):
    """V1: `admit policy verify` says of each guarantee whether it holds."""
    draft = read_draft(patch_policy.replace('[[rule]]\noutcome = "LOOK"\nreason = "rest"\n', ""), "p.toml")
    assert verify(draft.policy.ladder).answer("total").held == "no"
