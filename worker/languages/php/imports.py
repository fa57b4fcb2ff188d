"""PHP: names by the autoload rules of composer.json, else by the file that defines them; included paths.

https://www.php-fig.org/psr/psr-4/, https://getcomposer.org/doc/04-schema.md#autoload
"""

import posixpath
from collections import defaultdict
from collections.abc import Iterator
from functools import cache

from msgspec.structs import replace

from fledgling.worker.language import word_list
from fledgling.worker.resolving.manifest import parse_json, strings, table
from fledgling.worker.resolving.packages import Names
from fledgling.worker.resolving.project import Project, Resolver, answer, by_parts, join, nearest
from fledgling.worker.rows import ImportRow

STDLIB = word_list("php/stdlib.txt")  # classes of PHP 8.2 and of its extensions, as its reflection lists them


class Autoload:
    """Directories by namespace prefix, as all composer.json of a project give them."""

    def __init__(self, project: Project) -> None:
        self._files = project.files
        self._directories = defaultdict[str, list[str]](list)  # "App\\Models" -> where its classes are
        self._legacy = defaultdict[str, list[str]](list)  # the same by PSR-0: the directory above "App/Models"
        for directory, text in project.manifests_named("composer.json"):
            composer = parse_json(text)
            for section in ("autoload", "autoload-dev"):
                rules = table(composer.get(section))
                self._add(self._directories, directory, rules.get("psr-4"))
                self._add(self._legacy, directory, rules.get("psr-0"))
        for directories in (*self._directories.values(), *self._legacy.values()):
            directories.sort(key=by_parts)

    def locate(self, directory: str, qualified: str) -> str | None:
        """The file of a class: the longest prefix that has rules, the rest as a path."""
        parts = qualified.split("\\")
        for count in range(len(parts) - 1, -1, -1):
            prefix, rest = "\\".join(parts[:count]), "/".join(parts[count:])
            legacy = "/".join(parts[:-1] + parts[-1].split("_"))
            for table_of, inner in ((self._directories, rest), (self._legacy, legacy)):
                for place in nearest(table_of.get(prefix, ()), directory):
                    if (found := posixpath.join(place, inner + ".php")) in self._files:
                        return found
        return None

    def _add(self, directories: dict[str, list[str]], directory: str, rules: object) -> None:
        for prefix, targets in table(rules).items():
            places = (join(directory, target) for target in strings(targets))
            directories[prefix.strip("\\")] += [place for place in places if place is not None]


def resolver(project: Project, _language: str) -> Resolver:
    """Resolve names of `use`, and paths of `include` and `require`."""
    autoload, defined = Autoload(project), Names(project, ("php",))

    @cache
    def locate(directory: str, qualified: str) -> str | None:
        return autoload.locate(directory, qualified) or next(iter(defined.name(qualified, directory)), None)

    def included(directory: str, path: str) -> str | None:
        beside = join(directory, path.lstrip("/"))
        return next((place for place in (beside, join("", path)) if place in project.files), None)

    def resolved(path: str, row: ImportRow) -> Iterator[ImportRow]:
        directory, module = posixpath.dirname(path), row.module.strip("\\")
        if row.is_relative or "/" in module or module.endswith(".php"):
            yield answer(row, included(directory, module))
        elif row.imported_names:
            full = {name: f"{module}\\{name}".strip("\\") for name in row.imported_names}
            places = {name: (locate(directory, full[name]), full[name] in STDLIB) for name in row.imported_names}
            for found, is_stdlib in dict.fromkeys(places.values()):
                imported = tuple(name for name in row.imported_names if places[name] == (found, is_stdlib))
                yield answer(replace(row, imported_names=imported), found, is_stdlib=is_stdlib)
        else:
            yield answer(row, locate(directory, module), is_stdlib=module in STDLIB)

    return resolved
