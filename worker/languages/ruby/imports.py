"""Ruby: files beside the importing one, and below the directories of a load path."""

import posixpath
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from functools import cache

from fledgling.worker.deferred import deferred
from fledgling.worker.language import word_list
from fledgling.worker.resolving.load_path import below
from fledgling.worker.resolving.packages import prefixes
from fledgling.worker.resolving.project import Project, Resolver, Suffixes, answer, join, only
from fledgling.worker.rows import ImportRow

STDLIB = word_list("ruby/stdlib.txt")
FOLDERS = ("lib", "test", "spec")
CONSTANT = deferred(r"[A-Z]\w*")
WORD = deferred(r"(?<=[A-Z])(?=[A-Z][a-z])|(?<=[a-z\d])(?=[A-Z])")  # where one begins: ActiveSupport's underscore


def resolver(project: Project, _language: str) -> Resolver:
    """Resolve `require_relative "x"` beside the file, `require "x"` below `lib`, `test` and `spec`.

    `autoload :TypeMap` of `a.rb` is the only `type_map.rb` below `a`: in which module it stands is not known here.
    """
    libraries = Suffixes(project.written_in("ruby"))
    named = defaultdict[str, list[str]](list)  # paths in their order, by their last part
    for each in project.written_in("ruby"):
        named[posixpath.basename(each)].append(each)

    def constant(path: str, name: str) -> str | None:
        alike = named.get(f"{WORD.sub('_', name).lower()}.rb", [])
        folder = f"{path.removesuffix('.rb')}/"
        at = bisect_left(alike, folder)
        return only([each for each in alike[at : at + 2] if each.startswith(folder)])

    @cache
    def locate(directory: str, module: str) -> str | None:
        name = module if module.endswith(".rb") else f"{module}.rb"
        found = below(project, posixpath.join(directory, "x"), FOLDERS, name)
        if found or name.removesuffix(".rb") in STDLIB:
            return found
        return only(libraries.nearest(f"lib/{name}", directory))

    def resolved(path: str, row: ImportRow) -> Iterator[ImportRow]:
        directory = posixpath.dirname(path)
        if row.is_relative and row.alias and CONSTANT.fullmatch(row.module):
            yield answer(row, constant(path, row.module))
        elif row.is_relative:
            place = join(directory, row.module) or ""
            yield answer(row, next((at for at in (place + ".rb", place) if at in project.files), None))
        else:
            parts = prefixes(row.module.removesuffix(".rb").replace("/", "."))
            is_stdlib = any(part.replace(".", "/") in STDLIB for part in parts)
            yield answer(row, locate(directory, row.module), is_stdlib=is_stdlib)

    return resolved
