"""What a patch must not be able to move: the instrument, its canaries, who may approve (contract section 7)."""
