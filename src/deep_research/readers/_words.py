"""Sets of names, written as words on a line."""


def words(text: str) -> frozenset[str]:
    """Return the words of `text` as a set."""
    return frozenset(text.split())
