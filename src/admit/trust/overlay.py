"""Worktrees of a run on a base: its instrument laid over the patch's code (boundary: git, folders; contract T7)."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from admit.repository import changes
from admit.repository.process import ask, demand

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType
    from typing import Self

    from admit.repository import Change


class Tree(NamedTuple):
    """A worktree: its root, and the commit that is checked out there."""

    path: Path
    commit: str


class Worktrees:
    """One detached worktree in a private folder, switched from commit to commit, and taken away at the end."""

    def __init__(self, root: Path, *, bring: Sequence[str] = ()) -> None:
        self._root, self._bring = root, tuple(bring)
        self._folder = Path(tempfile.mkdtemp(prefix="admit-tree-"))
        self._path = self._folder / "tree"

    def __enter__(self) -> Self:
        """Return the worktrees themselves."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Take everything away."""
        ask(self._root, "worktree", "remove", "--force", "--force", os.fspath(self._path))
        shutil.rmtree(self._folder, ignore_errors=True)
        ask(self._root, "worktree", "prune")

    def plain(self, commit: str) -> Tree:
        """Return the worktree with a commit as it is."""
        return self._switched(commit)

    def judged(self, base: str, head: str, is_instrument: Callable[[Change], bool]) -> Tree:
        """Return the worktree with the patch's code under the base's instrument."""
        index = {"GIT_INDEX_FILE": os.fspath(self._folder / "index")}
        demand(self._root, "read-tree", head, variables=index)
        lines = b"".join(
            f"{change.old_mode if change.old_blob else '0'} {change.old_blob or '0' * 40}\t".encode()
            + os.fsencode(change.path)
            + b"\0"
            for change in changes(self._root, base, head)
            if is_instrument(change)
        )
        demand(self._root, "update-index", "-z", "--index-info", stdin=lines, variables=index)
        tree = demand(self._root, "write-tree", variables=index).decode().strip()
        who = {
            "GIT_AUTHOR_NAME": "admit", "GIT_AUTHOR_EMAIL": "admit@localhost", "GIT_AUTHOR_DATE": "@0 +0000",
            "GIT_COMMITTER_NAME": "admit", "GIT_COMMITTER_EMAIL": "admit@localhost", "GIT_COMMITTER_DATE": "@0 +0000",
        }  # fmt: skip
        commit = demand(self._root, "commit-tree", tree, "-p", head, "-m", "judged", variables=who)
        return self._switched(commit.decode().strip())

    def _switched(self, commit: str) -> Tree:
        if not self._path.exists():
            demand(self._root, "worktree", "add", "--detach", "--quiet", os.fspath(self._path), commit)
        else:
            demand(self._path, "checkout", "--detach", "--force", "--quiet", commit)
            demand(self._path, "clean", "-ffdxq")
        for name in self._bring:
            there, here = self._root / name, self._path / name
            if there.exists() and not here.exists():
                here.symlink_to(there)
        return Tree(self._path, commit)
