"""How calls become expressions: what is called, and what it is handed."""

from collections.abc import Sequence

from fledgling.worker.graph.reading.builder import Builder, visits
from fledgling.worker.graph.reading.calls_on_classes import make, note_extended, note_replaced
from fledgling.worker.graph.reading.declared_methods import note_declared
from fledgling.worker.graph.reading.expressions import is_generic, last_name, last_number, to_types
from fledgling.worker.graph.reading.handed_over import HandedOver, add_argument, read_part
from fledgling.worker.graph.reading.labels import (
    ARG,
    ARGS,
    BITS,
    IS_CALL,
    IS_GET,
    IS_INDEX,
    IS_NEW,
    IS_TEXT,
    KEY,
    MAKES,
    OF,
    TYPE,
    VALUE,
)
from fledgling.worker.graph.reading.last_operands import put_in_place
from fledgling.worker.graph.reading.made_texts import of_places
from fledgling.worker.graph.reading.named_callbacks import note_callbacks
from fledgling.worker.graph.reading.named_fixtures import note_fixtures
from fledgling.worker.graph.reading.narrowing import hold_asserted
from fledgling.worker.graph.reading.object_literals import fill_made, literal_of
from fledgling.worker.graph.reading.open_scopes import LOCAL
from fledgling.worker.graph.reading.parameters import block_parameter
from fledgling.worker.graph.reading.put_by_call import put_by_call
from fledgling.worker.graph.reading.quoted import called_with_types
from fledgling.worker.graph.tables import A_FUNCTION, MADE, NONE, Flag, Op, ScopeKind, Use

IS_SUPER = BITS["super"]
IS_REFERENCE, ASSERTS, BASE, HANDS_ON = (BITS[role] for role in ("reference", "asserts", "base", "hands_on"))
HOLDING = ("elements", "mapped")
UNTYPED = (Op.UNKNOWN, Op.MADE, Op.TEXT)  # what `var` is read as
CALLING = (Use.CALL, Use.DECORATOR)


@visits("call")
def call(builder: Builder, node: int, use: int) -> int:
    """`a(b, c=d)`"""
    if builder.tree.labels[node] & MAKES:
        make(builder, node)
    if builder.dialect.calls_last and put_in_place(builder.tree, node):
        return builder.visit(node, use)
    if builder.tree.labels[node] & IS_REFERENCE:
        return not_called(builder, node)
    if builder.dialect.signs and is_object_called(builder, node):
        return object_called(builder, node)
    at = called(builder, node, Op.CALL, use)
    if builder.tree.labels[node] & ASSERTS:
        hold_asserted(builder, node)
    return at


def is_object_called(builder: Builder, node: int) -> bool:
    """Whether a call of Ruby is `a.(b)`."""
    of = builder.tree.first(node, OF)
    return of != NONE and builder.tree.first(node, KEY) == NONE and builder.tree.kind(of) != IS_SUPER


def object_called(builder: Builder, node: int) -> int:
    """`a.(b)`, of Ruby: the method `call` of a."""
    of = builder.tree.first(node, OF)
    function = builder.add(Op.GET, builder.visit(of), builder.named("call"))
    return call_of(builder, node, function, [kid for kid in builder.tree.kids[node] if kid != of])


def not_called(builder: Builder, node: int) -> int:
    """`a(...)` of PHP: the function itself."""
    of, key = builder.tree.first(node, OF), builder.tree.first(node, KEY)
    at = builder.optional(of, Use.CALL) if key == NONE else member_called(builder, of, key, Op.CALL)
    if builder.sites and builder.sites[-1].at == at:
        builder.sites[-1].use, builder.sites[-1].at = Use.READ, builder.add(Op.ALIAS, at)
    return at


@visits("called_by_name")
def called_by_name(builder: Builder, node: int, _use: int) -> int:
    """`$a->$b()`"""
    tree = builder.tree
    of, name = tree.first(node, OF), tree.first(node, VALUE)
    function = builder.add(Op.NAMED, builder.optional(of), builder.optional(name))
    return call_of(builder, node, function, [kid for kid in tree.kids[node] if kid not in (of, name)])


@visits("block_call")
def block_call(builder: Builder, node: int, _use: int) -> int:
    """`yield a`, of Ruby: the method around runs the block behind its call."""
    frame = builder.frame
    while builder.scopes[frame].kind == ScopeKind.LAMBDA:
        frame = builder.scopes[frame].parent
    is_there = builder.scopes[frame].kind == ScopeKind.FUNCTION
    function = builder.add(Op.PARAMETER, frame, block_parameter(builder, frame)) if is_there else 0
    return call_of(builder, node, function, builder.tree.kids[node])


