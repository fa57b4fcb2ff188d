"""The parameters of a function: their types and defaults, and the names that they bind."""

from fledgling.worker.graph.reading.builder import Builder, visits
from fledgling.worker.graph.reading.constness import note_constness
from fledgling.worker.graph.reading.expressions import of_brackets
from fledgling.worker.graph.reading.labels import (
    ARG,
    BEHIND,
    BIND,
    BITS,
    BY_NAME,
    INIT,
    IS_PARAM,
    LEFT,
    OF,
    OPTIONAL,
    REST,
    REST_TYPE,
    REST_WORDS,
    TYPE,
)
from fledgling.worker.graph.reading.targets import target
from fledgling.worker.graph.reading.told_types import told_instead, told_parameters
from fledgling.worker.graph.tables import BLOCK, NONE, Op, Parameter, Use

PATTERNS = BITS["shape"] | BITS["tuple"]
FIELD, DECORATOR = BITS["exported"], BITS["decorator"]
READ_APART = TYPE | INIT | BIND | LEFT | FIELD


def parameter(builder: Builder, node: int, function: int) -> tuple[int, int, int]:
    """The type and the default of a parameter of a function, read where that stands, and its kind."""
    tree = builder.tree
    if tree.labels[node] & TYPE:  # it has no name: `func (A) b()`
        tree.unsay(node, IS_PARAM)
    said = node if tree.labels[node] & TYPE else tree.first(node, TYPE)
    if tree.labels[node] & REST and (arrays := tree.first(function, REST_TYPE)) != NONE:
        said = tree.first(arrays, OF)
    use = Use.READ if tree.labels[node] & ARG else Use.TYPE  # A a(b);
    type_ = of_brackets(builder, node, builder.optional(said, use))
    default = builder.optional(tree.first(node, INIT))
    for kid in [] if tree.labels[node] & (TYPE | PATTERNS | BIND) else tree.kids[node]:  # `$a` of PHP is what it binds
        if tree.labels[kid] & DECORATOR:
            builder.visit(kid)
        elif not tree.labels[kid] & (READ_APART | REST | REST_WORDS):  # the parameters of `void (*a)(B)`
            builder.visit(kid, Use.TYPE)
    labels = tree.labels[node]
    if labels & OPTIONAL:
        default = max(default, 1)
    for kid in tree.kids[node]:
        labels |= tree.labels[kid] & (REST | REST_WORDS)
    rest = 1 if labels & REST else 2 if labels & REST_WORDS else 0
    return type_, default, rest


@visits("param")
def unbound(builder: Builder, node: int, _use: int) -> int:
    """A parameter of what is only declared, in the declaration of another thing: its name is nobody's."""
    type_, _, _ = parameter(builder, node, node)
    for name in binding_nodes(builder, node):
        if not builder.tree.labels[name] & LEFT:  # catch (A &b)
            builder.site(name, Use.KEYWORD, 0)
    return type_


def bind_parameters(
    builder: Builder, scope: int, nodes: list[int], rows: list[tuple[int, int, int]], comment: tuple[int, int] | None
) -> None:
    """Bind the parameters of a function that has begun; a comment may say their types."""
    tree = builder.tree
    by_name = False
    said = told_parameters(builder, comment)
    spread = [
        (node, bound, row)
        for node, row in zip(nodes, rows, strict=True)
        for bound in ([] if tree.labels[node] & PATTERNS else binding_nodes(builder, node)) or [NONE]
    ]
    for place, (node, bound, (type_, default, rest)) in enumerate(spread):
        is_block = bool(tree.labels[node] & BEHIND)
        name = builder.named(BLOCK) if is_block else builder.name(bound) if bound != NONE else NONE
        by_name = by_name or is_block
        by_reference = bool(tree.labels[node] & BITS["by_reference"])
        builder.scopes[scope].parameters.append(Parameter(name, type_, default, rest, by_name, by_reference))
        if said and bound != NONE:
            told = told_instead(builder, tree.first(node, TYPE), type_, said.get(tree.text(bound), NONE))
            builder.scopes[scope].parameters[-1].told = told if told != type_ else NONE
        by_name = by_name or rest == 1 or bool(tree.labels[node] & BY_NAME)
        value = builder.add(Op.PARAMETER, scope, place)
        if bound != NONE:
            binding = builder.bind(bound, value, Use.DEFINITION)
            note_constness(builder, node, bound, binding)
            has_site = bool(builder.sites) and builder.sites[-1].binding == binding
            if has_site and tree.first(node, FIELD) != NONE:  # `constructor(private a: T)`
                field = builder.named(tree.text(bound).removeprefix(builder.dialect.sigil))
                holder, site = builder.scopes[scope].parent, builder.sites[-1]
                held = value if type_ == NONE else builder.add(Op.DECLARED, type_, value)
                site.name, site.scope, site.binding = field, holder, builder.bind_silently(field, holder, held, node)
        elif tree.labels[node] & PATTERNS and not tree.labels[node] & TYPE:  # `function ({ a: b }) {}`
            tree.unsay(node, BITS["param"])
            target(builder, node, value)
        else:
            target(builder, tree.first(node, LEFT), value)


def block_parameter(builder: Builder, scope: int) -> int:
    """The place of the parameter that gets the block behind a call, which `yield` runs; no function has to name it."""
    name, parameters = builder.named(BLOCK), builder.scopes[scope].parameters
    if not any(each.name == name for each in parameters):
        parameters.append(Parameter(name, default=1, by_name=True))
    return next(place for place, each in enumerate(parameters) if each.name == name)


def bind_implicit(builder: Builder, scope: int, node: int) -> None:
    """Bind the parameter that a function without any has in some languages: `it`."""
    name = builder.named(builder.dialect.implicit_parameter)
    builder.scopes[scope].parameters.append(Parameter(name))
    builder.flow.hold((scope, name), builder.bind_silently(name, scope, builder.add(Op.PARAMETER, scope, 0), node))


def binding_nodes(builder: Builder, node: int) -> list[int]:
    """The nodes of the names that a parameter binds: `a, b int` binds two."""
    tree = builder.tree
    if tree.labels[node] & BIND:
        return [node]
    found = []
    for kid in tree.kids[node]:
        if tree.labels[kid] & BIND:
            found.append(kid)
        elif tree.labels[kid] & (REST | REST_WORDS):
            found += [inner for inner in tree.kids[kid] if tree.labels[inner] & BIND]
    return found
