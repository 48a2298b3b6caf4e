"""The abstentions file: what it declares, what it refuses and in which words, and its stable bytes (contract U7)."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from admit.abstain.file import BY_DESIGN, HEADER, Abstentions, Declared, comments_below, read_abstentions, rendered
from admit.errors import InputError

WHERE = "admit.abstentions.toml"
PLACE = "admit.abstentions.toml line 1, entry 1: "


def entry(**changes: str | None) -> str:
    """Return the text of one entry, with keys changed, added, or left out (None)."""
    keys = {"why": '"skip"', "reason": '"needs a GPU"', "node": '"a.py::test_x"'}
    lines = [f"{key} = {value}" for key, value in (keys | changes).items() if value is not None]
    return "\n".join(["[[abstain]]", *lines, ""])


def test_a_node_is_declared_with_why_and_exact_reason() -> None:
    found = read_abstentions(entry(note='"only on the farm"'), WHERE)
    assert found.by_node == {"a.py::test_x": Declared("skip", "needs a GPU", "only on the farm")}
    assert found.declared == {"a.py::test_x": ("skip", "needs a GPU")}


def test_many_nodes_share_one_why_and_reason() -> None:
    found = read_abstentions(entry(node=None, nodes='["a", "b"]') + entry(node='"c"', why='"xfail"'), WHERE)
    skipped = Declared("skip", "needs a GPU")
    assert found.by_node == {"a": skipped, "b": skipped, "c": Declared("xfail", "needs a GPU")}


def test_a_bare_mark_has_an_empty_reason_and_says_so() -> None:
    assert read_abstentions(entry(reason='""'), WHERE).by_node == {"a.py::test_x": Declared("skip", "")}


@pytest.mark.parametrize("why", sorted(BY_DESIGN))
def test_what_somebody_chose_can_be_declared(why: str) -> None:
    assert read_abstentions(entry(why=f'"{why}"'), WHERE).declared == {"a.py::test_x": (why, "needs a GPU")}


@pytest.mark.parametrize(
    "why",
    [
        "error", "error_setup", "error_teardown", "error_collect", "timeout", "crashed", "interrupted", "never_ran",
        "no_cases", "flaky", "xpass", "deadline", "health_check", "unsatisfiable", "vacuous", "invalid_test",
        "truncated", "conflict", "no_verdict", "aborted", "Skip", "",
    ],
)  # fmt: skip
def test_an_accident_cannot_be_declared(why: str) -> None:
    with pytest.raises(InputError) as caught:
        read_abstentions(entry(why=f'"{why}"'), WHERE)
    assert str(caught.value) == PLACE + f"why is {why!r}; allowed: skip, xfail, deselected, todo, disabled"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(entry(why=None), PLACE + "no why; one of skip, xfail, deselected, todo, disabled", id="no-why"),
        pytest.param(entry(reason=None), PLACE + "no reason; copy the exact text that the run shows", id="no-reason"),
        pytest.param(
            entry(node=None), PLACE + 'no node; write node = "…" for one, nodes = ["…", "…"] for several', id="no-node"
        ),
        pytest.param(
            entry(nodes='["b"]'),
            PLACE + 'both node and nodes; write node = "…" for one, nodes = ["…", "…"] for several',
            id="node-and-nodes",
        ),
        pytest.param(
            entry(reasons='"x"'), PLACE + "unknown key 'reasons'; allowed: why, reason, node, nodes, note", id="unknown"
        ),
        pytest.param(entry(reason="7"), PLACE + 'reason is 7; write it as text: reason = "…"', id="reason-is-a-number"),
        pytest.param(entry(node="7"), PLACE + 'node is 7; write it as text: node = "…"', id="node-is-a-number"),
        pytest.param(
            entry(node='""'),
            PLACE + "the node '' is empty or has white space around it; name a node",
            id="node-is-empty",
        ),
        pytest.param(
            entry(node=None, nodes='["a", "b "]'),
            PLACE + "the node 'b ' is empty or has white space around it; name a node",
            id="node-with-white-space",
        ),
        pytest.param(
            entry(node=None, nodes="[]"), PLACE + "nodes is []; allowed: a list of texts, not empty", id="no-nodes"
        ),
        pytest.param(
            entry(node=None, nodes="[1]"),
            PLACE + "nodes is [1]; allowed: a list of texts, not empty",
            id="nodes-of-numbers",
        ),
        pytest.param(
            entry(node=None, nodes='"ab"'),
            PLACE + "nodes is 'ab'; allowed: a list of texts, not empty",
            id="nodes-is-a-text",
        ),
        pytest.param(entry(note='" "'), PLACE + "note is empty; say it, or leave the key out", id="note-is-blank"),
        pytest.param(
            entry() + entry(reason='"other"'),
            "admit.abstentions.toml line 5, entry 2: a.py::test_x is declared twice; keep the one that it shows",
            id="declared-twice",
        ),
        pytest.param(
            entry(node=None, nodes='["a", "a"]'),
            PLACE + "a is declared twice; keep the one that it shows",
            id="twice-in-one",
        ),
        pytest.param(
            "abstain = [{}]",
            "admit.abstentions.toml, entry 1: no why; one of skip, xfail, deselected, todo, disabled",
            id="a-place-without-a-line",
        ),
        pytest.param(
            "[abstain]\n",
            "admit.abstentions.toml: abstain is not a list of tables; write [[abstain]] above each entry",
            id="one-pair-of-brackets",
        ),
        pytest.param(
            "[[skip]]\n", "admit.abstentions.toml: unknown key 'skip'; allowed: [[abstain]]", id="unknown-table"
        ),
    ],
)
def test_what_breaks_the_format_is_refused_with_place_and_remedy(text: str, expected: str) -> None:
    with pytest.raises(InputError) as caught:
        read_abstentions(text, WHERE)
    assert str(caught.value) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("[[abstain", "admit.abstentions.toml: not TOML: ", id="broken"),
        pytest.param(entry() + 'why = "xfail"\n', "admit.abstentions.toml: not TOML: ", id="duplicate-key"),
        pytest.param(f"a = {'9' * 5000}\n", "admit.abstentions.toml: not TOML: ", id="endless-number"),
        pytest.param(
            f"a = {'[' * 100_000}\n", "admit.abstentions.toml: not readable as TOML: nested too deep", id="deep"
        ),
    ],
)
def test_what_is_not_toml_cannot_be_read(text: str, expected: str) -> None:
    with pytest.raises(InputError) as caught:
        read_abstentions(text, WHERE)
    assert str(caught.value).startswith(expected)


SKIPPED = Declared("skip", "needs a GPU")
FAILS = Declared("xfail", "bug #7", "see #7")


def test_the_file_is_grouped_by_reason_sorted_and_keeps_its_header() -> None:
    by_node = {"b.py::test_y": SKIPPED, "c.py::test_z": FAILS, "a.py::test_x": SKIPPED}
    assert (
        rendered(Abstentions(WHERE, by_node, "# ours\n"))
        == """\
