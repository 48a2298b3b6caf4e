"""How a run ended: what its parent saw against what it said."""

from __future__ import annotations

import pytest

from admit.launch.ending import Mark, run_ended

GREEN, RED, EMPTY = Mark(0, "finished"), Mark(1, "finished"), Mark(5, "finished")


@pytest.mark.parametrize(
    ("exit_code", "timed_out", "marks", "ended"),
    [
        pytest.param(0, False, [GREEN, GREEN], "finished", id="green and green"),
        pytest.param(1, False, [RED], "finished", id="red and red"),
        pytest.param(2, False, [RED], "finished", id="make turns a 1 into a 2"),
        pytest.param(5, False, [EMPTY], "finished", id="nothing collected"),
        pytest.param(0, False, [RED], "exit_disagrees", id="somebody swallowed the exit code"),
        pytest.param(0, False, [EMPTY], "exit_disagrees", id="somebody swallowed exit 5"),
        pytest.param(1, False, [GREEN], "exit_disagrees", id="red process, green session"),
        pytest.param(0, False, [GREEN, RED], "exit_disagrees", id="one of two sessions red, process green"),
        pytest.param(0, False, [GREEN, None], None, id="one session left no end mark: os._exit(0)"),
        pytest.param(None, False, [GREEN], None, id="ended by a signal"),
        pytest.param(0, True, [GREEN], None, id="killed at the time limit"),
        pytest.param(2, False, [Mark(2, "interrupted")], "interrupted", id="the session says interrupted"),
        pytest.param(0, False, [GREEN, Mark(0, "exit_disagrees")], "exit_disagrees", id="a session contradicts itself"),
    ],
)
def test_only_a_run_whose_exit_code_fits_what_it_recorded_is_finished_e9(
    exit_code: int | None, timed_out: bool, marks: list[Mark | None], ended: str | None
) -> None:
    assert run_ended(exit_code=exit_code, timed_out=timed_out, marks=marks) == ended
