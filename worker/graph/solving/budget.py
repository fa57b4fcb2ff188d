"""How much of a graph may be worked out. Who only says so need not load what works it out."""

from typing import NamedTuple


class GraphBudget(NamedTuple):
    """How much may be worked out: evaluations of cells, beyond which the graph is only what was found by then."""

    evaluations: int = 20_000_000
    follows_arguments: bool = True
