"""JavaScript and TypeScript: paths, directories, packages of the project, and what tsconfig.json adds.

The order of candidates is Node's and a bundler's for JavaScript, the TypeScript compiler's for TypeScript.
https://www.typescriptlang.org/docs/handbook/modules/reference.html, https://nodejs.org/api/packages.html
"""

import posixpath
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from typing import NamedTuple

from fledgling.worker.language import word_list
from fledgling.worker.resolving.manifest import Table, parse_json, strings, table
from fledgling.worker.resolving.project import (
    MAX_PLACES,
    Project,
    Resolver,
    ancestors,
    answer,
    by_parts,
    holding,
    join,
    nearest,
)
from fledgling.worker.rows import ImportRow

BUILTINS = word_list("javascript/stdlib.txt")
SCRIPTS = (".js", ".jsx", ".mjs", ".cjs")
TYPED = (".ts", ".tsx", ".d.ts", ".mts", ".cts")
# Last what bundlers of Vue find without its ending, which no compiler does.
PROBES = {"javascript": (*SCRIPTS, *TYPED, ".json", ".vue"), "typescript": (*TYPED, *SCRIPTS, ".json", ".vue")}
SOURCES = {
    ".js": (".ts", ".tsx", ".d.ts"),
    ".jsx": (".tsx", ".d.ts"),
    ".mjs": (".mts", ".d.mts"),
    ".cjs": (".cts", ".d.cts"),
}
ENTRIES = {"javascript": ("module", "main", "source"), "typescript": ("types", "typings", "module", "main", "source")}
CONDITIONS = {
    "javascript": frozenset({"import", "module", "node", "default"}),
    "typescript": frozenset({"types", "import", "module", "node", "default"}),
}
CONFIGS = ("tsconfig.json", "jsconfig.json")
CONFIGURATIONS = ("tsconfig", "jsconfig")  # tsconfig.json, and tsconfig.base.json that it extends
OUTPUTS = frozenset({"build", "cjs", "dist", "es", "esm", "lib", "out", "types", "umd"})  # what a build writes
# By the file in the root of a kit's project, without its extension, its own names for folders: a build writes them into
# a configuration that is no part of a project. Of several folders the first counts that has what is named.
KITS: Mapping[str, Mapping[str, Sequence[str]]] = {
    "svelte.config": {"$lib": ("src/lib",)},
    "nuxt.config": {**dict.fromkeys("~@", ("app", "")), **dict.fromkeys(("~~", "@@"), ("",)), "#shared": ("shared",)},
}
MAX_EXTENDS = 20  # configurations that extend each other; stops a circle
MAX_CONDITIONS = 10  # inside each other
MAX_PATTERNS = 1_000  # of one manifest, with all that it refers to; each import of a package is compared with them


class Options(NamedTuple):
    """What a tsconfig.json, with all that it extends, says about resolution; paths from the project root."""

    base: str | None = None
    paths: tuple[tuple[str, tuple[str, ...]], ...] = ()  # pattern -> where to look
    root_dirs: tuple[str, ...] = ()
    references: tuple[str, ...] = ()


class ExportTargets(NamedTuple):
    """Where `exports` or `imports` of a package lead, by their keys, those of our conditions first.

    `patterns` are the keys with a star, the longest beginning first.
    """

    places: Mapping[str, Sequence[str]]
    patterns: Sequence[str]


