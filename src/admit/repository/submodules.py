"""Submodules of a worktree, filled from objects that the checkout has: nothing is fetched (boundary: git, folders)."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from admit.repository.process import ask, demand, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_SUBMODULE = b"160000 "
_SHA256 = 64


class Absent(NamedTuple):
    """A submodule that stays empty: its path from the top of the worktree, and the commit that is not here."""

    path: str
    commit: str


def submodules(tree: Path) -> dict[str, str]:
    """Return the commit of each submodule in a worktree's index, by its path."""
    parts = (line.partition(b"\t") for line in _index(tree) if line.startswith(_SUBMODULE))
    return {text_of(path): entry.split(b" ")[1].decode("ascii") for entry, _, path in parts}


def tracked_names(tree: Path) -> Iterator[str]:
    """Yield the files that a worktree's index holds, those of its filled submodules too, by path from its top."""
    for line in _index(tree):
        path = text_of(line[line.find(b"\t") + 1 :])
        if not line.startswith(_SUBMODULE):
            yield path
        elif (tree / path / ".git").exists():
            for name in tracked_names(tree / path):
                yield f"{path}/{name}"


def fill(tree: Path, checkout: Path) -> tuple[Absent, ...]:
    """Fill the submodules of a worktree, with those inside of them, and return which stay empty.

    Each becomes a repository of its own that borrows its objects, so that what tests do there stays in the worktree.

    Args:
        tree: the worktree; its submodules are empty.
        checkout: where somebody may have fetched them.
    """
    found = submodules(tree)
    return tuple(_filled(tree, checkout, _git_folders(checkout), found)) if found else ()


def empty(tree: Path) -> None:
    """Take out again what `fill` put into a worktree."""
    for path in submodules(tree):
        _clear(tree / path)


def _index(tree: Path) -> list[bytes]:
    return demand(tree, "ls-files", "-s", "-z").split(b"\0")[:-1]


def _filled(tree: Path, checkout: Path, stores: list[Path], found: dict[str, str]) -> Iterator[Absent]:
    names = _names(tree)
    for path, commit in found.items():
        own = _git_folders(checkout / path)
        named = [store / "modules" / names[path] for store in stores if path in names]
        for store in dict.fromkeys([*own, *named]):
            if _is_checked_out(tree / path, store, commit):
                if inner := submodules(tree / path):
                    for one in _filled(tree / path, checkout / path, [store], inner):
                        yield one._replace(path=f"{path}/{one.path}")
                break
        else:
            yield Absent(path, commit)


def _git_folders(folder: Path) -> list[Path]:
    """Return where the repository that has its root here keeps objects and submodules; nothing where none has."""
    if not (folder / ".git").exists():
        return []
    answer = ask(folder, "rev-parse", "--git-common-dir", "--git-dir")
    return [folder / line for line in answer.text().splitlines()] if answer.exit_code == 0 else []


def _names(tree: Path) -> dict[str, str]:
    """Return the names under which repositories of submodules are kept, by path; a patch chooses them."""
    answer = ask(tree, "config", "--blob", "HEAD:.gitmodules", "-z", "--get-regexp", r"^submodule\..*\.path$")
    lines = (line.partition("\n") for line in answer.text().split("\0") if line) if answer.exit_code == 0 else ()
    found = {path: key.removeprefix("submodule.").removesuffix(".path") for key, _, path in lines}
    return {path: name for path, name in found.items() if name and not {"", "..", "."} & set(name.split("/"))}


def _is_checked_out(folder: Path, store: Path, commit: str) -> bool:
    """Check out a commit into an empty folder and return whether all of it was there."""
    objects = os.path.realpath(store / "objects")
    if not os.path.isdir(objects) or "\n" in objects:
        return False
    folder.mkdir(exist_ok=True)
    form = "sha256" if len(commit) == _SHA256 else "sha1"
    demand(folder, "init", "--quiet", "--template=", f"--object-format={form}")
    info = folder / ".git" / "objects" / "info"
    info.mkdir(exist_ok=True)
    (info / "alternates").write_bytes(os.fsencode(objects) + b"\n")
    with suppress(OSError):
        shutil.copyfile(store / "shallow", folder / ".git" / "shallow")
    if ask(folder, "checkout", "--detach", "--force", "--quiet", commit).exit_code == 0:
        return True
    _clear(folder)
    folder.mkdir()
    return False


def _clear(folder: Path) -> None:
    if folder.is_dir() and not folder.is_symlink():
        shutil.rmtree(folder, ignore_errors=True)
