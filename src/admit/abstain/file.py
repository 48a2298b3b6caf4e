"""The abstentions file: read strictly, written with stable bytes (contract U7)."""

from __future__ import annotations

import json
import re
import tomllib
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from admit.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from admit.core.signals import Why

BY_DESIGN: Final[dict[str, Why]] = {
    "skip": "skip",
    "xfail": "xfail",
    "deselected": "deselected",
    "todo": "todo",
    "disabled": "disabled",
}
"""The sub-reasons that somebody chose. An error, a timeout, a crash or a lost run is never declared away."""

KEYS: Final = ("why", "reason", "node", "nodes", "note")
"""Every key of an entry; `node` or `nodes`, not both; `note` may be left out."""

HEADER: Final = """\
# Abstentions: tests that by design give no verdict here, each with exactly what it shows; reviewed like code.
# admit abstain write|check|list
"""
"""What a new file starts with."""


class Declared(NamedTuple):
    """What one node is declared to show: the sub-reason, and the reason's exact text; `note` is for people."""

    why: Why
    reason: str
    note: str = ""


class Abstentions(NamedTuple):
    """Every declared node, and the comment at the head of the file."""

    where: str
    by_node: Mapping[str, Declared]
    header: str = HEADER

    @property
    def declared(self) -> Mapping[str, tuple[str, str]]:
        """Return what each node may show: sub-reason and exact reason."""
        return {node: (declared.why, declared.reason) for node, declared in self.by_node.items()}


def read_abstentions(text: str, where: str) -> Abstentions:
    """Return what an abstentions file declares.

    Raises:
        InputError: not TOML, an unknown or missing key, a wrong type, a sub-reason that is not by design, a node that
            is declared twice.
    """
    tree = _toml(text, where)
    if stray := [key for key in tree if key != "abstain"]:
        raise InputError(where, f"unknown key {stray[0]!r}", allowed="[[abstain]]")
    tables = tree.get("abstain", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise InputError(where, "abstain is not a list of tables", do="write [[abstain]] above each entry")
    by_node: dict[str, Declared] = {}
    for place, table in zip(_places(text, where, len(tables)), tables, strict=True):
        declared = _declared(table, place)
        for node in _nodes(table, place):
            if node in by_node:
                raise InputError(place, f"{node} is declared twice", do="keep the one that it shows")
            by_node[node] = declared
    return Abstentions(where, by_node, header_of(text))


def _toml(text: str, where: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except ValueError as error:  # of which TOMLDecodeError is one; a number of thousands of digits raises another
        raise InputError(where, f"not TOML: {error}", do="correct the place named") from error
    except RecursionError as error:
        raise InputError(where, "not readable as TOML: nested too deep", do="write one [[abstain]] an entry") from error


def _places(text: str, where: str, total: int) -> list[str]:
    headers = re.finditer(r"""^[ \t]*\[\[[ \t]*(["']?)abstain\1[ \t]*\]\]""", text, re.MULTILINE)
    lines = [text.count("\n", 0, found.start()) + 1 for found in headers]
    if len(lines) != total:  # one of them stands inside a string, or the entries are written another way
        return [f"{where}, entry {number}" for number in range(1, total + 1)]
    return [f"{where} line {line}, entry {number}" for number, line in enumerate(lines, 1)]


def _declared(table: dict[str, Any], place: str) -> Declared:
    for key, value in table.items():
        if key not in KEYS:
            raise InputError(place, f"unknown key {key!r}", allowed=", ".join(KEYS))
        if key != "nodes" and not isinstance(value, str):
            raise InputError(place, f"{key} is {value!r}", do=f'write it as text: {key} = "…"')
    for key, do in (("why", f"one of {', '.join(BY_DESIGN)}"), ("reason", "copy the exact text that the run shows")):
        if key not in table:
            raise InputError(place, f"no {key}", do=do)
    if (why := BY_DESIGN.get(table["why"])) is None:
        raise InputError(place, f"why is {table['why']!r}", allowed=", ".join(BY_DESIGN))
    if not table.get("note", "…").strip():
        raise InputError(place, "note is empty", do="say it, or leave the key out")
    # the reason may be empty: a bare mark gives none, and then the file says so in as many words
    return Declared(why, table["reason"], table.get("note", ""))


def _nodes(table: dict[str, Any], place: str) -> list[str]:
    if ("node" in table) == ("nodes" in table):
        found = "both node and nodes" if "node" in table else "no node"
        raise InputError(place, found, do='write node = "…" for one, nodes = ["…", "…"] for several')
    nodes = [table["node"]] if "node" in table else table["nodes"]
    if not isinstance(nodes, list) or not nodes or not all(isinstance(node, str) for node in nodes):
        raise InputError(place, f"nodes is {nodes!r}", allowed="a list of texts, not empty")
    for node in nodes:
        if not node.strip() or node != node.strip():
            raise InputError(place, f"the node {node!r} is empty or has white space around it", do="name a node")
    return nodes


def header_of(text: str) -> str:
    """Return the comment at the head of a file: its first lines, as far as they are comments or blank."""
    lines: list[str] = []
    for line in text.replace("\r\n", "\n").split("\n"):
        if line.strip() and not line.lstrip().startswith("#"):
            break
        lines.append(line)
    head = "\n".join(lines).strip("\n")
    return f"{head}\n" if head else ""


def comments_below(text: str) -> tuple[str, ...]:
    """Return the comment lines below the head of a file, which writing it anew does not keep."""
    below = text.replace("\r\n", "\n").strip("\n").removeprefix(header_of(text).rstrip("\n"))
    return tuple(line.strip() for line in below.split("\n") if line.lstrip().startswith("#"))


def rendered(abstentions: Abstentions) -> str:
    """Return the file's text: grouped by sub-reason and reason, sorted, the same bytes for the same content."""
    groups: dict[Declared, list[str]] = {}
    for node, declared in abstentions.by_node.items():
        groups.setdefault(declared, []).append(node)
    blocks = [abstentions.header] if abstentions.header else []
    blocks += [_block(declared, sorted(groups[declared])) for declared in sorted(groups)]
    return "\n".join(blocks)


def _block(declared: Declared, nodes: list[str]) -> str:
    lines = ["[[abstain]]", f"why = {_quoted(declared.why)}", f"reason = {_quoted(declared.reason)}"]
    lines += [f"note = {_quoted(declared.note)}"] if declared.note else []
    if len(nodes) == 1:
        lines.append(f"node = {_quoted(nodes[0])}")
    else:
        lines += ["nodes = [", *(f"    {_quoted(node)}," for node in nodes), "]"]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    # JSON's escapes are all TOML's too; of the characters that TOML wants escaped it leaves out one, DEL
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
