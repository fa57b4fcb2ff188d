"""Expressions that may stand for more than what is seen: what a variable is that anything may change."""

from collections.abc import Set

from fledgling.worker.graph.tables import NONE, Expression, Op

Variable = tuple[int, int]  # its scope and its name; any of a scope where the name is NONE


def doubt_variables(expressions: list[Expression], variables: Set[Variable]) -> None:
    """Let variables, and what is followed in them, stand for all that they are bound to, or for what nobody knows."""
    before = [*expressions] if variables else []
    anywhere = {scope for scope, name in variables if name == NONE}
    for at, expression in enumerate(before):
        scope, name = _variable(before, at)
        if scope == NONE or ((scope, name) not in variables and scope not in anywhere):
            continue
        if expression[0] == Op.NAME:
            _doubt(expressions, at, (Op.NAME, name, scope, None))
        elif expression[0] == Op.REACH:
            _doubt(expressions, at, expression)


def _doubt(expressions: list[Expression], at: int, expression: Expression) -> None:
    """Let an expression stand for another one, or for what nobody knows."""
    expressions.append(expression)
    expressions.append((Op.CHOICE, [len(expressions) - 1, 0]))
    expressions[at] = (Op.UNSURE, len(expressions) - 1)


def _variable(expressions: list[Expression], at: int) -> Variable:
    """The variable that `$a->b["c"]` begins with, where what is put there is followed."""
    expression = expressions[at]
    while expression[0] == Op.REACH:
        expression = expressions[expression[3]]
        while expression[0] in (Op.GET, Op.INDEX):
            expression = expressions[expression[1]]
    return (expression[2], expression[1]) if expression[0] == Op.NAME else (NONE, NONE)
