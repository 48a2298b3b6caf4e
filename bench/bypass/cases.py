"""What a case is: a small patch on the base project, why it is wrong, and what is meant to stop it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

PYTEST = ("python", "-m", "pytest", "-q")
MAKE = ("make", "-s", "test")

# ---------------------------------------------------------------- what may stop a patch

BEHAVIOR = frozenset({"concrete-behavior", "behavior-and-invariant", "invariant-or-over-specified-property"})
"""The base's own tests failed on the patch's code, and the patch is blocked for it."""

TEST_EDIT = frozenset({"test_edited"})
"""The base's form of a test that the patch edited or took away fails."""

CONTROL = frozenset({"control-files-touched"})
COMPROMISED = frozenset({"instrument_compromised"})
INSTRUMENT = frozenset({"instrument-edited"})
FIXTURE = frozenset({"fixture_drifted", "fixture_repinned", "instrument-moved"})
STARVED = frozenset({"vacuous"})
"""A property ran and looked at less than it did on the base."""

UNSEALED = frozenset({"evidence-gap", "malformed-evidence", "instrument_compromised"})
"""The run did not end as a run ends, or left what no run leaves."""

REFUSED = frozenset({"refused"})
"""There is no decision: the question itself could not be asked (exit code 65)."""


class Link(NamedTuple):
    """A symbolic link in a file's place."""

    target: str


class Copy(NamedTuple):
    """The base's bytes of another path."""

    source: str


class Append(NamedTuple):
    """The file as it is, and some text after it."""

    text: str


class WithoutLine(NamedTuple):
    """The file without its line that holds a word."""

    word: str


class Repin(NamedTuple):
    """What `admit lock write` makes of the patch for this file."""


Edit = str | None | tuple[tuple[str, str], ...] | Link | Copy | Append | WithoutLine | Repin
"""A file's new text, None where it goes, pairs of old and new text, or one of the forms above.

`{SOON}` in a text is a moment next week, for freezes that are to be in force.
"""


class Attack(NamedTuple):
    """A patch that looks green and is wrong.

    `bug` names the fault in the product (bugs.py) that the trick hides; its edits come first, unless the trick holds
    the fault in another form (`inside`). Without a bug the patch weakens what guards the product, and nothing else.
    `meant` are the attributions and reasons of which one has to be in the decision. `gap` says why nothing in a gate's
    own process stops it; such a case is expected to get through. `fools` names the plain rules (rivals.py) that it
    passes. `arrange` does what edits of files cannot, on the clone, before the commit; `after` follows the commit.
    """

    id: str
    technique: str
    wrong: str
    edits: Mapping[str, Edit]
    meant: frozenset[str] = frozenset()
    bug: str = ""
    inside: bool = False
    fools: str = "abc"
    command: tuple[str, ...] = PYTEST
    gap: str = ""
    arrange: Callable[[Path], None] | None = None
    after: Callable[[Path], None] | None = None
    message: str = "Tidy up"


class Honest(NamedTuple):
    """A patch that must merge without anybody's leave."""

    id: str
    what: str
    edits: Mapping[str, Edit]
    message: str = "An honest change"
    command: tuple[str, ...] = PYTEST
    arrange: Callable[[Path], None] | None = None
    after: Callable[[Path], None] | None = None


class Bug(NamedTuple):
    """A fault in the product, and the questions (oracle.py) that it answers wrongly, of which one at least is asked."""

    edits: Mapping[str, Edit]
    wrong: frozenset[str]
