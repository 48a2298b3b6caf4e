"""`admit sign`: sign sealed evidence documents, or a decision (contract T5)."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from admit.errors import EvidenceError, InputError, UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from admit.core.decision import Decision
    from admit.core.records import Document


def configure(parser: ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("files", nargs="*", metavar="EVIDENCE_FILE", help="sealed documents")
    parser.add_argument("--decision", metavar="FILE", help="a decision, instead of evidence")
    parser.add_argument("--key", required=True, metavar="FILE", help="the private key")
    parser.add_argument("--verifier", metavar="URI", help="who decided (with --decision)")
    parser.add_argument("--resource", metavar="URI", help="the repository or patch decided on (with --decision)")


def run(args: Namespace) -> int:
    """Write an envelope beside each file; all are read before one is written."""
    from admit.trust.dsse import envelope_bytes
    from admit.trust.signatures import SUFFIX
    from admit.trust.signedfiles import read_signer, replace_envelope
    from admit.trust.statements import VERIFIER, decision_statement, evidence_statement, statement_bytes

    check_named(args)
    signer = read_signer(args.key)
    if args.decision:
        decision, digest = read_decision_file(args.decision)
        statements = {
            args.decision: decision_statement(
                decision, digest, verifier=args.verifier or VERIFIER, resource=args.resource or ""
            )
        }
    else:
        statements = {path: evidence_statement(read_sealed(path), os.path.basename(path)) for path in args.files}
    envelopes = {path: envelope_bytes(statement_bytes(one), signer) for path, one in statements.items()}
    for path, raw in envelopes.items():
        replace_envelope(path + SUFFIX, raw)
        sys.stdout.write(f"{path}{SUFFIX}: signed by {signer.key_id}\n")
    return 0


def check_named(args: Namespace) -> None:
    """Refuse a command line that names no file, or both kinds.

    Raises:
        UsageError: it does.
    """
    if bool(args.files) == bool(args.decision):
        found = "both evidence and a decision" if args.files else "no file"
        raise UsageError("FILE", found, allowed="evidence files, or --decision FILE")
    for name in ("verifier", "resource"):
        uri = getattr(args, name, None)
        if uri is not None and (":" not in uri or not uri.isascii() or not uri.isprintable() or " " in uri):
            raise UsageError(f"--{name}", repr(uri[:80]), allowed="a URI")


def read_sealed(path: str) -> Document:
    """Return a document that is well-formed.

    Raises:
        InputError: it is not; here nothing is decided, so this is no hold.
    """
    from admit.evidence.read import read_document
    from admit.wiring import limits_of, workspace

    try:
        return read_document(path, limits=limits_of(workspace()))
    except EvidenceError as error:
        raise InputError("", str(error), do="nothing was signed or verified") from error


def read_decision_file(path: str) -> tuple[Decision, str]:
    """Return a decision, and the digest of its file.

    Raises:
        InputError: there is none.
    """
    from hashlib import sha256

    from admit.render.json import read_decision
    from admit.trust.signedfiles import read_small

    raw = read_small(path)
    if raw is None:
        raise InputError(path, "there is no such file", do="name what `admit decide` wrote")
    return read_decision(raw, path), f"sha256:{sha256(raw).hexdigest()}"
