"""Tricks of git itself: what is checked out, compared or listed is not what was committed, or the other way round."""
# ruff: noqa: E501 - the text of a patch is read whole

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from cases import BEHAVIOR, CONTROL, FIXTURE, INSTRUMENT, REFUSED, TEST_EDIT, Append, Attack, Copy, Link
from repository import apply, commit, git

if TYPE_CHECKING:
    from pathlib import Path

SHEET_TEST, FEAST_TEST = "tests/test_sheet.py", "tests/test_feasts.py"
AS_PRINTED = "    assert easter(year) == easters[year]\n"
HOLLOW_FEASTS = {FEAST_TEST: ((AS_PRINTED, "    assert easter(year).year == year\n"),)}
LATE = {"almanac/feasts.py": (("// 451", "// 481"),)}
SEEN = BEHAVIOR | TEST_EDIT | FIXTURE


def two_commits(tree: Path) -> None:
    """Commit the weaker test first, as a patch of its own kind."""
    git(tree, "stash", "-q")
    apply(tree, HOLLOW_FEASTS)
    commit(tree, "Test what matters")
    git(tree, "stash", "pop", "-q")


def merge_that_hides(tree: Path) -> None:
    """Bring the fault in by a merge commit whose tree neither parent has."""
    git(tree, "stash", "-q")
    git(tree, "checkout", "-q", "-b", "side")
    apply(tree, {"README.md": Append("\nSee also the man page.\n")})
    commit(tree, "Say more")
    git(tree, "checkout", "-q", "main")
    apply(tree, {"almanac/sheet.py": Append("\n# Sheets are for printing.\n")})
    commit(tree, "Say why")
    git(tree, "merge", "-q", "--no-commit", "--no-ff", "side")
    apply(tree, {**LATE, **HOLLOW_FEASTS})
    git(tree, "stash", "drop", "-q")


def another_root(tree: Path) -> None:
    """Make the patch a commit with no history."""
    git(tree, "checkout", "-q", "--orphan", "fresh")


def replaced_base(tree: Path) -> None:
    """Let git show another commit, with weaker tests, wherever the base is named."""
    base = git(tree, "rev-parse", "HEAD^")
    weaker = git(tree, "commit-tree", "HEAD^{tree}", "-m", "Put admit in front of the merge button")
    git(tree, "replace", base, weaker)


def hidden_edit(tree: Path) -> None:
    """Weaken the test in the working tree alone, and tell git not to look."""
    apply(tree, HOLLOW_FEASTS)
    git(tree, "update-index", "--skip-worktree", FEAST_TEST)


def ignored_conftest(tree: Path) -> None:
    """Leave a conftest.py in the working tree that the patch makes git ignore."""
    (tree / "conftest.py").write_text("def pytest_pyfunc_call(pyfuncitem):\n    return True\n")


def folder_as_link(tree: Path) -> None:
    """Put a link in the place of the folder of data, which the edits have emptied."""
    (tree / "tests" / "data").rmdir()
    (tree / "tests" / "data").symlink_to("../almanac/tables")


def as_submodule(tree: Path) -> None:
    """Replace the folder of printed sheets by a repository of its own, with other sheets."""
    other = tree.parent / f"{tree.name}-sheets"
    (tree / "tests" / "golden").rename(other)
    for path in other.glob("*.txt"):
        path.write_text(path.read_text().rstrip("\n").rpartition(" ")[0] + "\n")
    git(other, "init", "-q", "-b", "main")
    commit(other, "Sheets")
    git(tree, "rm", "-rq", "--cached", "tests/golden")
    git(tree, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "tests/golden")


def hooks_of_the_team(tree: Path) -> None:
    """Let git run hooks from the folder that the team keeps them in, as their set-up does."""
    git(tree, "config", "core.hooksPath", ".githooks")
    os.chmod(tree / ".githooks" / "post-checkout", 0o755)


def executable_sheet(tree: Path) -> None:
    """Give a pinned file the execute bit."""
    os.chmod(tree / "tests" / "golden" / "2026-02.txt", 0o755)


def track_state(tree: Path) -> None:
    """Track files that a run leaves, and are ignored."""
    git(tree, "add", "-f", ".admit")


def checked_out_again(tree: Path) -> None:
    """Check the patch out as its attributes say."""
    for path in (tree / "tests" / "golden").glob("*.txt"):
        path.unlink()
    git(tree, "checkout", "-q", "--", "tests/golden")


