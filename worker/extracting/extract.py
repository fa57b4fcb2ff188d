"""Definitions, imports and comment lines of one file: the choice of what reads it, and the way from there to rows.

What a text may cost is not limited here: a few kilobytes can keep tree-sitter's query busy for minutes, and neither it
nor the parser can be stopped from within but at a price for every file. extractor/process.py ends the process instead.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache, partial

import re2
from msgspec.structs import replace

from fledgling.worker.deferred import compile_all
from fledgling.worker.extracting.elided_bodies import Blanked, Bodies
from fledgling.worker.extracting.grammar import Syntax, load_grammar, without_resources
from fledgling.worker.extracting.heads import HeadRules
from fledgling.worker.extracting.inner import Inner, on_lines
from fledgling.worker.extracting.lexical import StatementRules, comments, scanner
from fledgling.worker.extracting.outline import by_place, extraction, symbols
from fledgling.worker.extracting.repair import IsLate, RepairedReading, never, read, read_others, repairs
from fledgling.worker.extracting.source_text import SourceText, Span
from fledgling.worker.language import PLACE, Language, LanguageError, Languages, own_module
from fledgling.worker.rows import Extraction, SymbolRow

HEADS = "/heads.toml"  # ends the names of rules that heads.py reads; the others are queries, or lexical.py's
CONDITION = re.compile(rb"^[ \t]*#[ \t]*(?:if|elif|else|endif)[^\n]*", re.MULTILINE)  # no part of a signature
QUIET = re2.Options()  # what is wrong is raised, and not written to standard error as well
QUIET.log_errors = False


class Extractor:
    """All grammars of the table, and their rules.

    `Extractor(load_languages()).extract("python", b"def f(): ...\\n").symbols[0].name == "f"`
    """

    def __init__(self, languages: Languages) -> None:
        self.rows = languages.rows
        with without_resources():
            self._syntaxes = {
                name: syntaxes(name, row, languages) for name, row in languages.rows.items() if row.grammars
            }
        for name, row in languages.rows.items():
            repairs(row.repairs)
            if row.fallback:
                self._syntaxes[name] += self._syntaxes[row.fallback]
        folders = {row.reader for row in languages.rows.values() if row.reader}
        self._readers = {folder: own_module(folder, "reader").outline for folder in folders}
        folders = {row.inner for row in languages.rows.values() if row.inner}
        self._inner = {folder: own_module(folder, "inner").inner for folder in folders}
        # Made when a language is first met, as queries are: no file needs to be opened for them.
        self._bodies = cache(partial(Bodies, languages))
        self._statements = cache(partial(StatementRules, languages))
        self._heads = cache(partial(HeadRules, languages))
        self._scanners = cache(partial(scanner, languages))

    def prepare(self, language: str) -> None:
        """Compile all that a text of a language needs. Raises LanguageError where something does not compile."""
        row = self.rows.get(language, Language())
        check_expressions(f"{PLACE}/{language}/language.toml", row)
        readers = [f"{folder}.{name}" for folder, name in ((row.reader, "reader"), (row.inner, "inner")) if folder]
        for module in (*readers, *row.repairs):
            check_module(module)
        try:
            self.extract(language, b"\n")
        except (ValueError, re.error) as problem:
            raise LanguageError(f"{PLACE}/{', '.join(row.rules)}", problem) from problem

    def extract(self, language: str, source: bytes, is_late: IsLate = never) -> Extraction:
        """What the text of one file says: lines of UTF-8. Whatever they hold, it does not raise.

        Once it `is_late` nothing more of it is repaired.
        """
        row = self.rows.get(language, Language())
        if syntaxes := self._syntaxes.get(language):
            return parsed(syntaxes, source, self._bodies(language) if row.body else None, is_late)
        if row.rules and row.rules[0].endswith(HEADS):
            found = self._heads(language).outline(source)
            text = SourceText(source, found.comments)
            return extraction(row, text, found.definitions, found.imports, "rules", complete=found.complete)
        if row.rules:
            rules = self._statements(language)
            cut = rules.cut(source)
            defined = sorted((*rules.definitions(cut), *rules.templates(source)), key=lambda each: each.start)
            return extraction(row, SourceText(source, cut.comments), defined, [], "rules", complete=True)
        spans = comments(self._scanners(language), source) if row.comments else []
        if row.inner:
            return self._within(row, SourceText(source, spans), is_late)
        if row.reader:
            found = self._readers[row.reader](source)
            text = SourceText(source, spans + found.comments, has_blank_ends=True)
            return extraction(row, text, found.definitions, found.imports, "reader", complete=found.complete)
        return extraction(row, SourceText(source, spans), [], [], "none", complete=True)

    def _within(self, row: Language, outer: SourceText, is_late: IsLate) -> Extraction:
        """What the text of another language in this one says."""
        inner: Inner = self._inner[row.inner or ""](outer.source)
        found = self.extract(inner.language, inner.text, is_late)
        if inner.lines:  # places of comments are in the inner text
            said = [inner.text[start:end].decode(errors="replace") for start, end in found.comments]
            found = replace(on_lines(found, inner.lines), comments=(), docs=[*inner.prose, *found.docs, *said])
            found = replace(found, header=inner.prose[0] if inner.prose else "")
        lines = found.comment_lines | outer.comment_lines if row.comment_lines else frozenset[int]()
        return replace(found, comment_lines=lines, complete=found.complete and inner.complete)


def syntaxes(name: str, row: Language, languages: Languages) -> list[Syntax]:
    """The grammars of a language, each with its rules. Raises LanguageError where one is not installed."""
    rules = {file: languages.rules[file] for file in row.rules}
    try:
        return [Syntax(load_grammar(grammar), rules, row) for grammar in row.grammars]
    except ValueError as problem:
        raise LanguageError(f"{PLACE}/{name}/language.toml", problem) from problem


def check_expressions(file: str, row: Language) -> None:
    """Compile the expressions of a row, and name the column of one that does not."""
    for column in ("private", "constant", "doc_comment", "relative", "body"):
        try:
            re.compile(getattr(row, column) or "")
        except re.error as problem:
            raise LanguageError(file, f"{column}: {problem}") from problem
    for column in ("defining", "fallback_sign", "fallback_sure"):
        try:
            re2.compile(getattr(row, column), QUIET)
        except re2.error as problem:
            raise LanguageError(file, f"{column}: {problem.args[0].decode()}") from problem


def check_module(module: str) -> None:
    """Compile the expressions of a module of a language, `c.gaps`, and name the file of one that does not."""
    folder, _, name = module.partition(".")
    try:
        compile_all(own_module(folder, name))
    except re.error as problem:
        raise LanguageError(f"{PLACE}/{folder}/{name}.py", problem) from problem


def parsed(syntaxes: list[Syntax], source: bytes, bodies: Bodies | None, is_late: IsLate) -> Extraction:
    """What tree-sitter finds; it does not see the bodies in which there is nothing to be found."""
    blanked = bodies.blanked(source) if bodies else Blanked(source)
    reading = read(syntaxes, source, blanked, is_late)
    sure = blanked.bodies & reading.captured.blank  # the others stand in a comment, or in a macro
    if bodies and not reading.captured.complete:
        sure = bodies.sure(source, sure)
    if bodies and sure != blanked.bodies:
        blanked = bodies.blanked(source, sure)
        reading = read(syntaxes, source, blanked, is_late)
    if not blanked.bodies <= reading.captured.blank:
        blanked = Blanked(source)
        reading = read(syntaxes, source, blanked, is_late)
    found = reading.captured
    text = SourceText(source, found.comments + blanked.comments, reading.left_out)
    others = read_others(syntaxes, source, blanked, is_late) if reading.left_out and not is_late() else ()
    more = [*in_others(text, reading.left_out, others)]
    definitions, imports = found.definitions(), found.imports()
    complete = found.complete and not (reading.left_out and is_late())
    extracted = extraction(
        reading.language, text, definitions, imports, "tree-sitter", complete=complete, macros=found.macros
    )
    if more:
        extracted.symbols.extend(more)
        extracted.symbols.sort(key=by_place)
    return extracted


def in_others(text: SourceText, left_out: Sequence[Span], others: Iterable[RepairedReading]) -> Iterable[SymbolRow]:
    """What other readings of a text define where one has left something out, each once."""
    found: dict[SymbolRow, None] = {}
    for other in others:
        directives = [line.span() for line in CONDITION.finditer(text.source)]
        shown = SourceText(text.source, text.comments, [*other.left_out, *directives])
        found |= dict.fromkeys(symbols(other.language, shown, other.captured.definitions(), only=sorted(left_out)))
    return found
