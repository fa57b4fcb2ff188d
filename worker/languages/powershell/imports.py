"""PowerShell: scripts and modules by their paths, modules also by the directory or file that has their name."""

import posixpath
from collections.abc import Iterator

from msgspec.structs import replace

from fledgling.worker.deferred import deferred
from fledgling.worker.resolving.load_path import below
from fledgling.worker.resolving.project import Project, Resolver, Suffixes, answer, join, only
from fledgling.worker.rows import ImportRow

ENDS = (".psd1", ".psm1")  # of a module: its manifest, which names the other
SHIPPED = deferred(
    r"(?i)(?:Microsoft\.(?:PowerShell|WSMan)\.[\w.]++|PSReadLine|PowerShellGet|PackageManagement|CimCmdlets)$"
)
ROOT = deferred(r"(?i)\$(?:PSScriptRoot|\{PSScriptRoot\})/")
REQUIRES = deferred(r"-[A-Za-z]")  # how what stands behind `#Requires` begins, and no path or name does
REQUIRED = deferred(r"(?i)-modules?\s++(.*?)(?:\s-[a-z]|$)")
MODULE = deferred(r"@\{([^{}]*+)|([^\s,\"'@{}]++)")  # of those: a table of its name and version, or its name
IN_TABLE = deferred(r"(?i)\bModuleName\s*+=\s*+[\"']?([\w.-]++)")
VARIABLE = deferred(r"\$(?:\w++|\{[^{}]*+\}|\([^()]*+\))/")


def resolver(project: Project, language: str) -> Resolver:
    """Resolve `. "$PSScriptRoot/a.ps1"`, `Import-Module ./a.psm1`, `Import-Module A` and `#Requires -Modules A, B`."""
    named = Suffixes(project.written_in(language))

    def locate(path: str, module: str) -> str | None:
        directory = posixpath.dirname(path)
        place = ROOT.sub("./", module.replace("\\", "/"), count=1)
        if "/" not in place and not place.lower().endswith((".ps1", *ENDS)):
            return _named(directory, place)
        ways = (
            place,
            *(f"{place}{end}" for end in ENDS),
            *(f"{place}/{posixpath.basename(place)}{end}" for end in ENDS),
        )
        if computed := VARIABLE.match(place):
            found = (below(project, path, ("",), way[computed.end() :]) for way in ways)
        else:
            found = (way if (way := join(directory, each)) in project.files else None for each in ways)
        return next(filter(None, found), None)

    def _named(directory: str, name: str) -> str | None:
        ways = (f"{name}/{name}{end}" for end in ENDS)
        anywhere = (f"{name}{end}" for end in ENDS)
        found = (only(named.nearest(way, directory)) for way in (*ways, *anywhere))
        return next(filter(None, found), None)

    def resolved(path: str, row: ImportRow) -> Iterator[ImportRow]:
        for module in _required(row.module) if REQUIRES.match(row.module) else (row.module,):
            named = replace(row, module=module)
            yield answer(named, locate(path, module), is_stdlib=SHIPPED.match(module) is not None)

    return resolved


def _required(requires: str) -> Iterator[str]:
    """Yield the modules of `-Modules A, @{ModuleName = 'B'; ModuleVersion = 1}`; a version is none."""
    words = REQUIRED.search(requires)
    for found in MODULE.finditer(words[1] if words else ""):
        if found[2]:
            yield found[2]
        elif name := IN_TABLE.search(found[1]):
            yield name[1]
