"""One difference between what is pinned and what is there, in a closed vocabulary and in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from admit.errors import one_line

if TYPE_CHECKING:
    from admit.core.signals import LockState

DifferenceKind: TypeAlias = Literal[
    "added",
    "removed",
    "changed",
    "type-changed",
    "mode",
    "link-target",
    "unpinned-target",
    "outside-repository",
    "lfs-pointer",
    "crlf-only",
    "unicode-form",
    "casefold",
    "changed-while-reading",
    "unreadable",
    "seed",
    "setting",
    "version",
    "manifest-disagrees",
    "manifest-missing",
    "lock-missing",
    "set-empty",
]
"""What can be different (contract L2, L3, L6)."""

_TEXTS: Final[dict[DifferenceKind, str]] = {
    "added": "{path}: {found} that the manifest does not name",
    "removed": "{path}: pinned, but not there",
    "changed": "{path}: content changed, {pinned} is now {found}",
    "type-changed": "{path}: pinned as a {pinned}, but is {found}",
    "mode": "{path}: pinned as {pinned}, but is {found}",
    "link-target": "{path}: pinned as a link to {pinned}, but leads to {found}",
    "unpinned-target": "{path}: a link to {found}, which its set does not pin, so that it could change unseen",
    "outside-repository": "{path}: {found}, which leads out of the repository",
    "lfs-pointer": "{path}: a Git LFS pointer instead of the file; run git lfs pull",
    "crlf-only": "{path}: only the line ends differ, {found} instead of {pinned}; mark it -text in .gitattributes",
    "unicode-form": "{path}: pinned under this name in another Unicode form, {pinned}",
    "casefold": "{path}: differs from the pinned {pinned} in case alone; some file systems hold only one of them",
    "changed-while-reading": "{path}: changed while it was read, twice",
    "unreadable": "{path}: cannot be read: {found}",
    "seed": "seed: pinned as {pinned}, in force is {found}",
    "setting": "Hypothesis setting {path}: pinned as {pinned}, in force is {found}",
    "version": "version of {path}: pinned as {pinned}, in force is {found}",
    "manifest-disagrees": "{path}: does not fit the lock file: {found}, pinned is {pinned}",
    "manifest-missing": "{path}: there is no manifest; a person writes one with admit lock write in a reviewed commit",
    "lock-missing": "{path}: there is no lock file; a person writes one with admit lock write in a reviewed commit",
    "set-empty": "{path}: the pinned set has no files; correct its paths, then admit lock write",
}

DIFFERENCE_KINDS: Final[tuple[DifferenceKind, ...]] = tuple(_TEXTS)

_MISSING: Final[frozenset[DifferenceKind]] = frozenset({"manifest-missing", "lock-missing", "set-empty"})
"""What leaves nothing to compare with; every other difference is drift (contract L2)."""


class Difference(NamedTuple):
    """One difference.

    `path` is what differs, as a person may read it: a file, a set, a setting, a tool. `sets` names the pinned sets that
    it drifts; empty, it concerns all of them. `pinned` and `found` are the two sides in words, empty where there is
    nothing to say.
    """

    kind: DifferenceKind
    path: str
    sets: tuple[str, ...] = ()
    pinned: str = ""
    found: str = ""

    @property
    def text(self) -> str:
        """Return the difference in one line."""
        return one_line(_TEXTS[self.kind].format(path=self.path, pinned=self.pinned, found=self.found))

    @property
    def state(self) -> LockState:
        """Return what the difference makes of its sets: `drifted` or `missing`, never `match`."""
        return "missing" if self.kind in _MISSING else "drifted"
