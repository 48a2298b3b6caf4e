"""What a run that is traced is told, in a file beside the run's context (boundary: files)."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Final, NamedTuple

from admit.errors import InputError, LedgerError
from admit.strictjson import only, read_object, refuse, texts

if TYPE_CHECKING:
    from pathlib import Path

TOLD_FILE: Final = "tracing.json"
"""Its name, in the folder that `--admit` names; where it is not, nothing is traced."""

TOLD_SCHEMA: Final = "admit.tracing/1"


class Told(NamedTuple):
    """What is traced.

    `tree` is the top of the checkout, `out` the folder for what the processes that run tests leave. `files` are the
    files whose lines are wanted, from the top: all of the commit for a map, those that a patch changes otherwise.
    `nodes` are the nodes that are traced; None means all. `without` are nodes that do not run, and that the run names
    where it collected them.
    """

    tree: str
    out: str
    files: tuple[str, ...]
    nodes: tuple[str, ...] | None = None
    without: tuple[str, ...] = ()


def write_told(folder: Path, told: Told) -> None:
    """Write it into the folder that `--admit` will name.

    Raises:
        LedgerError: it cannot be written.
    """
    path = folder / TOLD_FILE
    try:
        path.write_text(json.dumps({"schema": TOLD_SCHEMA, **told._asdict()}, indent=1) + "\n", encoding="ascii")
    except OSError as error:
        raise LedgerError(str(path), f"cannot be written: {error.strerror}") from error


def read_told(folder: str | os.PathLike[str]) -> Told | None:
    """Return what stands in the folder that `--admit` names, None where nothing is to be traced.

    Raises:
        InputError: it cannot be read, or is not exactly that.
    """
    path = os.path.join(folder, TOLD_FILE)
    try:
        with open(path, "rb") as stream:
            raw = stream.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(path, f"cannot be read: {error.strerror}") from error
    keys = read_object(raw, path)
    only(keys, ("schema", *Told._fields), path)
    if keys["schema"] != TOLD_SCHEMA:
        refuse(f"{path}: schema", keys["schema"], TOLD_SCHEMA)
    for key in ("tree", "out"):
        if not isinstance(keys[key], str):
            refuse(f"{path}: {key}", keys[key], "a text")
    nodes = None if keys["nodes"] is None else texts(keys["nodes"], f"{path}: nodes")
    files, without = texts(keys["files"], f"{path}: files"), texts(keys["without"], f"{path}: without")
    return Told(keys["tree"], keys["out"], files, nodes, without)
