"""The command line: one table of commands, one handler for errors, exit codes as in `admit.errors.EXIT_CODES`."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from importlib import import_module
from typing import NoReturn

from admit.cli.commands import COMMANDS, Command
from admit.errors import AdmitError, UsageError, one_line

WIDTH = 100


class Help(RawDescriptionHelpFormatter):
    """Help of one width: asking for the terminal's imports `shutil`, which every cold start would pay for."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=WIDTH)


class Parser(ArgumentParser):
    """An argument parser whose errors are admit's own: 2 is a disposition here, so a usage error is 64."""

    def error(self, message: str) -> NoReturn:
        """Raise instead of exiting with 2."""
        raise UsageError(self.prog, message, do=f"see `{self.prog} --help`")


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit code."""
    words = sys.argv[1:] if argv is None else argv
    try:
        code = _run(words)
        sys.stdout.flush()
    except AdmitError as error:
        _say(f"admit: {error}")
        return error.exit_code
    except KeyboardInterrupt:
        _say("admit: interrupted; nothing was decided")
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        _say("admit: standard output was closed before the answer was written")
        return 74
    except SystemExit:
        raise
    except Exception:  # noqa: BLE001 - whatever it is, it must become an exit code that is no disposition
        import traceback

        traceback.print_exc()
        _say("admit: this is a bug in admit; nothing was decided")
        return 70
    return code


def _say(text: str) -> None:
    try:
        sys.stderr.write(one_line(text) + "\n")
    except OSError:
        return  # nobody is listening; the exit code says it


def _run(words: list[str]) -> int:
    if not words or words[0] in {"-h", "--help"}:
        sys.stdout.write(_overview())
        return 0 if words else UsageError.exit_code
    if words[0] in {"-V", "--version"}:
        from admit import __version__

        sys.stdout.write(f"admit {__version__}\n")
        return 0
    command = next((row for row in COMMANDS if row.name == words[0]), None)
    if command is None:
        raise UsageError("admit", f"no command {words[0]!r}", allowed=", ".join(row.name for row in COMMANDS))
    return _run_command(command, words[1:])


def _run_command(command: Command, words: list[str]) -> int:
    module = import_module(f"admit.cli.{command.module}")
    parser = parser_of(command)
    module.configure(parser)
    code: int = module.run(parser.parse_args(words))
    return code


def parser_of(command: Command) -> Parser:
    """Return a command's parser, without its own arguments."""
    return Parser(
        prog=f"admit {command.name}",
        description=command.help,
        epilog=f"example:\n  {command.example}",
        formatter_class=Help,
        allow_abbrev=False,
    )


def _overview() -> str:
    width = max(len(row.name) for row in COMMANDS)
    lines = ["usage: admit COMMAND [ARGUMENTS]", "", "Decide which patches get in.", "", "commands:"]
    lines += [f"  {row.name:{width}}  {row.help}" for row in COMMANDS]
    lines += ["", "exit codes: 0 merge, 1 block, 2 escalate; 64 usage, 65 input, 70 bug, 74 record, 75 launch", ""]
    lines += ["example:", "  admit run -- python -m pytest", "", "Each command has its own --help.", ""]
    return "\n".join(lines)
