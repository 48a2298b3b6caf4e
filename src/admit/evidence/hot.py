"""From the bytes of a patch document to the bytes of its decision, for callers that decide many (contract E1)."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, Literal

from admit.evidence.patch import read_patch
from admit.evidence.strict import LIMITS, Limits

if TYPE_CHECKING:
    from collections.abc import Callable

    from admit.core.ladder import Ladder, Rule

QUOTES_A_KEY: Final = 4
"""Quote characters that a key with a string value takes: two around each."""


def patch_decider(
    ladder: Ladder, answer: Callable[[Rule], bytes], *, limits: Limits = LIMITS
) -> Callable[[bytes, str], bytes]:
    """Return a function from a patch document and its name to the answer that its rule gives.

    The function decodes with a typed decoder, which refuses unknown keys, unknown words and wrong types but lets a key
    stand twice. So it counts quote characters: a document that names each key once has four a key; whatever has another
    number (a key twice, a gate left out, a quote escaped in a value) is read by `read_patch`, as is whatever the typed
    decoder refuses. Both accept the same documents and give the same answers.

    Args:
        ladder: rules on the gates, one signal a gate.
        answer: the bytes for a rule, made once a rule's combination.
        limits: what is too large.

    Raises:
        EvidenceError: (the function returned) as `read_patch`.
    """
    from msgspec import DecodeError

    gates = {signal.name: signal.states for signal in ladder.signals}
    names = tuple(gates)
    decode, states_of = _typed(gates)
    answers = _Answers(ladder, answer)
    quotes = QUOTES_A_KEY * (1 + len(names))
    most = min(limits.string_chars, limits.value_bytes)

    def decide(raw: bytes, where: str) -> bytes:
        if raw.count(b'"') == quotes and len(raw) <= most:
            try:
                patch = decode(raw)
            except (DecodeError, RecursionError):
                pass  # the strict reader says what is wrong, or that nothing is
            else:
                if patch.patch_id:
                    return answers[states_of(patch)]
        states = read_patch(raw, where, gates=gates, limits=limits).states
        return answers[tuple([states[name] for name in names])]

    return decide


class _Answers(dict[tuple[str, ...], bytes]):
    """Combination to answer, filled as combinations are asked for."""

    __slots__ = ("_answer", "_ladder")

    def __init__(self, ladder: Ladder, answer: Callable[[Rule], bytes]) -> None:
        super().__init__()
        self._ladder, self._answer = ladder, answer

    def __missing__(self, states: tuple[str, ...]) -> bytes:
        found = self[states] = self._answer(self._ladder.decide(*states))
        return found


def _typed(gates: dict[str, tuple[str, ...]]) -> tuple[Callable[[bytes], Any], Callable[[Any], tuple[str, ...]]]:
    import msgspec

    # a gate's name need not be an identifier, so the fields are numbered and renamed
    columns = {f"gate_{number}": (name, Literal[states]) for number, (name, states) in enumerate(gates.items())}
    kind = msgspec.defstruct(
        "TypedPatch",
        [("patch_id", str), *((column, words) for column, (_, words) in columns.items())],
        rename={column: name for column, (name, _) in columns.items()},
        forbid_unknown_fields=True,
        gc=False,
    )
    decode: Callable[[bytes], Any] = msgspec.json.Decoder(kind).decode
    if len(columns) == 1:  # attrgetter of one name gives no tuple
        (only,) = columns
        return decode, lambda patch: (getattr(patch, only),)
    return decode, attrgetter(*columns)
