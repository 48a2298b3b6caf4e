"""A gate's own document (contract E3, E4, E9, U3, U5): what is read, what is lost, what is refused."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import pytest

from admit.core import records as r
from admit.core.records import Closing, NodeRecord
from admit.errors import EvidenceError
from admit.evidence import wire
from admit.evidence.fold import fold_blocks
from admit.evidence.strict import LIMITS

if TYPE_CHECKING:
    from collections.abc import Callable

    from admit.core.records import Document, Opening

    Fold = Callable[[bytes], Document]
    Build = Callable[..., bytes]
    Make = Callable[..., NodeRecord]

EXPIRES = "2026-12-24T00:00:00Z"


def line_of(**keys: object) -> bytes:
    return json.dumps(keys).encode() + b"\n"


NODE = {"record": "node", "node": "n", "property_check": "pass", "fixture_lock": "match", "flake_status": "stable"}


# what is read


def test_a_plain_pass_is_a_code_and_nothing_more(fold: Fold, document: Build, passed: Make, opening: Opening) -> None:
    raw = document([passed("a"), passed("b")])
    found = fold(raw)
    assert found.opening == opening
    assert found.codes == {"a": r.CLEAN_CODE, "b": r.CLEAN_CODE}
    assert found.details == {}
    assert found.closing is not None
    assert found.closing[:5] == (2, "finished", 0, None, "launcher")
    assert found.digest == "sha256:" + hashlib.sha256(raw).hexdigest()
    assert found.source == "doc"


@pytest.mark.parametrize(
    "more",
    [
        pytest.param({"seed": 3}, id="seed"),
        pytest.param({"fixture_manifest": "sha256:0"}, id="manifest"),
        pytest.param({"reproduce": "x"}, id="reproduce"),
    ],
)
def test_a_pass_that_says_under_what_it_ran_is_still_plain(
    fold: Fold, document: Build, passed: Make, more: dict[str, object]
) -> None:
    found = fold(document([passed("a", **more)]))
    assert found.codes == {"a": r.CLEAN_CODE}
    assert found.details == {}


def test_how_many_inputs_a_property_saw_is_kept_for_a_comparison_with_the_base(
    fold: Fold, document: Build, passed: Make
) -> None:
    seen = r.Examples(100, 90, 100)
    found = fold(document([passed("a", examples=seen)]))
    assert found.codes == {"a": r.CLEAN_CODE}
    assert found.details["a"].examples == seen


@pytest.mark.parametrize(
    "more",
    [
        pytest.param({"check": "fail"}, id="fail"),
        pytest.param({"check": "not_run"}, id="not-run"),
        pytest.param({"check": "not_run", "why": "never_ran"}, id="gap"),
        pytest.param({"fixture_lock": "drifted"}, id="drifted"),
        pytest.param({"fixture_lock": "missing"}, id="missing"),
        pytest.param({"flake_status": "frozen", "freeze_expires": EXPIRES}, id="frozen"),
        pytest.param({"flaky": True}, id="flaky"),
        pytest.param({"flaky": True, "why": "flaky"}, id="flaky-and-why"),
        pytest.param({"message": "odd"}, id="message"),
        pytest.param({"counterexample": "x=0"}, id="counterexample"),
        pytest.param({"examples": r.Examples(100, 0, 100)}, id="vacuous"),
        pytest.param({"examples": r.Examples(100, 0, 100), "attempts": 2}, id="vacuous-twice"),
    ],
)
def test_a_record_with_more_to_say_is_kept(fold: Fold, document: Build, passed: Make, more: dict[str, object]) -> None:
    record = passed("a", **more)
    found = fold(document([passed("z"), record]))
    assert found.details == {"a": record}
    assert found.codes["a"] == r.code_of(record)


def test_attempts_are_counted(fold: Fold, document: Build, passed: Make) -> None:
    found = fold(document([passed("a", attempts=3), passed("a"), passed("b")]))
    assert [r.attempts_of(found.codes[node]) for node in "ab"] == [4, 1]


@pytest.mark.parametrize("turned", [False, True])
def test_a_node_that_failed_and_passed_failed(fold: Fold, document: Build, passed: Make, turned: bool) -> None:
    failure = passed("a", check="fail", message="boom")
    records = [passed("a"), failure][:: -1 if turned else 1]
    found = fold(document(records))
    assert r.check_of(found.codes["a"]) == "fail"
    assert r.is_flaky(found.codes["a"])
    assert found.details == {"a": failure}


@pytest.mark.parametrize("turned", [False, True])
def test_the_worst_record_speaks_for_a_node_whatever_the_order(
    fold: Fold, document: Build, passed: Make, turned: bool
) -> None:
    records = [passed("a", fixture_lock="drifted"), passed("a", check="not_run", why="skip"), passed("a")]
    found = fold(document(records[:: -1 if turned else 1]))
    assert found.details == {"a": records[1]}
    assert r.lock_of(found.codes["a"]) == "drifted"


def test_a_line_as_a_person_writes_it_reads_like_one_that_a_writer_appends(
    fold: Fold, sealed: Build, document: Build, passed: Make, opening: Opening
) -> None:
    keys = {"flake_status": "stable", "property_check": "pass", "node": "é", "fixture_lock": "match", "record": "node"}
    by_hand = sealed(
        [
            line_of(record="opening", schema="admit.evidence/1", **opening._asdict()),
            b" " + line_of(record="plan", nodes=["é"]).strip() + b"\t\r\n",
            line_of(**keys, why=None, freeze_expires=None, attempts=1),
        ],
        count=1,
    )
    assert fold(by_hand)[:3] == fold(document([passed("é")], plan=["é"]))[:3]


@pytest.mark.parametrize(
    "node", ['q"uote', "back\\slash", "tab\t", "nul\0", "é", "\U0001f600", "\u2028", "x" * 9_000, " "]
)
def test_any_node_id_reads_back(fold: Fold, document: Build, passed: Make, node: str) -> None:
    assert list(fold(document([passed(node), passed(node + "2", seed=1)], plan=[node, node + "2"])).codes) == [
        node,
        node + "2",
    ]


def test_the_blocks_in_which_a_document_comes_make_no_difference(document: Build, passed: Make) -> None:
    records = [passed(f"n{number}") for number in range(5)] + [passed("f", check="fail"), passed('"', seed=1)]
    raw = document(records, plan=["n0", "gone"])
    lines = raw.splitlines(keepends=True)
    whole = fold_blocks([raw], "doc", limits=LIMITS)
    for size in range(1, len(lines)):
        blocks = [b"".join(lines[start : start + size]) for start in range(0, len(lines), size)]
        assert fold_blocks(blocks, "doc", limits=LIMITS) == whole


# the plan


def test_a_planned_node_that_was_never_seen_is_a_gap(fold: Fold, document: Build, passed: Make) -> None:
    found = fold(document([passed("a")], plan=["a", "b"]))
    assert found.details == {"b": NodeRecord("b", "not_run", "match", "stable", why="never_ran", attempts=0)}
    assert found.codes["b"] == r.GAP
    assert r.check_of(r.followed(found.codes["b"], r.CLEAN_CODE)) == "pass", "a later attempt fills it (U5)"


@pytest.mark.parametrize(("ran", "check"), [(0, "not_run"), (1, "not_run"), (2, "not_run"), (3, "pass"), (4, "pass")])
def test_a_node_planned_three_times_must_be_seen_three_times(
    fold: Fold, document: Build, passed: Make, ran: int, check: str
) -> None:
    found = fold(document([passed("a")] * ran + [passed("b")], plan=["a", "b", "a", "a"]))
    assert r.check_of(found.codes["a"]) == check
    assert (found.details["a"].why if ran < 3 else None) == ("never_ran" if ran < 3 else None)


def test_attempts_in_one_record_do_not_stand_for_a_second_node_of_the_same_name(
    fold: Fold, document: Build, passed: Make
) -> None:
    assert r.check_of(fold(document([passed("a", attempts=2)], plan=["a", "a"])).codes["a"]) == "not_run"


def test_of_two_nodes_of_one_name_a_later_attempt_cannot_fill_the_one_that_never_ran(
    fold: Fold, document: Build, passed: Make
) -> None:
    found = fold(document([passed("a")], plan=["a", "a"]))
    assert r.check_of(r.followed(found.codes["a"], r.CLEAN_CODE)) == "not_run"


def test_a_plan_may_come_late_and_in_parts(fold: Fold, sealed: Build, opening: Opening, passed: Make) -> None:
    node = wire.node_line(opening.gate, passed("a"))
    lines = [
        wire.opening_line(opening),
        node,
        line_of(record="plan", nodes=["a", "b"]),
        line_of(record="plan", nodes=["c"]),
    ]
    found = fold(sealed(lines, count=1))
    assert {name: r.check_of(code) for name, code in found.codes.items()} == {
        "a": "pass",
        "b": "not_run",
        "c": "not_run",
    }


# the end


def test_a_document_without_its_closing_record_keeps_failures_and_loses_passes(
    fold: Fold, document: Build, passed: Make
) -> None:
    records = [
        passed("pass"),
        passed("fail", check="fail", message="boom"),
        passed("skip", check="not_run", why="skip"),
        passed("drift", fixture_lock="drifted"),
        passed("ice", flake_status="frozen", freeze_expires=EXPIRES),
        passed("flaky", flaky=True),
    ]
    raw = document(records, plan=["pass", "planned"])
    found = fold(raw[: raw.rfind(b'{"record":"closing"')])
    assert found.closing is None
    checks = {node: (r.check_of(code), found.details[node].why) for node, code in found.codes.items()}
    assert checks == {
        "pass": ("not_run", "truncated"),
        "planned": ("not_run", "never_ran"),
        "fail": ("fail", None),
        "skip": ("not_run", "skip"),
        "drift": ("not_run", "truncated"),
        "ice": ("not_run", "truncated"),
        "flaky": ("fail", None),
    }
    assert not any(code & r.PASS for code in found.codes.values())
    assert r.lock_of(found.codes["drift"]) == "drifted"
    assert found.details["ice"].freeze_expires == EXPIRES
    assert r.check_of(r.followed(found.codes["pass"], r.CLEAN_CODE)) == "pass", "a later attempt fills it (U5)"


@pytest.mark.parametrize("ended", ["interrupted", "timeout", "crashed", "exit_disagrees", "unknown"])
def test_how_a_run_ended_is_kept(fold: Fold, document: Build, passed: Make, ended: str) -> None:
    found = fold(document([passed("a")], ended=ended))
    assert found.closing is not None
    assert found.closing.ended == ended
    assert found.codes == {"a": r.CLEAN_CODE}


@pytest.mark.parametrize(
    ("finish", "closed", "ended"),
    [
        pytest.param(wire.Finish(0, "finished"), "finished", "finished", id="agree"),
        pytest.param(wire.Finish(2, "interrupted"), "finished", "interrupted", id="run-knows-better"),
        pytest.param(wire.Finish(0, "finished"), "timeout", "timeout", id="closer-knows-better"),
        pytest.param(wire.Finish(1, "finished"), "finished", "exit_disagrees", id="exit-codes-differ"),
    ],
)
def test_the_worse_of_what_a_run_and_its_closer_say_counts(
    fold: Fold, document: Build, passed: Make, finish: wire.Finish, closed: str, ended: str
) -> None:
    found = fold(document([passed("a")], finish=finish, ended=closed))
    assert found.closing is not None
    assert found.closing.ended == ended


# timing-sensitive nodes (contract T8)


def test_what_a_document_calls_timing_sensitive_is_read_wherever_it_stands(
    fold: Fold, sealed: Build, opening: Opening, passed: Make
) -> None:
    lines = [
        wire.opening_line(opening),
        *wire.plan_lines(["a", "b"], "timing"),
        *wire.plan_lines(["a"]),
        wire.node_line(opening.gate, passed("a")),
        *wire.plan_lines(["b", "c"], "timing"),
        wire.node_line(opening.gate, passed("b")),
    ]
    found = fold(sealed(lines, count=2))
    assert found.timing == {"a", "b", "c"}
    assert found.codes == {"a": r.CLEAN_CODE, "b": r.CLEAN_CODE}, "it plans nothing and says nothing of a verdict"
    assert fold(b"".join(lines)).timing == found.timing, "nor does it go away when the run dies"


def test_more_timing_sensitive_nodes_than_a_document_may_have_are_refused(sealed: Build, opening: Opening) -> None:
    lines = [wire.opening_line(opening), *wire.plan_lines(["a", "b", "c"], "timing")]
    raw = sealed(lines, count=0)
    assert fold_blocks([raw], "doc", limits=LIMITS._replace(nodes=3)).timing == {"a", "b", "c"}
    with pytest.raises(EvidenceError, match="3 nodes; allowed: 2"):
        fold_blocks([raw], "doc", limits=LIMITS._replace(nodes=2))


# what is refused


def framed(opening: Opening, *lines: bytes) -> list[bytes]:
    return [wire.opening_line(opening), *lines]


NODE_LINE = json.dumps(NODE, separators=(",", ":")).encode() + b"\n"
WRONG_LINES = [
    pytest.param(b"\n", "a blank line", id="blank"),
    pytest.param(b"  \n", "a blank line", id="blanks"),
    pytest.param(b"garbage\n", "expecting value", id="garbage"),
    pytest.param(b"[]\n", "an array stands where an object belongs", id="array"),
    pytest.param(b"{}\n", "the key record is absent", id="no-record"),
    pytest.param(line_of(record="Node"), 'record is "Node"; allowed: opening, plan, timing, node', id="unknown-record"),
    pytest.param(line_of(record=None), "record is null", id="null-record"),
    pytest.param(NODE_LINE.replace(b'"pass"', b'"passed"'), 'property_check is "passed"', id="unknown-state"),
    pytest.param(NODE_LINE.replace(b'"node":"n"', b'"node":""'), 'node is ""', id="empty-node"),
    pytest.param(NODE_LINE.replace(b"stable", b"frozen"), "the node is frozen without freeze_expires", id="endless"),
    pytest.param(
        NODE_LINE.replace(b'"stable"', b'"frozen","freeze_expires":"2026-12-24T00:00:00"'), "freeze_expires", id="naive"
    ),
    pytest.param(NODE_LINE.replace(b"property", b"fixture"), 'unknown key "fixture_check"', id="other-gate"),
    pytest.param(NODE_LINE[:-2] + b',"fixture_check":"pass"}\n', 'unknown key "fixture_check"', id="two-checks"),
    pytest.param(NODE_LINE[:-2] + b',"node":"m"}\n', 'the key "node" stands twice', id="twice"),
    pytest.param(
        b'{"record":"node","node":"x","node":"n","property_check":"pass","fixture_lock":"match","flake_status":"stable"}\n',
        'the key "node" stands twice',
        id="twice-inside",
    ),
    pytest.param(
        b'{"record":"node","property_check":"fail","node":"n","property_check":"pass","fixture_lock":"match",'
        b'"flake_status":"stable"}\n',
        'the key "property_check" stands twice',
        id="check-twice",
    ),
    pytest.param(NODE_LINE[:-2] + b',"why":"skip"}\n', "property_check is pass, and why says skip", id="no-pass"),
    pytest.param(NODE_LINE[:-2] + b',"freeze_expires":"soon"}\n', 'freeze_expires is "soon"', id="expiry-of-no-freeze"),
    pytest.param(NODE_LINE[:-2] + b',"attempts":0}\n', "attempts is 0", id="no-attempts"),
    pytest.param(NODE_LINE[:-2] + b',"attempts":2.0}\n', "attempts is 2.0", id="fraction"),
    pytest.param(NODE_LINE[:-2] + b',"seed":NaN}\n', "NaN is not a JSON value", id="nan"),
    pytest.param(NODE_LINE[:-2] + b',"settings":{}}\n', 'unknown key "settings"', id="unknown-key"),
    pytest.param(NODE_LINE.replace(b'"n"', b'"\xff"'), "byte 0xff is not UTF-8", id="not-utf8"),
    pytest.param(NODE_LINE.replace(b'"n"', b'"\\ud800"'), "half of a surrogate pair", id="surrogate"),
    pytest.param(NODE_LINE.replace(b'"n"', b'"\x01"'), "invalid control character", id="control"),
    pytest.param(b"\xef\xbb\xbf" + NODE_LINE, "begins with a byte order mark", id="bom"),
    pytest.param(NODE_LINE[:-1] + NODE_LINE, "more after the end of the value", id="two-on-a-line"),
    pytest.param(NODE_LINE[:50] + NODE_LINE, "", id="spliced"),
    pytest.param(line_of(record="plan"), "the key nodes is absent", id="plan-without-nodes"),
    pytest.param(line_of(record="plan", nodes="n"), 'nodes is "n"; allowed: an array of strings', id="plan-string"),
    pytest.param(
        line_of(record="plan", nodes=["n", ""]), 'nodes is ""; allowed: strings that are not', id="plan-empty"
    ),
    pytest.param(line_of(record="plan", nodes=[1]), "nodes is 1", id="plan-number"),
    pytest.param(line_of(record="plan", nodes=[], node="x"), 'unknown key "node"', id="plan-key"),
    pytest.param(b'{"record":"plan","nodes":[],"nodes":["x"]}\n', "stands twice", id="plan-twice"),
    pytest.param(line_of(record="timing"), "the key nodes is absent", id="timing-without-nodes"),
    pytest.param(
        line_of(record="timing", nodes=["n", ""]), 'nodes is ""; allowed: strings that are', id="timing-empty"
    ),
    pytest.param(line_of(record="timing", nodes=[], lane="x"), 'unknown key "lane"', id="timing-key"),
    pytest.param(line_of(record="finish", exit_code=0), "the key ended is absent", id="finish-without-end"),
    pytest.param(line_of(record="finish", exit_code="0", ended="finished"), 'exit_code is "0"', id="finish-string"),
    pytest.param(line_of(record="finish", exit_code=0, ended="done"), 'ended is "done"', id="finish-word"),
]


@pytest.mark.parametrize(("line", "says"), WRONG_LINES)
def test_a_line_that_is_not_exact_is_refused_with_its_number(
    fold: Fold, sealed: Build, opening: Opening, line: bytes, says: str
) -> None:
    raw = sealed(framed(opening, NODE_LINE, line, NODE_LINE), count=line.count(b"\n") + 1)
    with pytest.raises(EvidenceError) as caught:
        fold(raw)
    assert caught.value.where.startswith("doc:3")
    assert says in str(caught.value)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_second_opening_record_is_refused(fold: Fold, sealed: Build, opening: Opening, place: int) -> None:
    lines = [NODE_LINE, NODE_LINE]
    lines.insert(place, wire.opening_line(opening))
    with pytest.raises(EvidenceError, match=rf"doc:{place + 2}: a second opening record"):
        fold(sealed(framed(opening, *lines), count=2))


OPENING_KEYS = {
    "record": "opening",
    "schema": "admit.evidence/1",
    "gate": "property_check",
    "patch_id": "p",
    "head": None,
    "base": None,
    "tool": "pytest",
    "tool_version": "9",
    "run_id": "r",
    "nonce": "n",
}


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        pytest.param(
            {"schema": "admit.evidence/2"}, 'schema is "admit.evidence/2"; allowed: admit.evidence/1', id="schema"
        ),
        pytest.param({"gate": "a b"}, "gate 'a b' cannot name a gate", id="gate"),
        pytest.param({"gate": "node"}, "gate 'node' cannot name a gate", id="gate-that-is-a-key"),
        pytest.param({"patch_id": ""}, 'patch_id is ""', id="patch"),
        pytest.param({"head": ""}, 'head is ""', id="head"),
        pytest.param({"head": 7}, "head is 7", id="head-number"),
        pytest.param({"shard": 0}, "shard is 0; allowed: a whole number of at least 1", id="shard-zero"),
        pytest.param({"shard": 3, "shards": 2}, "shard is 3; allowed: 1 to 2, as shards says", id="shard-of-fewer"),
        pytest.param({"attempt": True}, "attempt is true", id="attempt"),
        pytest.param({"dirty": "no"}, 'dirty is "no"; allowed: true, false', id="dirty"),
        pytest.param({"lane": ""}, 'lane is ""', id="lane"),
        pytest.param({"branch": "x"}, 'unknown key "branch"', id="unknown-key"),
        pytest.param({"record": "node"}, "the first record is node; allowed: opening", id="other-record"),
        pytest.param({"record": "start"}, 'record is "start"', id="unknown-record"),
    ],
)
def test_an_opening_record_that_is_not_exact_is_refused(
    fold: Fold, sealed: Build, keys: dict[str, object], says: str
) -> None:
    with pytest.raises(EvidenceError) as caught:
        fold(sealed([line_of(**{**OPENING_KEYS, **keys})], count=0))
    assert caught.value.where == "doc:1"
    assert says in str(caught.value)


@pytest.mark.parametrize("key", OPENING_KEYS)
def test_an_opening_record_without_a_required_key_is_refused(fold: Fold, sealed: Build, key: str) -> None:
    with pytest.raises(EvidenceError, match=f"the key {key} is absent"):
        fold(sealed([line_of(**{name: value for name, value in OPENING_KEYS.items() if name != key})], count=0))


def closing_keys(body: bytes, **other: object) -> dict[str, object]:
    digest = "sha256:" + hashlib.sha256(body).hexdigest()
    closing = Closing(1, "finished", 0, None, "launcher", digest)
    keys = {"record": "closing", "count": 1, **closing._asdict()}
    del keys["node_count"], keys["reason"]
    return {**keys, **other}


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        pytest.param({"count": 0}, "count is 0, and 1 node records came before", id="count-low"),
        pytest.param({"count": 2}, "count is 2, and 1 node records came before", id="count-high"),
        pytest.param({"count": -1}, "count is -1; allowed: a whole number of at least 0", id="count-negative"),
        pytest.param({"count": None}, "count is null", id="count-null"),
        pytest.param(
            {"digest": "sha256:" + "0" * 64}, "the document was changed after it was sealed", id="other-digest"
        ),
        pytest.param({"digest": "sha256:0"}, 'digest is "sha256:0"; allowed: sha256: and 64', id="no-digest"),
        pytest.param({"digest": "md5:" + "0" * 32}, "allowed: sha256: and 64 hexadecimal", id="other-algorithm"),
        pytest.param({"ended": "ok"}, 'ended is "ok"; allowed: finished, interrupted', id="ended"),
        pytest.param({"exit_code": "0"}, 'exit_code is "0"; allowed: a whole number', id="exit-code"),
        pytest.param({"signal": 9.0}, "signal is 9.0", id="signal"),
        pytest.param({"closed_by": ""}, 'closed_by is ""', id="closed-by"),
        pytest.param({"reason": ""}, 'reason is ""', id="reason"),
        pytest.param({"node_count": 1}, 'unknown key "node_count"', id="unknown-key"),
    ],
)
def test_a_closing_record_that_is_not_exact_is_refused(
    fold: Fold, opening: Opening, keys: dict[str, object], says: str
) -> None:
    body = b"".join(framed(opening, NODE_LINE))
    with pytest.raises(EvidenceError) as caught:
        fold(body + line_of(**closing_keys(body, **keys)))
    assert caught.value.where == "doc:3"
    assert says in str(caught.value)


@pytest.mark.parametrize("key", ["count", "ended", "exit_code", "signal", "closed_by", "digest"])
def test_a_closing_record_without_a_required_key_is_refused(fold: Fold, opening: Opening, key: str) -> None:
    body = b"".join(framed(opening, NODE_LINE))
    keys = closing_keys(body)
    del keys[key]
    with pytest.raises(EvidenceError, match=f"the key {key} is absent"):
        fold(body + line_of(**keys))


@pytest.mark.parametrize("more", [b"\n", NODE_LINE, b"x", b"{", line_of(record="plan", nodes=[])])
def test_nothing_may_follow_the_closing_record(fold: Fold, document: Build, passed: Make, more: bytes) -> None:
    raw = document([passed("a")])
    with pytest.raises(EvidenceError, match="more after the closing record"):
        fold(raw + more)
    with pytest.raises(EvidenceError, match="more after the closing record"):
        fold_blocks([raw, more], "doc", limits=LIMITS)


def test_a_document_sealed_twice_is_refused(fold: Fold, document: Build, passed: Make, sealed: Build) -> None:
    with pytest.raises(EvidenceError, match="more after the closing record"):
        fold(sealed([document([passed("a")])], count=1))


@pytest.mark.parametrize(
    "line",
    [
        NODE_LINE,
        line_of(record="plan", nodes=["x"]),
        line_of(record="timing", nodes=["x"]),
        wire.finish_line(wire.Finish(0, "finished")),
    ],
)
def test_only_the_seal_may_follow_the_runs_own_end_mark(
    fold: Fold, sealed: Build, opening: Opening, line: bytes
) -> None:
    lines = framed(opening, wire.finish_line(wire.Finish(0, "finished")), line)
    with pytest.raises(EvidenceError, match="doc:3: .* after the run's own end mark; allowed: closing"):
        fold(sealed(lines, count=int(line is NODE_LINE)))


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda raw: raw.replace(b"\n", b"\r\n"), id="line-ends"),
        pytest.param(lambda raw: raw.replace(b'"fail"', b'"pass"'), id="verdict"),
        pytest.param(lambda raw: raw.replace(b'"a"', b'"b"'), id="node"),
        pytest.param(lambda raw: raw.replace(b"pr-7", b"pr-8"), id="patch"),
        pytest.param(lambda raw: b"\n".join(raw.split(b"\n")[:2] + raw.split(b"\n")[3:]), id="line-taken-out"),
        pytest.param(lambda raw: raw.replace(b'"record":"node"', b'"record": "node"'), id="blank-put-in"),
    ],
)
def test_a_document_changed_after_it_was_sealed_is_refused(
    fold: Fold, document: Build, passed: Make, change: Callable[[bytes], bytes]
) -> None:
    raw = document([passed("a", check="fail"), passed("c")])
    assert change(raw) != raw
    with pytest.raises(EvidenceError):
        fold(change(raw))


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        pytest.param(b"", "doc: the document is empty", id="empty"),
        pytest.param(b'{"record":"ope', "doc: the opening record is torn", id="torn-opening"),
        pytest.param(b"\n", "doc:1: a blank line", id="newline"),
        pytest.param(NODE_LINE, "doc:1: the first record is node; allowed: opening", id="no-opening"),
        pytest.param(b"\0" * 100 + b"\n", "doc:1:1: expecting value", id="nuls"),
        pytest.param(b"\x1f\x8b\x08\n", "is not UTF-8", id="gzip"),
    ],
)
def test_what_has_no_opening_record_is_no_document(raw: bytes, says: str) -> None:
    with pytest.raises(EvidenceError) as caught:
        fold_blocks([raw] if raw else [], "doc", limits=LIMITS)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("smaller", "says"),
    [
        pytest.param({"nodes": 2}, "3 nodes; allowed: 2", id="nodes"),
        pytest.param({"line_bytes": 400}, "doc:5: a line of 1099 bytes; allowed: 400 bytes", id="line"),
        pytest.param({"string_chars": 500}, "doc:5:25: a string of more than 500 characters", id="string"),
        pytest.param({"depth": 1}, "too deep inside each other; allowed: 1 levels", id="depth"),
    ],
)
def test_the_limits_hold_for_documents(document: Build, passed: Make, smaller: dict[str, int], says: str) -> None:
    records = [passed("a"), passed("b"), passed("c", seed=1)]
    records += [passed("x" * 1000)] if "nodes" not in smaller else []
    raw = document(records, plan=["a"] if "depth" in smaller else [])
    with pytest.raises(EvidenceError) as caught:
        fold_blocks([raw], "doc", limits=LIMITS._replace(**smaller))
    assert says in str(caught.value)


def test_a_register_documents_entries_are_read(fold: Fold, sealed: Build, opening: Opening, passed: Make) -> None:
    entry = passed("t.py::x", flake_status="frozen", freeze_expires=EXPIRES)
    lines = [wire.opening_line(opening._replace(gate="flaky_freeze")), wire.node_line("flaky_freeze", entry)]
    found = fold(sealed(lines, count=1))
    assert found.details == {"t.py::x": entry}
    assert found.codes["t.py::x"] == r.CLEAN_CODE | r.FROZEN
