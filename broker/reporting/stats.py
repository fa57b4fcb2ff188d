"""What a build found, as lines for a person."""

from collections.abc import Iterator

from fledgling.messages.control import Built
from fledgling.messages.inner_answers import Overview

SHOWN = 5  # hubs and functions; a report has more


def headline(built: Built) -> str:
    """Return one line: files, lines, definitions, seconds, and what is missing."""
    line = (
        f"indexed {built.files} files, {built.lines} lines, {built.symbols} definitions, {built.imports} imports "
        f"in {built.seconds['total']:.2f} s; image {built.image_bytes / 1e6:.1f} MB"
    )
    return f"{line}. {built.partial}" if built.partial else line


def lines(built: Built, overview: Overview) -> Iterator[str]:
    """Yield the headline and the tables behind it."""
    yield headline(built)
    yield ""
    yield f"{'language':18}{'files':>8}{'lines':>10}{'MB':>8}{'symbols':>9}{'seconds':>9}"
    for row in built.languages:
        name = row.language or "(unknown)"
        yield f"{name:18}{row.files:8}{row.lines:10}{row.bytes / 1e6:8.2f}{row.symbols:9}{row.seconds:9.2f}"
    parsed = {
        "parsed whole": sum(row.whole for row in overview.parsed),
        "in part": sum(row.in_part for row in overview.parsed),
        "given up": sum(row.given_up for row in overview.parsed),
        "without a parser for it": sum(row.without_parser for row in overview.parsed),
    }
    yield from _counts("files with text", {name: files for name, files in parsed.items() if files})
    hubs = {hub.path: hub.importers for hub in overview.hubs[:SHOWN]}
    yield from _counts("imported by most files", hubs)
    longest = {
        f"{function.path}:{function.lines[0]} {function.name}": function.lines[1] - function.lines[0] + 1
        for function in overview.functions[:SHOWN]
    }
    yield from _counts("longest functions, in lines", longest)
    yield from _counts("listed without content", built.skipped)
    yield from _counts("not listed", built.left_out)
    yield from _counts("seconds by stage", {name: f"{seconds:.2f}" for name, seconds in built.seconds.items()})
    yield from _counts("slowest files, in seconds", {path: f"{seconds:.3f}" for path, seconds in built.slowest})


def _counts(title: str, counts: dict[str, int] | dict[str, str]) -> Iterator[str]:
    if counts:
        yield ""
        yield f"{title}:"
        yield from (f"  {value:>8}  {name}" for name, value in counts.items())


def sections(built: Built) -> Iterator[str]:
    """Yield the sections of the index files, as docs/index-format.md names them, with their bytes."""
    yield from _counts("bytes by section of the index files", built.sections)
