"""Claim: on real projects a fix's own tests without the fix do not merge, and the fix merges.

Usage: python bench/real/play_real.py NAME=CLONE ...   (--help lists the options)

Each NAME is a project of the table below, each CLONE a git clone of it on this machine (bare or not; nothing is written
there). For every project a virtual environment is made with its test requirements and with admit from SOURCE (default:
this checkout), and for every case three commits are laid out and judged:

    base   the parent of the fix, with admit's control files: `admit init`, `admit lock write`, `admit abstain write`
    tests  base and what the fix changes in the tests: a patch that must not merge
    fix    base and all of the fix: a patch that must merge

A case keeps its word if `tests` does not exit 0, if every node rejected there is accepted at `fix`, if one of them at
least lies in a file that the fix changes, and if `fix` exits 0. A case whose suite cannot merge unaided says so in the
table, and what is expected instead; the exit code is 1 if any case breaks its word. Nothing of a project is copied into
this one.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import venv
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
GATES = ("property_check", "fixture_check", "flaky_freeze")


class Case(NamedTuple):
    """One fix: the commit, its title, the test command where it is not the project's, and what is expected of it.

    `tests_exit` is the exit code of the tests without the fix: 1 where a node fails, 2 where no verdict can be given.
    `fix_exit` is that of the fix. `reviewed` names control files that a reviewer updates on the patch: `lock`
    where it changes pinned fixtures, `abstain` where it brings a test that by design gives no verdict here.
    """

    fix: str
    title: str
    command: tuple[str, ...] = ()
    tests_exit: int = 1
    fix_exit: int = 0
    reviewed: tuple[str, ...] = ()


class Project(NamedTuple):
    """A project: where it lives, its licence, what its tests need, how they are run, where they lie."""

    name: str
    origin: str
    licence: str
    requires: tuple[str, ...]
    cases: tuple[Case, ...]
    command: tuple[str, ...] = ("python", "-m", "pytest")
    tests: tuple[str, ...] = ("tests",)
    is_installed: bool = True


_DEAD = "src/hyperlink/test/test_hypothesis.py::TestHypothesisStrategies::test_hostnames"
"""Under a Hypothesis of today these two filter every input away: no verdict, and admit holds, see the first case."""

_RED = "tests/test_converters.py::TestPipe::test_wrapped_annotation"
"""Fails on Python 3.11.7 whatever the patch; without the deselection every patch is rejected, the fix too."""

PROJECTS = (
    Project(
        "attrs",
        "python-attrs/attrs",
        "MIT",
        ("cloudpickle", "pympler", "pytest-xdist[psutil]"),
        (
            Case("09161fc9181bf94aa3bbc5509c663d736a9553dc", "crash of pre-init with kw_only and defaults"),
            Case(
                "af9c510912ce604a94896cc35c27368d5baf6ae6",
                "validators.disabled() forgets the state outside",
                command=("python", "-m", "pytest", f"--deselect={_RED}"),
            ),
            # it brings a test that is skipped here: nobody has declared it yet
            Case(
                "97f8d175656bc03c373a1c9038048a4d312c307c",
                "ClassVar as a forward reference",
                command=("python", "-m", "pytest", f"--deselect={_RED}"),
                fix_exit=2,
            ),
            Case(
                "97f8d175656bc03c373a1c9038048a4d312c307c",
                "the same, the new skip declared in review",
                command=("python", "-m", "pytest", f"--deselect={_RED}"),
                reviewed=("abstain",),
            ),
            # it touches tests/*.yml, which `admit init` pins
            Case(
                "48b8611c27779811d161200e17de8da24aae7feb",
                "fields() of an instance",
                command=("python", "-m", "pytest", "tests/test_make.py"),
                tests_exit=2,
                fix_exit=2,
            ),
            Case(
                "48b8611c27779811d161200e17de8da24aae7feb",
                "the same, the fixtures pinned anew in review",
                command=("python", "-m", "pytest", "tests/test_make.py"),
                reviewed=("lock",),
            ),
        ),
    ),
    Project(
        "cattrs",
        "python-attrs/cattrs",
        "MIT",
        tuple("pytest-benchmark immutables pytest-xdist pyyaml ujson tomlkit msgpack cbor2 orjson pymongo".split()),
        (
            Case("304e3700198311c78a5c6993c0ac6f3307a2e28a", "wrong parameter name in a namedtuple's factory"),
            Case("573915b6b450c23eaf818370ac2e339dd9aee262", "working set of include_subclasses"),
        ),
        # the whole suite takes minutes of property tests
        command=(
            *("python", "-m", "pytest", "tests/test_tuples.py", "tests/test_structure.py"),
            "tests/strategies/test_include_subclasses.py",
        ),
    ),
    Project(
        "bidict",
        "jab/bidict",
        "MPL-2.0",
        tuple(
            "pytest-benchmark pytest-sphinx pytest-xdist sortedcollections sortedcontainers typing_extensions".split()
        ),
        (
            Case("7ca069d231f61675ac7b6929225bba5a9b342f7d", "no-op detection with NaN"),
            Case("633f441b99f0e0f24e98bba13c375af6429d81c2", "TypeError comparing keys() with items()"),
            Case("f4113680c8355427913c39e650cce9c260f550e8", "rollback of a bulk update"),
        ),
    ),
    Project(
        "natsort",
        "SethMMorton/natsort",
        "MIT",
        ("pytest-mock", "pytest-cov"),
        (
            Case("cf2a55daf7e74d177c95149da623172b1b6d93ae", "None, NaN and infinity in one order"),
            Case("0e7533d2799c4bc8cc6968cd6485b6996eee0a05", "NANLAST and NANFIRST"),
        ),
    ),
    Project(
        "packaging",
        "pypa/packaging",
        "Apache-2.0 or BSD-2-Clause",
        ("pretend", "tomli_w", "pip"),
        (
            Case("55cbf1b9426f44455fa1a9e0836f1fc082cc8452", "unbounded bounds sort above each other"),
            Case("c411a96fea8dd0091db7044c52d26bfb2e70cfa8", "pre-releases leak out of a range"),
        ),
        # 60,000 nodes, property tests left out by default: what the fixes touch, and with them
        command=(
            *("python", "-m", "pytest", "-m", "", "tests/test_ranges.py"),
            *("tests/property/test_ranges_set_algebra.py", "tests/property/test_ranges_set_relations.py"),
        ),
    ),
    Project(
        "hyperlink",
        "python-hyper/hyperlink",
        "MIT",
        ("idna",),
        (
            Case("ad88c47c93dcf951d54ebe6c1d5d067eeac16392", "a plus sign in a query", fix_exit=2),
            Case(
                "ad88c47c93dcf951d54ebe6c1d5d067eeac16392",
                "a plus sign in a query, two dead properties declared",
                command=(
                    "python",
                    "-m",
                    "pytest",
                    f"--deselect={_DEAD}_ascii",
                    f"--deselect={_DEAD}_ascii_nolead",
                ),
            ),
            Case("32b078bf8ba080498508eed6316aced957613448", "rooted and uses_netloc"),
        ),
        tests=("src/hyperlink/test",),
    ),
    Project(
        "pyrsistent",
        "tobgu/pyrsistent",
        "MIT",
        ("typing_extensions",),
        (
            # whether its test sees the bug hangs on the hashes of strings, which Python draws anew for every run
            Case(
                "226ebb67fad7b88cb928dd46b3de9e2db167acab",
                "pmap after its buckets are reallocated",
                command=("env", "PYTHONHASHSEED=0", "python", "-m", "pytest"),
            ),
            Case("07d60a5eceee5862547df26b707c09de127c9042", "new nodes during discard"),
        ),
        is_installed=False,
    ),
    Project(
        "boltons",
        "mahmoud/boltons",
        "BSD-3-Clause",
        (),
        (
            Case("d0a284fc7ef1aebceb54798600d73be4eeb76ed8", "IndexedSet's negative indices wrap around"),
            Case("f1034b07ddf71f4d9285134a47a4ade16fe40789", "JSONLIterator never ends"),
        ),
    ),
)


class Judged(NamedTuple):
    """What admit said of one commit, and how long the whole of `admit run` took."""

    exit_code: int
    decision: dict[str, Any]
    seconds: float

    def states(self) -> str:
        """Return the state of each gate of the router, in its order; a gate that the policy waives has none."""
        said = {gate["gate"]: gate["state"] for gate in self.decision["gates"]}
        return " / ".join(said.get(name, "waived") for name in GATES)

    def nodes(self, kind: str) -> list[str]:
        """Return the nodes of a kind of verdict, over all gates."""
        return sorted({one["node"] for gate in self.decision["gates"] for one in gate["nodes"] if one["kind"] == kind})

    def accepted(self) -> int:
        """Return how many nodes were accepted."""
        return sum(gate["counts"]["accepted"] for gate in self.decision["gates"])

    def left(self) -> int:
        """Return how many nodes left the sample: declared, or frozen."""
        return sum(gate["counts"]["left"] for gate in self.decision["gates"])


class Place(NamedTuple):
    """A project's work tree and the environment that its tests run in."""

    tree: Path
    env: dict[str, str]

    def run(self, *words: str, is_checked: bool = True, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        """Run a command in the work tree."""
        done = subprocess.run(words, cwd=self.tree, env=self.env, input=stdin, capture_output=True, check=False)
        if is_checked and done.returncode != 0:
            raise SystemExit(f"{' '.join(words)} answered {done.returncode}:\n{(done.stdout + done.stderr).decode()}")
        return done

    def git(self, *words: str, stdin: bytes = b"") -> bytes:
        """Run git with a name of its own."""
        who = ("-c", "user.name=play", "-c", "user.email=play@example.invalid", "-c", "commit.gpgsign=false")
        return self.run("git", *who, *words, stdin=stdin).stdout


def main() -> int:
    """Play the cases of the clones given and print one table."""
    args = _arguments()
    rows = []
    for project in PROJECTS:
        if project.name in args.clones:
            place = prepare(project, Path(args.clones[project.name]), args.work, args.admit)
            wanted = [case for case in project.cases if args.only in f"{project.name} {case.fix}"]
            rows += [play(project, case, place) for case in wanted]
    sys.stdout.write(table(rows))
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1), "utf-8")
    return 0 if rows and all(row["keeps its word"] for row in rows) else 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clones", nargs="+", metavar="NAME=CLONE")
    parser.add_argument("--work", type=Path, default=Path("play-real"), help="where work trees and environments go")
    parser.add_argument("--admit", default=str(ROOT), help="what pip installs as admit")
    parser.add_argument("--only", default="", help="only cases whose project and commit contain this text")
    parser.add_argument("--json", type=Path, help="write the rows here too")
    args = parser.parse_args()
    args.clones = dict(word.split("=", 1) for word in args.clones)
    unknown = args.clones.keys() - {project.name for project in PROJECTS}
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(project.name for project in PROJECTS)}")
    args.work = args.work.resolve()
    return args


