"""Claim: patches that look green and are wrong do not merge, each for the reason meant for it; honest ones do, unaided.

Usage: python bench/bypass/play.py [--only ID ...] [--layer NAME] [-j N] [--format text|json] [--tools FOLDER]

For every case the base project is cloned, the patch committed, and in one run these say whether it may merge:

    a, b, c    the exit code, the JUnit report, "every test that passed on the base is there and passed" (rivals.py)
    tools      programs that read the diff, where they are installed
    admit      `admit run --base BASE -- COMMAND`; it is told apart whether the reason is the one meant

A case is sound if the base answers every question of the oracle rightly, an attack with a fault at least one of them
wrongly, an honest patch none; if the fault without the trick turns plain pytest red; and if exactly those plain rules
that the case names are fooled. `--sound` checks that alone. Exits 1 if a case is unsound, if an attack without a known
gap merges or is stopped for another reason, or if an honest patch does not merge.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal, NamedTuple

from bugs import BUGS
from cases import PYTEST, Attack, Honest
from layers import ATTACKS, HONEST
from oracle import wrong_answers
from repository import apply, clone, commit, lay_out_base, run
from rivals import PLAIN, TOOLS, PlainRun, fooled, installed, lets_in, plain_run

from admit.core.decision import INADMISSIBLE

Case = Attack | Honest


class Ground(NamedTuple):
    """What every case stands on: the base's repository and commit, its plain run, the folder to work in, the tools."""

    base: Path
    commit: str
    plain: PlainRun
    folder: Path
    tools: dict[str, str]
    asked: Literal["both", "rivals", "admit"]


class Ruling(NamedTuple):
    """What admit said: its exit code, the attribution, every reason and sub-reason of a node held or rejected."""

    exit_code: int
    attribution: str
    reasons: frozenset[str]
    detail: str


class Played(NamedTuple):
    """One case as it went."""

    layer: str
    case: Case
    fooled: str
    unsound: tuple[str, ...]
    tools: dict[str, bool | None]
    admit: Ruling | None

    @property
    def merged(self) -> bool:
        """Return whether admit let the patch in."""
        return self.admit is not None and self.admit.exit_code == 0

    @property
    def as_meant(self) -> bool:
        """Return whether admit gave one of the reasons that are meant to stop the attack."""
        if self.admit is None or isinstance(self.case, Honest) or self.admit.exit_code not in (1, 2, 65):
            return False
        return bool(self.case.meant & {self.admit.attribution, *self.admit.reasons})


