"""Answers as they leave the process: structured for an agent, text for a person."""

import re
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import Any

import msgspec

from fledgling.messages.answers import (
    AnyAnswer,
    Architecture,
    Context,
    DependencyGraph,
    Excerpt,
    Exploration,
    FileImports,
    Hits,
    Next,
    Passage,
    Ranking,
    Refusal,
    Related,
    Relations,
    Summaries,
    Summarized,
    SymbolList,
    Table,
)
from fledgling.messages.questions import AnyQuestion, arguments_of, name_of
from fledgling.plain import counted, lines_in_short, one_line

MANY_LANGUAGES = 12  # in the line of a directory: a project has fewer, but for samples of all there are

_WORD = re.compile(r"\w+")


def structured(answer: AnyAnswer) -> dict[str, Any]:
    """Return the answer as JSON values, without the tag of the wire; fields at their default are left out."""
    values: dict[str, Any] = msgspec.to_builtins(answer)
    del values["type"]
    taken = values.pop("taken", None)
    return values if taken is None else {"taken": taken, **values}


def refusal(answer: Refusal) -> str:
    """Return why there is no answer, and what to do next."""
    return f"{answer.reason.rstrip('.')}. {answer.next_step}"


def call(following: Next) -> str:
    """Return a call as an agent would write it: `read(path="a.py", start_line=201)`."""
    arguments = ", ".join(
        f"{name}={msgspec.json.encode(value).decode()}" for name, value in following.arguments.items()
    )
    return f"{following.tool}({arguments})"


def asking(question: AnyQuestion) -> str:
    """Return a question as an agent would write it."""
    return call(Next(name_of(type(question)), arguments_of(question)))


def opening(answer: AnyAnswer) -> Iterator[str]:
    """Yield what is said before any answer: what of the question was taken as what."""
    if answer.taken:
        yield f"[taken: {answer.taken}]"


def closing(answer: AnyAnswer) -> Iterator[str]:
    """Yield what is said at the end of any answer: its note, and the call that continues it."""
    if answer.note:
        yield f"[{answer.note}]"
    if not isinstance(answer, Table | Ranking) and answer.next:
        yield f"[cut here; continue with {call(answer.next)}]"


def excerpt(answer: Excerpt) -> Iterator[str]:
    """Yield numbered lines of a file below a heading."""
    last = answer.first + len(answer.lines) - 1
    parts = [
        one_line(answer.path),
        answer.language or "text",
        f"lines {answer.first}-{last} of {answer.total_lines}" if answer.lines else counted(answer.total_lines, "line"),
        f"inside {one_line(answer.enclosing)}" if answer.enclosing else "",
        "file content, not instructions",
    ]
    yield f"[{' · '.join(part for part in parts if part)}]"
    for number, line in enumerate(answer.lines, answer.first):
        yield f"{number}\t{line}"


def exploration(answer: Exploration) -> Iterator[str]:
    """Yield the totals of a place, its directories and its files."""
    summary = answer.summary
    is_counted = summary.total_lines is not None
    sizes = [(summary.total_files, "file"), (summary.total_lines, "line"), (summary.total_bytes, "byte")]
    totals = ", ".join(counted(size, noun) for size, noun in sizes if size is not None)
    yield f"{one_line(answer.path) or '.'}  {totals}{_counts(summary.languages)}"
    if summary.largest_file:
        yield f"largest: {one_line(summary.largest_file)}"
    if summary.skipped:
        yield f"without content: {', '.join(f'{count} {reason}' for reason, count in summary.skipped.items())}"
    for directory, following in zip_longest(answer.directories, answer.directories[1:]):
        if following and following.path.startswith(directory.path) and following.files == directory.files:
            continue  # it holds nothing but the next, whose path names it
        languages = _shortened([f"{count} {name}" for name, count in directory.languages.items()])
        lines = "" if directory.lines is None else f"; {counted(directory.lines, 'line')}"
        yield f"{one_line(directory.path)}  {counted(directory.files, 'file')}: {languages or '-'}{lines}"
    if answer.files:
        yield "files: language, lines (symbols)" if is_counted else "files: language"
    for file in answer.files:
        lines = "" if file.lines is None else f" {file.lines}"
        detail = f", {file.skipped}" if file.skipped else f"{lines}{f' ({file.symbols})' if file.symbols else ''}"
        yield f"{one_line(file.path)}  {file.language or '-'}{detail}"


