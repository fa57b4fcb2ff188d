"""What a name means, alone or behind a dot."""

from collections import Counter

from fledgling.worker.graph.linking import modules
from fledgling.worker.graph.linking.project import GraphProject
from fledgling.worker.graph.reasons import LIKELY, Reason
from fledgling.worker.graph.solving.bound_members import bound_to
from fledgling.worker.graph.solving.class_members import put_over
from fledgling.worker.graph.solving.container_methods import part_of
from fledgling.worker.graph.solving.extension_members import of_any
from fledgling.worker.graph.solving.given_by_language import (
    OF_CONSTANTS,
    constants_of,
    is_in_lambda,
    made_by_language,
)
from fledgling.worker.graph.solving.lookup import bare_places, may_be_of_macro, means_type
from fledgling.worker.graph.solving.member_places import places_for
from fledgling.worker.graph.solving.members import member, of_applied
from fledgling.worker.graph.solving.operations import joined
from fledgling.worker.graph.solving.outside_types import known_type
from fledgling.worker.graph.solving.prototypes import MODULE_OBJECT
from fledgling.worker.graph.solving.renamed_extensions import with_renamed
from fledgling.worker.graph.solving.replaceable import DEFINITIONS, may_be_put_over
from fledgling.worker.graph.solving.seen_extensions import with_seen
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.solving.starred_names import starred
from fledgling.worker.graph.solving.this import this
from fledgling.worker.graph.solving.traits import of_trait, qualified
from fledgling.worker.graph.tables import NONE, TAG, Expression, Flag, Op, ScopeKind
from fledgling.worker.graph.unit import MASK, SHIFT, Unit
from fledgling.worker.graph.values import (
    BOUND,
    BUILTIN,
    CLASS,
    CONSTANT,
    CONTAINER,
    EXTERNAL,
    FUNCTION,
    MODULE,
    OBJECT,
    SPACE,
    Cell,
    Value,
    Values,
    add,
    capped,
)


def name(solver: Solver, node: int, expression: Expression) -> Values:
    """NAME: what reaches it, or what its scope holds, or what a module brings in with all its names."""
    _, own, scope, reach = expression
    base = node & ~MASK
    if reach is not None:
        return joined(solver, [(solver.project.value_of(base | at)) for at in reach], Reason.SEVERAL)
    unit = solver.project.unit(node)
    if scope != NONE:
        return dict(solver.value(("name", base | scope, unit.names[own])))
    found: Values = {}
    for cell, sure, _ in starred(solver, node, unit.names[own]):
        add(found, {(MODULE, cell[1]): sure} if cell[0] == "module" else solver.value(cell), sure)
    if not found and is_exports(solver, node, unit.facts.names[own]):
        return {(MODULE, unit.number): Reason.BOUND}
    if not found or not is_whole(solver, found):
        add(found, {(EXTERNAL, BUILTIN + unit.facts.names[own].removeprefix(TAG)): Reason.BOUND})
    return found


def is_whole(solver: Solver, values: Values) -> bool:
    """Whether a name means no more than what files declare for all: an interface may add to one of the language."""
    if max(values.values()) < LIKELY:
        return False
    return not any(value[0] == CLASS and solver.project.scope(value[1]).kind == ScopeKind.INTERFACE for value in values)


def is_exports(solver: Solver, node: int, own: str) -> bool:
    """Whether a name that no scope binds is what a module of CommonJS exports: `exports`, `module.exports`."""
    return own == "exports" and solver.project.unit(node).dialect.prototypes


def bare(solver: Solver, node: int, expression: Expression) -> Values:
    """BARE: a member of a class around, without `this`, or what a module binds."""
    found: Values = {}
    held = bare_places(solver, node, expression)
    for cell, sure, receiver in held:
        if cell[0] == "module":
            found[MODULE, cell[1]] = sure
            continue
        applied = of_applied(solver, receiver, cell[2]) if receiver and receiver[0] == OBJECT else {}
        for value, own in list((applied or solver.value(cell)).items()):
            if receiver is None:
                add(found, {value: min(own, sure)})
            else:
                add(found, bound_to(solver, receiver, value, min(own, sure), receiver[1]))
    if found or held:
        return one_class(_with_types(solver, node, expression, _type_or_variable(solver, node, expression, found)))
    return _undeclared(solver, node, expression)


