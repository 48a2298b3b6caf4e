"""Which policies rule, of those that the files under review name."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from admit.settings import Settings
from admit.wiring.space import Workspace
from admit.wiring.trusted import provenance_arbiter

NOTHING_MERGES = (
    files("admit.policy")
    .joinpath("arbiter.toml")
    .read_text("utf-8")
    .replace('all = "clean"\noutcome = "ACCEPT"', 'when = { property_check = "pass" }\noutcome = "HOLD"')
)


def test_the_ladder_that_knows_provenance_rules_on_a_bases_evidence_2_3(tmp_path: Path) -> None:
    assert provenance_arbiter(Workspace(tmp_path, Settings(), True)).ladder.name == "trusted-arbiter"


def test_where_the_plain_arbiter_accepts_nothing_a_bases_evidence_makes_nothing_merge(tmp_path: Path) -> None:
    (tmp_path / "closed.toml").write_text(NOTHING_MERGES)
    space = Workspace(tmp_path, Settings({"policy.arbiter": "closed.toml"}), True)
    assert provenance_arbiter(space).source.endswith("closed.toml")
