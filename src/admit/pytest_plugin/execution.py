"""One node's execution: phases, subtests and attempts folded into one record, the worst of them wins (contract U5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from admit.core.records import Examples, NodeRecord
from admit.pytest_plugin.reading import PropertyRun, Reading, worse

if TYPE_CHECKING:
    from admit.core.signals import FlakeState, LockState

SETUP: Final = 1
CALL: Final = 2
TEARDOWN: Final = 4
PASSED: Final = SETUP | CALL | TEARDOWN

PHASES: Final[dict[str, int]] = {"setup": SETUP, "call": CALL, "teardown": TEARDOWN}


class Standing(NamedTuple):
    """What the trusted files say of one node, whatever it shows: its lock and its freeze (contract L4, A6)."""

    lock: LockState
    flake: FlakeState
    expires: str | None


class Execution:
    """What was reported of one node so far.

    `bits` says which phases of the current attempt passed; `is_answered` that the attempt gave an answer of its own, so
    that its tear-down ends the node; `worst` is the worst reading of all attempts.
    """

    # defaults of the class: nearly every execution is three passes, and most of these are never changed
    bits = 0
    attempts = 0
    has_passed = False
    is_answered = False
    is_superseded = False
    worst: Reading | None = None
    property_run: PropertyRun | None = None

    def resume(self, bits: int) -> None:
        """Take over phases that plainly passed before there was anything else to say of the node."""
        self.bits |= bits
        self.attempts += bits & SETUP

    def passed(self, when: str) -> bool:
        """Take a phase that plainly passed; return whether the node is done."""
        bit = PHASES.get(when, 0)
        self.bits |= bit
        if bit == SETUP:
            self.attempts += 1
        return bit == TEARDOWN and self._end_attempt()

    def read(self, when: str, reading: Reading, *, is_superseded: bool = False) -> bool:
        """Take a phase, or a subtest of one, that says more than a pass; return whether the node is done.

        A superseded report (outcome `rerun`) is a full reading of its attempt, after which another attempt follows.
        """
        if when == "setup":
            self.attempts += 1
        if reading.why == "error_teardown" and reading.check == "fail" and not self.bits & CALL:
            reading = reading._replace(check="not_run")  # nothing had passed that the error could take back
        if reading.why == "xpass" and reading.check == "not_run":
            self.bits |= CALL
        self.worst = worse(self.worst, reading)
        self.is_answered = True
        self.is_superseded |= is_superseded
        return when == "teardown" and self._end_attempt()

    def hidden(self, reading: Reading | None, attempts: int) -> None:
        """Take the worst reading where the test ran, which was perhaps never reported, and the attempts there."""
        self.worst = worse(self.worst, reading)
        self.attempts = max(self.attempts, attempts)

    def _end_attempt(self) -> bool:
        has_passed = self.bits == PASSED and not self.is_answered
        is_done = (has_passed or self.is_answered) and not self.is_superseded
        self.has_passed |= has_passed
        if not is_done:  # another attempt follows
            self.bits, self.is_answered, self.is_superseded = 0, False, False
        return is_done

    @property
    def is_plain_pass(self) -> bool:
        """Return whether one attempt passed in all its phases and there is nothing else to say."""
        return self.worst is None and self.attempts == 1 and self.has_passed and self.property_run is None

    def record(self, node: str, standing: Standing, manifest: str | None) -> NodeRecord:
        """Return the node's record; an execution that was never done and shows nothing bad is no pass."""
        worst = self.worst
        if worst is None and not self.has_passed:
            worst = Reading("not_run", "never_ran", "the run ended before the node was done")
        record = NodeRecord(node, "pass", *standing, manifest, attempts=max(1, self.attempts))
        if worst is not None:
            record = record._replace(
                check=worst.check,
                why=worst.why,
                message=worst.message,
                counterexample=worst.counterexample,
                reproduce=worst.reproduce,
                flaky=worst.check == "fail" and self.has_passed,
            )
        return record if self.property_run is None else _with_property(record, self.property_run)


def _with_property(record: NodeRecord, run: PropertyRun) -> NodeRecord:
    says = [record.message] if record.message else []
    if run.drift:
        says.append(f"fixture lock drifted: {run.drift}")
    if run.overrides:
        says.append(f"settings of its own: {run.overrides}")
    return record._replace(
        seed=run.seed,
        message="; ".join(says),
        fixture_lock="drifted" if run.drift else record.fixture_lock,
        examples=None if run.valid is None else Examples(run.ran, run.valid, run.max),
    )
