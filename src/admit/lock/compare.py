"""What is pinned against what is there: every difference by name, none guessed (contract L2, L3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from admit.lock.difference import Difference, DifferenceKind
from admit.lock.observed import STANDING_WORDS
from admit.lock.paths import canonical_form, caseless_form, name_of, path_of, shown, twin_among
from admit.lock.pinned import setting_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from admit.lock.globs import Globs
    from admit.lock.manifest import Manifest
    from admit.lock.observed import Gone, LinkSeen, Observed, Walked
    from admit.lock.pinned import InForce, Instrument, Lock
    from admit.lock.report import Compared


class Pinned(NamedTuple):
    """Both files as they were parsed, and the compiled patterns of each set by its name."""

    manifest: Manifest
    lock: Lock
    globs: Mapping[str, Globs]

    def sets_of(self, path: bytes) -> tuple[str, ...]:
        """Return the names of the sets whose patterns take a path; none means that it concerns all."""
        return tuple(name for name, globs in self.globs.items() if globs.match(path))

    def holds(self, path: bytes) -> bool:
        """Return whether a path is pinned, as a file or as a link."""
        return path in self.manifest or name_of(path) in self.link_targets

    @property
    def link_targets(self) -> dict[str, str]:
        """Return the target of each pinned link, as text."""
        return dict(self.lock.links)

    def named(self, bits: int) -> tuple[str, ...]:
        """Return the names of the sets that a walk holds as bits."""
        return tuple(name for at, name in enumerate(self.globs) if bits >> at & 1)


class Present(NamedTuple):
    """What a walk and a full read found: digests by path, their bytes in all, the paths with an execute bit.

    `odd` are files that could not be read while they stayed the same (they have no digest), and Git LFS pointers;
    `closer` are those that are not as pinned, read again; `gone` are pinned paths that the walk did not come by.
    """

    digests: Mapping[bytes, bytes]
    total_bytes: int
    executable: frozenset[bytes]
    odd: Mapping[bytes, Observed]
    closer: Mapping[bytes, Observed]
    gone: list[Gone]
    walked: Walked


def differences(pinned: Pinned, present: Present) -> Iterator[Difference]:
    """Yield every difference in files and links."""
    yield from _content_differences(pinned, present)
    yield from _mode_differences(pinned, present)
    yield from _membership_differences(pinned, present)
    yield from _link_differences(pinned, present)
    for refused in present.walked.refused:
        sets, path = pinned.named(refused.sets), shown(refused.path)
        if refused.error:
            yield Difference("unreadable", path, sets, found=refused.error)
        elif not pinned.holds(refused.path):
            yield Difference("added", path, sets, found=STANDING_WORDS[refused.stands])
    for name, files in files_by_set(pinned.globs, present.walked.counts()).items():
        if files == 0:
            yield Difference("set-empty", name, (name,))


def changed_paths(manifest: Mapping[bytes, bytes], digests: Mapping[bytes, bytes]) -> list[bytes]:
    """Return the pinned files that were read and have another digest."""
    return [path for path, digest in manifest.items() if path in digests and digests[path] != digest]


def files_by_set(names: Iterable[str], counts: Mapping[int, int]) -> dict[str, int]:
    """Return how many files and links each set has, given the number in each combination of sets, as bits."""
    return {name: sum(number for bits, number in counts.items() if bits >> at & 1) for at, name in enumerate(names)}


def _content_differences(pinned: Pinned, present: Present) -> Iterator[Difference]:
    """Yield what is different about the content of files, or about reading them (contract L6)."""
    for seen in present.odd.values():
        sets, path = pinned.sets_of(seen.path), shown(seen.path)
        match seen.outcome:
            case "unreadable":
                yield Difference("unreadable", path, sets, found=seen.error)
            case "changing":
                yield Difference("changed-while-reading", path, sets)
            case "not_a_file":
                yield Difference("type-changed", path, sets, "file", seen.error)
            case "read":
                if seen.is_lfs_pointer:  # whatever is pinned: a pointer is not what the tests are meant to read
                    yield Difference("lfs-pointer", path, sets)
    for name, closer in present.closer.items():
        odd = present.odd.get(name)
        if odd is None or not odd.is_lfs_pointer:
            found = _changed(pinned.manifest[name], present.digests[name], closer)
            yield found._replace(path=shown(name), sets=pinned.sets_of(name))


def _changed(digest: bytes, found: bytes, seen: Observed) -> Difference:
    """Return in which way a file's content is another; `seen` is a reading after the one that gave `found`."""
    if seen.outcome == "read" and seen.digest != found:
        return Difference("changed-while-reading", "")
    if seen.lf_digest == digest:
        return Difference("crlf-only", "", (), "LF", "CRLF")
    if seen.crlf_digest == digest:
        return Difference("crlf-only", "", (), "CRLF", "LF")
    return Difference("changed", "", (), digest.hex()[:12], found.hex()[:12])


