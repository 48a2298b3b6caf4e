"""Everything that a decision on an evidence folder is made of, and what records the decision."""

from __future__ import annotations

import os
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, NamedTuple

from admit.errors import EvidenceError
from admit.repository import distance, edited, look, resolve, toplevel, tracked, tree_of
from admit.wiring.trusted import control_files, declared, limits_of, policy_of, provenance_arbiter, register_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime
    from pathlib import Path

    from admit.adjudicate import Case
    from admit.core.context import LockedNodes, RunContext
    from admit.core.decision import Decision
    from admit.core.records import Document
    from admit.policy import Policy
    from admit.trust.inventory import Inventory, Leave
    from admit.wiring.space import Workspace


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
    """What a command line says of the patch to judge; None where it leaves it to git or to the evidence.

    `control` is where the files under review are read, where that is not the working tree (contract T1). `is_own_run`
    says that the evidence was written just now by this process, so that nothing a commit holds of it is read.
    `instrument` is the commit whose tests had to judge, if any did.
    `inventory` is what the base's own evidence names, `leave` by what a node of it may be gone (contract T2).
    """

    folder: Path
    now: datetime
    patch_id: str | None = None
    head: str | None = None
    base: str | None = None
    policy: str | None = None
    notes: tuple[str, ...] = ()
    inadmissible: Mapping[str, str] = {}
    locked: tuple[LockedNodes, ...] = ()
    control: Workspace | None = None
    is_own_run: bool = False
    instrument: str | None = None
    inventory: Inventory | None = None
    leave: Leave | None = None


def case_of(space: Workspace, asked: Asked) -> Case:
    """Return everything that a decision on an evidence folder is made of, read once.

    Raises:
        InputError: a policy or the abstentions are refused, or a commit named does not exist.
    """
    from admit.adjudicate import Case
    from admit.core.decision import Patch
    from admit.core.rollup import Sampling

    control = asked.control or space
    router = policy_of(control, "policy.router", asked.policy)
    documents, problems = read_folder(space, asked.folder)
    documents, unsigned = signed(documents, router)
    documents, told = _compared(documents, asked)
    frozen, register, notes = register_of(control, documents, asked.now)
    checkout = look(space.root)
    head = resolve(space.root, asked.head) if asked.head and checkout.head else asked.head or checkout.head
    tree = checkout.tree if head == checkout.head else tree_of(space.root, head) if head else None
    return Case(
        patch=Patch(asked.patch_id or "", head, None, tree),
        documents=documents,
        problems=problems,
        router=router,
        arbiter=policy_of(control, "policy.arbiter") if asked.inventory is None else provenance_arbiter(control),
        trusted=policy_of(control, "policy.trusted_arbiter"),
        timing=control.settings.words("gates.timing_nodes"),
        sampling=Sampling(asked.now, frozen, declared(control), router.options.flaky),
        register=register,
        inadmissible={**_outside(space, asked, router, documents), **asked.inadmissible},
        notes=(*asked.notes, *told, *unsigned, *notes),
    )


def _compared(documents: tuple[Document, ...], asked: Asked) -> tuple[tuple[Document, ...], tuple[str, ...]]:
    """Return the documents as the base's own evidence leaves them, and what that says aloud (contract T2, P3)."""
    if asked.inventory is None:
        return documents, ()
    from admit.trust.inventory import Leave, compared

    return compared(documents, asked.inventory, asked.leave or Leave({}))


def signed(documents: tuple[Document, ...], router: Policy) -> tuple[tuple[Document, ...], tuple[str, ...]]:
    """Return the documents that are signed as the policy asks, and why others count as missing with their gate (T5)."""
    if not router.trust.evidence:
        return documents, ()
    from admit.trust.signatures import unsigned
    from admit.trust.signedfiles import envelopes_of

    found = unsigned(documents, envelopes_of(one.source for one in documents), dict(router.trust.evidence))
    missing = {one.opening.gate for one in documents if one.source in found}
    kept = tuple(one for one in documents if one.opening.gate not in missing)
    return kept, tuple(f"the gate is missing: {why}" for why in found.values())


