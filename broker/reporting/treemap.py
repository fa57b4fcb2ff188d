"""Where the rectangles of a treemap stand: areas are in the proportion of weights, and nothing overlaps.

Bruls, Huizing, van Wijk: Squarified Treemaps (2000).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

HEAD = 15.0  # pixels above the children of a directory, for its name
GAP = 2.0  # pixels between a directory's frame and what is in it
FRAMED_WIDTH, FRAMED_HEIGHT = 70.0, 46.0  # pixels; a smaller directory is drawn without what is in it
LEAST_AREA = 90.0  # square pixels; smaller pieces of one directory are drawn as one


class Box(NamedTuple):
    """A rectangle."""

    x: float
    y: float
    width: float
    height: float

    @property
    def area(self) -> float:
        """Square pixels."""
        return self.width * self.height


@dataclass
class Node:
    """A directory with what is in it, or a piece: the text of one language in it."""

    name: str
    weight: int = 0
    language: str | None = None
    children: list["Node"] = field(default_factory=list)


class Cell(NamedTuple):
    """A node that is drawn: where, how deep, and whether what is in it is drawn too."""

    node: Node
    path: str
    box: Box
    depth: int
    is_framed: bool


def squarified(weights: Sequence[float], box: Box) -> list[Box]:
    """Return a box for each weight, in the same order; they fill `box`. The best order is the largest first.

    >>> squarified([3, 1], Box(0, 0, 4, 1))
    [Box(x=0, y=0.0, width=3.0, height=1.0), Box(x=3.0, y=0.0, width=1.0, height=1.0)]
    """
    boxes: list[Box] = []
    total = float(sum(weights))
    start = 0
    while start < len(weights) and total > 0:
        side = min(box.width, box.height)
        scale = box.area / total
        end, inside = start + 1, float(weights[start])
        worst = _worst(weights[start], weights[start], inside, scale, side)
        while end < len(weights):
            wider = inside + weights[end]
            following = _worst(weights[start], weights[end], wider, scale, side)
            if following > worst:
                break
            worst, inside, end = following, wider, end + 1
        row, box = _row(weights[start:end], inside, total, box)
        boxes += row
        total -= inside
        start = end
    return boxes


def _worst(largest: float, smallest: float, inside: float, scale: float, side: float) -> float:
    """Return the worst of a row's proportions, as the paper has it."""
    area = inside * scale
    if not (smallest and area):
        return float("inf")
    return max(side * side * largest * scale / (area * area), area * area / (side * side * smallest * scale))


def _row(weights: Sequence[float], inside: float, total: float, box: Box) -> tuple[list[Box], Box]:
    """Lay a row along the shorter side; return its boxes, and what is left of the box."""
    boxes, before = [], 0.0
    share = inside / total
    for weight in weights:
        part = weight / inside
        if box.width >= box.height:
            boxes.append(Box(box.x, box.y + before * box.height, box.width * share, box.height * part))
        else:
            boxes.append(Box(box.x + before * box.width, box.y, box.width * part, box.height * share))
        before += part
    if box.width >= box.height:
        rest = Box(box.x + box.width * share, box.y, box.width * (1 - share), box.height)
    else:
        rest = Box(box.x, box.y + box.height * share, box.width, box.height * (1 - share))
    return boxes, rest


def tree(pieces: Sequence[tuple[str, str | None, int]]) -> Node:
    """Return the directories of pieces `(directory, language, weight)`; one that only holds another is joined to it."""
    root = Node("")
    known = {"": root}
    for directory, language, weight in pieces:
        path, at = "", root
        at.weight += weight
        for name in directory.split("/") if directory else ():
            path = f"{path}/{name}" if path else name
            if path not in known:
                known[path] = Node(name)
                at.children.append(known[path])
            at = known[path]
            at.weight += weight
        at.children.append(Node("", weight, language or ""))
    _join(root)
    return root


def _join(root: Node) -> None:
    """Join `src` that only holds `main` to `src/main`, everywhere, and put the largest first."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        while len(node.children) == 1 and node.children[0].language is None:
            [only] = node.children
            node.name = f"{node.name}/{only.name}" if node.name else only.name
            node.children = only.children
        if len(node.children) == 1:
            node.language, node.children = node.children[0].language, []
        node.children.sort(key=lambda child: (-child.weight, child.name, child.language or ""))
        waiting += node.children


def cells(root: Node, box: Box) -> Iterator[Cell]:
    """Yield what is drawn, each directory before what is in it; recursion ends where nothing more fits."""
    waiting = [(root, root.name, box, 0)]
    while waiting:
        node, path, place, depth = waiting.pop()
        inner = _inner(place, depth) if node.children else None
        if inner is None:
            yield Cell(node, path, place, depth, is_framed=False)
            continue
        yield Cell(node, path, place, depth, is_framed=True)
        children = _drawn(node, inner)
        boxes = squarified([child.weight for child in children], inner)
        for child, at in zip(children, boxes, strict=True):
            waiting.append((child, f"{path}/{child.name}".strip("/") if child.name else path, at, depth + 1))


def _inner(place: Box, depth: int) -> Box | None:
    """Return where the children of a directory stand, below its name; None where there is no room."""
    if depth == 0:
        return place
    if place.width < FRAMED_WIDTH or place.height < FRAMED_HEIGHT:
        return None
    return Box(place.x + GAP, place.y + HEAD, place.width - 2 * GAP, place.height - HEAD - GAP)


def _drawn(node: Node, inner: Box) -> list[Node]:
    """Return the children, with those that are too small to be seen as one."""
    least = LEAST_AREA / inner.area * node.weight
    seen = [child for child in node.children if child.weight >= least]
    rest = node.children[len(seen) :]
    if rest:
        seen.append(Node(f"{len(rest)} smaller", sum(child.weight for child in rest), ""))
    return seen
