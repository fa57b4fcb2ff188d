"""Ruby, Lua, Clojure and shell: a name is a path below one of several directories, a load path."""

import posixpath
from collections.abc import Callable, Iterator
from functools import cache

from fledgling.worker.resolving.packages import Names, prefixes
from fledgling.worker.resolving.project import Project, Resolver, Suffixes, ancestors, answer, join, only, word_list
from fledgling.worker.rows import ImportRow

RUBY_STDLIB = word_list("ruby_stdlib.txt")
RUBY_FOLDERS = ("lib", "test", "spec")
LUA_FOLDERS = ("", "lua", "src", "lib")
CLOJURE_STDLIB = word_list("clojure_stdlib.txt")
JAVA_STDLIB = word_list("java_stdlib.txt")
CLOJURE_ENDS = {".cljs": (".cljs", ".cljc", ".clj"), "": (".clj", ".cljc", ".cljs")}

Locate = Callable[[str, str], str | None]


def below(project: Project, path: str, folders: tuple[str, ...], name: str) -> str | None:
    """A file by its name below the folders of the directories above a path, the nearest first."""
    places = (join(posixpath.join(up, folder), name) for up in ancestors(path) for folder in folders)
    return next((place for place in places if place in project.files), None)


def ruby_resolver(project: Project) -> Resolver:
    """Resolve `require_relative "x"` beside the file, `require "x"` below `lib`, `test` and `spec`."""
    libraries = Suffixes(project.written_in("ruby"))

    @cache
    def locate(directory: str, module: str) -> str | None:
        name = module if module.endswith(".rb") else f"{module}.rb"
        found = below(project, posixpath.join(directory, "x"), RUBY_FOLDERS, name)
        if found or name.removesuffix(".rb") in RUBY_STDLIB:
            return found
        return only(libraries.nearest(f"lib/{name}", directory))

    def resolved(path: str, row: ImportRow) -> Iterator[ImportRow]:
        directory = posixpath.dirname(path)
        if row.is_relative:
            place = join(directory, row.module) or ""
            yield answer(row, next((at for at in (place + ".rb", place) if at in project.files), None))
        else:
            parts = prefixes(row.module.removesuffix(".rb").replace("/", "."))
            is_stdlib = any(part.replace(".", "/") in RUBY_STDLIB for part in parts)
            yield answer(row, locate(directory, row.module), is_stdlib=is_stdlib)

    return resolved


def lua_resolver(project: Project) -> Resolver:
    """Resolve `require "a.b"` to `a/b.lua` or `a/b/init.lua`."""
    modules = Suffixes(project.written_in("lua"))

    @cache
    def locate(directory: str, module: str) -> str | None:
        place = module.replace(".", "/")
        names = (f"{place}.lua", f"{place}/init.lua")
        above = (below(project, posixpath.join(directory, "x"), LUA_FOLDERS, name) for name in names)
        anywhere = (only(modules.nearest(name, directory)) for name in names if "/" in place)
        return next((found for found in (*above, *anywhere) if found), None)

    def resolved(path: str, row: ImportRow) -> Iterator[ImportRow]:
        yield answer(row, locate(posixpath.dirname(path), row.module))

    return resolved


def clojure_resolver(project: Project) -> Resolver:
    """Resolve a namespace to the file that declares it, or that its name stands for: `a.b-c` is `a/b_c.clj`."""
    namespaces = Names(project, ("clojure",))
    undeclared = Suffixes(path for path in project.written_in("clojure") if path not in project.declared)

    @cache
    def locate(directory: str, module: str, extension: str) -> str | None:
        place = module.replace(".", "/").replace("-", "_")
        declaring = namespaces.package(module, directory)
        for end in CLOJURE_ENDS.get(extension, CLOJURE_ENDS[""]):
            if found := next((path for path in declaring if path.endswith(end)), None):
                return found
            if "/" in place and (found := only(undeclared.nearest(place + end, directory))):
                return found
        return None

    def resolved(path: str, row: ImportRow) -> Iterator[ImportRow]:
        directory, name = posixpath.split(path)
        found = locate(directory, row.module, posixpath.splitext(name)[1])
        is_java = any(part in JAVA_STDLIB for part in prefixes(row.module))
        yield answer(row, found, is_stdlib=is_java or row.module in CLOJURE_STDLIB)

    return resolved


def path_resolver(project: Project) -> Resolver:
    """Resolve a path that is written out: beside the file; behind a variable (`. "$HERE/x.sh"`) also further up."""

    def resolved(path: str, row: ImportRow) -> Iterator[ImportRow]:
        directory = posixpath.dirname(path)
        computed, rest = behind_expansion(row.module)
        if computed:
            found = below(project, path, ("",), rest)
        else:
            place = join(directory, row.module)
            found = place if place in project.files else None
        yield answer(row, found)

    return resolved


def behind_expansion(path: str) -> tuple[str, str]:
    """A shell's path as what is computed and what is written out: `$(dirname "$0")/lib/x.sh` ends in `lib/x.sh`."""
    cut = max(path.rfind(end) for end in ")}`") + 1
    if not cut and path.startswith(("$", '"$')):
        cut = max(path.find("/"), 0)
    rest = path[cut:].removeprefix('"')
    return path[:cut], posixpath.normpath(rest[1:]) if rest.startswith("/") and "$" not in rest else ""
