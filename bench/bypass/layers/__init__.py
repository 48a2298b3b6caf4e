"""The cases, a file a layer."""

from __future__ import annotations

from layers import code, control, environment, evidence, fixtures, freezes, git, instrument, strength, tests
from layers.honest import HONEST

ATTACKS = {
    "tests": tests.ATTACKS,
    "instrument": instrument.ATTACKS,
    "evidence": evidence.ATTACKS,
    "control files": control.ATTACKS,
    "environment": environment.ATTACKS,
    "code under test": code.ATTACKS,
    "property strength": strength.ATTACKS,
    "fixtures": fixtures.ATTACKS,
    "freezes": freezes.ATTACKS,
    "git": git.ATTACKS,
}

__all__ = ["ATTACKS", "HONEST"]
