"""List the mutants of `core` that no test noticed and that nobody has explained; fail if there is one.

Run after `mutmut run`, in its environment and in the project's folder. The explanations stand in `survivors.toml`
beside this file, each under the change itself, so that an explanation dies with the line that it is about:

    [[explained]]
    where = "admit.core.rollup.fold"
    was = "the line as it is"
    now = "the line as it was changed"
    why = "why no test can, or should, see the difference"

With the argument `partial` (a run of some mutants alone) those that were not run, and stale explanations, do not count.
"""

from __future__ import annotations

import json
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from mutmut.mutation.data import SourceFileMutationData
from mutmut.mutation.diff_apply import get_diff_for_mutant
from mutmut.stats import status_by_exit_code
from mutmut.utils.file_utils import walk_mutatable_files

NOTICED = frozenset({"killed", "timeout", "segfault", "caught by type check"})
NOT_RUN = "not checked"
EXPLAINED = Path(__file__).with_name("survivors.toml")


class Change(NamedTuple):
    """One mutation by its content, which outlives the number that the tool gave it."""

    where: str
    was: str
    now: str


def main(*, partial: bool) -> int:
    """Print every survivor without an explanation and every explanation without a survivor; return the exit code."""
    statuses, survivors = survey()
    explained = {
        Change(entry["where"], entry["was"], entry["now"]): entry["why"]
        for entry in tomllib.loads(EXPLAINED.read_text("utf-8")).get("explained", [])
    }
    unexplained = [change for change in survivors if not explained.get(change, "").strip()]
    stale = [] if partial else sorted(explained.keys() - set(survivors))
    for change in unexplained:
        print("[[explained]]")
        for key, text in change._asdict().items():
            print(f"{key} = {json.dumps(text, ensure_ascii=False)}")
        print('why = ""\n')
    for change in stale:
        print(f"explained, but noticed or gone by now: {change.where}: {change.was} -> {change.now}")
    total, not_run = statuses.total(), statuses[NOT_RUN]
    print(f"{total} mutants, {not_run} not run, {len(survivors)} not noticed, {len(unexplained)} of them not explained")
    return 1 if unexplained or stale or not total or (not_run and not partial) else 0


def survey() -> tuple[Counter[str], list[Change]]:
    """Return how many mutants ended in each way, and those that ran and were not noticed."""
    statuses: Counter[str] = Counter()
    survivors = []
    for path in walk_mutatable_files():
        mutants = SourceFileMutationData(path=path)
        mutants.load()
        for name, exit_code in mutants.exit_code_by_key.items():
            status = status_by_exit_code[exit_code]
            statuses[status] += 1
            if status not in NOTICED and status != NOT_RUN:
                survivors.append(changed(name))
    return statuses, survivors


def changed(name: str) -> Change:
    """Return what the mutant `name` changed, as removed and added lines."""
    lines = [line for line in get_diff_for_mutant(name).splitlines() if not line.startswith(("---", "+++"))]
    was = "\n".join(line[1:].strip() for line in lines if line.startswith("-"))
    now = "\n".join(line[1:].strip() for line in lines if line.startswith("+"))
    module, _, function = name.rpartition("__mutmut_")[0].rpartition(".")
    # The tool writes x_function, or x, class and method with U+01C1 before each.
    return Change(f"{module}.{function[2:].replace(chr(0x1C1), '.')}", was, now)


if __name__ == "__main__":
    sys.exit(main(partial="partial" in sys.argv[1:]))
