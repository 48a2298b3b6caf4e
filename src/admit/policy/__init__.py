"""Policies: the shipped ones by name, others from reviewed TOML files; each a verified ladder with its digest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from admit.errors import InputError
from admit.policy.model import SHIPPED, EvidenceOptions, Policy, TrustOptions

if TYPE_CHECKING:
    from admit.core.ladder import Ladder
    from admit.policy.model import RulesOn

__all__ = ["SHIPPED", "EvidenceOptions", "Policy", "TrustOptions", "for_gate", "load", "parse"]


def load(source: str, rules_on: RulesOn | None = None) -> Policy:
    """Return a shipped policy by its name, or read and verify the file at a path.

    Args:
        source: `router`, `arbiter`, `trusted-arbiter`, or a path; a file of such a name is `./router`.
        rules_on: what the caller needs a policy for; None for either.

    Raises:
        InputError: no file can be read there, it is refused, or it rules on something else.
    """
    policy = _unpacked(source) if source in SHIPPED else _read(source)
    if rules_on is not None and policy.rules_on != rules_on:
        other = "router" if rules_on == "patch" else "arbiter"
        raise InputError(
            source,
            f"it rules on a {policy.rules_on}, not on a {rules_on}",
            do=f"name a {rules_on} policy, such as {other}",
        )
    return policy


def parse(text: str, where: str) -> Policy:
    """Read and verify the text of a policy file.

    Args:
        text: the TOML.
        where: the file's name, for messages and as the policy's source.

    Raises:
        InputError: anything that the format does not know, and anything unsound (contract V1, R6, R7), with its line.
    """
    from admit.policy.text import parse as parse_text

    return parse_text(text, where)


def for_gate(policy: Policy, gate: str) -> Ladder:
    """Return a node policy's ladder as the records of one gate spell it (contract A7).

    Raises:
        InputError: the policy does not rule on nodes, or the gate is called like another of its signals.
    """
    from admit.policy.gate import respelled

    return respelled(policy, gate)


def _unpacked(name: str) -> Policy:
    """Build a policy that comes with the package; it was verified when it was compiled."""
    from admit.policy._shipped import BY_NAME
    from admit.policy.shipped import unpack

    return unpack(BY_NAME[name])


def _read(path: str) -> Policy:
    """Read a policy from a file."""
    from admit.policy.files import read_text

    return parse(read_text(path), path)
