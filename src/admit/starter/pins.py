"""Which paths to pin first: what the tests read and is not code (contract L2, L4)."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

TEST_FOLDERS: Final = frozenset({"test", "tests", "testing", "testdata", "__tests__", "spec", "specs"})
"""Folder names under which a repository keeps its tests."""

_CODE: Final = frozenset(
    {".py", ".pyi", ".pyc", ".ipynb", ".js", ".ts", ".go", ".rs", ".java", ".rb", ".php", ".c", ".cc", ".h"}
)
_NOT_READ: Final = frozenset(
    {"readme", "readme.md", "readme.rst", "readme.txt", ".gitignore", "py.typed", "requirements.txt"}
)


def pinned_globs(files: Iterable[str], control: str) -> tuple[str, ...]:
    """Return path globs for everything under a test folder that is not code.

    Args:
        files: repository paths with `/`.
        control: what to pin where no test reads a file: the configuration, since a set without files pins nothing.
    """
    paths = [PurePosixPath(name) for name in files]
    code_folders = {folder for path in paths if path.suffix in _CODE for folder in path.parents}
    globs = {_glob(path, code_folders) for path in paths if _is_fixture(path)}
    kept = {glob for glob in globs if not any(other != glob and _holds(other, glob) for other in globs)}
    return tuple(sorted(kept)) or (control,)


def _is_fixture(path: PurePosixPath) -> bool:
    if path.suffix in _CODE or path.name.lower() in _NOT_READ or path.name.startswith("admit."):
        return False
    return any(part.lower() in TEST_FOLDERS for part in path.parts[:-1])


def _glob(path: PurePosixPath, code_folders: set[PurePosixPath]) -> str:
    """Return the widest glob that holds the file and no code: a code-free folder, or its suffix beside code."""
    free = [folder for folder in path.parents if folder not in code_folders and str(folder) != "."]
    tests = [folder for folder in free if any(part.lower() in TEST_FOLDERS for part in folder.parts)]
    if tests:
        return f"{_escaped(str(tests[-1]))}/**"
    return f"{_escaped(str(path.parent))}/{'*' + path.suffix if path.suffix else _escaped(path.name)}"


def _escaped(text: str) -> str:
    return "".join(f"[{char}]" if char in "*?[" else char for char in text)


def _holds(wide: str, narrow: str) -> bool:
    return wide.endswith("/**") and narrow.startswith(wide[:-2])
