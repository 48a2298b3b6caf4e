"""What git says of the repository: where it is, which commit, which tree, what is not committed."""

from admit.repository.git import Checkout, distance, look, resolve, toplevel, tracked

__all__ = ["Checkout", "distance", "look", "resolve", "toplevel", "tracked"]
