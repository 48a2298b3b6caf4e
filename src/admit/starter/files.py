"""The files that `admit init` writes: configuration, and a router for a repository without property tests."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from admit.starter.look import Findings

POLICY_FILE: Final = "admit.policy.toml"
"""Where a repository keeps a router of its own."""

WAIVED: Final = "this repository has no property tests yet; when it has, delete this file and require the gate"


def config_text(findings: Findings, *, router: str) -> str:
    """Return a commented configuration for what was found."""
    paths = "".join(f"    {json.dumps(glob)},\n" for glob in findings.pinned)
    return f"""\
# What admit does in this repository. A control file: it changes in review, in a commit of its own.

[policy]
# `router` as shipped, or a file: `admit policy show` prints it, `admit policy verify` proves what it promises.
router = {json.dumps(router)}

[run]
# The test command, for `admit abstain write` and whoever else has to run the tests without being told how.
command = ["python", "-m", "pytest"]
timeout_s = 3600

[gates]
# Hypothesis tests are property tests by themselves; these make others so.
property_markers = ["property"]
property_paths = []

[hypothesis]
# What property tests run under, pinned in admit.lock. Another seed is drift.
seed = 0
max_examples = 100

# Files that tests read, pinned by digest in admit.sha256 (`sha256sum -c admit.sha256` works too).
# `nodes` ties a set to the tests that use it; without it a set ties to every test.
[lock.sets.fixtures]
paths = [
{paths}]

[freeze]
# How far ahead a freeze of a flaky test may end.
horizon_days = 30
"""


FREEZES: Final = """\
# Tests whose verdict does not count for now. Each entry is one test, has an owner, a reason, and an end:
#   admit freeze add NODE --reason TEXT --owner NAME --expires 2026-12-20T00:00:00Z
# A freeze that has expired blocks again by itself.
"""

ABSTENTIONS: Final = """\
# Tests that by design give no verdict here (a platform skip, an expected failure), each with its exact reason.
# `admit abstain write` proposes them from a run; a person reviews them. Whatever else does not run holds the patch.
"""


def waived_router(router_toml: str, gate: str = "property_check") -> str:
    """Return the shipped router without one gate, which the policy waives in words (contract R7).

    Works on the text of a policy that ships with the package, block by block, so that its comments stay.
    """
    blocks = [block for block in router_toml.split("\n\n") if not _speaks_of(block, gate)]
    text = "\n\n".join(blocks).replace(f'"{gate}", ', "").replace(f', "{gate}"', "")
    text = text.replace('name = "router"', f'name = "router without {gate}"', 1)
    first = text.index("\n[[signal]]") + 1
    waiver = f"# Not required here, and so not a signal: why.\n[waived]\n{gate} = {json.dumps(WAIVED)}\n\n"
    return text[:first] + waiver + text[first:]


def _speaks_of(block: str, gate: str) -> bool:
    table = block.rpartition("[[")[1:]
    return table[0] == "[[" and table[1].startswith(("signal]]", "rule]]")) and gate in table[1]


def ignore_lines(present: frozenset[str]) -> tuple[str, ...]:
    """Return the lines that `.gitignore` still needs, so that running the tests leaves no uncommitted file behind."""
    return tuple(line for line in (".admit/", "__pycache__/", ".pytest_cache/", ".hypothesis/") if line not in present)
