"""Other tools' reports turned into node records: one row a format, one module a row (contract E8)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from admit.collect.report import LIMITS, Limits, Report

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["FORMATS", "LIMITS", "Format", "Limits", "Reader", "Report", "reader_of"]


class Reader(Protocol):
    """What each format's module offers as `read`."""

    def __call__(self, raw: bytes, source: str, *, root: str = ..., limits: Limits = ...) -> Report:
        """Return what one file says.

        Args:
            raw: the file's bytes.
            source: its name, for messages.
            root: the folder whose prefix is taken off absolute paths in node ids; empty: none.
            limits: what is too large.

        Raises:
            EvidenceError: the file is not a report of this format at all.
        """


class Format(NamedTuple):
    """One row: what the format is called on the command line, what it is, its module here, its page in the docs."""

    name: str
    help: str
    module: str
    page: str


FORMATS: Final[Mapping[str, Format]] = {
    row.name: row
    for row in (Format("junit", "JUnit XML in its common dialects", "junit", "reference/formats/junit.md"),)
}
"""Every format that `admit collect` reads."""


def reader_of(form: Format) -> Reader:
    """Return a format's reader; its module is imported here and no earlier."""
    from importlib import import_module

    reader: Reader = import_module(f"{__name__}.{form.module}").read
    return reader
