"""Claim: on real projects a proof of a fix's own tests says what the history says: they fail before it, and pass after.

Usage: python bench/prove/real.py CLONE... [--count N] [--python PYTHON] [--json FILE]

Each CLONE is a git clone of a project on this machine, bare or not; nothing is written there, and nothing is fetched.
From its newest commits those are taken whose title speaks of a fix and that change both code and test functions. The
tests that each adds or edits are run twice:

    by hand   `pytest` on the fix, and on its parent with the fix's tests copied over; a small plugin of this script's
              own writes down what each test did
    proof     `admit prove` of the same tests, patch and parent named

Both answers are compared test by test: fails before and passes after is `proven`, passes on both `tautology` (or
`vacuous`), fails on both `already_broken`; what gave no verdict, or failed by an import, `cannot_run`. PYTHON has
admit, pytest and what the projects' tests need (default: the one that runs this). The exit code is 1 if any test
disagrees.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

FIX = re.compile(r"\b(fix(es|ed)?|bug|regression|crash(es)?|incorrect(ly)?|wrong(ly)?)\b", re.IGNORECASE)
TESTS = re.compile(r"(^|/)(tests?/|conftest\.py$|test_[^/]*\.py$)")

WATCHER = """
import json, os
seen = {}
RANK = ["pass", "other", "fail", "import"]
def pytest_runtest_makereport(item, call):
    if call.excinfo is not None and call.when == "call":
        if isinstance(call.excinfo.value, ImportError):
            note(item.nodeid, "import")
def note(node, word):
    seen[node] = max(seen.get(node, "pass"), word, key=RANK.index)
def pytest_runtest_logreport(report):
    if report.outcome == "passed" and not hasattr(report, "wasxfail"):
        note(report.nodeid, "pass")
    else:
        note(report.nodeid, "fail" if report.outcome == "failed" and report.when == "call" else "other")
def pytest_sessionfinish():
    with open(os.environ["WATCHED"], "w") as file:
        json.dump(seen, file)
"""


class Fix(NamedTuple):
    """A commit that repairs something, and the test functions that it adds or edits, by file."""

    commit: str
    title: str
    tests: dict[str, list[str]]


def git(repo: Path, *words: str, is_checked: bool = True) -> str:
    done = subprocess.run(["git", *words], cwd=repo, capture_output=True, check=False)
    if is_checked and done.returncode != 0:
        sys.exit(f"git {' '.join(words)}: {done.stderr.decode()}")
    return done.stdout.decode("utf-8", "replace")


def functions(text: str) -> dict[str, str]:
    """Return the form of each test function, by its name as pytest spells it."""
    found = {}

    def walk(body: list[ast.stmt], inside: str) -> None:
        for one in body:
            if isinstance(one, ast.ClassDef):
                walk(one.body, f"{inside}{one.name}::")
            elif isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef) and one.name.startswith("test"):
                found[inside + one.name] = ast.dump(one)

    try:
        walk(ast.parse(text).body, "")
    except SyntaxError:
        return {}
    return found


def own_tests(repo: Path, commit: str, paths: list[str]) -> dict[str, list[str]]:
    found = {}
    for path in paths:
        old, new = (functions(git(repo, "show", f"{ref}:{path}", is_checked=False)) for ref in (f"{commit}^", commit))
        if changed := [name for name, form in new.items() if old.get(name) != form]:
            found[path] = changed
    return found


def fixes(repo: Path, count: int, most: int) -> list[Fix]:
    """Return the newest fixes with tests of their own, at most `most` tests each."""
    found: list[Fix] = []
    for line in git(repo, "log", "--no-merges", "-n", "2500", "--format=%H %s").splitlines():
        commit, _, title = line.partition(" ")
        if not FIX.search(title):
            continue
        paths = git(repo, "diff", "--name-only", "--no-renames", f"{commit}^", commit).splitlines()
        code = [path for path in paths if path.endswith(".py") and not TESTS.search(path) and "docs/" not in path]
        names = own_tests(repo, commit, [path for path in paths if path.endswith(".py") and TESTS.search(path)])
        if code and 0 < sum(map(len, names.values())) <= most:
            found.append(Fix(commit, title, names))
        if len(found) == count:
            break
    return found


def environment(repo: Path) -> dict[str, str]:
    env = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST_", "COV_", "GITHUB_", "CI"))}
    return env | {"PYTHONPATH": os.fspath(repo / "src" if (repo / "src").is_dir() else repo), "PYTHONHASHSEED": "0"}


def by_hand(repo: Path, fix: Fix, python: str, private: Path) -> list[dict[str, str]]:
    """Return what each test does on the fix, and on its parent with the fix's tests."""
    (private / "watcher.py").write_text(WATCHER)
    seen = []
    for ref in (fix.commit, f"{fix.commit}^"):
        tree = private / "tree"
        git(repo, "worktree", "add", "--detach", "--quiet", "--force", os.fspath(tree), ref)
        if ref != fix.commit:
            for path in git(repo, "diff", "--name-only", "--no-renames", ref, fix.commit).splitlines():
                if TESTS.search(path) and git(repo, "ls-tree", fix.commit, "--", path):
                    git(tree, "checkout", fix.commit, "--", path)
                elif TESTS.search(path):
                    (tree / path).unlink(missing_ok=True)
        watched = private / "watched.json"
        watched.write_text("{}")
        env = environment(tree)
        env |= {"WATCHED": os.fspath(watched), "PYTHONPATH": f"{env['PYTHONPATH']}{os.pathsep}{private}"}
        command = [python, "-m", "pytest", "-q", "-p", "watcher", "--continue-on-collection-errors", *fix.tests]
        subprocess.run(command, cwd=tree, env=env, capture_output=True, check=False, timeout=900)
        seen.append(json.loads(watched.read_text()))
        git(repo, "worktree", "remove", "--force", os.fspath(tree))
    return seen