def _undeclared(solver: Solver, node: int, expression: Expression) -> Values:
    """What a name means that nothing in sight declares: something outside, or of an object that is not seen."""
    dialect, word = solver.project.unit(node).dialect, solver.project.unit(node).facts.names[expression[1]]
    if (word in dialect.fields or word in dialect.derived) and (made := made_by_language(solver, node, expression)):
        return made
    if dialect.bare_calls and not word[:1].isupper() and word not in dialect.functions:
        return _of_any_self(solver, node, expression)  # what self has is known only when it runs
    if dialect.implicit_parameter and is_in_lambda(solver.project, solver.child(node, expression[2])):
        names = solver.project.unit(node).names
        if names[expression[1]] in solver.project.vocabulary.definitions:  # a receiver that is not seen may have it
            return {}
    if may_be_of_macro(solver.project, node, expression):
        return {}
    if dialect.shared == "package" and (inner := solver.spaces.inner("", word)) is not None:  # a.b.C
        return {(SPACE, inner): Reason.BOUND}
    return {(EXTERNAL, _of_library(solver.project.unit(node), word) or BUILTIN + word): Reason.BOUND}


def _of_any_self(solver: Solver, node: int, expression: Expression) -> Values:
    """What `self` has because anything has it, or any class."""
    found: Values = {}
    own = solver.project.unit(node).names[expression[1]]
    is_of_any = own in solver.classes.extensions.of_any
    for value, sure in this(solver, node, (Op.THIS, expression[2])).items() if is_of_any else ():
        add(found, of_any(solver, value, own, sure))
    return found


def _of_library(unit: Unit, word: str) -> str:
    """The full name of a class of the library whose package a file takes all names of: `import java.util.*`."""
    library = unit.dialect.library if unit.starred else None
    return library.found(word, {unit.facts.imports[which].module for which in unit.starred}) if library else ""


def _type_or_variable(solver: Solver, node: int, expression: Expression, values: Values) -> Values:
    """What a name means that a class has for a type within it and for a field: the type where one is meant."""
    types = {value: sure for value, sure in values.items() if value[0] == CLASS}
    if not types or len(types) == len(values) or not solver.project.unit(node).dialect.typed:
        return values
    if means_type(expression):
        return types
    is_hidden = solver.project.unit(node).dialect.members_of_packages  # of Java: a variable goes before a type
    return {value: sure for value, sure in values.items() if value not in types} if is_hidden else values


def _with_types(solver: Solver, node: int, expression: Expression, values: Values) -> Values:
    """Of several classes that a type names those that have as many type parameters as it is given."""
    if len(values) < 2 or not are_types_apart(solver.project, node, expression):
        return values
    return {
        at: sure for at, sure in values.items() if at[0] != CLASS or takes_types(solver.project, at[1], expression)
    } or values


def are_types_apart(project: GraphProject, node: int, expression: Expression) -> bool:
    """Whether a BARE means a type, and of one name there may be several, by their type parameters: `A` and `A<B>`."""
    return means_type(expression) and project.unit(node).dialect.types_apart


def takes_types(project: GraphProject, scope: int, expression: Expression) -> bool:
    """Whether a class has as many type parameters as a BARE that means a type is given."""
    return project.scope(scope).generic == (expression[5] if len(expression) > 5 else 0)


def one_class(values: Values) -> Values:
    """The values, where several classes of one name are not sure: one is compiled, or each for itself."""
    classes = [value for value in values if value[0] == CLASS]
    for value in classes if len(classes) > 1 else ():
        values[value] = min(values[value], Reason.SEVERAL)
    return values


def one_of_each(solver: Solver, values: Values) -> Values:
    """The same, where classes of one name are told apart by how many type parameters they have."""
    classes = [value for value in values if value[0] == CLASS]
    if len(classes) > 1:
        numbers = Counter(solver.project.scope(value[1]).generic for value in classes)
        for value in classes:
            if numbers[solver.project.scope(value[1]).generic] > 1:
                values[value] = min(values[value], Reason.SEVERAL)
    return values


def merged(solver: Solver, nodes: list[int]) -> Values:
    """What all of some overloads stand for; which is meant, the arguments of a call say."""
    found: Values = {}
    assigned = [solver.value(node) for node in nodes if solver.op(node) not in DEFINITIONS]
    is_put_over = bool(assigned) and any(_is_property(solver, node) for node in nodes)
    always = set.intersection(*map(set, assigned)) if assigned and not is_put_over else set()  # what its type says
    for values in assigned:  # of a variable that gets several values, none is sure
        add(found, {value: sure if value in always else min(sure, Reason.ATTRIBUTE) for value, sure in values.items()})
    for node in nodes:
        if solver.op(node) in DEFINITIONS:
            add(found, solver.value(node))
    return one_of_each(solver, found)


def _is_property(solver: Solver, node: int) -> bool:
    """Whether an expression is a property, whose declared type says what it holds."""
    op, *parts = solver.project.expression(node)
    return op == Op.FUNCTION and bool(solver.project.scope(solver.child(node, parts[0])).flags & Flag.PROPERTY)


