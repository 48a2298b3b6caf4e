"""A commit with some paths as another commit has them, made without touching a working tree (contract T7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from admit.repository.process import bytes_of, demand

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from admit.repository.patch import Change


def commit_with(root: Path, head: str, undone: Iterable[Change], index: Path) -> str:
    """Return a commit whose files are those of `head`, with some of its changes undone.

    What was added is gone, what was deleted is back, what was changed is as it was, links, modes and submodules too.
    Where both cannot stand, a file in the place of a folder, what is put back stays. The same changes give the same
    commit: its author is nobody, its time that of `head`.

    Args:
        root: a folder of the repository.
        head: the commit to start from; returned as it is if nothing is undone.
        undone: changes, as `changes` tells them, that end at `head`.
        index: a path of a file that git may write.

    Raises:
        InputError: git refuses, or has not all of the content.
    """
    back = sorted(undone, key=lambda change: not change.is_added)  # what goes makes room for what comes
    if not back:
        return head
    nothing = "0" * len(head)
    lines = b"".join(
        f"{'0' if change.is_added else change.old_mode} {change.old_blob or nothing}\t".encode("ascii")
        + bytes_of(change.path)
        + b"\0"
        for change in back
    )
    variables = {"GIT_INDEX_FILE": str(index)}
    demand(root, "read-tree", head, variables=variables)
    demand(root, "update-index", "-z", "--index-info", stdin=lines, variables=variables)
    tree = demand(root, "write-tree", variables=variables).decode("ascii").strip()
    time = demand(root, "log", "-1", "--no-show-signature", "--no-color", "--format=%ct", head).decode("ascii").strip()
    date = f"@{time} +0000"
    nobody = {"AUTHOR_NAME": "admit", "AUTHOR_EMAIL": "admit@localhost", "AUTHOR_DATE": date}
    nobody |= {"COMMITTER_NAME": "admit", "COMMITTER_EMAIL": "admit@localhost", "COMMITTER_DATE": date}
    who = {f"GIT_{key}": value for key, value in nobody.items()}
    return demand(root, "commit-tree", tree, "-p", head, "-m", "judged", variables=who).decode("ascii").strip()