# ours

[[abstain]]
why = "skip"
reason = "needs a GPU"
nodes = [
    "a.py::test_x",
    "b.py::test_y",
]

[[abstain]]
why = "xfail"
reason = "bug #7"
note = "see #7"
node = "c.py::test_z"
"""
    )


def test_a_file_that_declares_nothing_is_its_header() -> None:
    assert rendered(Abstentions(WHERE, {})) == HEADER
    assert read_abstentions(HEADER, WHERE) == Abstentions(WHERE, {}, HEADER)


TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
NODES = TEXTS.filter(lambda text: bool(text.strip()) and text == text.strip())
DECLARED = st.builds(Declared, st.sampled_from(sorted(BY_DESIGN)), TEXTS, st.just("") | NODES)
HEADERS = st.lists(st.from_regex(r"[ \t]*#[ -~é]*", fullmatch=True), max_size=3).map(
    lambda lines: "".join(f"{line}\n" for line in lines)
)


@given(st.dictionaries(NODES, DECLARED, max_size=6), HEADERS)
@example({"\x7f\\\"'": Declared("skip", "\x00\x1f\x7f\x85\u2028\r\n\t", "\x7f")}, "# \N{SNOWMAN}\n")
def test_what_is_written_is_read_again_and_written_with_the_same_bytes(
    by_node: dict[str, Declared], header: str
) -> None:
    text = rendered(Abstentions(WHERE, by_node, header))
    found = read_abstentions(text, WHERE)
    assert found == Abstentions(WHERE, by_node, header)
    shuffled = dict(sorted(by_node.items(), reverse=True))
    assert rendered(found._replace(by_node=shuffled)) == text


@pytest.mark.parametrize(
    ("text", "header", "below"),
    [
        pytest.param("# a\n# b\n\n" + entry(), "# a\n# b\n", (), id="comment"),
        pytest.param("\n\n# a\n\n# b\n" + entry(), "# a\n\n# b\n", (), id="blank-lines-around"),
        pytest.param("# a\r\n\r\n" + entry(), "# a\n", (), id="line-ends-of-windows"),
        pytest.param(entry(), "", (), id="none"),
        pytest.param("", "", (), id="empty-file"),
        pytest.param("# a\n", "# a\n", (), id="nothing-else"),
        pytest.param(
            "# a\n" + entry() + "# b\n" + entry(node='"c"') + "  # c", "# a\n", ("# b", "# c"), id="comments-below"
        ),
    ],
)
def test_the_header_is_the_comment_at_the_head_and_what_is_lost_below_is_named(
    text: str, header: str, below: tuple[str, ...]
) -> None:
    assert read_abstentions(text, WHERE).header == header
    assert comments_below(text) == below