class Scripts:
    """The manifests of a project's scripts, and look-ups in them."""

    def __init__(self, project: Project) -> None:
        self.files = project.files
        self.packages = {directory: parse_json(text) for directory, text in project.manifests_named("package.json")}
        self._named = defaultdict[str, list[str]](list)  # a package's name -> directories
        for directory in sorted(self.packages, key=by_parts):
            if isinstance(name := self.packages[directory].get("name"), str) and "node_modules" not in directory:
                self._named[name].append(directory)
        self._configs = {
            path: parse_json(text)
            for path, text in project.manifests.items()
            if path.rpartition("/")[2].startswith(CONFIGURATIONS)
        }
        self._options = dict[str, Options]()
        self.kits = {kit: frozenset(self._having(kit)) for kit in KITS}
        paths = (path.rpartition("/node_modules/")[0] for path in self.files if "node_modules/" in path)
        self._installed = {posixpath.join(path, "node_modules") for path in paths}

    def _having(self, kit: str) -> Iterator[str]:
        """The directories of the projects of a kit."""
        for path in self.files:
            directory, _, name = path.rpartition("/")
            if name.startswith(kit) and name.removeprefix(kit) in (".js", ".mjs", ".ts"):
                yield directory

    def package(self, name: str, directory: str) -> str | None:
        """The directory of a package of the project by its name: the own one of a directory, else the nearest."""
        named = self._named.get(name, ())
        own = next((up for up in ancestors(directory + "/") if up in self.packages), None)
        if own is not None and self.packages[own].get("name") == name:
            return own
        found = nearest(named, directory)
        return found[0] if len(found) == 1 else None

    def installed(self, directory: str) -> Iterator[str]:
        """The `node_modules` above a directory that belong to the project, the nearest first."""
        for up in ancestors(directory + "/") if self._installed else ():
            if (place := posixpath.join(up, "node_modules")) in self._installed:
                yield place

    def options(self, path: str) -> Sequence[Options]:
        """What holds for a file: the nearest configuration; where that only refers to others, these."""
        for up in ancestors(path):
            for name in CONFIGS:
                if (config := posixpath.join(up, name)) in self._configs:
                    return self._referring(config)
        return ()

    @cache  # noqa: B019 - lives as long as one resolution
    def _referring(self, config: str) -> Sequence[Options]:
        """A configuration and those that it refers to, as far as MAX_PATTERNS goes."""
        options = self._read(config, 0)
        found, left = [options], MAX_PATTERNS
        for other in options.references[:MAX_PATTERNS]:
            found.append(self._read(other, 0))
            left -= 1 + len(found[-1].paths)
            if left < 0:
                break
        return found

    def _read(self, config: str, depth: int) -> Options:
        if config not in self._options:
            raw = self._configs.get(config)
            if raw is None or depth > MAX_EXTENDS:
                return Options()
            self._options[config] = self._merged(config, raw, depth)
        return self._options[config]

    def _merged(self, config: str, raw: Table, depth: int) -> Options:
        directory = posixpath.dirname(config)
        compiler = table(raw.get("compilerOptions"))
        merged = Options()
        for name in strings(raw.get("extends")):
            if other := self._extended(name, directory):
                theirs = self._read(other, depth + 1)
                merged = Options(
                    theirs.base if theirs.base is not None else merged.base,
                    theirs.paths or merged.paths,
                    theirs.root_dirs or merged.root_dirs,
                )
        base = compiler.get("baseUrl")
        own = join(directory, rooted(base)) if isinstance(base, str) else None
        merged = merged._replace(base=own if own is not None else merged.base)
        if isinstance(compiler.get("paths"), dict):
            start = merged.base if merged.base is not None else directory
            merged = merged._replace(paths=tuple(mapped(compiler["paths"], start)))
        if dirs := [join(directory, rooted(one)) for one in strings(compiler.get("rootDirs", []))]:
            merged = merged._replace(root_dirs=tuple(one for one in dirs if one is not None)[:MAX_PLACES])
        others = raw.get("references") if isinstance(raw.get("references"), list) else []
        places = (join(directory, one) for other in others or () for one in strings(table(other).get("path")))
        return merged._replace(references=tuple(self._config_at(place) for place in places if place is not None))

    def _config_at(self, place: str) -> str:
        return place if place.endswith(".json") else posixpath.join(place, "tsconfig.json")

    def _extended(self, name: str, directory: str) -> str | None:
        if name.startswith("."):
            place = join(directory, name)
        else:
            package, inner = package_name(name)
            home = self.package(package, directory)
            place = None if home is None else join(home, inner or "tsconfig.json")
        if place is None:
            return None
        return next((at for at in (place, f"{place}.json", f"{place}/tsconfig.json") if at in self._configs), None)


def rooted(path: str) -> str:
    """A path of a configuration, without TypeScript's name for the directory that it stands in."""
    return path.removeprefix("${configDir}").lstrip("/") if path.startswith("${configDir}") else path


