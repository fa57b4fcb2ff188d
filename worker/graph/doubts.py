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
        is_any = scope in anywhere and expression[0] != Op.BARE  # which may as well be a function
        if scope == NONE or not (is_any or (scope, name) in variables):
            continue
        if expression[0] == Op.NAME:
            _doubt(expressions, at, (Op.NAME, name, scope, None))
        else:
            _doubt(expressions, at, expression)


def _doubt(expressions: list[Expression], at: int, expression: Expression) -> None:
    """Let an expression stand for another one, or for what nobody knows."""
    expressions.append(expression)
    expressions.append((Op.CHOICE, [len(expressions) - 1, 0]))
    expressions[at] = (Op.UNSURE, len(expressions) - 1)


def _variable(expressions: list[Expression], at: int) -> Variable:
    """The variable that `$a->b["c"]` begins with, where what is put there is followed, or which stands alone."""
    expression = expressions[at]
    while expression[0] == Op.REACH:
        expression = expressions[expression[3]]
        while expression[0] in (Op.GET, Op.INDEX):
            expression = expressions[expression[1]]
    return variable_of(expression)


def variable_of(expression: Expression) -> Variable:
    """The variable that a name means, also one of the file alone; (NONE, NONE) for what is none."""
    op, *parts = expression
    if op not in (Op.NAME, Op.BARE):
        return NONE, NONE
    return parts[1 if op == Op.NAME else 2], parts[0]
