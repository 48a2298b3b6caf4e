"""Everything that is installed is pinned by digest and is what the project asks for."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

FILES = ["runtime", "sign", "dev", "bench", "mutation", "lock"]
FROM_PROJECT = {"runtime", "sign"}


def pinned(path: Path) -> dict[str, tuple[str, int]]:
    """Return name → (version, number of digests) of a pinned file; any other line in it is an error."""
    found: dict[str, tuple[str, int]] = {}
    for entry in re.sub(r" \\\n", " ", path.read_text("utf-8")).splitlines():
        line = entry.split("#")[0].strip()
        if not line:
            continue
        match = re.fullmatch(r"([\w.-]+)==(\S+)(?: ; [^-]+)?((?:\s+--hash=sha256:[0-9a-f]{64})*)", line)
        assert match, f"{path.name}: {line[:80]}"
        found[canonicalize_name(match[1])] = (match[2], match[3].count("--hash"))
    return found


def asked(path: Path) -> list[Requirement]:
    lines = (line.split("#")[0].strip() for line in path.read_text("utf-8").splitlines())
    return [Requirement(line) for line in lines if line and not line.startswith("-")]


def check(requirements: list[Requirement], pins: dict[str, tuple[str, int]]) -> list[str]:
    """Return each requirement that the pins do not meet."""
    missing = (None, 0)
    met = [(r, pins.get(canonicalize_name(r.name), missing)[0]) for r in requirements]
    return [f"{r} is pinned at {version}" for r, version in met if version is None or version not in r.specifier]


def test_each_pinned_file_is_checked_here(tracked: list[Path], root: Path) -> None:
    pins = {str(path.relative_to(root)) for path in tracked if path.match("*requirements*/*.txt")}
    assert pins == {f"requirements/{name}.txt" for name in FILES}


@pytest.mark.parametrize("name", FILES)
def test_each_pin_has_digests(name: str, root: Path) -> None:
    pins = pinned(root / "requirements" / f"{name}.txt")
    assert pins
    assert [pin for pin, (_, digests) in pins.items() if not digests] == []


@pytest.mark.parametrize("name", [name for name in FILES if name not in FROM_PROJECT])
def test_the_pins_meet_what_is_asked_for(name: str, root: Path) -> None:
    folder = root / "requirements"
    assert check(asked(folder / f"{name}.in"), pinned(folder / f"{name}.txt")) == [], "run: make lock-deps"


def test_the_pins_meet_the_declared_dependencies(root: Path, project: dict[str, Any]) -> None:
    declared = [Requirement(line) for line in project["project"]["dependencies"]]
    pins = pinned(root / "requirements" / "runtime.txt")
    assert check(declared, pins) == [], "run: make lock-deps"
    assert len(pins) == len(declared), "a dependency brought others along: give them a line in docs/adr/0004"


def test_the_pins_meet_the_extra_for_signing(root: Path, project: dict[str, Any]) -> None:
    extras = project["project"]["optional-dependencies"]
    assert set(extras) == {"scope", "sign"}
    declared = [Requirement(line) for line in (*project["project"]["dependencies"], *extras["sign"])]
    pins = pinned(root / "requirements" / "sign.txt")
    assert check(declared, pins) == [], "run: make lock-deps"
    assert set(pins) - {requirement.name for requirement in declared} == {"cffi", "pycparser"}, (
        "the extra brings others along: give them a line in docs/adr/0009"
    )


def test_the_pins_of_the_tools_meet_the_extra_for_tracing(root: Path, project: dict[str, Any]) -> None:
    declared = [Requirement(line) for line in project["project"]["optional-dependencies"]["scope"]]
    assert check(declared, pinned(root / "requirements" / "dev.txt")) == [], "run: make lock-deps"


def test_one_release_is_pinned_everywhere(root: Path) -> None:
    dev = pinned(root / "requirements" / "dev.txt")
    for name in ("runtime", "sign", "bench", "mutation"):
        other = pinned(root / "requirements" / f"{name}.txt")
        assert {pin: (dev[pin], other[pin]) for pin in dev.keys() & other.keys() if dev[pin][0] != other[pin][0]} == {}
