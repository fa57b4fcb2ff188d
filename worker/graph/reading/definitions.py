"""How functions become scopes, and their parameters and results what those hold."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from fledgling.worker.graph.reading.builder import Builder, visits
from fledgling.worker.graph.reading.call_expressions import of_type
from fledgling.worker.graph.reading.constness import gives_place, said_before
from fledgling.worker.graph.reading.expressions import of_brackets
from fledgling.worker.graph.reading.labels import (
    BEHIND,
    BIND,
    BITS,
    BODY,
    DEFINED,
    INIT,
    IS_ASSIGN,
    IS_GET,
    IS_NAME,
    IS_PARAM,
    KEY,
    OF,
    RECEIVER,
    REST_TYPE,
    RETURNS,
    ROLES,
    VALUE,
    WORD,
)
from fledgling.worker.graph.reading.made_members import note_class
from fledgling.worker.graph.reading.parameters import bind_implicit, bind_parameters, parameter
from fledgling.worker.graph.reading.paths import names_of, path_to
from fledgling.worker.graph.reading.reduced import Reduced
from fledgling.worker.graph.reading.told_types import comment_before, note_templates, told_instead, told_type
from fledgling.worker.graph.tables import KEPT, NONE, OF_ITSELF, SIGNATURE, Binding, Flag, Op, ScopeKind, Use

BASE, DECORATOR, CONSTRUCTOR = BITS["base"], BITS["decorator"], BITS["constructor"]
SAID: dict[int, int] = {  # a flag of a function, by the role that says it
    BITS[role]: getattr(Flag, role.upper()) for role in ROLES if hasattr(Flag, role.upper())
}
POINTS, CONTAINER, CAPTURED, FRESH = (BITS[role] for role in ("points", "container", "captured", "fresh"))
TEMPLATED = BITS["templated"]
EXTENSION_OF, RECEIVER_TYPE = BITS["extension_of"], BITS["receiver_type"]
OF_HEAD = BITS["of_head"]
IS_TRY, ENDS = BITS["try"], BITS["handler"] | BITS["finally"]
LABEL = re.compile(rb"(?<!\w)(\w++)@\s*+\Z")  # of Kotlin, before a lambda
MAX_LABEL = 100  # bytes before a lambda in which its label is looked for
WORDS = re.compile(r"\w+")
POINTING = ("operator->", "operator*", "operator()", "operator[]")


@visits("function")
def function(builder: Builder, node: int, _use: int) -> int:
    """`def a(b): c`"""
    return define_function(builder, node, [], builder.first_line(node))


@visits("lambda")
def lambda_(builder: Builder, node: int, _use: int) -> int:
    """`lambda a: b`"""
    labels = builder.tree.labels[node]
    flags = Flag.IS_BLOCK if labels & BEHIND else Flag.SINGLE | Flag.HEADED if labels & BITS["head"] else 0
    return builder.add(Op.FUNCTION, read_function(builder, node, ScopeKind.LAMBDA, NONE, builder.line(node), flags))


def parameters_of(tree: Reduced, node: int) -> list[int]:
    """The nodes of the parameters of a function; `a = b` is one with a default value, and no assignment."""
    found = [kid for kid in tree.kids[node] if tree.labels[kid] & IS_PARAM]
    for kid in found:
        tree.unsay(kid, IS_ASSIGN)
    return [kid for kid in found if tree.kind(kid) == IS_PARAM]


def read_function(builder: Builder, node: int, kind: int, name: int, line: int, flags: int, named: int = NONE) -> int:
    """Read the parameters and the body of a function; return its scope."""
    tree = builder.tree
    parameters = parameters_of(tree, node)
    rows, returns = [], NONE
    result = (tree.having(node, RETURNS) or [NONE])[-1]  # `auto a() -> B`
    if not builder.dialect.types_inside:
        rows = [parameter(builder, kid, node) for kid in parameters]
        returns = of_brackets(builder, node, builder.optional(result, Use.TYPE))
    captured = [(builder.visit(kid), kid) for kid in tree.having(node, CAPTURED)]
    scope = builder.enter(node, kind, name, line, flags)
    bind_itself(builder, scope, name, named)
    capture(builder, scope, captured)
    bind_described(builder, scope, node)
    body, value = body_of(tree, node), tree.first(node, VALUE)
    calling = builder.calling
    is_bare = kind == ScopeKind.LAMBDA and body == NONE and value == NONE
    if builder.dialect.types_inside:
        if not is_bare:
            read_rest(builder, node)
        rows = [parameter(builder, kid, node) for kid in parameters]
        returns = of_brackets(builder, node, builder.optional(result, Use.TYPE))
    comment = comment_before(builder, node)
    note_templates(builder, scope, comment)
    returns = told_instead(builder, result, returns, told_type(builder, comment, "return"))
    builder.scopes[scope].returns = returns
    note_types(builder, scope, parameters)
    bind_parameters(builder, scope, parameters, rows, comment)
    read_defaults(builder, node, scope)
    if is_bare:  # { a; b }
        if not parameters and builder.dialect.implicit_parameter:
            bind_implicit(builder, scope, node)
        begin_lambda(builder, scope, node)
        results = [builder.visit(kid) for kid in tree.kids[node] if kid not in parameters]
        builder.scopes[scope].returned = results[-1:]
    elif body != NONE and builder.dialect.bare_calls and not builder.tree.kind(body):
        results = [builder.visit(kid) for kid in tree.kids[body]]
        builder.scopes[scope].returned += results[-1:]
    elif body != NONE and builder.dialect.bare_calls:
        builder.scopes[scope].returned.append(builder.visit(body))
    else:
        for each in tree.having(node, BODY):  # a macro of Rust has one for each rule
            builder.body(each)
    if value not in (NONE, body):  # `a => { b; }` says both of one node, a property of C# has accessors besides
        builder.scopes[scope].returned.append(of_type(builder, value, returns))
    builder.calling = calling
    builder.scopes[scope].returned += builder.ended_with.pop(scope, [])
    builder.leave()
    return scope


def read_defaults(builder: Builder, node: int, scope: int) -> None:
    """Read the default values that stand beside parameters, and may use these: `fun f(a: A, b: B = a.b())`."""
    tree, parameters, place = builder.tree, builder.scopes[scope].parameters, -1
    for kid in tree.kids[node]:
        if tree.labels[kid] & INIT:
            value = builder.visit(kid)
            if builder.expressions[value][0] == Op.FUNCTION and 0 <= place < len(parameters):
                parameters[place].default = value
        place += bool(tree.labels[kid] & IS_PARAM)


def capture(builder: Builder, scope: int, captured: list[tuple[int, int]]) -> None:
    """Let variables of a function begin as what those around it hold: `function () use ($a) { }`."""
    for value, kid in captured:
        name = builder.name(kid)
        builder.flow.hold((scope, name), builder.bind_silently(name, scope, value, kid))


def bind_described(builder: Builder, scope: int, node: int) -> None:
    """Let `described_class` be the class that a block is handed beside: `describe A do b end`."""
    name = builder.text_of(builder.calling) if builder.dialect.declaring and builder.calling != NONE else ""
    if builder.dialect.declaring.get(name) == "described" and builder.scopes[scope].kind == ScopeKind.LAMBDA:
        for class_ in builder.handed[:1]:
            if class_ >= 0 and builder.expressions[class_][0] in (Op.BARE, Op.GET):
                builder.bind_silently(builder.named("described_class"), scope, builder.add(Op.UNSURE, class_), node)


def body_of(tree: Reduced, node: int) -> int:
    """The node of the body of a function; of Ruby it is what `begin` holds where it rescues or ensures anything."""
    body = tree.first(node, BODY)
    if body != NONE and tree.kind(body) == IS_TRY and not any(tree.labels[kid] & ENDS for kid in tree.kids[body]):
        tree.unsay(body, IS_TRY)
    return body


def begin_lambda(builder: Builder, scope: int, node: int) -> None:
    """Note what a lambda is written for, `a.apply { b() }`, before it is read."""
    builder.written_for[scope] = label_of(builder, node)
    if builder.dialect.scope_functions:
        is_for = "" if builder.calling == NONE else builder.text_of(builder.calling)
        runs_on = builder.dialect.scope_functions.get(is_for, "").startswith("this ")
        builder.scopes[scope].flags |= Flag.IMPLICIT | Flag.RUNS_ON * runs_on
    builder.calling = NONE


def label_of(builder: Builder, node: int) -> int:
    """The name by which `return@a` ends a lambda: the one before it, `a@ { b }`, or that of the function it is for."""
    before = LABEL.search(builder.tree.source, max(0, builder.tree.start[node] - MAX_LABEL), builder.tree.start[node])
    return builder.named(before[1].decode(errors="replace")) if before else builder.calling


def bind_itself(builder: Builder, scope: int, name: int, node: int) -> None:
    """Let a function that is written out see the name at a node, if it has one: `(function a() { a() })`."""
    if node != NONE and name not in builder.own[scope]:
        builder.bind_silently(name, scope, builder.add(Op.FUNCTION, scope), node, OF_ITSELF)


def note_types(builder: Builder, scope: int, parameters: list[int]) -> None:
    """Note how many type parameters a function or class has, and whether one stands in none of its parameters."""
    own, dialect = builder.generic.pop(scope, []), builder.dialect
    if not dialect.selects and not (dialect.applies_bases and builder.scopes[scope].kind == ScopeKind.FUNCTION):
        return
    builder.scopes[scope].generic = len(own)
    taken = {word for node in parameters for word in WORDS.findall(builder.tree.text(node))} if own else ()
    if dialect.selects and any(builder.text_of(name) not in taken for name in own):
        builder.scopes[scope].flags |= Flag.TYPES_NEEDED


def read_rest(builder: Builder, node: int) -> None:
    """Read what else a definition says, inside it: type parameters."""
    tree = builder.tree
    known = BODY | DEFINED | RETURNS | VALUE | WORD | BASE | DECORATOR | OF | RECEIVER_TYPE | CONTAINER | REST_TYPE
    known |= CAPTURED | INIT
    found: dict[tuple[int, int], None] = {}
    for kid in tree.kids[node]:
        if tree.kind(kid) != IS_PARAM and not tree.labels[kid] & known:
            first = len(builder.bindings)
            builder.visit(kid)
            if not tree.labels[kid] & (FRESH | BITS["field"]):  # context(a: A), class A(val b: B)
                found.update(((row.scope, row.name), None) for row in builder.bindings[first:])
                builder.type_parameters.update(found)
    if builder.dialect.typed and builder.dialect.prototypes:
        builder.only_types.update(found)
    for scope, name in found:
        if builder.text_of(name) == SIGNATURE:  # `delegate C A(B b);`
            continue
        builder.generic.setdefault(scope, []).append(name)


def name_of_function(builder: Builder, own: int, word: int, sign: str) -> int:
    """The name of a function, an operator's sign where it has no other; -1 where it has none."""
    if own != NONE:
        return builder.name(own)
    if word != NONE:
        return builder.key_name(word)
    return builder.named(sign) if sign else NONE


