"""The one place that picks concrete parts: the clock, the ledger, the files that are trusted, what git says."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

from admit.core.records import NodeRecord
from admit.errors import EvidenceError, InputError
from admit.repository import distance, look, resolve, toplevel, tracked
from admit.settings import FILE, Settings, hypothesis_profile, read_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Progress = Callable[[int, int, int], None]

    from admit.adjudicate import Case
    from admit.core.context import RunContext, Scalar
    from admit.core.decision import Decision
    from admit.core.records import Document
    from admit.core.rollup import RegisterState
    from admit.evidence.strict import Limits
    from admit.freeze.register import Register
    from admit.lock.pinned import Instrument, LockText
    from admit.lock.report import LockReport
    from admit.policy import Policy
    from admit.policy.model import RulesOn


class Workspace(NamedTuple):
    """A repository as admit sees it: its root, its settings, and whether `admit.toml` stands there."""

    root: Path
    settings: Settings
    is_initialised: bool

    def path(self, key: str) -> Path:
        """Return the path that a setting names, from the root."""
        return self.root / self.settings.text(key)


def clock() -> datetime:
    """Return the deciding host's time, UTC: read once a decision (contract A6)."""
    return datetime.now(UTC)


def instant(text: str | None) -> datetime:
    """Return the instant given for a replay, or the clock's.

    Raises:
        InputError: the text is not an instant with an offset from UTC.
    """
    if text is None:
        return clock()
    try:
        given = datetime.fromisoformat(text)
    except ValueError as error:
        raise InputError(
            "--now", f"{text!r} is not an instant", allowed="RFC 3339, such as 2026-12-01T00:00:00Z"
        ) from error
    if given.tzinfo is None:
        raise InputError("--now", f"{text!r} has no offset from UTC", allowed="RFC 3339, such as 2026-12-01T00:00:00Z")
    return given.astimezone(UTC)


def rfc3339(now: datetime) -> str:
    """Return an instant as a decision writes it."""
    return now.astimezone(UTC).isoformat().replace("+00:00", "Z")


def initialised_root(start: Path) -> Path | None:
    """Return the nearest folder, from `start` upwards, that holds `admit.toml`; not past the repository's root."""
    for folder in (start, *start.parents):
        if (folder / FILE).is_file():
            return folder
        if (folder / ".git").exists():
            return None
    return None


def workspace(start: Path | None = None) -> Workspace:
    """Return the workspace around `start` (the current folder by default).

    Raises:
        InputError: `admit.toml` cannot be read.
    """
    here = (start or Path.cwd()).resolve()
    root = initialised_root(here)
    if root is not None:
        return Workspace(root, read_settings(_bytes_of(root / FILE), FILE), True)
    return Workspace(toplevel(here) or here, Settings(), False)


def _bytes_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(str(path), f"cannot be read: {error.strerror}", do="make it a readable file") from error


def policy_of(space: Workspace, key: str, override: str | None = None) -> Policy:
    """Return the policy that a setting names: a shipped one by name, a file by its path from the root.

    Raises:
        InputError: the policy is refused, or rules on something else than the setting is for.
    """
    from admit.policy import SHIPPED, load

    rules_on: RulesOn = "patch" if key == "policy.router" else "node"
    source = override or space.settings.text(key)
    policy = load(source if source in SHIPPED or override else os.fspath(space.root / source), rules_on)
    if rules_on == "node":
        from admit.adjudicate import check_signals

        check_signals(policy)
    return policy


def recorder(path: Path, now: datetime) -> Callable[[Decision], None]:
    """Return what appends a decision to the ledger at `path`, durable before it returns (contract G1)."""

    def record(decision: Decision) -> None:
        from hashlib import sha256

        from admit.ledger.sqlite import SqliteLedger
        from admit.render.json import decision_bytes

        body = decision_bytes(decision)
        ledger = SqliteLedger(path)
        try:
            ledger.append("decision", body, now=now, key=sha256(body).hexdigest())
        finally:
            ledger.close()

    return record


class Asked(NamedTuple):
    """What a command line says of the patch to judge; None where it leaves it to git or to the evidence."""

    folder: Path
    now: datetime
    patch_id: str | None = None
    head: str | None = None
    base: str | None = None
    policy: str | None = None
    notes: tuple[str, ...] = ()


def case_of(space: Workspace, asked: Asked) -> Case:
    """Return everything that a decision on an evidence folder is made of, read once.

    Raises:
        InputError: a policy or the abstentions are refused, or a commit named does not exist.
    """
    from admit.adjudicate import Case
    from admit.core.decision import Patch
    from admit.core.rollup import Sampling

    router = policy_of(space, "policy.router", asked.policy)
    documents, problems = read_folder(space, asked.folder)
    frozen, register, notes = _register(space, documents, asked.now)
    checkout = look(space.root)
    head = resolve(space.root, asked.head) if asked.head and checkout.head else asked.head or checkout.head
    tree = checkout.tree if head == checkout.head else None
    return Case(
        patch=Patch(asked.patch_id or "", head, None, tree),
        documents=documents,
        problems=problems,
        router=router,
        arbiter=policy_of(space, "policy.arbiter"),
        sampling=Sampling(asked.now, frozen, _declared(space), router.options.flaky),
        register=register,
        inadmissible=_outside(space, asked, router, documents),
        notes=(*asked.notes, *notes),
    )


