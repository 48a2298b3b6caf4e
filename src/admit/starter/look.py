"""Look at a repository: which files it has, whether it has property tests, what runs its tests."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING, Final, NamedTuple

from admit.starter.pins import pinned_globs

if TYPE_CHECKING:
    from pathlib import Path

_PROPERTY: Final = re.compile(
    rb"^\s*@(?:[\w.]+\.)?given\b|\bRuleBasedStateMachine\b|@\w+\.parametrize\(\)|@(?:pytest\.)?mark\.property\b",
    re.MULTILINE,
)
_LARGEST: Final = 4_000_000


class Findings(NamedTuple):
    """What a look at a repository found.

    `property_files` are test files that hold Hypothesis or schemathesis tests; `python_tests` counts Python test files.
    """

    files: int
    python_tests: int
    property_files: tuple[str, ...]
    pinned: tuple[str, ...]
    ignored: frozenset[str]


def look_at(root: Path, control: str) -> Findings:
    """Return what `root` holds: files that git knows or would not ignore, or every file outside of git."""
    names = _files(root)
    tests = [name for name in names if _is_python_test(name)]
    properties = tuple(name for name in tests if _has_property(root / name))
    ignored = frozenset(
        line for line in ("__pycache__/", ".pytest_cache/", ".hypothesis/", ".admit/") if _is_ignored(root, line)
    )
    return Findings(len(names), len(tests), properties, pinned_globs(names, control), ignored)


def _files(root: Path) -> list[str]:
    done = subprocess.run(  # a fixed program, no shell
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        capture_output=True,
        check=False,
    )
    if done.returncode == 0:
        return sorted(name for name in done.stdout.decode("utf-8", "surrogateescape").split("\0") if name)
    hidden = {".git", ".venv", "venv", "node_modules", "__pycache__", ".tox", ".admit"}
    found = (path.relative_to(root) for path in root.rglob("*") if path.is_file())
    return sorted(path.as_posix() for path in found if hidden.isdisjoint(path.parts))


def _is_ignored(root: Path, line: str) -> bool:
    probe = line + "x"
    command = ["git", "check-ignore", "-q", probe]
    done = subprocess.run(command, cwd=root, capture_output=True, check=False)  # noqa: S603 - a fixed program, no shell
    return done.returncode == 0


def _is_python_test(name: str) -> bool:
    stem = name.rpartition("/")[2]
    in_tests = any(part in {"tests", "test", "testing"} for part in name.split("/")[:-1])
    return stem.endswith(".py") and (stem.startswith("test") or stem.endswith("_test.py") or in_tests)


def _has_property(path: Path) -> bool:
    try:
        with path.open("rb") as stream:
            return _PROPERTY.search(stream.read(_LARGEST)) is not None
    except OSError:
        return True  # a test file that cannot be read: require the gate rather than waive it
