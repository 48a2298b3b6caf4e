"""What git says of the repository: where it is, which commit, which tree, what is not committed."""

from admit.repository.git import Checkout, distance, edited, look, resolve, toplevel, tracked

__all__ = ["Checkout", "distance", "edited", "look", "resolve", "toplevel", "tracked"]