def define_function(builder: Builder, node: int, decorators: list[int], line: int) -> int:
    """Read a function whose definition begins on a line."""
    tree = builder.tree
    own, word = tree.first(node, DEFINED), tree.first(node, WORD)
    flags, kept = said_of(builder, node, decorators)
    named = word if own == NONE else own
    operator = tree.first(node, POINTS)
    sign = "" if operator == NONE else "".join(tree.text(operator).split())
    name = name_of_function(builder, own, word, sign)
    is_constructor = bool(tree.labels[node] & CONSTRUCTOR) and not flags & Flag.STATIC
    if is_constructor:
        name = builder.named(builder.dialect.constructors[0])
    around = builder.scope
    receiver = builder.optional(tree.first(node, RECEIVER_TYPE), Use.TYPE)
    whole = tree.first(node, CONTAINER)
    if whole != NONE:  # void A::b() {}
        with known_before(builder, node):
            receiver, named = apart(builder, whole)
        op, *parts = builder.expressions[max(receiver, 0)]
        of = parts[1] if op == Op.GET else parts[0] if op in (Op.NAME, Op.BARE) else NONE
        is_own = of == builder.name(named)
        name = builder.named(builder.dialect.constructors[0]) if is_own else builder.name(named)
    sees_itself = own == NONE and word != NONE and builder.dialect.prototypes and tree.kind(word) == IS_NAME
    interface = [builder.visit(kid, Use.TYPE) for kid in tree.having(node, BASE)]
    note_class(builder, flags, tree.first(node, BODY))
    scope = read_function(builder, node, ScopeKind.FUNCTION, name, line, flags, word if sees_itself else NONE)
    builder.scopes[scope].bases = interface
    take_components(builder, node, scope)
    at = whole if whole != NONE else named
    if at != NONE and builder.dialect.constant_methods:
        is_kept = said_before(builder, node, at) == KEPT
        builder.scopes[scope].flags |= Flag.GIVES_KEPT * is_kept | Flag.GIVES_PLACE * gives_place(builder, node, at)
    value = builder.add(Op.FUNCTION, scope)
    if kept:
        value = builder.add(Op.DECORATED, value, kept)
    if is_constructor:
        builder.bind_name(name, around, value, named, Use.DEFINITION)
    elif own != NONE and not (flags & Flag.SETTER and is_behind_getter(builder, name, around)):
        define_named(builder, node, scope, value, receiver)
    elif whole != NONE:
        define_apart(builder, scope, named, value, receiver)
    elif named != NONE:
        note_receiver(builder, node, scope, receiver)
        builder.define_member(named, value, OF_ITSELF * sees_itself)
    elif sign in POINTING:
        builder.bind_silently(builder.named(sign), around, value, operator)
    return value


