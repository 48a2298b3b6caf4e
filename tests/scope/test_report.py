"""What a patch reaches in words and as JSON (contract S3)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import jsonschema
import pytest

from admit.scope.effects import Diff
from admit.scope.hunks import Edit
from admit.scope.reach import Answers, NoMap, answers
from admit.scope.reasons import KINDS, Kind, Reach, ReachWord, Reason
from admit.scope.report import json_of, text_of

SCHEMA = json.loads((Path(__file__).parents[2] / "schemas" / "scope.schema.json").read_text())
DIFF = Diff("a" * 40, "b" * 40, (Edit("src/a.py", "100644", "100644", "1", "2"),), {})
APART = Reach(Reason("apart"))
LINE = Reason("line", "src/a.py", 12, "f")
SOME = Answers(
    ("t.py::a", "t.py::b", "t.py::c", "t.py::d"),
    {0: Reach(LINE), 2: Reach(LINE), 3: Reach(Reason("blind"))},
    APART,
    Reach(Reason("new_node")),
)


def test_nodes_in_scope_stand_beneath_the_reason_and_the_others_are_counted() -> None:
    assert text_of(DIFF, SOME) == (
        "aaaaaaaaaaaa..bbbbbbbbbbbb: 1 file (what is not committed is not among them)\n"
        "4 tests: 2 cover the patch, 1 unknown, 1 do not cover it\n"
        "unknown: tracing was not alive in it\n"
        "  t.py::d\n"
        "covers: src/a.py:12: it ran a line that changes (f)\n"
        "  t.py::a\n"
        "  t.py::c\n"
    )


def test_a_node_that_is_asked_for_is_shown_whatever_the_answer() -> None:
    assert text_of(DIFF, SOME, ["t.py::b", "new"]).splitlines()[1:] == [
        "2 tests: 0 cover the patch, 1 unknown, 1 do not cover it",
        "does not cover: tracing was alive in it, and it reached nothing that changes",
        "  t.py::b",
        "unknown: the map does not have it: it is new, or was not run",
        "  new",
    ]


def test_without_a_map_it_is_said_that_every_test_is_in_scope() -> None:
    assert text_of(DIFF, answers(DIFF, NoMap("it is torn"))).splitlines()[-1] == (
        "unknown: there is no map (it is torn): every test is in scope"
    )


def test_no_name_reaches_a_terminal_as_it_is() -> None:
    hostile = "x\x1b[2J\n\udcff"
    text = text_of(DIFF, Answers((hostile,), {0: Reach(Reason("data", hostile))}, APART, APART))
    assert "\x1b" not in text
    assert text.count("\n") == 4
    text.encode("utf-8")


@pytest.mark.parametrize("kind", get_args(Kind))
def test_every_reason_is_as_the_schema_says(kind: Kind) -> None:
    found = Answers(("n",), {0: Reach(Reason(kind, "a.py", 1, "text"))}, APART, APART)
    jsonschema.validate(json.loads(json_of(DIFF, found)), SCHEMA)
    jsonschema.validate(json.loads(json_of(DIFF, found._replace(by_number={0: Reach(Reason(kind))}))), SCHEMA)


def test_the_schema_has_every_reason_and_no_other() -> None:
    rows = SCHEMA["properties"]["nodes"]["items"]["oneOf"]
    held = {row["properties"]["reach"]["const"]: row["properties"]["reason"]["enum"] for row in rows}
    assert held == {word: [kind for kind, (of, _) in KINDS.items() if of == word] for word in held}
    assert set(held) == set(get_args(ReachWord))


def test_json_says_why_there_is_no_map() -> None:
    tree = json.loads(json_of(DIFF, answers(DIFF, NoMap("it is torn")), ["t.py::a"]))
    jsonschema.validate(tree, SCHEMA)
    assert (tree["no_map"], tree["nodes"][0]["reach"]) == ("it is torn", "unknown")