def prepare(project: Project, clone: Path, work: Path, admit: str) -> Place:
    """Clone the project, make its environment if it is not there yet, and return both."""
    tree, home = work / "trees" / project.name, work / "environments" / project.name
    env = {key: value for key, value in os.environ.items() if key not in {"PYTEST_ADDOPTS", "PYTHONPATH"}}
    env["PATH"] = os.pathsep.join([str(home / "bin"), env.get("PATH", os.defpath)])
    env["VIRTUAL_ENV"] = str(home)
    if not tree.exists():
        tree.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["git", "clone", "-q", str(clone.resolve()), str(tree)], check=True)
    place = Place(tree, env)
    if not home.exists():
        say(f"{project.name}: making its environment")
        venv.create(home, with_pip=True)
        own = ("-e", ".") if project.is_installed else ()
        place.run("python", "-m", "pip", "install", "-q", "pytest", "hypothesis", *project.requires, *own, admit)
    return place


def play(project: Project, case: Case, place: Place) -> dict[str, Any]:
    """Lay out the base, judge the tests without the fix and with it, return the row."""
    command = case.command or project.command
    say(f"{project.name} {case.fix[:10]}: base")
    declared = lay_base(case, place, command)
    place.git("checkout", "-q", "-B", "play-tests", "play-base")
    lay(case, place, project.tests, command)
    say(f"{project.name} {case.fix[:10]}: the tests without the fix")
    without = judge(place, command)
    place.git("checkout", "-q", "-B", "play-fix", "play-base")
    lay(case, place, (".",), command)
    say(f"{project.name} {case.fix[:10]}: the fix")
    fixed = judge(place, command)
    changed = set(place.git("diff", "--name-only", f"{case.fix}^", case.fix).decode().split())
    return row(project, case, declared, changed, without, fixed)


