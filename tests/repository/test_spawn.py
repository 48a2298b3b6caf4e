"""Programs are started and heard without `subprocess`, and as it would (boundary: processes)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from admit.repository.spawn import MOST_INPUT, Running, can_run

ENV = dict(os.environ)


def run(words: list[str], env: dict[str, str], stdin: bytes) -> tuple[int, bytes, bytes]:
    return Running(words, env, stdin).finish()


def python(script: str, stdin: bytes = b"") -> tuple[int, bytes, bytes]:
    return run([sys.executable, "-I", "-S", "-c", script], ENV, stdin)


def test_both_outputs_and_the_exit_code_come_back() -> None:
    assert python("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)") == (3, b"out\n", b"err\n")


def test_outputs_larger_than_any_pipe_come_back_whole_whichever_is_written_first() -> None:
    script = "import sys\nfor n in range(40):\n    sys.stderr.write('e' * 50_000)\n    sys.stdout.write('o' * 50_000)"
    assert python(script) == (0, b"o" * 2_000_000, b"e" * 2_000_000)


def test_what_is_given_to_read_is_read_and_ends() -> None:
    assert python("import sys; print(len(sys.stdin.read()))", b"x" * MOST_INPUT) == (0, b"%d\n" % MOST_INPUT, b"")


def test_a_program_need_not_read_what_it_is_given() -> None:
    assert python("pass", b"x" * MOST_INPUT) == (0, b"", b"")


def test_a_program_that_a_signal_ends_says_so() -> None:
    assert python("import os; os.kill(os.getpid(), 9)")[0] == -9


def test_the_environment_is_the_one_that_is_given() -> None:
    script = "import os; print(os.environ.get('GIVEN'), 'HOME' in os.environ)"
    assert run([sys.executable, "-I", "-S", "-c", script], {"GIVEN": "1"}, b"")[1] == b"1 False\n"


def test_a_program_that_there_is_not_is_an_error_and_leaves_nothing_open() -> None:
    before = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else 0
    for _ in range(5):
        with pytest.raises(FileNotFoundError):
            run(["no-such-program-anywhere"], ENV, b"")
        python("pass")
    assert before == 0 or len(os.listdir("/proc/self/fd")) == before


def test_a_file_that_is_open_here_is_not_open_there() -> None:
    with open(__file__, "rb") as file:
        script = f"import os\ntry: os.fstat({file.fileno()}); print('open')\nexcept OSError: print('closed')"
        assert python(script)[1] == b"closed\n"


def test_two_programs_are_at_work_at_once() -> None:
    words = [sys.executable, "-I", "-S", "-c", "import time; time.sleep(0.5); print(1)"]
    started = time.monotonic()
    first, second = Running(words, ENV, b""), Running(words, ENV, b"")
    assert (second.finish()[1], first.finish()[1]) == (b"1\n", b"1\n")
    assert time.monotonic() - started < 30


def test_a_program_is_ended_when_somebody_stops_us() -> None:
    class StoppedError(Exception):
        pass

    def stop(number: int, frame: object) -> None:
        raise StoppedError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    started = time.monotonic()
    try:
        with pytest.raises(StoppedError):
            run(["sleep", "60"], ENV, b"")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert time.monotonic() - started < 30
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_more_to_read_and_closed_streams_go_by_another_way(tmp_path: Path) -> None:
    assert can_run(b"")
    assert not can_run(b"x" * (MOST_INPUT + 1))
    script = (
        "import os, sys\nfrom admit.repository.process import ask\nfrom admit.repository.spawn import can_run\n"
        "os.close(0)\nassert not can_run(b'')\nassert ask('.', 'hash-object', '--stdin', stdin=b'').exit_code == 0\n"
    )
    assert subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=False).returncode == 0
