"""The proof record says the same to whoever reads it back, and nothing else is taken for one (contract P1, P2, P3)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.errors import InputError
from admit.prove.cells import ANSWERS, DIRECTIONS, EXPECTS, SHOWN, Cell, Side, cell_of
from admit.prove.nodes import named
from admit.prove.reading import read_proof
from admit.prove.record import (
    MOST_REPEATS,
    ORIGINS,
    Commit,
    Measured,
    NodeProof,
    Proof,
    Reach,
    digest_of,
    proof_bytes,
    why_unfit,
)

SCHEMA = json.loads((Path(__file__).parents[2] / "schemas" / "proof.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)

PASSES = Side("passes")
FAILS = Side("fails", "", "AssertionError", "AssertionError: 3 != 4", "f(n=3)", "@reproduce_failure('6', b'x')")
NODE = NodeProof(
    "tests/test_a.py::test_x",
    "tests/test_a.py",
    "b" * 40,
    "patch",
    PASSES,
    FAILS,
    cell_of(PASSES, FAILS),
    "",
    Reach(True, ("+a.py:3",)),
)
PROOF = Proof(
    Commit("1" * 40, "2" * 40),
    Commit("3" * 40, "4" * 40),
    "either",
    3,
    Measured(
        "sha256:" + "5" * 64,
        None,
        0,
        {"max_examples": 100, "phases": ("generate",), "database": None, "derandomize": False},
        {"tests/test_a.py": "b" * 40, "tests/gone.py": None},
        {"python": "3.13.0", "pytest": "9.2.0"},
    ),
    (NODE,),
)


def read(keys: dict[str, Any]) -> Proof:
    keys.pop("digest", None)
    return read_proof(json.dumps({**keys, "digest": digest_of(keys)}).encode(), "p.json")


def keys() -> dict[str, Any]:
    return json.loads(proof_bytes(PROOF))


def test_what_is_written_is_read_back_and_keeps_the_schema() -> None:
    assert read_proof(proof_bytes(PROOF), "p.json") == PROOF
    assert PROOF.is_proven
    assert [error.message for error in VALIDATOR.iter_errors(keys())] == []


SIDE = st.builds(Side, st.sampled_from(SHOWN), *[st.text(max_size=4)] * 5)


@given(
    SIDE,
    SIDE,
    st.sampled_from(EXPECTS),
    st.sampled_from(["", "reads a.py"]),
    st.none() | st.sampled_from([(), ("+a.py:1",)]),
)
def test_any_pair_of_sides_is_read_back_as_it_was_written(patch, parent, expect, vacuous, lines) -> None:
    reach = Reach() if lines is None else Reach(True, lines)
    cell = cell_of(patch, parent, expect=expect, vacuous=vacuous, reaches=reach.answer)
    one = NODE._replace(patch=patch, parent=parent, cell=cell, vacuous=vacuous, reach=reach)
    proof = PROOF._replace(expect=expect, nodes=(one,))
    raw = proof_bytes(proof)
    assert read_proof(raw, "p") == proof
    assert proof_bytes(read_proof(raw, "p")) == raw
    assert VALIDATOR.is_valid(json.loads(raw))
    assert proof.is_proven == (cell.answer == "proven")


def test_no_test_at_all_is_not_proven() -> None:
    assert not PROOF._replace(nodes=()).is_proven


def test_half_of_a_surrogate_pair_in_a_name_is_kept() -> None:
    proof = PROOF._replace(nodes=(NODE._replace(node="tests/test_\udcff.py::t"),))
    assert read_proof(proof_bytes(proof), "p") == proof


def at(*path: Any, value: Any) -> Any:
    def change(tree: Any) -> None:
        for part in path[:-1]:
            tree = tree[part]
        tree[path[-1]] = value

    return change


REFUSED = [
    pytest.param(at("schema", value="admit.proof/2"), id="another schema"),
    pytest.param(at("more", value=1), id="a key too many"),
    pytest.param(lambda tree: tree.pop("measured"), id="a key too few"),
    pytest.param(at("repeat", value=0), id="never run"),
    pytest.param(at("repeat", value=MOST_REPEATS + 1), id="run too often"),
    pytest.param(at("repeat", value=True), id="a truth for a number"),
    pytest.param(at("expect", value="any"), id="an unknown direction"),
    pytest.param(at("patch", "tree", value=""), id="an empty id"),
    pytest.param(at("patch", value=None), id="no patch"),
    pytest.param(at("measured", "seed", value=1.5), id="a broken seed"),
    pytest.param(at("measured", "laid", value={"a.py": 1}), id="a broken blob"),
    pytest.param(at("measured", "profile", value={"a": {}}), id="a broken setting"),
    pytest.param(at("measured", "versions", value={"python": ""}), id="an empty version"),
    pytest.param(at("nodes", value={}), id="no list of tests"),
    pytest.param(at("nodes", 0, "origin", value="elsewhere"), id="bytes from elsewhere"),
    pytest.param(at("nodes", 0, "parent", "shown", value="fail"), id="a word that is none"),
    pytest.param(at("nodes", 0, "parent", "message", value=None), id="no message"),
    pytest.param(at("nodes", 0, "reach", value=[1]), id="a line that is none"),
    pytest.param(at("nodes", 0, "direction", value="both"), id="a direction that is none"),
]
SENSELESS = [
    pytest.param(at("nodes", 0, "answer", value="tautology"), id="another answer than follows"),
    pytest.param(at("nodes", 0, "direction", value="fails-on-patch"), id="the other direction"),
    pytest.param(at("nodes", 0, "parent", "shown", value="passes"), id="proven without a failure"),
    pytest.param(at("nodes", 0, "vacuous", value="reads a.py"), id="proven and vacuous"),
    pytest.param(lambda tree: tree["nodes"].append(tree["nodes"][0]), id="a test twice"),
]


@pytest.mark.parametrize("change", REFUSED + SENSELESS)
def test_anything_else_is_refused(change: Any) -> None:
    tree = keys()
    change(tree)
    with pytest.raises(InputError):
        read(tree)


@pytest.mark.parametrize("change", REFUSED)
def test_the_schema_refuses_what_is_no_question_of_sense(change: Any) -> None:
    tree = keys()
    change(tree)
    assert not VALIDATOR.is_valid(tree)


@pytest.mark.parametrize(
    ("raw", "found"),
    [
        (b"", "not JSON"),
        (b"[]", "a JSON array"),
        (b'{"schema": "admit.proof/1", "schema": "admit.proof/1"}', "stands twice"),
        (proof_bytes(PROOF)[:-30], "not JSON"),
        (proof_bytes(PROOF).replace(b'"seed": 0', b'"seed": 1'), "changed after it was written"),
    ],
)
def test_a_file_that_is_no_proof_says_so(raw: bytes, found: str) -> None:
    with pytest.raises(InputError, match=found):
        read_proof(raw, "p.json")


def test_the_words_of_the_schema_are_those_of_the_code() -> None:
    node, side = SCHEMA["$defs"]["node"]["properties"], SCHEMA["$defs"]["side"]["properties"]
    assert tuple(node["answer"]["enum"]) == tuple(ANSWERS)
    assert tuple(node["direction"]["enum"]) == (*DIRECTIONS, None)
    assert tuple(node["origin"]["enum"]) == ORIGINS
    assert tuple(side["shown"]["enum"]) == SHOWN
    assert tuple(SCHEMA["properties"]["expect"]["enum"]) == EXPECTS
    assert SCHEMA["properties"]["repeat"]["maximum"] == MOST_REPEATS
    assert tuple(side) == Side._fields


FIT = {"blob": "b" * 40, "tree": "2" * 40, "base_tree": "4" * 40}


@pytest.mark.parametrize(
    ("changed", "node", "why"),
    [
        ({}, NODE.node, ""),
        ({}, "tests/test_a.py::test_y", "the proof is of other tests"),
        ({"blob": "c" * 40}, NODE.node, "the proof is of another form of the test's file"),
        ({"blob": None}, NODE.node, "the proof is of another form of the test's file"),
        ({"tree": "c" * 40}, NODE.node, "the proof is of another form of the patch"),
        ({"base_tree": "c" * 40}, NODE.node, "the proof is against another parent"),
    ],
)
def test_a_proof_counts_only_where_its_digests_fit_p3(changed: dict[str, Any], node: str, why: str) -> None:
    assert why_unfit(PROOF, node, **{**FIT, **changed}) == why


def test_a_proof_of_anything_but_proven_or_of_bytes_that_no_commit_has_fits_nothing_p3() -> None:
    other = NODE._replace(parent=PASSES, cell=Cell("tautology"))
    assert why_unfit(PROOF._replace(nodes=(other,)), NODE.node, **FIT) == "the proof says tautology"
    loose = NODE._replace(origin="working-tree")
    assert "another form" in why_unfit(PROOF._replace(nodes=(loose,)), NODE.node, **FIT)


@pytest.mark.parametrize(
    ("name", "rest", "covers"),
    [
        ("a.py", "test_x", True),
        ("a.py::test_x", "test_x", True),
        ("a.py::test_x", "test_x[1]", True),
        ("a.py::test_x", "test_xy", False),
        ("a.py::TestA", "TestA::test_x[a::b]", True),
        ("a.py::TestA", "TestAb::test_x", False),
        ("a.py::test_x[1]", "test_x[1]", True),
        ("a.py::test_x[1]", "test_x[12]", False),
        ("a.py::test_x[a::b]", "test_x[a::b]", True),
        ("b.py", "test_x", False),
    ],
)
def test_a_name_means_a_test_its_cases_and_what_is_inside(name: str, rest: str, covers: bool) -> None:
    assert named(name).text == name
    assert named(name).covers("a.py", rest) is covers
