"""JUnit XML to records: one file, read whole, strictly, failing closed (contract E8; the table is in `junit_rows`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from admit.collect.junit_counts import Suite
from admit.collect.junit_parse import Case, parse
from admit.collect.junit_repair import REPLACEMENT, repaired
from admit.collect.junit_verdict import is_plain_pass, node_id, prefix, verdict_of
from admit.collect.report import LIMITS, Report
from admit.core.records import NodeRecord
from admit.errors import EvidenceError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from admit.collect.junit_parse import Break, Child
    from admit.collect.report import Limits

SUMMARIES: Final = frozenset({"subtestsFailed"})
"""Types of a suite's failure that only say again what a case inside it says (node:test)."""

_BLANKS: Final = b"\0 \t\r\n"
_USUAL: Final = frozenset({"classname", "name", "time"})

PROBLEMS: Final = 20
"""Contradictions beyond so many are counted, not named."""


def read(raw: bytes, source: str, *, root: str = "", limits: Limits = LIMITS) -> Report:
    """Return what one JUnit XML file says.

    A file that breaks off keeps the failures before the break and takes no pass from it. Characters that XML forbids
    are replaced in a second try, and the report says so; a case whose id held one gives no verdict.

    Args:
        raw: the file's bytes.
        source: its name, for messages.
        root: the folder, with a `/` at its end, whose prefix is taken off absolute paths in node ids; empty: none.
        limits: what is too large.

    Raises:
        EvidenceError: the file is no JUnit XML, declares entities or an unknown encoding, is too large or too deep.
    """
    if len(raw) > limits.file_bytes:
        raise EvidenceError(source, f"{len(raw)} bytes", allowed=f"{limits.file_bytes} bytes", do="split the report")
    if not raw[:4096].strip(_BLANKS) and not raw.strip(_BLANKS):
        raise EvidenceError(source, "the report is empty", do="see why its runner wrote nothing")
    listing = _Listing(source, root, limits)
    try:
        broken = parse(raw, source, listing, limits=limits)
    except EvidenceError:
        mended = repaired(raw)
        if mended is None:
            raise
    else:
        mended = repaired(raw) if broken is not None else None
        if mended is None:
            return listing.report(broken)
    second = _Listing(source, root, limits)
    return second.report(parse(mended, source, second, limits=limits, encoding="utf-8"), was_repaired=True)


class _Listing:
    """What one pass over a document lists; hears of suites and cases in document order."""

    def __init__(self, source: str, root: str, limits: Limits) -> None:
        self._source, self._root, self._limits = source, root, limits
        self._open: list[Suite] = []
        self._records: list[NodeRecord] = []
        self._problems: list[str] = []
        self._unsaid = self._plain = 0
        self._failing = self._flaky = 0

    def open_suite(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._settle()
        self._open.append(Suite(tag, attributes, outer=self._open[-1] if self._open else None, root=self._root))

    def close_suite(self) -> None:
        self._settle()
        suite = self._open.pop()
        for contradiction in suite.contradictions():
            self._problem(contradiction)
        if self._open:
            self._open[-1].add(suite)

    def plain_case(self, attributes: Mapping[str, str]) -> None:
        # a class whose cases say class, name and time alone is looked at once; its other cases take the short way
        if len(attributes) == 3 and "time" in attributes:
            name = attributes.get("name", "")
            classname = attributes.get("classname")
            front = self._open[-1].prefixes.get(classname)
            if front is not None and name and name[0] != "/" and not name.isspace() and name != classname:
                self._passed(front + name)
                return
        if is_plain_pass(attributes):
            self._first_pass(attributes)
        else:
            self.case(Case(attributes))

    def _settle(self) -> None:
        if self._plain:
            self._open[-1].count_passes(self._plain)
            self._plain = 0

    def case(self, case: Case) -> None:
        suite = self._open[-1]
        verdict = verdict_of(case, suite.name)
        node = node_id(case.attributes, suite.names, self._root)
        suite.count(case, verdict)
        if verdict.check == "pass":
            self._append(NodeRecord(node, "pass", "missing", "stable"))
            return
        self._failing += verdict.is_failing
        self._flaky += verdict.is_flaky
        if verdict.is_whole:
            self._problem(f"{node[:200]} stands for more than one test: {verdict.message[:200]}")
        self._append(
            NodeRecord(
                node,
                verdict.check,
                "missing",
                "stable",
                why=verdict.why,
                message=verdict.message,
                counterexample=verdict.counterexample,
                attempts=verdict.attempts,
                flaky=verdict.flaky,
            )
        )

    def suite_child(self, child: Child) -> None:
        suite = self._open[-1]
        if child.tag in {"failure", "error"}:
            if child.attributes.get("type") in SUMMARIES and suite.bad:
                return
            said = (child.attributes.get("message") or child.text).strip()[:200]
            self._problem(f"the suite {suite.name[:80]!r} itself failed: {said!r}")
        else:
            unknown = f"<{child.unknown[0][:60]}> inside <{child.tag[:60]}>" if child.unknown else f"<{child.tag[:60]}>"
            self._problem(f"unknown element {unknown} in the suite {suite.name[:80]!r}")

    def report(self, broken: Break | None, *, was_repaired: bool = False) -> Report:
        """Return everything that was listed; passes before a break are not taken (contract E8)."""
        records = self._records
        if broken is not None:
            records = [_lost(record, broken.line) if record.check == "pass" else record for record in records]
        if was_repaired:
            records = [_renamed(record) if REPLACEMENT in record.node else record for record in records]
        problems = tuple(self._problems) + ((f"{self._unsaid} more contradictions",) if self._unsaid else ())
        note = "repaired: characters that XML forbids were replaced by U+FFFD"
        return Report(
            self._source,
            tuple(records),
            problems,
            str(broken) if broken is not None else "",
            self._failing,
            self._flaky,
            (note,) if was_repaired else (),
        )

    def _first_pass(self, attributes: Mapping[str, str]) -> None:
        suite = self._open[-1]
        if attributes.keys() == _USUAL and attributes["name"] != attributes["classname"]:
            suite.prefixes[attributes["classname"]] = prefix(attributes, suite.names, self._root)
        self._passed(node_id(attributes, suite.names, self._root))

    def _passed(self, node: str) -> None:
        self._append(NodeRecord(node, "pass", "missing", "stable"))
        self._plain += 1

    def _append(self, record: NodeRecord) -> None:
        if len(self._records) >= self._limits.nodes:
            raise EvidenceError(self._source, f"more than {self._limits.nodes} cases", do="split the report")
        self._records.append(record)

    def _problem(self, text: str) -> None:
        if len(self._problems) < PROBLEMS:
            self._problems.append(text)
        else:
            self._unsaid += 1


def _renamed(record: NodeRecord) -> NodeRecord:
    # which node this was cannot be told any more; a failure stays one all the same
    if record.check != "pass":
        return record
    message = "characters that XML forbids stood in its name and were replaced"
    return record._replace(check="not_run", why="no_verdict", message=message)


def _lost(record: NodeRecord, line: int) -> NodeRecord:
    message = f"the report breaks off at line {line}; a pass before the break is not taken"
    return record._replace(check="not_run", why="truncated", message=message)
