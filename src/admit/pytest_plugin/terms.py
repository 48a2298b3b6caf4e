"""What the processes that run tests are told: how Hypothesis is pinned, and which tests are property tests."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from admit.core.context import RunContext, Scalar

VARIABLE: Final = "ADMIT_TERMS"
"""The environment variable that tells workers the terms, and nested pytest sessions that one records already."""


class Terms(NamedTuple):
    """The part of a run context that is needed where tests run; `owner` is the process that records."""

    seed: int
    profile: Mapping[str, Scalar | tuple[str, ...]]
    markers: tuple[str, ...]
    paths: tuple[str, ...]
    owner: int
    timing: tuple[str, ...] = ()

    def to_json(self) -> str:
        """Return the terms as one line of JSON."""
        return json.dumps(self._asdict() | {"profile": dict(self.profile)})


def terms_of(context: RunContext, owner: int) -> Terms:
    """Return the terms that a run context sets."""
    return Terms(
        context.seed, context.profile, context.property_markers, context.property_paths, owner, context.timing_markers
    )


def from_json(text: str) -> Terms:
    """Return the terms in a line that `Terms.to_json` wrote.

    Raises:
        ValueError, TypeError, KeyError, AttributeError: something else stands there.
    """
    keys = json.loads(text)
    keys["profile"] = {key: tuple(v) if isinstance(v, list) else v for key, v in keys["profile"].items()}
    return Terms(**keys | {name: tuple(keys[name]) for name in ("markers", "paths", "timing")})
