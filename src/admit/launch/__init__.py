"""Run a test command as a child process and say how it ended."""

from admit.launch.child import Exit, run_child
from admit.launch.ending import Mark, run_ended

__all__ = ["Exit", "Mark", "run_child", "run_ended"]
