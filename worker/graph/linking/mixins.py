"""Modules of Ruby: what they have the classes that include them include besides, and what classes get by `extend`."""

from fledgling.worker.graph.linking.hierarchy import MAX_BELOW, Hierarchy
from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.tables import Flag, ScopeKind
from fledgling.worker.graph.values import CLASS

# What extends itself by the one, of Rails, has the classes that include it have the methods of the other in it.
CONCERN, OF_CLASSES = "Concern", "ClassMethods"
MAX_MODULES = 200  # that extend one class; a hostile file can make ten thousand


class Mixins:
    """The modules whose methods classes have themselves, and those that come by other modules."""

    def __init__(self, hierarchy: Hierarchy) -> None:
        self._hierarchy = hierarchy
        self._project = hierarchy.project
        self.modules: dict[int, list[int]] = {}  # whose methods a class has itself
        self.classes: dict[int, list[int]] = {}  # by such a module, those that have its methods themselves
        self.cut: set[int] = set()  # classes with more modules than are looked at: they may have any method
        self.given: dict[int, list[int]] = {}  # by modules, those whose methods a class has that includes it
        self._from_hooks: set[int] = set()  # the classes that have some where they include a module: in which order?

    def include_further(self) -> None:
        """Put above the classes that include a module what that has them include besides."""
        units, bases = self._project.units, self._hierarchy.bases
        including = [(unit, at) for unit in units for at, row in enumerate(unit.facts.scopes) if row.includes]
        kids: dict[int, list[int]] = {}
        for scope, own in bases.items() if including else ():
            for base, _ in own:
                kids.setdefault(base, []).append(scope)
        for unit, at in including:
            held = [self._hierarchy.value(unit.base | node) for node in unit.facts.scopes[at].includes]
            found = [(value[1], sure) for values in held for value, sure in values.items() if value[0] == CLASS]
            for scope in kids.get(self._hierarchy.whole(unit.base | at), ())[:MAX_BELOW]:
                own = bases[scope]
                bases[scope] = [pair for pair in reversed(found) if pair not in own and pair[0] != scope] + own

    def extend(self) -> None:
        """Find the modules whose methods classes have themselves."""
        for unit in self._project.units:
            for at, row in enumerate(unit.facts.scopes):
                scope = self._hierarchy.whole(unit.base | at)
                if row.extended:
                    self._extend_by(scope, self._named(unit.base, row.extended))
                    inner = self._of_concern(scope, unit.base, row.extended)
                    for each in self._hierarchy.kids.get(scope, ()) if inner else ():
                        self._extend_by(each, inner)
                if modules := self._named(unit.base, row.extends):
                    self.given[scope] = modules
                    is_class = row.kind == ScopeKind.CLASS  # whose `inherited` runs for all below it
                    for each in self._hierarchy.below(scope) if is_class else self._hierarchy.kids.get(scope, ()):
                        self._from_hooks.add(each)
                        self._extend_by(each, modules)

    def _of_concern(self, scope: int, base: int, extended: list[int]) -> list[int]:
        """The modules in a concern whose methods classes get that include it."""
        if not any(self._project.last_name(base | node) == CONCERN for node in extended):
            return []
        bindings = self._project.table(scope).get(self._project.number(OF_CLASSES), ())
        return [at for _, at in map(self._project.defined, bindings[:MAX_MODULES]) if at >= 0]

    def _named(self, base: int, nodes: list[int]) -> list[int]:
        modules = [value[1] for node in nodes for value in self._hierarchy.value(base | node) if value[0] == CLASS]
        return modules[: MAX_MODULES + 1]

    def _extend_by(self, scope: int, modules: list[int]) -> None:
        own = [module for module in modules if module != scope]
        found = own + self.modules.get(scope, [])  # the last one comes first
        self.modules[scope] = found[:MAX_MODULES]
        if len(found) > MAX_MODULES:
            self.cut.add(scope)
        for module in own:
            self.classes.setdefault(module, []).append(scope)

    def of_itself(self, scope: int, name: int) -> tuple[list[int], int]:
        """Whence a class has a method itself; if that is a module by `extend`, how sure, or one of several."""
        for at in self._hierarchy.order(scope):
            if at != scope and self._project.scope(at).kind == ScopeKind.INTERFACE:
                continue  # what is included has objects get its methods, and no class
            if any(self._is_static(binding) for binding in self._project.table(at).get(name, ())):
                return [at], 0
            owners = dict.fromkeys(self._hierarchy.of_class(module, name)[0] for module in self.modules.get(at, ()))
            if found := [owner for owner in owners if owner is not None]:
                is_open = len(found) > 1 and at in self._from_hooks
                return (found, int(Reason.SEVERAL)) if is_open else (found[:1], int(Reason.BOUND))
        return [], 0

    def _is_static(self, binding: int) -> bool:
        _, scope = self._project.defined(binding)
        return scope >= 0 and bool(self._project.scope(scope).flags & Flag.STATIC)
