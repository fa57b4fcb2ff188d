"""Two orders of the same files as one: reciprocal rank fusion, which compares no scores.

See Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning Methods",
SIGIR 2009.
"""

from collections.abc import Sequence

from fledgling.worker.ranking.rank import RankedFile

_DAMPING = 60  # how little the first rank counts beside the second: the paper's own value


def fused(ranked: Sequence[RankedFile], shares: Sequence[float | None]) -> list[RankedFile]:
    """Return files in the order of both their ranks and their shares, the largest first; one without keeps its rank.

    >>> [each.file for each in fused([RankedFile(file, 0.5, 1, 0.5) for file in (7, 9, 4)], [0.1, 0.9, 0.5])]
    [9, 7, 4]
    """
    by_share = sorted((at for at, share in enumerate(shares) if share is not None), key=lambda at: -(shares[at] or 0.0))
    ranks = {at: rank for rank, at in enumerate(by_share)}
    scores = [1 / (_DAMPING + at) + 1 / (_DAMPING + ranks.get(at, at)) for at in range(len(ranked))]
    return [ranked[at] for at in sorted(range(len(ranked)), key=lambda at: (-scores[at], at))]
