"""What a run is told: a gate's opening record repeats it, field by field."""

from __future__ import annotations

from admit.core.context import RunContext, opening_of
from admit.core.records import Opening


def test_an_opening_record_says_what_the_run_was_told_e3_e5():
    context = RunContext(
        patch_id="pr-1",
        head="a" * 40,
        base="b" * 40,
        dirty=True,
        run_id="run-7",
        nonce="n0",
        lane="gpu",
        shard=2,
        shards=3,
        attempt=4,
        property_markers=(),
        property_paths=(),
        lock="match",
        locked=(),
        fixture_manifest=None,
        seed=0,
        profile={},
        frozen={},
        register=(),
    )
    assert opening_of(context, "property_check", tool="pytest", tool_version="9") == Opening(
        gate="property_check",
        patch_id="pr-1",
        head="a" * 40,
        base="b" * 40,
        tool="pytest",
        tool_version="9",
        run_id="run-7",
        nonce="n0",
        lane="gpu",
        shard=2,
        shards=3,
        attempt=4,
        dirty=True,
    )
