"""How far work on a graph is: a broker ends an indexer that says nothing for too long."""

from collections.abc import Callable

Tell = Callable[[int], None]  # of files that are done; again and again while one is at work


def unheard(_: int) -> None:
    """Take no notice of how far work is."""
