"""What a patch reaches in words and as JSON, for whoever asked (contract S3)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from admit.errors import one_line
from admit.scope.reasons import Reach, Reason

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from admit.scope.effects import Diff
    from admit.scope.reach import Answers
    from admit.scope.reasons import ReachWord

SCHEMA: Final = "admit.scope/1"

_SHORT: Final = 12
"""Characters of a commit's id that are shown."""


def asked(answers: Answers, nodes: Iterable[str]) -> list[tuple[str, Reach]]:
    """Return the answers for some nodes in their order, for all of the map if none is named."""
    wanted = list(dict.fromkeys(nodes))
    if wanted:
        return [(node, answers.of(node)) for node in wanted]
    return [(node, answers.at(number)) for number, node in enumerate(answers.nodes)]


def text_of(diff: Diff, answers: Answers, nodes: Sequence[str] = ()) -> str:
    """Return the nodes in scope, beneath the reason for it, and how many are not."""
    grouped: dict[Reason, list[str]] = {}
    # most nodes of a map have the same answer, which is looked at once
    is_short = not nodes and not answers.rest.is_in_scope
    found = _apart(answers) if is_short else asked(answers, nodes)
    for node, reach in found:
        if nodes or reach.is_in_scope:
            grouped.setdefault(reach.reason, []).append(node)
    counts = dict.fromkeys(_WORDS, 0)
    for _, reach in found:
        counts[reach.word] += 1
    if is_short:
        counts[answers.rest.word] += len(answers.nodes) - len(found)
    lines = [*_head(diff, counts)]
    if not answers.nodes:
        lines.append(f"unknown: {answers.rest.reason.words()}: every test is in scope")
    for reason in sorted(grouped):
        lines.append(f"{Reach(reason).word.replace('_', ' ')}: {_place(reason)}{reason.words()}")
        lines += [f"  {node}" for node in grouped[reason]]
    return "".join(f"{line if line.isprintable() else one_line(line)}\n" for line in lines)


def _apart(answers: Answers) -> list[tuple[str, Reach]]:
    """Return the nodes that have an answer of their own."""
    return [(answers.nodes[number], reach) for number, reach in sorted(answers.by_number.items())]


def _head(diff: Diff, counts: Mapping[ReachWord, int]) -> Iterator[str]:
    files = f"{len(diff.edits)} file{'' if len(diff.edits) == 1 else 's'}"
    yield f"{diff.base[:_SHORT]}..{diff.head[:_SHORT]}: {files} (what is not committed is not among them)"
    total = sum(counts.values())
    said = ", ".join(f"{counts[word]} {text}" for word, text in _WORDS.items())
    yield f"{total} test{'' if total == 1 else 's'}: {said}"


_WORDS: Final[dict[ReachWord, str]] = {
    "covers": "cover the patch",
    "unknown": "unknown",
    "does_not_cover": "do not cover it",
}


def _place(reason: Reason) -> str:
    if not reason.path:
        return ""
    return f"{reason.path}:{reason.line}: " if reason.line else f"{reason.path}: "


def json_of(diff: Diff, answers: Answers, nodes: Sequence[str] = ()) -> str:
    """Return the same for machines, as `schemas/scope.schema.json` says."""
    tree: dict[str, Any] = {
        "schema": SCHEMA,
        "base": diff.base,
        "head": diff.head,
        "files": [edit.path for edit in diff.edits],
        "no_map": answers.rest.reason.text if answers.rest.reason.kind == "no_map" else None,
        "nodes": [_tree(node, reach) for node, reach in asked(answers, nodes)],
    }
    return json.dumps(tree, indent=1) + "\n"


def _tree(node: str, reach: Reach) -> dict[str, Any]:
    reason = reach.reason
    return {
        "node": node,
        "reach": reach.word,
        "reason": reason.kind,
        "path": reason.path or None,
        "line": reason.line or None,
        "text": reason.words(),
    }