def take_components(builder: Builder, node: int, scope: int) -> None:
    """Let a constructor of Java without a head take what its record does: `record A(B b) { A { } }`."""
    if builder.tree.labels[node] & OF_HEAD:
        builder.scopes[scope].parameters = [*builder.components.get(builder.scope, ())]


def is_behind_getter(builder: Builder, name: int, around: int) -> bool:
    """Whether something else gives the property of a name that a setter is of, perhaps further above: `@A.b.setter`."""
    return builder.dialect.receiver_parameter or name in builder.scopes[around].every


@contextmanager
def known_before(builder: Builder, node: int) -> Iterator[None]:
    """Let what names the class of a function mean the type parameters before it: `template <class T> A<T>::b() {}`."""
    heads = builder.tree.having(node, TEMPLATED)
    if heads:
        scope = builder.enter(NONE, ScopeKind.BLOCK, NONE, builder.line(node))
        builder.own[scope].update(builder.name(kid) for head in heads for kid in builder.tree.having(head, BIND))
    yield
    if heads:
        builder.leave()


def apart(builder: Builder, node: int) -> tuple[int, int]:
    """The expression of what stands before the last name of a path, and the node of that name."""
    tree = builder.tree
    if tree.kind(node) == IS_GET:
        return builder.optional(tree.first(node, OF)), tree.first(node, KEY)
    *before, last = names_of(builder, node) or [node]
    return path_to(builder, node, before), last


