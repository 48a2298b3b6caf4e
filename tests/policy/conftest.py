"""Small policies for the tests of this room."""

from __future__ import annotations

from pathlib import Path

import pytest

SAMPLES = Path(__file__).with_name("samples")


@pytest.fixture
def patch_policy():
    """Return a patch policy of two gates with 16 combinations, as text."""
    return (SAMPLES / "two-gates.toml").read_text(encoding="utf-8")


@pytest.fixture
def node_policy():
    """Return a node policy of two signals with 12 combinations, two of them clean, as text."""
    return (SAMPLES / "one-node.toml").read_text(encoding="utf-8")