def lay_base(case: Case, place: Place, command: tuple[str, ...]) -> int:
    """Commit the parent of the fix with admit's control files; return how many nodes are declared."""
    place.git("checkout", "-qf", "-B", "play-base", f"{case.fix}^")
    place.git("clean", "-fdxq", "-e", "*.egg-info")
    for words in (("init",), ("lock", "write"), ("abstain", "write", "--", *command)):
        place.run("python", "-m", "admit", *words)
    listed = json.loads(place.run("python", "-m", "admit", "abstain", "list", "--format", "json").stdout)
    place.git("add", "-A")
    place.git("commit", "-qm", "Put admit in front of the merge button")
    return len(listed["abstentions"])


def lay(case: Case, place: Place, paths: tuple[str, ...], command: tuple[str, ...]) -> None:
    """Commit what the fix changes under some paths, and the reviewed act that goes with it where one is due."""
    diff = place.git("diff", "--binary", f"{case.fix}^", case.fix, "--", *paths)
    place.git("apply", "--index", "-", stdin=diff)
    for word in case.reviewed:
        place.run("python", "-m", "admit", word, "write", *(("--", *command) if word == "abstain" else ()))
    place.git("commit", "-qam", case.title)


def judge(place: Place, command: tuple[str, ...]) -> Judged:
    """Run the commit through its gates."""
    started = time.monotonic()
    done = place.run("python", "-m", "admit", "run", "--format", "json", "--", *command, is_checked=False)
    took = time.monotonic() - started
    if done.returncode not in {0, 1, 2}:
        raise SystemExit(f"admit run answered {done.returncode}:\n{(done.stdout + done.stderr).decode()}")
    return Judged(done.returncode, json.loads(done.stdout), took)


