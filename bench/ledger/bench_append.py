"""Durable appends a second: the ledger against a bare SQLite insert under the same settings, in one run.

Usage: bench_append.py [FOLDER]

The peer has the same columns, the same unique key and the same pragmas, and does nothing but BEGIN IMMEDIATE, INSERT,
COMMIT: no digest, no chain, no look at the last entry, no triggers. Both write to FOLDER (default: the folder for
temporary files), turn by turn, so that a busy machine slows both; each ratio is taken within a turn. The second line
is the processor's time for one append, which is what the ledger itself costs beside the wait for the disk.
"""

from __future__ import annotations

import sqlite3
import statistics
import sys
import tempfile
import time
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from admit.ledger.chain import first_misfit
from admit.ledger.sqlite import SqliteLedger

if TYPE_CHECKING:
    from collections.abc import Callable

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
BODY = b'{"patch_id":"pr-1841","outcome":"BLOCK","pad":"' + b"x" * 594 + b'"}'
TURNS = 11
APPENDS = 200

BARE_TABLE = """
CREATE TABLE entry (seq INTEGER PRIMARY KEY, previous BLOB NOT NULL, digest BLOB NOT NULL, appended_at TEXT NOT NULL,
                    kind TEXT NOT NULL, key TEXT NOT NULL UNIQUE, body BLOB NOT NULL)
"""
BARE_INSERT = "INSERT INTO entry (previous, digest, appended_at, kind, key, body) VALUES (?, ?, ?, ?, ?, ?)"


def bare(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, timeout=30)
    for setting in ("journal_mode = WAL", "synchronous = FULL", "fullfsync = ON", "checkpoint_fullfsync = ON"):
        connection.execute(f"PRAGMA {setting}")
    connection.execute(BARE_TABLE)
    return connection


def bare_append(connection: sqlite3.Connection, key: str) -> None:
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(BARE_INSERT, (bytes(32), bytes(32), "2026-11-30T12:00:00.000000Z", "decision", key, BODY))
    connection.execute("COMMIT")


class Turn(NamedTuple):
    """Hold what one turn took."""

    appends_per_s: float
    cpu_us: float


def timed(append: Callable[[str], object], turn: int) -> Turn:
    keys = [f"pr-{turn}-{n}" for n in range(APPENDS)]
    start, cpu_start = time.perf_counter(), time.process_time()
    for key in keys:
        append(key)
    return Turn(APPENDS / (time.perf_counter() - start), (time.process_time() - cpu_start) / APPENDS * 1e6)


def line(title: str, peer: list[float], ours: list[float]) -> str:
    ratios = [our / their for our, their in zip(ours, peer, strict=True)]
    figures = (statistics.median(peer), statistics.median(ours))
    spread = (statistics.median(ratios), min(ratios), max(ratios))
    return f"{title:24}" + "".join(f"{f:9.0f}" for f in figures) + "".join(f"{r:8.2f}" for r in spread)


def main() -> None:
    with (
        tempfile.TemporaryDirectory(dir=sys.argv[1] if len(sys.argv) > 1 else None) as folder,
        closing(bare(Path(folder) / "bare.db")) as connection,
        closing(SqliteLedger(Path(folder) / "ledger.db")) as ledger,
    ):
        peer: list[Turn] = []
        ours: list[Turn] = []
        for turn in range(TURNS):
            ways = [
                (peer, lambda key: bare_append(connection, key)),
                (ours, lambda key: ledger.append("decision", BODY, now=NOW, key=key)),
            ]
            for turns, append in ways if turn % 2 else reversed(ways):  # neither always goes first
                turns.append(timed(append, turn))
        if first_misfit(ledger.entries()) is not None or len(list(ledger.entries())) != TURNS * APPENDS:
            sys.exit("the ledger is not what was appended")
    print(f"SQLite {sqlite3.sqlite_version}, {TURNS} turns of {APPENDS} appends of {len(BODY)} bytes, medians")
    print(f"{'':24}{'bare':>9}{'ledger':>9}{'ratio':>8}{'min':>8}{'max':>8}")
    print(line("durable appends/s", [t.appends_per_s for t in peer], [t.appends_per_s for t in ours]))
    print(line("CPU us an append", [t.cpu_us for t in peer], [t.cpu_us for t in ours]))


if __name__ == "__main__":
    main()
