"""What the files under review say: policies, limits, the register, the abstentions, and which files those are."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from admit.errors import InputError
from admit.settings import FILE
from admit.wiring.space import rfc3339

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from admit.core.records import Document
    from admit.core.rollup import RegisterState
    from admit.evidence.strict import Limits
    from admit.freeze.register import Register
    from admit.policy import Policy
    from admit.policy.model import RulesOn
    from admit.wiring.space import Workspace


def policy_of(space: Workspace, key: str, override: str | None = None) -> Policy:
    """Return the policy that a setting names: a shipped one by name, a file by its path from the root.

    Raises:
        InputError: the policy is refused, or rules on something else than the setting is for.
    """
    from admit.policy import SHIPPED, load

    rules_on: RulesOn = "patch" if key == "policy.router" else "node"
    source = override or space.settings.text(key)
    policy = load(source if source in SHIPPED or override else os.fspath(space.root / source), rules_on)
    if rules_on == "node":
        from admit.adjudicate import check_signals

        check_signals(policy, with_trust=key == "policy.trusted_arbiter")
    return policy


def provenance_arbiter(space: Workspace) -> Policy:
    """Return the policy that rules on nodes where the base's evidence says which are proposals (contract 2.3, P3).

    It is the one for a base's instrument, which knows provenance, unless the plain one accepts nothing: a base's
    evidence makes merging no easier. (A policy that is read accepts clean combinations alone, so that is all there is.)

    Raises:
        InputError: a policy is refused.
    """
    plain, trusted = policy_of(space, "policy.arbiter"), policy_of(space, "policy.trusted_arbiter")
    return trusted if any(rule.outcome.kind == "accept" for rule in plain.ladder.rules) else plain


def limits_of(space: Workspace) -> Limits:
    """Return the limits that the settings put on evidence (contract E4)."""
    from admit.evidence.strict import LIMITS

    number = space.settings.number
    return LIMITS._replace(
        document_bytes=number("evidence.max_bytes"),
        line_bytes=number("evidence.max_line_bytes"),
        nodes=number("evidence.max_nodes"),
        depth=number("evidence.max_depth"),
    )


def register_of(
    space: Workspace, documents: tuple[Document, ...], now: datetime
) -> tuple[dict[str, str], RegisterState, tuple[str, ...]]:
    """Return the frozen nodes with why, what the register says of itself, and what it wants said aloud (U4)."""
    from admit.core.rollup import RegisterState
    from admit.freeze.reach import reached
    from admit.freeze.register import in_force

    try:
        register = read_register(space, now)
    except InputError as error:
        return {}, RegisterState(unreadable=str(error)), ()
    said = {
        node: f"{entry.reason} (owner {entry.owner}), until {rfc3339(entry.expires)}"
        for node, entry in in_force(register, now).items()
    }
    nodes = {node for document in documents for node in document.codes} if said else set()
    frozen = said | reached(said, nodes)
    return frozen, RegisterState(problem=register.problem), tuple(note.text for note in register.notes)


def read_register(space: Workspace, now: datetime) -> Register:
    """Return the configured register as it stands at an instant.

    Raises:
        InputError: it cannot be read, or is not TOML (contract U4: missing).
    """
    from admit.freeze.files import load_register

    return load_register(
        space.path("freeze.register"), now=now, horizon_days=space.settings.number("freeze.horizon_days")
    )


def declared(space: Workspace) -> Mapping[str, tuple[str, str]]:
    """Return the declared abstentions; none where there is no file, which takes nothing out of a sample (U7)."""
    from admit.abstain.files import load_abstentions

    return load_abstentions(space.path("abstain.file")).declared


_CONTROL_KEYS = (
    "lock.manifest",
    "lock.file",
    "freeze.register",
    "abstain.file",
    "policy.router",
    "policy.arbiter",
    "policy.trusted_arbiter",
)


def control_files(space: Workspace) -> tuple[str, ...]:
    """Return the paths, from the root, of the files that change in review only (contract T1)."""
    from admit.policy import SHIPPED

    named = (space.settings.text(key) for key in _CONTROL_KEYS)
    return (FILE, *(name for name in named if name not in SHIPPED))
