"""The table of settings: every key of `admit.toml`, its type, its default, what it does."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from admit.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

FILE: Final = "admit.toml"


LONGEST_HORIZON_DAYS: Final = 365
"""No freeze may be set to end further ahead: one without an end is what contract F3 exists to refuse."""


class PinnedPaths(NamedTuple):
    """One named set of pinned files (contract L4): path globs, and the node-id patterns that it ties to."""

    name: str
    paths: tuple[str, ...]
    nodes: tuple[str, ...] = ("*",)


class Setting(NamedTuple):
    """One row: the key in `admit.toml`, its type, its default and what it does."""

    key: str
    kind: type
    default: Any
    help: str


SETTINGS: Final[tuple[Setting, ...]] = (
    Setting("policy.router", str, "router", "policy that rules on patches: `router` as shipped, or a path"),
    Setting("policy.arbiter", str, "arbiter", "policy that rules on nodes: `arbiter` as shipped, or a path"),
    Setting(
        "policy.trusted_arbiter",
        str,
        "trusted-arbiter",
        "policy that rules on nodes where a base's instrument judged (contract 2.3): as shipped, or a path",
    ),
    Setting(
        "run.command", list, ["python", "-m", "pytest"], "the test command, for commands that have to run it themselves"
    ),
    Setting("run.timeout_s", int, 3600, "seconds until a run is killed; what it left is then no evidence"),
    Setting("run.lane", str, "default", "the lane that runs from here belong to (contract T8)"),
    Setting("gates.property_markers", list, ["property"], "pytest markers that make a test a property test"),
    Setting("gates.property_paths", list, [], "path patterns whose tests are property tests"),
    Setting(
        "gates.timing_nodes",
        list,
        [],
        "node-id patterns of timing-sensitive tests: they count only on a lane that the policy trusts for them (T8)",
    ),
    Setting("gates.timing_markers", list, [], "pytest markers that make a test timing-sensitive, in the same way (T8)"),
    Setting("lock.manifest", str, "admit.sha256", "manifest of pinned files, `sha256sum` format"),
    Setting("lock.file", str, "admit.lock", "lock file beside it: links, modes, seed, Hypothesis settings, versions"),
    Setting(
        "lock.versions",
        list,
        ["pytest", "hypothesis"],
        "distributions whose version is pinned; another is drift (contract L3)",
    ),
    Setting("hypothesis.seed", int, 0, "seed that property tests run under"),
    Setting("hypothesis.max_examples", int, 100, "examples a property, where the test says nothing itself"),
    Setting("hypothesis.stateful_step_count", int, 50, "steps of a state machine, where the test says nothing itself"),
    Setting("freeze.register", str, "admit.freezes.toml", "register of freezes"),
    Setting("freeze.horizon_days", int, 30, "how many days ahead a freeze may expire at most (contract F3)"),
    Setting("abstain.file", str, "admit.abstentions.toml", "declared abstentions (contract U7)"),
    Setting(
        "trust.tests",
        list,
        [],
        "further path patterns of test files and of what they read, beside `tests/`, `test_*.py` and the like (T7)",
    ),
    Setting("trust.runner", list, [], "further path patterns of files that say how tests are run (contract T3)"),
    Setting(
        "trust.bring",
        list,
        [".venv", "venv", "env", ".tox", ".nox", "node_modules"],
        "untracked folders and files that a worktree needs; links to them are made there",
    ),
    Setting("trust.approvals", str, ".admit/approvals", "where reviewers' signed approvals lie; never in the commit"),
    Setting("trust.inventory", str, "", "folder with the base's own evidence, for `admit decide` (contract T2)"),
    Setting(
        "scope.inert",
        list,
        [],
        "path patterns of what no gate measures, from the repository's top: a test covers a change of it only if it "
        "opened the file (S4)",
    ),
    Setting("ledger.path", str, ".admit/ledger.db", "where decisions are recorded"),
    Setting("evidence.folder", str, ".admit/evidence", "where a run leaves its documents"),
    Setting("evidence.max_bytes", int, 2_000_000_000, "largest evidence document that is read"),
    Setting("evidence.max_line_bytes", int, 16_000_000, "longest line of an evidence document"),
    Setting("evidence.max_nodes", int, 5_000_000, "most nodes in one evidence document"),
    Setting("evidence.max_depth", int, 32, "deepest nesting of an evidence document"),
)
"""Every setting but `[lock.sets.NAME]`, which is a table of `paths` and `nodes` a set."""


class Settings:
    """What `admit.toml` says, with the defaults for what it does not say."""

    __slots__ = ("_values", "sets")

    def __init__(self, values: dict[str, Any] | None = None, sets: tuple[PinnedPaths, ...] = ()) -> None:
        self._values = {row.key: row.default for row in SETTINGS} | (values or {})
        self.sets = sets

    def text(self, key: str) -> str:
        """Return a setting that is text."""
        return str(self._values[key])

    def number(self, key: str) -> int:
        """Return a setting that is a whole number."""
        return int(self._values[key])

    def words(self, key: str) -> tuple[str, ...]:
        """Return a setting that is a list of texts."""
        return tuple(self._values[key])


class _Text:
    """The text of a configuration and the name that it goes by in messages; finds lines when a message needs one."""

    def __init__(self, where: str, raw: bytes) -> None:
        self.where, self.raw = where, raw

    def at(self, *keys: str) -> str:
        """Return `where:line` of the value that these keys lead to, or the name alone where it is not written.

        The parser of the standard library tells no positions, but the shortest part from the top that is TOML and
        has the value ends with its last line, and the next shorter part that is TOML ends before its first.
        """
        lines = self.raw.decode("utf-8").split("\n")
        last = next((n for n in range(1, min(len(lines), MAX_LINES) + 1) if _has(lines[:n], keys)), 0)
        first = next((n for n in range(last, 0, -1) if _parsed(lines[: n - 1]) is not None), 0)
        return f"{self.where}:{first}" if first else self.where

    def error(self, keys: Sequence[str], found: str, *, allowed: str = "", do: str = "") -> InputError:
        """Return the refusal of a value, to be raised."""
        return InputError(self.at(*keys), found, allowed=allowed, do=do)

    def tree(self) -> dict[str, Any]:
        """Return what the text says.

        Raises:
            InputError: it is not TOML.
        """
        import tomllib

        try:
            return tomllib.loads(self.raw.decode("utf-8"))
        except ValueError as error:  # bad UTF-8 and bad TOML are of this kind, a number of thousands of digits too
            line = re.search(r"at line (\d+)", str(error))
            where = f"{self.where}:{line[1]}" if line else self.where
            raise InputError(where, f"not TOML: {error}", do="correct the line named") from error
        except RecursionError as error:
            raise InputError(self.where, "not readable as TOML: nested too deep", do="correct it") from error


MAX_LINES: Final = 300
"""So far down a line is looked for: every part from the top is parsed anew, which is slow in a file that is long."""


def _parsed(lines: list[str]) -> dict[str, Any] | None:
    """Return what the first lines of a text say; None where they break off inside a value."""
    import tomllib

    try:
        return tomllib.loads("\n".join([*lines, ""]))
    except ValueError:
        return None


def _has(lines: list[str], keys: tuple[str, ...]) -> bool:
    tree: Any = _parsed(lines)
    for key in keys:
        if not isinstance(tree, dict) or key not in tree:
            return False
        tree = tree[key]
    return True


def read_settings(raw: bytes, where: str = FILE) -> Settings:
    """Return what a configuration file says.

    Raises:
        InputError: not TOML, an unknown key, a wrong type, a value out of range; names the line.
    """
    text = _Text(where, raw)
    tree = text.tree()
    sets = _pinned_sets(tree, text)
    values: dict[str, Any] = {}
    rows = {row.key: row for row in SETTINGS}
    for section, table in tree.items():
        if not isinstance(table, dict):
            raise text.error([section], f"the key {section} stands outside a table", allowed=", ".join(_sections()))
        if f"[{section}]" not in _sections():
            raise text.error([section], f"unknown table [{section}]", allowed=", ".join(_sections()))
        for name, value in table.items():
            key = f"{section}.{name}"
            if key not in rows:
                raise text.error([section, name], f"unknown key {key}", allowed=", ".join(rows) + ", lock.sets.NAME")
            values[key] = _checked(rows[key], value, text)
    settings = Settings(values, sets)
    _check_paths(settings, text)
    return settings


PATHS: Final = (
    "lock.manifest",
    "lock.file",
    "freeze.register",
    "abstain.file",
    "ledger.path",
    "evidence.folder",
    "trust.approvals",
)
"""Settings that name a file or folder of their own, under the root."""

POLICIES: Final = ("policy.router", "policy.arbiter", "policy.trusted_arbiter")
"""Settings that name a shipped policy, or a file like the above."""

CONTROL: Final = ("lock.manifest", "lock.file", "freeze.register", "abstain.file", *POLICIES)
"""Settings whose files are under review (contract T1): none of them may lie where admit keeps its own state."""


def _check_paths(settings: Settings, text: _Text) -> None:
    """Refuse a path that leaves the repository, or that two settings share: one would overwrite the other.

    A path has one spelling: which files are under review is compared by it.
    """
    shipped = {row.default for row in SETTINGS if row.key in POLICIES}
    for key in POLICIES:
        if settings.text(key) not in shipped:
            _check_path(key, settings, text)
    seen: dict[str, str] = {FILE: "the configuration"}
    for key in PATHS:
        _check_path(key, settings, text)
        parts = settings.text(key).split("/")
        if (other := seen.setdefault("/".join(parts), key)) != key:
            found, do = f"{key} is {settings.text(key)!r}, as is {other}", "give each a path of its own"
            is_written = text.at(*key.split(".")) != text.where  # one of the two may be a default, on no line
            raise text.error((key if is_written else other).split("."), found, do=do)


def _check_path(key: str, settings: Settings, text: _Text) -> None:
    path = settings.text(key)
    parts, allowed = path.split("/"), "a plain path under the repository's root"
    if path.startswith("/") or {"", ".", "..", ".git"} & set(parts):
        raise text.error(key.split("."), f"{key} is {path!r}", allowed=allowed)
    if key in CONTROL and parts[0] == ".admit":
        allowed += ", outside of .admit, where admit keeps its own state"
        raise text.error(key.split("."), f"{key} is {path!r}", allowed=allowed)


def _sections() -> list[str]:
    return sorted({f"[{row.key.split('.')[0]}]" for row in SETTINGS})


def _checked(row: Setting, value: Any, source: _Text) -> Any:
    keys = row.key.split(".")
    if type(value) is not row.kind:
        raise source.error(keys, f"{row.key} is {value!r}", allowed=_TYPE_WORDS[row.kind])
    if isinstance(value, int) and value < (0 if row.key == "hypothesis.seed" else 1):
        raise source.error(keys, f"{row.key} is {value}", allowed="a whole number of at least 1")
    if row.key == "freeze.horizon_days" and isinstance(value, int) and value > LONGEST_HORIZON_DAYS:
        raise source.error(keys, f"{row.key} is {value}", allowed=f"1 to {LONGEST_HORIZON_DAYS}")
    if isinstance(value, list) and not all(isinstance(part, str) and part for part in value):
        raise source.error(keys, f"{row.key} is {value!r}", allowed=_TYPE_WORDS[list])
    if isinstance(value, str) and not value:
        raise source.error(keys, f"{row.key} is empty", allowed=_TYPE_WORDS[str])
    for text in [value] if isinstance(value, str) else value if isinstance(value, list) else []:
        if not text.isprintable():
            raise source.error(keys, f"{row.key} is {value!r}", allowed="printable characters")
    return value


_TYPE_WORDS: Final[dict[type, str]] = {str: "a text", int: "a whole number", list: "a list of texts"}


def _pinned_sets(tree: dict[str, Any], text: _Text) -> tuple[PinnedPaths, ...]:
    lock = tree.get("lock")
    tables = lock.pop("sets", {}) if isinstance(lock, dict) else {}
    if not isinstance(tables, dict):
        raise text.error(["lock", "sets"], "lock.sets is not a table", allowed="[lock.sets.NAME] with paths = [...]")
    sets = []
    for name, table in tables.items():
        if not isinstance(table, dict) or not table.keys() <= {"paths", "nodes"} or "paths" not in table:
            allowed = "paths = [...] and, if wanted, nodes = [...]"
            raise text.error(["lock", "sets", name], f"lock.sets.{name} is {table!r}", allowed=allowed)
        for key, value in table.items():
            if not isinstance(value, list) or not value or not all(_is_pattern(part) for part in value):
                found, allowed = f"lock.sets.{name}.{key} is {value!r}", "a list of patterns, not empty"
                raise text.error(["lock", "sets", name, key], found, allowed=allowed)
        sets.append(PinnedPaths(name, tuple(table["paths"]), tuple(table.get("nodes", ["*"]))))
    return tuple(sets)


def _is_pattern(part: object) -> bool:
    return isinstance(part, str) and bool(part) and "\0" not in part


def hypothesis_profile(settings: Settings) -> dict[str, bool | int | str | tuple[str, ...] | None]:
    """Return the Hypothesis profile that the gate runs under, every field explicit (contract L3).

    A profile that leaves a field open inherits it from whatever is loaded, which under `CI=true` is one that ignores
    the seed option.
    """
    return {
        "max_examples": settings.number("hypothesis.max_examples"),
        "stateful_step_count": settings.number("hypothesis.stateful_step_count"),
        "derandomize": False,
        "database": None,
        "deadline": None,
        "print_blob": True,
        "report_multiple_bugs": True,
        "backend": "hypothesis",
        "phases": ("explicit", "reuse", "generate", "target", "shrink", "explain"),
        "suppress_health_check": (),
    }
