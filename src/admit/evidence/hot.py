"""From the bytes of a patch document to the bytes of its decision, for callers that decide many (contract E1)."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from admit.core.ladder import EAGER
from admit.evidence.patch import read_patch
from admit.evidence.strict import LIMITS, Limits

if TYPE_CHECKING:
    from collections.abc import Callable

    from admit.core.ladder import Ladder, Rule

    Decide = Callable[[bytes, str], bytes]
    Answer = tuple[bytes, int]
    """What a combination is answered, and the length from which a document is no longer surely without a second key."""

LONGEST_ID: Final = 1000
"""Longest patch id, in characters, that the typed decoder takes; a longer one is the strict reader's."""

SMALL: Final = 4096
"""Where the limits refuse even a document of so many bytes, every document is the strict reader's."""


def patch_decider(ladder: Ladder, answer: Callable[[Rule], bytes], *, limits: Limits = LIMITS) -> Decide:
    """Return a function from a patch document and its name to the answer that its rule gives.

    The function decodes with a typed decoder, which refuses unknown keys, unknown words and wrong types but lets a key
    stand twice. A second key has a least length, so a document that is shorter than its own values written compactly
    plus that length holds each key once. Whatever is longer (a key twice, much white space) or was refused is read by
    `read_patch`. Both accept the same documents and give the same answers.

    Args:
        ladder: rules on the gates, one signal a gate.
        answer: the bytes for a rule.
        limits: what is too large.

    Raises:
        EvidenceError: (the function returned) as `read_patch`.
    """
    gates = {signal.name: signal.states for signal in ladder.signals}
    sized = _Sized(ladder, answer)

    def strict(raw: bytes, where: str) -> bytes:
        states = read_patch(raw, where, gates=gates, limits=limits).states
        return sized[tuple([states[gate] for gate in gates])][0]

    if min(limits.string_chars, limits.value_bytes) < SMALL or not limits.depth:
        return strict
    decode, errors = _typed(gates)
    if len(gates) == 3 and ladder.size <= EAGER:
        return _three_gates(decode, errors, sized, strict)
    return _any_gates(decode, errors, sized, strict)


def _any_gates(decode: Callable[[bytes], Any], errors: type[Exception], sized: _Sized, strict: Decide) -> Decide:
    states_of = attrgetter("patch_id", *(f"gate_{number}" for number in range(len(sized.ladder.signals))))

    def decide(raw: bytes, where: str) -> bytes:
        try:
            patch_id, *states = states_of(decode(raw))
        except errors:
            return strict(raw, where)
        found, length = sized[tuple(states)]
        return found if len(raw) - len(patch_id) < length else strict(raw, where)

    return decide


def _three_gates(decode: Callable[[bytes], Any], errors: type[Exception], sized: _Sized, strict: Decide) -> Decide:
    # the shipped router's number: three tables inside each other spare the tuple and its hash, a quarter of the time
    one, two, three = (signal.states for signal in sized.ladder.signals)
    table = {a: {b: {c: sized[a, b, c] for c in three} for b in two} for a in one}

    def decide(raw: bytes, where: str) -> bytes:
        try:
            patch = decode(raw)
        except errors:
            return strict(raw, where)
        found, length = table[patch.gate_0][patch.gate_1][patch.gate_2]
        return found if len(raw) - len(patch.patch_id) < length else strict(raw, where)

    return decide


class _Sized(dict[tuple[str, ...], "Answer"]):
    """Combination to its answer and its length, filled as combinations are asked for."""

    __slots__ = ("_answer", "_frame", "ladder")

    def __init__(self, ladder: Ladder, answer: Callable[[Rule], bytes]) -> None:
        super().__init__()
        self.ladder, self._answer = ladder, answer
        shortest = {"patch_id": "1", **{signal.name: min(signal.states, key=len) for signal in ladder.signals}}
        compact = len("{}") + sum(len(f'"{key}":"",') for key in shortest) - len(",")
        # every value of a key that stands twice is decoded, so the shortest second key there can be holds a known word
        self._frame = compact + min(len(f'"{key}":"{word}",') for key, word in shortest.items())

    def __missing__(self, states: tuple[str, ...]) -> Answer:
        found = self[states] = (self._answer(self.ladder.decide(*states)), self._frame + sum(map(len, states)))
        return found


def _typed(gates: dict[str, tuple[str, ...]]) -> tuple[Callable[[bytes], Any], type[Exception]]:
    import msgspec

    # a gate's name need not be an identifier, so the fields are numbered and renamed
    columns = {f"gate_{number}": (name, Literal[states]) for number, (name, states) in enumerate(gates.items())}
    kind = msgspec.defstruct(
        "TypedPatch",
        [
            ("patch_id", Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST_ID)]),
            *((column, words) for column, (_, words) in columns.items()),
        ],
        rename={column: name for column, (name, _) in columns.items()},
        forbid_unknown_fields=True,
        gc=False,
    )
    return msgspec.json.Decoder(kind).decode, msgspec.DecodeError