def read_folder(space: Workspace, folder: Path) -> tuple[tuple[Document, ...], tuple[str, ...]]:
    """Return the documents in an evidence folder, and one line for each file that is none."""
    from admit.evidence.read import find_documents, read_document

    try:
        if not folder.exists():
            return (), ()  # no evidence at all: every gate is missing
        found = find_documents(folder)
    except OSError as error:
        return (), (f"{folder}: cannot be read: {error.strerror}",)
    except EvidenceError as error:
        return (), (str(error),)
    documents, problems = [], list(found.problems)
    for path in found.documents:
        try:
            document = read_document(path, limits=limits_of(space))
        except EvidenceError as error:
            problems.append(str(error))
            continue
        if not os.path.basename(path).startswith(f"{document.opening.gate}."):
            problems.append(f"{path}: its gate is {document.opening.gate}; a document is named GATE.NAME.jsonl")
        documents.append(document)
    return tuple(documents), tuple(problems)


def _outside(space: Workspace, asked: Asked, router: Policy, documents: tuple[Document, ...]) -> dict[str, str]:
    """Return what only the outside could see that makes evidence inadmissible (contract E5)."""
    found = {}
    if asked.control is None and (edited := _edited_control_files(space)):
        found["uncommitted-changes"] = f"control files with uncommitted changes: {', '.join(edited)}"
    if not asked.is_own_run and (state := tracked(space.root, ".admit")):
        found["tracked-state"] = f"the commit holds {', '.join(state[:3])}"
    if loose := _loose_drift(asked, documents):
        found["instrument-moved"] = loose
    if asked.base is not None:
        resolve(space.root, asked.base)
    if other := _other_instrument(asked, documents):
        found["mixed-evidence"] = other
    if moved := _base_moved(space, asked, router, documents):
        found["base-moved"] = moved
    return found


def _other_instrument(asked: Asked, documents: tuple[Document, ...]) -> str:
    """Return that the tests of another commit judged than of the one at which the patch left its base (E5, T7)."""
    others = {one.opening.instrument_of for one in documents} - {None, asked.instrument}
    said = ", ".join(sorted(str(other) for other in others))
    ours = f"the patch left its base at {asked.instrument}" if asked.instrument else "no base's rules are asked"
    return f"measured with the tests of {said}; {ours}" if others else ""


def _loose_drift(asked: Asked, documents: tuple[Document, ...]) -> str:
    """Return which drifted set is tied to no node that was seen: nothing says whom it concerns (contract L4)."""
    nodes = {node for document in documents for node in document.codes}
    for part in asked.locked:
        if part.state != "match" and not any(fnmatchcase(node, one) for one in part.patterns for node in nodes):
            return f"a pinned set is {part.state}, and no node fits what it is tied to: {', '.join(part.patterns)}"
    return ""


def moved_since(space: Workspace, context: RunContext) -> dict[str, str]:
    """Return what changed while a run was at work, so that it measured nobody knows what (contract E5, L2)."""
    from admit.lock.report import locked_nodes
    from admit.wiring.instrument import check_lock

    found: dict[str, str] = {}
    checkout, changed = look(space.root), edited(space.root)
    if checkout.head != context.head:
        found["uncommitted-changes"] = f"the commit changed while the tests ran: {context.head} became {checkout.head}"
    elif changed and not context.dirty:
        found["uncommitted-changes"] = f"files changed while the tests ran: {', '.join(changed[:3])}"
    lock, locked = locked_nodes(check_lock(space))
    if (lock, locked) != (context.lock, context.locked):
        found["instrument-moved"] = "pinned files changed while the tests ran"
    return found


def moved_in(bench: Workspace, context: RunContext) -> dict[str, str]:
    """Return what tests changed in the worktree in which they ran: it is hashed again, and compared by git (T7, L2)."""
    from admit.lock.report import locked_nodes
    from admit.wiring.instrument import check_lock

    if changed := edited(bench.root):
        return {"instrument-moved": f"files changed while the tests ran: {', '.join(changed[:3])}"}
    if locked_nodes(check_lock(bench)) != (context.lock, context.locked):
        return {"instrument-moved": "pinned files changed while the tests ran"}
    return {}


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
