"""Every node record of a document by itself, where a reader wants more than what they fold to (boundary: files)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from admit.evidence.files import blocks_of, open_evidence
from admit.evidence.record import node_record
from admit.evidence.strict import LIMITS, Limits, read_object

if TYPE_CHECKING:
    from admit.core.records import NodeRecord

_NODE = b'{"record":"node",'


def each_node(path: str | os.PathLike[str], gate: str, *, limits: Limits = LIMITS) -> list[NodeRecord]:
    """Return the node records of a gate's document, in the order in which they were written.

    Whether the document is whole is not asked here: fold it first.

    Raises:
        EvidenceError: the file cannot be read, or a record breaks its format (contract E4).
    """
    name = os.fspath(path)
    with open_evidence(name, limit=limits.document_bytes) as stream:
        lines = b"".join(blocks_of(stream, name, limits=limits)).split(b"\n")
    found = []
    for number, line in enumerate(lines, 1):
        if line.startswith(_NODE):
            keys = read_object(line, name, limits=limits, line=number)
            del keys["record"]
            found.append(node_record(keys, f"{name}:{number}", gate=gate))
    return found
