"""A small repository with pinned files, and what tests do to it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, ClassVar

import pytest

from admit.lock.check import check, read_lock_files
from admit.lock.pinned import InForce, PinnedSet, instrument
from admit.lock.report import LockReport
from admit.lock.write import write


class Repository:
    """A folder with pinned files in it."""

    profile: ClassVar[dict[str, Any]] = {
        "max_examples": 100,
        "deadline": None,
        "phases": ("explicit", "generate"),
        "derandomize": False,
    }
    versions: ClassVar[dict[str, str]] = {"hypothesis": "6.170.17", "pytest": "9.2.0"}

    def __init__(self, root: Path) -> None:
        self.root = root

    def __truediv__(self, name: str) -> Path:
        return self.root / name

    def put(self, name: str, content: bytes = b"", mode: int = 0o644) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(mode)
        return path

    def pin(self, *sets: PinnedSet) -> None:
        write(
            str(self.root),
            sets or (PinnedSet("fixtures", ("data/**",)),),
            instrument=instrument(7, self.profile, self.versions),
        )

    def check(self, in_force: InForce | None = None) -> LockReport:
        return check(str(self.root), read_lock_files(str(self.root)), in_force=in_force)

    def kinds(self) -> list[tuple[str, str]]:
        """Return the kind and path of each difference, the invariant checked on the way: none, and only then match."""
        report = self.check()
        assert (report.state == "match") is (report.differences == ())
        return [(one.kind, one.path) for one in report.differences]


@pytest.fixture(scope="session")
def repository_at() -> type[Repository]:
    """Return how to make a repository of any folder."""
    return Repository


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """Return an unpinned repository: data/a.txt, data/b.bin, data/in/c.txt, data/run.sh (executable)."""
    made = Repository(tmp_path / "repository")
    made.put("data/a.txt", b"one\ntwo\n")
    made.put("data/b.bin", bytes(range(256)) * 40)
    made.put("data/in/c.txt", b"sea\n")
    made.put("data/run.sh", b"#!/bin/sh\n", 0o755)
    made.put("other.txt", b"not pinned\n")
    return made


@pytest.fixture
def pinned(repository: Repository) -> Repository:
    """Return the repository with everything in data/ pinned."""
    repository.pin()
    return repository


@pytest.fixture
def as_nobody(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], AbstractContextManager[None]]:
    """Return a context in which permissions count, whoever runs the tests; it works in the folder that it is given."""

    @contextmanager
    def inside(folder: Path) -> Iterator[None]:
        monkeypatch.chdir(folder)
        if os.geteuid() != 0:
            yield
            return
        os.seteuid(65534)
        try:
            yield
        finally:
            os.seteuid(0)

    return inside
