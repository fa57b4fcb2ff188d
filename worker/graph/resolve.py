"""From the facts of all files to who uses what: one row for each target of each occurrence."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from fledgling.worker.graph.columns import GraphColumns, joined
from fledgling.worker.graph.linking.families import DefinedNames, families
from fledgling.worker.graph.linking.project import GraphProject
from fledgling.worker.graph.rows.rows import Rows, with_rows
from fledgling.worker.graph.solving import (
    by_members,
    calls,
    containers,
    expected,
    filled,
    fixtures,
    given_back,
    globs,
    imports,
    made_names,
    members,
    named_callables,
    names,
    numbers,
    operations,
    parameters,
    pointers,
    prototypes,
    sent,
    taken_names,
    this,
    types,
    writes,
    written_out,
)
from fledgling.worker.graph.solving.budget import GraphBudget
from fledgling.worker.graph.solving.expected import declared_to_be
from fledgling.worker.graph.solving.receivers import is_such_call
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import AT, NAME, NONE, USE, Expression, GraphFile, Op, Use, site_columns
from fledgling.worker.graph.telling import Tell, unheard
from fledgling.worker.graph.unit import Unit
from fledgling.worker.language import Language

CALLS = frozenset([Op.CALL, Op.NEW, Op.DECORATED])
OBJECTS = frozenset([Op.DICT])
OPERATIONS = {
    Op.NAME: names.name,
    Op.GET: names.get,
    Op.CALL: calls.call,
    Op.NEW: calls.call,
    Op.INDEX: containers.index,
    Op.TEXT: numbers.text,
    Op.FILLED: made_names.filled,
    Op.NAMED: named_callables.named_member,
    Op.NUMBER: numbers.number,
    Op.LIST: written_out.container,
    Op.TUPLE: written_out.container,
    Op.DICT: written_out.dictionary,
    Op.FUNCTION: operations.function,
    Op.CLASS: operations.class_,
    Op.CHOICE: operations.choice,
    Op.EVERY: operations.every,
    Op.SUM: numbers.sum_,
    Op.PRESENT: numbers.present,
    Op.ELEMENT: containers.element,
    Op.POINTED: pointers.pointed,
    Op.ADDRESSED: pointers.addressed,
    Op.ITEM: containers.item,
    Op.RECEIVED: containers.received,
    Op.ENTERED: containers.entered,
    Op.IMPORT: imports.import_,
    Op.PART: imports.part,
    Op.PARAMETER: parameters.parameter,
    Op.DECLARED: operations.declared,
    Op.INSTANCE: operations.instance,
    Op.NARROWED: operations.narrowed,
    Op.CHECKED: operations.checked,
    Op.SUPER: this.super_,
    Op.THIS: this.this,
    Op.REACH: operations.reach,
    Op.DECORATED: calls.decorated,
    Op.CAST: operations.cast,
    Op.BARE: names.bare,
    Op.ROOT: names.root,
    Op.ALIAS: operations.alias,
    Op.UNSURE: operations.unsure,
    Op.PREFIX: names.prefix,
    Op.RENAMED: operations.alias,
    Op.CASE: names.case,
    Op.CALLED: names.called,
    Op.PAYLOAD: operations.payload,
    Op.QUALIFIED: operations.alias,
    Op.OPERATED: operations.operated,
    Op.DELEGATED: operations.delegated,
    Op.ANNOTATION: operations.alias,
    Op.GIVEN_BACK: given_back.given_back,
    Op.FIXTURE: fixtures.fixture,
    Op.CALLBACK: sent.callback,
}
RULES = {
    "name": names.named,
    "space": names.space,
    "globs": globs.globs_cell,
    "all of": taken_names.all_cell,
    "type": types.typed,
    "member": members.member_cell,
    "made member": made_names.made_member_cell,
    "called": containers.called_cell,
    "this": prototypes.this_cell,
    "heirs": prototypes.heirs_cell,
    "called on": prototypes.called_on_cell,
    "parameter": parameters.parameter_cell,
    "returned": calls.returned_cell,
    "yielded": calls.yielded_cell,
    "elements of": calls.elements_cell,
    "element at": calls.element_at_cell,
    "held": calls.held_cell,
    "just": calls.just_cell,
    "write": writes.write_cell,
    "expects": expected.expects,
    "fills": filled.fills,
}


MakeRows = Callable[[Solver, Tell], GraphColumns | None]


def in_this_process(solver: Solver, tell: Tell) -> GraphColumns:
    """Make the rows of all files, one after the other."""
    return Rows(solver).graph(tell)


def resolved(
    files: Sequence[GraphFile],
    *,
    budget: GraphBudget,
    languages: Mapping[str, Language],
    is_partial: bool = False,
    tell: Tell = unheard,
) -> GraphColumns:
    """Resolve every occurrence of a name that the project defines; `is_partial` where it has files besides these.

    Files of a language without graph have no facts and are not among `files`. The same files give the same rows.
    `tell` hears of each file twice, when it is read and when its rows are made, and in between that work goes on.
    """
    resolving = Resolving(files, budget=budget, languages=languages, is_partial=is_partial, tell=tell)
    return joined(resolving.numbers, [*resolving.graphs({})])


class Resolving:
    """Files, of which each family is resolved by itself: `apart` has those of each, `numbers` their numbers."""

    def __init__(
        self,
        files: Sequence[GraphFile],
        *,
        budget: GraphBudget,
        languages: Mapping[str, Language],
        is_partial: bool,
        tell: Tell,
        make_rows: MakeRows = in_this_process,
    ) -> None:
        """Prepare to resolve files as `resolved` does. `make_rows` returns None where it cannot without their order."""
        self.numbers = families(files, languages)
        self.apart = [[files[number] for number in family] for family in self.numbers]
        self._budget, self._tell, self._is_partial = budget, tell, is_partial
        self._make_rows = make_rows
        self._dialects = {name: row.graph for name, row in languages.items()}

    def graphs(self, known: Mapping[int, GraphColumns]) -> Iterator[GraphColumns]:
        """Yield the graph of each family, in which its files have the numbers that they have among those.

        One that is `known`, by the number of the family, is of the same files. It is taken over if what they mention
        is still defined in other families.
        """
        projects = {at: self._project(at) for at in range(len(self.apart)) if at not in known}
        own = [
            frozenset(known[at].defined if at in known else projects[at].vocabulary.names_in_order)
            for at in range(len(self.apart))
        ]
        defined, done = DefinedNames(own), 0
        for at, files in enumerate(self.apart):
            graph = known.get(at)
            if graph is None or graph.elsewhere != defined.elsewhere(graph.names, own[at]):
                project = projects.pop(at, None) or self._project(at)
                graph = self._graph(at, project, defined.elsewhere(project.numbers, own[at]), done)
                graph.defined, graph.elsewhere = sorted(own[at]), defined.elsewhere(graph.names, own[at])
                del project
            yield graph
            done += 2 * len(files)

    def _project(self, at: int) -> GraphProject:
        return GraphProject(self.apart[at], self._dialects, is_partial=self._is_partial)

    def _graph(self, at: int, project: GraphProject, elsewhere: list[str], done: int) -> GraphColumns:
        def tell(made: int) -> None:
            self._tell(done + len(self.apart[at]) + made)

        graph = self._make_rows(self._solved(project, elsewhere, done), tell)
        return graph or in_this_process(self._solved(self._project(at), elsewhere, done), tell)

    def _solved(self, project: GraphProject, elsewhere: list[str], done: int) -> Solver:
        project.vocabulary.elsewhere = elsewhere
        return solved(project, self._budget, lambda read: self._tell(done + read))


def solved(project: GraphProject, budget: GraphBudget, tell: Tell = unheard) -> Solver:
    """Work out what everything may stand for, or where arguments are not followed, what rows are made from."""
    solver = Solver(project, budget, tell)
    solver.operations = OPERATIONS
    solver.rules = RULES
    solver.invoke = calls.invoked
    solver.classes.settle()
    solver.begin_anew()
    for unit in project.units:
        writes = [("write", unit.number, place) for place in range(len(unit.facts.writes))]
        for written in [*writes, *declared_to_be(unit)]:
            solver.value(written)
        silent = unit.unasked_signs(project.vocabulary.asked)
        for at in at_first(unit, silent, follows_arguments=budget.follows_arguments):
            solver.value(unit.base | at)
        if budget.follows_arguments:
            sites = site_columns(unit.facts)
            named = (sites[USE] != Use.OPERATOR) & ~unit.among(sites[NAME], silent)
            named |= with_rows(project, unit, sites)
            for at in dict.fromkeys(sites[AT][named].tolist()):  # many are of one expression
                if at > 1:
                    solver.value(unit.base | at)
        solver.done += 1
        tell(solver.done)
    solver.run()
    if not budget.follows_arguments:
        for cell in asked(project):
            solver.value(cell)
        solver.run()
    else:
        by_members.guess(solver)
    solver.is_over = True
    return solver


def at_first(unit: Unit, silent: Sequence[int], *, follows_arguments: bool) -> Iterator[int]:
    """Yield the expressions that others are told by: calls, but for those of operators that are `silent`."""
    kinds = {*(CALLS if follows_arguments else ()), *(OBJECTS if unit.dialect.prototypes else ())}
    for at, expression in enumerate(unit.expressions) if kinds else ():
        is_first = expression[0] in kinds and not (silent and is_by_sign(unit, expression, silent))
        if is_first or (expression[0] == Op.CALL and is_such_call(unit, expression)):
            yield at


def is_by_sign(unit: Unit, expression: Expression, signs: Sequence[int]) -> bool:
    """Whether an expression is a call by some operators."""
    function = unit.expressions[expression[1]] if expression[0] == Op.CALL else (NONE,)
    return function[0] == Op.GET and function[2] in signs


def asked(project: GraphProject) -> Iterator[int]:
    """Yield the expressions that rows are made from, where calls hand nothing over that others could lead to."""
    for unit in project.units:
        sites = site_columns(unit.facts)
        wanted = with_rows(project, unit, sites) & (sites[AT] > 1)
        for at in dict.fromkeys(sites[AT][wanted].tolist()):
            yield unit.base | at
