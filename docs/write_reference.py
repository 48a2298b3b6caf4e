"""Write the reference pages from the tables in the code. Usage: python docs/write_reference.py [FOLDER]."""

from __future__ import annotations

import io
import sys
from contextlib import redirect_stdout
from importlib import import_module
from pathlib import Path

from admit.cli import main, parser_of
from admit.cli.commands import COMMANDS
from admit.core import signals
from admit.core.decision import INADMISSIBLE
from admit.errors import EXIT_CODES
from admit.policy import SHIPPED
from admit.render.advice import BY_ATTRIBUTION, BY_REASON, BY_STATE, BY_WHY
from admit.settings import SETTINGS

MADE = "<!-- made by docs/write_reference.py from the tables in the code; change those -->\n\n"


def commands() -> str:
    """Return the page of commands: the help of each and of its verbs, as it is printed."""
    lines = ["# Commands", "", "Every command exits as [words and exit codes](words.md) says.", ""]
    for command in COMMANDS:
        parser = parser_of(command)
        import_module(f"admit.cli.{command.module}").configure(parser)
        lines += [f"## admit {command.name}", "", "```text", parser.format_help().rstrip(), "```", ""]
        for action in parser._actions:  # noqa: SLF001 - argparse has no public list of its verbs
            choices = action.choices
            if isinstance(choices, dict):
                for verb, one in choices.items():
                    lines += [f"### admit {command.name} {verb}", "", "```text", one.format_help().rstrip(), "```", ""]
    return "\n".join(lines)


def settings() -> str:
    """Return the page of settings."""
    lines = ["# Settings", "", "Every key of `admit.toml`. An unknown key, or a value of another type, is refused.", ""]
    lines += ["| key | type | default | what it does |", "|---|---|---|---|"]
    words = {str: "text", int: "whole number", list: "list of texts"}
    lines += [f"| `{row.key}` | {words[row.kind]} | `{row.default!r}` | {row.help} |" for row in SETTINGS]
    lines += [
        "",
        "`[lock.sets.NAME]` is a table a pinned set: `paths`, a list of globs (`!` takes out), and `nodes`, a list of",
    ]
    lines += ["node-id patterns that the set ties to (every node by default).", ""]
    return "\n".join(lines)


def words() -> str:
    """Return the page of closed vocabularies, reasons and exit codes."""
    lines = ["# Words and exit codes", "", "## Exit codes", "", "| code | meaning |", "|---|---|"]
    lines += [f"| {code} | {text} |" for code, text in EXIT_CODES.items()]
    lines += ["", "## States, best first", "", "| word | states |", "|---|---|"]
    tables = {
        "check of a node": signals.CHECK_STATES,
        "fixture lock": signals.LOCK_STATES,
        "flake status": signals.FLAKE_STATES,
        "gate": signals.GATE_STATES,
        "how a run ended (only `finished` can pass)": signals.ENDS,
        "why a node is no plain pass or fail": signals.WHYS,
    }
    lines += [f"| {name} | {', '.join(f'`{state}`' for state in states)} |" for name, states in tables.items()]
    lines += ["", "## Evidence that is not admissible", "", "Each holds before any rule is asked.", ""]
    lines += [
        "| attribution | look first at |",
        "|---|---|",
        *(f"| `{code}` | {text} |" for code, text in INADMISSIBLE.items()),
    ]
    lines += ["", "## What to do next", "", "| attribution or reason | advice |", "|---|---|"]
    lines += [f"| `{code}` | {text} |" for code, text in (BY_ATTRIBUTION | BY_REASON | BY_WHY | BY_STATE).items()]
    return "\n".join([*lines, ""])


def policies() -> str:
    """Return the page of shipped policies: table and census of each, as `admit policy show` prints them."""
    pages = ["# The policies that ship\n"]
    for name in SHIPPED:
        out = io.StringIO()
        with redirect_stdout(out):
            code = main(["policy", "show", name, "--format", "markdown"])
        if code != 0:
            sys.exit(f"policy show {name} answered {code}")
        shown = out.getvalue().splitlines()
        pages.append("\n".join(f"#{line}" if line.startswith("#") else line for line in shown) + "\n")
    return "\n".join(pages)


PAGES = {"commands.md": commands, "settings.md": settings, "words.md": words, "policies.md": policies}


def write(folder: Path) -> None:
    """Write every page."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, page in PAGES.items():
        (folder / name).write_text(MADE + page().rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "reference")
