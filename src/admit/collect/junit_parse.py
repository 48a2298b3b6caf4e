"""JUnit XML as events: expat straight from the buffer, nothing resolved, each suite and case handed on as it closes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, Protocol
from xml.parsers import expat

from admit.errors import EvidenceError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from admit.collect.report import Limits

CONTAINERS: Final = frozenset({"testsuites", "testsuite"})
NEUTRAL: Final = frozenset({"properties", "system-out", "system-err"})
"""Children of suites and cases that say nothing of a verdict."""

NESTED: Final[Mapping[str, frozenset[str]]] = {
    "properties": frozenset({"property"}),
    **dict.fromkeys(
        ("rerunFailure", "rerunError", "flakyFailure", "flakyError"),
        frozenset({"stackTrace", "system-out", "system-err"}),
    ),
}
"""What may stand inside a case's child; anything else there is an unknown word."""

ENCODINGS: Final = frozenset({"utf-8", "utf-16", "us-ascii", "iso-8859-1", "iso-8859-15", "windows-1252"})
"""Encodings that a report may declare; expat reads the first four itself, the others byte by byte."""

TEXT_CHARS: Final = 1 << 16
"""So much of one element's text is kept; the rest is read and dropped."""


class Child(NamedTuple):
    """One element inside a case: its tag as written, its attributes, its text, and the unknown tags found inside it."""

    tag: str
    attributes: Mapping[str, str]
    text: str = ""
    unknown: tuple[str, ...] = ()


class Case(NamedTuple):
    """One `<testcase>`: its attributes, its children but for neutral ones, and text that stands loose in it."""

    attributes: Mapping[str, str]
    children: tuple[Child, ...] = ()
    loose_text: str = ""