def call_of(builder: Builder, node: int, function: int, beside: Sequence[int]) -> int:
    """Read the call of a function that no name stands for, with what stands beside it."""
    given = HandedOver([], [], [])
    for kid in beside:
        read_part(builder, kid, function, given)
    at = given.put(builder.add(Op.CALL, function, given.arguments, given.words))
    builder.site_of_call(node, at)
    return at


@visits("new")
def new(builder: Builder, node: int, use: int) -> int:
    """`new A(b)`"""
    tree = builder.tree
    of, handing = tree.first(node, OF), tree.having(node, HANDS_ON)
    further = [kid for kid in tree.having(node, BASE) if kid != of]
    tree.kids[node] = [kid for kid in tree.kids[node] if kid not in further]
    at = called(builder, node, Op.NEW, use)
    fill_made(builder, node, at)
    op, *parts = builder.expressions[at]
    if op == Op.NEW and builder.expressions[parts[0]][0] == Op.CLASS:  # object : A(), B by c { }
        scope = builder.scopes[builder.expressions[parts[0]][1]]
        scope.bases += [builder.visit(kid, Use.INHERIT) for kid in further]
        scope.flags |= Flag.HANDS_ON if handing else 0
    if op == Op.NEW:
        builder.mean_type(parts[0])
        for applied_to in parts[3:]:
            key, *some = builder.expressions[builder.expressions[applied_to][2]]
            builder.apply(parts[0], len(some[0]) if key == Op.TUPLE else 1)
    return at


@visits("initializer")
def initializer(builder: Builder, node: int, use: int) -> int:
    """`A() : B(c), d(e)`: of a base or of the class itself; `d` may be a field, and then its class is asked."""
    return called(builder, node, Op.NEW, use)


def of_type(builder: Builder, node: int, type_: int) -> int:
    """Read the value of what has a declared type, if there is one: it is the class of `new()`."""
    tree = builder.tree
    if type_ == NONE or node == NONE or tree.kind(node) != IS_NEW or tree.first(node, OF) != NONE:
        return builder.optional(node)
    at = called(builder, node, Op.NEW, Use.READ, type_)
    fill_made(builder, node, at)
    return at


def called(builder: Builder, node: int, op: int, use: int, declared: int = NONE) -> int:
    """A call, of a class where the language says so: of a type, where it names none."""
    tree = builder.tree
    of, key = tree.first(node, OF), tree.first(node, KEY)
    before = len(builder.sites)
    if is_behind_call(builder, node, of):
        return with_further(builder, node, of)
    after, types = NONE, list[int]()
    if key != NONE:
        function = member_called(builder, of, key, op)
    elif of != NONE and (is_generic(builder, of) or (op == Op.NEW and tree.kind(of) == IS_INDEX and tree.kids[of])):
        of_class, *applied_to = tree.kids[of]  # new A<B>(), a<B>()
        function = builder.visit(of_class, Use.CALL)
        after = len(builder.sites) - 1
        types = [builder.visit(type_, Use.TYPE) for type_ in applied_to]
    else:
        function = builder.optional(of, use if use == Use.DECORATOR else Use.CALL)
    if is_super(builder, function):
        inner = [builder.visit(part) for kid in tree.kids[node] for part in tree.kids[kid]]
        return builder.add(Op.SUPER, builder.frame, inner[0] if len(inner) > 1 else NONE)
    function = max(or_function(builder, function, op), declared, 0)  # a broken text may lack it
    types = builder.applied.pop(function, types)
    site = len(builder.sites) - 1 if after == NONE else after
    given = HandedOver([], [], [], called_with_types(builder, function))
    made = function
    takes_types = builder.dialect.typed and (op == Op.CALL or builder.dialect.applies_bases)
    around = builder.calling, builder.handed
    builder.calling, builder.handed = last_number(builder, function), given.arguments
    begun = len(builder.sites)
    literal, builder.literal = builder.literal, literal_of(builder, op, function)
    for kid in tree.kids[node]:
        if takes_types and kid not in (of, key) and tree.labels[kid] & (TYPE | ARG | ARGS) == TYPE:  # `a.<B>c()`
            types.append(builder.visit(kid, Use.TYPE))
        elif kid not in (of, key):
            made = read_part(builder, kid, made, given)
    (builder.calling, builder.handed), builder.literal = around, literal
    note_replaced(builder, node, function, given.arguments)
    note_extended(builder, node, of, given.arguments)
    if builder.dialect.rebinds and last_name(builder, function).lower() in builder.dialect.rebinds:
        builder.aliased.add((builder.frame, NONE))
    note_fixtures(builder, node, function)
    note_callbacks(builder, node, function)
    note_declared(builder, node, function, given.arguments)
    put_by_call(builder, node, function, given.arguments, given.words)
    at = add_call(builder, given, op, made, [to_types(builder, function, types)] if types else [])
    tell_call(builder, node, function, site, at)
    if builder.dialect.instantiates and builder.expressions[function][0] == Op.INDEX:
        note_instantiated(builder, function, before, at)
    gives = of_macro(builder, of, begun, at) if builder.dialect.macros else of_format(builder, of, at)
    return of_applied(builder, function, types, at) if types else gives