def read_folder(space: Workspace, folder: Path) -> tuple[tuple[Document, ...], tuple[str, ...]]:
    """Return the documents in an evidence folder, and one line for each file that is none."""
    from admit.evidence.read import find_documents, read_document

    if not folder.exists():
        return (), ()  # no evidence at all: every gate is missing
    try:
        found = find_documents(folder)
    except EvidenceError as error:
        return (), (str(error),)
    documents, problems = [], list(found.problems)
    for path in found.documents:
        try:
            documents.append(read_document(path, limits=limits_of(space)))
        except EvidenceError as error:
            problems.append(str(error))
    return tuple(documents), tuple(problems)


def limits_of(space: Workspace) -> Limits:
    """Return the limits that the settings put on evidence (contract E4)."""
    from admit.evidence.strict import LIMITS

    number = space.settings.number
    return LIMITS._replace(
        document_bytes=number("evidence.max_bytes"),
        line_bytes=number("evidence.max_line_bytes"),
        nodes=number("evidence.max_nodes"),
        depth=number("evidence.max_depth"),
    )


def _register(
    space: Workspace, documents: tuple[Document, ...], now: datetime
) -> tuple[dict[str, str], RegisterState, tuple[str, ...]]:
    """Return the frozen nodes with why, what the register says of itself, and what it wants said aloud (contract U4)."""
    from admit.core.rollup import RegisterState
    from admit.freeze.reach import reached
    from admit.freeze.register import in_force

    try:
        register = _read_register(space, now)
    except InputError as error:
        return {}, RegisterState(unreadable=str(error)), ()
    said = {
        node: f"{entry.reason} (owner {entry.owner}), until {rfc3339(entry.expires)}"
        for node, entry in in_force(register, now).items()
    }
    nodes = {node for document in documents for node in document.codes} if said else set()
    frozen = said | reached(said, nodes)
    return frozen, RegisterState(problem=register.problem), tuple(note.text for note in register.notes)


def _read_register(space: Workspace, now: datetime) -> Register:
    from admit.freeze.files import load_register

    return load_register(
        space.path("freeze.register"), now=now, horizon_days=space.settings.number("freeze.horizon_days")
    )


def _declared(space: Workspace) -> Mapping[str, tuple[str, str]]:
    """Return the declared abstentions; none where there is no file, which takes nothing out of any sample (contract U7)."""
    from admit.abstain.files import load_abstentions

    return load_abstentions(space.path("abstain.file")).declared


def _outside(space: Workspace, asked: Asked, router: Policy, documents: tuple[Document, ...]) -> dict[str, str]:
    """Return what only the outside could see that makes evidence inadmissible (contract E5)."""
    found = {}
    if edited := _edited_control_files(space):
        found["uncommitted-changes"] = f"control files with uncommitted changes: {', '.join(edited)}"
    if state := tracked(space.root, ".admit"):
        found["tracked-state"] = f"the commit holds {', '.join(state[:3])}"
    if moved := _base_moved(space, asked, router, documents):
        found["base-moved"] = moved
    return found


_CONTROL_KEYS = ("lock.manifest", "lock.file", "freeze.register", "abstain.file", "policy.router", "policy.arbiter")


def control_files(space: Workspace) -> tuple[str, ...]:
    """Return the paths, from the root, of the files that change in review only (contract T1)."""
    from admit.policy import SHIPPED

    named = (space.settings.text(key) for key in _CONTROL_KEYS)
    return (FILE, *(name for name in named if name not in SHIPPED))


def _edited_control_files(space: Workspace) -> tuple[str, ...]:
    inside = set(control_files(space))
    top = toplevel(space.root)
    prefix = "" if top is None or top == space.root else space.root.relative_to(top).as_posix() + "/"
    return tuple(name for name in look(space.root).dirty if name.removeprefix(prefix) in inside)


def _base_moved(space: Workspace, asked: Asked, router: Policy, documents: tuple[Document, ...]) -> str:
    most_commits, most_hours = router.options.base_moved_commits, router.options.base_moved_hours
    if most_commits is None and most_hours is None:
        return ""
    if asked.base is None:
        return "the policy bounds how far the base may have moved, and no base is named (--base REF)"
    bases = {document.opening.base for document in documents}
    if None in bases or not bases:
        return "the policy bounds how far the base may have moved, and the evidence names no base"
    tip = resolve(space.root, asked.base)
    for base in sorted(base for base in bases if base is not None):
        moved = distance(space.root, base, tip)
        if most_commits is not None and moved.commits > most_commits:
            return f"the base moved by {moved.commits} commits since the evidence; allowed: {most_commits}"
        if most_hours is not None and moved.hours > most_hours:
            return f"the base moved by {moved.hours:.1f} hours since the evidence; allowed: {most_hours}"
    return ""


