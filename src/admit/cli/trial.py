"""`admit run --base REF`: the base's instrument judges the patch's code, part by part (contract T2, T4, T7)."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from admit.cli.attempts import check_folder, documents_in, foreign, one_run_at_a_time, shard_of, started
from admit.cli.decide import answer, forget_decision
from admit.cli.parts import GATES, Bench, Played, asked, at_home, play
from admit.cli.progress import bar
from admit.cli.run import announce, command_of, with_own_programs
from admit.core.context import Trial
from admit.core.records import HARD
from admit.core.signals import FREEZE_GATE

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from admit.core.context import RunContext, TrialPart
    from admit.core.fold import Folded
    from admit.core.records import NodeRecord
    from admit.core.signals import Ended
    from admit.policy import Policy
    from admit.trust.approvals import Approved
    from admit.trust.assembly import Parts
    from admit.trust.overlay import Tree, Worktrees
    from admit.wiring import Workspace
    from admit.wiring.base import Based
    from admit.wiring.inventory import Inventory
    from admit.wiring.patch import Sorted


def run_on_base(args: argparse.Namespace, ref: str) -> int:
    """Judge the commit that is checked out with what the base `ref` measures with, and exit with the disposition.

    Raises:
        InputError, LaunchError, LedgerError: as the parts of a run do.
        KeyboardInterrupt: a person stopped it.
    """
    from admit.trust.overlay import Worktrees
    from admit.wiring.base import based

    patch = based(Path.cwd(), ref)
    folder = patch.space.path("evidence.folder")
    check_folder(patch.space)
    forget_decision(patch.space, args)
    private = Path(tempfile.mkdtemp(prefix="admit-run-"))
    try:
        with one_run_at_a_time(folder), Worktrees(patch.top, bring=patch.brought()) as trees:
            return _Run(patch, args, folder, private, trees).decided()
    finally:
        shutil.rmtree(private, ignore_errors=True)


class _Run:
    """One run on a base, from its inventory to its decision."""

    def __init__(self, patch: Based, args: argparse.Namespace, folder: Path, private: Path, trees: Worktrees) -> None:
        from admit.repository import edited
        from admit.wiring.patch import not_yet_pinned, sorted_changes

        self.patch, self.args, self.folder, self.private, self.trees = patch, args, folder, private, trees
        self.space = patch.space
        self.changed: Sorted = sorted_changes(patch, command_of(args, patch.space))
        self.shard, self.shards = shard_of(args.shard)
        self.word = os.urandom(16).hex()
        self.notes: list[str] = []
        self.found: dict[str, str] = {}
        self.compromised: list[str] = []
        self.uncollected = ""
        self._imported_from: tuple[str, ...] | None = None
        if changed := edited(self.space.root):
            self.notes.append(f"the commit is judged; not what is uncommitted here: {', '.join(changed[:3])}")
        if caches := self.changed.caches:
            self.notes.append(f"caches in the commit are kept from the tests: {caches[0].path} and the like")
        self.notes.extend(not_yet_pinned(patch))

    # ------------------------------------------------------------ the order of things

    def decided(self) -> int:
        """Play the parts, write the gates' documents, decide on them."""
        from admit.trust.assembly import Parts, assembled, replays, to_run_on_base
        from admit.wiring import moved_in
        from admit.wiring.inventory import Inventory
        from admit.wiring.patch import inadmissible, instrument_state, laid_over, moved_tests, review_of, written

        inventory = self._inventory()
        policy, approved = self._approved()
        undone = set(laid_over(self.patch, self.changed, approved))
        laid = self.trees.judged(self.patch.base, self.patch.head, undone.__contains__)
        bench = self._bench(laid)
        context = self._started(bench)
        announced = announce(self.folder, context, instrument_of=self.patch.base)
        before, kept = documents_in(self.folder), self._state()
        seen = instrument_state(self.patch, laid.path)
        judged = self._play("judged", bench, context, canary=self.word)
        self._check_canaries(judged)
        found = moved_in(bench.space, context)
        found |= written(seen, instrument_state(self.patch, laid.path))
        found |= moved_tests(self.patch, self.changed, inventory.nodes, approved)
        proposals = self._proposals(context)
        parts = Parts(
            inventory.nodes, self._records(judged), self._records(proposals), {}, inventory.seen, asked(context)
        )
        review = review_of(self.patch, self.changed, parts, approved, self._collected(context))
        if wanted := to_run_on_base(parts, review):
            parts = self._with_base(parts, context, wanted, replays(parts, wanted))
        if self._state() != kept:
            self.compromised.append("something wrote into .admit while the tests ran")
            self._forget()
        elif parts.seen_on_base != inventory.seen and not self.found and not self.compromised:
            self._keep(Inventory(parts.inventory, parts.seen_on_base))
        if strange := foreign(self.folder, before, context.run_id):
            found["mixed-evidence"] = strange
        held = inadmissible(self.patch, self.changed, approved, policy)
        found = {**self.found, **found}
        if self.uncollected and "instrument-edited" not in held:  # which says more of why
            found.setdefault("no-inventory", self.uncollected)
        records = assembled(parts, review._replace(compromised="; ".join(self.compromised)))
        self._note_given_up(parts, records)
        self._write(context, judged, records, parts, found)
        for path in announced:
            path.unlink(missing_ok=True)
        return self._answer(context, {**held, **found})

    def _note_given_up(self, parts: Parts, records: Mapping[str, list[NodeRecord]]) -> None:
        there = {record.node for of_gate in records.values() for record in of_gate}
        if given_up := sorted(parts.inventory.keys() - there):
            self.notes.append(f"given up with a reviewer's leave: {', '.join(given_up[:3])} ({len(given_up)} in all)")

    def _approved(self) -> tuple[Policy, Approved]:
        """Return the policy and what reviewers approved by it, both before any code of the patch has run."""
        from admit.wiring import clock, policy_of
        from admit.wiring.base import given_policy
        from admit.wiring.patch import approvals_of

        control = self._control()
        policy = policy_of(control, "policy.router", given_policy(self.patch, self.args.policy, control.root))
        approved = approvals_of(self.patch, policy, clock(), self.args.approval or ())
        self.notes.extend(approved.problems)
        return policy, approved

    def _control(self) -> Workspace:
        """Return where the base's files under review stand, taken from git now: no test was told where (T1)."""
        from admit.wiring.base import control_space

        return control_space(self.patch, Path(tempfile.mkdtemp(prefix="control-", dir=self.private)))

    def _forget(self) -> None:
        """Forget what bases were seen to collect: what wrote into `.admit` may have written that."""
        folder = self._kept_at.parent
        if folder.is_dir() and not folder.is_symlink():
            shutil.rmtree(folder, ignore_errors=True)

    # ------------------------------------------------------------ the parts

    def _inventory(self) -> Inventory:
        """Return what the base collects; collected now if that is not known from before (contract T2)."""
        from admit.repository import tracked
        from admit.wiring.inventory import Inventory, inventory_path, read_inventory

        command = self._collecting()
        self._kept_at = inventory_path(self.space, self.patch.top, self.patch.base, command)
        self._is_kept = not tracked(self.space.root, ".admit")  # what a commit brings along is no memory of ours
        if not self._is_kept:
            self.notes.append("the commit holds files under .admit; none of them is read")
        elif (kept := read_inventory(self._kept_at)) is not None:
            return kept
        tree = self.trees.plain(self.patch.base)
        self._is_kept = self._is_kept and not tree.absent  # what is fetched later may hold more to collect
        bench = self._bench(tree, command)
        played = self._play("inventory", bench, self._context(bench))
        nodes = {
            node: gate
            for gate, folded in self._tests(played).items()
            for node, code in folded.codes.items()
            if not (code & HARD)  # what could not be collected is no node
        }
        gaps = [folded.gap for folded in self._tests(played).values() if folded.gap]
        if played.problems or gaps or not nodes:
            said = "; ".join([*played.problems, *gaps[:1], played.note] if nodes else ["it collects no test"])
            self.found["no-inventory"] = f"the base's tests could not be collected: {said}"
            return Inventory(nodes, {})
        self._keep(Inventory(nodes, {}))
        return Inventory(nodes, {})

    def _keep(self, inventory: Inventory) -> None:
        from admit.wiring.inventory import keep_inventory

        if self._is_kept:
            keep_inventory(self._kept_at, inventory)

    def _proposals(self, context: RunContext) -> Played | None:
        """Run the test files that the patch adds or changes, in its own tree; None where it has none (contract P3)."""
        files = self.changed.test_files(self.patch)
        if not files:
            return None
        bench = self._bench(self.trees.plain(self.patch.head))
        return self._play("proposals", bench, context, files=files)

    def _collected(self, context: RunContext) -> frozenset[str] | None:
        """Return all that the patch's own tests collect (T2); None where it changes nothing that has a say in it."""
        if not (self.changed.tests or self.changed.runner):
            return None
        command = self.space.settings.words("run.command") if self.shards == 1 else self._command()
        bench = self._bench(self.trees.plain(self.patch.head), command)
        played = self._play("inventory", bench, context, said="collecting the patch's own tests")
        codes = {node: code for folded in self._tests(played).values() for node, code in folded.codes.items()}
        broken = sorted(node for node, code in codes.items() if code & HARD)
        if broken or played.problems or not codes:
            said = ", ".join([*broken[:3], *played.problems]) or "it collects no test"
            self.uncollected = f"with the patch's own tests the suite cannot be collected: {said}"
        return frozenset(codes) - frozenset(broken) if codes else None

    def _with_base(self, parts: Parts, context: RunContext, wanted: tuple[str, ...], blobs: Mapping[str, str]) -> Parts:
        """Return the parts with what the base makes of nodes that failed or gave up on the patch (contract T7)."""
        bench = self._bench(self.trees.plain(self.patch.base))
        played = self._play("base", bench, context, only=wanted, replay=blobs)
        on_base = {node: record for records in self._records(played).values() for node, record in records.items()}
        seen = {
            node: record.examples
            for node, record in on_base.items()
            if record.examples is not None and record.check == "pass" and node not in blobs
        }
        return parts._replace(on_base=on_base, seen_on_base={**parts.seen_on_base, **seen})

    def _play(self, part: TrialPart, bench: Bench, context: RunContext, **told: Any) -> Played:
        trial = Trial(
            part,
            self.patch.base,
            os.fspath(bench.space.root),
            elsewhere=(os.fspath(self.patch.top),),
            only=told.get("only", ()),
            files=told.get("files", ()),
            replay=told.get("replay", {}),
            canary=told.get("canary", ""),
        )
        played = play(bench, context, trial, told.get("said", ""))
        if part != "inventory":
            self.compromised.extend(f"{part}: {problem}" for problem in played.problems)
        if played.note:
            self.notes.append(f"{part}: {played.note}")
        return played

    def _check_canaries(self, judged: Played) -> None:
        """Note a canary that did not do what it was planted to do, for the planted reason (contract T4)."""
        from admit.trust import canaries

        records = self._records(judged, with_canaries=True)
        all_of_it = {node: record for of_gate in records.values() for node, record in of_gate.items()}
        if not all_of_it:
            return  # nothing was collected, so that none was planted; the gates have no evidence then
        if wrong := canaries.wrong(self.word, all_of_it):
            self.compromised.append(wrong)

    def _records(self, played: Played | None, *, with_canaries: bool = False) -> dict[str, dict[str, NodeRecord]]:
        from admit.trust.assembly import records_of
        from admit.trust.canaries import is_planted

        found: dict[str, dict[str, NodeRecord]] = {}
        for gate, folded in self._tests(played).items():
            planted = frozenset(node for node in folded.codes if is_planted(self.word, node))
            found[gate] = records_of(folded, frozenset() if with_canaries else planted)
        return found

    def _tests(self, played: Played | None) -> dict[str, Folded]:
        return {} if played is None else {gate: one for gate, one in played.folded.items() if gate != FREEZE_GATE}

    # ------------------------------------------------------------ before and after

    def _command(self) -> tuple[str, ...]:
        return command_of(self.args, self.space)

    def _collecting(self) -> tuple[str, ...]:
        # a shard's part of the suite is in its command; a whole run has to show all that the base is set to collect
        return self.space.settings.words("run.command") if self.shards == 1 else self._command()

    def _bench(self, tree: Tree, command: tuple[str, ...] | None = None) -> Bench:
        """Return where a part is played: a worktree, its command and environment."""
        from admit.trust.environment import judged_environment
        from admit.wiring import Workspace
        from admit.wiring.editables import moved_imports
        from admit.wiring.patch import holds_compiled

        root = tree.path / self.patch.prefix if self.patch.prefix else tree.path
        pycache = None
        if holds_compiled(tree.path):
            pycache = Path(tempfile.mkdtemp(prefix="pycache-", dir=self.private))
        environ, dropped = judged_environment(
            with_own_programs(os.environ),
            root=self.patch.top,
            tree=tree.path,
            pycache=pycache,
            first=moved_imports(self._editables(), self.patch.top, tree.path),
        )
        self.notes.extend(tree.absent)
        if dropped:
            self.notes.append(f"not passed on to the tests: {', '.join(dropped)}")
        words = at_home(command or self._command(), self.space.root, root)
        limit_s = self.args.timeout or self.space.settings.number("run.timeout_s")
        return Bench(Workspace(root, self.space.settings, True), words, environ, self.private, limit_s)

    def _editables(self) -> tuple[str, ...]:
        if self._imported_from is None:
            from admit.wiring.editables import editable_folders

            words = at_home(self._command(), self.space.root, self.space.root)
            program = words[0] if words and os.path.basename(words[0]).startswith("python") else "python"
            if "/" in program and not os.path.isabs(program):
                program = os.fspath(self.space.root / program)
            self._imported_from = editable_folders(with_own_programs(os.environ), self.patch.top, program=program)
        return self._imported_from

    def _context(self, bench: Bench) -> RunContext:
        from admit.wiring import run_context

        context = run_context(
            self.space.root,
            patch_id=self.args.patch,
            base=self.patch.base,
            launched=True,
            progress=bar(),
            bench=bench.space,
        )
        return context._replace(
            head=self.patch.head, shard=self.shard, shards=self.shards, lane=self.args.lane or context.lane
        )

    def _started(self, bench: Bench) -> RunContext:
        context = self._context(bench)
        return started(self.folder, context, attempt=self.args.attempt, patch_id=self.args.patch)

    def _state(self) -> object:
        """Return what tells whether anybody wrote into admit's own folder."""
        from admit.wiring.inventory import state_of

        return state_of(self.space.root / ".admit", but=frozenset({self.space.path("ledger.path").name}))

    def _write(
        self,
        context: RunContext,
        judged: Played,
        records: Mapping[str, list[NodeRecord]],
        parts: Parts,
        found: Mapping[str, str],
    ) -> None:
        """Write each gate's document, sealed as the part that judged ended, and with what was found meanwhile."""
        from admit import __version__
        from admit.core.context import opening_of
        from admit.evidence.write import DocumentWriter
        from admit.trust.assembly import records_of

        was_red = any(record.check != "pass" for of_gate in parts.judged.values() for record in of_gate.values())
        is_red = any(record.check != "pass" for of_gate in records.values() for record in of_gate)
        exit_code = 0 if was_red and not is_red else judged.ended.exit_code  # approved forms stand for what failed
        for gate in GATES:
            folded = judged.folded[gate]
            opening = opening_of(context, gate, tool="admit-run", tool_version=__version__)
            opening = opening._replace(instrument_of=self.patch.base)
            writer = DocumentWriter(self.folder / f"{gate}.{context.run_id}-base.jsonl", opening)
            writer.timing(judged.timing.intersection(folded.codes))
            for record in records_of(folded).values() if gate == FREEZE_GATE else records.get(gate, ()):
                writer.node(record)
            if folded.gap or exit_code is None:
                writer.release()
            else:
                ended: Ended = "exit_disagrees" if folded.unfinished else "disturbed" if found else "finished"
                reason = folded.unfinished or next((f"{code}: {text}" for code, text in found.items()), "")
                writer.close(ended=ended, exit_code=exit_code, signal=None, closed_by="launcher", reason=reason)
                writer.release()

    def _answer(self, context: RunContext, found: Mapping[str, str]) -> int:
        from admit.wiring import Asked, clock
        from admit.wiring.base import given_policy

        control = self._control()
        asked = Asked(
            self.folder,
            clock(),
            context.patch_id,
            head=self.patch.head,
            base=self.patch.tip,
            instrument=self.patch.base,
            policy=given_policy(self.patch, self.args.policy, control.root),
            notes=(*dict.fromkeys(self.notes), *context.lock_differences),
            inadmissible=found,
            locked=context.locked,
            control=control,
            is_own_run=True,
        )
        return answer(self.space, asked, self.args)
