"""The rows of a graph: for each occurrence of a name that the project defines, what it means, or why nothing."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import starmap

import numpy as np

from fledgling.worker.arrays import NDArray
from fledgling.worker.graph.columns import (
    BASE_REASONS,
    COLUMNS,
    EXTENDS,
    FURTHER,
    Begun,
    GraphColumns,
    MadeName,
)
from fledgling.worker.graph.linking.project import GraphProject
from fledgling.worker.graph.linking.stars import MAX_STARRED
from fledgling.worker.graph.reasons import CERTAIN, LIKELY, WORDS, Reason, confidence
from fledgling.worker.graph.rows.bound_definitions import Targets
from fledgling.worker.graph.rows.computed import Computed, is_module
from fledgling.worker.graph.rows.meaning import CALLING, Meaning
from fledgling.worker.graph.rows.rewritten import Rewritten
from fledgling.worker.graph.rows.unresolved import Unresolved
from fledgling.worker.graph.solving.made_names import MAX_NAMES_ASKED
from fledgling.worker.graph.solving.overrides import Overrides, may_override
from fledgling.worker.graph.solving.renamed_extensions import renamed
from fledgling.worker.graph.solving.seen_extensions import seen_extensions
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import NAME, NONE, USE, Op, ScopeKind, Site, Sites, Use, site_columns
from fledgling.worker.graph.telling import unheard
from fledgling.worker.graph.unit import LINE, LINE_BITS, MASK, Target, Unit
from fledgling.worker.graph.values import CLASS, FUNCTION
from fledgling.worker.rows import MAX_BY_MADE_NAMES, MAX_CROWDED, MAX_GUESSED, MAX_TARGETS, WIDEST, surer

CALLS = (*CALLING, Use.OPERATOR)
MENTIONS = (*CALLS, Use.READ, Use.TYPE, Use.INHERIT, Use.IMPORT)
MAX_NAMED = 2  # definitions that a name may mean where nothing but the name is known
CONFIDENCE = [int(confidence(reason)) for reason in range(max(WORDS) + 1)]

Row = tuple[int, ...]


def with_rows(project: GraphProject, unit: Unit, sites: Sites) -> NDArray[np.bool_]:
    """Which sites of a file have rows: those of a name that the project defines or an import gives, and calls."""
    asked, given = project.vocabulary.asked, project.given.of(unit)
    named = np.fromiter((name in asked or name in given for name in unit.names), np.bool_, len(unit.names))
    uses = sites[USE]
    silent = unit.unasked_signs(asked)
    calls = (uses == Use.CALL) & ~unit.among(sites[NAME], silent) if silent else uses == Use.CALL
    wanted: NDArray[np.bool_] = named[sites[NAME]] | calls | (uses == Use.DECORATOR)
    return wanted


class Rows:
    """The rows of a graph while they are made."""

    def __init__(self, solver: Solver) -> None:
        self._solver = solver
        self._project = solver.project
        rewritten = Rewritten(solver)
        self._meaning = Meaning(solver, rewritten)
        self._unresolved = Unresolved(solver, rewritten)
        self._overriding = Overrides(solver)
        self._computed = Computed(solver)
        self._asked = self._project.vocabulary.asked
        self._names = [*self._project.numbers]  # rows have no others
        self._crowded = 0  # occurrences with more targets than guesses may be
        self._by_made_names = 0  # definitions that names which are made were asked to mean
        self._rows: list[Row] = []  # of the file at work
        self._alike: dict[tuple[int, int, int], tuple[Targets, int]] = {}  # what its occurrences mean, by expression
        self._functions_of: dict[tuple[int, int], dict[int, Target]] = {}  # classes, by their names
        self._around: dict[int, int] = {}  # its scopes, and where the definitions around begin

    def graph(self, tell: Callable[[int], None]) -> GraphColumns:
        """Make all rows, and tell of how many files."""
        return self.whole([self.part(self._project.units, tell)])

    def part(self, units: Sequence[Unit], tell: Callable[[int], None]) -> GraphColumns:
        """Make the rows of some files, and tell of how many: what these say depends on no others."""
        graph = GraphColumns()
        columns = (
            graph.file, graph.line, graph.column, graph.name, graph.kind, graph.enclosing_line, graph.enclosing_part,
            graph.target_file, graph.target_line, graph.target_part, graph.confidence, graph.reason,
        )  # fmt: skip
        for done, unit in enumerate(units, 1):
            self._rows, self._around, self._alike = [], {}, {}
            self._meaning.forget()
            self._solver.forget()
            sites = site_columns(unit.facts)
            for site in starmap(Site, sites.T[with_rows(self._project, unit, sites)].tolist()):
                if unit.dialect.instantiates and not self._told(unit, site):
                    continue
                if site.use == Use.CALL:
                    graph.made += self._made(unit, site)
                    if self._meaning.gives_value(unit.base | site.at):
                        site.use = Use.WRITE
                if unit.names[site.name] in self._asked and site.use != Use.OPERATOR:
                    self._add(unit, site)
                elif site.column <= WIDEST:
                    self._add_call(unit, site)
            graph.made += (self._asked_of(unit, line, "", "", of) for line, of in self._computed.places(unit))
            self._rows.sort()
            for column, values in zip(columns, zip(*self._rows, strict=True), strict=False):
                column.extend(values)
            self._hierarchy(graph, unit)
            graph.together += ((unit.number, line, [*_begun(unit, line)]) for line in sorted(unit.together))
            if not unit.facts.complete:
                graph.broken.append(unit.number)
            tell(done)
        return graph

    def be_silent(self) -> None:
        """Tell nobody that cells are evaluated: who would hear of it is told by another process."""
        self._solver.heard = unheard

    def spent(self) -> list[int]:
        """How much is spent of what the rows of all files share, and of what all of their cells do."""
        solver = self._solver
        return [self._crowded, self._by_made_names, solver.stars.steps, solver.names_asked, solver.evaluations]

    def most(self) -> list[int]:
        """How much there is of each: where one ends, it matters which files come first."""
        return [MAX_CROWDED, MAX_BY_MADE_NAMES, MAX_STARRED, MAX_NAMES_ASKED, self._solver.budget.evaluations]

    def whole(self, parts: Iterable[GraphColumns]) -> GraphColumns:
        """Put the rows of all files together, which come in order."""
        graph = GraphColumns(names=self._names, is_cut=self._solver.is_cut)
        for part in parts:
            for name in COLUMNS:
                getattr(graph, name).extend(getattr(part, name))
            graph.made += part.made
            graph.bases += part.bases
            graph.overrides += part.overrides
            graph.together += part.together
            graph.broken += part.broken
        graph.made = sorted(set(graph.made))
        graph.bases.sort()
        graph.overrides = _surest(graph.overrides)
        return graph

    def _told(self, unit: Unit, site: Site) -> bool:
        """Let a name with types, `f[A]()`, be one that is called; whether no other site tells of that."""
        op, *parts = unit.expressions[site.at]
        function = unit.expressions[parts[0]] if op == Op.CALL else ()
        if not function or function[0] != Op.INDEX:
            return True
        is_function = any(value[0] == FUNCTION for value in self._solver.value(unit.base | function[1]))
        if site.use == Use.CALL:
            return not is_function
        site.use, site.at = (Use.CALL, site.at) if is_function else (site.use, function[1])
        return True

    def _made(self, unit: Unit, site: Site) -> Iterator[MadeName]:
        """Yield where a name is made, how it begins and ends, and the class that it is asked of, if one is known."""
        op, *parts = unit.expressions[site.at]
        is_behind = op == Op.CALL and unit.expressions[parts[0]][0] == Op.NAMED
        nodes = (site.at, parts[0]) if is_behind else (site.at,)
        made = {each for node in nodes for each in self._solver.made_names.get(unit.base | node, ())}
        for begin, end, of in sorted(made):
            yield self._asked_of(unit, site.line, begin, end, of)

    def _asked_of(self, unit: Unit, line: int, begin: str, end: str, of: int) -> MadeName:
        """A name that is made on a line, of a class or module, or NONE."""
        file, own = (NONE, 0) if of == NONE else self._project.place_of(of)
        return unit.number, line, begin, end, file, 0 if is_module(of) else own & LINE

    def _add(self, unit: Unit, site: Site) -> None:
        if site.column > WIDEST:
            self._rows.append((*self._head(unit, site), -1, 0, 0, CONFIDENCE[Reason.FAR], Reason.FAR))
            return
        if site.use == Use.DEFINITION and (given := self._meaning.given(unit, site)):
            site.use = Use.CALL
            self._put(unit, site, given)
            return
        is_read_as_key = site.use == Use.READ and unit.dialect.embeds and self._is_beside_last(unit, site)
        if is_read_as_key:
            return
        alike = (site.at, site.name, site.use) if site.binding == NONE else None
        found = self._alike.get(alike) if alike else None
        if found is None:
            found = self._meant(unit, site)
            if alike:
                self._alike[alike] = found
        targets, reason = found
        if site.use == Use.KEYWORD and not targets and self._is_told(unit, site, reason):
            return
        if site.use == Use.KEYWORD and (targets or reason == Reason.VARIABLE):
            site.use = Use.WRITE  # a key or an argument gives a field or a parameter a value
        if targets:
            self._put(unit, site, targets)
        else:
            self._rows.append((*self._head(unit, site), -1, 0, 0, CONFIDENCE[reason], reason))

    def _is_told(self, unit: Unit, site: Site, reason: int) -> bool:
        """Whether the site before or behind that of a key says what it is: `{ a }`, `map[A]B{ a: b }`."""
        return (reason == Reason.VARIABLE and unit.dialect.embeds) or self._is_beside_last(unit, site)

    def _is_beside_last(self, unit: Unit, site: Site) -> bool:
        """Whether an occurrence stands where the one before it does."""
        return bool(self._rows) and self._rows[-1][:3] == (unit.number, site.line, site.column)

    def _meant(self, unit: Unit, site: Site) -> tuple[Targets, int]:
        """The definitions that an occurrence means, or why it means none."""
        targets = self._meaning.targets(unit, site) or self._taken(unit, site)
        if targets:
            return targets, Reason.BOUND
        reason = self._unresolved.reason(unit, site)
        if reason == Reason.UNKNOWN_RECEIVER and site.use in (Use.CALL, Use.READ):
            targets = {**self._by_name(unit, site), **self._renamed(unit, site)}
        if reason == Reason.OUTSIDE and self._project.is_partial:
            reason = Reason.BEYOND
        return targets, reason

    def _add_call(self, unit: Unit, site: Site) -> None:
        """Add what a call runs whose name the project does not define, or that has none; what an import gave it."""
        targets = self._taken(unit, site)
        if site.use in CALLS:
            self._meaning.called(unit.base | site.at, targets)
            targets = targets or self._renamed(unit, site)
        self._put(unit, site, targets)

    def _taken(self, unit: Unit, site: Site) -> Targets:
        """What a name means that an import or export gives to what has another: `from a import run as go`."""
        targets: Targets = {}
        if site.at <= 1 or unit.names[site.name] not in self._project.given.of(unit) or site.use not in MENTIONS:
            return targets
        for name in sorted(self._meaning.defining_names(unit, site) & self._asked):
            targets |= self._meaning.named(unit, site, name)
        return targets

    def _put(self, unit: Unit, site: Site, targets: Targets) -> None:
        head = self._head(unit, site)
        name, own_names = head[3], self._project.own_names
        best = [*targets.items()]
        if len(targets) > 1:
            best.sort(key=lambda pair: (-pair[1], pair[0]))
        is_sure = bool(best) and best[0][1] >= CERTAIN
        kept = best[:MAX_GUESSED]
        if len(best) > MAX_GUESSED and self._crowded < MAX_CROWDED and best[MAX_GUESSED][1] >= LIKELY:
            self._crowded += 1
            kept += [pair for pair in best[MAX_GUESSED : self._most(unit, site, len(best))] if pair[1] >= LIKELY]
        is_further = len(best) > len(kept) and (not is_sure or best[len(kept)][1] >= CERTAIN)
        rest = Reason.FURTHER if is_further else 0
        if best and not is_sure and not rest and self._meaning.may_be_further_below(unit, site):
            rest = Reason.FURTHER_BELOW
        if best and Reason.NAME_ONLY < best[0][1] < CERTAIN and not rest:
            rest = self._meaning.besides(unit, site)
        if rest:
            self._rows.append((*head, -1, 0, 0, CONFIDENCE[rest], rest))  # it may mean one of the rest
        for (file, line), reason in kept:
            if own_names:
                head = (*head[:3], own_names.get((name, (file, line)), name), *head[4:])
            self._rows.append((*head, file, line & LINE, line >> LINE_BITS, CONFIDENCE[reason], reason))

    def _most(self, unit: Unit, site: Site, count: int) -> int:
        """How many definitions are listed: all that a made name may be, as long as a project has not too many."""
        is_made = count > MAX_TARGETS and site.use == Use.CALL and self._meaning.is_by_made_name(unit.base | site.at)
        if not is_made:
            return MAX_TARGETS
        self._by_made_names += count
        return count if self._by_made_names <= MAX_BY_MADE_NAMES else MAX_TARGETS

    def _head(self, unit: Unit, site: Site) -> Row:
        """Where an occurrence stands, its name and use, and where the definition around begins, 0 for none."""
        place = self._around.get(site.scope)
        if place is None:
            around = unit.around(site.scope)
            place = self._around[site.scope] = unit.place_of(around)[1] if around != NONE else 0
        line, part = place & LINE, place >> LINE_BITS
        if site.use == Use.OPERATOR:  # the name does not stand there
            return unit.number, site.line, site.column, self._project.number(""), Use.CALL, line, part
        return unit.number, site.line, site.column, unit.names[site.name], site.use, line, part

    def _by_name(self, unit: Unit, site: Site) -> Targets:
        """The few definitions of a name that no type outside has, where nothing else is known."""
        known = self._project.vocabulary.definitions.get(unit.names[site.name], ())
        name = unit.facts.names[site.name]
        is_common = name in unit.dialect.common or name in unit.dialect.signs
        if len(known) > MAX_NAMED or name.startswith("__") or is_common:
            return {}
        seen = {self._project.place_of(at) for at in seen_extensions(self._solver, unit.base | site.at, site.name)}
        return dict.fromkeys(known, int(Reason.EXTENSION if seen.issuperset(known) else Reason.NAME_ONLY))

    def _renamed(self, unit: Unit, site: Site) -> Targets:
        """What extends a type outside by a name that the file gives it, where nothing else is known."""
        functions = renamed(self._solver, unit.base | site.at)
        return dict.fromkeys(map(self._project.place_of, functions), int(Reason.EXTENSION))

    # ---- hierarchy

    def _hierarchy(self, graph: GraphColumns, unit: Unit) -> None:
        classes = self._solver.classes
        for at, row in enumerate(unit.facts.scopes):
            if row.kind not in (ScopeKind.CLASS, ScopeKind.INTERFACE):
                continue
            scope = classes.whole(unit.base | at)
            for base in row.bases:
                self._base(graph, self._project.place_of(scope), unit.base | base)
            if scope != unit.base | at:
                continue
            if unit.dialect.structural and row.kind == ScopeKind.INTERFACE:
                self._implementing(graph, scope)
            elif unit.dialect.structural and (names := classes.implemented.not_asked(scope)):
                table = self._project.table(scope)
                own = [self._project.defined(at)[0] for name in names for at in table.get(name, ())]
                graph.bases += [(*place, "", -1, 0, FURTHER) for place in (self._project.place_of(scope), *own)]
            order = classes.order(scope)
            for name in self._project.table(scope):
                having = [up for up in order[order.index(scope) + 1 :] if classes.has(up, name)]
                if having and (unit.dialect.selects or self._are_several(unit, (scope, having[0]), name)):
                    self._overrides_by_types(graph, scope, having, name)
                else:
                    self._overrides_each(graph, scope, having, name)

    def _are_several(self, unit: Unit, scopes: Iterable[int], name: int) -> bool:
        """Whether one of some classes has overloads of a name: which of them overrides which, their types say."""
        return unit.dialect.says_virtual and any(len(self._functions(scope, name)) > 1 for scope in scopes)

    def _base(self, graph: GraphColumns, own: Target, node: int) -> None:
        project = self._solver.project
        expression = project.expression(node)
        text = project.last_name((node & ~MASK) | expression[1] if expression[0] == Op.INDEX else node)  # Generic[T]
        known = [value[1] for value in self._solver.value(node) if value[0] == CLASS]
        for base in known:
            graph.bases.append((*own, text, *project.place_of(base), EXTENDS))
        if not known:
            graph.bases.append((*own, text, -1, 0, EXTENDS))

    def _implementing(self, graph: GraphColumns, interface: int) -> None:
        """Add the classes that have all methods of an interface, and what they have in place of each."""
        classes, project = self._solver.classes, self._project
        own, name = project.place_of(interface), project.scope(interface).name
        text = "" if name == NONE else project.unit(interface).facts.names[name]
        if interface in classes.cut:
            graph.bases.append((*own, "", -1, 0, FURTHER))
        for at in classes.implemented.by.get(interface, ()):
            kind = classes.implemented.kind(interface, at)
            if interface not in classes.order(at):  # what embeds it is surely derived from it
                graph.bases.append((*project.place_of(at), text, *own, kind))
            for above in classes.order(interface):
                for method in project.table(above):
                    owner, _ = classes.of_class(at, method)
                    if owner not in (None, above):
                        self._overrides(graph, owner, above, method, BASE_REASONS[kind])

    def _overrides(self, graph: GraphColumns, scope: int, above: int, name: int, reason: int = 0) -> None:
        own = [self._project.defined(at) for at in self._project.table(scope)[name]]
        other = [self._project.defined(at) for at in self._project.table(above)[name]]
        if not (own and other and own[-1][1] >= 0 and other[-1][1] >= 0):
            return
        if may_override(self._solver, own[-1][1], other[-1][1]):
            graph.overrides.append((*own[-1][0], *other[-1][0], reason))

    def _overrides_each(self, graph: GraphColumns, scope: int, having: list[int], name: int) -> None:
        """Add what a class overrides of those that have a name, nearest first, but not what is above one of these."""
        passed: set[int] = set()
        for up in having:
            if up not in passed:
                self._overrides(graph, scope, up, name)
                passed.update(self._solver.classes.order(up))

    def _overrides_by_types(self, graph: GraphColumns, scope: int, above: list[int], name: int) -> None:
        """Add what a class overrides where functions of one name may take different arguments."""
        dialect = self._project.unit(scope).dialect
        if dialect.own_constructors and self._project.text(name) in dialect.constructors:
            return
        own = self._functions(scope, name)
        others = {up: self._functions(up, name) for up in above}
        for function, other, reason in self._overriding.found([*own], {up: [*others[up]] for up in others}):
            place = next(functions[other] for functions in others.values() if other in functions)
            graph.overrides.append((*own[function], *place, reason))

    def _functions(self, scope: int, name: int) -> dict[int, Target]:
        """The functions of a name in a class: the scope of each, and where it begins."""
        known = self._functions_of.get((scope, name))
        if known is None:
            found = map(self._project.defined, self._project.table(scope)[name])
            known = self._functions_of[scope, name] = {function: target for target, function in found if function >= 0}
        return known


def _begun(unit: Unit, line: int) -> Iterator[Begun]:
    """Yield the definitions that begin together on a line, in the order of their numbers."""
    names = unit.facts.names
    for (name, other), (_, at) in unit.together[line].items():
        own, outer = ("" if each == NONE else names[each] for each in (name, other))
        place = unit.place_of(at)[1] if at != NONE else 0
        makers = [outer, "constructor"] if own in unit.dialect.constructors else []
        yield [own, *makers], outer, place & LINE, place >> LINE_BITS


def _surest(overrides: Iterable[tuple[int, int, int, int, int]]) -> list[tuple[int, int, int, int, int]]:
    """Return each pair of methods once, in order: of several ways the surest."""
    found: dict[tuple[int, int, int, int], int] = {}
    for *places, reason in overrides:
        pair = (places[0], places[1], places[2], places[3])
        found[pair] = surer(reason, found.get(pair, reason))
    return sorted((*pair, reason) for pair, reason in found.items())
