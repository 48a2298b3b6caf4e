"""Which nodes a session calls timing-sensitive, by the markers that it is told (contract T8)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.pytest_plugin.conftest import Project

    from admit.core.context import RunContext

MARKED = """
    import pytest
    from hypothesis import given, strategies as st

    @pytest.mark.speed
    def test_marked(): pass
    @pytest.mark.load(3)
    class TestLoad:
        def test_inside(self): assert 0
    @pytest.mark.parametrize("n", [1, pytest.param(2, marks=pytest.mark.speed)])
    def test_case(n): pass
    @pytest.mark.speed
    @given(st.integers())
    def test_law(n): pass
    @pytest.mark.speed
    def test_left_out(): pass
    @pytest.mark.speed
    @given(st.integers())
    def test_law_left_out(n): pass
    @pytest.mark.slow
    def test_slow(): pass
    def test_plain(): pass
"""
TIMING = {f"test_a.py::{name}" for name in ("test_marked", "TestLoad::test_inside", "test_case[2]")}
LAW, OUT, LAW_OUT = (f"test_a.py::{name}" for name in ("test_law", "test_left_out", "test_law_left_out"))


@pytest.mark.parametrize("more", [(), ("-n2",)], ids=["alone", "in workers"])
def test_marked_nodes_are_named_those_that_will_not_run_as_well(
    project: Project, context: Callable[..., RunContext], more: tuple[str, ...]
) -> None:
    project.write("pytest.ini", "[pytest]\nmarkers =\n  speed\n  load\n  slow\n")
    project.write("test_a.py", MARKED)
    session = project.run(
        "-q",
        "-knot left_out",
        *more,
        plugins=("xdist", "xdist.looponfail") if more else (),
        context=context(timing_markers=("speed", "load")),
    )
    for gate, there in (("fixture_check", {*TIMING, OUT}), ("property_check", {LAW, LAW_OUT})):
        document = session.document(gate)
        assert document.timing & document.codes.keys() == there
        assert document.timing == {*TIMING, LAW, OUT, LAW_OUT}


def test_without_such_markers_nothing_is_written_of_it(project: Project) -> None:
    project.write("pytest.ini", "[pytest]\nmarkers =\n  speed\n  load\n  slow\n")
    project.write("test_a.py", MARKED)
    session = project.run("-q")
    assert {line["record"] for line in session.lines("fixture_check")} == {
        "opening",
        "plan",
        "node",
        "finish",
        "closing",
    }


def test_a_whole_module_can_be_marked_in_the_configuration_of_its_folder(
    project: Project, context: Callable[..., RunContext]
) -> None:
    project.write("pytest.ini", "[pytest]\nmarkers = speed\n")
    project.write(
        "slow/conftest.py",
        "import pytest\ndef pytest_collection_modifyitems(items):\n    for item in items:\n"
        "        item.add_marker(pytest.mark.speed)\n",
    )
    project.write("slow/test_b.py", "def test_b(): pass\n")
    session = project.run("-q", context=context(timing_markers=("speed",)))
    assert session.document("fixture_check").timing == {"slow/test_b.py::test_b"}
