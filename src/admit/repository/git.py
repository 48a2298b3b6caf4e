"""Ask git, as a child process, with its own configuration hooks off where they could change an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from admit.errors import InputError
from admit.repository.process import DEEPEN, ask, is_shallow

if TYPE_CHECKING:
    from pathlib import Path


class Checkout(NamedTuple):
    """A working tree as git sees it: ids as hexadecimal text, None where there is no commit; dirty paths by name."""

    root: Path
    head: str | None
    tree: str | None
    branch: str | None
    dirty: tuple[str, ...]


class Distance(NamedTuple):
    """How far one commit has moved from another: commits between them, and hours between their commit times."""

    commits: int
    hours: float


def _git(root: Path, *words: str) -> str | None:
    """Return what git prints, None where it answers that there is no such thing.

    Raises:
        InputError: git is not installed.
    """
    answer = ask(root, *words)
    return answer.text() if answer.exit_code == 0 else None


def toplevel(start: Path) -> Path | None:
    """Return the root of the working tree that holds `start`, None outside of one.

    Raises:
        InputError: there is a repository, and git does not read it.
    """
    from pathlib import Path

    out = _git(start, "rev-parse", "--show-toplevel")
    if out:
        return Path(out.rstrip("\n"))
    for folder in (start.absolute(), *start.absolute().parents):
        if (folder / ".git").exists():
            do = "see what `git status` says there (a folder of another owner has to be a safe.directory)"
            raise InputError(str(folder), "a repository that git does not read", do=do)
    return None


def look(root: Path) -> Checkout:
    """Return the commit, its tree, the branch, and every path that is changed, staged or untracked and not ignored."""
    ids = _git(root, "rev-parse", "HEAD", "HEAD^{tree}")
    head, tree = ids.split() if ids else (None, None)
    if toplevel(root) is None:
        return Checkout(root, None, None, None, ())
    branch = _git(root, "symbolic-ref", "--quiet", "--short", "HEAD")
    return Checkout(root, head, tree, branch.strip() if branch else None, _dirty(root))


def _dirty(root: Path) -> tuple[str, ...]:
    out = _git(root, "status", "--porcelain=v1", "-z", "--untracked-files=all", "--ignore-submodules=none")
    if out is None:  # no repository here, or one that git will not read: then nothing says that the tree is clean
        return ("(git status gave no answer)",)
    paths, fields = [], iter(out.split("\0"))
    for field in fields:
        if field:
            paths.append(field[3:])
            if "R" in field[:2] or "C" in field[:2]:
                next(fields, "")  # the name before a rename or copy
    return (*sorted(paths), *_hidden(root))


def _hidden(root: Path) -> list[str]:
    """Return tracked files that git was told not to look at: their changes would not be seen."""
    out = _git(root, "ls-files", "-v", "-z") or ""
    return [
        f"{field[2:]} (hidden from git status)" for field in out.split("\0") if field[:1].islower() or field[:1] == "S"
    ]


def edited(root: Path) -> tuple[str, ...]:
    """Return the tracked files that differ from the commit; untracked ones, which runs leave behind, are left out."""
    out = _git(
        root, "status", "--porcelain=v1", "-z", "--untracked-files=no", "--ignore-submodules=untracked", "--no-renames"
    )
    if out is None:
        return ("(git status gave no answer)",)
    return tuple(sorted(field[3:] for field in out.split("\0") if field))


def tracked(root: Path, folder: str) -> tuple[str, ...]:
    """Return the files under a folder that git tracks, in the index or in the commit."""
    found = {name for name in (_git(root, "ls-files", "-z", "--", folder) or "").split("\0") if name}
    found |= {
        name
        for name in (_git(root, "ls-tree", "-r", "-z", "--name-only", "HEAD", "--", folder) or "").split("\0")
        if name
    }
    return tuple(sorted(found))


def resolve(root: Path, ref: str) -> str:
    """Return the full id of the commit that `ref` names.

    Raises:
        InputError: there is no such commit; in a shallow clone it may only not have been fetched.
    """
    out = _commit(root, ref)
    if not out:
        cut = is_shallow(root)
        do = DEEPEN if cut else "fetch it, or name another"
        raise InputError(ref, "no such commit in this repository", do=do)
    return out.strip()


def is_commit(root: Path, ref: str) -> bool:
    """Return whether `ref` names a commit that is in this repository."""
    return bool(_commit(root, ref))


def _commit(root: Path, ref: str) -> str | None:
    return _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")


def tree_of(root: Path, commit: str) -> str | None:
    """Return the tree of a commit; None where it is not here (contract G6)."""
    out = _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{commit}^{{tree}}")
    return out.strip() if out else None


def distance(root: Path, old: str, new: str) -> Distance:
    """Return how far `new` has moved from `old`.

    Raises:
        InputError: one of them is not a commit here.
    """
    for ref in (old, new):
        resolve(root, ref)
    count = _git(root, "rev-list", "--count", f"{old}..{new}")
    times = [_git(root, "show", "-s", "--format=%ct", ref) for ref in (old, new)]
    if count is None or None in times:
        raise InputError(f"{old}..{new}", "git cannot tell how far apart they are", do="fetch the whole history")
    old_s, new_s = (int(stamp or "") for stamp in times)
    return Distance(int(count), (new_s - old_s) / 3600)