def named(solver: Solver, cell: Cell) -> Values:
    """("name", scope, name): what a name is bound to where its scope ends."""
    _, scope, own = cell
    bindings = solver.project.table(scope).get(own, [])
    if len(bindings) > 1 and solver.project.unit(scope).dialect.overloads:
        return merged(solver, [solver.project.value_of(at) for at in bindings])
    found = joined(solver, [solver.project.value_of(at) for at in bindings], Reason.SEVERAL)
    is_class = solver.project.scope(scope).kind == ScopeKind.CLASS  # of which nothing is asked before it ends
    if len(bindings) == 1 and found and not (is_class or solver.project.bound_once(scope, own)):
        found = capped(found, Reason.SEVERAL)
    if solver.project.unit(scope).dialect.prototypes and solver.project.scope(scope).kind == ScopeKind.MODULE:
        return found  # its variables are not what it exports
    if may_be_put_over(solver, scope, own):
        found = capped(found, Reason.REPLACED)
    if own in solver.project.vocabulary.written:
        add(found, solver.value(("field", scope, own)), put_over(solver, scope, own))
    return found


def get(solver: Solver, node: int, expression: Expression) -> Values:
    """GET"""
    unit = solver.project.unit(node)
    dialect, own = unit.dialect, unit.names[expression[2]]
    values = solver.value(solver.child(node, expression[1]))
    if dialect.fields and (how := dialect.fields.get(solver.project.text(own))):
        given = _field(solver, node, how, own, values)
        if given is not None:
            return given
    if dialect.crates and solver.project.text(own) == "super":
        return _above(solver, values)
    if dialect.crates and (path := qualified(solver, node)) != NONE:
        every = [member(solver, value, own, sure) for value, sure in list(values.items())]
        return of_trait(solver, path, own, {value: sure for each in every for value, sure in each.items()})
    if (EXTERNAL, MODULE_OBJECT) in values and is_exports(solver, node, solver.project.text(own)):
        return {(MODULE, node >> SHIFT): Reason.BOUND}
    if dialect.spaces == "flat" and not dialect.crates and own in unit.renamed:
        return _renamed(solver, node, expression[2], values)
    if len(values) == 1:
        [(value, sure)] = values.items()
        if value[0] == SPACE and solver.spaces.kept(unit, value[1], own):
            return _of_file(solver, unit, value, own, sure)
        held = with_seen(solver, node, expression[2], member(solver, value, own, sure))
        return one_class(dict(held)) if value[0] in (SPACE, CLASS) and len(held) > 1 else held
    found: Values = {}
    for value, sure in list(values.items()):
        add(found, with_seen(solver, node, expression[2], member(solver, value, own, sure)))
    return found


def _of_file(solver: Solver, unit: Unit, value: Value, own: int, sure: int) -> Values:
    """What a file of C++ has by a name in a namespace, of which it keeps something for itself."""
    found: Values = {}
    for cell, reason, _ in places_for(solver, unit, value, own, sure):
        add(found, solver.value(cell), reason)
    return one_class(found)


def _renamed(solver: Solver, node: int, name: int, values: Values) -> Values:
    """What a name of a file of Kotlin means behind a dot that the file gives something it imports."""
    found: Values = {}
    own = solver.project.unit(node).names[name]
    for value, sure in list(values.items()):
        held = with_seen(solver, node, name, member(solver, value, own, sure))
        add(found, with_renamed(solver, node, name, value, sure, held))
    return found


def _field(solver: Solver, node: int, how: str, name: int, values: Values) -> Values | None:
    """What a field gives that anything outside has, of which the language says that; None of anything else."""
    kinds = {value[0] for value in values}
    if how.startswith("="):
        dialect = solver.project.unit(node).dialect
        is_known = kinds and all(value[0] == CONTAINER or known_type(solver, dialect, value) for value in values)
        return {(EXTERNAL, f"{how[1:]}#"): min(values.values())} if is_known else None
    if kinds == {CLASS} and how in OF_CONSTANTS:
        return constants_of(solver, how, name, values)
    if how == "same":  # `a.Result` of a `Task<A>`, where an A has no such member
        is_own = any(value[0] == OBJECT and solver.classes.of_class(value[1], name)[0] is not None for value in values)
        if is_own or kinds - {OBJECT, CONTAINER}:
            return None
        may_be_own = any(value[0] == OBJECT and value[1] in solver.classes.has_external_base for value in values)
        return capped(values, Reason.EXTERNAL_BASE) if may_be_own else dict(values)
    if kinds - {CONTAINER, EXTERNAL}:
        return None
    found: Values = {}
    for value, sure in values.items():
        given = part_of(solver, value, how, node, sure) if value[0] == CONTAINER else {}
        if not given and value[0] == CONTAINER:
            return None
        add(found, given)
    return found or None


