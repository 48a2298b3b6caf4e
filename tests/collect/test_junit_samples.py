"""Each dialect's sample reads as the page beside it says (contract E8)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from admit.collect.junit import read
from admit.collect.report import Report, ending

SAMPLES = sorted((Path(__file__).parent / "samples").glob("*.xml"))


def told(report: Report) -> str:
    """Return the run's ending, its contradictions and one line a record: check, why, attempts | node | message."""
    how = ending([report], None)
    lines = [f"ended {how.ended}, failing {report.failing}, flaky {report.flaky}"]
    lines += [f"problem: {problem}" for problem in report.problems]
    for record in report.records:
        extra = (" flaky" if record.flaky else "") + (f" x{record.attempts}" if record.attempts > 1 else "")
        said = f"{record.check}{f' {record.why}' if record.why else ''}{extra}"
        lines.append(" | ".join([said, record.node, *([repr(record.message)] if record.message else [])]))
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("sample", [pytest.param(path, id=path.stem) for path in SAMPLES])
def test_a_sample_reads_as_its_page_says(sample: Path) -> None:
    page = sample.with_suffix(".txt").read_text("utf-8")
    assert told(read(sample.read_bytes(), sample.name, root="/app/")) == page


def test_each_page_has_its_sample_and_there_are_many() -> None:
    folder = Path(__file__).parent / "samples"
    assert {path.stem for path in folder.glob("*.txt")} == {path.stem for path in SAMPLES}
    assert len(SAMPLES) >= 25


@pytest.mark.parametrize("sample", [pytest.param(path, id=path.stem) for path in SAMPLES])
def test_no_sample_passes_a_case_that_holds_more_than_output(sample: Path) -> None:
    """An oracle apart from the reader: a regular expression over the sample's text."""
    text = re.sub(r"<!\[CDATA\[.*?\]\]>|<!--.*?-->", "", sample.read_text("utf-8"), flags=re.DOTALL)
    cases = re.findall(r"<testcase\b[^>]*?(?:/>|>.*?</testcase>)", text, flags=re.DOTALL)
    harmless = r"</?(?:testcase|system-out|system-err|properties|property)\b[^>]*>"
    clean = sum("<" not in re.sub(harmless, "", case) for case in cases)
    passes = sum(record.check == "pass" for record in read(sample.read_bytes(), sample.name).records)
    assert passes <= clean