def define_named(builder: Builder, node: int, scope: int, value: int, receiver: int) -> None:
    """Bind a function by its name; a friend that a class defines, `friend void a() {}`, around the class."""
    tree, around, flags = builder.tree, builder.scope, builder.scopes[scope].flags
    own, name = tree.first(node, DEFINED), builder.scopes[scope].name
    if tree.labels[node] & BITS["hoisted"]:
        while builder.scopes[around].kind in (ScopeKind.CLASS, ScopeKind.INTERFACE):
            around = builder.scopes[around].parent
        builder.site(own, Use.DEFINITION, value, builder.bind_silently(name, around, value, own))
        return
    pass_parts(builder, own)
    if flags & Flag.OVERLOAD and builder.dialect.typed and builder.dialect.prototypes:
        builder.bind_silently(builder.named(SIGNATURE + builder.text_of(name)), around, value, own)
    binding = builder.bind(own, value, Use.DEFINITION, counts=not flags & Flag.OVERLOAD)
    extend(builder, scope, binding, receiver, takes=bool(EXTENSION_OF & said_inside(tree, node)))


def define_apart(builder: Builder, scope: int, named: int, value: int, receiver: int) -> None:
    """Bind a function that stands apart from its class; `~A` and `operator B` are nothing that a name means."""
    builder.bindings.append(Binding(NONE, builder.scopes[scope].name, value, builder.line(named)))
    if not builder.tree.labels[named] & WORD:
        builder.site(named, Use.DEFINITION, value, len(builder.bindings) - 1)
    extend(builder, scope, len(builder.bindings) - 1, receiver, takes=False)


