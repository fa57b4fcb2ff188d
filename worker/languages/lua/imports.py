"""Lua: modules below the directories of a load path."""

import posixpath
from collections.abc import Iterator
from functools import cache

from fledgling.worker.resolving.load_path import below
from fledgling.worker.resolving.project import Project, Resolver, Suffixes, answer, only
from fledgling.worker.rows import ImportRow

FOLDERS = ("", "lua", "src", "lib")
# https://www.lua.org/manual/5.4/manual.html#6, and those of 5.2 and LuaJIT
STDLIB = frozenset(
    ("_G", "bit", "bit32", "coroutine", "debug", "ffi", "io", "jit", "math", "os", "package", "string", "table", "utf8")
)


def resolver(project: Project, _language: str) -> Resolver:
    """Resolve `require "a.b"` to `a/b.lua` or `a/b/init.lua`."""
    modules = Suffixes(project.written_in("lua"))

    @cache
    def locate(directory: str, module: str) -> str | None:
        place = module.replace(".", "/")
        names = (f"{place}.lua", f"{place}/init.lua")
        above = (below(project, posixpath.join(directory, "x"), FOLDERS, name) for name in names)
        anywhere = (only(modules.nearest(name, directory)) for name in names if "/" in place)
        return next((found for found in (*above, *anywhere) if found), None)

    def resolved(path: str, row: ImportRow) -> Iterator[ImportRow]:
        yield answer(row, locate(posixpath.dirname(path), row.module), is_stdlib=row.module in STDLIB)

    return resolved
