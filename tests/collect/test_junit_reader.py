"""The reader is strict, bounded, and takes no pass from a file that is not whole (contract E4, E8)."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from admit.collect.junit import read
from admit.collect.report import LIMITS, ending
from admit.errors import EvidenceError

WHOLE = Path(__file__).parent.joinpath("samples", "surefire-rerun.xml").read_bytes()
GREEN = (
    b'<?xml version="1.0" encoding="utf-8"?>\n<testsuites tests="2"><testsuite name="s" tests="2">'
    b'<testcase classname="c" name="a" time="1"><system-out>x</system-out></testcase>'
    b'<testcase classname="c" name="b" time="1"/></testsuite></testsuites>\n'
)


def passes(raw: bytes) -> int:
    return sum(record.check == "pass" for record in read(raw, "r.xml").records)


@pytest.mark.parametrize("raw", [pytest.param(GREEN, id="green"), pytest.param(WHOLE, id="with failures")])
def test_no_cut_at_any_byte_counts_as_finished_or_leaves_a_pass(raw: bytes) -> None:
    end = len(raw.rstrip())
    for length in range(end):
        try:
            report = read(raw[:length], "r.xml")
        except EvidenceError:
            continue
        assert report.cut
        assert ending([report], 0).ended != "finished"
        assert not [record for record in report.records if record.check == "pass"]
    assert ending([read(raw[:end], "r.xml")], None).ended == "finished"


def test_a_cut_keeps_the_failures_before_it_and_says_why_the_passes_are_gone() -> None:
    raw = b'<testsuite name="s"><testcase name="a"/><testcase name="b"><failure/></testcase><testcase name="c"/>'
    report = read(raw, "r.xml")
    assert [(record.node, record.check, record.why) for record in report.records] == [
        ("s::a", "not_run", "truncated"),
        ("s::b", "fail", None),
        ("s::c", "not_run", "truncated"),
    ]
    assert "line 1" in report.records[0].message
    assert ending([report], None).ended == "crashed"


@pytest.mark.parametrize(
    ("rest", "check", "why"),
    [
        pytest.param('<testcase name="b">', "not_run", "truncated", id="an open case"),
        pytest.param('<testcase name="b"><failure message="no">half a tr', "fail", None, id="an open failure"),
        pytest.param('<testcase name="b"><failure message="no"/>', "fail", None, id="a failure in an open case"),
        pytest.param('<testcase name="b"><skipped message="x"/>', "not_run", "skip", id="a skip in an open case"),
        pytest.param('<testcase name="b"><system-out>half', "not_run", "truncated", id="open output"),
    ],
)
def test_the_case_that_a_cut_falls_into_is_kept_for_what_was_seen_of_it(rest: str, check: str, why: str | None) -> None:
    record = read(f'<testsuite name="s">{rest}'.encode(), "r.xml").records[-1]
    assert (record.node, record.check, record.why) == ("s::b", check, why)


@pytest.mark.parametrize(
    "tail",
    [
        pytest.param(b"<testsuite/>", id="a second document"),
        pytest.param(GREEN, id="the same document again"),
        pytest.param(b"x", id="text"),
        pytest.param(b"\0\0\0\0", id="NULs of a file that was made larger than written"),
        pytest.param(b"</testsuites>", id="an end of nothing"),
    ],
)
def test_what_follows_the_document_takes_its_passes_away(tail: bytes) -> None:
    report = read(GREEN + tail, "r.xml")
    assert report.cut
    assert passes(GREEN + tail) == 0
    assert passes(GREEN) == 2


@pytest.mark.parametrize(
    ("raw", "found"),
    [
        pytest.param(b"", "empty", id="nothing"),
        pytest.param(b" \n\t\0\0", "empty", id="blanks and NULs"),
        pytest.param(b"tests passed", "no XML", id="text"),
        pytest.param(b"<!doctype html><html><body><p>502</body></html>", "no XML", id="html 5"),
        pytest.param(b"<html><body>502 Bad Gateway</body></html>", "root element is <html>", id="html"),
        pytest.param(b'<assemblies><assembly total="1"/></assemblies>', "root element is <assemblies>", id="xUnit.net"),
        pytest.param(
            b'<failsafe-summary result="0"><completed>1</completed></failsafe-summary>',
            "<failsafe-summary>",
            id="failsafe",
        ),
        pytest.param(b'<test-run id="2" result="Passed"/>', "root element is <test-run>", id="NUnit 3"),
        pytest.param(b'<testcase name="a"/>', "root element is <testcase>", id="a case alone"),
        pytest.param(b'<Testsuite name="a"/>', "root element is <Testsuite>", id="other letters"),
        pytest.param(b'<j:testsuite xmlns:j="urn:j"/>', "root element is <j:testsuite>", id="a prefix"),
        pytest.param(b"{}", "no XML", id="JSON"),
        pytest.param(b"\x1f\x8b\x08\0", "no XML", id="gzip"),
        pytest.param(b'<?xml version="1.0" encoding="utf-7"?><testsuite/>', "encoding 'utf-7'", id="UTF-7"),
        pytest.param(b'<?xml version="1.0" encoding="hex"?><testsuite/>', "encoding 'hex'", id="no text encoding"),
        pytest.param(b'<?xml version="1.0" encoding="shift_jis"?><testsuite/>', "encoding 'shift_jis'", id="multibyte"),
        pytest.param(b'<?xml version="1.0" encoding="utf-16"?><testsuite/>', "no XML", id="UTF-16 that is none"),
    ],
)
def test_what_is_no_junit_is_refused_with_its_name_and_what_was_found(raw: bytes, found: str) -> None:
    with pytest.raises(EvidenceError, match=rf"^r\.xml.*(?:{found})"):
        read(raw, "r.xml")


LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            f'<!DOCTYPE testsuite [<!ENTITY l0 "ha">{LAUGHS}]><testsuite name="&l9;"/>', id="a billion laughs"
        ),
        pytest.param(
            '<!DOCTYPE testsuite [<!ENTITY x SYSTEM "file:///etc/passwd">]><testsuite>&x;</testsuite>', id="XXE"
        ),
        pytest.param('<!DOCTYPE testsuite [<!ENTITY % p SYSTEM "file:///x">%p;]><testsuite/>', id="parameter entity"),
        pytest.param('<!DOCTYPE testsuite SYSTEM "file:///x.dtd"><testsuite name="&x;"/>', id="outside document type"),
        pytest.param('<!DOCTYPE testsuite PUBLIC "x" "y"><testsuite/>', id="public document type"),
        pytest.param(
            '<!DOCTYPE testsuite [<!ATTLIST testcase name CDATA "x">]><testsuite><testcase/></testsuite>', id="defaults"
        ),
    ],
)
def test_declarations_are_refused(text: str) -> None:
    with pytest.raises(EvidenceError, match="a document type with declarations"):
        read(text.encode(), "r.xml")


def test_a_bare_document_type_is_harmless_and_an_undeclared_entity_is_not() -> None:
    assert passes(b'<!DOCTYPE testsuite><testsuite><testcase name="a"/></testsuite>') == 1
    report = read(b'<!DOCTYPE testsuite><testsuite><testcase name="a"/><testcase name="&b;"/></testsuite>', "r.xml")
    assert "undefined entity" in report.cut
    assert not [record for record in report.records if record.check == "pass"]


@pytest.mark.parametrize(
    ("encoding", "codec"),
    [
        pytest.param("utf-8", "utf-8", id="UTF-8"),
        pytest.param("UTF-8", "utf-8-sig", id="UTF-8 with a mark"),
        pytest.param("utf-16", "utf-16", id="UTF-16"),
        pytest.param("ISO-8859-1", "latin-1", id="Latin 1"),
        pytest.param("windows-1252", "cp1252", id="Windows"),
    ],
)
def test_a_report_is_read_in_the_encoding_that_it_declares(encoding: str, codec: str) -> None:
    text = f'<?xml version="1.0" encoding="{encoding}"?><testsuite name="é"><testcase name="ü"/></testsuite>'
    (record,) = read(text.encode(codec), "r.xml").records
    assert (record.node, record.check) == ("é::ü", "pass")


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param(b"\0", id="NUL"),
        pytest.param(b"\x1b[31m", id="ESC"),
        pytest.param(b"\x12", id="0x12"),
        pytest.param("\uffff".encode(), id="U+FFFF"),
        pytest.param(b"&#0;", id="reference to NUL"),
        pytest.param(b"&#x1B;", id="reference to ESC"),
        pytest.param(b"&#xFFFF;", id="reference to U+FFFF"),
        pytest.param(b"&#xD800;", id="reference to a surrogate"),
        pytest.param(b"&#99999999;", id="reference beyond Unicode"),
        pytest.param(b"\xff\xfe", id="no UTF-8"),
        pytest.param(b"\xed\xa0\x80", id="a surrogate in UTF-8"),
    ],
)
def test_a_forbidden_character_is_replaced_and_the_report_says_so(bad: bytes) -> None:
    raw = (
        b'<testsuite name="s"><testcase name="a"/><testcase name="b"><failure message="'
        + bad
        + b'">x'
        + bad
        + b"</failure>"
        b'</testcase><testcase name="c' + bad + b'"/><testcase name="d' + bad + b'"><failure/></testcase></testsuite>'
    )
    report = read(raw, "r.xml")
    assert "\ufffd" in report.records[1].message
    assert "\ufffd" in report.records[2].node
    assert [(record.check, record.why) for record in report.records] == [
        ("pass", None),
        ("fail", None),
        ("not_run", "no_verdict"),  # which node it was cannot be told
        ("fail", None),
    ]
    assert any("repaired" in note for note in report.notes)
    assert ending([report], None).ended == "finished"


@pytest.mark.parametrize("head", ['<testsuite name="s\x1b">', '<!-- \x1b --><testsuite name="s\x1b">'])
def test_a_forbidden_character_before_the_first_case_is_repaired_as_well(head: str) -> None:
    (record,) = read(f'{head}<testcase name="a"/></testsuite>'.encode(), "r.xml").records
    assert (record.node, record.check) == ("s\ufffd::a", "not_run")


def test_characters_are_repaired_in_other_encodings_as_well() -> None:
    text = '<?xml version="1.0" encoding="utf-16"?><testsuite name="é"><testcase name="a" time="\x1b"/></testsuite>'
    (record,) = read(text.encode("utf-16"), "r.xml").records
    assert (record.node, record.check) == ("é::a", "pass")
    text = '<?xml version="1.0" encoding="iso-8859-1"?><testsuite name="é"><testcase name="a" time="\x1b"/></testsuite>'
    (record,) = read(text.encode("latin-1"), "r.xml").records
    assert (record.node, record.check) == ("é::a", "pass")


def test_a_replacement_character_that_the_runner_wrote_is_a_character_like_any_other() -> None:
    assert passes('<testsuite name="s"><testcase name="a\ufffd"/></testsuite>'.encode()) == 1


@pytest.mark.parametrize(
    "inside",
    [
        pytest.param(b"<\0failure/>", id="before a name"),
        pytest.param(b"<fail\0ure/>", id="inside a name"),
        pytest.param(b"<failure\0/>", id="after a name"),
        pytest.param(b"<\0!-- --><failure/>", id="before a comment"),
        pytest.param(b"<!-\0- <failure/> -->", id="inside a comment's beginning"),
        pytest.param(b"<\0?x <failure/>?>", id="before an instruction"),
        pytest.param(b"<![CDATA\0[<failure/>]]>", id="inside CDATA's beginning"),
    ],
)
def test_repair_never_hides_an_element(inside: bytes) -> None:
    raw = b'<testsuite name="s"><testcase name="a">' + inside + b'</testcase><testcase name="b"/></testsuite>'
    report = read(raw, "r.xml")
    assert report.records[0].check != "pass"


def test_a_broken_tree_stays_broken_after_repair() -> None:
    report = read(b'<testsuite name="s"><testcase name="a\x1b"/><testcase name="b"></testsuite>', "r.xml")
    assert report.cut
    assert report.notes
    assert not [record for record in report.records if record.check == "pass"]


def test_two_hundred_thousand_suites_inside_each_other_are_refused_quickly() -> None:
    depth = 200_000
    raw = b'<testsuite name="s">' * depth + b'<testcase name="a"/>' + b"</testsuite>" * depth
    started = time.process_time()
    with pytest.raises(EvidenceError, match="too deep"):
        read(raw, "r.xml")
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    "where",
    [
        "<testcase name='a'><failure>{}</failure></testcase>",
        "<system-out>{}</system-out>",
        "<properties>{}</properties>",
    ],
)
def test_depth_counts_inside_cases_and_output_as_well(where: str) -> None:
    deep = "<x>" * 500 + "</x>" * 500
    with pytest.raises(EvidenceError, match="too deep"):
        read(f"<testsuite>{where.format(deep)}</testsuite>".encode(), "r.xml")


@pytest.mark.parametrize("part", ["message", "text", "name"])
def test_twelve_megabytes_in_one_place_are_read_and_cut(part: str) -> None:
    big = b"x" * 12_000_000
    inside = {
        "message": b'<testcase name="a"><failure message="' + big + b'"/></testcase>',
        "text": b'<testcase name="a"><failure>' + big + b"</failure></testcase>",
        "name": b'<testcase name="' + big + b'"><failure message="no"/></testcase>',
    }[part]
    started = time.process_time()
    (record,) = read(b'<testsuite name="s">' + inside + b"</testsuite>", "r.xml").records
    assert time.process_time() - started < 10
    assert record.check == "fail"
    assert len(record.message) < 3_000
    assert len(record.counterexample) < 9_000


@pytest.mark.parametrize(
    "message",
    ["(" * 200_000, "a(" * 100_000, "[" * 200_000, " " * 200_000 + "x", '"before ' * 50_000, "/" * 100_000 + "a."],
)
def test_no_message_makes_the_table_slow(message: str) -> None:
    from xml.sax.saxutils import quoteattr

    quoted = quoteattr(message)
    failure = f"<failure type={quoted} message={quoted}>{message}</failure>"
    case = f"<testcase classname={quoted} name={quoted}>{failure}</testcase>"
    started = time.process_time()
    read(f"<testsuite>{case * 3}</testsuite>".encode(), "r.xml")
    assert time.process_time() - started < 3


def test_a_report_beyond_a_limit_is_refused() -> None:
    with pytest.raises(EvidenceError, match=r"^r\.xml: \d+ bytes; allowed: 50 bytes"):
        read(GREEN, "r.xml", limits=LIMITS._replace(file_bytes=50))
    with pytest.raises(EvidenceError, match="more than 1 cases"):
        read(GREEN, "r.xml", limits=LIMITS._replace(nodes=1))


def test_nested_suites_count_once_and_cases_under_the_root_count() -> None:
    raw = (
        b'<testsuites><testcase name="x"/><testsuite name="a"><testsuite name="b"><testsuite name="c">'
        b'<testcase name="1"/><testcase name="2"/></testsuite><testcase name="3"/></testsuite></testsuite></testsuites>'
    )
    assert [record.node for record in read(raw, "r.xml").records] == ["x", "a::b::c::1", "a::b::c::2", "a::b::3"]


def test_equal_names_stay_separate_records() -> None:
    """The worst wins where records are folded, so none may be dropped here."""
    raw = b'<testsuite name="s"><testcase name="a"><failure/></testcase><testcase name="a"/></testsuite>'
    assert [record.check for record in read(raw, "r.xml").records] == ["fail", "pass"]