def _mode_differences(pinned: Pinned, present: Present) -> Iterator[Difference]:
    executable = {path_of(name) for name in pinned.lock.executable}
    for path in sorted((executable ^ present.executable) & pinned.manifest.keys() & present.digests.keys()):
        words = ("executable", "not executable") if path in executable else ("not executable", "executable")
        yield Difference("mode", shown(path), pinned.sets_of(path), *words)


def _membership_differences(pinned: Pinned, present: Present) -> Iterator[Difference]:
    """Yield what was added, removed, renamed within a twin's reach, or replaced by something else."""
    gone = {one.path: one for one in present.gone}
    links = {path_of(name) for name in pinned.link_targets}  # a file in the place of one is among the gone
    added = (present.digests.keys() | present.odd.keys()) - pinned.manifest.keys() - links
    forms = {caseless_form(path): path for path in pinned.manifest} if added else {}
    for path in sorted(added):
        sets = pinned.sets_of(path)
        if (twin := twin_among(path, forms)) is None:
            yield Difference("added", shown(path), sets, found="a file")
        else:
            is_form = canonical_form(path) == canonical_form(twin)
            if gone.pop(twin, None) is not None:  # one rename, not a loss and a gain; it drifts the sets of both names
                sets = _union(sets, pinned.sets_of(twin))
            kind: DifferenceKind = "unicode-form" if is_form else "casefold"
            yield Difference(kind, _spelt(path, is_form), sets, _spelt(twin, is_form))
    for one in gone.values():
        pinned_as = "file" if one.path in pinned.manifest else "symbolic link"
        yield _gone_difference(one, pinned.sets_of(one.path), pinned_as)


def _union(sets: tuple[str, ...], more: tuple[str, ...]) -> tuple[str, ...]:
    """Return the sets of two names together; where one of them concerns all sets, both do."""
    return tuple(sorted({*sets, *more})) if sets and more else ()


def _spelt(path: bytes, is_form: bool) -> str:
    """Return a path so that two Unicode forms of one text look different."""
    return path.decode("utf-8", "backslashreplace").encode("unicode_escape").decode("ascii") if is_form else shown(path)


def _gone_difference(one: Gone, sets: tuple[str, ...], pinned_as: str) -> Difference:
    path = shown(one.path)
    if one.error:
        return Difference("unreadable", path, sets, found=one.error)
    if one.stands == "absent":
        return Difference("removed", path, sets)
    if one.via:
        found = f"behind the symbolic link {shown(one.via)}"
        if one.is_outside:
            return Difference("outside-repository", path, sets, pinned_as, found)
        return Difference("type-changed", path, sets, pinned_as, found)
    return Difference("type-changed", path, sets, pinned_as, STANDING_WORDS[one.stands])