def case(solver: Solver, node: int, expression: Expression) -> Values:
    """CASE: a member of what is looked at, or what its name means anywhere else."""
    return _either(solver, node, expression, no_member(solver, node, expression))


def _either(solver: Solver, node: int, expression: Expression, sure: int) -> Values:
    """What the first part of an expression holds, or where it is so sure that the second is meant, that."""
    if not sure:
        return dict(solver.value(solver.child(node, expression[1])))
    return capped(solver.value(solver.child(node, expression[2])), sure)


def no_member(solver: Solver, node: int, expression: Expression) -> int:
    """How sure it is that a name of a CASE is no member of what is looked at; 0 where it is one."""
    member_of = solver.child(node, expression[1])
    subject = solver.child(node, solver.project.expression(member_of)[1])
    values = solver.value(subject)
    types = [value[1].removeprefix(BUILTIN) for value in values if value[0] == EXTERNAL]
    is_plain = solver.project.unit(node).dialect.is_plain
    others = [type_ for type_ in types if not (type_.endswith("#") and is_plain(type_[:-1]))]
    if any(value[0] not in (EXTERNAL, CONSTANT) for value in values) or any(type_.endswith("#") for type_ in others):
        return 0
    is_known = bool(values) or solver.op(subject) == Op.MADE
    return Reason.BOUND if is_known and not others else Reason.SEVERAL  # what a function outside gives may be either


def called(solver: Solver, node: int, expression: Expression) -> Values:
    """CALLED: what a variable holds, or the functions that have its name where that cannot be called."""
    return _either(solver, node, expression, not_callable(solver, node, expression))


def not_callable(solver: Solver, node: int, expression: Expression) -> int:
    """How sure it is that a CALLED means the functions, and not its variable; 0 where it means that."""
    held = solver.value(solver.child(node, expression[1]))
    dialect = solver.project.unit(node).dialect
    types = [value[1].removeprefix(BUILTIN) for value in held if value[0] == EXTERNAL]
    if any(_is_callable(solver, value) for value in held):
        return 0
    functions = solver.value(solver.child(node, expression[2]))
    if not any(value[0] in (FUNCTION, BOUND, CLASS) for value in functions):
        return 0
    is_known = bool(held) and all(type_.endswith("#") and dialect.is_plain(type_[:-1]) for type_ in types)
    is_extended = solver.project.number(dialect.called_by) in solver.classes.extensions.by_name  # fun String.invoke()
    return Reason.BOUND if is_known and not is_extended else Reason.SEVERAL


def _is_callable(solver: Solver, value: Value) -> bool:
    """Whether a value is a function, or an object of a class that has the method which runs where it is called."""
    if value[0] != OBJECT:
        return value[0] in (FUNCTION, BOUND)
    called_by = solver.project.number(solver.project.unit(value[1]).dialect.called_by)
    return any(at[0] in (FUNCTION, BOUND) for at in member(solver, value, called_by, Reason.BOUND))


def root(solver: Solver, node: int, expression: Expression) -> Values:
    """ROOT: the outermost namespace; a module by its place: `crate`, `super`, `self`."""
    unit = solver.project.unit(node)
    word = unit.facts.names[expression[1]]
    if word == "":
        return {(SPACE, ""): Reason.BOUND}
    if word == "crate":
        module = modules.crate(solver.project, unit)
        return {} if module is None else {(MODULE, module): Reason.BOUND}
    scope = solver.project.outer_namespace(solver.child(node, expression[2]))
    scope = scope if scope >= 0 else unit.base
    return _module(modules.around(solver.project, scope) if word == "super" else scope)


def _module(scope: int | None) -> Values:
    """The module of Rust that a scope is: a file, or one in a text."""
    if scope is None:
        return {}
    return {(CLASS, scope, False) if scope & MASK else (MODULE, scope >> SHIFT): Reason.BOUND}


def _above(solver: Solver, values: Values) -> Values:
    """The modules around some: `super::super`."""
    found: Values = {}
    for value in values:
        if value[0] in (MODULE, CLASS):
            scope = value[1] << SHIFT if value[0] == MODULE else value[1]
            add(found, _module(modules.around(solver.project, scope)))
    return found


def prefix(solver: Solver, node: int, expression: Expression) -> Values:
    """PREFIX: a namespace, and not the class or function of its name; all of it where there is no such namespace."""
    found = solver.value(solver.child(node, expression[1]))
    spaces = {value: sure for value, sure in found.items() if value[0] in (SPACE, MODULE)}
    kinds = {value[0] for value in found}
    return capped(spaces, Reason.SEVERAL) if kinds >= {MODULE, EXTERNAL} else spaces or dict(found)  # for a build each


def space(_solver: Solver, cell: Cell) -> Values:
    """("space", path)"""
    return {(SPACE, cell[1]): Reason.BOUND}
