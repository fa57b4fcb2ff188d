"""Operators of Ruby, which call the methods whose names they are: `a << b`, `!a`, `a[b]`, `a.b += c`."""

import re
from collections.abc import Sequence

from fledgling.worker.graph.reading.builder import Builder
from fledgling.worker.graph.tables import MADE, NONE, Op, Use

AROUND = b"() \t\r\n\\"  # what may stand beside an operator
WRITTEN_OUT = (Op.MADE, Op.TEXT, Op.NUMBER)
FAR = 32  # bytes beside an operand in which an operator stands
BEFORE = re.compile(rb"^[ \t\r\n\\)]*+([!%&*+/<=>^|~-]++)(?![!%&*+/<=>^|~-])")
BEHIND = re.compile(rb"([!%&*+/<=>^|~-]++)[ \t\r\n\\(]*+$")
JOINING = ("+", "|")  # of two lists these make one
NEGATED = {"!=": "==", "!~": "=~"}  # what an operator calls where a class has no other method for it


def called_by_sign(builder: Builder, node: int, operands: Sequence[int]) -> int:
    """`a << b`, `-a`: what the method gives whose name the operator is; -1 where none is known."""
    tree = builder.tree
    kids = tree.kids[node]
    if len(operands) == 2:
        return called_between(builder, kids[0], kids[1], operands[0], operands[1])
    if len(operands) != 1:
        return NONE
    start = tree.start[node]
    sign = tree.source[start : tree.start[kids[0]]].strip(AROUND).decode(errors="replace")
    method = builder.dialect.prefixes.get(sign)
    if method == sign:
        return _called(builder, start, method, operands)
    if not method:
        return called_beside(builder, node, operands[0])
    return runs_unnamed(builder, start, method, operands[0])


def called_beside(builder: Builder, node: int, operand: int) -> int:
    """The same of an operator of which one side is nothing that is read: `a << <<~TEXT`, `@@a << b`."""
    tree = builder.tree
    kid = tree.kids[node][0]
    is_first = tree.start[kid] == tree.start[node]
    if is_first:
        start, end = tree.end[kid], min(tree.end[node], tree.end[kid] + FAR)
    else:
        start, end = max(tree.start[node], tree.start[kid] - FAR), tree.start[kid]
    found = (BEFORE if is_first else BEHIND).search(tree.source[start:end])
    sign = found[1].decode() if found else ""
    if not found or sign not in builder.dialect.signs:
        return NONE
    return _called(builder, start + found.start(1), sign, [operand, MADE] if is_first else [0, operand])


def called_between(builder: Builder, left: int, right: int, of: int, value: int) -> int:
    """The same of what stands between two nodes: also `+` in `a += b`."""
    source, start = builder.tree.source, builder.tree.end[left]
    between = source[start : builder.tree.start[right]]
    start += len(between) - len(between.lstrip(AROUND))
    sign = between.strip(AROUND).decode(errors="replace")
    if sign not in builder.dialect.signs:
        sign = sign.removesuffix("=")
    if sign not in builder.dialect.signs or builder.expressions[of][0] in WRITTEN_OUT:
        return NONE
    at = _called(builder, start, sign, [of, value])
    if negated := NEGATED.get(sign):
        runs_unnamed(builder, start, negated, builder.add(Op.UNSURE, of))
    return builder.add(Op.CHOICE, [of, value], builder.named(sign)) if sign in JOINING else at


def note_each(builder: Builder, node: int, of: int) -> None:
    """Note that `for a in b` calls the method `each` of b, which is at a node."""
    if builder.dialect.signs:
        runs_unnamed(builder, builder.tree.start[node], "each", of)


def runs_unnamed(builder: Builder, start: int, method: str, of: int) -> int:
    """Note that a method is called which does not stand at a byte of the text: `-@`, `each` of a loop."""
    builder.named("")  # which its row has
    at = builder.add(Op.OPERATED, [of], builder.named(method))
    builder.site_at(start, builder.named(method), Use.OPERATOR, at)
    return at


def _called(builder: Builder, start: int, method: str, operands: Sequence[int]) -> int:
    """The call of a method of the first operand, whose name stands at a byte of the text."""
    of, *arguments = operands
    name = builder.named(method)
    at = builder.add(Op.CALL, builder.add(Op.GET, of, name), arguments, [])
    builder.site_at(start, name, Use.CALL, at)
    return at
