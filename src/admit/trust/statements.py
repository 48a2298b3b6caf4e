"""in-toto Statements: what a signature says of which files, written and read strictly (in-toto Statement v1)."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import quote

from admit import strictjson
from admit.core.records import check_of
from admit.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from admit.core.decision import Decision
    from admit.core.records import Document, Opening

STATEMENT: Final = "https://in-toto.io/Statement/v1"
TEST_RESULT: Final = "https://in-toto.io/attestation/test-result/v0.1"
SUMMARY: Final = "https://slsa.dev/verification_summary/v1"
EVIDENCE: Final = "urn:admit:evidence:1"
"""Our key in a test result: what the published predicate has no word for. A key that is a URI is how it is extended."""

DECISION: Final = "urn:admit:decision:1"
"""Our key in a verification summary."""

VERIFIER: Final = "urn:admit:verifier"
BOUND: Final = (
    "gate", "patch_id", "head", "base", "tool", "tool_version", "run_id", "nonce", "lane", "shard", "shards", "attempt",
    "dirty", "instrument_of",
)  # fmt: skip
"""What of a document's opening stands under its signature."""

COUNTS: Final = ("passed", "failed", "no_verdict")
MAX_NAMES: Final = 1000
MAX_NAME_CHARS: Final = 100_000
"""Tests are named up to so many names and characters a list; past that the list stays empty, and the counts say it."""

MAX_SUBJECTS: Final = 2000
MAX_DEPTH: Final = 12
_DIGESTS: Final = re.compile(r"[0-9a-f]{40,128}")
_COMMIT: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


class Subject(NamedTuple):
    """One thing that a statement speaks of: its name, the kind of its digest, and the digest in hexadecimal."""

    name: str
    kind: str
    digest: str


class Statement(NamedTuple):
    """What is said of which subjects; the type of the predicate says how it is to be read."""

    subjects: tuple[Subject, ...]
    predicate_type: str
    predicate: Mapping[str, Any]