def add_call(builder: Builder, given: HandedOver, op: int, made: int, applied: list[int]) -> int:
    """Add the expression of a call, which variables hold that it declares."""
    variables = take_declared(builder, given.arguments) if builder.dialect.selects == "nearest" else []
    at = given.put(builder.add(op, made, given.arguments, given.words, *applied))
    for variable, place in variables:
        _, type_, _ = builder.expressions[variable]
        builder.expressions[variable] = Op.DECLARED, type_, builder.add(Op.GIVEN_BACK, at, place)
    return at


def take_declared(builder: Builder, arguments: list[int]) -> list[tuple[int, int]]:
    """Take variables that a call declares, `f(out var a)`, out of its arguments; return what they hold, and where.

    What they hold is told by the call, and does not tell which function that means.
    """
    found = list[tuple[int, int]]()
    for place, argument in enumerate(arguments):
        op, *parts = builder.expressions[max(argument, 0)]
        declared = builder.expressions[parts[0]] if op == Op.ADDRESSED else (NONE,)
        if declared[0] == Op.DECLARED and declared[2] == NONE and builder.expressions[declared[1]][0] in UNTYPED:
            found.append((parts[0], place))
            arguments[place] = builder.add(Op.ADDRESSED, builder.add(*declared))
    return found


def tell_call(builder: Builder, node: int, function: int, site: int, call: int) -> None:
    """Let the name of a function stand for its call, or a site without a name."""
    is_named = builder.expressions[function][0] in (Op.NAME, Op.GET, Op.REACH, Op.BARE, Op.UNSURE, Op.CALLED)
    if site >= 0 and is_named and builder.sites[site].at == function and builder.sites[site].use in CALLING:
        builder.sites[site].at = call
    else:
        builder.site_of_call(node, call)


def note_instantiated(builder: Builder, function: int, before: int, call: int) -> None:
    """Let the name before the brackets of `f[A]()` stand for the call, which it is if f turns out to be a function."""
    of = builder.expressions[function][1]
    sites = builder.sites[before:]
    for site in [site for site in sites if site.at == of and site.use == Use.READ][:1]:
        site.at = call


def holds_others(builder: Builder, function: int) -> bool:
    """Whether a class of TypeScript's own is called that holds what its types say: `Map`, `Set`."""
    op, *parts = builder.expressions[function]
    is_outside = builder.dialect.prototypes and op == Op.NAME and parts[1] == NONE
    return is_outside and builder.dialect.types.get(builder.text_of(parts[0])) in HOLDING


def of_format(builder: Builder, callee: int, at: int) -> int:
    """What a call gives by its callee: a text of which the ends are known, `"a_{}".format(b)`, or what it is itself."""
    tree = builder.tree
    text = tree.first(callee, OF) if callee != NONE and tree.kind(callee) == IS_GET else NONE
    is_format = text != NONE and tree.kind(text) == IS_TEXT and tree.text(tree.first(callee, KEY)) == "format"
    made = of_places(builder, tree.text(text), "format") if is_format else MADE
    return at if made == MADE else made


def of_applied(builder: Builder, function: int, types: list[int], at: int) -> int:
    """What a call of a function gives that is applied to types: `static_cast<A*>(b)`, `new Map<A, B>()`."""
    type_ = types[0]
    if builder.expressions[at][0] == Op.NEW and holds_others(builder, function):
        return builder.add(Op.DECLARED, to_types(builder, function, types), at)
    name = last_name(builder, function)
    if name in builder.dialect.casts:
        return builder.add(Op.DECLARED, type_, NONE)
    if name in builder.dialect.parses:  # of any class that has one, also of the project
        return builder.add(Op.CHOICE, [at, builder.add(Op.LIST, [builder.add(Op.DECLARED, type_, NONE)], True)])
    is_pointer = name in builder.dialect.pointers
    return builder.add(Op.CAST, builder.add(Op.INDEX, function, type_), at) if is_pointer else at


