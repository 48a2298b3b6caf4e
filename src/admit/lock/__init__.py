"""The fixture lock: what tests read is pinned by digest, and checked as a step of its own (contract section 6).

`check.check` and `write.write` are the two commands; `report.lock_state_of` answers for one node.
"""

from __future__ import annotations
