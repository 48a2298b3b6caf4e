"""Run git as a child process, with what could change its answer off (boundary: processes)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, NamedTuple

from admit.errors import InputError
from admit.repository.spawn import Running, can_run

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

_FIXED: Final = (
    ("core.fsmonitor", "false"),  # a program of somebody's choice says which files changed
    ("core.hooksPath", "/dev/null"),  # a hook runs code and may refuse
    ("core.quotePath", "false"),
    ("core.splitIndex", "false"),
    ("core.trustctime", "true"),  # a file with its old size and time put back is still a changed file
    ("core.checkStat", "default"),
    ("core.commentChar", "#"),  # decides which line of a message is a trailer
    ("trailer.separators", ":"),
    ("i18n.commitEncoding", "UTF-8"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("advice.detachedHead", "false"),
    ("advice.graftFileDeprecated", "false"),  # said of the file that is set here to none
)
"""Settings whose other values, in somebody's own configuration, would give another answer."""

_KEPT: Final = (
    "GIT_CONFIG_",
    "GIT_CEILING_DIRECTORIES",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM",
    "GIT_EXEC_PATH",
    "GIT_SSL_",
)
"""Variables of git that stay: which folders are safe, where its programs are. Others point it elsewhere."""

_SET: Final = {
    "GIT_NO_REPLACE_OBJECTS": "1",  # a replacement shows another commit under the same id
    "GIT_GRAFT_FILE": os.devnull,  # a graft gives a commit other parents
    "GIT_LITERAL_PATHSPECS": "1",  # a name with `*` or `:` is a name
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}

DEEPEN: Final = "this clone is shallow: fetch the whole history (in CI: fetch-depth: 0)"


class Answer(NamedTuple):
    """What git printed and how it ended."""

    exit_code: int
    out: bytes
    err: str

    def text(self) -> str:
        """Return what was printed as text; a byte of a name that is not UTF-8 becomes a lone surrogate."""
        return text_of(self.out)


def text_of(raw: bytes) -> str:
    """Return a name as git stores it as text, reversibly."""
    return raw.decode("utf-8", "surrogateescape")


def bytes_of(text: str) -> bytes:
    """Return the bytes that a name came from."""
    return text.encode("utf-8", "surrogateescape")


def begin(
    root: Path | str, *words: str, stdin: bytes = b"", variables: Mapping[str, str] | None = None
) -> Callable[[], Answer]:
    """Start git in `root` and return what waits for its answer, which has to be called.

    Raises:
        InputError: git is not installed, or `root` is no folder.
    """
    env = {key: value for key, value in os.environ.items() if not key.startswith("GIT_") or key.startswith(_KEPT)}
    if not os.path.isdir(root):
        raise InputError(str(root), "no such folder", do="name the root of a repository")
    settings = [word for key, value in _FIXED for word in ("-c", f"{key}={value}")]
    command, env = ["git", "-C", os.fspath(root), *settings, *words], {**env, **_SET, **(variables or {})}
    try:
        finish = Running(command, env, stdin).finish if can_run(stdin) else _whole(command, env, stdin)
    except FileNotFoundError as error:
        raise InputError("git", "not found on PATH", do="install git; admit reads commits through it") from error

    def answer() -> Answer:
        exit_code, out, err = finish()
        return Answer(exit_code, out, err.decode("utf-8", "replace").strip())

    return answer


def _whole(words: list[str], env: dict[str, str], stdin: bytes) -> Callable[[], tuple[int, bytes, bytes]]:
    """Run a program to its end at once, whatever there is to read."""
    import subprocess

    done = subprocess.run(words, env=env, capture_output=True, check=False, input=stdin)  # noqa: S603 - a fixed program
    return lambda: (done.returncode, done.stdout, done.stderr)


def ask(root: Path | str, *words: str, stdin: bytes = b"", variables: Mapping[str, str] | None = None) -> Answer:
    """Run git in `root` and return its answer, whatever it is.

    Raises:
        InputError: git is not installed, or `root` is no folder.
    """
    return begin(root, *words, stdin=stdin, variables=variables)()


def demand(root: Path | str, *words: str, stdin: bytes = b"", variables: Mapping[str, str] | None = None) -> bytes:
    """Run git in `root` and return what it printed.

    Raises:
        InputError: git failed; the error says with which words of its own.
    """
    return demanded(ask(root, *words, stdin=stdin, variables=variables), words)


def demanded(answer: Answer, words: Sequence[str]) -> bytes:
    """Return what git printed when it was asked with these words.

    Raises:
        InputError: git failed; the error says with which words of its own.
    """
    if answer.exit_code != 0:
        said = answer.err or f"exit code {answer.exit_code}"
        verb = next(word for before, word in zip(("", *words), words, strict=False) if "-c" not in {before, word})
        raise InputError(f"git {verb}", said, do="see what it says of this repository; nothing was decided")
    return answer.out


def is_shallow(root: Path | str) -> bool:
    """Say whether the history was cut off when the repository was fetched."""
    return ask(root, "rev-parse", "--is-shallow-repository").out.strip() == b"true"
