"""Append to a ledger in a process of its own and say aloud, unbuffered, what was acknowledged.

Usage: append_entries.py LEDGER NAME COUNT [FILE_SIZE_LIMIT]
COUNT 0 goes on until killed. One line an acknowledged key; the last line of a refused append is `refused: <error>`.
"""

from __future__ import annotations

import os
import resource
import sys
from datetime import UTC, datetime
from itertools import count

from admit.errors import LedgerError
from admit.ledger.sqlite import SqliteLedger

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def say(line: str) -> None:
    """Write one line in one system call, so that lines of several writers never mix."""
    os.write(1, f"{line}\n".encode())


def main(path: str, name: str, number: str, limit: str = "") -> int:
    """Append `number` entries and return the exit code."""
    say(f"started {name}")
    if limit:
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), int(limit)))
    try:
        ledger = SqliteLedger(path, busy_timeout_s=120)
        for i in count() if number == "0" else range(int(number)):
            key = f"{name}-{i}"
            ledger.append("decision", f'{{"key":"{key}","pad":"{"x" * 700}"}}'.encode(), now=NOW, key=key)
            say(key)
        ledger.close()
    except LedgerError as error:
        say(f"refused: {error}")
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
