"""The reference says what the code does, every link leads somewhere, every command named exists."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from admit.cli.commands import COMMANDS

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def test_the_reference_is_what_the_tables_in_the_code_make(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("write_reference", ROOT / "docs" / "write_reference.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.write(tmp_path)
    for page in tmp_path.iterdir():
        assert page.read_text() == (ROOT / "docs" / "reference" / page.name).read_text(), f"make docs ({page.name})"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_between_pages_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:|#|mailto:)([^)#]+)", page.read_text())
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_command_that_a_page_shows_exists(page: Path) -> None:
    names = {row.name for row in COMMANDS} | {"COMMAND"}
    shown = set(re.findall(r"(?:`|\$ |^    )admit ([a-z]+)\b", page.read_text(), re.MULTILINE))
    assert shown - names == set()


@pytest.mark.parametrize("command", COMMANDS, ids=lambda row: row.name)
def test_every_command_has_an_example_that_begins_with_its_name(command: object) -> None:
    assert command.example.startswith(f"admit {command.name}")
    assert command.help.endswith(".")
