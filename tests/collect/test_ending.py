"""How a run ended, from its reports and its exit code: two channels that have to agree (contract E9)."""

from __future__ import annotations

import pytest

from admit.collect.report import Report, ending, shortened

GREEN = Report("green.xml", ())
RED = Report("red.xml", (), failing=2)
FLAKY = Report("flaky.xml", (), flaky=1)
CUT = Report("cut.xml", (), cut="not well-formed at line 3")
ODD = Report("odd.xml", (), problems=("counts 3 tests and lists 2",))


@pytest.mark.parametrize(
    ("reports", "exit_code", "ended", "signal"),
    [
        pytest.param([GREEN], None, "finished", None, id="no exit code given"),
        pytest.param([RED], None, "finished", None, id="failures, no exit code given"),
        pytest.param([GREEN], 0, "finished", None, id="green and 0"),
        pytest.param([RED], 1, "finished", None, id="failures and 1"),
        pytest.param([GREEN, RED], 101, "finished", None, id="failures in one of two files"),
        pytest.param([RED], 0, "exit_disagrees", None, id="failures and 0"),
        pytest.param([GREEN], 1, "exit_disagrees", None, id="green and 1"),
        pytest.param([GREEN], 255, "exit_disagrees", None, id="green and 255"),
        pytest.param([FLAKY], 0, "finished", None, id="a flake that the runner forgives"),
        pytest.param([FLAKY], 1, "finished", None, id="a flake that it does not"),
        pytest.param([], 0, "finished", None, id="no report at all is for the caller to refuse"),
        pytest.param([CUT], None, "crashed", None, id="a report breaks off"),
        pytest.param([GREEN, CUT], 0, "crashed", None, id="one of two breaks off"),
        pytest.param([CUT], 1, "crashed", None, id="breaks off, and 1: nothing contradicts"),
        pytest.param([ODD], None, "exit_disagrees", None, id="counts contradict"),
        pytest.param([GREEN, ODD], 0, "exit_disagrees", None, id="counts contradict in one of two"),
        pytest.param(
            [ODD, CUT], None, "exit_disagrees", None, id="a later attempt fills a loss, never a contradiction"
        ),
        pytest.param([ODD], 137, "exit_disagrees", 9, id="counts contradict, and killed"),
        pytest.param([RED], 137, "crashed", 9, id="killed, by a shell's code"),
        pytest.param([RED], -9, "crashed", 9, id="killed, by subprocess' code"),
        pytest.param([GREEN], 139, "crashed", 11, id="a segmentation fault"),
        pytest.param([RED], 124, "timeout", None, id="timeout(1)"),
        pytest.param([GREEN], 124, "timeout", None, id="timeout(1), nothing listed"),
        pytest.param([GREEN], 127, "crashed", None, id="no such command"),
        pytest.param([GREEN], 126, "crashed", None, id="not executable"),
        pytest.param([RED], 125, "crashed", None, id="timeout(1) itself failed"),
        pytest.param([RED], 200, "finished", None, id="Mocha counts failures in its exit code"),
    ],
)
def test_a_run_ended_as_its_reports_and_its_exit_code_say(reports, exit_code, ended, signal) -> None:
    how = ending(reports, exit_code)
    assert (how.ended, how.signal) == (ended, signal)
    assert bool(how.why) is (ended != "finished")


def test_the_order_of_files_does_not_matter() -> None:
    assert ending([ODD, CUT, RED], 0).ended == ending([RED, CUT, ODD], 0).ended


def test_a_cut_text_says_how_long_it_was_and_stays_different() -> None:
    assert shortened("x" * 10, 10) == "x" * 10
    a, b = shortened("x" * 11 + "a", 10), shortened("x" * 11 + "b", 10)
    assert a.startswith("x" * 10 + "… (12 characters, sha256:")
    assert a != b
