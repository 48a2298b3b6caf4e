"""Read a gate's document from its file, and find the documents in a folder (boundary: files)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from admit.errors import EvidenceError
from admit.evidence.files import blocks_of, open_evidence
from admit.evidence.fold import fold_blocks
from admit.evidence.strict import LIMITS, Limits
from admit.evidence.wire import CONTEXT_FILE, SIGNED, SUFFIX, is_document_name

if TYPE_CHECKING:
    from admit.core.records import Document


class Folder(NamedTuple):
    """What an evidence folder holds: its documents, sorted, and whatever else lies there, in words."""

    documents: tuple[str, ...]
    problems: tuple[str, ...]


def read_document(path: str | os.PathLike[str], *, limits: Limits = LIMITS) -> Document:
    """Return one gate's document, folded node by node while it streams in (contract E3).

    Raises:
        EvidenceError: the file cannot be read, or breaks its format anywhere (contract E4).
    """
    name = os.fspath(path)
    with open_evidence(name, limit=limits.document_bytes) as stream:
        return fold_blocks(blocks_of(stream, name, limits=limits), name, limits=limits)


def find_documents(folder: str | os.PathLike[str]) -> Folder:
    """Return the documents in an evidence folder: regular files named `<gate>.<anything>.jsonl`.

    The run context is known and passed over, and so is the envelope that signs a document beside it. Anything else is a
    problem that the caller answers with `malformed-evidence`: evidence that was meant to be there and is not recognised
    must not be passed over in silence.

    Raises:
        EvidenceError: the folder cannot be read.
    """
    name = os.fspath(folder)
    documents: list[str] = []
    problems: list[str] = []
    signed: list[str] = []
    try:
        with os.scandir(name) as entries:
            for entry in entries:
                if not entry.is_file(follow_symlinks=False):
                    problems.append(f"{entry.path}: not a regular file")
                elif is_document_name(entry.name):
                    documents.append(entry.path)
                elif entry.name.endswith(SIGNED) and is_document_name(entry.name.removesuffix(SIGNED)):
                    signed.append(entry.path.removesuffix(SIGNED))
                elif entry.name != CONTEXT_FILE:
                    problems.append(f"{entry.path}: not named <gate>.<anything>{SUFFIX}")
    except (OSError, ValueError) as error:
        what = error.strerror if isinstance(error, OSError) else str(error)
        raise EvidenceError(name, f"the evidence folder cannot be read: {what}", do="run the gates first") from error
    lost = sorted(set(signed) - set(documents))
    problems += [f"{path}{SIGNED}: the document that it signs is not there" for path in lost]
    return Folder(tuple(sorted(documents)), tuple(sorted(problems)))
