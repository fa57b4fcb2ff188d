"""What a call of Python puts into fields by their names: `vars(a).update(b=c)`, `object.__setattr__(a, "b", c)`."""

from fledgling.worker.graph.reading.builder import Builder
from fledgling.worker.graph.tables import NONE, Op, Write

OWN_CLASS = "__class__"
Pairs = list[tuple[int, int]]  # expressions of keys, or names, and of values


def put_by_call(builder: Builder, node: int, function: int, arguments: list[int], words: Pairs) -> None:
    """Note what a call puts into fields."""
    op, *parts = builder.expressions[function]
    if op not in (Op.GET, Op.NAME) or not builder.dialect.variables:
        return
    called = builder.text_of(parts[1] if op == Op.GET else parts[0])
    if op == Op.GET and called == "update":
        of = _whose(builder, parts[0])
        for at in arguments[:1] if of != NONE else ():
            put_all(builder, node, of, at)
        for word, value in words if of != NONE else ():
            _put(builder, node, of, word, value)
    elif len(arguments) == 3 and min(arguments) >= 0:
        of, key, value = arguments
        name = _text(builder, key)
        is_class = called == "setattr" and name != NONE and builder.text_of(name) == OWN_CLASS
        if is_class or (op == Op.GET and called == "__setattr__"):
            _put(builder, node, of, name, value)


def put_all(builder: Builder, node: int, of: int, at: int) -> None:
    """Note that a dictionary that is written out is put into the fields of an expression."""
    op, *parts = builder.expressions[at] if at >= 0 else (Op.UNKNOWN,)
    for key, value in parts[0] if op == Op.DICT else ():
        _put(builder, node, of, NONE if key == NONE else _text(builder, key), value)


def _put(builder: Builder, node: int, of: int, name: int, value: int) -> None:
    if name != NONE:
        builder.writes.append(Write(of, name, NONE, value, builder.line(node)))


def _text(builder: Builder, at: int) -> int:
    """The name that a text is, or -1."""
    op, *parts = builder.expressions[at]
    return int(parts[0]) if op == Op.TEXT else NONE


def _whose(builder: Builder, at: int) -> int:
    """Of what an expression has the fields behind keys: a in `vars(a)` and `a.__dict__`; -1 where it has none."""
    op, *parts = builder.expressions[at]
    if op == Op.GET and builder.text_of(parts[1]) in builder.dialect.variables:
        return int(parts[0])
    if op == Op.CALL and len(parts[1]) == 1 and parts[1][0] >= 0:
        how, *of = builder.expressions[parts[0]]
        return parts[1][0] if how == Op.NAME and builder.text_of(of[0]) in builder.dialect.variables else NONE
    return NONE