def mapped(paths: Table, start: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """`paths` of a configuration, the pattern with the longest beginning first, with places from the project root."""
    patterns = sorted(list(paths)[:MAX_PATTERNS], key=lambda one: ("*" in one, -len(one.partition("*")[0])))
    for pattern in patterns:
        places = (join(start, rooted(place)) for place in strings(paths[pattern]))
        yield pattern, tuple(place for place in places if place is not None)[:MAX_PLACES]


def package_name(module: str) -> tuple[str, str]:
    """A package's name and the path in it: `@a/b/c/d` is `@a/b` and `c/d`."""
    parts = module.split("/")
    names = 2 if module.startswith("@") else 1
    return "/".join(parts[:names]), "/".join(parts[names:])


def wildcard(pattern: str, text: str) -> str | None:
    """What `*` stands for: `wildcard("@/*", "@/a/b") == "a/b"`; "" where a pattern without it is the text."""
    before, star, after = pattern.partition("*")
    if not star:
        return "" if pattern == text else None
    if len(text) < len(before) + len(after) or not (text.startswith(before) and text.endswith(after)):
        return None
    return text[len(before) : len(text) - len(after)]


def leaves(entry: object) -> Iterator[tuple[str, frozenset[str]]]:
    """The paths of an entry of `exports` with the conditions that lead to them, in order."""
    todo = [(entry, frozenset[str]())]
    while todo:
        value, conditions = todo.pop()
        if isinstance(value, str):
            yield value, conditions
        elif isinstance(value, list):
            todo += [(one, conditions) for one in reversed(value)]
        elif isinstance(value, dict) and len(conditions) < MAX_CONDITIONS:
            todo += [(one, conditions | {condition}) for condition, one in reversed(value.items())]


def resolver(project: Project, language: str) -> Resolver:
    """Resolve as Node, bundlers and the TypeScript compiler do."""
    scripts = Scripts(project)
    look = _Candidates(scripts, language)

    @cache
    def locate(directory: str, module: str) -> str | None:
        return look.relative(directory, module) if module.startswith(".") else look.bare(directory, module)

    def resolved(path: str, row: ImportRow) -> Iterator[ImportRow]:
        module = row.module.partition("?")[0]
        builtin = module.startswith("node:") or module in BUILTINS
        yield answer(row, None if builtin else locate(posixpath.dirname(path), module), is_stdlib=builtin)

    return resolved


class _Candidates:
    """The candidates for one language, in its order."""

    def __init__(self, scripts: Scripts, language: str) -> None:
        self._scripts = scripts
        self._files: Mapping[str, str | None] = scripts.files
        rules = language if language in PROBES else "typescript"  # components in which either may be written
        self._probes = PROBES[rules]
        self._entries = ENTRIES[rules]
        self._conditions = CONDITIONS[rules]
        self._prefers_source = rules == "typescript"
        self._targets = dict[tuple[str, str], ExportTargets]()  # by package and field

    def relative(self, directory: str, module: str) -> str | None:
        """`./x`, or the same below another of `rootDirs`."""
        place = join(directory, module)
        if place is None:
            return None
        only_directory = module.endswith("/") or posixpath.basename(module) in (".", "..")
        load = self.directory if only_directory else self.load
        found = load(place)
        for options in () if found else self._scripts.options(posixpath.join(directory, "x")):
            found = found or next((at for other in moved(place, options.root_dirs) if (at := load(other))), None)
        return found

    def bare(self, directory: str, module: str) -> str | None:
        """`paths` and `baseUrl`, then `imports` of the own package, then packages."""
        for options in self._scripts.options(posixpath.join(directory, "x")):
            if found := self._mapped(options, module):
                return found
        if places := self._of_kit(directory, module):
            return next((found for place in places if (found := self.load(place))), None)
        if module.startswith("#"):
            home = holding(posixpath.join(directory, "x"), self._scripts.packages)
            return None if home is None else self._entry(home, "imports", module)
        name, inner = package_name(module)
        for place in self._scripts.installed(directory):
            home = posixpath.join(place, name)
            found = self.packaged(home, inner) if home in self._scripts.packages else self.load(f"{place}/{module}")
            if found:
                return found
        workspace = self._scripts.package(name, directory)
        return None if workspace is None else self.packaged(workspace, inner)

    def _of_kit(self, directory: str, module: str) -> Sequence[str]:
        """Where a path may lead that begins with a kit's own name, in the project of such a kit."""
        name, _, inner = module.partition("/")
        for kit, names in KITS.items():
            root = holding(posixpath.join(directory, "x"), self._scripts.kits[kit]) if name in names else None
            if root is not None:
                places = (join(root, posixpath.join(folder, inner)) for folder in names[name])
                return [place for place in places if place]
        return ()

    def packaged(self, home: str, inner: str) -> str | None:
        """A package by `exports`; without, its entry or a path in it; what it bundles from `src` is there."""
        package = self._scripts.packages[home]
        is_bundled = not inner and any(field in package for field in ("exports", *self._entries))
        return self._within(home, inner) or (self._index(posixpath.join(home, "src")) if is_bundled else None)

    def _within(self, home: str, inner: str) -> str | None:
        exports = self._scripts.packages[home].get("exports")
        if exports is None:
            if not inner:
                return self.directory(home)
            place = join(home, inner)
            return None if place is None else self.load(place) or self._source(home, inner)
        return self._entry(home, "exports", f"./{inner}" if inner else ".")

    def load(self, place: str) -> str | None:
        """A file at a place, with an extension, or what it was compiled from; else a directory."""
        return self._file(place) or self.directory(place)

    def directory(self, place: str) -> str | None:
        """A directory's entry by its package.json, else its index."""
        package = self._scripts.packages.get(place, {})
        entries = [entry for field in self._entries if isinstance(entry := package.get(field), str)]
        for entry in entries:
            at = join(place, entry)
            if at is not None and (found := self._file(at) or self._index(at)):
                return found
        index = self._index(place)
        return index or next((found for entry in entries if (found := self._source(place, entry))), None)

    def _index(self, place: str) -> str | None:
        return self._first([posixpath.join(place, "index" + probe) for probe in self._probes])

    def _file(self, place: str) -> str | None:
        if not place:
            return None
        stem, extension = posixpath.splitext(place)
        sources = [stem + source for source in SOURCES.get(extension, ())]
        exact = [*sources, place] if self._prefers_source else [place, *sources]
        return self._first(exact) or self._first([place + probe for probe in self._probes])

    def _first(self, candidates: Sequence[str]) -> str | None:
        return next((candidate for candidate in candidates if candidate in self._files), None)

    def _mapped(self, options: Options, module: str) -> str | None:
        for pattern, places in options.paths:
            if (star := wildcard(pattern, module)) is not None:
                for place in places:
                    at = join("", place.replace("*", star, 1))
                    if at is not None and (found := self.load(at)):
                        return found
                return None
        at = None if options.base is None else join(options.base, module)
        return None if at is None else self.load(at)

    def _entry(self, home: str, field: str, key: str) -> str | None:
        """What `exports` or `imports` of a package say about a key; what conditions of ours lead to comes first."""
        if (home, field) not in self._targets:
            self._targets[home, field] = self._said(self._scripts.packages[home].get(field))
        known = self._targets[home, field]
        for pattern in (*([key] if key in known.places else ()), *known.patterns):
            star = "" if pattern == key else wildcard(pattern, key)
            if star is not None:
                leads_out = field == "imports"  # `exports` lead to files of their own package
                places = (self._target(home, target, star, leads_out=leads_out) for target in known.places[pattern])
                return next((place for place in places if place), None)
        return None

    def _said(self, entries: object) -> ExportTargets:
        """Read a field once, MAX_PLACES of each key; `exports` may be what "." leads to."""
        if not isinstance(entries, dict) or not any(key.startswith((".", "#")) for key in entries):
            entries = {".": entries}
        patterns = [one for one in islice(entries, MAX_PATTERNS) if "*" in one]
        places = {}
        for key, entry in entries.items():
            targets = sorted(islice(leaves(entry), MAX_PLACES), key=lambda target: not target[1] <= self._conditions)
            places[key] = [target for target, _ in targets]
        return ExportTargets(places, sorted(patterns, key=lambda one: -one.find("*")))

    def _target(self, home: str, target: str, star: str, *, leads_out: bool) -> str | None:
        target = target.replace("*", star)
        if not target.startswith("."):
            name, inner = package_name(target)
            other = self._scripts.package(name, home) if leads_out else None
            return None if other is None or other == home else self.packaged(other, inner)
        place = join(home, target)
        return None if place is None else self._file(place) or self._source(home, target)

    def _source(self, home: str, target: str) -> str | None:
        """The source of what a build would write: `src/a.ts` for `dist/a.js`, where there is no such build."""
        parts = posixpath.normpath(target).split("/")
        stem = parts.pop()
        for extension in (".d.ts", ".d.mts", ".d.cts", *SCRIPTS):
            stem = stem.removesuffix(extension)
        while parts and parts[0] in OUTPUTS:
            parts.pop(0)
            for folder in ("src", ""):
                place = posixpath.join(home, folder, *parts, stem)
                if found := self._first([place + probe for probe in self._probes]) or self._index(place):
                    return found
        return None


def moved(place: str, root_dirs: Sequence[str]) -> Iterator[str]:
    """The same path below the other root directories; of those that hold it, the longest counts."""
    holders = [root for root in root_dirs if place.startswith(f"{root}/") or not root]
    if holders:
        root = max(holders, key=len)
        inner = place[len(root) :].lstrip("/")
        yield from (posixpath.join(other, inner) for other in root_dirs if other != root)
