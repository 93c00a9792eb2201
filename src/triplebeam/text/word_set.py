"""Sets of words, written as a text that a person can read."""


def word_set(listing: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(listing.split())
