"""Samples of evidence that several tests share: built, never canned."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import pytest

from admit.core.records import Closing, NodeRecord, Opening
from admit.evidence import wire
from admit.evidence.fold import fold_blocks
from admit.evidence.strict import LIMITS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from admit.core.records import Document

OPENING = Opening("property_check", "pr-7", "a" * 40, "b" * 40, "pytest", "9.2.0", "run-1", "nonce-1")


def _sealed(lines: Iterable[bytes], *, count: int, ended: str = "finished") -> bytes:
    body = b"".join(lines)
    digest = "sha256:" + hashlib.sha256(body).hexdigest()
    return body + wire.closing_line(Closing(count, ended, 0, None, "launcher", digest))  # type: ignore[arg-type]


def _document(
    records: Sequence[NodeRecord],
    *,
    plan: Sequence[str] = (),
    finish: wire.Finish | None = None,
    ended: str = "finished",
) -> bytes:
    lines = [wire.opening_line(OPENING), *wire.plan_lines(plan)]
    lines += [wire.node_line(OPENING.gate, record) for record in records]
    lines += [wire.finish_line(finish)] if finish else []
    return _sealed(lines, count=len(records), ended=ended)


def _fold(raw: bytes) -> Document:
    end = raw.rfind(b"\n") + 1
    return fold_blocks([part for part in (raw[:end], raw[end:]) if part], "doc", limits=LIMITS)


def _passed(node: str, **keys: object) -> NodeRecord:
    return NodeRecord(node, "pass", "match", "stable")._replace(**keys)


def _json_line(**keys: object) -> bytes:
    return json.dumps(keys).encode() + b"\n"


@pytest.fixture(scope="session")
def opening() -> Opening:
    """Return the opening of every sample document."""
    return OPENING


@pytest.fixture(scope="session")
def sealed() -> Callable[..., bytes]:
    """Return a function that puts a right closing record under any lines."""
    return _sealed


@pytest.fixture(scope="session")
def document() -> Callable[..., bytes]:
    """Return a function that writes a whole document."""
    return _document


@pytest.fixture(scope="session")
def fold() -> Callable[[bytes], Document]:
    """Return a function that reads the bytes of a document."""
    return _fold


@pytest.fixture(scope="session")
def passed() -> Callable[..., NodeRecord]:
    """Return a function that makes a plain pass, or what is replaced in it."""
    return _passed


@pytest.fixture(scope="session")
def json_line() -> Callable[..., bytes]:
    """Return a function that writes a line as a person would, with blanks."""
    return _json_line
