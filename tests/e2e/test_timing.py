"""Timing-sensitive tests by marker: they count only from a lane that the policy trusts for them (contract T8)."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import admit.policy

if TYPE_CHECKING:
    from conftest import Repository

SPEED = "import pytest\n\n\n@pytest.mark.speed\ndef test_speed():\n    pass\n"


@pytest.fixture
def base(bare: Repository) -> Repository:
    assert bare.admit("init").returncode == 0
    settings = (bare.root / "admit.toml").read_text()
    settings = settings.replace("[gates]\n", '[gates]\ntiming_markers = ["speed"]\n')
    bare.write("admit.toml", re.sub("(?m)^router = .*", 'router = "own.toml"', settings))
    shipped = (Path(admit.policy.__file__).parent / "router.toml").read_text()
    bare.write("own.toml", f'{shipped}\n[trust]\ntiming_lanes = ["metal"]\n')
    bare.write("tests/test_speed.py", SPEED)
    bare.write(
        "pyproject.toml", '[tool.pytest.ini_options]\npythonpath = ["."]\nmarkers = ["speed: how long it takes"]\n'
    )
    bare.commit("base")
    bare.git("checkout", "-q", "-b", "patch")
    bare.write("shop.py", (bare.root / "shop.py").read_text() + "\n")
    bare.commit()
    return bare


def held(repository: Repository) -> dict[str, str]:
    decision = json.loads((repository.root / ".admit" / "decision.json").read_text())
    return {one["node"]: one["record"]["why"] for gate in decision["gates"] for one in gate["nodes"]}


@pytest.mark.parametrize("more", [(), ("-n2",)], ids=["alone", "in workers"])
def test_elsewhere_it_gives_no_verdict_and_on_its_lane_it_does(base: Repository, more: tuple[str, ...]) -> None:
    command = base.pytest(*more)
    assert base.admit("run", "--base", "main", *command).returncode == 2
    assert held(base) == {"tests/test_speed.py::test_speed": "uncontrolled_lane"}
    assert base.admit("run", "--base", "main", "--lane", "metal", *command).returncode == 0


def test_a_patch_that_takes_the_marker_off_is_judged_by_the_bases_form(base: Repository) -> None:
    base.write("tests/test_speed.py", SPEED.replace("@pytest.mark.speed\n", ""))
    base.commit()
    assert base.admit("run", "--base", "main", *base.pytest()).returncode == 2
    assert held(base) == {"tests/test_speed.py::test_speed": "uncontrolled_lane"}


def test_in_place_the_marker_is_seen_as_well(base: Repository) -> None:
    assert base.admit("run", *base.pytest()).returncode == 2
    assert held(base) == {"tests/test_speed.py::test_speed": "uncontrolled_lane"}
