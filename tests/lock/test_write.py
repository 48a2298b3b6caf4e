"""A lock is written whole or not at all, and never of something that cannot be pinned (contract L5, L6)."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from admit.errors import InputError, LedgerError
from admit.lock.pinned import PinnedSet, instrument, read_lock
from admit.lock.write import LockNames, draft, write

Repository = Any  # conftest's
NOTHING = instrument(None, {}, {})
LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 8\n"


def test_both_files_say_what_is_pinned(repository: Repository) -> None:
    (repository / "data/link").symlink_to("a.txt")
    lock = write(
        str(repository.root),
        (PinnedSet("z", ("data/in/",), ("t/z.py",)), PinnedSet("a", ("data/**",))),
        instrument=instrument(3, {"deadline": None}, {"pytest": "9.2.0"}),
    )
    assert read_lock((repository / "admit.lock").read_bytes()) == lock
    assert (lock.files, [one.name for one in lock.sets]) == (4, ["a", "z"])
    assert (lock.links, lock.executable) == ((("data/link", "a.txt"),), ("data/run.sh",))
    assert lock.total_bytes == sum(
        (repository / f"data/{name}").stat().st_size for name in ("a.txt", "b.bin", "in/c.txt", "run.sh")
    )


def test_the_same_tree_gives_the_same_bytes(repository: Repository) -> None:
    sets = (PinnedSet("b", ("data/*.bin",)), PinnedSet("a", ("data/**",)))
    once = draft(str(repository.root), sets, instrument=NOTHING)
    for path in (repository / "data").rglob("*"):
        os.utime(path, (1, 1))
    assert draft(str(repository.root), sets[::-1], instrument=NOTHING) == once


def test_a_draft_writes_nothing(repository: Repository) -> None:
    before = sorted(repository.root.rglob("*"))
    draft(str(repository.root), (PinnedSet("a", ("**",)),), instrument=NOTHING)
    assert sorted(repository.root.rglob("*")) == before


def test_the_two_files_are_never_pinned_in_themselves(repository: Repository) -> None:
    everything = (PinnedSet("a", ("**",)),)
    first = write(str(repository.root), everything, instrument=NOTHING)
    assert write(str(repository.root), everything, instrument=NOTHING) == first
    other = LockNames("pins/m", "pins/l")
    (repository / "pins").mkdir()
    assert write(str(repository.root), everything, instrument=NOTHING, names=other).files == first.files + 2


def test_progress_is_told(repository: Repository) -> None:
    calls = []
    write(
        str(repository.root),
        (PinnedSet("a", ("data/**",)),),
        instrument=NOTHING,
        progress=lambda *numbers: calls.append(numbers),
    )
    assert calls[-1][:2] == (4, 4)


def twins(repository: Repository) -> None:
    for form in ("NFC", "NFD"):
        repository.put(f"data/{unicodedata.normalize(form, chr(0xE9))}", form.encode())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param(
            lambda r: r.put("data/big", LFS),
            "data/big is a Git LFS pointer instead of the file; run git lfs pull",
            id="LFS",
        ),
        pytest.param(
            lambda r: r.put("data/A.TXT"),
            "data/A.TXT and data/a.txt are one name to some file systems; rename",
            id="case",
        ),
        pytest.param(twins, "are one name to some file systems", id="Unicode form"),
        pytest.param(lambda r: os.mkfifo(r / "data/pipe"), "data/pipe is a named pipe; leave it out", id="pipe"),
        pytest.param(
            lambda r: r.put("data/__pycache__/x.pyc"),
            "data/__pycache__ is rewritten by every run; leave it out with a pattern such as !__pycache__/",
            id="a cache",
        ),
        pytest.param(
            lambda r: (r / "data/out").symlink_to("/etc/passwd"),
            "data/out: a link to /etc/passwd, which leads out of the repository",
            id="a link that leads out",
        ),
        pytest.param(
            lambda r: (r / "data/loose").symlink_to("../other.txt"),
            "data/loose: a link to other.txt, which its set does not pin, so that it could change unseen; pin what the",
            id="a link to something unpinned",
        ),
        pytest.param(
            lambda r: (r.put("data/x/1", LFS), r.put("data/x/2", LFS)),
            r"data/x/1 is a Git LFS pointer .* \(and 1 more\)",
            id="two",
        ),
    ],
)
def test_is_refused_and_nothing_written(
    repository: Repository, change: Callable[[Repository], object], message: str
) -> None:
    change(repository)
    with pytest.raises(InputError, match=f"^cannot be pinned: .*{message}"):
        repository.pin()
    assert not (repository / "admit.sha256").exists()
    assert not (repository / "admit.lock").exists()


def test_a_cache_can_be_left_out(repository: Repository) -> None:
    repository.put("data/__pycache__/x.pyc")
    repository.pin(PinnedSet("fixtures", ("data/**", "!__pycache__/")))
    repository.put("data/__pycache__/y.pyc")
    assert repository.check().state == "match"


def test_a_link_has_to_be_pinned_with_its_target_in_the_same_set(repository: Repository) -> None:
    """Contract L4: else drift of the target would hold the nodes of another set."""
    (repository / "links").mkdir()
    (repository / "links/a").symlink_to("../data/a.txt")
    apart = (PinnedSet("data", ("data/**",), ("t/a.py",)), PinnedSet("links", ("links/**",), ("t/b.py",)))
    with pytest.raises(InputError, match="links/a: a link to data/a.txt, which its set does not pin"):
        repository.pin(*apart)
    repository.pin(
        PinnedSet("data", ("data/**",), ("t/a.py",)), PinnedSet("links", ("links/**", "data/*.txt"), ("t/b.py",))
    )
    assert repository.check().state == "match"


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        pytest.param((), "lock.sets: no pinned set", id="no set"),
        pytest.param(
            (PinnedSet("a", ("nothing/**",)),),
            r"lock\.sets\.a: no file for nothing/\*\*; correct the paths",
            id="empty",
        ),
        pytest.param(
            (PinnedSet("a", ("data/**",)), PinnedSet("b", ("x",))), r"lock\.sets\.b: no file for x", id="one empty"
        ),
        pytest.param(
            (PinnedSet("a", ("way/**",)),), "way is a symbolic link, and links are not followed", id="behind a link"
        ),
        pytest.param((PinnedSet("a b", ("data/**",)),), "the set name 'a b'", id="an odd name"),
        pytest.param((PinnedSet("a", ("data/**",)),) * 2, "the set name 'a'", id="a name twice"),
        pytest.param((PinnedSet("a", ("data/**",), ()),), "the set a is tied to nothing", id="no node"),
    ],
)
def test_sets_that_pin_nothing_are_taught(repository: Repository, sets: tuple[PinnedSet, ...], message: str) -> None:
    (repository / "way").symlink_to("data")
    with pytest.raises(InputError, match=message):
        write(str(repository.root), sets, instrument=NOTHING)


def test_a_file_that_cannot_be_written_is_as_it_was(pinned: Repository, tmp_path: Path) -> None:
    pinned.put("data/a.txt", b"new")
    (pinned / "admit.lock").unlink()
    (pinned / "admit.lock").mkdir()
    with pytest.raises(LedgerError, match=r"admit\.lock: cannot be written: Is a directory"):
        pinned.pin()
    assert [path.name for path in pinned.root.iterdir() if path.name.endswith(".tmp")] == []


def test_stopped_between_the_two_files_the_lock_does_not_match(pinned: Repository) -> None:
    pinned.put("data/a.txt", b"new")
    before = (pinned / "admit.lock").read_bytes()
    pinned.pin()
    (pinned / "admit.lock").write_bytes(before)
    assert [kind for kind, _ in pinned.kinds()] == ["manifest-disagrees"]
