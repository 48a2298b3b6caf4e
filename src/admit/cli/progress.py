"""How far long work is, on a terminal; nothing in a pipe."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def bar() -> Callable[[int, int, int], None] | None:
    """Return what shows files read, files to read and bytes read on standard error; None where that is no terminal."""
    if not sys.stderr.isatty():
        return None

    def show(done: int, total: int, size: int) -> None:
        end = "\r\x1b[K" if done >= total else ""
        sys.stderr.write(f"\r\x1b[Khashing {done:,} of {total:,} files, {size / 1e6:,.0f} MB{end}")
        sys.stderr.flush()

    return show
