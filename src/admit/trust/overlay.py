"""Worktrees of a run on a base: its instrument laid over the patch's code (boundary: git, folders; contract T7)."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import signal
import stat
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, NoReturn

from admit.errors import InputError
from admit.repository import changes, resolve, tracked
from admit.repository.laid import commit_with
from admit.repository.process import ask, demand
from admit.repository.submodules import empty, fill

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import FrameType, TracebackType
    from typing import Self

    from admit.repository import Change

PREFIX: Final = "admit-tree-"
"""What the name of a folder with worktrees of ours begins with."""

_OWNER: Final = "owner"
_WHOLE: Final = (
    *("-c", "checkout.workers=4"),  # waits for the disk, so that more than cores helps
    *("-c", "core.sparseCheckout=false"),  # what the checkout leaves out is part of the commit all the same
)


_ABSENT: Final = "the tests ran without the submodule {} at {}: this clone has not all of it (git submodule update)"


class Tree(NamedTuple):
    """A worktree: its root, the commit that is checked out there, and the paths that are as the base has them.

    `absent` says which submodules are empty there, in words: their objects are not in this clone.
    """

    path: Path
    commit: str
    laid: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()


class Worktrees:
    """One detached worktree in a private folder, switched from commit to commit, and taken away at the end.

    Code of the base alone runs in a tree of `plain` before the first of `judged`; from there on every tree is a fresh
    one, because what code of the patch left in the last one cannot be known.

    Args:
        root: a folder of the repository.
        bring: untracked folders and files, by path from `root`, to which links are made in each tree.

    Raises:
        InputError: there is no working tree.
    """

    def __init__(self, root: Path, *, bring: Sequence[str] = ()) -> None:
        self._root, self._bring = root, tuple(bring)
        if ask(root, "rev-parse", "--is-inside-work-tree").out.strip() != b"true":
            raise InputError(str(root), "no working tree of git", do="run in a clone that is not bare")
        _take_away_leftovers(root)
        self._folder = Path(os.path.realpath(tempfile.mkdtemp(prefix=PREFIX)))
        self._path = self._folder / "tree"
        self._owner = _hold(self._folder / _OWNER)
        self._is_fresh_needed = False
        self._handler: object = None

    def __enter__(self) -> Self:
        """Return the worktrees themselves; a request to end the process takes them away first."""
        if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
            self._handler = signal.signal(signal.SIGTERM, _leave)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Take everything away."""
        try:
            _take_away(self._root, self._folder)
        finally:
            os.close(self._owner)
            if self._handler is not None:
                signal.signal(signal.SIGTERM, signal.SIG_DFL)

    def plain(self, commit: str) -> Tree:
        """Return the worktree with a commit as it is.

        Raises:
            InputError: there is no such commit, or git cannot check it out.
        """
        return self._switched(Tree(self._path, resolve(self._root, commit)))

    def judged(self, base: str, head: str, is_instrument: Callable[[Change], bool]) -> Tree:
        """Return the worktree with the patch's code under the base's instrument.

        Raises:
            InputError: one of them is not a commit here, or git cannot put them together.
        """
        undone = [change for change in changes(self._root, base, head) if is_instrument(change)]
        commit = commit_with(self._root, resolve(self._root, head), undone, self._folder / "index")
        return self._switched(Tree(self._path, commit, tuple(change.path for change in undone)), is_last=True)

    def _switched(self, tree: Tree, *, is_last: bool = False) -> Tree:
        if self._is_fresh_needed and self._path.exists():
            _take_away_tree(self._root, self._path)
        if not self._path.exists():
            demand(self._root, *_WHOLE, "worktree", "add", "--detach", "--quiet", str(self._path), tree.commit)
        else:
            empty(self._path)
            demand(self._path, *_WHOLE, "checkout", "--detach", "--force", "--quiet", tree.commit)
            demand(self._path, "clean", "-ffdxq")
        self._is_fresh_needed = self._is_fresh_needed or is_last
        absent = fill(self._path, self._root)
        for name in self._bring:
            self._bring_along(name)
        return tree._replace(absent=tuple(_ABSENT.format(one.path, one.commit[:12]) for one in absent))

    def _bring_along(self, name: str) -> None:
        there, here = self._root / name, self._path / name
        # what the index or a commit holds comes from the commit, or was taken out of it on purpose
        if not there.exists() or os.path.lexists(here) or not here.parent.is_dir() or tracked(self._root, name):
            return
        if there.is_dir():  # a folder of links: `venv/` in .gitignore ignores no link of that name
            here.mkdir()
            for inner in there.iterdir():
                (here / inner.name).symlink_to(inner.absolute())
        else:
            here.symlink_to(there.absolute())


def _leave(number: int, _frame: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)


def _hold(path: Path) -> int:
    """Return the handle of a file that is locked for as long as this process lives."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(handle, fcntl.LOCK_EX)
    return handle


def _take_away_leftovers(root: Path) -> None:
    """Take away the worktrees of runs that were killed; those of others, missing or not, are theirs."""
    for line in ask(root, "worktree", "list", "--porcelain", "-z").text().split("\0"):
        path = Path(line.removeprefix("worktree "))
        if line.startswith("worktree ") and path.parent.name.startswith(PREFIX) and not _is_held(path.parent):
            _take_away(root, path.parent)


def _is_held(folder: Path) -> bool:
    try:
        handle = os.open(folder / _OWNER, os.O_RDWR | os.O_NOFOLLOW)
    except FileNotFoundError:
        return folder.exists()  # without its file it is none of ours
    except OSError:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False


def _take_away(root: Path, folder: Path) -> None:
    _take_away_tree(root, folder / "tree")
    if folder.exists():
        _remove(folder)


def _take_away_tree(root: Path, path: Path) -> None:
    ask(root, "worktree", "remove", "--force", "--force", str(path))
    if path.exists():  # git gave up, at a folder that nobody may write
        _remove(path)
        ask(root, "worktree", "remove", "--force", "--force", str(path))


def _remove(folder: Path) -> None:
    """Remove a folder with all in it, read-only folders too; no link is followed."""
    for place, folders, _ in os.walk(folder):
        for name in (".", *folders):
            inner = os.path.join(place, name)
            if not os.path.islink(inner):
                with contextlib.suppress(OSError):
                    os.chmod(inner, stat.S_IRWXU)
    shutil.rmtree(folder, ignore_errors=True)
