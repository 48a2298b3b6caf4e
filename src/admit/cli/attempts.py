"""The evidence folder across runs: what earlier attempts at this commit left stays and counts (contract U5, E6)."""

from __future__ import annotations

import fcntl
import json
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from admit.errors import InputError, LaunchError, LedgerError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from admit.core.context import RunContext
    from admit.wiring import Workspace

SCHEMA = "admit.evidence/1"


@contextmanager
def one_run_at_a_time(folder: Path) -> Iterator[None]:
    """Hold the evidence folder for one run.

    Raises:
        LaunchError: another run holds it.
        LedgerError: it cannot be made.
    """
    path = folder.with_name(folder.name + ".running")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
    except OSError as error:
        raise _unprepared(folder, error) from error
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(fd)
        raise LaunchError(
            str(folder), "another run is at work here", do="wait for it, or run in a checkout of its own"
        ) from error
    try:
        yield
    finally:
        os.close(fd)


def started(folder: Path, context: RunContext, *, attempt: int | None, patch_id: str | None) -> RunContext:
    """Return the context of the run that begins, after clearing away what is no evidence for its commit.

    Documents of this commit stay: a node that failed once on a commit failed, however often it is run again. What is of
    another commit, or of uncommitted changes, goes.

    Args:
        folder: the evidence folder.
        context: what the run would be told if it were the first.
        attempt: the attempt that was asked for; one more than the last by default.
        patch_id: the patch that was asked for; that of the earlier attempts by default.

    Raises:
        LedgerError: the folder cannot be written.
    """
    from admit.evidence.context import CONTEXT_FILE, write_context
    from admit.evidence.wire import SIGNED

    kept: list[dict[str, Any]] = []
    try:
        for path in sorted(folder.iterdir()):
            if path.name.endswith(".jsonl"):
                opening = _opening(path)
                if _is_of(opening, context):
                    kept.append(opening)
                elif opening.get("schema") == SCHEMA or path.stat().st_size == 0:
                    path.unlink()
                    path.with_name(path.name + SIGNED).unlink(missing_ok=True)  # it signs nothing else
                else:
                    raise InputError(str(path), "not evidence of admit's", do="give the evidence a folder of its own")
    except OSError as error:
        raise _unprepared(folder, error) from error
    here = [one["attempt"] for one in kept if (one["shard"], one["lane"]) == (context.shard, context.lane)]
    context = context._replace(
        attempt=attempt or 1 + max(here, default=0),
        patch_id=patch_id or (kept[0]["patch_id"] if kept else context.patch_id),
    )
    write_context(folder / CONTEXT_FILE, context)
    return context


def shard_of(text: str) -> tuple[int, int]:
    """Return which part of how many.

    Raises:
        UsageError: it is not `I/N` with 1 <= I <= N.
    """
    parts = [int(part) for part in text.split("/") if part.isascii() and part.isdecimal() and len(part) < 7]
    if len(parts) == 2 and text.count("/") == 1 and 1 <= parts[0] <= parts[1]:
        return parts[0], parts[1]
    raise UsageError("--shard", repr(text), allowed="I/N, such as 2/4")


def _is_of(opening: dict[str, Any], context: RunContext) -> bool:
    if context.head is None or context.dirty or opening.get("dirty") is not False:
        return False
    if context.base is not None and opening.get("instrument_of") is None:
        return False  # the patch's own tests judged then; now the base's do, and theirs is the word that counts
    return opening.get("head") == context.head and opening.keys() >= _KEYS and type(opening["attempt"]) is int


def foreign(folder: Path, before: frozenset[str], run_id: str) -> str:
    """Return what is wrong with documents that came during the run and are not its own (contract U3)."""
    strange = [name for name in documents_in(folder) - before if f".{run_id}-" not in name]
    return f"documents that this run did not write: {', '.join(sorted(strange)[:3])}" if strange else ""


def documents_in(folder: Path) -> frozenset[str]:
    """Return the names of the documents in a folder."""
    return frozenset(path.name for path in folder.glob("*.jsonl"))


def measured_with(folder: Path) -> str | None:
    """Return the base whose instrument judged, as the documents in a folder say; None where none did.

    Where they disagree it is one of them, and the decision says that they do.
    """
    try:
        said = [_opening(path).get("instrument_of") for path in sorted(folder.glob("*.jsonl"))]
    except (OSError, RecursionError):
        return None  # whoever reads the documents says what is wrong with them
    return min((base for base in said if isinstance(base, str) and base), default=None)


def check_links(space: Workspace) -> None:
    """Refuse links that a commit brings to where admit writes: what they lead to would be overwritten.

    Raises:
        InputError: there is one.
    """
    from admit.repository import tracked

    own = [".admit", *(space.settings.text(key) for key in ("evidence.folder", "ledger.path", "trust.approvals"))]
    for name in {name for place in own for name in tracked(space.root, place)}:
        if (space.root / name).is_symlink():
            do = "take it out of the commit: admit writes there"
            raise InputError(os.fspath(space.root / name), "a link that the commit brings", do=do)


def check_folder(space: Workspace) -> None:
    """Refuse an evidence folder that holds what git tracks, for it is emptied as runs go by; and links in its place.

    Raises:
        InputError: it does.
    """
    from admit.repository import tracked

    check_links(space)
    name = space.settings.text("evidence.folder")
    files = () if name.split("/")[0] == ".admit" else [*tracked(space.root, name), *tracked(space.root, f"{name}-*")]
    if files:
        found = f"git tracks {files[0]} there"
        raise InputError(os.fspath(space.root / name), found, do="give the evidence a folder of its own")


_KEYS = frozenset({"attempt", "shard", "lane", "patch_id"})


def _opening(path: Path) -> dict[str, Any]:
    """Return the keys of a document's first line; none where it has none, which is evidence for no commit."""
    try:
        with path.open("rb") as stream:
            keys = json.loads(stream.readline(1 << 20))
    except ValueError:
        return {}
    return keys if isinstance(keys, dict) else {}


def _unprepared(folder: Path, error: OSError) -> LedgerError:
    said = f"cannot be prepared: {error.strerror}"
    return LedgerError(str(folder), said, do="free the path or configure another (evidence.folder)")
