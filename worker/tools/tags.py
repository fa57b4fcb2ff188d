"""Tags: what a file of code is about, by the rules of the profile or by hand, and what in it says so.

They are made when they are first asked for, of what the index holds of paths, imports, names and text. So they are of
what a profile leaves and of the project as it is now, and an index that nobody asks for tags pays nothing for them.
"""

from collections import Counter
from collections.abc import Iterator, Sequence, Set
from functools import partial
from typing import NamedTuple

from fledgling.messages import cursors
from fledgling.messages.profile import TagRule
from fledgling.messages.questions import Search
from fledgling.plain import counted
from fledgling.worker.matching import lines as matching
from fledgling.worker.matching import prefilter
from fledgling.worker.store.symbols import CODES
from fledgling.worker.store.text import File
from fledgling.worker.tools import meant, unknown
from fledgling.worker.tools.kept_tags import Evidence, Tag, TagsOfFiles
from fledgling.worker.tools.request import Refused, Request, shown

LEAST = 0.6  # of the confidence of all that says so: with less a file does not have the tag
FEW, SHARE = 2, 0.2  # names that a rule of names takes at least, or this share of all of a file
MANY = 3  # names that make it as sure as it can be
FIRST_SHARE = 0.6  # of the confidence of a rule of names, what the first of them makes
ONCE = 0.7  # of the confidence of a rule of text, what a single line makes
NEARLY_ALL, SEVERAL = 0.75, 20  # of the files of code, and of how many: a directory of so many, as `billing` in
# `com/acme/billing`, says of none what sets it apart
SHOWN_CHARS = 60  # of a module or name that is shown
BY_HAND = "BY HAND"  # what says so, where an agent does
KINDS = [CODES[kind] for kind in ("function", "class", "method", "interface", "enum", "type", "struct", "trait")]


def of_files(request: Request) -> TagsOfFiles:
    """Return the tags of all files that have any, by the rules and by hand."""
    if request.tags_found is None:
        request.tags_found = _with_given(request, _by_rules(request))
    return request.tags_found


def _by_rules(request: Request) -> TagsOfFiles:
    if request.tags is None:
        return tagged(request)
    assert request.snapshot, "asked of the second generation"
    return request.tags.of(request.snapshot, partial(tagged, request))


def _with_given(request: Request, ruled: TagsOfFiles) -> TagsOfFiles:
    """Return the tags of rules with those that were given by hand to files that there are; these are certain."""
    given: dict[int, dict[str, list[Evidence]]] = {}
    for each in request.by_hand.given:
        file = request.blocks.find(each.path)
        if file and _is_there(request, file, each.symbol):
            evidence = Evidence(1.0, BY_HAND, 0, shown(each.symbol or "", SHOWN_CHARS))
            given.setdefault(file.number, {}).setdefault(each.name, []).append(evidence)
    if not given:
        return ruled
    tags = {**ruled}
    for number, evidences in given.items():
        names = {tag.name: tag for tag in ruled.get(number, ())}
        for name, by_hand in evidences.items():
            by_rules = names[name].evidence if name in names else ()
            names[name] = Tag(name, 1.0, (*by_hand, *by_rules))
        tags[number] = tuple(names[name] for name in sorted(names))
    return tags


def _is_there(request: Request, file: File, symbol: str | None) -> bool:
    """Return whether a file still defines what was tagged in it, as far as anybody can tell."""
    if symbol is None or request.outlines is None:
        return True
    return meant.defines(request.outlines, file, symbol) or unknown.why_undefined(request, file) is not None


def named(request: Request) -> list[str]:
    """Return the tags that there are rules for, or that were given by hand, in order."""
    return sorted({*(rule.tag for rule in request.profile.tags), *request.by_hand.names})


def left(request: Request, question: Search) -> Set[int] | None:
    """Return the files that have the tags a search asks for; None where it asks for none. Raises Refused."""
    if not (question.tags_any or question.tags_all):
        return None
    where = cursors.place(question.cursor)
    if where.offset and where.tags != request.tags_mark:
        raise Refused("invalid", "the tags by hand have changed since the first page", "Ask again without `cursor`.")
    known = named(request)
    if strange := [tag for tag in (*question.tags_any, *question.tags_all) if tag not in known]:
        raise Refused("invalid", f"no rule gives the tag {strange[0]!r}", f"There are {', '.join(known) or 'none'}.")
    has = {number: {tag.name for tag in found} for number, found in of_files(request).items()}
    some, every = {*question.tags_any}, {*question.tags_all}
    return {number for number, names in has.items() if every <= names and (not some or some & names)}


def note(request: Request, question: Search, files: Set[int] | None) -> str | None:
    """Say how many files the tags have left, and which of the tags were given by hand."""
    if files is None:
        return None
    wanted = (("any of ", question.tags_any), ("all of ", question.tags_all))
    asked = [f"{how if len(tags) > 1 else ''}{', '.join(tags)}" for how, tags in wanted if tags]
    names = sorted({each.name for each in request.by_hand.given})
    by_hand = f"; by hand, by agents: {', '.join(names)}" if names else ""
    where = f"Only in {counted(len(files), 'file')}" if files else "No file is"
    return f"{where} tagged {' and '.join(asked)}{by_hand}."