def _instrument(space: Workspace) -> Instrument:
    """Return what the settings say that tests are measured with, and the versions that are installed here (contract L3)."""
    from importlib.metadata import PackageNotFoundError, version

    from admit.lock.pinned import instrument

    versions: dict[str, str] = {}
    for name in space.settings.words("lock.versions"):
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue  # what is not installed measures nothing; pinned and gone, it is a difference
    return instrument(space.settings.number("hypothesis.seed"), hypothesis_profile(space.settings), versions)


def pinned_instrument(space: Workspace) -> Instrument:
    """Return what the lock file pins that tests are measured with; what the settings say where there is no lock."""
    from admit.lock.pinned import read_lock

    text = _lock_text(space)
    return _instrument(space) if text.lock is None else read_lock(text.lock, text.lock_name).instrument


def _lock_text(space: Workspace) -> LockText:
    from admit.lock.check import read_lock_files

    names = space.settings.text("lock.manifest"), space.settings.text("lock.file")
    return read_lock_files(os.fspath(space.root), manifest_name=names[0], lock_name=names[1])


def check_lock(space: Workspace, *, fast: bool = False, progress: Progress | None = None) -> LockReport:
    """Return what differs between what is pinned and what is there (contract L2).

    Args:
        space: the workspace.
        fast: trust a stat cache; the report is then no evidence (L6).
        progress: called with how far hashing is.

    Raises:
        InputError: manifest or lock file cannot be understood.
    """
    from admit.lock.check import check
    from admit.lock.pinned import InForce

    ours = _instrument(space)
    cache = os.fspath(space.root / ".admit" / "stat-cache") if fast else None
    return check(
        os.fspath(space.root),
        _lock_text(space),
        in_force=InForce(ours.seed, ours.profile(), dict(ours.versions)),
        fast_cache=cache,
        progress=progress,
    )


def write_lock(space: Workspace, progress: Progress | None = None) -> str:
    """Pin the configured sets and return what was pinned, in words (contract L5: a person's act).

    Raises:
        InputError: something cannot be pinned.
        LedgerError: a file cannot be written.
    """
    from admit.lock.pinned import PinnedSet
    from admit.lock.write import LockNames, write

    names = LockNames(space.settings.text("lock.manifest"), space.settings.text("lock.file"))
    sets = [PinnedSet(one.name, one.paths, one.nodes) for one in space.settings.sets]
    lock = write(os.fspath(space.root), sets, instrument=_instrument(space), names=names, progress=progress)
    return f"{names.manifest} and {names.lock}: {lock.files} files in {len(lock.sets)} sets, {len(lock.links)} links"


def run_context(
    root: Path,
    *,
    patch_id: str | None = None,
    base: str | None = None,
    launched: bool = False,
    progress: Progress | None = None,
) -> RunContext:
    """Return what a run is told before it starts: ids from git, states from the trusted files, checked now.

    Args:
        root: a folder inside the repository.
        patch_id: the patch's id; the branch's name or the commit by default.
        base: the commit that the patch is to be merged into, if one is named.
        launched: whether a parent process watches the run.
        progress: called with how far hashing is.

    Raises:
        InputError: git or a control file cannot be read.
    """
    import secrets

    from admit.core.context import RunContext
    from admit.freeze.register import in_force, records
    from admit.lock.report import locked_nodes

    space = workspace(root)
    checkout, now = look(space.root), clock()
    report = check_lock(space, progress=progress)
    lock, locked = locked_nodes(report)
    pinned = pinned_instrument(space)
    frozen: dict[str, str] = {}
    entries: tuple[NodeRecord, ...]
    try:
        register = _read_register(space, now)
        frozen = {node: rfc3339(entry.expires) for node, entry in in_force(register, now).items()}
        entries = records(register, now)
    except InputError as error:
        unreadable = str(error)
        entries = (
            NodeRecord(
                space.settings.text("freeze.register"), "not_run", "missing", "stable", why="error", message=unreadable
            ),
        )
    return RunContext(
        patch_id=patch_id or checkout.branch or (checkout.head or "working-tree")[:12],
        head=checkout.head,
        base=resolve(space.root, base) if base else None,
        dirty=bool(checkout.dirty),
        run_id=f"{now:%Y%m%dT%H%M%SZ}-{secrets.token_hex(4)}",
        nonce=secrets.token_hex(16),
        lane=space.settings.text("run.lane"),
        shard=1,
        shards=1,
        attempt=1,
        property_markers=space.settings.words("gates.property_markers"),
        property_paths=space.settings.words("gates.property_paths"),
        lock=lock,
        locked=locked,
        fixture_manifest=report.manifest,
        seed=0 if pinned.seed is None else pinned.seed,
        profile=cast("Mapping[str, Scalar | tuple[str, ...]]", pinned.profile()),
        frozen=frozen,
        register=entries,
        launched=launched,
    )
