"""The run context on disk: written by the launcher, read strictly by recorders."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.core.context import LockedNodes, RunContext
from admit.core.records import NodeRecord
from admit.errors import EvidenceError, LedgerError
from admit.evidence.context import context_bytes, context_of, read_context, write_context
from admit.evidence.strict import read_object

if TYPE_CHECKING:
    from pathlib import Path

EXPIRES = "2026-12-24T00:00:00Z"
CONTEXT = RunContext(
    patch_id="pr-7",
    head="a" * 40,
    base=None,
    dirty=True,
    run_id="run-1",
    nonce="n",
    lane="default",
    shard=1,
    shards=2,
    attempt=3,
    property_markers=("property",),
    property_paths=(),
    lock="match",
    locked=(LockedNodes(("tests/é*",), "drifted"),),
    fixture_manifest="sha256:00",
    seed=-5,
    profile={
        "deadline": None,
        "derandomize": False,
        "ratio": 0.5,
        "max_examples": 100,
        "phases": ("generate", "shrink"),
    },
    frozen={"t.py::x": EXPIRES},
    register=(NodeRecord("t.py::x", "fail", "match", "frozen", EXPIRES, message="too far ahead"),),
    launched=True,
)


def test_a_context_reads_back_as_it_was_written(tmp_path: Path) -> None:
    write_context(tmp_path / "context.json", CONTEXT)
    assert read_context(tmp_path / "context.json") == CONTEXT


TEXT = st.text(st.characters(exclude_categories=["Cs"]))


@given(
    st.builds(
        CONTEXT._replace,
        patch_id=TEXT.filter(bool),
        head=st.none() | TEXT.filter(bool),
        seed=st.integers(-(2**128), 2**128),
        profile=st.dictionaries(
            TEXT, st.none() | st.booleans() | st.integers(-(2**64), 2**64) | TEXT | st.lists(TEXT).map(tuple)
        ),
        frozen=st.dictionaries(TEXT, st.just(EXPIRES)),
        property_paths=st.lists(TEXT.filter(bool)).map(tuple),
    )
)
def test_every_context_reads_back(context: RunContext) -> None:
    assert context_of(read_object(context_bytes(context), "c"), "c") == context


def test_an_argument_that_is_not_utf8_is_spelled_out_as_in_documents() -> None:
    context = context_of(read_object(context_bytes(CONTEXT._replace(patch_id="a\udc80")), "c"), "c")
    assert context.patch_id == "a\\udc80"


def changed(**keys: object) -> bytes:
    return json.dumps({**json.loads(context_bytes(CONTEXT)), **keys}).encode()


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"schema": "admit.context/2"}, 'c: schema is "admit.context/2"; allowed: admit.context/1'),
        ({"lock": "ok"}, 'c: lock is "ok"; allowed: match, missing, drifted'),
        ({"locked": [{"patterns": ["x"]}]}, "c: locked: the key state is absent"),
        ({"locked": [3]}, "c: locked: 3 stands where an object belongs"),
        ({"locked": {}}, "c: locked is an object; allowed: an array"),
        ({"seed": True}, "c: seed is true; allowed: a whole number"),
        ({"frozen": {"x": "soon"}}, 'c: frozen: x is "soon"; allowed: a UTC instant'),
        ({"frozen": {"x": None}}, "c: frozen: x is null"),
        ({"profile": {"x": {}}}, "c: profile: x is an object"),
        ({"profile": {"x": [1]}}, "c: profile: x is an array"),
        ({"register": [{"node": "x"}]}, "c: register: the key flaky_freeze is absent"),
        ({"register": None}, "c: register is null; allowed: an array"),
        ({"dirty": None}, "c: dirty is null; allowed: true, false"),
        ({"shard": 0}, "c: shard is 0"),
        ({"property_markers": "property"}, 'c: property_markers is "property"; allowed: an array of strings'),
        ({"extra": 1}, 'c: unknown key "extra"'),
    ],
)
def test_a_context_that_is_not_exact_is_refused(keys: dict[str, object], says: str) -> None:
    with pytest.raises(EvidenceError) as caught:
        context_of(read_object(changed(**keys), "c"), "c")
    assert str(caught.value).startswith(says)


@pytest.mark.parametrize("key", ["schema", *RunContext._fields])
def test_a_context_that_leaves_a_key_out_is_refused(key: str) -> None:
    keys = json.loads(changed())
    del keys[key]
    with pytest.raises(EvidenceError, match=f"the key {key} is absent"):
        context_of(keys, "c")


def test_a_context_that_cannot_be_written_is_an_error_that_teaches(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="cannot be written: No such file"):
        write_context(tmp_path / "no" / "context.json", CONTEXT)


def test_a_context_that_is_not_there_is_an_error_that_teaches(tmp_path: Path) -> None:
    with pytest.raises(EvidenceError, match="cannot be read: No such file"):
        read_context(tmp_path / "context.json")
