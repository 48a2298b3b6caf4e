"""Whatever the bytes: a value or an `EvidenceError`, and no damage ever makes a pass (contract 0, E4)."""

from __future__ import annotations

from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st

from admit.collect.junit import read
from admit.collect.report import Report, ending
from admit.core.signals import CHECK_STATES, WHYS
from admit.errors import EvidenceError

SAMPLES = [path.read_bytes() for path in sorted((Path(__file__).parent / "samples").glob("*.xml"))]


def reading(raw: bytes) -> Report | None:
    said = ""
    try:
        return read(raw, "r.xml")
    except EvidenceError as error:
        said = str(error)
    assert said.startswith("r.xml")
    assert "\n" not in said
    return None


def sound(report: Report | None) -> None:
    if report is None:
        return
    for record in report.records:
        assert record.node
        assert record.check in CHECK_STATES
        assert record.why is None or record.why in WHYS
        assert record.attempts >= 1
        if record.check == "pass":
            assert record.why is None
            assert not record.flaky
        assert (record.fixture_lock, record.flake_status) == ("missing", "stable")  # nothing here is known of either
    if report.cut or report.problems:
        assert ending([report], 0).ended != "finished"
    if report.cut:
        assert not [record for record in report.records if record.check == "pass"]


@given(st.binary(max_size=200))
def test_any_bytes_give_a_value_or_an_evidence_error(raw: bytes) -> None:
    sound(reading(raw))


@given(
    st.binary(max_size=60), st.sampled_from([b"<testsuites>", b'<testsuite name="s"><testcase name="a">', b"<?xml "])
)
def test_any_bytes_after_a_beginning_give_a_value_or_an_evidence_error(raw: bytes, head: bytes) -> None:
    sound(reading(head + raw))


TAGS = "testsuites testsuite testcase failure error skipped rerunFailure flakyError system-out properties property x"
tag = st.sampled_from(TAGS.split())
attribute = st.sampled_from("name classname status result type message tests failures errors skipped time file".split())
value = st.sampled_from(["", "a", "run", "passed", "failed", "1", "2", "failed on setup with x", "todo", "\x1b", "é"])


def element(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    def written(name: str, attributes: dict[str, str], inside: list[str]) -> str:
        told = "".join(f' {key}="{text}"' for key, text in attributes.items())
        return f"<{name}{told}>{''.join(inside)}</{name}>"

    return st.builds(written, tag, st.dictionaries(attribute, value, max_size=3), st.lists(inner, max_size=4))


document = st.recursive(st.sampled_from(["", " ", "text", "<!-- c -->", "<![CDATA[c]]>"]), element, max_leaves=30)


@given(document)
def test_any_tree_of_known_words_gives_a_value_or_an_evidence_error(text: str) -> None:
    sound(reading(f'<testsuite name="s">{text}</testsuite>'.encode()))


@given(document)
def test_a_case_with_a_failure_anywhere_in_it_never_passes(text: str) -> None:
    report = reading(f'<testsuite name="s"><testcase name="t">{text}<failure/></testcase></testsuite>'.encode())
    assert report is None or report.records[0].check != "pass"


@st.composite
def damaged(draw: st.DrawFn) -> tuple[bytes, bytes]:
    """Draw a sample, and the same with one byte changed, one byte or a run of bytes put in, or its end cut off."""
    raw = draw(st.sampled_from(SAMPLES))
    at = draw(st.integers(0, len(raw) - 1))
    match draw(st.sampled_from(["change", "insert", "cut", "repeat"])):
        case "change":
            return raw, raw[:at] + bytes([draw(st.integers(0, 255))]) + raw[at + 1 :]
        case "insert":
            piece = draw(st.sampled_from([b"\0", b"<", b">", b'"', b"&", b"<!--", b"-->", b"]]>", b"/", b"\x1b", b" "]))
            return raw, raw[:at] + piece + raw[at:]
        case "cut":
            return raw, raw[:at]
        case _:
            return raw, raw[:at] + raw


@settings(max_examples=600)
@given(damaged())
@example((b'<testsuite><testcase name="a"/></testsuite>', b'<testsuite><testcase name="a"/></testsuit\0e>'))
def test_damage_never_adds_a_pass(pair: tuple[bytes, bytes]) -> None:
    """Where a name alone kept a case from passing, damage to the name may let it; no other pass is ever added."""
    whole, broken = pair
    report = reading(broken)
    sound(report)
    records = read(whole, "r.xml").records
    by_name = sum(r.node.endswith("(no name)") or r.message == "the file ran, and listed no test" for r in records)
    before = sum(record.check == "pass" for record in records)
    after = sum(record.check == "pass" for record in report.records) if report else 0
    assert after <= before + by_name
