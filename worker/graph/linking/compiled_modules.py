"""On which systems files of Rust are compiled, by the lines that make them modules: `#[cfg(unix)] mod a;`."""

from collections.abc import Iterator, Mapping, Sequence

from fledgling.worker.graph.unit import Unit
from fledgling.worker.systems import ANY

AROUND = ("crate", "self", "super")


def restrict(units: Sequence[Unit], places: Mapping[str, int]) -> None:
    """Let each file be compiled where a line is that makes it a module, if there is one in another file."""
    declaring = {unit.number: [*_declared(unit, places)] for unit in units if unit.dialect.crates}
    modules = {file for declared in declaring.values() for file, _ in declared}
    if not any(unit.facts.systems for unit in units if unit.number in declaring):
        return
    found = {number: ANY for number in declaring if number not in modules}
    todo = [*found]
    while todo:
        at = todo.pop()
        for file, line in declaring[at]:
            known = found.get(file, 0)
            more = units[at].systems_at(line) & found[at] & ~known
            if more:
                found[file] = known | more
                todo.append(file)
    for file in modules:
        units[file].declared_on = found.get(file, 0)


def _declared(unit: Unit, places: Mapping[str, int]) -> Iterator[tuple[int, int]]:
    """Yield the files that a file makes modules, each with the line."""
    for row in unit.rows:
        file = places.get(row.resolved_path or "")
        is_declared = row.is_relative and "::" not in row.module and row.module not in AROUND
        if is_declared and file not in (None, unit.number):
            yield file, row.line_number