class Sink(Protocol):
    """Who hears of suites and cases, in document order."""

    def open_suite(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Hear that a suite begins."""

    def close_suite(self) -> None:
        """Hear that the innermost suite ends."""

    def plain_case(self, attributes: Mapping[str, str]) -> None:
        """Hear of a case of the innermost suite with nothing in it but neutral elements; nearly every case."""

    def case(self, case: Case) -> None:
        """Hear of any other case of the innermost suite."""

    def suite_child(self, child: Child) -> None:
        """Hear of a suite's child that is neither suite, case nor neutral."""


class Break(NamedTuple):
    """Where a document stops being well-formed: line, column, and expat's words."""

    line: int
    column: int
    words: str

    def __str__(self) -> str:
        """Return the place and the reason."""
        return f"not well-formed at line {self.line}, column {self.column}: {self.words}"


def parse(raw: bytes, source: str, sink: Sink, *, limits: Limits, encoding: str | None = None) -> Break | None:
    """Hand every suite and case in a document to `sink`; return where it breaks off, or None if it is whole.

    Args:
        raw: the document.
        source: its name, for messages.
        sink: who hears of it.
        limits: how deep elements may nest.
        encoding: the encoding to read it in, whatever it declares.

    Raises:
        EvidenceError: the root is not JUnit's, it declares entities or an unknown encoding, it nests too deep.
    """
    return _Machine(source, sink, limits.depth, encoding).feed(raw)


class _Machine:
    """Expat's callbacks. An element opens inside a child (`_inside` > 0), a case (`_case` is there), or a suite."""

    __slots__ = (
        "_case",
        "_child",
        "_children",
        "_depth",
        "_inside",
        "_is_rooted",
        "_loose",
        "_most",
        "_parser",
        "_room",
        "_sink",
        "_source",
        "_tag",
        "_text",
        "_unknown",
    )

    def __init__(self, source: str, sink: Sink, depth: int, encoding: str | None) -> None:
        self._source, self._sink, self._most = source, sink, depth
        self._is_rooted = False
        self._depth = 0  # open suites
        self._case: Mapping[str, str] | None = None  # attributes of the open case
        self._children: list[Child] = []
        self._loose = ""
        self._inside = 0  # elements open inside a suite's or a case's child, itself included
        self._tag = ""
        self._child: Mapping[str, str] = {}
        self._text: list[str] = []
        self._room = 0
        self._unknown: list[str] = []
        self._parser = parser = expat.ParserCreate(encoding, intern={})
        parser.buffer_text = True
        parser.buffer_size = 1 << 16
        parser.XmlDeclHandler = self._declared
        parser.StartDoctypeDeclHandler = self._doctype
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._loose_text

    def feed(self, raw: bytes) -> Break | None:
        try:
            self._parser.Parse(raw, True)
        except expat.ExpatError as error:
            if not self._is_rooted:
                raise self._no_junit(f"no XML: {_words(error)}") from None
            self._leave_open()
            return Break(error.lineno, error.offset + 1, _words(error))
        return None

    def _leave_open(self) -> None:
        # what was seen of the case that the break fell into is kept: a failure in it is a failure
        if self._case is None:
            return
        if self._inside:
            self._end_child()
        self._sink.case(Case(self._case, tuple(self._children), self._loose))

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if self._inside:
            self._start_inside(tag)
        elif self._case is not None:
            self._start_child(tag, attributes)
        elif tag == "testcase" and self._is_rooted:
            self._case = attributes
        elif tag in CONTAINERS:
            self._depth += 1
            self._check_depth(self._depth)
            self._is_rooted = True
            self._sink.open_suite(tag, attributes)
        elif self._is_rooted:
            self._start_child(tag, attributes)
        else:
            raise self._no_junit(f"the root element is <{tag[:60]}>")

    def _end(self, _tag: str) -> None:
        if self._inside:
            self._inside -= 1
            if not self._inside:
                self._end_child()
        elif self._case is None:
            self._depth -= 1
            self._sink.close_suite()
        elif self._children or self._loose:
            self._sink.case(Case(self._case, tuple(self._children), self._loose))
            self._case, self._children, self._loose = None, [], ""
        else:
            self._sink.plain_case(self._case)
            self._case = None

    def _loose_text(self, text: str) -> None:
        if self._case is not None and not self._loose and not text.isspace():
            self._loose = text.strip()[:60]

    def _start_child(self, tag: str, attributes: dict[str, str]) -> None:
        self._tag, self._child, self._inside = tag, attributes, 1
        if tag in NEUTRAL:
            self._parser.CharacterDataHandler = None
        else:
            self._text, self._room = [], TEXT_CHARS
            self._parser.CharacterDataHandler = self._child_text

    def _start_inside(self, tag: str) -> None:
        self._inside += 1
        self._check_depth(self._depth + self._inside)
        if self._inside > 2 or tag not in NESTED.get(self._tag, ()):
            self._unknown.append(tag)

    def _child_text(self, text: str) -> None:
        if self._inside == 1 and self._room > 0:
            self._text.append(text[: self._room])
            self._room -= len(text)

    def _end_child(self) -> None:
        self._inside = 0
        self._parser.CharacterDataHandler = self._loose_text
        tag, unknown = self._tag, self._unknown
        if tag in NEUTRAL and not unknown:
            return
        child = Child(tag, self._child, "" if tag in NEUTRAL else "".join(self._text), tuple(unknown[:5]))
        self._unknown = []
        if self._case is None:
            self._sink.suite_child(child)
        else:
            self._children.append(child)

    # ---- what is refused

    def _check_depth(self, depth: int) -> None:
        if depth > self._most:
            raise EvidenceError(
                self._place(), "elements too deep inside each other", allowed=f"{self._most} levels", do=_NOT_A_REPORT
            )

    def _declared(self, _version: str, encoding: str | None, _standalone: int) -> None:
        if encoding is not None and _plain_name(encoding) not in ENCODINGS:
            raise EvidenceError(
                self._source, f"it declares the encoding {encoding[:60]!r}", allowed=", ".join(sorted(ENCODINGS))
            )

    def _doctype(self, _name: str, system: str | None, public: str | None, has_subset: int) -> None:
        # entities can be declared in a subset alone; beside an outside document type expat drops undeclared ones in
        # attributes without a word
        if has_subset or system is not None or public is not None:
            raise EvidenceError(self._place(), "a document type with declarations", do=_NOT_A_REPORT)

    def _place(self) -> str:
        return f"{self._source}:{self._parser.CurrentLineNumber}"

    def _no_junit(self, found: str) -> EvidenceError:
        return EvidenceError(
            self._source, found, allowed="XML whose root is <testsuites> or <testsuite>", do=_NAME_REPORTS
        )


_NOT_A_REPORT: Final = "no test runner writes such a report"
_NAME_REPORTS: Final = "name the runner's JUnit reports and nothing else"


def _plain_name(encoding: str) -> str:
    name = encoding.lower().replace("_", "-")
    return {
        "utf8": "utf-8",
        "ascii": "us-ascii",
        "latin-1": "iso-8859-1",
        "latin1": "iso-8859-1",
        "cp1252": "windows-1252",
    }.get(name, name)


def _words(error: expat.ExpatError) -> str:
    return expat.ErrorString(error.code) or "not XML"
