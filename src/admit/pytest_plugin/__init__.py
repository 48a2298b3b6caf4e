"""The recorder inside pytest: silent until `--admit DIR` asks for the gates' evidence documents.

Every pytest run of every user imports this module, so it holds three hooks and nothing heavy; the recorder is imported
where the option is given.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator

__all__ = ["pytest_addoption", "pytest_configure", "pytest_load_initial_conftests"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--admit DIR`, which `PYTEST_ADDOPTS` can carry through make, tox and scripts."""
    parser.getgroup("admit", "admit").addoption(
        "--admit",
        metavar="DIR",
        default=None,
        help="Record the gates' evidence documents in DIR.",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Pin Hypothesis before the first conftest is imported, so that settings made there start from it."""
    if getattr(early_config.known_args_namespace, "admit", None):
        _call("pin_early", early_config)


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Start recording if the option was given; last, so that no other plugin's Hypothesis options come after ours."""
    if config.getoption("admit", None):
        _call("activate", config)


def _call(name: str, config: pytest.Config) -> None:
    try:
        with _as_compiled():
            from admit.pytest_plugin import activation

            getattr(activation, name)(config)
    except Exception as error:  # noqa: BLE001 - a pytest too old, say: it must not stop the user's tests, nor look clean
        sys.stderr.write(f"admit: nothing is recorded, the gates count as not run: {type(error).__name__}: {error}\n")


@contextmanager
def _as_compiled() -> Generator[None, None, None]:
    # pytest rewrites the asserts of every plugin's package, and compiles it anew on each run where its cache cannot be
    # written; ours are none of a test's, so its modules are imported as they were compiled when they were installed
    before = list(sys.meta_path)
    hooks = [finder for finder in before if type(finder).__name__ == "AssertionRewritingHook"]
    sys.meta_path[:] = [finder for finder in before if finder not in hooks]
    try:
        yield
    finally:
        now = list(sys.meta_path)
        # in the order of before, without what left meanwhile; what came meanwhile comes first
        kept = [finder for finder in before if finder in now or finder in hooks]
        sys.meta_path[:] = [finder for finder in now if finder not in before] + kept
