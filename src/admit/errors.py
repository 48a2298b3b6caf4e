"""The errors raised on purpose, each with its exit code."""

from __future__ import annotations

__all__ = [
    "EXIT_CODES",
    "AdmitError",
    "EvidenceError",
    "InputError",
    "LaunchError",
    "LedgerError",
    "UsageError",
]

EXIT_CODES: dict[int, str] = {
    0: "accept: the patch may merge",
    1: "reject: an admitted counterexample",
    2: "hold: a person has to look; never a soft pass",
    64: "usage: the command line or a setting asks for something that does not exist",
    65: "input: a policy, a register, a lock, a key or a decision cannot be read, or a signature that is asked "
    "about does not hold (evidence that is judged never gives 65, it holds)",
    70: "bug: admit itself failed; the traceback says where",
    74: "record: the ledger or an output file could not be written, so no decision was returned",
    75: "launch: the test command could not be started",
    130: "interrupt: a person stopped the command before it decided",
}
"""Every exit code of every command. 0, 1 and 2 are dispositions and nothing else uses them (contract R5)."""


class AdmitError(Exception):
    """Say where, what was found, what is allowed and what to do, in one line.

    Args:
        where: file, line, key or argument that is wrong.
        found: what stands there, in words.
        allowed: what may stand there; empty where there is no choice to offer.
        do: the next step for the reader; empty where `allowed` says it all.
    """

    exit_code = 70

    def __init__(self, where: str, found: str, *, allowed: str = "", do: str = "") -> None:
        self.where, self.found, self.allowed, self.do = where, found, allowed, do
        parts = [f"{where}: {found}" if where else found]
        if allowed:
            parts.append(f"allowed: {allowed}")
        if do:
            parts.append(do)
        super().__init__(one_line("; ".join(parts)))


class UsageError(AdmitError):
    """Refuse a command line that asks for something that does not exist (exit 64)."""

    exit_code = 64


class InputError(AdmitError):
    """Refuse a policy, register, lock, configuration or decision that cannot be read (exit 65)."""

    exit_code = 65


class EvidenceError(AdmitError):
    """Refuse evidence that breaks its format (contract E4).

    It never reaches the user as an exit code of its own: whoever reads evidence turns it into a hold with the
    attribution `malformed-evidence`.
    """

    exit_code = 2


class LedgerError(AdmitError):
    """Say that a decision could not be recorded, so that it is not returned (exit 74)."""

    exit_code = 74


class LaunchError(AdmitError):
    """Say that the test command could not be started (exit 75)."""

    exit_code = 75


def one_line(text: str, limit: int = 2000) -> str:
    """Return `text` on one line, control characters escaped, cut at `limit` characters."""
    escaped = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
    return escaped if len(escaped) <= limit else escaped[: limit - 1] + "…"
