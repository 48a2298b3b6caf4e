"""What the tests of collectors share."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from admit.collect.junit import read
from admit.collect.report import Report
from admit.core.records import NodeRecord


@pytest.fixture(scope="session")
def junit() -> Callable[..., Report]:
    """Read JUnit XML given as text or bytes."""

    def reader(text: str | bytes, **more: object) -> Report:
        return read(text if isinstance(text, bytes) else text.encode(), "report.xml", **more)

    return reader


@pytest.fixture(scope="session")
def one(junit: Callable[..., Report]) -> Callable[..., NodeRecord]:
    """Read the one record of the one case, in a suite called `s`."""

    def reader(case: str) -> NodeRecord:
        (record,) = junit(f'<testsuite name="s">{case}</testsuite>').records
        return record

    return reader