# ---- rules -----------------------------------------------------------------------------------------------------------


class _ImportedModule(NamedTuple):
    path: str
    line: int
    module: str


class _Defined(NamedTuple):
    row: int
    found: int


def tagged(request: Request) -> TagsOfFiles:
    """Return the tags of all files of code, by all rules."""
    languages = request.opened.generation.code
    code = {number for language in languages for number in request.blocks.in_language(language)}
    surest: dict[tuple[int, str, str], Evidence] = {}
    for rule in request.profile.tags:
        request.check()
        for number, evidence in _FINDING[rule.matcher](request, rule, code):
            at = number, rule.tag, rule.matcher
            if number in code and (at not in surest or surest[at].confidence < evidence.confidence):
                surest[at] = evidence
    found: dict[tuple[int, str], list[Evidence]] = {}
    for (number, tag, _), evidence in surest.items():
        found.setdefault((number, tag), []).append(evidence)
    tags: TagsOfFiles = {}
    for (number, name), evidences in sorted(found.items()):
        doubt = 1.0
        for each in evidences:
            doubt *= 1 - each.confidence
        if 1 - doubt >= LEAST:
            ordered = sorted(evidences, key=lambda each: (-each.confidence, each.matcher))
            tags[number] = (*tags.get(number, ()), Tag(name, round(1 - doubt, 2), tuple(ordered)))
    return tags


_Found = Iterator[tuple[int, Evidence]]


def _by_path(request: Request, rule: TagRule, code: Set[int]) -> _Found:
    """Yield files whose paths match; where nearly all match a shipped rule, without folders that nearly all are in."""
    files, most = request.blocks.files, NEARLY_ALL * len(code)
    paths = [*map(request.blocks.raw_path, files)]
    places = _matching(rule, paths)
    if not rule.line and len(code) >= SEVERAL and sum(files[place] in code for place in places) > most:
        parts = [path.split(b"/") for path in paths]
        held = Counter(part for file, each in zip(files, parts, strict=True) if file in code for part in {*each})
        places = _matching(rule, [b"/".join(part for part in each if held[part] <= most) for each in parts])
    for place in places:
        yield files[place], Evidence(rule.confidence, "PATH", 0, "")


def _matching(rule: TagRule, paths: list[bytes]) -> Sequence[int]:
    return matching.places(matching.of_pattern(rule.pattern), b"\n".join(paths)) if paths else ()


def _by_import(request: Request, rule: TagRule, _: Set[int]) -> _Found:
    for path, line, module in request.rows("tag_imports", _ImportedModule, pattern=f"(?m){rule.pattern}"):
        if file := request.blocks.find(path):
            yield file.number, Evidence(rule.confidence, "IMPORT", line, shown(module, SHOWN_CHARS))


def _by_symbol(request: Request, rule: TagRule, _: Set[int]) -> _Found:
    """Yield files in which several names match, or a good share of all."""
    outlines = request.outlines
    assert outlines, "asked of the second generation"
    for row, found in request.rows("tag_symbols", _Defined, pattern=rule.pattern, codes=KINDS):
        number = outlines.file_of(row)
        counts = Counter(outlines.outline(number).kinds)
        most = SHARE * sum(counts[code] for code in KINDS)
        if found >= FEW or found >= most:
            sure = FIRST_SHARE + (1 - FIRST_SHARE) * min(found / max(MANY, most), 1)
            first = outlines.row(row)
            yield number, Evidence(rule.confidence * sure, "SYMBOL", first.line_start, shown(first.name, SHOWN_CHARS))


def _by_text(request: Request, rule: TagRule, code: Set[int]) -> _Found:
    """Yield files with lines that match: signatures say which blocks may hold one."""
    if not (request.signatures and request.opened.generation.has_content):
        return
    finding = matching.of_pattern(rule.pattern)
    needed = prefilter.of_templates(prefilter.read(rule.pattern, case_sensitive=True))
    blocks = request.blocks.in_order() if needed is None else request.signatures.holding(needed)
    firsts: dict[int, int] = {}
    counts = Counter[int]()
    for block in blocks:
        number = request.blocks.files_of[block]
        if number not in code or counts[number] >= FEW:
            continue
        request.check()
        if places := matching.places(finding, request.blocks.text(block)):
            counts[number] += len(places)
            firsts.setdefault(number, request.blocks.first_lines[block] + places[0])
    for number, line in firsts.items():
        yield number, Evidence(rule.confidence * (1 if counts[number] >= FEW else ONCE), "REGEX", line, "")


_FINDING = {"PATH": _by_path, "IMPORT": _by_import, "SYMBOL": _by_symbol, "REGEX": _by_text}
