"""The evidence folder across runs: what earlier attempts at this commit left stays and counts (contract U5, E6)."""

from __future__ import annotations

import fcntl
import json
import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

from admit.errors import InputError, LaunchError, LedgerError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

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

    Documents of this commit stay: a node that failed once on a commit failed, however often it is run again, and
    whatever was checked out in between. So what is of another commit is laid aside until that commit is run again; what
    is of uncommitted changes goes.

    Args:
        folder: the evidence folder.
        context: what the run would be told if it were the first.
        attempt: the attempt that was asked for; one more than the last by default.
        patch_id: the patch that was asked for; that of the earlier attempts by default.

    Raises:
        LedgerError: the folder cannot be written.
    """
    from admit.evidence.context import CONTEXT_FILE, write_context

    kept: list[dict[str, Any]] = []
    try:
        # first: while documents of two commits lie here, whoever decides holds
        if context.head is not None and not context.dirty:
            _bring_back(folder, context.head)
        for path in sorted(folder.iterdir()):
            if path.name.endswith(".jsonl"):
                opening = _opening(path)
                if _is_of(opening, context):
                    kept.append(opening)
                elif opening.get("schema") == SCHEMA or path.stat().st_size == 0:
                    _clear(folder, path, opening, context)
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


def aside(folder: Path) -> Path:
    """Return where the evidence of other commits waits, a folder for each."""
    return folder.with_name(folder.name + "-of-others")


def _clear(folder: Path, path: Path, opening: dict[str, Any], context: RunContext) -> None:
    """Lay a document aside that is another commit's evidence; one that is nobody's goes, with what signs it."""
    from admit.evidence.wire import SIGNED

    head, envelope = opening.get("head"), path.with_name(path.name + SIGNED)
    if opening.get("dirty") is not False or head == context.head or not _is_id(head):
        path.unlink()
        envelope.unlink(missing_ok=True)
        return
    place = aside(folder) / head
    place.mkdir(parents=True, exist_ok=True)
    if envelope.exists():
        envelope.replace(place / envelope.name)
    path.replace(place / path.name)


def _bring_back(folder: Path, head: str) -> None:
    """Take back what an earlier run at this commit left; what is laid aside and cannot be read is an error."""
    place = aside(folder) / head
    if not place.exists():
        return
    for path in sorted(place.iterdir()):
        path.replace(folder / path.name)
    place.rmdir()


def _is_id(head: object) -> TypeGuard[str]:
    return isinstance(head, str) and head.isalnum() and head.isascii()


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

    own = (space.settings.text(key) for key in ("evidence.folder", "ledger.path", "trust.approvals"))
    for link in _links([space.root / ".admit", *(space.root / name for name in own)], space.root):
        if tracked(space.root, link.relative_to(space.root).as_posix()):
            raise InputError(
                os.fspath(link), "a link that the commit brings", do="take it out of the commit: admit writes there"
            )


def _links(places: list[Path], root: Path) -> Iterator[Path]:
    """Yield the links among places, on the way there from `root`, and beneath: mostly none, and git is spared."""
    for place in places:
        for path in (place, *(way for way in place.parents if way.is_relative_to(root) and way != root)):
            if path.is_symlink():
                yield path
        if place.is_dir() and not place.is_symlink():
            for inner, folders, names in os.walk(place):
                yield from (path for name in (*folders, *names) if (path := Path(inner, name)).is_symlink())


def check_folder(space: Workspace) -> None:
    """Refuse an evidence folder that holds what git tracks, for it is emptied as runs go by; and links in its place.

    Raises:
        InputError: it does.
    """
    from admit.repository import tracked

    check_links(space)
    name = space.settings.text("evidence.folder")
    folders = [name] if name.split("/")[0] != ".admit" else []
    folders += [f"{one}{more}" for one in folders for more in ("-uncommitted", "-of-others")]
    if files := [file for one in folders for file in tracked(space.root, one)]:
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