def _link_differences(pinned: Pinned, present: Present) -> Iterator[Difference]:
    """Yield what is different about symbolic links, and where they lead (contract L2)."""
    targets = pinned.link_targets
    for link in present.walked.links:
        sets, path, found = pinned.named(link.sets), shown(link.path), shown(link.target)
        target = targets.get(name_of(link.path))
        if target is None:
            if link.path not in pinned.manifest:  # a file that became a link is told as such
                yield Difference("added", path, sets, found=f"a symbolic link to {found}")
        elif target != name_of(link.target):
            yield Difference("link-target", path, sets, target, found)
        yield from target_differences(link, pinned)


def target_differences(link: LinkSeen, pinned: Pinned) -> Iterator[Difference]:
    """Yield that a link leads out of the repository, or to something that one of the link's sets does not pin.

    What a test reads through a link has to be pinned for the same nodes; otherwise it could change and the link would
    still match.
    """
    path = shown(link.path)
    if link.leads_to is None:
        yield Difference("outside-repository", path, pinned.named(link.sets), found=f"a link to {shown(link.target)}")
        return
    if link.stands == "absent":
        return
    ends = link.beneath if link.stands == "directory" else (link.leads_to,)
    each: list[tuple[str, ...]] = [(name,) for name in pinned.named(link.sets)]
    for sets in each or [()]:
        loose = next((end for end in ends if not pinned.holds(end) or set(sets) - set(pinned.sets_of(end))), None)
        if loose is not None:
            yield Difference("unpinned-target", path, sets, found=shown(loose))


def disagreements(pinned: Pinned, present: Present, manifest_name: str, digest: str) -> Iterator[Difference]:
    """Yield where manifest and lock file are not of one writing; counts only where the digest fits."""
    lock, manifest = pinned.lock, pinned.manifest
    counts = (f"{lock.files} files", f"{len(manifest)} files")
    sizes = (f"{lock.total_bytes} bytes", f"{present.total_bytes} bytes")
    if digest != lock.manifest:
        yield Difference("manifest-disagrees", manifest_name, (), lock.manifest, digest)
    elif len(manifest) != lock.files:
        yield Difference("manifest-disagrees", manifest_name, (), *counts)
    elif present.digests == manifest and present.total_bytes != lock.total_bytes:
        yield Difference("manifest-disagrees", manifest_name, (), *sizes)
    for name in lock.executable:
        if path_of(name) not in manifest:
            yield Difference("manifest-disagrees", shown(path_of(name)), (), "executable", "not in the manifest")
    for name, _ in lock.links:
        if path_of(name) in manifest:
            yield Difference(
                "manifest-disagrees", shown(path_of(name)), (), "a symbolic link", "in the manifest as a file"
            )


def instrument_differences(pinned: Instrument, in_force: InForce) -> tuple[list[Difference], tuple[Compared, ...]]:
    """Return where seed, Hypothesis settings and versions differ, and which of the three are not known (contract L3).

    A setting or version on one side only is a difference: an open field takes its value from wherever the run happens.
    A lock that pins no seed says nothing about it.
    """
    found: list[Difference] = []
    unknown: list[Compared] = []
    if in_force.seed is None or pinned.seed is None:
        unknown.append("seed")
    elif str(in_force.seed) != str(pinned.seed):
        found.append(Difference("seed", "seed", (), str(pinned.seed), str(in_force.seed)))
    if in_force.settings is None:
        unknown.append("settings")
    else:
        texts = {name: setting_text(value, f"setting {name}") for name, value in in_force.settings.items()}
        found += [Difference("setting", name, (), a, b) for name, a, b in _unequal(dict(pinned.settings), texts)]
    if in_force.versions is None:
        unknown.append("versions")
    else:
        found += [
            Difference("version", name, (), a, b) for name, a, b in _unequal(dict(pinned.versions), in_force.versions)
        ]
    return found, tuple(unknown)


def _unequal(pinned: Mapping[str, str], in_force: Mapping[str, str]) -> list[tuple[str, str, str]]:
    names = sorted(pinned.keys() | in_force.keys())
    pairs = [(name, pinned.get(name, "not set"), in_force.get(name, "not set")) for name in names]
    return [pair for pair in pairs if pair[1] != pair[2]]
