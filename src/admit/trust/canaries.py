"""Canaries: tests whose outcome, and the reason for it, is known before the run (contract T4)."""

from __future__ import annotations

import ast
import hashlib
import re
from typing import TYPE_CHECKING, Final, NamedTuple

from admit.errors import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from admit.core.records import NodeRecord

CASES: Final = 25
"""Valid examples that the property which holds has to show."""


class _Secrets(NamedTuple):
    """What one canary's text and answer are made of; nobody knows them before the run's word is chosen."""

    name: str
    text: str
    number: int
    error: str


class _Kind(NamedTuple):
    """One canary: what it must do, its lines, and whether a record shows exactly that, for the planted reason."""

    label: str
    must: str
    lines: Callable[[_Secrets], str]
    shows: Callable[[_Secrets, NodeRecord], bool]
    is_property: bool = False


def file_stem(word: str) -> str:
    """Return the part of the planted file's name that no other file has."""
    return "p" + _hashed(word, "file")[:15]


def planted(word: str) -> tuple[str, ...]:
    """Return the names of the planted tests, in the order in which they stand in their file."""
    return tuple(_secrets(word, kind).name for kind in _KINDS)


def first(word: str) -> str:
    """Return the name of the canary that runs before every other test: it must fail, by a plain assertion."""
    return _secrets(word, _FIRST).name


def is_planted(word: str, node: str) -> bool:
    """Return whether a node id names a canary of this run, or the file that holds them."""
    return file_stem(word) in node.partition("::")[0].rpartition("/")[2]


def source(word: str) -> str:
    """Return the text of the planted file."""
    parts = [_HEAD.replace("CASES", str(CASES))]
    parts += [kind.lines(_secrets(word, kind)) for kind in _KINDS if not kind.is_property]
    parts.append(
        "if hypothesis is not None:\n    from hypothesis import HealthCheck, Phase, example, given, settings\n"
    )
    parts.append(f"    from hypothesis import strategies as st\n{_SETTINGS.replace('CASES', str(CASES))}")
    parts += [_indented(kind.lines(_secrets(word, kind))) for kind in _KINDS if kind.is_property]
    parts.append("else:\n")
    parts += [_indented(_absent(_secrets(word, kind))) for kind in _KINDS if kind.is_property]
    parts += [f"{name}.__test__ = True\n" for name in planted(word)]  # whatever names the configuration collects
    return "\n".join(parts)


def wrong(word: str, records: Mapping[str, NodeRecord]) -> str:
    """Return which canary did not do what it was planted to do, and what it did; empty where all did.

    Args:
        word: the run's word.
        records: every node record of one pytest session, of both gates, by node. Give each session by itself: one
            session's canaries say nothing of another's instrument.
    """
    seen: dict[str, list[NodeRecord]] = {}
    for node, record in records.items():
        if is_planted(word, node):
            seen.setdefault(node.rpartition("::")[2].partition("[")[0], []).append(record)
    # where no test imported Hypothesis, its canaries say so; where it ran for any other test, it was there
    has_run = any(record.examples is not None for record in records.values())
    lacks = all(_says_absent(_secrets(word, kind), seen) for kind in _KINDS if kind.is_property) and not has_run
    for kind in _KINDS:
        secrets = _secrets(word, kind)
        found = seen.pop(secrets.name, [])
        if not found:
            return f"the canary that must {kind.must} has no record"
        for record in found:
            if not (lacks and kind.is_property) and not kind.shows(secrets, record):
                return f"the canary that must {kind.must} gave {_shown(record)}"
    return f"the planted file holds {next(iter(seen))}, which was not planted" if seen else ""


def _shown(record: NodeRecord) -> str:
    why = f" ({record.why})" if record.why else ""
    what = "; ".join(part for part in (record.message, record.counterexample) if part)
    return one_line(f"{record.check}{why}" + (f": {what}" if what else ""), 400)


def _secrets(word: str, kind: _Kind) -> _Secrets:
    name, text, number, error = (_hashed(word, f"{kind.label}.{part}") for part in ("name", "text", "number", "error"))
    return _Secrets(f"test_{name[:12]}", text[:24], int(number[:12], 16), f"E{error[:10]}")


def _hashed(word: str, label: str) -> str:
    return hashlib.sha256(f"canary\0{word}\0{label}".encode()).hexdigest()