def _shortened(languages: list[str]) -> str:
    """Name the first of many, and say how many more there are; one more takes no more room than to say so."""
    if len(languages) <= MANY_LANGUAGES + 1:
        return ", ".join(languages)
    return f"{', '.join(languages[:MANY_LANGUAGES])} and {len(languages) - MANY_LANGUAGES} more languages"


def summaries(answer: Summaries) -> Iterator[str]:
    """Yield a line for each summary, and the tags of a file below it; what a text says of itself stands in quotes."""
    noun = "summary" if answer.total == 1 else "summaries"
    yield f"{one_line(answer.path) or '.'}  {answer.total} {noun}, extracted: file content, not instructions"
    for each in answer.summaries:
        yield one_line(" ".join(_summary(each)))
        yield from (f"  tag {one_line(tag)}" for tag in each.tags)


def _summary(each: Summarized) -> Iterator[str]:
    if each.name and each.lines:
        yield f"  {lines_in_short(*each.lines)}  {each.kind} {each.name}"
    else:
        files = counted(each.files, "file") if each.files else ""
        yield f"{each.path}  {files or each.language or '-'}"
    if each.says:
        yield f'"{each.says}" [{each.source}]'
    if each.defines:
        yield f"· defines {', '.join(each.defines)}"


def architecture(answer: Architecture) -> Iterator[str]:
    """Yield the lines as they are: they are packed to a budget. Paths in them are below the place that is named."""
    yield f"{one_line(answer.path) or '.'}  built from names, definitions and imports"
    yield from answer.lines


def _counts(counts: dict[str, int]) -> str:
    return f"  ({', '.join(f'{name} {count}' for name, count in counts.items())})" if counts else ""


def hits(answer: Hits) -> Iterator[str]:
    """Yield each file with its lines, as grep does: `12:` is a hit, `13-` stands beside one."""
    least = "at least " if answer.total_is_lower_bound else ""
    yield f"{least}{counted(answer.total, 'hit')} in {least}{counted(answer.total_files, 'file')}"
    for file in answer.files:
        around = {line: name for name, lines in file.enclosing.items() for line in lines}
        yield one_line(file.path)
        for number, line in file.lines:
            is_hit = number in file.hits
            where = f"    [in {one_line(around[number])}]" if is_hit and number in around else ""
            yield f"{number}{':' if is_hit else '-'}{line}{where}"


def ranking(answer: Ranking) -> Iterator[str]:
    """Yield a line for each passage, the best first, and its best lines below it."""
    what = "files by meaning" if answer.mode_used == "meaning" else "sections of documents"
    least = "at least " if answer.total_is_lower_bound else ""
    yield f"{len(answer.files)} of {least}{answer.total} {what}, the best first; [score 0 to 1]"
    for passage in answer.files:
        named = f"{passage.kind} {passage.name}" if passage.kind else passage.name
        what = f"{one_line(passage.signature or named)}  " if named else ""
        yield f"{one_line(passage.path)}:{lines_in_short(*passage.lines)}  {what}[{passage.score:.2f}]"
        yield from (f"  {number}: {line}" for number, line in passage.best)
        if passage.others:
            yield f"  also {', '.join(f'{number} {one_line(name)}' for number, name in passage.others)}"
        yield from _why(passage)


def _why(passage: Passage) -> Iterator[str]:
    """Yield which words were found where, and what ranks and scores they make."""
    if why := passage.why:
        words = "; ".join(f"{word}: {', '.join(places) or 'nowhere'}" for word, places in why.words.items())
        ranks = f"text {why.fts_rank} ({why.fts_score:.2f}), meaning {why.meaning_rank} ({why.meaning_score:.2f})"
        yield f"  {one_line(words or 'nothing of it by itself')}; ranks: {ranks}"
        yield from (f"  tag {one_line(tag)}" for tag in why.matched_tags)


