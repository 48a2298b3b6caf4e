"""The base of a patch: named, or found in what GitHub and GitLab say; what it has of the files under review (T1)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from admit.errors import InputError
from admit.repository import blob, changes, is_commit, is_link, look, merge_base, resolve, toplevel
from admit.settings import FILE, read_settings
from admit.wiring.space import Workspace
from admit.wiring.trusted import control_files

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from admit.repository import Change


class Based(NamedTuple):
    """A patch and its base.

    `space` is the checkout with the base's settings; `top` the root of its repository, `prefix` the way from there to
    the workspace (empty, or ending in a slash). `base` is where the patch left the target branch, `tip` where that is.
    """

    space: Workspace
    top: Path
    prefix: str
    head: str
    base: str
    tip: str
    changes: tuple[Change, ...]

    def in_top(self, name: str) -> str:
        """Return a workspace's path as git has it."""
        return self.prefix + name

    def brought(self) -> tuple[str, ...]:
        """Return what git does not track and a worktree needs, of the workspace and of the top, from the top."""
        words = self.space.settings.words("trust.bring")
        return tuple(dict.fromkeys([*map(self.in_top, words), *words]))


def based(start: Path, ref: str, *, head: str | None = None) -> Based:
    """Return a commit, the one that is checked out at `start` by default, as a patch on `ref`.

    Raises:
        InputError: no repository, no such commit, no common ancestor, no `admit.toml` on the base or one that cannot be
            read.
    """
    here = start.resolve()
    top = toplevel(here)
    commit = None if top is None else resolve(top, head) if head else look(here).head
    if top is None or commit is None:
        raise InputError(str(start), "no commit is checked out here", do="run in a git repository with a commit")
    tip = resolve(top, ref)
    base = merge_base(top, tip, commit)
    for folder in (here, *here.parents):
        prefix = "" if folder == top else folder.relative_to(top).as_posix() + "/"
        raw = blob(top, base, prefix + FILE)
        if raw is not None:
            space = Workspace(folder, read_settings(raw, f"{ref}:{prefix}{FILE}"), True)
            return Based(space, top, prefix, commit, base, tip, changes(top, base, commit))
        if folder == top:
            break
    raise InputError(
        f"{ref}:{FILE}",
        "the base does not have it: nothing there says how to judge",
        do="merge what `admit init` writes first; without --base the patch is judged by its own rules, and says so",
    )


def base_moved_on(patch: Based) -> str:
    """Return which files under review are others on the target branch by now, empty where none is.

    A patch that stayed behind would be judged by rules that no longer are.
    """
    if patch.tip == patch.base:
        return ""
    mine = {patch.in_top(name) for name in control_files(patch.space)}
    moved = [change.path for change in changes(patch.top, patch.base, patch.tip) if change.path in mine]
    return f"the base has others by now: {', '.join(moved[:3])}" if moved else ""


def control_space(patch: Based, folder: Path) -> Workspace:
    """Write the base's files under review into a folder and return the workspace that they are read from (T1).

    Raises:
        InputError: one of them is a link: what it leads to could be changed without review.
    """
    for name in control_files(patch.space):
        if is_link(patch.top, patch.base, patch.in_top(name)):
            found = "a link in the place of a file under review, or on the way there"
            raise InputError(f"{patch.base[:12]}:{patch.in_top(name)}", found, do="put the file itself there")
        raw = blob(patch.top, patch.base, patch.in_top(name))
        if raw is not None:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(raw)
    return Workspace(folder, patch.space.settings, True)


def given_policy(patch: Based, given: str | None, folder: Path) -> str | None:
    """Return where a policy named on the command line is read: one that git tracks, as the base has it (T1).

    Args:
        patch: the patch.
        given: a shipped policy's name, a file, or None.
        folder: a private one, where the base's form is written.

    Raises:
        InputError: it lies in the repository, and the base does not have it.
    """
    from admit.policy import SHIPPED

    if given is None or given in SHIPPED:
        return given
    top, path = patch.top.resolve(), Path(given)
    places = (path.parent.resolve() / path.name, path.resolve())  # where it lies, and where it leads
    inside = [place.relative_to(top).as_posix() for place in places if place.is_relative_to(top)]
    if not inside:
        return given
    raw = None if is_link(patch.top, patch.base, inside[0]) else blob(patch.top, patch.base, inside[0])
    if raw is None:
        do = "name one that the base has, or one outside of the repository"
        raise InputError(f"--policy {given}", "the base does not have it: a patch brings no rules along", do=do)
    place = folder / "given-policy.toml"
    place.write_bytes(raw)
    return str(place)


def found_base(environ: Mapping[str, str], start: Path) -> str | None:
    """Return the base that a GitHub or GitLab job names for the patch at work, None outside of one.

    GitHub: the event's `merge_group.base_sha` in a merge queue; in a pull request the branch of `GITHUB_BASE_REF`, else
    the event's `pull_request.base.sha`, which stays behind where the branch moves on. GitLab:
    `CI_MERGE_REQUEST_TARGET_BRANCH_SHA`, else the branch of `CI_MERGE_REQUEST_TARGET_BRANCH_NAME`, else
    `CI_MERGE_REQUEST_DIFF_BASE_SHA`. What was not fetched to the repository around `start` is passed over; where none
    of it was, the first is returned, and whoever looks for it says so.
    """
    said = [base for base in _said(environ) if base]
    return next((base for base in said if is_commit(start, base)), said[0] if said else None)


def _said(environ: Mapping[str, str]) -> Iterator[str]:
    if environ.get("GITHUB_ACTIONS") == "true":
        event = _event(environ.get("GITHUB_EVENT_PATH", ""))
        yield _text(event, "merge_group", "base_sha")
        yield _branch(environ.get("GITHUB_BASE_REF", ""))
        yield _text(event, "pull_request", "base", "sha")
    if environ.get("GITLAB_CI") == "true":
        yield environ.get("CI_MERGE_REQUEST_TARGET_BRANCH_SHA", "")
        yield _branch(environ.get("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", ""))
        yield environ.get("CI_MERGE_REQUEST_DIFF_BASE_SHA", "")


def _branch(name: str) -> str:
    # in full: a tag or a branch that somebody calls `origin/main` would come first
    return f"refs/remotes/origin/{name}" if name else ""


def _event(path: str) -> Any:
    try:
        return json.loads(Path(path).read_bytes()) if path else {}
    except (OSError, ValueError, RecursionError):
        return {}


def _text(tree: Any, *keys: str) -> str:
    for key in keys:
        tree = tree.get(key, {}) if isinstance(tree, dict) else {}
    return tree if isinstance(tree, str) else ""
