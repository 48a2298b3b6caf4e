"""Path globs of a pinned set, as `.gitignore` writes them: one step a folder, so that a walk can prune."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from admit.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

ANY: Final = None
"""The segment `**`: any number of folders, none included; as the last segment everything beneath."""

Segment: TypeAlias = "re.Pattern[bytes] | None"

_ONE_CHARACTER: Final = rb"(?:[\x00-\x7f\x80-\xbf]|[\xc0-\xff][\x80-\xbf]*)"
_CLASSES: Final = "[abc], [a-z], [!a-z] in ASCII, or [[] for ["
_CLASS: Final = re.compile(r"\[([!^]?)(\]?[^\]]*)\]")


class Glob(NamedTuple):
    """One pattern: its segments, whether it takes paths away (`!`), whether it names folders only (`/` at the end)."""

    segments: tuple[Segment, ...]
    excludes: bool
    folders_only: bool


def read_glob(pattern: str, where: str) -> Glob:
    r"""Return a compiled pattern.

    `*` and `?` stay within one name, `**` spans folders, `[a-z]` and `[!a-z]` are one character, `\` takes the
    next character as it is. A pattern without a slash inside holds at any depth, one with a slash from the root. What
    matches a folder matches everything beneath. A leading `!` takes away, and always wins.

    Raises:
        InputError: an empty pattern, one that leaves the repository, a class without end or with more than ASCII.
    """
    body = pattern.removeprefix("!")
    parts = body.removesuffix("/").removeprefix("/").split("/")
    if not all(parts) or {".", ".."} & set(parts):
        raise InputError(
            where, f"the pattern {pattern!r}", allowed="a path inside the repository, such as tests/data/**"
        )
    try:
        segments = [ANY if part == "**" else re.compile(_translated(part, pattern, where), re.DOTALL) for part in parts]
    except re.error as error:
        raise InputError(where, f"the class in {pattern!r}: {error}", allowed=_CLASSES) from error
    if "/" not in body.removesuffix("/"):
        segments.insert(0, ANY)
    return Glob(tuple(segments), pattern.startswith("!"), body.endswith("/"))


def _translated(part: str, pattern: str, where: str) -> bytes:
    """Return one name's pattern as a regular expression over bytes."""
    made = b""
    at = 0
    while at < len(part):
        char = part[at]
        if char == "*":
            made += b".*" if not made.endswith(b".*") else b""
        elif char == "?":
            made += _ONE_CHARACTER
        elif char == "[":
            found = _CLASS.match(part, at)
            if found is None or not found[2].isascii():
                raise InputError(where, f"the class in {pattern!r}", allowed=_CLASSES)
            made += _class(found[2], bool(found[1]))
            at = found.end() - 1
        else:
            at += char == "\\" and at + 1 < len(part)
            made += re.escape(part[at].encode("utf-8", "surrogateescape"))
        at += 1
    return made


def _class(members: str, is_negated: bool) -> bytes:
    ranges = re.sub(rb"[\\\[\]^&|~]", rb"\\\g<0>", members.encode("ascii"))
    return b"(?:(?![%b])%b)" % (ranges, _ONE_CHARACTER) if is_negated else b"[%b]" % ranges


class State(NamedTuple):
    """How far a set's patterns have got in one folder: `(pattern, segment)` pairs, or everything beneath (`whole`)."""

    alive: frozenset[tuple[int, int]]
    excluding: frozenset[tuple[int, int]]
    whole: bool


class FileRule(NamedTuple):
    """Which files of one folder a set takes: all (`whole`) or those that `include` matches, but none of `exclude`."""

    whole: bool
    include: re.Pattern[bytes] | None
    exclude: re.Pattern[bytes] | None

    @property
    def takes_all(self) -> bool:
        """Return whether no name needs to be looked at."""
        return self.whole and self.exclude is None

    def takes(self, name: bytes) -> bool:
        """Return whether the set takes the file of this name."""
        if self.exclude is not None and self.exclude.fullmatch(name):
            return False
        return self.whole or (self.include is not None and self.include.fullmatch(name) is not None)


class Globs:
    """All patterns of one set, walked a folder at a time."""

    __slots__ = ("_globs", "_rules", "start")

    def __init__(self, patterns: Iterable[str], where: str) -> None:
        self._globs = tuple(read_glob(pattern, where) for pattern in patterns)
        if all(glob.excludes for glob in self._globs):
            raise InputError(where, "no pattern that pins anything", allowed="at least one pattern without a leading !")
        self._rules: dict[State, FileRule] = {}
        first = [self._reached(which, 0) for which in range(len(self._globs))]
        self.start = State(
            frozenset[tuple[int, int]]().union(*(p for p, g in zip(first, self._globs, strict=True) if not g.excludes)),
            frozenset[tuple[int, int]]().union(*(p for p, g in zip(first, self._globs, strict=True) if g.excludes)),
            whole=False,
        )
        """The state in the repository's root."""

    def _reached(self, which: int, at: int) -> frozenset[tuple[int, int]]:
        """Return where a pattern stands at a segment: there, and past every `**` that may match nothing."""
        segments = self._globs[which].segments
        reached = {(which, at)}
        while at + 1 < len(segments) and segments[at] is ANY:
            at += 1
            reached.add((which, at))
        return frozenset(reached)

    def _stepped(self, places: frozenset[tuple[int, int]], name: bytes) -> tuple[frozenset[tuple[int, int]], bool]:
        """Return the places after one folder, and whether a pattern has matched it to its end."""
        after: set[tuple[int, int]] = set()
        for which, at in places:
            segments = self._globs[which].segments
            segment = segments[at]
            is_last = at + 1 == len(segments)
            if segment is ANY:
                if is_last:
                    return frozenset(), True
                after |= self._reached(which, at)
            elif segment.fullmatch(name):
                if is_last:
                    return frozenset(), True
                after |= self._reached(which, at + 1)
        return frozenset(after), False

    def entered(self, state: State, folder: bytes) -> State | None:
        """Return the state in a sub-folder, or None where nothing beneath it can belong to the set."""
        excluding, is_excluded = self._stepped(state.excluding, folder)
        if is_excluded:
            return None
        if state.whole:
            return State(frozenset(), excluding, whole=True)
        alive, is_whole = self._stepped(state.alive, folder)
        return State(alive, excluding, is_whole) if alive or is_whole else None

    def rule(self, state: State) -> FileRule:
        """Return which files of a folder belong to the set."""
        made = self._rules.get(state)
        if made is None:
            include, takes_all = self._finals(state.alive)
            exclude, takes_none = self._finals(state.excluding)
            whole = state.whole or takes_all
            made = FileRule(False, None, None) if takes_none else FileRule(whole, None if whole else include, exclude)
            self._rules[state] = made
        return made

    def _finals(self, places: frozenset[tuple[int, int]]) -> tuple[re.Pattern[bytes] | None, bool]:
        """Return what matches a file at the last segment of some pattern, and whether one matches every file."""
        finals = []
        for which, at in sorted(places):
            segments, _, folders_only = self._globs[which]
            if at + 1 == len(segments) and not folders_only:
                segment = segments[at]
                if segment is ANY:
                    return None, True
                finals.append(segment.pattern)
        return re.compile(b"|".join(b"(?:%b)" % one for one in finals), re.DOTALL) if finals else None, False

    def match(self, path: bytes) -> bool:
        """Return whether the file at a path belongs to the set."""
        *folders, name = path.split(b"/")
        state = self.start
        for folder in folders:
            entered = self.entered(state, folder)
            if entered is None:
                return False
            state = entered
        return self.rule(state).takes(name)
