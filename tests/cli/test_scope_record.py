"""`admit scope record`: the tests run once, and the map says which of them a patch reaches (contract S1 to S3)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from admit.cli import main

if not hasattr(sys, "monitoring"):
    pytest.importorskip("coverage", reason="below Python 3.12 coverage.py traces")

FILES = {
    ".gitignore": ".admit/\n__pycache__/\n",
    "pytest.ini": "[pytest]\n",
    "m.py": """
        def f():
            x = 1
            return x

        def g():
            y = 2
            return y
    """,
    "test_m.py": """
        import m

        def test_f():
            assert m.f() == 1

        def test_g():
            assert m.g() == 2
    """,
    "test_n.py": "def test_n(): pass\n",
}


class Checkout:
    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
        self.root, self._capfd = root, capfd
        foreign = ("PYTEST_", "ADMIT_", "GIT_", "GITHUB_", "GITLAB_", "COV")
        for name in [name for name in os.environ if name.startswith(foreign)]:
            monkeypatch.delenv(name)
        monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        monkeypatch.chdir(root)
        self.git("init", "-q", "-b", "main")
        for name, text in FILES.items():
            self.write(name, text)
        self.commit()

    def git(self, *words: str) -> str:
        who = ["-c", "user.name=x", "-c", "user.email=x@y"]
        return subprocess.run(["git", *who, *words], cwd=self.root, check=True, capture_output=True, text=True).stdout

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text).lstrip("\n"), encoding="utf-8")

    def commit(self) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "x")

    def admit(self, *words: str) -> tuple[int, str, str]:
        self._capfd.readouterr()
        code = main(list(words))
        out, err = self._capfd.readouterr()
        return code, out, err

    def record(self, *words: str, command: tuple[str, ...] = ()) -> tuple[int, str]:
        code, out, err = self.admit(
            "scope", "record", *words, "--", *(command or (sys.executable, "-m", "pytest", "-q"))
        )
        assert out == ""
        return code, err

    def answers(self) -> dict[str, str]:
        code, out, _ = self.admit("scope", "--format", "json", "--node", *NODES)
        assert code == 0
        found: Any = json.loads(out)
        return {one["node"].rpartition("::")[2]: one["reach"] for one in found["nodes"]}


NODES = ("test_m.py::test_f", "test_m.py::test_g", "test_n.py::test_n")


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Checkout:
    root = tmp_path / "r"
    root.mkdir()
    return Checkout(root, monkeypatch, capfd)


def test_the_map_says_which_tests_a_later_patch_reaches(checkout: Checkout) -> None:
    code, err = checkout.record()
    assert (code, "3 tests (3 ran now), 3 files" in err) == (0, True), err
    checkout.write("m.py", FILES["m.py"].replace("y = 2", "y = 1 + 1"))
    checkout.commit()
    assert checkout.answers() == {"test_f": "does_not_cover", "test_g": "covers", "test_n": "does_not_cover"}


def test_only_tests_that_a_patch_reaches_or_brings_run_again_and_the_rest_moves_along(checkout: Checkout) -> None:
    checkout.record()
    checkout.write("m.py", FILES["m.py"].replace("x = 1", "x = 0\n            x += 1"))
    checkout.write("test_n.py", "def test_n(): pass\n\ndef test_new():\n    pass\n")
    checkout.commit()
    code, err = checkout.record()
    assert (code, "4 tests (3 ran now)" in err) == (0, True), err
    checkout.write("m.py", (checkout.root / "m.py").read_text().replace("return y", "return +y"))
    checkout.commit()
    assert checkout.answers() == {"test_f": "does_not_cover", "test_g": "covers", "test_n": "does_not_cover"}


def test_a_test_that_is_gone_is_gone_from_the_map(checkout: Checkout) -> None:
    checkout.record()
    (checkout.root / "test_n.py").unlink()
    checkout.commit()
    _, err = checkout.record()
    assert "2 tests" in err


def test_a_map_of_this_commit_is_not_recorded_again_unless_asked_for(checkout: Checkout) -> None:
    checkout.record()
    before = (checkout.root / ".admit/scope/map").read_bytes()
    code, err = checkout.record(command=("false",))
    assert (code, "already" in err) == (0, True)
    assert checkout.record("--full")[0] == 0
    assert (checkout.root / ".admit/scope/map").read_bytes() == before


def test_failing_tests_have_a_map_like_any(checkout: Checkout) -> None:
    checkout.write("test_m.py", FILES["test_m.py"].replace("== 1", "== 3"))
    checkout.commit()
    assert checkout.record()[0] == 0


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (("true",), "left no trace; does it run pytest"),
        ((sys.executable, "-m", "pytest", "-q", "gone.py"), "did not run to their end"),
        ((sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"), "left no trace"),
    ],
)
def test_a_run_that_makes_no_map_leaves_the_older_one(
    checkout: Checkout, command: tuple[str, ...], message: str
) -> None:
    checkout.record()
    before = (checkout.root / ".admit/scope/map").read_bytes()
    code, err = checkout.record("--full", command=command)
    assert (code, message in err) == (65, True), err
    assert (checkout.root / ".admit/scope/map").read_bytes() == before


def test_a_checkout_that_is_not_as_its_commit_is_refused(checkout: Checkout) -> None:
    checkout.write("m.py", "x = 1\n")
    code, err = checkout.record()
    assert (code, "m.py: not as the commit has it" in err) == (65, True)


def test_a_test_that_writes_to_the_checkout_leaves_no_map(checkout: Checkout) -> None:
    checkout.write("test_n.py", "def test_n():\n    open('m.py', 'a').write('#\\n')\n")
    checkout.commit()
    code, err = checkout.record()
    assert (code, "m.py: changed while the tests ran" in err) == (65, True), err


def test_a_place_that_git_tracks_or_would_track_is_refused(checkout: Checkout) -> None:
    assert "git does not ignore it" in checkout.record("--map", "map")[1]
    assert "git tracks it" in checkout.record("--map", "m.py")[1]


def test_the_verb_may_follow_the_place(checkout: Checkout) -> None:
    place = str(checkout.root.parent / "elsewhere")
    code, _, err = checkout.admit("scope", "--map", place, "record", "--", sys.executable, "-m", "pytest", "-q")
    assert (code, Path(place).is_file()) == (0, True), err


def test_a_test_that_was_not_followed_is_told(checkout: Checkout) -> None:
    checkout.write("test_n.py", "import subprocess\ndef test_n():\n    subprocess.run(['true'])\n")
    checkout.commit()
    assert "1 tests went where no tracer follows" in checkout.record()[1]