def _indented(text: str) -> str:
    return "".join(f"    {line}" if line.strip() else line for line in text.splitlines(keepends=True))


def _absent(secrets: _Secrets) -> str:
    return f'def {secrets.name}():\n    raise LookupError("{secrets.text}")\n'


def _says_absent(secrets: _Secrets, seen: Mapping[str, list[NodeRecord]]) -> bool:
    found = seen.get(secrets.name, [])
    return bool(found) and all(r.check == "fail" and r.message == f"LookupError: {secrets.text}" for r in found)


# ------------------------------------------------------------ what is planted, and what it must show


def _fails(record: NodeRecord, message: str) -> bool:
    """Return whether a record is a failure with just this message, or with what pytest adds after it."""
    rest = record.message.removeprefix(message)
    return record.check == "fail" and record.why is None and record.message.startswith(message) and rest[:1] in " ;"


def _falsified(record: NodeRecord, secrets: _Secrets, x: object, *, explicit: bool = False) -> bool:
    """Return whether a property failed as planted, and by this one input."""
    call = re.fullmatch(rf"([^(]*){secrets.name}\(\s*x=([^\n]*?),?\s*\)", record.counterexample)
    if call is None or ("explicit" in call[1]) is not explicit:
        return False
    try:
        value = ast.literal_eval(call[2])
    except (ValueError, SyntaxError):
        return False
    return type(value) is type(x) and value == x and _fails(record, f"AssertionError: {secrets.text}")


def _passes(record: NodeRecord) -> bool:
    return record.check == "pass" and record.why is None and not record.flaky


def _threshold(secrets: _Secrets) -> int:
    return 1_000 + secrets.number % 9_000


def _length(secrets: _Secrets) -> int:
    return 2 + secrets.number % 3


def _all_kinds() -> Iterator[_Kind]:
    yield _FIRST
    yield _Kind(
        "passes",
        "pass",
        lambda s: (
            f'def {s.name}():\n    assert "{s.text}"[::-1] == "{s.text[::-1]}"\n'
            f'    with pytest.raises(KeyError) as caught:\n        raise KeyError("{s.text}")\n'
            f'    assert caught.value.args == ("{s.text}",)\n'
        ),
        lambda _, record: _passes(record),
    )
    yield _Kind(
        "stripped",
        "fail by an assertion in a module that pytest does not rewrite",
        lambda s: f'def {s.name}():\n    held("{s.text}")\n',
        lambda s, record: _fails(record, f"AssertionError: {s.text}"),
    )
    yield _Kind(
        "not-raised",
        "fail because `pytest.raises` saw nothing raised",
        lambda s: (
            f"class {s.error}(Exception):\n    pass\n\n\n"
            f"def {s.name}():\n    with pytest.raises({s.error}):\n        str()\n"
        ),
        lambda s, record: (
            record.check == "fail" and record.message.startswith("Failed: DID NOT RAISE") and s.error in record.message
        ),
    )
    yield _Kind(
        "raises",
        "fail by an exception of its own",
        lambda s: f'class {s.error}(Exception):\n    pass\n\n\ndef {s.name}():\n    raise {s.error}("{s.text}")\n',
        lambda s, record: _fails(record, f"{s.error}: {s.text}"),
    )
    yield _Kind(
        "skips",
        "skip itself",
        lambda s: f'def {s.name}():\n    pytest.skip("{s.text}")\n',
        lambda s, record: (record.check, record.why, record.message) == ("not_run", "skip", s.text),
    )
    yield from _comparisons()
    yield from _properties()


def _comparisons() -> Iterator[_Kind]:
    yield _Kind(
        "unequal",
        "fail by an assertion of unittest's",
        lambda s: (
            f"def {s.name}():\n    import unittest\n\n"
            f'    unittest.TestCase().assertEqual({s.number}, {s.number + 1}, "{s.text}")\n'
        ),
        lambda s, record: _fails(record, f"AssertionError: {s.number} != {s.number + 1} : {s.text}"),
    )
    yield _Kind(
        "far",
        "fail because `pytest.approx` is not near",
        lambda s: f'def {s.name}():\n    assert {s.number} == pytest.approx({s.number * 2 + 9}), "{s.text}"\n',
        lambda s, record: _fails(record, f"AssertionError: {s.text}"),
    )
    yield _Kind(
        "raises-another",
        "fail by an exception that `pytest.raises` does not expect",
        lambda s: (
            f"class {s.error}(Exception):\n    pass\n\n\n"
            f'def {s.name}():\n    with pytest.raises(LookupError):\n        raise {s.error}("{s.text}")\n'
        ),
        lambda s, record: _fails(record, f"{s.error}: {s.text}"),
    )


