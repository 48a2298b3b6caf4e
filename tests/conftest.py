"""How properties of our own are tested: no clock decides, and an automated run tries the same examples each time."""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("admit", deadline=None, derandomize=bool(os.environ.get("CI")), print_blob=True)
settings.load_profile("admit")
