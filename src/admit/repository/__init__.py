"""What git says of the repository: where it is, which commit, what a patch changes, what is not committed."""

from admit.repository.git import Checkout, distance, edited, is_commit, look, resolve, toplevel, tracked, tree_of
from admit.repository.patch import Change, blob, blobs, changes, is_link, merge_base, names, trailers

__all__ = [
    "Change",
    "Checkout",
    "blob",
    "blobs",
    "changes",
    "distance",
    "edited",
    "is_commit",
    "is_link",
    "look",
    "merge_base",
    "names",
    "resolve",
    "toplevel",
    "tracked",
    "trailers",
    "tree_of",
]
