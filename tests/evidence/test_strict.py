"""Strict JSON (contract E4): one value or one line that teaches, for every input."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.errors import EvidenceError
from admit.evidence.strict import LIMITS, read_json, read_object, shown

DEEP = LIMITS.depth + 1

REFUSED = [
    pytest.param(b"", "e.json:1:1", "the file is empty", id="empty"),
    pytest.param(b" \n", "e.json:2:1", "nothing but blanks", id="blanks"),
    pytest.param(b"\xef\xbb\xbf{}", "e.json:1:1", "byte order mark", id="bom"),
    pytest.param(b'{"a":\n "\xff"}', "e.json:2:3", "byte 0xff is not UTF-8", id="not-utf8"),
    pytest.param('{"a": "é"}'.encode("latin-1"), "e.json:1:8", "byte 0xe9 is not UTF-8", id="latin-1"),
    pytest.param("{}".encode("utf-16"), "e.json:1:1", "is not UTF-8", id="utf-16"),
    pytest.param(b'{"a": 1,\n "a": 2}', "e.json:2:2", 'the key "a" stands twice', id="duplicate-key"),
    pytest.param(b'{"b": [{"a": 1, "\\u0061": 2}]}', "e.json:1:17", 'the key "a" stands twice', id="escaped-duplicate"),
    pytest.param(
        b'{"a": {"b": 1}, "c": 1, "a": 2}', "e.json:1:25", 'the key "a" stands twice', id="after-inner-object"
    ),
    pytest.param(b'{"a": NaN}', "e.json:1:7", "NaN is not a JSON value", id="nan"),
    pytest.param(b"[1, -Infinity]", "e.json:1:5", "-Infinity is not a JSON value", id="infinity"),
    pytest.param(b'["1e999", 1e999]', "e.json:1:11", "1e999 is beyond every finite number", id="overflow"),
    pytest.param(b'{"a": "\\ud800"}', "e.json:1:7", "half of a surrogate pair", id="lone-surrogate"),
    pytest.param(b'{"\\udfff": 1}', "e.json:1:2", "half of a surrogate pair", id="lone-surrogate-key"),
    pytest.param(b'{"a": "\\ud83d\\ude00\\ud83d"}', "e.json:1:7", "half of a surrogate pair", id="pair-and-half"),
    pytest.param(b"[" * DEEP + b"]" * DEEP, f"e.json:1:{DEEP}", "too deep", id="deep-arrays"),
    pytest.param(b'{"a":' * DEEP + b"1" + b"}" * DEEP, f"e.json:1:{5 * DEEP - 4}", "too deep", id="deep-objects"),
    pytest.param(b"[" * 1_000_000, f"e.json:1:{DEEP}", "too deep", id="a-million-brackets"),
    pytest.param(b"[" + b"9" * 101 + b"]", "e.json:1:2", "a number of 101 characters", id="long-integer"),
    pytest.param(b"[0." + b"9" * 100 + b"]", "e.json:1:2", "a number of 102 characters", id="long-fraction"),
    pytest.param(b"9" * 100_000, "e.json:1:1", "a number of 100000 characters", id="integer-beyond-python"),
    pytest.param(b'["' + b"x" * 65_537 + b'"]', "e.json:1:2", "a string of more than 65536", id="long-string"),
    pytest.param(b'{"' + b"x" * 65_537 + b'": 1}', "e.json:1:2", "a string of more than 65536", id="long-key"),
    pytest.param(b'{"a": 1} x', "e.json:1:10", "more after the end of the value: 'x'", id="trailing"),
    pytest.param(b"{}{}", "e.json:1:3", "more after the end of the value", id="two-values"),
    pytest.param(b'{"a": "x', "e.json:1:7", "unterminated string", id="open-string"),
    pytest.param(b'{"a": ', "e.json:1:7", "ends in the middle of a value", id="cut"),
    pytest.param(b"{'a': 1}", "e.json:1:2", "expecting property name", id="single-quotes"),
    pytest.param(b'{"a": 1,}', "e.json:1:8", "a comma before the end", id="trailing-comma"),
    pytest.param(b'["a",\n 1 ,\n]', "e.json:2:4", "a comma before the end", id="trailing-comma-of-an-array"),
    pytest.param(b'{"a": ,}', "e.json:1:7", "expecting value", id="comma-without-a-value"),
    pytest.param(b"[1,}", "e.json:1:4", "expecting value", id="comma-and-another-bracket"),
    pytest.param(b"[]]", "e.json:1:3", "more after the end", id="bracket-after-the-end"),
    pytest.param(b'["a\tb"]', "e.json:1:4", "invalid control character", id="control-character"),
    pytest.param(b'["\\x"]', "e.json:1:3", "invalid \\escape", id="unknown-escape"),
    pytest.param(b"[01]", "e.json:1:3", "found '1]'", id="leading-zero"),
    pytest.param(b"[+1]", "e.json:1:2", "found '+1]'", id="plus"),
    pytest.param(b"// no\n{}", "e.json:1:1", "found '// no", id="comment"),
    pytest.param(b"\x00", "e.json:1:1", "found '\\x00'", id="nul"),
]


@pytest.mark.parametrize(("raw", "where", "found"), REFUSED)
def test_what_is_not_strict_json_is_refused_with_its_place_and_what_stands_there(
    raw: bytes, where: str, found: str
) -> None:
    with pytest.raises(EvidenceError) as caught:
        read_json(raw, "e.json")
    assert caught.value.where == where
    assert found in caught.value.found
    assert "\n" not in str(caught.value)


def test_a_value_over_the_size_limit_is_refused_unread() -> None:
    with pytest.raises(EvidenceError, match=r"e.json: 11 bytes in one value; allowed: 10 bytes"):
        read_json(b"[1,2,3,4,5]", "e.json", limits=LIMITS._replace(value_bytes=10))


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(b"[" * LIMITS.depth + b"]" * LIMITS.depth, id="deepest"),
        pytest.param(b'["' + b"[" * 100 + b'"]', id="brackets-in-a-string"),
        pytest.param(b"[" + b",".join([b"[]"] * 100) + b"]", id="many-not-deep"),
        pytest.param(b'["' + b"x" * LIMITS.string_chars + b'"]', id="longest-string"),
        pytest.param(b'["\\ud83d\\ude00", "\xf0\x9f\x98\x80"]', id="surrogate-pair"),
        pytest.param(b'["NaN", "a\\"b", "\\\\"]', id="words-in-strings"),
        pytest.param(b'{"a": {"a": [{"a": 1}, {"a": 1}]}}', id="same-key-in-other-objects"),
        pytest.param(b"9" * LIMITS.digits, id="longest-integer"),
        pytest.param(b"[0, -0, 1.5, 1e3, true, false, null]", id="scalars"),
        pytest.param(b'\r\n\t {"a": 1}\r\n', id="blanks-around"),
    ],
)
def test_what_is_strict_json_reads_as_any_reader_reads_it(raw: bytes) -> None:
    assert read_json(raw, "e.json") == json.loads(raw)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner),
    max_leaves=20,
)


@given(JSON, st.booleans(), st.sampled_from([None, 1]))
def test_every_json_value_reads_back(value: object, ascii_only: bool, indent: int | None) -> None:
    raw = json.dumps(value, ensure_ascii=ascii_only, indent=indent).encode()
    assert read_json(raw, "e.json") == value


@given(st.binary() | st.text(alphabet='{}[]",:\\u0123dD8aeE+-.NaInfity tr\n').map(str.encode))
def test_any_bytes_give_a_value_or_one_line_that_teaches(raw: bytes) -> None:
    try:
        value = read_json(raw, "e.json")
    except EvidenceError as caught:
        error = caught
    else:
        assert value == json.loads(raw)
        return
    assert str(error).startswith("e.json")
    assert "\n" not in str(error)


def test_the_place_counts_from_the_line_that_the_bytes_begin_on() -> None:
    with pytest.raises(EvidenceError, match=r"^e.jsonl:41:9: the key"):
        read_json(b'{"a": 1,"a": 1}', "e.jsonl", line=41)


@pytest.mark.parametrize("raw", [b"[]", b'"x"', b"1", b"null", b"true"])
def test_another_root_than_an_object_is_refused(raw: bytes) -> None:
    with pytest.raises(EvidenceError, match=r"e.json:1:1: .* stands where an object belongs"):
        read_object(raw, "e.json")


def test_a_nearly_full_stack_is_an_error_that_teaches_too() -> None:
    def sink(depth: int) -> None:
        if depth:
            sink(depth - 1)
        else:
            read_json(b"[" * 30 + b"]" * 30, "e.json")

    import sys

    frames, frame = 0, sys._getframe()
    while frame := frame.f_back:  # type: ignore[assignment]
        frames += 1
    outcomes = set()
    for spare in range(2, 60):
        try:
            sink(sys.getrecursionlimit() - frames - spare)
            outcomes.add("read")
        except EvidenceError:
            outcomes.add("refused")
        except RecursionError:
            outcomes.add("no room to begin")
    assert "read" in outcomes
    if sys.version_info < (3, 12):  # later versions count the parser's own depth apart from the stack
        assert "refused" in outcomes


def test_a_long_scan_is_not_quadratic() -> None:
    raw = b"[" * 40 + b'"\\' * 1_000_000  # a string that never ends, an escape at every other byte
    with pytest.raises(EvidenceError):
        read_json(raw, "e.json")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        pytest.param("x" * 100_000, '"' + "x" * 78 + "…", id="long-string"),
        pytest.param({"a": 1}, "an object", id="object"),
        pytest.param([1], "an array", id="array"),
        pytest.param(None, "null", id="null"),
        pytest.param(1.5, "1.5", id="number"),
    ],
)
def test_a_value_found_is_shown_as_json_and_cut(value: object, words: str) -> None:
    assert shown(value) == words
