"""A check names every difference, and matches only where there is none (contract L2 to L6)."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
import unicodedata
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from admit.errors import InputError
from admit.lock.check import check, diff, read_lock_files
from admit.lock.pinned import InForce, LockText, PinnedSet
from admit.lock.report import lock_state_of

Repository = Any  # conftest's
PROFILE = {"max_examples": 100, "deadline": None, "phases": ("explicit", "generate"), "derandomize": False}
VERSIONS = {"hypothesis": "6.170.17", "pytest": "9.2.0"}

Change = Callable[[Repository], object]

NFC, NFD = (unicodedata.normalize(form, "data/\u00e9.txt") for form in ("NFC", "NFD"))


def test_an_untouched_tree_matches(pinned: Repository) -> None:
    report = pinned.check()
    assert (report.state, report.differences, report.files) == ("match", (), 4)
    assert report.is_evidence
    assert report.manifest is not None


@pytest.mark.parametrize(
    ("change", "kinds"),
    [
        pytest.param(lambda r: r.put("data/a.txt", b"other"), [("changed", "data/a.txt")], id="content"),
        pytest.param(lambda r: r.put("data/a.txt", b"one\ntwo\r\n"), [("crlf-only", "data/a.txt")], id="one line end"),
        pytest.param(
            lambda r: r.put("data/a.txt", b"one\r\ntwo\r\n"), [("crlf-only", "data/a.txt")], id="all line ends"
        ),
        pytest.param(lambda r: r.put("data/new"), [("added", "data/new")], id="an added file"),
        pytest.param(lambda r: r.put("data/x/y/new"), [("added", "data/x/y/new")], id="an added file further down"),
        pytest.param(lambda r: (r / "data/a.txt").unlink(), [("removed", "data/a.txt")], id="a removed file"),
        pytest.param(
            lambda r: (r / "data/a.txt").rename(r / "data/z.txt"),
            [("added", "data/z.txt"), ("removed", "data/a.txt")],
            id="a renamed file",
        ),
        pytest.param(lambda r: (r / "data/a.txt").chmod(0o755), [("mode", "data/a.txt")], id="an execute bit"),
        pytest.param(lambda r: (r / "data/run.sh").chmod(0o644), [("mode", "data/run.sh")], id="no execute bit"),
        pytest.param(
            lambda r: r.put("data/run.sh", b"other", 0o644),
            [("changed", "data/run.sh"), ("mode", "data/run.sh")],
            id="content and mode",
        ),
        pytest.param(
            lambda r: ((r / "data/a.txt").unlink(), (r / "data/a.txt").symlink_to("b.bin")),
            [("type-changed", "data/a.txt")],
            id="a file that became a link",
        ),
        pytest.param(
            lambda r: ((r / "data/a.txt").unlink(), (r / "data/a.txt").mkdir(), r.put("data/a.txt/b")),
            [("added", "data/a.txt/b"), ("type-changed", "data/a.txt")],
            id="a file that became a folder",
        ),
        pytest.param(
            lambda r: ((r / "data/a.txt").unlink(), os.mkfifo(r / "data/a.txt")),
            [("type-changed", "data/a.txt")],
            id="a file that became a pipe",
        ),
        pytest.param(lambda r: os.mkfifo(r / "data/pipe"), [("added", "data/pipe")], id="a pipe"),
        pytest.param(
            lambda r: ((r / "data/in").rename(r / "moved"), (r / "data/in").symlink_to("../moved")),
            [("added", "data/in"), ("type-changed", "data/in/c.txt"), ("unpinned-target", "data/in")],
            id="a folder that became a link",
        ),
        pytest.param(
            lambda r: (shutil.move(r / "data/in", r.root.parent), (r / "data/in").symlink_to("../../in")),
            [("added", "data/in"), ("outside-repository", "data/in"), ("outside-repository", "data/in/c.txt")],
            id="a folder that became a link that leads out",
        ),
        pytest.param(
            lambda r: (r / "data/link").symlink_to("a.txt"),
            [("added", "data/link")],
            id="an added link to a pinned file",
        ),
        pytest.param(
            lambda r: (r / "data/link").symlink_to("/etc/passwd"),
            [("added", "data/link"), ("outside-repository", "data/link")],
            id="an added link that leads out",
        ),
        pytest.param(
            lambda r: r.put("data/a.txt", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 8\n"),
            [("lfs-pointer", "data/a.txt")],
            id="a Git LFS pointer",
        ),
        pytest.param(
            lambda r: r.put("data/A.TXT"), [("casefold", "data/A.TXT")], id="a name in another case beside it"
        ),
        pytest.param(
            lambda r: (r / "data/a.txt").rename(r / "data/A.txt"), [("casefold", "data/A.txt")], id="another case"
        ),
        pytest.param(lambda r: r.put("other.txt", b"new"), [], id="a file that no set takes"),
        pytest.param(lambda r: (r / "data/a.txt").touch(), [], id="times"),
        pytest.param(lambda r: r.put("data/a.txt", b"one\ntwo\n"), [], id="the same content written again"),
        pytest.param(lambda r: (r / "data/empty").mkdir(), [], id="an empty folder"),
    ],
)
def test_a_change_is_named(pinned: Repository, change: Change, kinds: list[tuple[str, str]]) -> None:
    change(pinned)
    assert pinned.kinds() == kinds


def test_the_other_way_round_line_ends_are_told_too(repository: Repository) -> None:
    repository.put("data/a.txt", b"one\r\ntwo\r\n")
    repository.pin()
    repository.put("data/a.txt", b"one\ntwo\n")
    (found,) = repository.check().differences
    assert found.text == "data/a.txt: only the line ends differ, LF instead of CRLF; mark it -text in .gitattributes"


def test_a_name_in_another_unicode_form_is_told(repository: Repository) -> None:
    """Contract L2; the two names look the same, so the text shows their characters."""
    repository.put(NFC, b"x")
    repository.pin()
    (repository / NFC).rename(repository / NFD)
    (found,) = repository.check().differences
    assert (found.kind, found.path, found.pinned) == ("unicode-form", "data/e\\u0301.txt", "data/\\xe9.txt")


def test_a_rename_within_a_twins_reach_drifts_the_sets_of_both_names(repository: Repository) -> None:
    repository.put("data/z.txt")
    sets = (PinnedSet("rest", ("data/**", "!*.txt")), PinnedSet("txt", ("data/*.txt",), ("t/test_txt.py",)))
    repository.pin(*sets)
    (repository / "data/a.txt").rename(repository / "data/A.TXT")
    report = repository.check()
    assert [(one.kind, one.sets) for one in report.differences] == [("casefold", ("rest", "txt"))]


@pytest.fixture
def linked(repository: Repository) -> Repository:
    (repository / "data/link").symlink_to("a.txt")
    (repository / "data/folder").symlink_to("in")
    repository.pin()
    return repository


def relink(repository: Repository, name: str, target: str) -> None:
    (repository / name).unlink()
    (repository / name).symlink_to(target)


@pytest.mark.parametrize(
    ("change", "kinds"),
    [
        pytest.param(lambda r: None, [], id="nothing"),
        pytest.param(lambda r: relink(r, "data/link", "b.bin"), [("link-target", "data/link")], id="another target"),
        pytest.param(
            lambda r: relink(r, "data/link", "./a.txt"),
            [("link-target", "data/link")],
            id="the same file spelt otherwise",
        ),
        pytest.param(
            lambda r: relink(r, "data/link", "/etc/passwd"),
            [("link-target", "data/link"), ("outside-repository", "data/link")],
            id="out of the repository",
        ),
        pytest.param(
            lambda r: relink(r, "data/link", "../other.txt"),
            [("link-target", "data/link"), ("unpinned-target", "data/link")],
            id="to a file that is not pinned",
        ),
        pytest.param(lambda r: (r / "data/link").unlink(), [("removed", "data/link")], id="removed"),
        pytest.param(
            lambda r: ((r / "data/link").unlink(), r.put("data/link", b"one\ntwo\n")),
            [("type-changed", "data/link")],
            id="a link that became a file",
        ),
        pytest.param(
            lambda r: ((r / "data/link").unlink(), os.mkfifo(r / "data/link")),
            [("type-changed", "data/link")],
            id="a link that became a pipe",
        ),
        pytest.param(
            lambda r: r.put("data/in/new"),
            [("added", "data/in/new"), ("unpinned-target", "data/folder")],
            id="a file behind",
        ),
        pytest.param(lambda r: r.put("data/a.txt", b"x"), [("changed", "data/a.txt")], id="what it leads to"),
    ],
)
def test_a_link_is_pinned_with_its_target(linked: Repository, change: Change, kinds: list[tuple[str, str]]) -> None:
    """Contract L2: `sha256sum -c` sees none of this."""
    change(linked)
    assert linked.kinds() == kinds


def test_a_link_that_leads_nowhere_is_drift_once_something_unpinned_is_there(repository: Repository) -> None:
    (repository / "data/link").symlink_to("../later")
    repository.pin()
    assert repository.kinds() == []
    repository.put("later")
    assert repository.kinds() == [("unpinned-target", "data/link")]


def test_what_cannot_be_read_is_an_error_and_no_match(
    pinned: Repository, as_nobody: Callable[[Path], AbstractContextManager[None]]
) -> None:
    """Contract L6."""
    (pinned / "data/a.txt").chmod(0)
    (pinned / "data/in").chmod(0)
    pinned.root.chmod(0o755)
    with as_nobody(pinned.root):
        report = check(".", read_lock_files("."))
    (pinned / "data/in").chmod(0o755)
    assert report.state == "drifted"
    assert [(one.kind, one.path, one.found) for one in report.differences] == [
        ("unreadable", "data/a.txt", "Permission denied"),
        ("unreadable", "data/in", "Permission denied"),
        ("unreadable", "data/in/c.txt", "Permission denied"),
    ]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        pytest.param("admit.sha256", "manifest-missing", id="manifest"),
        pytest.param("admit.lock", "lock-missing", id="lock file"),
    ],
)
def test_without_either_file_the_state_is_missing(pinned: Repository, name: str, kind: str) -> None:
    """Contract L2."""
    (pinned / name).unlink()
    report = pinned.check()
    assert (report.state, [one.kind for one in report.differences]) == ("missing", [kind])
    assert lock_state_of(report, "any") == "missing"


def test_a_set_without_files_is_missing(repository: Repository) -> None:
    """Contract L2: its files are told as removed too, which outranks for them."""
    repository.pin(PinnedSet("a", ("data/*.txt",), ("t/a.py",)), PinnedSet("b", ("data/*.bin",), ("t/b.py",)))
    (repository / "data/a.txt").unlink()
    report = repository.check()
    assert [(one.kind, one.sets) for one in report.differences] == [("removed", ("a",)), ("set-empty", ("a",))]
    assert [(one.name, one.state, one.files) for one in report.sets] == [("a", "drifted", 0), ("b", "match", 1)]


def test_drift_in_one_set_holds_only_its_nodes(repository: Repository) -> None:
    """Contract L4."""
    repository.pin(
        PinnedSet("txt", ("data/**", "!*.bin"), ("t/test_txt.py",)),
        PinnedSet("bin", ("data/*.bin",), ("t/test_bin.py::*", "t/test_both.py")),
        PinnedSet("all", ("other.txt",)),
    )
    repository.put("data/b.bin", b"changed")
    report = repository.check()
    assert report.state == "drifted"
    nodes = ["t/test_txt.py::x", "t/test_bin.py::x[1]", "t/test_both.py::x", "t/test_other.py::x"]
    assert [lock_state_of(report, node) for node in nodes] == ["match", "drifted", "drifted", "match"]
    repository.put("other.txt", b"changed")
    assert {lock_state_of(repository.check(), node) for node in nodes} == {"drifted"}


SAME = InForce(7, PROFILE, VERSIONS)


@pytest.mark.parametrize(
    ("in_force", "kinds"),
    [
        pytest.param(SAME, [], id="the same"),
        pytest.param(
            SAME._replace(settings={k: list(v) if isinstance(v, tuple) else v for k, v in PROFILE.items()}),
            [],
            id="a list for a tuple",
        ),
        pytest.param(SAME._replace(seed=8), [("seed", "seed")], id="another seed"),
        pytest.param(SAME._replace(seed="random"), [("seed", "seed")], id="a seed that nobody chose"),
        pytest.param(
            SAME._replace(settings=PROFILE | {"max_examples": 10}), [("setting", "max_examples")], id="setting"
        ),
        pytest.param(
            SAME._replace(settings=PROFILE | {"derandomize": 0}), [("setting", "derandomize")], id="0 for false"
        ),
        pytest.param(
            SAME._replace(settings=PROFILE | {"backend": "x"}), [("setting", "backend")], id="one more setting"
        ),
        pytest.param(
            SAME._replace(settings={k: v for k, v in PROFILE.items() if k != "deadline"}),
            [("setting", "deadline")],
            id="a setting that is open",
        ),
        pytest.param(SAME._replace(versions=VERSIONS | {"pytest": "9.2.1"}), [("version", "pytest")], id="version"),
        pytest.param(SAME._replace(versions=VERSIONS | {"xdist": "1"}), [("version", "xdist")], id="one more tool"),
    ],
)
def test_the_same_files_under_another_instrument_are_drift(
    pinned: Repository, in_force: InForce, kinds: list[tuple[str, str]]
) -> None:
    """Contract L3; it concerns every node."""
    assert (pinned.profile, pinned.versions) == (PROFILE, VERSIONS)
    report = pinned.check(in_force)
    assert [(one.kind, one.path) for one in report.differences] == kinds
    assert report.not_compared == ()
    assert lock_state_of(report, "any") == ("drifted" if kinds else "match")


@pytest.mark.parametrize(
    ("in_force", "unknown"),
    [
        pytest.param(None, ("seed", "settings", "versions"), id="nothing known"),
        pytest.param(InForce(versions=VERSIONS), ("seed", "settings"), id="versions known"),
        pytest.param(InForce(seed=7), ("settings", "versions"), id="seed known"),
    ],
)
def test_what_is_not_known_here_is_said(pinned: Repository, in_force: InForce | None, unknown: tuple[str, ...]) -> None:
    report = pinned.check(in_force)
    assert (report.state, report.not_compared) == ("match", unknown)


def edited(pinned: Repository, name: str, old: bytes, new: bytes) -> None:
    text = (pinned / name).read_bytes()
    assert old in text
    (pinned / name).write_bytes(text.replace(old, new))


@pytest.mark.parametrize(
    ("change", "found"),
    [
        pytest.param(lambda r: edited(r, "admit.lock", b'"files": 4', b'"files": 5'), "4 files", id="count"),
        pytest.param(lambda r: edited(r, "admit.lock", b'"bytes": 1', b'"bytes": 2'), " bytes", id="size"),
        pytest.param(
            lambda r: edited(r, "admit.lock", b'"sha256:', b'"sha256:' + b"0" * 64 + b'", "x": "'), "", id="digest"
        ),
        pytest.param(
            lambda r: edited(r, "admit.lock", b'"data/run.sh"\n', b'"data/run.sh", "data/nothing"\n'),
            "not in the manifest",
            id="an execute bit of nothing",
        ),
        pytest.param(
            lambda r: edited(r, "admit.lock", b'"links": {}', b'"links": {"data/a.txt": "x"}'),
            "as a file",
            id="a file as link",
        ),
    ],
)
def test_a_manifest_and_a_lock_file_that_do_not_fit_are_drift(pinned: Repository, change: Change, found: str) -> None:
    if found:
        change(pinned)
        report = pinned.check()
        assert "manifest-disagrees" in [one.kind for one in report.differences]
        assert any(found in one.found for one in report.differences)
        assert lock_state_of(report, "any") == "drifted"
    else:
        change(pinned)
        with pytest.raises(InputError, match="unknown key 'x'"):
            pinned.check()


def test_a_manifest_that_was_edited_to_fit_the_files_is_drift(pinned: Repository) -> None:
    """The lock file pins the manifest: who edits one has to edit both, which a reviewer sees."""
    pinned.put("data/a.txt", b"six\ntwo\n")
    lines = subprocess.run(["sha256sum", "data/a.txt"], cwd=pinned.root, capture_output=True, check=True).stdout
    text = (pinned / "admit.sha256").read_bytes().split(b"\n")
    (pinned / "admit.sha256").write_bytes(b"\n".join([lines.strip(), *text[1:]]))
    assert [kind for kind, _ in pinned.kinds()] == ["manifest-disagrees"]


def test_the_manifest_may_be_written_by_sha256sum(pinned: Repository) -> None:
    """Contract L1: in another order, in binary mode, with other line ends, it says the same."""
    names = ["data/run.sh", "data/in/c.txt", "data/b.bin", "./data/a.txt"]
    text = subprocess.run(["sha256sum", "-b", *names], cwd=pinned.root, capture_output=True, check=True).stdout
    before = pinned.check()
    (pinned / "admit.sha256").write_bytes(text.replace(b"\n", b"\r\n"))
    assert pinned.check() == before


def test_a_pinned_file_that_no_pattern_takes_is_still_checked(pinned: Repository) -> None:
    (pinned / "data/link").symlink_to("a.txt")
    pinned.pin()
    edited(pinned, "admit.lock", b'"data/**"', b'"data/*.bin"')
    assert pinned.check().state == "match"
    pinned.put("data/in/c.txt", b"x")
    relink(pinned, "data/link", "b.bin")
    assert pinned.kinds() == [("changed", "data/in/c.txt"), ("link-target", "data/link")]
    assert lock_state_of(pinned.check(), "any") == "drifted"


def test_what_leaves_the_repository_in_a_manifest_is_refused(pinned: Repository) -> None:
    edited(pinned, "admit.sha256", b"data/a.txt", b"../a.txt")
    with pytest.raises(InputError, match=r"admit\.sha256:1: a path that leaves the repository"):
        pinned.check()


def test_a_lock_file_that_cannot_be_read_is_an_error(pinned: Repository) -> None:
    (pinned / "admit.lock").unlink()
    (pinned / "admit.lock").mkdir()
    with pytest.raises(InputError, match=r"admit\.lock: cannot be read: Is a directory"):
        pinned.check()


def test_a_lock_file_that_is_a_link_is_an_error(pinned: Repository) -> None:
    (pinned / "admit.lock").rename(pinned / "elsewhere")
    (pinned / "admit.lock").symlink_to("elsewhere")
    with pytest.raises(InputError, match=r"admit\.lock: cannot be read: .*; make it a readable regular file"):
        pinned.check()


def test_a_git_lfs_pointer_that_was_pinned_by_hand_is_drift_all_the_same(repository: Repository) -> None:
    """A pointer is not what the tests are meant to read, whoever pinned it."""
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 8\n"
    repository.put("data/a.txt", b"x" * len(pointer))
    repository.pin()
    old = (repository / "admit.sha256").read_bytes()
    repository.put("data/a.txt", pointer)
    new = old.replace(
        hashlib.sha256(b"x" * len(pointer)).hexdigest().encode(), hashlib.sha256(pointer).hexdigest().encode()
    )
    (repository / "admit.sha256").write_bytes(new)
    edited(repository, "admit.lock", *(hashlib.sha256(text).hexdigest().encode() for text in (old, new)))
    assert repository.kinds() == [("lfs-pointer", "data/a.txt")]


def test_the_lock_is_whatever_the_caller_trusts_and_not_what_lies_there(pinned: Repository) -> None:
    """Contract L5: a patch that repins its own fixtures is judged by the base's lock."""
    base = read_lock_files(str(pinned.root))
    pinned.put("data/a.txt", b"x")
    pinned.pin()
    assert pinned.check().state == "match"
    assert check(str(pinned.root), base).state == "drifted"
    assert [one.kind for one in diff(str(pinned.root), base)] == ["changed"]


