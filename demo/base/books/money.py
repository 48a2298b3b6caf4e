"""Money in whole cents."""


def split(cents, parts):
    """Return `parts` amounts that differ by a cent at most and add up to `cents`."""
    share, rest = divmod(cents, parts)
    return [share + 1] * rest + [share] * (parts - rest)
