"""Replay counterexamples on the base: does what failed on the patch fail here, too (contract T7)?"""

from __future__ import annotations

import ast
import contextlib
from typing import TYPE_CHECKING, Any, Final

import pytest

from admit.pytest_plugin.collection import is_hypothesis_item
from admit.pytest_plugin.property_watch import REPLAYED

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping

_ATTRIBUTE: Final = "_hypothesis_internal_use_reproduce_failure"
_PASSED: Final = "Expected the test to raise an error, but it completed successfully."
"""What Hypothesis says of a counterexample that ran whole and did not fail; whatever else it says is no answer."""

_KEPT: Final = "_excinfo"
_FORGIVEN: Final = "_admit_replayed"


class Replay:
    """The pytest plugin that runs a property on the inputs of its counterexamples alone.

    It passes only where every one of them ran whole and none failed; one that does not fit the test, or this version of
    Hypothesis, gives no verdict.

    Args:
        texts: by node id as pytest has it, the decorators that a record holds under `reproduce`, one a line.
    """

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Run the counterexamples, innermost, where everything else that Hypothesis needs is in place."""
        text = self._texts.get(item.nodeid)
        if text is None:
            return (yield)
        if not is_hypothesis_item(item):
            pytest.skip("no counterexample can be replayed: not a test of Hypothesis")
        first, *others = _blobs(text)
        if others and hasattr(item, _KEPT):
            raise _no_answer("several counterexamples of a TestCase")
        result = None
        with _replaying(item, first):
            try:
                result = yield
            finally:
                _forgive(item)
        for blob in others:
            with _replaying(item, blob):
                item.runtest()
        if not getattr(item, _KEPT, None):
            item.stash[REPLAYED] = 1 + len(others)
        return result


def parsed(text: str) -> list[tuple[str, bytes]]:
    """Return version and blob of each decorator in a text; nothing else may stand there.

    Raises:
        ValueError: something else does.
    """
    return [_decorator(line) for line in text.splitlines()]


def _decorator(line: str) -> tuple[str, bytes]:
    try:
        call = ast.parse(line.removeprefix("@"), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise ValueError("not a decorator") from error
    match call:
        case ast.Call(
            func=ast.Name(id="reproduce_failure"),
            args=[ast.Constant(value=str(version)), ast.Constant(value=bytes(blob))],
            keywords=[],
        ) if line.startswith("@"):
            return version, blob
        case _:
            raise ValueError("not a decorator that Hypothesis prints")


def _blobs(text: str) -> list[tuple[str, bytes]]:
    import hypothesis

    try:
        from hypothesis.core import decode_failure

        blobs = parsed(text)
        for version, blob in blobs:
            if version != hypothesis.__version__:
                raise ValueError(f"it is of Hypothesis {version}, this is {hypothesis.__version__}")
            decode_failure(blob)
    except Exception as error:  # also a Hypothesis of another shape: whatever it is, it is no failure of the test
        raise _no_answer(str(error)) from error
    if not blobs:
        raise _no_answer("there is none")
    return blobs


def _no_answer(why: str) -> Exception:
    from hypothesis.errors import DidNotReproduce

    return DidNotReproduce(f"the counterexample cannot be replayed: {why}")


@contextlib.contextmanager
def _replaying(item: pytest.Item, blob: tuple[str, bytes]) -> Iterator[None]:
    """Let Hypothesis run a test on one blob; come back only from one that ran whole and did not fail."""
    from hypothesis.errors import DidNotReproduce

    holder = _holder(item)
    before = getattr(holder, _ATTRIBUTE, None)
    setattr(holder, _ATTRIBUTE, blob)
    try:
        with _inputs() as seen:
            yield
        if vars(item).pop(_FORGIVEN, None) is None:
            if getattr(item, _KEPT, None):
                return  # a TestCase that failed says so later
            raise _no_answer("the test came back without an answer")  # Hypothesis always raises here
    except DidNotReproduce as error:
        if str(error) != _PASSED:
            raise
    finally:
        setattr(holder, _ATTRIBUTE, before)
    _check_whole(seen)


@contextlib.contextmanager
def _inputs() -> Iterator[list[tuple[Any, int]]]:
    """Keep what Hypothesis replays, and of how many choices it is made."""
    from hypothesis.internal.conjecture.data import ConjectureData

    real: Any = vars(ConjectureData).get("for_choices")
    if not isinstance(real, classmethod):
        raise _no_answer("this Hypothesis replays in another way")
    seen: list[tuple[Any, int]] = []

    def for_choices(cls: Any, /, choices: Any, **keys: Any) -> Any:
        replayed = real.__func__(cls, choices, **keys)
        seen.append((replayed, len(choices)))
        return replayed

    type.__setattr__(ConjectureData, "for_choices", classmethod(for_choices))
    try:
        yield seen
    finally:
        type.__setattr__(ConjectureData, "for_choices", real)


def _check_whole(seen: list[tuple[Any, int]]) -> None:
    """Refuse a replay that did not draw just what the counterexample holds.

    Hypothesis quietly draws something simple where a choice does not fit the strategy that asks for it.
    """
    replayed, length = seen[0] if seen else (None, 0)
    if getattr(replayed, "misaligned_at", seen) is not None or getattr(replayed, "index", None) != length:
        raise _no_answer("the test drew something else than the counterexample holds")


def _forgive(item: pytest.Item) -> None:
    """Take back what a TestCase keeps of a counterexample that did not fail; it keeps exceptions and raises none."""
    kept = getattr(item, _KEPT, None)
    if kept and len(kept) == 1 and type(kept[0].value).__name__ == "DidNotReproduce" and str(kept[0].value) == _PASSED:
        vars(item)[_KEPT] = None
        vars(item)[_FORGIVEN] = True


def _holder(item: pytest.Item) -> Any:
    """Return where Hypothesis looks for the blob: the function, or a state machine's class."""
    obj: Any = item.obj  # type: ignore[attr-defined]
    machine = getattr(obj, "_hypothesis_state_machine_class", None)
    return machine or getattr(obj, "__func__", obj)
