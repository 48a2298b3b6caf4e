"""The append-only memory of what was decided (contract G1)."""