ATTACKS = (
    Attack(
        "two-commits",
        "the first commit weakens a test, the second brings the fault",
        "each commit alone is harmless to look at; the patch is both",
        {},
        SEEN,
        "late-easter",
        arrange=two_commits,
    ),
    Attack(
        "merge-that-hides",
        "a merge commit holds a fault, and a weaker test, that neither of its parents has",
        "who looks at the commits one by one does not see what the merge brought",
        {},
        SEEN,
        "late-easter",
        arrange=merge_that_hides,
    ),
    Attack(
        "no-history",
        "the patch is a commit without a parent",
        "there is nothing that it could be compared with by its own history",
        HOLLOW_FEASTS,
        SEEN | REFUSED,
        "late-easter",
        arrange=another_root,
    ),
    Attack(
        "base-replaced",
        "a replace ref makes git show a base with weaker tests",
        "the base that is read is not the one that was named",
        HOLLOW_FEASTS,
        SEEN,
        "late-easter",
        after=replaced_base,
    ),
    Attack(
        "edit-hidden-from-git",
        "the weaker test stands in the working tree alone, and git is told not to look",
        "what runs here is not what is merged",
        {},
        SEEN | frozenset({"uncommitted-changes"}),
        "late-easter",
        after=hidden_edit,
    ),
    Attack(
        "ignored-conftest",
        "the patch makes git ignore conftest.py, and one lies there",
        "what runs here is not what is merged",
        {".gitignore": Append("conftest.py\n")},
        SEEN,
        "saturday",
        after=ignored_conftest,
    ),
    Attack(
        "line-ends-by-attribute",
        "attributes let git write the printed sheets with Windows line ends; no sheet is touched",
        "the bytes that tests read are not those that were committed",
        {".gitattributes": "tests/golden/*.txt text eol=crlf\n"},
        SEEN,
        "crlf",
        after=checked_out_again,
    ),
    Attack(
        "test-is-a-link",
        "a test file becomes a link to a weaker copy in the product",
        "the name is a test's, the text is the product's",
        {
            FEAST_TEST: Link("../almanac/checks/feasts.py"),
            "almanac/checks/feasts.py": "import pytest\n\nfrom almanac import easter\n\n\n"
            '@pytest.mark.parametrize("year", [1961, 1981, 2008, 2026, 2038])\n'
            "def test_easter_is_on_the_day_that_was_printed(year, easters):\n    assert easter(year).year == year\n\n\n"
            '@pytest.mark.skip(reason="needs the register of the church")\n'
            "def test_easter_is_on_the_day_in_the_register():\n    raise NotImplementedError\n",
        },
        SEEN,
        "late-easter",
    ),
    Attack(
        "folder-is-a-link",
        "the folder of data becomes a link to one in the product, with another table of Easter days",
        "the names under it are pinned, the files are others",
        {
            "almanac/tables/holidays.txt": Copy("tests/data/holidays.txt"),
            "almanac/tables/fêtes locales.txt": Copy("tests/data/fêtes locales.txt"),
            "almanac/tables/easters.json": '{"1961": "1961-04-02", "1981": "1981-04-26", "2008": "2008-03-23", "2026": "2026-04-05", "2038": "2038-04-25"}\n',
            "tests/data/holidays.txt": None,
            "tests/data/fêtes locales.txt": None,
            "tests/data/easters.json": None,
        },
        SEEN,
        "late-easter",
        arrange=folder_as_link,
    ),
    Attack(
        "pure-rename",
        "a test file is renamed, byte for byte the same, to a name that pytest does not collect",
        "a list of changes calls it a rename; it is a removal",
        {"tests/feast_examples.py": Copy(FEAST_TEST), FEAST_TEST: None},
        SEEN,
        "late-easter",
        fools="ab",
    ),
    Attack(
        "folder-is-a-submodule",
        "the folder of printed sheets becomes a submodule with other sheets",
        "the commit holds a pointer; what is checked out there is anybody's",
        {"almanac/sheet.py": (("timedelta(days=1) + 1)]", "timedelta(days=1) + ((year, month) == (2026, 5)))]"),)},
        SEEN | INSTRUMENT,
        "short-sheet",
        inside=True,
        arrange=as_submodule,
    ),
    Attack(
        "hook-rewrites-checkouts",
        "a hook of the team's, kept in the repository, rewrites tests in every fresh checkout",
        "whoever checks the base's tests out gets others",
        {
            ".githooks/post-checkout": "#!/bin/sh\nfor name in tests/test_feasts.py; do\n"
            '  [ -f "$name" ] && sed -i \'s/== easters.year./and easters/\' "$name"\ndone\nexit 0\n',
            FEAST_TEST: (("== easters[year]", "and easters"),),
        },
        SEEN,
        "late-easter",
        arrange=hooks_of_the_team,
    ),
    Attack(
        "state-tracked",
        "the patch tracks a folder .admit with evidence and a decision that merges",
        "evidence is what a run left, not what a commit holds",
        {
            ".admit/evidence/fixture_check.green.jsonl": "{}\n",
            ".admit/decision.json": '{"outcome": "MERGE_OK", "exit_code": 0}\n',
        },
        frozenset({"tracked-state"}) | CONTROL | REFUSED,
        arrange=track_state,
    ),
    Attack(
        "inventory-tracked",
        "the patch tracks a list of what the base is to have collected",
        "what was collected is what a run saw, not what a commit says",
        {".admit/inventory/base.json": "{}\n"},
        gap="it changes nothing: what a commit holds there is not read, and the decision says that it is there",
        arrange=track_state,
    ),
    Attack(
        "case-twin",
        "a file whose name differs from a printed sheet's in case alone",
        "where file names have no case it takes the sheet's place",
        {"tests/golden/2026-02.TXT": "   February 2026\n"},
        FIXTURE | CONTROL,
    ),
    Attack(
        "twin-of-a-control-file",
        "a file whose name differs from the configuration's in case alone",
        "where file names have no case it takes the configuration's place",
        {"Admit.toml": "[run]\ntimeout_s = 1\n"},
        CONTROL,
    ),
    Attack(
        "mode-of-a-sheet",
        "a pinned sheet gets the execute bit",
        "what is pinned is not what it was pinned as",
        {},
        FIXTURE,
        arrange=executable_sheet,
    ),
    Attack(
        "test-weakened-for-the-next-patch",
        "a test is weakened, and nothing is broken yet",
        "its old form passes, so nobody's leave is needed; the next patch breaks what it guarded",
        HOLLOW_FEASTS,
        gap="a test whose old form passes on the patch may be edited (contract T7); the decision counts the edit",
    ),
)
