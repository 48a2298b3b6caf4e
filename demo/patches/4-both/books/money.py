"""Money in whole cents."""


def split(cents, parts):
    """Return `parts` amounts that differ by a cent at most and add up to `cents`."""
    return [cents // parts] * parts