@visits("applied")
def applied(builder: Builder, node: int, use: int) -> int:
    """`a<B>`, a function"""
    first, *types = builder.tree.kids[node]
    read = [builder.visit(type_, Use.TYPE) for type_ in types]
    at = builder.visit(first, use)
    if use == Use.CALL and read:
        builder.applied[at] = read
    return at


def is_behind_call(builder: Builder, node: int, of: int) -> bool:
    """Whether a call has but a lambda, behind another one: `a(b) { c }` is one call in Kotlin."""
    tree = builder.tree
    others = [kid for kid in tree.kids[node] if kid != of]
    is_call = of != NONE and tree.kind(of) == IS_CALL
    return is_call and bool(others) and all(tree.labels[kid] & ARG and not tree.labels[kid] & ARGS for kid in others)


def with_further(builder: Builder, node: int, of: int) -> int:
    """The call that another one goes on with: what stands behind it are further arguments."""
    at = builder.visit(of, Use.CALL)
    if builder.expressions[at][0] != Op.CALL:
        return at
    _, function, arguments, words, *_ = builder.expressions[at]
    given = HandedOver(arguments, words, [])
    around, builder.calling = builder.calling, last_number(builder, function)
    for kid in builder.tree.kids[node]:
        if kid != of:
            add_argument(builder, kid, given)
    builder.calling = around
    return given.put(at)


def of_macro(builder: Builder, callee: int, begun: int, call: int) -> int:
    """What a call gives, or what reads as one and is a macro: what its argument holds, `ready!(a)`, or nobody knows.

    The names that a macro gets are only likely; those of one within are already.
    """
    tree = builder.tree
    if callee == NONE or not tree.source.startswith(b"!", tree.end[callee]):
        return call
    macro = tree.text(callee).rpartition("::")[2]
    if macro in builder.dialect.macros:
        for site in builder.sites[begun - 1 : begun]:  # its name may be one of a function of the project, too
            is_bound = site.at > MADE and (site.name in builder.own[0] or site.name in builder.own[builder.frame])
            site.at = builder.add(Op.UNSURE, site.at) if is_bound and site.binding == NONE else site.at
        return call
    for site in builder.sites[max(begun, builder.in_macros) :]:
        if site.at > MADE and site.binding == NONE and builder.expressions[site.at][0] != Op.TOKEN:
            site.at = builder.add(Op.IN_MACRO, site.at)
    builder.in_macros = len(builder.sites)
    arguments = builder.expressions[call][2]
    is_known = macro in builder.dialect.unwrapping and len(arguments) == 1
    return builder.add(Op.UNSURE, builder.add(Op.ELEMENT, arguments[0])) if is_known else 0  # by its name alone


def member_called(builder: Builder, of: int, key: int, op: int) -> int:
    """What is called in `a.b()`, where no node holds `a.b` alone, or in `b()`."""
    part = builder.name(key)
    if of != NONE:
        at = builder.add(Op.GET, builder.visit(of), part)
    else:  # a variable of that name is not what is called
        means = (A_FUNCTION,) if op == Op.CALL and not builder.dialect.bare_calls else ()
        at = builder.add(Op.BARE, part, builder.asked_from(part), 0 if part in builder.own[0] else NONE, *means)
    builder.site(key, Use.CALL, at)
    return at


def or_function(builder: Builder, function: int, call: int) -> int:
    """What `a()` calls where a is a variable: that, or a function further out, which has no part in it otherwise."""
    dialect = builder.dialect
    if not (dialect.functions_apart and dialect.bare_members) or function < 0:
        return function
    op, *parts = builder.expressions[function]
    is_field = op == Op.BARE and call == Op.CALL and len(parts) == 3 and builder.is_field_around(parts[0])
    if not is_field and (op != Op.NAME or parts[1] == NONE or builder.scopes[parts[1]].kind not in LOCAL):
        return function
    held = [builder.expressions[builder.bindings[at].value][0] for at in parts[2] or ()] if op == Op.NAME else []
    if Op.FUNCTION in held or not builder.sites or builder.sites[-1].at != function:
        return function
    means = (A_FUNCTION,) if is_field else ()
    outer = builder.add(Op.BARE, parts[0], builder.scope, 0 if parts[0] in builder.own[0] else NONE, *means)
    builder.sites[-1].at = builder.add(Op.CALLED, function, outer)
    return builder.sites[-1].at


def is_super(builder: Builder, function: int) -> bool:
    """Whether a function is the one that means the class above."""
    expression = builder.expressions[function]
    is_free = expression[0] == Op.NAME and expression[2] == NONE
    return is_free and builder.text_of(expression[1]) == builder.dialect.super_function
