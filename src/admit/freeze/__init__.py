"""Freezes: reviewed, expiring declarations that one node's verdict is inadmissible for now (contract section 4)."""
