"""The command line: one table of commands, one handler for errors, exit codes as in `admit.errors.EXIT_CODES`."""

from __future__ import annotations

import errno
import os
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from importlib import import_module
from io import TextIOWrapper
from typing import NoReturn

from admit.cli.commands import COMMANDS, Command
from admit.cli.output import say
from admit.errors import AdmitError, UsageError

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
    _open_missing_streams()
    try:
        return _guarded(sys.argv[1:] if argv is None else argv)
    except SystemExit:
        raise
    except BaseException:  # noqa: BLE001 - even saying what went wrong went wrong: no disposition may come of it
        os._exit(70)


def _guarded(words: list[str]) -> int:
    try:
        code = _run(words)
        sys.stdout.flush()
        return code
    except AdmitError as error:
        say(f"admit: {error}")
        return error.exit_code
    except KeyboardInterrupt:
        say("admit: interrupted; nothing was decided")
        return 130
    except OSError as error:
        if error.errno not in _OUTPUT_GONE:
            return _bug()
        with open(os.devnull, "w") as nowhere:  # what is still buffered would fail again at exit
            os.dup2(nowhere.fileno(), 1)
        say(f"admit: standard output cannot be written ({error.strerror}); what was decided is recorded, not shown")
        return 74
    except Exception:  # noqa: BLE001 - whatever it is, it must become an exit code that is no disposition
        return _bug()


_OUTPUT_GONE = frozenset({errno.EPIPE, errno.ENOSPC, errno.EBADF, errno.EIO, errno.EFBIG})


def _bug() -> int:
    import traceback

    say(traceback.format_exc(), is_whole=True)
    say("admit: this is a bug in admit; nothing was decided")
    return 70


def _open_missing_streams() -> None:
    """Open what was closed on the null device: a file opened later must not become standard output or error."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            fd = os.open("/dev/full" if name == "stdout" else os.devnull, os.O_RDWR)
            if fd != number:
                os.dup2(fd, number)
                os.close(fd)
            setattr(sys, name, os.fdopen(number, mode, closefd=False))
    for stream in (sys.stdout, sys.stderr):
        # a name that the terminal's encoding lacks is shown escaped, and is no error
        if isinstance(stream, TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="backslashreplace")


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
