"""From the facts of all files to who uses what: one row for each target of each occurrence."""

from collections.abc import Mapping, Sequence

from fledgling.worker.graph import calls, operations, types
from fledgling.worker.graph.project import GraphFile, Project
from fledgling.worker.graph.rows import Graph, Rows
from fledgling.worker.graph.solver import GraphBudget, Solver
from fledgling.worker.graph.tables import Op, sites_of
from fledgling.worker.language import Language

OPERATIONS = {
    Op.NAME: operations.name,
    Op.GET: operations.get,
    Op.CALL: calls.call,
    Op.NEW: calls.call,
    Op.INDEX: operations.index,
    Op.TEXT: operations.text,
    Op.NUMBER: operations.number,
    Op.LIST: operations.container,
    Op.TUPLE: operations.container,
    Op.DICT: operations.dictionary,
    Op.FUNCTION: operations.function,
    Op.CLASS: operations.class_,
    Op.CHOICE: operations.choice,
    Op.ELEMENT: operations.element,
    Op.ITEM: operations.item,
    Op.ENTERED: operations.entered,
    Op.IMPORT: operations.import_,
    Op.PARAMETER: calls.parameter,
    Op.DECLARED: operations.declared,
    Op.INSTANCE: operations.instance,
    Op.NARROWED: operations.narrowed,
    Op.SUPER: operations.super_,
    Op.THIS: operations.this,
    Op.REACH: operations.reach,
    Op.DECORATED: calls.decorated,
    Op.CAST: operations.cast,
    Op.BARE: operations.bare,
    Op.ROOT: operations.root,
    Op.ALIAS: operations.alias,
}
RULES = {
    "name": operations.named,
    "space": operations.space,
    "type": types.typed,
    "parameter": calls.parameter_cell,
    "returned": calls.returned_cell,
    "yielded": calls.yielded_cell,
    "elements of": calls.elements_cell,
    "element at": calls.element_at_cell,
    "held": calls.held_cell,
    "just": calls.just_cell,
    "write": calls.write_cell,
}


def resolved(files: Sequence[GraphFile], *, budget: GraphBudget, languages: Mapping[str, Language]) -> Graph:
    """Resolve every occurrence of a name that the project defines.

    Files of a language without graph have no facts and are not among `files`. The same files give the same rows.
    """
    project = Project(files, {name: row.graph for name, row in languages.items()})
    return Rows(solved(project, budget)).graph()


def solved(project: Project, budget: GraphBudget) -> Solver:
    """Work out what everything may stand for."""
    solver = Solver(project, budget)
    solver.operations = OPERATIONS
    solver.rules = RULES
    solver.invoke = calls.invoked
    solver.classes.settle()
    for unit in project.units:
        for place in range(len(unit.facts.writes)):
            solver.value(("write", unit.number, place))
        for at, expression in enumerate(unit.facts.expressions):
            if expression[0] in (Op.CALL, Op.NEW, Op.DECORATED):
                solver.value(unit.base | at)
        for site in sites_of(unit.facts):
            if site.at > 1:
                solver.value(unit.base | site.at)
    solver.run()
    return solver
