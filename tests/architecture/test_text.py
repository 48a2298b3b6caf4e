"""What is tracked says nothing about the machine that it was written on, or where packages were taken from."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

# Each pattern is written so that it does not match itself.
REFUSED = [
    pytest.param(r"/wor[k]/\w|/roo[t]/\w|/op[t]/(?:wheels|pypi)|/tm[p]/(?:venv|brief)", id="a path of one machine"),
    pytest.param(r"https?://[^\s\"'<>]+/simpl[e]\b", id="a package index"),
    pytest.param(r"py[p]i\.org|python[h]osted\.org|registry\.npm[j]s", id="a registry's host"),
    pytest.param(r"[\"']resolve[d][\"']\s*:", id="a lock file's download address"),
    pytest.param(r"(?<![\w-])--(?:extra-)?inde[x]-url|(?<![\w-])--(?:trusted-[h]ost|find-link[s])", id="a pip source"),
]


@pytest.mark.parametrize("pattern", REFUSED)
def test_no_tracked_file_names(pattern: str, tracked: list[Path], root: Path) -> None:
    compiled = re.compile(pattern)
    found = []
    for path in tracked:
        for number, line in enumerate(path.read_text("utf-8", errors="replace").split("\n"), 1):
            if match := compiled.search(line):
                found.append(f"{path.relative_to(root)}:{number}: {match[0]}")
    assert tracked
    assert not found, "\n".join(found)


def test_no_name_of_a_tracked_file_needs_a_special_shell(tracked: list[Path], root: Path) -> None:
    odd = [str(path.relative_to(root)) for path in tracked if re.search(r"[^\w./+-]", str(path.relative_to(root)))]
    assert not odd
