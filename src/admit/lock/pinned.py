"""The lock file: what is pinned beside the digests, as one value and as one text (contract L3, L4)."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

from admit import strictjson
from admit.errors import InputError
from admit.lock.globs import Globs
from admit.lock.manifest import NAME as MANIFEST_NAME
from admit.lock.paths import path_of, refusal
from admit.lock.ties import EVERY_NODE

if TYPE_CHECKING:
    from collections.abc import Mapping

SCHEMA: Final = "admit.lock/1"
NAME: Final = "admit.lock"
"""Where the lock file lies, unless the settings say otherwise."""

Scalar: TypeAlias = bool | int | float | str | None
Value: TypeAlias = "Scalar | tuple[Scalar, ...] | list[Scalar]"
"""What a Hypothesis setting may hold; a tuple and a list of the same values are the same setting."""

_KEYS: Final = (
    "schema", "manifest", "files", "bytes", "sets", "links", "executable", "seed", "settings", "versions",
)  # fmt: skip
_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")
_SET_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


class LockText(NamedTuple):
    """The two files as they were read from wherever is trusted: the base commit for a gate (contract L5).

    None stands for a file that is not there. The names say where the two lie in the repository, so that they are not
    taken for pinned files, and stand in errors.
    """

    manifest: bytes | None
    lock: bytes | None
    manifest_name: str = MANIFEST_NAME
    lock_name: str = NAME


class PinnedSet(NamedTuple):
    """Files pinned under one name: path globs (`globs.read_glob`), and the nodes they are tied to (`ties.is_tied`)."""

    name: str
    paths: tuple[str, ...]
    nodes: tuple[str, ...] = (EVERY_NODE,)


class Instrument(NamedTuple):
    """What tests are measured with (contract L3): seed, every Hypothesis setting, tool versions.

    Make one with `instrument`. A setting is held as its one JSON text, so that values which Python takes for equal
    (`1`, `1.0`, `True`) are not. `seed` is None where none is pinned.
    """

    seed: int | None
    settings: tuple[tuple[str, str], ...]
    versions: tuple[tuple[str, str], ...]

    def profile(self) -> dict[str, Value]:
        """Return the pinned settings as values, lists as tuples."""
        loaded = {name: json.loads(text) for name, text in self.settings}
        return {name: tuple(value) if isinstance(value, list) else value for name, value in loaded.items()}


class InForce(NamedTuple):
    """What is in force where the tests run, to be compared with an `Instrument`.

    None means that it is not known here; it is then not compared, and the report says so. A run whose seed nobody chose
    is `random`, which no pinned seed matches.
    """

    seed: int | Literal["random"] | None = None
    settings: Mapping[str, Value] | None = None
    versions: Mapping[str, str] | None = None


class Lock(NamedTuple):
    """Everything that the lock file pins. Paths are text as `paths.name_of` makes it; links are (path, target)."""

    manifest: str
    files: int
    total_bytes: int
    sets: tuple[PinnedSet, ...]
    links: tuple[tuple[str, str], ...]
    executable: tuple[str, ...]
    instrument: Instrument


def instrument(seed: int | None, settings: Mapping[str, Value], versions: Mapping[str, str]) -> Instrument:
    """Return what tests are measured with, in its one form.

    Raises:
        InputError: a value that no setting may hold, an empty name or version.
    """
    if not (seed is None or type(seed) is int):
        strictjson.refuse("seed", seed, "a whole number, or null where none is pinned")
    pairs = tuple(sorted((name, setting_text(value, f"setting {name}")) for name, value in settings.items()))
    return Instrument(seed, pairs, strictjson.text_pairs(dict(versions), "versions"))


def setting_text(value: Value, where: str) -> str:
    """Return the one JSON text of a setting's value.

    Raises:
        InputError: not a text, number, boolean, null, or list of those; not finite.
    """
    parts = value if isinstance(value, list | tuple) else [value]
    if not all(part is None or type(part) in (bool, int, float, str) for part in parts):
        raise InputError(where, f"a value that JSON cannot hold: {value!r}"[:200], allowed=_VALUES)
    try:
        return json.dumps(value, allow_nan=False)
    except ValueError as error:
        raise InputError(where, f"{value!r}", allowed=_VALUES) from error


_VALUES: Final = "a text, a finite number, true, false, null, or a list of those"


def checked_sets(sets: tuple[PinnedSet, ...], where: str) -> dict[str, Globs]:
    """Return the compiled patterns of each set by its name.

    Raises:
        InputError: no set, a name twice or of odd characters, an empty list, a pattern that is none.
    """
    if not sets:
        raise InputError(
            where, "no pinned set", allowed="at least one, such as [lock.sets.fixtures] with paths = [...]"
        )
    made: dict[str, Globs] = {}
    for one in sets:
        if not _SET_NAME.fullmatch(one.name) or one.name in made:
            raise InputError(where, f"the set name {one.name!r}", allowed="letters, digits, . _ -; each name once")
        if not one.nodes or not all(one.nodes):
            raise InputError(where, f"the set {one.name} is tied to nothing", allowed=f'nodes, or "{EVERY_NODE}"')
        made[one.name] = Globs(one.paths, f"{where}: set {one.name}")
    return made


def lock_text(lock: Lock) -> bytes:
    """Return the one text of a lock: two equal locks give equal bytes."""
    tree: dict[str, Any] = {
        "schema": SCHEMA,
        "manifest": lock.manifest,
        "files": lock.files,
        "bytes": lock.total_bytes,
        "sets": [one._asdict() for one in lock.sets],
        "links": dict(lock.links),
        "executable": lock.executable,
        "seed": lock.instrument.seed,
        "settings": {name: json.loads(text) for name, text in lock.instrument.settings},
        "versions": dict(lock.instrument.versions),
    }
    return json.dumps(tree, indent=2, ensure_ascii=True, allow_nan=False).encode("ascii") + b"\n"


def read_lock(text: bytes, where: str = NAME) -> Lock:
    """Return what a lock file pins.

    Raises:
        InputError: not JSON, a key that is unknown, absent or stands twice, a value of the wrong type or form.
    """
    tree = strictjson.read_object(text, where, do="write the lock again")
    strictjson.only(tree, _KEYS, where)
    if tree["schema"] != SCHEMA:
        strictjson.refuse(f"{where}: schema", tree["schema"], f'"{SCHEMA}"')
    if not isinstance(tree["manifest"], str) or not _DIGEST.fullmatch(tree["manifest"]):
        strictjson.refuse(f"{where}: manifest", tree["manifest"], "sha256: and 64 hexadecimal digits")
    settings = tree["settings"]
    if not isinstance(settings, dict) or not all(settings):
        strictjson.refuse(f"{where}: settings", settings, "an object of setting names to values")
    links = strictjson.text_pairs(tree["links"], f"{where}: links")
    executable = tuple(sorted(strictjson.texts(tree["executable"], f"{where}: executable")))
    _check_paths([path for path, _ in links], f"{where}: links")
    _check_paths(list(executable), f"{where}: executable")
    return Lock(
        manifest=tree["manifest"],
        files=strictjson.count(tree["files"], f"{where}: files"),
        total_bytes=strictjson.count(tree["bytes"], f"{where}: bytes"),
        sets=_read_sets(tree["sets"], where),
        links=links,
        executable=executable,
        instrument=instrument(
            tree["seed"], settings, dict(strictjson.text_pairs(tree["versions"], f"{where}: versions"))
        ),
    )


def _check_paths(names: list[str], where: str) -> None:
    for name in names:
        try:
            why = refusal(path_of(name))
        except ValueError:
            why = "half of a surrogate pair"
        if why:
            raise InputError(where, f"{why}: {name!r}", allowed="a path inside the repository, relative to its root")


def _read_sets(value: object, where: str) -> tuple[PinnedSet, ...]:
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        strictjson.refuse(f"{where}: sets", value, "a list of objects")
    made = []
    for tree in value:
        strictjson.only(tree, PinnedSet._fields, f"{where}: sets")
        name = (
            tree["name"]
            if isinstance(tree["name"], str)
            else strictjson.refuse(f"{where}: sets", tree["name"], "a text")
        )
        paths, nodes = (strictjson.texts(tree[key], f"{where}: set {name}: {key}") for key in ("paths", "nodes"))
        made.append(PinnedSet(name, paths, nodes))
    sets = tuple(sorted(made))
    checked_sets(sets, where)
    return sets
