"""Which tests a patch reaches: the map that a run on the base leaves, and the question to it (contract section 5)."""