def pass_parts(builder: Builder, named: int) -> None:
    """Note that a part of a name is no name: `a` of `def a=(b)`."""
    for part in builder.tree.kids[named]:
        builder.site(part, Use.KEYWORD, 0)


def said_of(builder: Builder, node: int, decorators: list[int]) -> tuple[int, list[int]]:
    """The flags of a function, and those of its decorators that say nothing of it."""
    tree = builder.tree
    said = tree.labels[node]
    for kid in tree.kids[node]:
        said |= 0 if tree.kids[kid] else tree.labels[kid]
    flags = sum(int(flag) for role, flag in SAID.items() if said & role)
    may_lack = builder.dialect.bare_calls or flags & (Flag.OVERLOAD | Flag.DECLARATION)
    if tree.first(node, BODY) == NONE and not may_lack:
        flags |= int(Flag.ABSTRACT)
    body = tree.first(node, BODY)
    if builder.dialect.says_virtual and builder.lacks_words(node, tree.end[node] if body == NONE else tree.start[body]):
        flags |= int(Flag.VIRTUAL)
    of_decorators = [builder.flag(decorator) for decorator in decorators]
    for flag in of_decorators:
        flags |= flag
    return flags, [decorator for decorator, flag in zip(decorators, of_decorators, strict=True) if not flag]


def extend(builder: Builder, scope: int, binding: int, receiver: int, *, takes: bool) -> None:
    """Make a function a member of another type, which it names, or which its first parameter is of."""
    if takes:
        builder.scopes[scope].flags |= Flag.EXTENSION | Flag.RECEIVES
        builder.members.append((builder.scopes[scope].parameters[0].type, binding))
    elif receiver != NONE:
        builder.scopes[scope].flags |= Flag.EXTENSION
        builder.members.append((receiver, binding))


def note_receiver(builder: Builder, node: int, scope: int, receiver: int) -> None:
    """Let the next binding be a member of what stands before its name: `func (a A) b() {}`, `def A.b; end`."""
    if receiver != NONE:
        builder.scopes[scope].flags |= Flag.EXTENSION
    elif RECEIVER & said_inside(builder.tree, node):
        receiver = builder.scopes[scope].parameters[0].type
    if receiver != NONE:
        builder.members.append((receiver, len(builder.bindings)))


def said_inside(tree: Reduced, node: int) -> int:
    """All roles of the nodes directly within."""
    found = 0
    for kid in tree.kids[node]:
        found |= tree.labels[kid]
    return found
