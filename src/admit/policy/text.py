"""A policy from the text of its file: read, compiled, verified."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from admit.policy.canonical import digest_of
from admit.policy.lines import Source
from admit.policy.model import Policy
from admit.policy.reading import read_document
from admit.policy.rules import ladder_of
from admit.policy.soundness import refuse_unsound

if TYPE_CHECKING:
    from admit.policy.document import Document


class Draft(NamedTuple):
    """A policy that was read but not verified: for the command that says of each guarantee whether it holds."""

    policy: Policy
    document: Document
    source: Source


def parse(text: str, where: str) -> Policy:
    """Read and verify the text of a policy file.

    Args:
        text: the TOML.
        where: the file's name, for messages and as the policy's source.

    Raises:
        InputError: anything that the format does not know, and anything unsound (contract V1, R6, R7), with its line.
    """
    draft = read_draft(text, where)
    refuse_unsound(draft.document, draft.policy.ladder, draft.source)
    return draft.policy


def read_draft(text: str, where: str) -> Draft:
    """Read the text of a policy file without asking whether its rules are sound.

    Raises:
        InputError: anything that the format does not know, with its line.
    """
    source = Source(where, text)
    document = read_document(source)
    policy = Policy(
        ladder=ladder_of(document),
        digest=digest_of(document),
        rules_on=document.rules_on,
        required=document.required,
        waived=document.waived,
        options=document.options,
        about=document.about,
        source=where,
        check=document.check,
        trust=document.trust,
    )
    return Draft(policy, document, source)
