"""How properties of our own are tested: no clock decides, and an automated run tries the same examples each time."""

from __future__ import annotations

import os

from hypothesis import settings

for _name in [name for name in os.environ if name.startswith(("GITHUB_", "GITLAB_", "CI_"))]:
    del os.environ[_name]  # the job that tests us is no job of a repository that a test makes

settings.register_profile("admit", deadline=None, derandomize=bool(os.environ.get("CI")), print_blob=True)
settings.load_profile("admit")