def test_other_names_for_the_two_files(repository: Repository) -> None:
    repository.pin(PinnedSet("all", ("**",)))
    (repository / "admit.sha256").rename(repository / "pins")
    (repository / "admit.lock").rename(repository / "data/lock")
    text = read_lock_files(str(repository.root), manifest_name="pins", lock_name="data/lock")
    assert check(str(repository.root), text).state == "match"
    elsewhere = LockText(text.manifest, text.lock)
    assert [one.path for one in diff(str(repository.root), elsewhere)] == ["data/lock", "pins"]


file_names = st.sampled_from(["a", "b", "d/a", "d/b", "d/e/a"])
hows = st.sampled_from(["write", "remove", "mode", "link", "nothing"])
changes = st.lists(st.tuples(hows, file_names, st.sampled_from(["", "x", "y"])), max_size=4)


def snapshot(root: Path) -> dict[str, object]:
    """Return what L2 pins, found in another way: content, execute bit and link target of everything in data/."""
    found: dict[str, object] = {}
    for path in sorted((root / "data").rglob("*")):
        name = str(path.relative_to(root))
        if path.is_symlink():
            found[name] = os.readlink(path)
        elif path.is_file():
            found[name] = (path.read_bytes(), bool(path.stat().st_mode & 0o100))
    return found


def apply(root: Path, how: str, name: str, text: str) -> None:
    path = root / "data" / name
    if path.is_dir() and not path.is_symlink():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    if how == "mode" and path.is_file() and not path.is_symlink():
        path.chmod(0o755 if text else 0o644)
    elif how != "nothing":
        path.unlink(missing_ok=True)
        if how == "write":
            path.write_text(text)
        elif how == "link":
            path.symlink_to(text or "z")


@given(changes, changes)
@settings(max_examples=60)
def test_a_check_matches_exactly_if_everything_is_as_it_was(
    repository_at: Callable[[Path], Repository], before: list[tuple[str, str, str]], after: list[tuple[str, str, str]]
) -> None:
    """Against an oracle that shares no code: no combination of changes goes unseen, and nothing else is seen."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        repository = repository_at(root)
        repository.put("data/always", b"x")
        for change in before:
            apply(root, *change)
        try:
            repository.pin()
        except InputError:
            return  # a link to something unpinned
        pinned = snapshot(root)
        for change in after:
            apply(root, *change)
        report = repository.check()
        assert (report.state == "match") is (snapshot(root) == pinned), report.differences
        assert (report.state == "match") is (report.differences == ())