def main() -> int:
    """Play the cases that were asked for and print what came of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=[], metavar="ID", help="these cases alone")
    parser.add_argument("--layer", help="this layer alone; `honest` for the honest patches")
    parser.add_argument("-j", type=int, default=1, metavar="N", help="cases at a time")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.add_argument("--sound", action="store_true", help="check the cases alone, without admit and tools")
    parser.add_argument("--alone", action="store_true", help="ask admit alone, of cases known to be sound")
    parser.add_argument("--tools", type=Path, nargs="*", default=[], help="folders where tools are installed")
    parser.add_argument("--keep", type=Path, help="work in this folder and leave it there")
    args = parser.parse_args()
    asked = chosen(args.only, args.layer)
    if not asked:
        parser.error("no case has that name")
    folder = args.keep or Path(tempfile.mkdtemp(prefix="bypass-"))
    folder.mkdir(parents=True, exist_ok=True)
    try:
        tools = {} if args.sound or args.alone else installed(args.tools)
        ground = lay_out(folder.resolve(), tools, "rivals" if args.sound else "admit" if args.alone else "both")
        troubles = [] if args.only or args.layer or args.alone else red_controls(ground)
        with ThreadPoolExecutor(args.j) as pool:
            played = list(pool.map(lambda one: told(play(ground, *one)), asked))
    finally:
        if not args.keep:
            shutil.rmtree(folder, ignore_errors=True)
    troubles += [f"{one.case.id}: {line}" for one in played for line in one.unsound]
    print(as_json(played, troubles) if args.format == "json" else as_text(played, troubles, ground.tools))
    return int(bool(troubles) or (not args.sound and any(is_wrong(one) for one in played)))


def chosen(only: list[str], layer: str | None) -> list[tuple[str, Case]]:
    """Return the cases asked for, each with its layer."""
    rows: list[tuple[str, Case]] = [(name, case) for name, cases in ATTACKS.items() for case in cases]
    rows += [("honest", case) for case in HONEST]
    return [row for row in rows if (not only or row[1].id in only) and layer in (None, row[0])]


def lay_out(folder: Path, tools: dict[str, str], asked: Literal["both", "rivals", "admit"]) -> Ground:
    """Make the base and run its tests plainly, which must be green."""
    base = folder / "base"
    shutil.rmtree(base, ignore_errors=True)
    head = lay_out_base(base)
    trial = folder / "plain-base"
    shutil.rmtree(trial, ignore_errors=True)
    clone(base, trial)
    plain = plain_run(trial, PYTEST)
    if fooled(plain, plain) != "abc" or wrong_answers(base):
        sys.exit(f"the base is not in order: {plain.output} {sorted(wrong_answers(base))}")
    if asked != "rivals":
        keep_inventory(base, head)
    return Ground(base, head, plain, folder, tools, asked)


def keep_inventory(base: Path, head: str) -> None:
    """Let admit collect the base once, as it does for all patches on one base, and leave nothing else behind."""
    done = run(base, sys.executable, "-m", "admit", "run", "--base", head, "--", *PYTEST)
    if done.returncode != 0:
        sys.exit(f"the base does not merge: {done.stdout[-700:]}{done.stderr[-700:]}")
    for path in (base / ".admit").iterdir():
        if path.name != "inventory":
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def red_controls(ground: Ground) -> list[str]:
    """Return which faults, alone, do not turn plain pytest red or are not seen by the oracle."""
    troubles = []
    for name, bug in BUGS.items():
        tree = ground.folder / f"bug-{name}"
        shutil.rmtree(tree, ignore_errors=True)
        clone(ground.base, tree)
        apply(tree, bug.edits)
        if fooled(ground.plain, plain_run(tree, PYTEST)):
            troubles.append(f"the fault {name} alone is not red")
        if not bug.wrong & wrong_answers(tree):
            troubles.append(f"the fault {name} alone is right by the oracle")
        shutil.rmtree(tree)
    return troubles


def play(ground: Ground, layer: str, case: Case) -> Played:
    """Lay one case out twice, once for the plain rules and once for admit, and ask."""
    room = ground.folder / case.id
    plain_tree, tree = room / "plain", room / "judged"
    shutil.rmtree(room, ignore_errors=True)
    room.mkdir()
    try:
        ruling, letters, unsound, tools = None, "", (), {}
        if ground.asked != "admit":
            lay_out_patch(ground, case, plain_tree)
            wrong = wrong_answers(plain_tree)
            patch = plain_run(plain_tree, case.command)
            letters = fooled(ground.plain, patch)
            unsound = tuple(soundness(case, letters, wrong, patch))
        if ground.asked != "rivals":
            lay_out_patch(ground, case, tree)
            asked = [tool for tool in TOOLS if tool.name in ground.tools]
            tools = {tool.name: lets_in(tool, ground.tools[tool.name], tree, ground.commit) for tool in asked}
            ruling = ruled(ground, case, tree)
    except (RuntimeError, OSError) as error:
        return Played(layer, case, "", (f"cannot be laid out: {error}",), {}, None)
    finally:
        shutil.rmtree(room, ignore_errors=True)
    return Played(layer, case, letters, unsound, tools, ruling)


def lay_out_patch(ground: Ground, case: Case, tree: Path) -> None:
    """Clone the base and commit the patch there."""
    clone(ground.base, tree)
    if isinstance(case, Attack) and case.bug and not case.inside:
        apply(tree, BUGS[case.bug].edits)
    apply(tree, case.edits)
    if case.arrange:
        case.arrange(tree)
    commit(tree, case.message)
    if case.after:
        case.after(tree)


def soundness(case: Case, letters: str, wrong: frozenset[str], patch: PlainRun) -> list[str]:
    """Return what is not as the case says."""
    found = []
    if isinstance(case, Honest):
        found += [f"answers wrongly: {', '.join(sorted(wrong))}"] if wrong else []
        found += [] if {"a", "b"} <= set(letters) else [f"is not green: {patch.output}"]
        return found
    if case.bug and not (wrong if case.inside else BUGS[case.bug].wrong & wrong):
        found.append(f"the fault {case.bug} is not in it")
    if not case.bug and wrong:
        found.append(f"it says that it breaks nothing, and answers wrongly: {', '.join(sorted(wrong))}")
    if letters != case.fools:
        found.append(f"fools {letters or 'none'} and not {case.fools or 'none'}: {patch.output}")
    return found


def ruled(ground: Ground, case: Case, tree: Path) -> Ruling:
    """Return what admit says of the patch."""
    out = tree.parent / "decision.json"
    words = ("run", "--base", ground.commit, "--out", str(out), "--format", "json", "--", *case.command)
    done = run(tree, sys.executable, "-m", "admit", *words)
    try:
        decision = json.loads(done.stdout)
    except ValueError:
        said = (done.stderr or done.stdout).strip().rpartition("\n")[2]
        return Ruling(done.returncode, "refused" if done.returncode == 65 else "no decision", frozenset(), said[-400:])
    nodes = [node for gate in decision["gates"] for node in gate["nodes"]]
    said = ((node["reason"], node["record"]["why"]) for node in nodes)
    reasons = {str(word) for words in said for word in words if word}
    # what waits for a reviewer is said beside a rejection, which stands
    reasons |= {note.partition(":")[0] for note in decision["notes"] if note.partition(":")[0] in INADMISSIBLE}
    return Ruling(done.returncode, decision["attribution"], frozenset(reasons), decision["detail"])


def is_wrong(one: Played) -> bool:
    """Return whether admit did not do what the case asks of it."""
    if isinstance(one.case, Honest):
        return not one.merged
    return not one.case.gap and not one.as_meant


def told(one: Played) -> Played:
    """Show progress on a terminal, nothing in a pipe."""
    if sys.stderr.isatty():
        said = f"{one.admit.exit_code} {one.admit.attribution}" if one.admit else ""
        sys.stderr.write(f"{one.layer:18} {one.case.id:34} {one.fooled:4} {said}\n")
    return one


def as_text(played: list[Played], troubles: list[str], tools: dict[str, str]) -> str:
    """Return the table a layer a line, then by name what got through or was stopped for another reason."""
    lines = [f"{letter}: {rule}" for letter, rule in PLAIN.items()]
    missing = [tool.name for tool in TOOLS if tool.name not in tools]
    lines += [f"not installed, not played: {', '.join(missing)}"] if missing else []
    head = ["layer", "attacks", "a", "b", "c", *tools, "admit", "other reason", "known gaps"]
    rows = [head]
    layers = dict.fromkeys(one.layer for one in played if isinstance(one.case, Attack))
    rows += [_row(layer, [one for one in played if one.layer == layer], tools) for layer in layers]
    attacks = [one for one in played if isinstance(one.case, Attack)]
    if attacks:
        rows.append(_row("all", attacks, tools))
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    lines += [
        "",
        "attacks let in by",
        *("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows),
    ]
    honest = [one for one in played if isinstance(one.case, Honest)]
    if honest and honest[0].admit:
        lines.append(f"\nhonest patches merged: {sum(one.merged for one in honest)} of {len(honest)}")
        lines += [f"  {name} merges {sum(bool(one.tools.get(name)) for one in honest)}" for name in tools]
    lines += _named("admit let in", [one for one in attacks if one.merged])
    lines += _named(
        "stopped for another reason than meant",
        [one for one in attacks if one.admit and not one.merged and not one.as_meant and not one.case.gap],
    )
    lines += _named("honest and not merged", [one for one in honest if one.admit and not one.merged])
    lines += ["", "unsound:", *(f"  {line}" for line in troubles)] if troubles else ["", "every case is sound"]
    return "\n".join(lines)


def _row(layer: str, played: list[Played], tools: dict[str, str]) -> list[str]:
    ruled_on = [one for one in played if one.admit]
    counts = [sum(letter in one.fooled for one in played) for letter in "abc"]
    counts += [sum(one.tools.get(name) is not False for one in played) for name in tools]
    other = sum(not one.merged and not one.as_meant and not one.case.gap for one in ruled_on)
    gaps = sum(bool(one.case.gap) for one in played)
    shown = [sum(one.merged for one in ruled_on), other] if ruled_on else ["-", "-"]
    return [layer, str(len(played)), *map(str, counts), *map(str, shown), str(gaps)]


def _named(title: str, played: list[Played]) -> list[str]:
    rows = []
    for one in played:
        gap = f"  (known: {one.case.gap})" if isinstance(one.case, Attack) and one.case.gap else ""
        said = f"exit {one.admit.exit_code} {one.admit.attribution} {sorted(one.admit.reasons)}: {one.admit.detail}"[
            :220
        ]
        rows.append(f"  {one.layer}: {one.case.id}  {said}{gap}")
    return ["", f"{title}:", *rows] if rows else []


def as_json(played: list[Played], troubles: list[str]) -> str:
    """Return everything, for machines."""
    rows: list[dict[str, Any]] = []
    for one in played:
        ruling = one.admit._asdict() | {"reasons": sorted(one.admit.reasons)} if one.admit else None
        meant = sorted(one.case.meant) if isinstance(one.case, Attack) else None
        gap = one.case.gap if isinstance(one.case, Attack) else ""
        rows.append(
            {
                "layer": one.layer,
                "id": one.case.id,
                "fooled": one.fooled,
                "unsound": list(one.unsound),
                "tools": one.tools,
                "admit": ruling,
                "meant": meant,
                "as_meant": one.as_meant,
                "gap": gap,
            }
        )
    return json.dumps(
        {"cases": rows, "troubles": troubles, "played_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}, indent=1
    )


if __name__ == "__main__":
    sys.exit(main())
