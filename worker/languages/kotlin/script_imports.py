"""Imports of a Gradle script that stand behind its first blocks: `plugins { }`, then `import a.b`.

Gradle moves those blocks; the grammar knows imports at the top alone. They are read line by line, and left out.
"""

import re

from fledgling.worker.deferred import deferred
from fledgling.worker.extracting.outline import FoundImport
from fledgling.worker.extracting.repair import Apart
from fledgling.worker.extracting.source_text import without

BLOCK = deferred(rb"^(?:plugins|buildscript|pluginManagement|initscript)[ \t]*+\{", re.MULTILINE)
IMPORT = deferred(
    rb"^import[ \t]++(?P<module>\w++(?:\.\w++)*+)(?P<all>\.\*)?+(?:[ \t]++as[ \t]++(?P<alias>\w++))?+[ \t;]*+$",
    re.MULTILINE,
)


def apart(source: bytes) -> Apart:
    """The text without imports behind the first block."""
    block = BLOCK.search(source)
    matches = [*IMPORT.finditer(source, block.end())] if block else []
    return Apart(
        without(source, (match.span() for match in matches)) if matches else source, imports=[*map(imported, matches)]
    )


def imported(match: re.Match[bytes]) -> FoundImport:
    """What one imports: `import a.b` the name `b` of `a`, `import a.*` all of `a`."""
    module, alias = match["module"].decode(errors="replace"), match["alias"]
    name = "*"
    if match["all"] is None and "." in module:
        module, _, name = module.rpartition(".")
    return FoundImport(module, *match.span(), names=[(name, alias.decode(errors="replace") if alias else None)])
