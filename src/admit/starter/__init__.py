"""What `admit init` proposes for a repository: what it found, and the files that it would write."""

from admit.starter.files import config_text, ignore_lines, waived_router
from admit.starter.look import Findings, look_at

__all__ = ["Findings", "config_text", "ignore_lines", "look_at", "waived_router"]