def statement_bytes(statement: Statement) -> bytes:
    """Return a statement as the payload that is signed: the same bytes for the same statement.

    Raises:
        InputError: a name in it is not text (a path that is not UTF-8).
    """
    tree = {
        "_type": STATEMENT,
        "subject": [{"name": one.name, "digest": {one.kind: one.digest}} for one in statement.subjects],
        "predicateType": statement.predicate_type,
        "predicate": statement.predicate,
    }
    try:
        return json.dumps(tree, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()
    except UnicodeEncodeError as error:
        name = ascii(error.object[max(0, error.start - 20) : error.end + 20])
        raise InputError(name, "a name that is not UTF-8 cannot be signed", do="rename the file") from error


def read_statement(payload: bytes, where: str, predicate_type: str) -> Statement:
    """Return the statement in a payload whose signature was checked.

    Raises:
        InputError: anything that is not exactly one statement of this type.
    """
    where = f"{where}: payload"
    tree = strictjson.read_object(payload, where, do="sign it again")
    if _SURROGATE.search(payload):
        raise InputError(where, "half of a surrogate pair", allowed="whole characters", do="sign it again")
    _check_depth(tree, where)
    strictjson.only(tree, ("_type", "subject", "predicateType", "predicate"), where)
    for key, word in (("_type", STATEMENT), ("predicateType", predicate_type)):
        if tree[key] != word:
            strictjson.refuse(f"{where}: {key}", tree[key], word)
    subjects = tree["subject"]
    if not isinstance(subjects, list) or not 1 <= len(subjects) <= MAX_SUBJECTS:
        raise InputError(f"{where}: subject", "no such list", allowed=f"1 to {MAX_SUBJECTS} subjects")
    return Statement(
        tuple(_subject(one, f"{where}: subject") for one in subjects),
        predicate_type,
        table(tree["predicate"], f"{where}: predicate"),
    )


def _check_depth(tree: object, where: str) -> None:
    level = [tree]
    for _ in range(MAX_DEPTH):
        tables = [list(one.values()) for one in level if isinstance(one, dict)]
        level = [part for one in (*tables, *(one for one in level if isinstance(one, list))) for part in one]
        if not level:
            return
    raise InputError(where, "arrays or objects too deep inside each other", allowed=f"{MAX_DEPTH} levels")


_SURROGATE: Final = re.compile(rb"\\u[dD][89a-fA-F]")


def _subject(tree: object, where: str) -> Subject:
    keys = table(tree, where)
    strictjson.only(keys, ("name", "digest"), where)
    name, digests = text(keys["name"], f"{where}: name"), table(keys["digest"], f"{where}: digest")
    if len(digests) != 1:
        raise InputError(f"{where}: digest", f"{len(digests)} digests", allowed="one")
    ((kind, digest),) = digests.items()
    if not isinstance(digest, str) or not _DIGESTS.fullmatch(digest):
        strictjson.refuse(f"{where}: digest", digest, "hexadecimal digits in lower case")
    return Subject(name, kind, digest)


def table(value: object, where: str) -> dict[str, Any]:
    """Return a value that must be an object.

    Raises:
        InputError: it is none.
    """
    if not isinstance(value, dict):
        strictjson.refuse(where, value, "an object")
    return value


def text(value: object, where: str) -> str:
    """Return a value that must be a text, not empty.

    Raises:
        InputError: it is none.
    """
    if not isinstance(value, str) or not value:
        strictjson.refuse(where, value, "a text")
    return value


def bound(opening: Opening) -> dict[str, object]:
    """Return what of an opening stands under the signature of its document."""
    return {key: getattr(opening, key) for key in BOUND}


def evidence_statement(document: Document, name: str) -> Statement:
    """Return what a gate says of a sealed document of its own (in-toto test-result v0.1).

    The result is PASSED only where the run finished and every test in it passed: the predicate's WARNED means passed,
    so no test without a verdict is put there.

    Raises:
        InputError: the document has no closing record.
    """
    closing = document.closing
    if closing is None:
        raise InputError(
            name, "no closing record: its run died", do="run the gate again; only what is sealed is signed"
        )
    tests: dict[str, list[str]] = {"pass": [], "fail": [], "not_run": []}
    for node, code in sorted(document.codes.items()):
        tests[check_of(code)].append(node)
    clean = closing.ended == "finished" and tests["pass"] and not tests["fail"] and not tests["not_run"]
    counts = dict(zip(COUNTS, map(len, (tests["pass"], tests["fail"], tests["not_run"])), strict=True))
    predicate = {
        "result": "PASSED" if clean else "FAILED",
        "configuration": _configuration(document.opening),
        "passedTests": _named(tests["pass"]),
        "failedTests": _named(tests["fail"]),
        EVIDENCE: {**bound(document.opening), **counts},
    }
    return Statement((Subject(name, *digest_of(document.digest)),), TEST_RESULT, predicate)


def digest_of(digest: str) -> tuple[str, str]:
    """Return kind and hexadecimal digits of `kind:digits`."""
    kind, _, digits = digest.partition(":")
    return kind, digits


def _named(nodes: list[str]) -> list[str]:
    return nodes if len(nodes) <= MAX_NAMES and sum(map(len, nodes)) <= MAX_NAME_CHARS else []


def _configuration(opening: Opening) -> list[dict[str, object]]:
    commits = {"head": opening.head, "instrument": opening.instrument_of}
    return [
        {"name": name, "digest": {"gitCommit": commit}}
        for name, commit in commits.items()
        if commit is not None and _COMMIT.fullmatch(commit)
    ]


def decision_statement(decision: Decision, digest: str, *, verifier: str = VERIFIER, resource: str = "") -> Statement:
    """Return what a decision says of a commit (SLSA verification summary v1): PASSED for an accept alone.

    Args:
        decision: the decision.
        digest: `sha256:…` of the file that it was read from.
        verifier: a URI that names who decided.
        resource: a URI that names the repository or the patch; by default the patch's id as a URN.

    Raises:
        InputError: the decision judged no commit.
    """
    patch = decision.patch
    if patch.head is None or not _COMMIT.fullmatch(patch.head):
        found = "it judged no commit" if patch.head is None else f"its head is {patch.head[:80]!r}"
        raise InputError("decision", found, do="decide on a commit; only that can be signed")
    passed = decision.kind == "accept"
    subjects = [Subject("head", "gitCommit", patch.head)]
    subjects += [Subject("tree", "gitTree", patch.tree)] if patch.tree else []
    predicate = {
        "verifier": {"id": verifier},
        "timeVerified": decision.now,
        "resourceUri": resource or f"urn:admit:patch:{quote(patch.patch_id, safe='')}",
        "policy": _policy(decision.router.name, decision.router.digest),
        "inputAttestations": [
            {"name": one.source.rpartition("/")[2], "digest": dict([digest_of(one.digest)])}
            for gate in decision.gates
            for one in gate.documents
        ],
        "verificationResult": "PASSED" if passed else "FAILED",
        "verifiedLevels": ["ADMIT_ACCEPTED" if passed else "FAILED"],
        DECISION: {
            "decision": digest,
            "outcome": decision.outcome,
            "means": decision.kind,
            "attribution": decision.attribution,
            "rule": decision.rule,
            "patch_id": patch.patch_id,
            "base": patch.base,
            "node_policy": _policy(decision.arbiter.name, decision.arbiter.digest),
        },
    }
    return Statement(tuple(subjects), SUMMARY, predicate)


def _policy(name: str, digest: str) -> dict[str, object]:
    return {"uri": f"urn:admit:policy:{quote(name, safe='')}", "digest": dict([digest_of(digest)])}
