"""The two-commit proof: what a test does on a patch and on its parent, and what that shows (contract section 8)."""
