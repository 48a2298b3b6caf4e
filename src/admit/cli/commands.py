"""The table of commands: parser, help and reference pages derive from it."""

from __future__ import annotations

from typing import Final, NamedTuple


class Command(NamedTuple):
    """One row: its name, one sentence on what it does, an example that works, its module in `admit.cli`."""

    name: str
    help: str
    example: str
    module: str


COMMANDS: Final[tuple[Command, ...]] = (
    Command(
        "init",
        "Look at a repository and write what admit needs to stand in front of its merge button.",
        "admit init",
        "init",
    ),
    Command("run", "Run the tests, leave the gates' evidence, then decide.", "admit run -- python -m pytest", "run"),
    Command("decide", "Decide on the evidence in a folder.", "admit decide .admit/evidence --patch pr-1841", "decide"),
    Command(
        "explain",
        "Say why a decision, or one node of it, came out as it did.",
        "admit explain .admit/decision.json tests/test_a.py::test_x",
        "explain",
    ),
    Command("route", "Rule on one patch from gate states in JSON.", "admit route --evidence evidence.json", "route"),
    Command(
        "arbitrate", "Rule on nodes from records in JSON or JSON Lines.", "admit arbitrate records.jsonl", "arbitrate"
    ),
    Command(
        "collect",
        "Turn another tool's report into evidence.",
        "admit collect junit report.xml --gate fixture_check",
        "collect",
    ),
    Command("lock", "Pin what the tests read, and check that it has not moved.", "admit lock check", "lock"),
    Command("freeze", "Declare, list and end freezes of flaky tests.", "admit freeze list", "freeze"),
    Command("abstain", "Declare the nodes that by design give no verdict here.", "admit abstain write", "abstain"),
    Command(
        "policy",
        "Show a policy, prove what it promises, test it against a table of cases.",
        "admit policy verify router",
        "policy",
    ),
    Command(
        "keys",
        "Make the keys that sign evidence, decisions and approvals, and show how a policy names them.",
        "admit keys new ana",
        "keys",
    ),
    Command(
        "sign",
        "Sign sealed evidence documents, or a decision.",
        "admit sign .admit/evidence/fixture_check.*.jsonl --key ci.key",
        "sign",
    ),
    Command(
        "verify",
        "Check documents, or a decision, against their signatures.",
        "admit verify .admit/evidence/fixture_check.*.jsonl --key ci.pub",
        "verify",
    ),
    Command(
        "approve",
        "Approve, as a reviewer, exactly what a patch changes in files under review or in tests.",
        'admit approve --base main --control --reason "repin after the schema change" --key ana.key',
        "approve",
    ),
    Command(
        "prove",
        "Run tests on a patch and on its parent, and say whether they tell the two apart.",
        "admit prove tests/test_a.py::test_x --parent main",
        "prove",
    ),
    Command("scope", "Say which tests the patch reaches, and why.", "admit scope --base main", "scope"),
    Command("log", "Show the last decisions from the ledger.", "admit log", "log"),
)