def row(
    project: Project, case: Case, declared: int, changed: set[str], without: Judged, fixed: Judged
) -> dict[str, Any]:
    """Return what the two judgements are together."""
    rejected, held = without.nodes("reject"), without.nodes("hold")
    told = rejected or held
    is_theirs = any(node.partition("::")[0] in changed for node in told)
    still_bad = set(fixed.nodes("reject")) & set(rejected)
    keeps = (without.exit_code, fixed.exit_code) == (case.tests_exit, case.fix_exit) and is_theirs and not still_bad
    return {
        "project": project.name,
        "fix": case.fix,
        "title": case.title,
        "command": " ".join(case.command or project.command),
        "declared": declared,
        "tests": _told(without) | {"rejected": rejected, "held": held},
        "fixed": _told(fixed) | {"rejected": fixed.nodes("reject"), "held": fixed.nodes("hold")},
        "keeps its word": keeps,
    }


def _told(judged: Judged) -> dict[str, Any]:
    decision = judged.decision
    return {
        "gates": judged.states(),
        "outcome": decision["outcome"],
        "attribution": decision["attribution"],
        "detail": decision["detail"],
        "exit": judged.exit_code,
        "accepted": judged.accepted(),
        "left": judged.left(),
        "seconds": round(judged.seconds, 1),
        "notes": [note for note in decision["notes"] if not note.startswith("no-base")],
    }


def table(rows: list[dict[str, Any]]) -> str:
    """Return the rows as a Markdown table, two lines a case, and under it the nodes that kept a patch out."""
    lines = [
        "| project, fix | patch | property / fixture / freeze | disposition | nodes | s |",
        "|---|---|---|---|---|---|",
    ]
    for one in rows:
        doubt = "" if one["keeps its word"] else "**breaks its word**"
        lines.append(_line(f"{one['project']} `{one['fix'][:10]}`", "its tests alone", one["tests"]))
        lines.append(_line(doubt, "the fix", one["fixed"]))
    for one in rows:
        lines.append(f"\n{one['project']} {one['fix'][:10]}, {one['title']}:")
        lines += [
            f"  {word} {kind} {node}"
            for word in ("tests", "fixed")
            for kind in ("rejected", "held")
            for node in _shortened(one[word][kind])
        ]
    return "\n".join(lines) + "\n"


def _line(name: str, patch: str, told: dict[str, Any]) -> str:
    said = f"{told['outcome']} {told['attribution']} ({told['exit']})"
    counts = (
        f"{told['accepted']} accepted, {len(told['rejected'])} rejected, {len(told['held'])} held, {told['left']} left"
    )
    return f"| {name} | {patch} | {told['gates']} | {said} | {counts} | {told['seconds']} |"


def _shortened(nodes: list[str]) -> list[str]:
    return [*nodes[:8], f"and {len(nodes) - 8} more"] if len(nodes) > 8 else nodes


def say(text: str) -> None:
    """Show what is being done, beside the table."""
    sys.stderr.write(f"{time.strftime('%H:%M:%S')} {text}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