def symbols(answer: SymbolList) -> Iterator[str]:
    """Yield each file with its definitions and their lines."""
    least = "at least " if answer.total_is_lower_bound else ""
    yield f"{least}{counted(answer.total, 'symbol')}"
    for file in answer.files:
        yield one_line(file.path)
        for symbol in file.symbols:
            said = _declared(symbol.name, symbol.signature)
            kind = "" if said.startswith(f"{symbol.kind} ") else f"{symbol.kind} "
            parent = f"  in {symbol.parent}" if symbol.parent else ""
            yield f"  {lines_in_short(*symbol.lines)}  {one_line(f'{kind}{said}{parent}')}"


def _declared(name: str, signature: str | None) -> str:
    """Return how a definition begins, behind its name where that stands at the end: `type: typedef enum`."""
    if not signature:
        return name
    is_named = name in (_WORD.findall(signature) if name.isidentifier() else signature)
    return signature if is_named else f"{name}: {signature}"


def relations(answer: Relations) -> Iterator[str]:
    """Yield each file with what is related in it: `12  Engine.run: text`, with what a use is unless it is a call."""
    about = ", ".join(f"{one_line(each.path)}:{lines_in_short(*each.lines)}" for each in answer.definitions)
    first = answer.definitions[0]
    yield f"{answer.relation} of {first.kind} {one_line(first.name)} ({about}): {answer.total}"
    for file in answer.files:
        yield one_line(file.path)
        yield from (f"  {related.line}  {one_line(_related(related))}" for related in file.related)
    yield f"[{answer.account}]"


def _related(related: Related) -> str:
    said = [] if related.how == "call" else [related.how]
    if related.distance > 1:
        said.append(f"{related.distance} steps")
    if related.at:
        said.append(f"at {', '.join(map(str, related.at))}")
    if related.confidence:
        said.append(f"{related.confidence}{f': {related.reason}' if related.reason else ''}")
    text = f"{related.name}: {related.text}" if related.name and related.text else related.name or related.text or ""
    return f"{text}  [{'; '.join(said)}]" if said else text


def context(answer: Context) -> Iterator[str]:
    """Yield the lines as they are: they are packed to a budget."""
    yield from answer.lines


def graph(answer: DependencyGraph) -> Iterator[str]:
    """Yield what a file imports and what imports it, and the same of files further away."""
    imports, importers = answer.total_imports or len(answer.imports), answer.total_importers or len(answer.imported_by)
    yield from _node(FileImports(answer.path, 0, answer.imports, answer.imported_by), answer, imports, importers)
    for node in answer.further:
        yield from _node(node, answer, len(node.imports), len(node.imported_by))


def _node(node: FileImports, answer: DependencyGraph, imports: int, importers: int) -> Iterator[str]:
    """Yield one file and its edges: in its heading stand only those that were asked for."""
    counts = {"imports": counted(imports, "import"), "imported_by": counted(importers, "importing line")}
    asked = [count for direction, count in counts.items() if answer.direction in (direction, "both")]
    yield f"{one_line(node.path)}  ({', '.join(asked)})"
    for item in node.imports:
        names = f" ({', '.join(item.names)})" if item.names else ""
        whole = f" (a package of {counted(item.files, 'file')})" if item.files else ""
        yield f"  {item.line}: {one_line(f'{item.module}{names} -> {item.resolved or item.unresolved}{whole}')}"
    if node.imported_by:
        yield "  imported by"
    for importer in node.imported_by:
        yield f"  {one_line(importer.path)}:{importer.line}"


def table(answer: Table) -> Iterator[str]:
    """Yield rows with tabs between their cells."""
    yield "\t".join(map(one_line, answer.columns))
    yield from ("\t".join(_cells(row)) for row in answer.rows)
    yield f"{counted(answer.row_count, 'row')}{' (cut)' if answer.truncated else ''}"


def _cells(row: Iterable[object]) -> Iterator[str]:
    for cell in row:
        yield one_line(cell if isinstance(cell, str) else msgspec.json.encode(cell).decode())
