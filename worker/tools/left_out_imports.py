"""Imports that lead to no file of the index, and may lead to what is in the project and left out of it.

Only names are known of that, and of a directory nothing below: what an import says is laid upon them as a path.
"""

import posixpath
from collections.abc import Collection, Iterable, Iterator, Mapping

from fledgling.messages.answers import Import
from fledgling.messages.languages import Modules
from fledgling.worker.store.text import File
from fledgling.worker.tools import unknown
from fledgling.worker.tools.request import Request

MAX_NAMES = 20  # of one import that may be files themselves
MAX_CHARS = 1_000  # of a module: what is longer is no path
MAX_PARTS = 64  # of a path that is tried, of which each is a place to begin as well


def left_out(request: Request, file: File, imports: Iterable[Import]) -> str | None:
    """Say where imports may lead: `May lead to what is not indexed: line 3 (build/, ignored).`"""
    dead = [each for each in imports if each.unresolved in ("external", "not found") and len(each.module) <= MAX_CHARS]
    unlisted = request.blocks.unlisted if dead else {}
    if not unlisted:
        return None
    names = {name.rstrip("/"): name for name in unlisted}
    names |= {f"{posixpath.splitext(name)[0]}.": name for name in unlisted if not name.endswith("/")}
    said: dict[str, None] = {}
    around = request.opened.generation.modules.get(file.language or "", Modules()).around
    for each in dead:
        request.check()
        if name := next((found for place in _places(file, each, around) if (found := _left_out(names, *place))), None):
            said[f"line {each.line} ({name}, {unlisted[name]})"] = None
    return f"May lead to what is not indexed: {unknown.listed([*said])}." if said else None


def _left_out(names: Mapping[str, str], start: str, path: str) -> str | None:
    """Return the name that a path below a directory is, but for an extension, or that it is below."""
    place = start
    for part in path.split("/"):
        place = f"{place}/{part}" if place else part
        if (name := names.get(place)) and (name.endswith("/") or place == posixpath.join(start, path)):
            return name
    return names.get(f"{place}.")


def _places(file: File, each: Import, around: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield the directories that an import may start from, each with the path from there."""
    directory = posixpath.dirname(file.path)
    for path in _paths(each, around):
        if path.count("/") >= MAX_PARTS:
            continue
        if path.startswith("."):
            place = posixpath.normpath(posixpath.join(directory, path))
            if not place.startswith(".."):
                yield "", place
            continue
        above = directory
        while above:
            yield above, path
            above = posixpath.dirname(above)
        yield "", path
        while each.unresolved == "not found" and "/" in path:  # example.org/m/gen, where example.org/m is the project
            path = path.partition("/")[2]
            yield "", path


def _paths(each: Import, around: Collection[str]) -> Iterator[str]:
    """Yield what an import says as paths: as it stands, and with what stands between its names in place of slashes."""
    module = each.module
    if "/" in module or not module.startswith("."):
        yield module
    if "/" in module:
        return
    dots = len(module) - len(module.lstrip("."))
    up = "./" + "../" * (dots - 1) if dots else ""
    parts = module[dots:].replace("::", ".").replace("\\", ".").split(".")
    while parts and parts[0] in around:  # where those are is looked for anyway
        parts.pop(0)
    inside = "/".join(filter(None, parts))
    if inside:
        yield f"{up}{inside}"
    for name in each.names[:MAX_NAMES]:
        yield f"{up}{inside}/{name}" if inside else f"{up}{name}"