def proof(repo: Path, fix: Fix, python: str) -> tuple[dict[str, dict[str, Any]], float]:
    names = [f"{path}::{name}" for path, tests in fix.tests.items() for name in tests]
    command = [python, "-m", "admit", "prove", *names, "--format", "json"]
    words = ["--patch", fix.commit, "--parent", f"{fix.commit}^"]
    started = time.monotonic()
    done = subprocess.run([*command, *words], cwd=repo, env=environment(repo), capture_output=True, check=False)
    if done.returncode not in {0, 1}:
        said = f"exit {done.returncode}: {done.stderr.decode().strip()[-160:]}"
        return {name: {"node": name, "answer": "error", "direction": None, "reason": said} for name in names}, 0.0
    return {one["node"]: one for one in json.loads(done.stdout)["nodes"]}, time.monotonic() - started


def expected(before: str, after: str) -> set[str]:
    """Return the answers that agree with what was seen by hand; `` stands for a test that was not there."""
    if before not in {"pass", "fail"} or after not in {"pass", "fail"}:
        return {"cannot_run"}
    table = {
        ("fail", "pass"): {"proven"},
        ("pass", "pass"): {"tautology", "vacuous"},
        ("fail", "fail"): {"already_broken"},
        ("pass", "fail"): {"inverted"},
    }
    return table[before, after]


def compared(fix: Fix, hand: list[dict[str, str]], proven: dict[str, dict[str, Any]]) -> list[dict[str, str]]:
    after, before = hand
    rows = []
    mine = {node for path, tests in fix.tests.items() for node in {*after, *before} if _is_own(node, path, tests)}
    for node in sorted(mine | {node for node in proven if "::" in node and node in after}):
        told = proven.get(node)
        answer = told["answer"] if told else "(no answer)"
        kinds = expected(before.get(node, ""), after.get(node, ""))
        direction = told["direction"] if told else None
        is_same = answer in kinds and (answer != "proven" or direction == "fails-on-parent")
        seen = f"{before.get(node, 'absent')} before, {after.get(node, 'absent')} after"
        rows.append(
            {
                "node": node,
                "hand": seen,
                "proof": answer,
                "reason": told["reason"] if told else "",
                "same": str(is_same),
            }
        )
    return rows


def _is_own(node: str, path: str, tests: list[str]) -> bool:
    return any(node == f"{path}::{name}" or node.startswith(f"{path}::{name}[") for name in tests)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("clones", nargs="+", type=Path)
    parser.add_argument("--count", type=int, default=8, help="fixes a project")
    parser.add_argument("--most", type=int, default=40, help="most test functions of one fix")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    everything, totals, is_good = [], Counter(), True
    for clone in args.clones:
        with tempfile.TemporaryDirectory() as folder:
            repo, private = Path(folder) / "repo", Path(folder) / "private"
            private.mkdir()
            subprocess.run(["git", "clone", "--quiet", os.fspath(clone), os.fspath(repo)], check=True)
            for fix in fixes(repo, args.count, args.most):
                hand = by_hand(repo, fix, args.python, private)
                proven, took = proof(repo, fix, args.python)
                rows = compared(fix, hand, proven)
                wrong = [row for row in rows if row["same"] != "True"]
                kinds = Counter(row["proof"] for row in rows)
                has_proof = kinds["proven"] > 0
                shows = any(row["hand"] == "fail before, pass after" for row in rows)
                word = "agrees" if rows and not wrong else "DISAGREES" if wrong else "collected by neither"
                totals[word, "proven" if has_proof else "none proven", "shown" if shows else "not shown"] += 1
                is_good = is_good and not wrong
                said = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
                print(
                    f"{clone.parent.name} {fix.commit[:10]} {word}: {said} ({took:.1f} s) {fix.title[:60]}", flush=True
                )
                for one in () if rows else proven.values():
                    print(f"    {one['node']}: {one['reason'][:160]}")
                for row in wrong:
                    print(f"    {row['node']}: {row['hand']}; proof says {row['proof']} {row['reason'][:160]}")
                everything.append({"project": clone.parent.name, **fix._asdict(), "took": took, "rows": rows})
    for (word, has_proof, shows), count in sorted(totals.items()):
        print(f"{count:3} fixes: {word}; {has_proof}; by hand: fails before and passes after {shows}")
    if args.json:
        args.json.write_text(json.dumps(everything, indent=1))
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
