"""How a project is built, as someone would say it who knows it: parts, what stands on what, where it begins.

All of it is from names, definitions and imports; a share of the tokens is set aside for each part, so that none crowds
out another.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from fledgling.messages.answers import Architecture
from fledgling.plain import by_depth, counted, one_line
from fledgling.worker.deferred import deferred
from fledgling.worker.of_tests import TEST_DIRECTORY, is_test
from fledgling.worker.ranking.sentences import cut
from fledgling.worker.store.text import File
from fledgling.worker.tools import components, manifests, packages, summaries, tags, unknown
from fledgling.worker.tools.entry_points import entry_points
from fledgling.worker.tools.links import ImportLinks
from fledgling.worker.tools.own_code import OwnCode, is_own, line_count, own_code
from fledgling.worker.tools.request import Request

TOKENS = 800  # of all, each of four characters: the rooms of its lines together have fewer
UNITS = 12  # directories that stand for parts
DOMINANT = 0.5  # of all lines: a directory with more is shown by its parts, if the largest have as much of its own
UNLINKED = 0.5  # of the files of a language: where more have no edge, that needs a reason
LEADS_TO = 4  # parts that a part is said to stand on
HUBS, CYCLES = 6, 3
LINKING = 2  # documents at least that link to one: of what a single one links to nothing is said
OTHERS = 2  # languages of documents and data of which is said where they are
ALIKE = 3  # manifests of one name, as of the modules of a build: of more the first stands for all
COMMON, LEAST_COMMON = 0.3, 3  # of all files, and of few: a tag of more says nothing
SAYS_CHARS = 60  # of what a part says of itself

_MANIFEST = deferred(
    r"(?:pyproject\.toml|setup\.py|setup\.cfg|package\.json|deno\.jsonc?|Cargo\.toml|go\.mod|go\.work|pom\.xml"
    r"|(?:build|settings)\.gradle(?:\.kts)?|[Mm]akefile|GNUmakefile|CMakeLists\.txt|configure\.ac|meson\.build|BUILD(?:\.bazel)?"
    r"|WORKSPACE(?:\.bazel)?|MODULE\.bazel|Gemfile|Rakefile|.*\.gemspec|composer\.json|mix\.exs|rebar\.config|Package\.swift"
    r"|build\.sbt|build\.(?:sc|mill)|build\.zig|dune-project|.*(?P<ending>\.(?:slnx?|[cfv][sb]proj|cabal|opam|nimble|rockspec))|stack\.yaml|pubspec\.yaml|Project\.toml"
    r"|DESCRIPTION|Makefile\.(?:PL|am)|Build\.PL|cpanfile|dist\.ini|.*\.podspec|Podfile|foundry\.toml|.*\.psd1|flake\.nix|tox\.ini|noxfile\.py|justfile|Taskfile\.ya?ml|Dockerfile|(?:docker-)?compose\.ya?ml|Procfile|\.gitlab-ci\.yml"
    r"|skaffold\.ya?ml|cloudbuild\.ya?ml|Chart\.yaml|Jenkinsfile|azure-pipelines\.ya?ml|\.?appveyor\.ya?ml|\.travis\.yml|\.goreleaser\.ya?ml"
    r"|requirements\.txt|environment\.ya?ml|project\.clj|deps\.edn|bb\.edn|melos\.yaml|dbt_project\.ya?ml|project\.godot|conanfile\.(?:py|txt)|vcpkg\.json|build\.xml)"
)
_WORKFLOW = deferred(r"\.github/workflows/[^/]+\.ya?ml")
_TESTS = deferred(rf"(?:.*?/)??{TEST_DIRECTORY}/")


def architecture(request: Request, prefix: str, numbers: Sequence[int]) -> Architecture:
    """Answer with how what is below a directory is built."""
    project = own_code(request, prefix, numbers)
    begins = entry_points(request, project)
    others = [*_others(request, project, 480)]
    lines = [
        *_head(request, project),
        *_list("built by", _manifests(project), 300),
        *_list("entry points", begins.entries, 300 if begins.libraries else 450),
        *_list("libraries", begins.libraries, 120),
        *others,
        *_parts(request, project, 1100 - sum(len(line) + 1 for line in others)),
        *_list("imported by most files", _hubs(request, project), 320),
        *_cycles(project, 280),
        *_list("tests", _tests(project), 240),
        *_list("tagged by rules, in files", _tags(request, project), 200),
    ]
    lines = [one_line(line) for line in lines]
    note = unknown.joined(request.partial, *_lacking(request, project))
    tokens = (sum(len(line) + 1 for line in lines) + 3) // 4
    return Architecture(prefix, lines, tokens, note=note)


def _list(head: str, items: Iterable[str], room: int, count: int = 0) -> Iterator[str]:
    """Yield a line that names as many things as its room holds, and how many more there are; none for nothing.

    They are `count`, where not all are given.
    """
    left = [*items]
    count = count or len(left)
    kept: list[str] = []
    for item in left:
        room -= len(item) + 2
        if room < 0:
            break
        kept.append(item)
    if left:
        more = f" and {count - len(kept)} more" if len(kept) < count else ""
        yield f"{head}: {', '.join(kept) + more if kept else f'{count:,} too long to be shown'}"


def _head(request: Request, project: OwnCode) -> Iterator[str]:
    lines = Counter[str]()
    for file in (*project.own, *project.aside):
        lines[file.language or ""] += line_count(file)
    total = sum(lines.values())
    shares = [f"{name} {100 * count // total} %" for name, count in lines.most_common(4) if 100 * count >= total > 0]
    files = counted(len(project.files), "file")
    generated = f", {project.generated_lines:,} of these lines generated" if project.generated_lines else ""
    count = len(project.own) + len(project.aside)
    code = f"{count:,} of code with {counted(total, 'line')}{generated} ({', '.join(shares)})"
    yield f"{files}, {code if total else 'none of code'}"
    yield from _itself(request, project)


def _itself(request: Request, project: OwnCode) -> Iterator[str]:
    """Yield what the project says it is, in a manifest or at the top of what speaks for it, and where."""
    here = {name: file for file in project.files if "/" not in (name := file.path.removeprefix(project.prefix))}
    for name in (*manifests.SPEAKING, *(name for name in here if name.endswith(".gemspec"))):
        if name in here and (text := manifests.text_of(request, here[name])) and (found := manifests.says(name, text)):
            yield f'"{found}" [{name}]'
            return
    speaker = summaries.speaking(request, project.prefix, project.files)
    sentence = summaries.sentence_of(request, speaker) if speaker else None
    if sentence and speaker:
        yield f'"{sentence.text}" [{speaker.path.removeprefix(project.prefix)}]'


def _manifests(project: OwnCode) -> Iterator[str]:
    """Name the files that say how it is built, the nearest to the root first; of many alike one stands for all."""
    paths = sorted((file.path.removeprefix(project.prefix) for file in project.files), key=by_depth)
    flows = sum(_WORKFLOW.fullmatch(path) is not None for path in paths)
    kinds = {path: _kind(path.rpartition("/")[2]) for path in paths if is_own(path)}
    counts = Counter(kinds.values())
    told = set[str]()
    for path, kind in kinds.items():
        if kind and counts[kind] <= ALIKE:
            yield path
        elif kind and kind not in told:
            told.add(kind)
            yield f"{kind if kind[0] == '*' else path} ({counts[kind]})"
    if flows:
        yield f".github/workflows/ ({flows})"


def _kind(name: str) -> str | None:
    """Return what files like a manifest are called, `go.mod` or `*.csproj`; None of what is none."""
    found = _MANIFEST.fullmatch(name)
    return (f"*{found['ending']}" if found["ending"] else name) if found else None


def _others(request: Request, project: OwnCode, room: int) -> Iterator[str]:
    """Say where documents and data are of which there is more than code, and which documents others link to."""
    known = request.opened.generation
    files, lines = Counter[str](), Counter[str]()
    for file in project.files:
        files[file.language or ""] += 1
        lines[file.language or ""] += line_count(file)
    code = sum(map(line_count, project.own))
    more = {
        language
        for language, count in files.items()
        if count > len(project.own) or (language in known.documents and lines[language] > code)
    }
    many = [language for language, _ in files.most_common() if language in more.difference(known.code, ("",))][:OTHERS]
    for language in many:
        alike = [file for file in project.files if file.language == language]
        places = Counter(_units(project._replace(own=alike)).values())
        head = f"{language}, {counted(len(alike), 'file')} with {counted(lines[language], 'line')}"
        named = [f"{place or './*'} {count}" for place, count in sorted(places.items(), key=_most_first)]
        yield from _list(head, named, room // (len(many) + 1) - len(head))
    if not {*many}.isdisjoint(known.documents):
        of_documents = {file.path for file in project.files if file.language in known.documents}
        pairs = {(path, target) for path, target in project.linked if {path, target} <= of_documents}
        linked = Counter(target.removeprefix(project.prefix) for _, target in pairs)
        many_link = sorted(((path, count) for path, count in linked.items() if count >= LINKING), key=_most_first)
        named = [f"{path} ({count})" for path, count in many_link[:HUBS]]
        head = "documents that most others link to"
        yield from _list(head, named, room // (len(many) + 1) - len(head))


def _most_first(each: tuple[str, int]) -> tuple[int, str]:
    name, count = each
    return -count, name


# ---- what stands on what ---------------------------------------------------------------------------------------------


def _parts(request: Request, project: OwnCode, room: int) -> Iterator[str]:
    """Show the largest parts, on top those that nothing imports, each with the parts that it imports most."""
    unit_of = _units(project)
    files, lines = Counter[str](), Counter[str]()
    for file in project.own:
        files[unit_of[file.path]] += 1
        lines[unit_of[file.path]] += line_count(file)
    counts, spread = between(project.links, unit_of)
    if len(counts) < 2:
        largest = sorted(project.own, key=lambda file: (-line_count(file), file.path))
        sizes = ((file.path.removeprefix(project.prefix), counted(line_count(file), "line")) for file in largest[:HUBS])
        named = (f"{path} ({size})" for path, size in sizes)
        yield from _list("largest files", named, room)
        return
    tails = _tails([*counts])
    rows: dict[str, str] = {}
    for unit, size in sorted(lines.items(), key=lambda each: (-each[1], each[0])):
        imported = Counter({tails[other]: count for other, count in counts[unit].items()}) + spread[unit]
        leads = [f"{other} {count}" for other, count in imported.most_common(LEADS_TO)]
        arrow = f" -> {', '.join(leads)}" if leads else ""
        row = f"  {unit}  {counted(files[unit], 'file')}, {counted(size, 'line')}{arrow}{_says(request, project, unit)}"
        room -= len(row) + 1
        if room < 0 or len(rows) == UNITS:
            break
        rows[unit] = row
    yield "parts, each above what it imports most:" if any(counts.values()) or any(spread.values()) else "parts:"
    order = components.layers(counts)
    yield from (rows[unit] for layer in order for unit in layer if unit in rows)
    if rest := [unit for unit in counts if unit not in rows]:
        yield f"  and {counted(len(rest), 'smaller part')} of {counted(sum(lines[unit] for unit in rest), 'line')}"
    circles = components.circles(counts)
    yield from _list("parts that import each other", (tails[unit] for each in circles for unit in each), 160)


def between(links: ImportLinks, unit_of: Mapping[str, str]) -> tuple[dict[str, Counter[str]], dict[str, Counter[str]]]:
    """Return how often each part imports each other, and packages of which no part has more than half."""
    counts: dict[str, Counter[str]] = {unit: Counter() for unit in unit_of.values()}
    spread: dict[str, Counter[str]] = {unit: Counter() for unit in unit_of.values()}
    for path, target in links.files:
        if unit_of[path] != unit_of[target]:
            counts[unit_of[path]][unit_of[target]] += 1
    places = {package: Counter(unit_of[member] for member in members) for package, members in links.members.items()}
    named = links.named()
    for path, package in links.wholes:
        units = places[package]
        unit, most = units.most_common(1)[0]
        if most <= units.total() / 2:
            spread[unit_of[path]][named[package]] += 1
        elif unit != unit_of[path]:
            counts[unit_of[path]][unit] += 1
    return counts, spread


def _tails(units: Sequence[str]) -> dict[str, str]:
    """Return the last directories of each path, as many as no other ends in: of `a/core/` and `a/api/` just `core/`."""
    found = {}
    for unit in units:
        parts, tail = unit.rstrip("/").split("/"), unit
        for count in range(1, len(parts) + 1):
            tail = "/".join(parts[-count:]) + ("/" if unit.endswith("/") else "")
            if tail != "*" and sum(f"/{other}".endswith(f"/{tail}") for other in units) == 1:
                break
        found[unit] = tail
    return found


def _says(request: Request, project: OwnCode, unit: str) -> str:
    """Return what the file that speaks for a part says, in a few words."""
    place = f"{project.prefix}{unit}"
    speaker = summaries.speaking(request, place, request.blocks.below(place)) if unit.endswith("/") else None
    found = summaries.sentence_of(request, speaker) if speaker else None
    return f'  "{cut(found.text, SAYS_CHARS)}"' if found else ""


def _units(project: OwnCode) -> dict[str, str]:
    """Return of each file the directory that is its part: large ones are taken apart while the parts are few.

    A directory of very many small ones, such as one for each function of a library, is one part.
    """
    units: dict[str, list[File]] = {"": project.own}
    total = sum(map(line_count, project.own))
    while True:
        sizes = {unit: sum(map(line_count, files)) for unit, files in units.items()}
        for unit in sorted(units, key=lambda unit: (-sizes[unit], unit)):
            inside = _inside(unit, units[unit], project.prefix)
            is_few = len(units) - 1 + len(inside) <= UNITS
            largest = sorted((sum(map(line_count, files)) for files in inside.values()), reverse=True)[:UNITS]
            is_shown = sizes[unit] > DOMINANT * total and sum(largest) > DOMINANT * sizes[unit]
            if len(inside) > 1 and (not unit or is_few or is_shown):
                break
        else:
            return {file.path: unit for unit, files in units.items() for file in files}
        del units[unit]
        units |= inside


def _inside(unit: str, files: Sequence[File], prefix: str) -> dict[str, list[File]]:
    """Return the files of a part by the first directories in it that are several; those in none are `src/*`."""
    found: dict[str, list[File]] = {}
    while not unit.endswith("*") and len(found) < 2:
        found = defaultdict(list)
        for file in files:
            name, slash, _ = file.path.removeprefix(prefix).removeprefix(unit).partition("/")
            found[f"{unit}{name}/" if slash else f"{unit or './'}*"].append(file)
        unit = next(iter(found), "*")
    return found


def _hubs(request: Request, project: OwnCode) -> list[str]:
    importers: dict[str, set[str]] = defaultdict(set)
    for path, target in project.links.files:
        importers[packages.named(request, target).removeprefix(project.prefix)].add(path)
    named = project.links.named()
    for path, package in project.links.wholes:
        importers[named[package]].add(path)
    counts = sorted(((path, len(paths)) for path, paths in importers.items()), key=_most_first)
    if all(count == 1 for _, count in counts):
        return []
    return [f"{path} ({count})" for path, count in counts[:HUBS]]


def _cycles(project: OwnCode, room: int) -> Iterator[str]:
    """Name the circles of files that import each other, the largest first."""
    edges: dict[str, list[str]] = defaultdict(list)
    for path, target in project.links.files:
        edges[path].append(target)
    found = sorted(components.circles(edges), key=lambda each: (-len(each), each))
    if not found:
        yield from ["no import cycles"] if project.links.files else []
        return
    yield f"import cycles: {len(found)}"
    room = room // min(len(found), CYCLES) - len("  100 files and 100 more")
    for circle in found[:CYCLES]:
        names = [path.removeprefix(project.prefix) for path in circle]
        is_long = sum(len(name) + 2 for name in names) > room
        yield from _list(
            f"  {len(circle)} files", _tails(names[:room]).values() if is_long else names, room, len(names)
        )


def _tests(project: OwnCode) -> list[str]:
    """Say where tests are: directories of them, and how many stand beside the code."""
    places = Counter[str]()
    of_code = {file.path.rpartition("/")[0] for file in project.own}
    for file in project.aside:
        path = file.path.removeprefix(project.prefix)
        if is_test(path):
            found = _TESTS.match(path)
            is_beside = file.path.rpartition("/")[0] in of_code
            first, slash, _ = path.partition("/")
            elsewhere = "beside the code" if is_beside else f"{first}/" if slash else "at the top"
            places[found[0] if found else elsewhere] += 1
    return [f"{place} {count}" for place, count in places.most_common()] or [
        f"none{f' in {project.prefix}' if project.prefix else ''}, as far as names tell"
    ]


def _tags(request: Request, project: OwnCode) -> Iterator[str]:
    """Say what its own files are about, by the rules, unless that is common to many of them."""
    found = tags.of_files(request)
    counts = Counter(tag.name for file in project.own for tag in found.get(file.number, ()))
    for name, count in counts.most_common():
        if count <= max(COMMON * len(project.own), LEAST_COMMON):
            yield f"{name} {count}"


def _lacking(request: Request, project: OwnCode) -> Iterator[str | None]:
    """Say of which code no imports are known, or not all, so that nothing is missed by it."""
    known = request.opened.generation.modules
    without = Counter(file.language for file in project.own if file.language not in known)
    said = [f"{language} ({counted(count, 'file')})" for language, count in without.most_common()]
    yield f"Imports are not extracted from {unknown.listed(said)}." if said else None
    yield _unimported(request, project)
    yield unknown.of_parsing(request, project.own, "imports may be missing")
    own = {file.number for file in project.own}
    yield unknown.of_unread(request, unknown.scope(request, None), "looked into", lambda file: file.number in own)


def _unimported(request: Request, project: OwnCode) -> str | None:
    """Say of which code most has no edge, since its files need no import for what is in the same package."""
    known = request.opened.generation.modules
    linked = {path for edge in project.links.files for path in edge} | {path for path, _ in project.links.wholes}
    linked.update(path for paths in project.links.members.values() for path in paths)
    directories = {path.rpartition("/")[0] for path in linked}
    counts, apart = Counter[str](), Counter[str]()
    for file in project.own:
        modules = known.get(file.language or "")
        if modules and (modules.packages or modules.autoloads):
            has_edge = modules.packages == "directory" and file.path.rpartition("/")[0] in directories
            counts[file.language or ""] += 1
            apart[file.language or ""] += not has_edge and file.path not in linked
    said: dict[str, list[str]] = {}
    for language, count in counts.most_common():
        if count > 1 and apart[language] > UNLINKED * count:
            *others, last = known[language].autoloads or ("",)
            loaded = f"A {', '.join(others)}{' or ' if others else ''}{last} may be used"
            why = "Files of one package use each other" if known[language].packages else loaded
            said.setdefault(why, []).append(f"{apart[language]:,} of {count:,} files of {language}")
    listed = {why: unknown.listed(files) for why, files in said.items()}
    return unknown.joined(*(f"{why} without an import: {files} have no edge." for why, files in listed.items()))
