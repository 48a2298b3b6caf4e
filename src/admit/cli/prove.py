"""`admit prove NODE...`: run tests on a patch and on its parent, and say what that shows (contract P1, P2)."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from admit.cli.parts import Bench, at_home, play
from admit.cli.run import with_own_programs
from admit.core.context import Trial
from admit.core.signals import FREEZE_GATE
from admit.errors import EvidenceError, UsageError
from admit.prove.cells import EXPECTS
from admit.prove.record import MOST_REPEATS, Proof
from admit.prove.seen import counterexamples, seen_of, with_replays

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping, Sequence
    from types import TracebackType
    from typing import Self

    from admit.cli.parts import Played
    from admit.core.context import RunContext
    from admit.prove.record import NodeProof
    from admit.prove.seen import Seen
    from admit.trust.overlay import Tree, Worktrees
    from admit.wiring.prove import Pair, Target

REPEAT = 3
"""How often a test is run on each side, where nobody says otherwise."""

_EXITS = """exit codes:
  0   every test is proven
  1   one is not: tautology, already broken, inverted, vacuous, flaky, or it cannot run
  64  usage, 65 input, 75 the test command cannot be started; 2 is never given
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "nodes", nargs="+", metavar="NODE", help="a test as pytest names it; a file, a class or a name means all in it"
    )
    parser.add_argument("--patch", default="HEAD", metavar="REF", help="the patch (default: HEAD)")
    parser.add_argument(
        "--parent",
        metavar="REF",
        help="what it is compared with (default: where it left the base that CI names, else its first parent)",
    )
    parser.add_argument(
        "--expect",
        choices=EXPECTS,
        default="either",
        help="a property fails on the patch (P1), a regression test on the parent (P2); the record says which "
        "(default: either)",
    )
    parser.add_argument(
        "--repeat", type=int, default=REPEAT, metavar="N", help=f"how often each test runs on each side ({REPEAT})"
    )
    parser.add_argument(
        "--timeout", type=float, metavar="SECONDS", help="kill a side's run after this long (default: as configured)"
    )
    parser.add_argument("--verbose", action="store_true", help="show what the tests print, on standard error")
    parser.add_argument(
        "--format", choices=("text", "json"), default="text", help="text for people, the proof record for machines"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the proof record there, too")
    parser.epilog = f"{parser.epilog}\n\n{_EXITS}"


def run(args: argparse.Namespace) -> int:
    """Prove, print, exit 0 where every test is proven and 1 where one is not."""
    from admit.prove.record import proof_bytes
    from admit.prove.report import text_of
    from admit.wiring.prove import pair_of, targets_of

    _check(args)
    here = Path.cwd()
    pair = pair_of(here, os.environ, patch=args.patch, parent=args.parent)
    proof = _proof(pair, targets_of(pair, here, args.nodes), args)
    raw = proof_bytes(proof)
    if args.out is not None:
        from admit.filetext import replace_text

        replace_text(args.out, raw.decode("ascii"))
    sys.stdout.write(raw.decode("ascii") if args.format == "json" else text_of(proof))
    return 0 if proof.is_proven else 1


def _check(args: argparse.Namespace) -> None:
    if not 1 <= args.repeat <= MOST_REPEATS:
        raise UsageError("--repeat", str(args.repeat)[:40], allowed=f"1 to {MOST_REPEATS}")
    if args.timeout is not None and not 0 < args.timeout <= 10**9:
        raise UsageError("--timeout", str(args.timeout), allowed="seconds, more than 0")


def _proof(pair: Pair, targets: Sequence[Target], args: argparse.Namespace) -> Proof:
    from admit.trust.overlay import Worktrees

    private = Path(tempfile.mkdtemp(prefix="admit-p-"))
    top, bring = pair.based.top, pair.based.space.settings.words("trust.bring")
    try:
        with (
            Worktrees(top, bring=bring) as on_patch,
            Worktrees(top, bring=bring) as on_parent,
            _Meanwhile(lambda: on_patch.plain(pair.patch.commit)) as of_patch,
        ):
            return _Proving(pair, targets, args, private).proof(of_patch.made, on_parent)
    finally:
        shutil.rmtree(private, ignore_errors=True)


class _Place(NamedTuple):
    """One side: its name, its worktree, where its tests are run, what their files held before any of them ran.

    `absent` says what the worktree lacks of its commit.
    """

    name: str
    tree: Path
    bench: Bench
    tests: Mapping[str, bytes]
    absent: tuple[str, ...]


_Made = TypeVar("_Made")


class _Meanwhile(Generic[_Made]):
    """Make something that waits for git and the disk while something else goes on; leaving the block waits for it.

    Args:
        make: makes it.
    """

    def __init__(self, make: Callable[[], _Made]) -> None:
        self._how = make
        self._made: list[_Made] = []
        self._failed: list[BaseException] = []
        self._thread = Thread(target=self._make)

    def _make(self) -> None:
        try:
            self._made.append(self._how())
        except BaseException as error:  # noqa: BLE001 - it is raised again where somebody waits for it
            self._failed.append(error)

    def made(self) -> _Made:
        """Return it."""
        self._thread.join()
        if self._failed:
            raise self._failed[0]
        return self._made[0]

    def __enter__(self) -> Self:
        """Begin."""
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Wait: its worktree is about to be taken away, whatever happened."""
        self._thread.join()


class _Proving:
    """One proof, from its worktrees to its record."""

    def __init__(self, pair: Pair, targets: Sequence[Target], args: argparse.Namespace, private: Path) -> None:
        from admit.wiring.prove import changed_lines, laid_over, told

        self._pair, self._targets, self._args, self._private = pair, targets, args, private
        self._laid = laid_over(pair, targets)
        self._changed = changed_lines(pair, self._laid)
        self._context: RunContext = told(pair, private / "c")
        self._sessions = 0
        self._imported: tuple[str, ...] | None = None

    def proof(self, of_patch: Callable[[], Tree], on_parent: Worktrees) -> Proof:
        """Lay out both sides, run them, and say what that shows.

        Args:
            of_patch: waits for the patch's worktree, which is being laid out.
            on_parent: makes the parent's.
        """
        from admit.wiring.prove import measured

        pair, args = self._pair, self._args
        lays: dict[str, Callable[[], Tree]] = {
            "patch": of_patch,
            "parent": lambda: on_parent.judged(
                pair.patch.commit, pair.parent.commit, lambda change: change.path in self._laid
            ),
        }
        # the side that may have a counterexample comes first
        order = ("parent", "patch") if args.expect == "fails-on-parent" else ("patch", "parent")
        seen = dict(zip(order, self._both(order, lays), strict=True))
        versions = {**seen["parent"].versions, **seen["patch"].versions}
        return Proof(
            pair.patch,
            pair.parent,
            args.expect,
            args.repeat,
            measured(pair, self._context, self._laid, versions),
            self._answers(seen["patch"], seen["parent"]),
        )

    # ------------------------------------------------------------ the sides

    def _both(self, order: tuple[str, str], lays: Mapping[str, Callable[[], Tree]]) -> tuple[Seen, Seen]:
        """Return what both sides show, each with the other's counterexamples replayed."""
        from admit.wiring.prove import check_same

        repeat = self._args.repeat
        _say(f"laying out the {order[0]}")
        self._imports()
        first = self._place(order[0], lays[order[0]]())
        with _Meanwhile(lambda: self._place(order[1], lays[order[1]]())) as later:
            one = self._played(first, {})
            second = later.made()
        check_same(first.tests, second.tests)
        two = self._played(second, counterexamples(one, repeat=repeat))
        if back := {node: text for node, text in counterexamples(two, repeat=repeat).items() if node in one.runs}:
            again = self._played(first, back, repeat=0)
            one = one._replace(replays={**one.replays, **again.replays}, problem=one.problem or again.problem)
        # what one side lacks may be all that its tests fail by
        lacks = "; ".join(sorted(set(first.absent) ^ set(second.absent)))
        return one._replace(problem=one.problem or lacks), two._replace(problem=two.problem or lacks)

    def _imports(self) -> tuple[str, ...]:
        """Return what the tests' Python imports from the checkout by itself; asked once."""
        if self._imported is None:
            from admit.wiring.editables import editable_folders

            space, top = self._pair.based.space, self._pair.based.top
            command = at_home(space.settings.words("run.command"), space.root, space.root)
            program = command[0] if command and os.path.basename(command[0]).startswith("python") else "python"
            self._imported = editable_folders(with_own_programs(os.environ), top, program=program)
        return self._imported

    def _place(self, name: str, tree: Tree) -> _Place:
        """Return one side; what its tests leave in caches and folders for such files is its own."""
        from admit.trust.environment import judged_environment
        from admit.wiring import Workspace
        from admit.wiring.editables import moved_imports
        from admit.wiring.patch import holds_compiled
        from admit.wiring.prove import laid_tests, lay_loose

        lay_loose(self._targets, tree.path)
        based, own = self._pair.based, self._private / name
        space = based.space
        for folder in ("t", "x"):
            (own / folder).mkdir(parents=True)
        pycache = own / "p" if holds_compiled(tree.path) else None
        environ, _ = judged_environment(
            with_own_programs(os.environ),
            root=based.top,
            tree=tree.path,
            pycache=pycache,
            first=moved_imports(self._imports(), based.top, tree.path),
        )
        environ |= {"TMPDIR": os.fspath(own / "t"), "XDG_CACHE_HOME": os.fspath(own / "x")}
        root = tree.path / based.prefix if based.prefix else tree.path
        root.mkdir(parents=True, exist_ok=True)
        command = at_home(space.settings.words("run.command"), space.root, root)
        limit_s = self._args.timeout or space.settings.number("run.timeout_s")
        bench = Bench(
            Workspace(root, space.settings, True), command, environ, own, limit_s, is_quiet=not self._args.verbose
        )
        return _Place(name, tree.path, bench, laid_tests(self._targets, tree.path), tree.absent)

    def _played(self, place: _Place, replay: Mapping[str, str], *, repeat: int | None = None) -> Seen:
        self._sessions += 1
        _say(f"running the tests on the {place.name}" + (", with a counterexample" if replay else ""))
        trial = Trial(
            "proof",
            self._pair.patch.commit,
            os.fspath(place.tree),
            elsewhere=(os.fspath(self._pair.based.top),),
            only=tuple(target.named.text for target in self._targets),
            files=tuple(dict.fromkeys(target.named.path for target in self._targets)),
            replay=replay,
            repeat=self._args.repeat if repeat is None else repeat,
            traced=() if self._changed is None else tuple(sorted(self._changed.patch)),
        )
        private = place.bench.private / str(self._sessions)
        private.mkdir()
        played = play(place.bench._replace(private=private), self._context, trial)
        return with_replays(_seen(played), replay)

    # ------------------------------------------------------------ the tests

    def _answers(self, patch: Seen, parent: Seen) -> tuple[NodeProof, ...]:
        from admit.prove.answers import Asked, Meant, answers
        from admit.wiring.prove import product_of

        opened = {one for seen in (patch, parent) for found in seen.opened.values() for one in found}
        is_product = product_of(self._pair, {path for one in opened for path in one})
        tests = frozenset(one.named.path for one in self._targets)
        asked = Asked(self._args.expect, self._args.repeat, tests, self._changed)
        found: dict[str, NodeProof] = {}
        for target in self._targets:
            file = Meant(target.named, target.blob, target.origin)
            for one in answers(file, patch, parent, asked=asked, is_product=is_product):
                found.setdefault(one.node, one)
        return tuple(found.values())


def _seen(played: Played) -> Seen:
    """Return what a side left, with what is wrong with it as a whole."""
    from admit.evidence.each import each_node

    problem, records = "; ".join(played.problems), []
    for gate, folded in played.folded.items():
        if gate == FREEZE_GATE:
            continue
        endings = [one.closing.ended if one.closing else "died" for one in folded.documents] or ["left nothing"]
        # an exit code of its own is no word on a test: a threshold of coverage makes one, say
        if odd := [ended for ended in endings if ended not in {"finished", "exit_disagrees"}]:
            problem = problem or f"the run {odd[0]}: {played.note or folded.gap} (--verbose shows what it prints)"
        for document in folded.documents:
            try:
                records += each_node(document.source, gate)
            except EvidenceError as error:
                problem = problem or str(error)
    return seen_of(records, problem)


def _say(text: str) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"admit: {text}\n")
        sys.stderr.flush()
