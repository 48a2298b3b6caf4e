"""Take over a document that a test run sent: is it of this run, and did the run end (contract E3, T4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from admit.core.context import opening_of as opening_in
from admit.errors import EvidenceError
from admit.evidence.marks import opening_of
from admit.evidence.strict import LIMITS, read_object
from admit.evidence.wire import opening_line
from admit.evidence.write import survey

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    from admit.core.context import RunContext
    from admit.evidence.strict import Limits


def adopter(context: RunContext, *, nonce: str, limits: Limits = LIMITS) -> Callable[[bytes], tuple[str, bytes]]:
    """Return a function from an opening line to its gate and the line that is kept: with a nonce that no run knew.

    Args:
        context: what the run was told.
        nonce: what the kept documents hold in place of the run's own.
        limits: what is too large.

    Raises:
        EvidenceError: (the function returned) the line is no opening, or not one of this run.
    """

    def adopted(line: bytes) -> tuple[str, bytes]:
        found = opening_of(read_object(line, "opening", limits=limits), "opening")
        ours = opening_in(context, found.gate, tool="pytest", tool_version=found.tool_version)
        if found != ours:
            key = next(key for key in found._fields if getattr(found, key) != getattr(ours, key))
            raise EvidenceError("opening", f"its {key} is not this run's", do="it was sent by something else")
        return found.gate, opening_line(found._replace(nonce=nonce))

    return adopted


def has_finished(path: str | PathLike[str], *, limits: Limits = LIMITS) -> bool:
    """Return whether an unsealed document ends with the word of its run that it got to its end.

    Raises:
        EvidenceError: it is torn, or holds lines that no recorder writes.
    """
    finish = survey(path, limits=limits).finish
    return finish is not None and finish.ended == "finished"
