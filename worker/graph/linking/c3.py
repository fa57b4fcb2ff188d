"""C3, the order in which Python looks members up (https://www.python.org/download/releases/2.3/mro/)."""


def merged(orders: list[list[int]], most: int) -> list[int]:
    """The first `most` classes of some orders as one: each time the first head in no tail, or the first if all are.

    >>> merged([[3, 1], [2, 1], [3, 2]], 10)
    [3, 2, 1]
    """
    todo = [list(reversed(order)) for order in orders if order]
    found: list[int] = []
    seen: set[int] = set()
    in_tail: dict[int, int] = {}
    for order in todo:
        for at in order[:-1]:
            in_tail[at] = in_tail.get(at, 0) + 1
    while todo and len(found) < most:
        head = next((order[-1] for order in todo if not in_tail.get(order[-1])), todo[0][-1])
        if head not in seen:
            seen.add(head)
            found.append(head)
        for order in todo:
            if order[-1] == head:
                order.pop()
                if order:
                    in_tail[order[-1]] -= 1
        todo = [order for order in todo if order]
    return found