def _properties() -> Iterator[_Kind]:
    yield _Kind(
        "falsified",
        "be falsified by one number and no other",
        lambda s: (
            f"@AS_PLANTED\n@given(x=st.integers(0, 10**6))\ndef {s.name}(x):\n"
            f'    assert x < {_threshold(s)}, "{s.text}"\n'
        ),
        lambda s, record: _falsified(record, s, _threshold(s)),
        is_property=True,
    )
    yield _Kind(
        "lists",
        "be falsified by the shortest list of a length",
        lambda s: (
            f"@AS_PLANTED\n@given(x=st.lists(st.integers(0, 9), max_size=9))\ndef {s.name}(x):\n"
            f'    assert len(x) < {_length(s)}, "{s.text}"\n'
        ),
        lambda s, record: _falsified(record, s, [0] * _length(s)),
        is_property=True,
    )
    yield _Kind(
        "text",
        "be falsified by the plainest text of a length",
        lambda s: (
            f'@AS_PLANTED\n@given(x=st.text("abc", max_size=9))\ndef {s.name}(x):\n'
            f'    assert len(x) < {_length(s)}, "{s.text}"\n'
        ),
        lambda s, record: _falsified(record, s, "a" * _length(s)),
        is_property=True,
    )
    yield from _counted_properties()


def _counted_properties() -> Iterator[_Kind]:
    yield _Kind(
        "explicit",
        "be falsified by its explicit example",
        # spelled as text, because Hypothesis tries the numbers that it finds in a module
        lambda s: (
            f'@AS_PLANTED\n@example(x=int("{s.number}") + 10**15)\n@given(x=st.integers())\ndef {s.name}(x):\n'
            f'    assert x != int("{s.number}") + 10**15, "{s.text}"\n'
        ),
        lambda s, record: _falsified(record, s, s.number + 10**15, explicit=True),
        is_property=True,
    )
    yield _Kind(
        "holds",
        f"hold for {CASES} inputs",
        lambda s: f"@HOLDS\n@given(x=st.integers())\ndef {s.name}(x):\n    assert x == x\n",
        lambda _, record: _passes(record) and record.examples is not None and record.examples.valid >= CASES,
        is_property=True,
    )
    yield _Kind(
        "spread",
        "see many different inputs, then fail by an exception of its own",
        lambda s: (
            f"def {s.name}():\n    seen = set()\n\n    @HOLDS\n    @given(x=st.integers())\n"
            f"    def look(x):\n        seen.add(x)\n\n    look()\n"
            f'    raise ArithmeticError("{s.text}" if len(seen) > 5 else f"{{len(seen)}} different inputs")\n'
        ),
        lambda s, record: _fails(record, f"ArithmeticError: {s.text}"),
        is_property=True,
    )


_FIRST: Final = _Kind(
    "fails",
    "fail by a plain assertion",
    lambda s: f'def {s.name}():\n    assert {s.number} == {s.number + 1}, "{s.text}"\n',
    lambda s, record: _fails(record, f"AssertionError: {s.text}"),
)

_KINDS: Final = tuple(_all_kinds())

_HEAD: Final = '''\
"""Planted by admit for the length of this run: most of these tests must fail, and are counted by themselves."""

import sys

import pytest

hypothesis = sys.modules.get("hypothesis")  # a project whose tests did not import it is spared that

names = {}
exec(compile("def held(text):\\n    assert not text, text\\n", "held", "exec", dont_inherit=True), names)
held = names["held"]
'''

_SETTINGS: Final = """
    plainly = {
        "deadline": None,
        "database": None,
        "derandomize": False,
        "phases": tuple(Phase),
        "report_multiple_bugs": False,
        "suppress_health_check": tuple(HealthCheck),
    }
    AS_PLANTED = settings(max_examples=100, **plainly)
    HOLDS = settings(max_examples=CASES, **plainly)
"""
