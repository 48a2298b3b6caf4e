"""`admit abstain write|check|list`: the nodes that by design give no verdict here (contract U7)."""

from __future__ import annotations

import json
import sys
from argparse import REMAINDER
from pathlib import Path
from typing import TYPE_CHECKING

from admit.errors import EvidenceError, InputError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from admit.core.records import Document
    from admit.wiring import Workspace

_VERBS = {
    "write": "Run the tests once and bring the file up to date with what gave no verdict by design.",
    "check": "Compare the file with the evidence of a run: exit 0 where they agree, 2 where a node would hold.",
    "list": "List what is declared.",
}


def configure(parser: ArgumentParser) -> None:
    """Add the verbs."""
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="write|check|list")
    for verb, text in _VERBS.items():
        one = verbs.add_parser(
            verb,
            help=text,
            description=text,
            epilog=f"example:\n  admit abstain {verb}",
            formatter_class=parser.formatter_class,
        )
        one.add_argument("--format", choices=("text", "json", "markdown"), default="text")
        if verb != "list":
            one.add_argument(
                "--evidence",
                type=Path,
                metavar="DIR",
                help="read this evidence instead of running the tests or the last run's",
            )
        if verb == "write":
            one.add_argument(
                "command", nargs=REMAINDER, metavar="-- COMMAND", help="the test command (default: as configured)"
            )


def run(args: Namespace) -> int:
    """Run one verb."""
    from admit.wiring import workspace

    space = workspace()
    return {"write": _write, "check": _check, "list": _list}[args.verb](space, args)


def _write(space: Workspace, args: Namespace) -> int:
    from admit.abstain.files import load_abstentions, write
    from admit.abstain.shown import updated

    path = space.path("abstain.file")
    before = load_abstentions(path)
    folder = args.evidence or _run_tests(space, args.command)
    documents = _documents(space, folder)
    _refuse_no_run(folder, documents)
    after = updated(before, documents)
    write(path, after.abstentions)
    lines = [
        f"{word} {node}"
        for word, nodes in (("added", after.added), ("changed", after.changed), ("dropped", after.dropped))
        for node in nodes
    ]
    lines.append(f"{path.name}: {len(after.abstentions.by_node)} nodes declared; review each reason before you commit")
    _print(lines, args.format, {"added": after.added, "changed": after.changed, "dropped": after.dropped})
    return 0


def _refuse_no_run(folder: Path, documents: tuple[Document, ...]) -> None:
    """Refuse evidence that says of no test what it shows: the file would be brought up to date with nothing."""
    from admit.core.signals import FREEZE_GATE

    if not documents:
        found = "no evidence here" if folder.is_dir() else "no such folder"
        raise InputError(
            str(folder), found, do="run `admit run` first, or leave --evidence out: then the tests run now"
        )
    if not any(document.closing and document.closing.ended == "finished" for document in documents):
        raise InputError(
            str(folder), "no run that finished left evidence here", do="make the tests run to their end first"
        )
    if not any(document.codes for document in documents if document.opening.gate != FREEZE_GATE):
        raise InputError(
            str(folder),
            "the run found no tests, so there is nothing to declare and the file stays as it is",
            do="write a test first, or name the command that runs them: admit abstain write -- COMMAND",
        )


def _run_tests(space: Workspace, words: list[str]) -> Path:
    from admit.cli.attempts import one_run_at_a_time, started
    from admit.cli.run import execute
    from admit.wiring import run_context

    command = tuple(words[1:] if words[:1] == ["--"] else words) or space.settings.words("run.command")
    folder = space.path("evidence.folder").with_name("abstain-evidence")
    with one_run_at_a_time(folder):
        # no commit's evidence: nothing of an earlier run is to be kept
        context = started(folder, run_context(space.root, launched=True)._replace(head=None), attempt=1, patch_id=None)
        note = execute(space, command, folder, context=context)
    if note:
        sys.stderr.write(f"admit: {note}\n")
    return folder


def _documents(space: Workspace, folder: Path) -> tuple[Document, ...]:
    from admit.wiring import read_folder

    documents, problems = read_folder(space, folder)
    if problems:
        raise EvidenceError(str(folder), problems[0], do="run the tests again")
    return documents


def _check(space: Workspace, args: Namespace) -> int:
    from admit.abstain.files import load_abstentions
    from admit.abstain.shown import check

    documents = _documents(space, args.evidence or space.path("evidence.folder"))
    if not documents:
        raise InputError(
            str(args.evidence or space.path("evidence.folder")), "no evidence here", do="run `admit run` first"
        )
    found = check(load_abstentions(space.path("abstain.file")), documents)
    tree = [{"kind": one.kind, "node": one.node, "text": one.text} for one in found]
    _print([one.text for one in found] or ["the file and the evidence agree"], args.format, {"differences": tree})
    return 2 if any(one.kind != "not seen" for one in found) else 0


def _list(space: Workspace, args: Namespace) -> int:
    from admit.abstain.files import load_abstentions

    declared = load_abstentions(space.path("abstain.file")).by_node
    lines = [f"{one.why}  {node}  {one.reason}" for node, one in declared.items()]
    tree = [{"node": node, "why": one.why, "reason": one.reason, "note": one.note} for node, one in declared.items()]
    _print(lines or ["nothing is declared"], args.format, {"abstentions": tree})
    return 0


def _print(lines: list[str], how: str, tree: object) -> None:
    from admit.render.markdown import cell
    from admit.render.text import safe

    match how:
        case "json":
            sys.stdout.write(json.dumps(tree, indent=1) + "\n")
        case "markdown":
            sys.stdout.write("".join(f"- {cell(line)}\n" for line in lines))
        case _:
            sys.stdout.write("".join(f"{safe(line)}\n" for line in lines))
