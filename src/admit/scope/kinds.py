"""What a changed file is to the tests, by its path alone: code, data, or what no map can tell (contract S2)."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

FileKind: TypeAlias = Literal["python", "data", "configuration", "dependencies", "native", "generated"]
"""Python source; what nodes open; how tests are run; what they run with; compiled code; what code is made from."""

CONFIGURATION: Final[frozenset[str]] = frozenset(
    """
    conftest.py pytest.ini .pytest.ini pytest.toml .pytest.toml tox.ini setup.cfg setup.py pyproject.toml noxfile.py
    Makefile makefile GNUmakefile justfile .coveragerc sitecustomize.py usercustomize.py .env .gitattributes .gitmodules
    .pre-commit-config.yaml .gitlab-ci.yml tasks.py MANIFEST.in pyvenv.cfg
    """.split()
)
"""Names of files that say how tests are run, or how the code that they run is laid out."""

DEPENDENCIES: Final[tuple[str, ...]] = (
    "requirements*.txt",
    "requirements*.in",
    "constraints*.txt",
    "environment*.y*ml",
    "Pipfile",
    "*.lock",
    "pylock*.toml",
    "*.pth",
    "*.egg-link",
    ".python-version",
)
"""Patterns of names of files that say what else is installed."""

_CONFIGURING_FOLDERS: Final = frozenset({".github", ".gitlab", ".circleci", ".venv", "conda-meta"})
_INSTALLED_FOLDERS: Final = (".dist-info", ".egg-info")

_NATIVE: Final = frozenset(
    """
    a c cc cpp cu cxx dll dylib egg f f90 f95 for go h hh hpp hxx inl jar lib m mm o pyc pyd pyo rs s so whl zip
    """.split()
)
"""Endings of code that no tracer of Python follows, sources of it, and archives that modules are imported from."""

_GENERATED: Final = frozenset("capnp fbs g g4 pxd pxi pyx proto thrift y ui qrc".split())
"""Endings of files from which code is made before tests run."""

_TEST_NAMES: Final = ("test_*", "*_test")


def kind_of(path: str) -> FileKind:
    """Return what a file is to the tests; what no rule knows is data, which nodes open or do not."""
    *folders, name = path.split("/")
    if name in CONFIGURATION or _CONFIGURING_FOLDERS.intersection((*folders, name)):
        return "configuration"
    if any(fnmatchcase(name, pattern) for pattern in DEPENDENCIES) or "requirements" in folders:
        return "dependencies"
    if any(part.endswith(_INSTALLED_FOLDERS) for part in (*folders, name)):
        return "dependencies"
    ending = name.rpartition(".")[2].lower() if "." in name else ""
    if ending in {"py", "pyw"}:
        return "python"
    if ending in _NATIVE:
        return "native"
    return "generated" if ending in _GENERATED else "data"


def test_stem(path: str) -> str:
    """Return the module name of a file that pytest takes for one of tests, empty for any other."""
    name = path.rpartition("/")[2]
    stem, dot, ending = name.rpartition(".")
    return stem if dot and ending == "py" and any(fnmatchcase(stem, one) for one in _TEST_NAMES) else ""


def is_under(path: str, patterns: Iterable[str]) -> bool:
    """Return whether one of the patterns holds for a path; `*` goes through slashes, too."""
    return any(fnmatchcase(path, pattern) for pattern in patterns)


def folders_of(path: str) -> list[str]:
    """Return the folders that a path is in, from the nearest to the top, which is the empty text."""
    parts = path.split("/")[:-1]
    return ["/".join(parts[:count]) for count in range(len(parts), -1, -1)]
