"""The run context on disk: what a test run is told before it starts (boundary: files)."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any, Final

from admit.core.context import TRIAL_PARTS, LockedNodes, RunContext, Trial
from admit.core.signals import FREEZE_GATE, LOCK_STATES
from admit.errors import LedgerError
from admit.evidence import fields
from admit.evidence.files import read_whole
from admit.evidence.instant import INSTANT, utc_instant
from admit.evidence.record import node_record
from admit.evidence.strict import LIMITS, Limits, read_object
from admit.evidence.wire import CONTEXT_FILE, CONTEXT_SCHEMA, node_keys

__all__ = ["CONTEXT_FILE", "context_bytes", "context_of", "read_context", "write_context"]

_SURROGATE: Final = re.compile(r"[\ud800-\udfff]")

if TYPE_CHECKING:
    from collections.abc import Mapping

    from admit.core.context import Scalar
    from admit.core.records import NodeRecord


def write_context(path: str | os.PathLike[str], context: RunContext) -> None:
    """Write a run context as JSON, in place of whatever stood there.

    Raises:
        LedgerError: the file cannot be written.
    """
    name = os.fspath(path)
    try:
        with open(name, "wb") as stream:
            stream.write(context_bytes(context))
    except OSError as error:
        raise LedgerError(name, f"cannot be written: {error.strerror}") from error


def read_context(path: str | os.PathLike[str], *, limits: Limits = LIMITS) -> RunContext:
    """Return the run context that stands in a file.

    Raises:
        EvidenceError: the file cannot be read, or is not exactly a run context (contract E4).
    """
    name = os.fspath(path)
    return context_of(read_object(read_whole(name, limits=limits), name, limits=limits), name)


def context_bytes(context: RunContext) -> bytes:
    """Return a run context as the bytes that stand on disk: JSON, one key a line."""
    keys = context._asdict()
    keys["locked"] = [lock._asdict() for lock in context.locked]
    keys["register"] = [node_keys(FREEZE_GATE, record) for record in context.register]
    keys["frozen"] = dict(context.frozen)
    keys["profile"] = dict(context.profile)
    keys["trial"] = None if context.trial is None else {**context.trial._asdict(), "replay": dict(context.trial.replay)}
    text = json.dumps({"schema": CONTEXT_SCHEMA, **keys}, ensure_ascii=False, allow_nan=False, indent=1)
    # an argument that is not UTF-8 comes as lone surrogates: they are spelled out, as in documents
    return _SURROGATE.sub(lambda found: f"\\\\u{ord(found[0]):04x}", text).encode() + b"\n"


def context_of(keys: Mapping[str, Any], where: str) -> RunContext:
    """Return the run context in a parsed object.

    Raises:
        EvidenceError: an unknown key, a missing one, a wrong type or word.
    """
    fields.only(keys, ("schema", *RunContext._fields), where)
    fields.word(keys, "schema", (CONTEXT_SCHEMA,), where)
    for key in RunContext._fields:  # a recorder that is told too little must not fill the rest in by itself
        fields.required(keys, key, where)
    return RunContext(
        patch_id=fields.text(keys, "patch_id", where),
        head=fields.text_or_none(keys, "head", where),
        base=fields.text_or_none(keys, "base", where),
        dirty=fields.flag(keys, "dirty", where),
        run_id=fields.text(keys, "run_id", where),
        nonce=fields.text(keys, "nonce", where),
        lane=fields.text(keys, "lane", where),
        shard=fields.whole(keys, "shard", where, least=1),
        shards=fields.whole(keys, "shards", where, least=1),
        attempt=fields.whole(keys, "attempt", where, least=1),
        property_markers=fields.texts(keys, "property_markers", where),
        property_paths=fields.texts(keys, "property_paths", where),
        lock=fields.word(keys, "lock", LOCK_STATES, where),
        locked=tuple(_locked(part, f"{where}: locked") for part in fields.array(keys, "locked", where)),
        fixture_manifest=fields.text_or_none(keys, "fixture_manifest", where),
        seed=fields.whole(keys, "seed", where, least=None),
        profile={key: _setting(value, key, where) for key, value in fields.table(keys, "profile", where).items()},
        frozen={node: _expiry(value, node, where) for node, value in fields.table(keys, "frozen", where).items()},
        register=tuple(_entry(part, f"{where}: register") for part in fields.array(keys, "register", where)),
        launched=fields.flag(keys, "launched", where),
        lock_differences=fields.texts(keys, "lock_differences", where),
        timing_markers=fields.texts(keys, "timing_markers", where),
        trial=None if keys["trial"] is None else _trial(fields.table(keys, "trial", where), f"{where}: trial"),
    )


def _trial(keys: Mapping[str, Any], where: str) -> Trial:
    fields.only(keys, Trial._fields, where)
    replay = fields.table(keys, "replay", where)
    return Trial(
        part=fields.word(keys, "part", TRIAL_PARTS, where),
        base=fields.text(keys, "base", where),
        tree=fields.text(keys, "tree", where),
        elsewhere=fields.texts(keys, "elsewhere", where),
        only=fields.texts(keys, "only", where),
        files=fields.texts(keys, "files", where),
        replay={node: fields.text(replay, node, f"{where}: replay") for node in replay},
        canary=fields.words(keys, "canary", where),
        channel=fields.words(keys, "channel", where),
        repeat=fields.whole(keys, "repeat", where, default=1),
        traced=fields.texts(keys, "traced", where) if "traced" in keys else (),
    )


def _locked(part: object, where: str) -> LockedNodes:
    keys = fields.as_table(part, where)
    fields.only(keys, LockedNodes._fields, where)
    return LockedNodes(fields.texts(keys, "patterns", where), fields.word(keys, "state", LOCK_STATES, where))


def _entry(part: object, where: str) -> NodeRecord:
    return node_record(fields.as_table(part, where), where, gate=FREEZE_GATE)


def _setting(value: object, key: str, where: str) -> Scalar | tuple[str, ...]:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list) and all(type(part) is str for part in value):
        return tuple(value)
    raise fields.wrong(key, value, "a number, a string, true, false, null, an array of strings", f"{where}: profile")


def _expiry(value: object, node: str, where: str) -> str:
    instant = utc_instant(value) if type(value) is str else None
    if instant is None:
        raise fields.wrong(node, value, INSTANT, f"{where}: frozen")
    return instant
