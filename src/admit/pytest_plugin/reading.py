"""What one pytest report says of its node: a check, why, and a short reason (the table of the recorder's page)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from admit.pytest_plugin.exceptions import (
    counterexample_of,
    hypothesis_why,
    is_timeout,
    line_of,
    one_line,
    reproduce_of,
    safe_text,
)

if TYPE_CHECKING:
    from admit.core.signals import CheckState, Why

ATTRIBUTE: Final = "admit"
"""The report attribute that carries what only the process that ran the test can see; its values are plain JSON."""


class Reading(NamedTuple):
    """What one report says that is not a plain pass."""

    check: CheckState
    why: Why | None
    message: str
    counterexample: str = ""
    reproduce: str = ""


class PropertyRun(NamedTuple):
    """What was in force while a Hypothesis test ran, and what ran; `valid` is None where it could not be counted.

    `drift` says how what was in force differs from what the gate asked for; `overrides` which settings the test itself
    sets otherwise than the gate's profile.
    """

    seed: int | str | None
    ran: int
    valid: int | None
    max: int
    drift: str
    overrides: str


_MILD: Final[frozenset[Why | None]] = frozenset({"skip", "xfail", "xpass", "no_cases", "vacuous"})


def severity(reading: Reading | None) -> int:
    """Return how bad a reading is: fail, a broken run, an abstention, nothing to say."""
    if reading is None:
        return 0
    if reading.check == "fail":
        return 3
    return 1 if reading.why in _MILD else 2


def worse(a: Reading | None, b: Reading | None) -> Reading | None:
    """Return the worse of two readings, the first where they are as bad as each other."""
    return b if severity(b) > severity(a) else a


def reading_of(report: Any, error: BaseException | None, *, is_property: bool) -> Reading | None:
    """Return what a report says, with the exception at hand; None for a plain pass (contract E8).

    A superseded report (outcome `rerun`) is read like the failure that it was.

    Args:
        report: pytest's report of one phase of one node.
        error: what the phase raised, as pytest saw it, or None.
        is_property: whether the exception is Hypothesis's answer for a property.
    """
    if report.outcome == "passed":
        return _passed(report, error)
    if report.outcome == "skipped":
        return _skipped(report, error)
    return bare_reading(report) if error is None else failure_of(report.when, error, is_property=is_property)


def _passed(report: Any, error: BaseException | None) -> Reading | None:
    expected = getattr(report, "wasxfail", None)
    if expected is not None:
        return Reading("not_run", "xpass", safe_text(expected))
    if error is None:
        return None
    # some hook turned a failure into a pass; which of the two is true is not the recorder's to say
    return Reading("not_run", "conflict", f"the report says passed, and the test raised {line_of(error)}")


def _skipped(report: Any, error: BaseException | None) -> Reading:
    expected = getattr(report, "wasxfail", None)
    reason = getattr(error, "msg", None)
    if expected is not None:
        return Reading("not_run", "xfail", safe_text(reason if type(error).__name__ == "XFailed" else expected))
    text = safe_text(reason) if isinstance(reason, str) else skip_reason(report.longrepr)
    return Reading("not_run", "no_cases" if "told to run no test cases" in text else "skip", text)


def _broken_phase(when: str, message: str) -> Reading:
    if when == "setup":
        return Reading("not_run", "error_setup", message)
    if when == "teardown":
        # a fail if the call passed: what the test promises was not kept; the fold knows whether it did
        return Reading("fail", "error_teardown", message)
    return Reading("not_run", "crashed", message)  # xdist's report of a worker that died


def _raised(error: BaseException, *, is_property: bool) -> Reading:
    message = line_of(error)
    if not is_property:
        return Reading("fail", "xpass" if message == "Failed: Unexpected success" else None, message)
    why = hypothesis_why(error)
    return Reading("not_run" if why else "fail", why, message, counterexample_of(error), reproduce_of(error))


def failure_of(when: str, error: BaseException, *, is_property: bool) -> Reading:
    """Return what an exception says that failed a phase."""
    if is_timeout(error):
        return Reading("not_run", "timeout", line_of(error))
    return _raised(error, is_property=is_property) if when == "call" else _broken_phase(when, line_of(error))


def bare_reading(report: Any) -> Reading:
    """Return what a report says that nobody looked at while its exception was at hand."""
    text = report.longrepr if isinstance(report.longrepr, str) else _crash_line(report.longrepr)
    if report.outcome == "passed":
        return Reading("not_run", "xpass", safe_text(getattr(report, "wasxfail", "")))
    if report.outcome == "skipped":
        return _skipped(report, None)
    if text.startswith("[XPASS(strict)]"):
        return Reading("fail", "xpass", safe_text(text.removeprefix("[XPASS(strict)]").strip()))
    if report.when != "call":
        return _broken_phase(report.when, one_line(text))
    return Reading("fail", None, one_line(text))


def skip_reason(longrepr: object) -> str:
    """Return the reason of a skip, without file and line, from pytest's own triple."""
    text = longrepr[2] if isinstance(longrepr, tuple | list) and len(longrepr) == 3 else longrepr
    return safe_text(text).removeprefix("Skipped: ")


def collect_error(longrepr: object) -> str:
    """Return the line that says why a file could not be collected."""
    lines = safe_text(longrepr).splitlines()
    errors = [line[1:].strip() for line in lines if line.startswith("E ")]
    return one_line(errors[-1] if errors else next(iter(lines), "collection failed"))


def _crash_line(longrepr: object) -> str:
    crash = getattr(longrepr, "reprcrash", None)
    return str(getattr(crash, "message", longrepr))
