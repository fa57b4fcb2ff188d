"""What a query worker answers: a Struct for each tool, and the refusal."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from fledgling.messages.bounded import (
    MAX_OTHERS,
    MAX_STEPS,
    At,
    Count,
    Path,
    Place,
    Said,
    Share,
    Shown,
    Word,
)
from fledgling.messages.questions import Direction, Kind, Line, Relation


class Next(Struct, frozen=True):
    """The very call that continues a cut answer."""

    tool: str
    arguments: dict[str, str | int | bool | list[str]]


class Answer(
    Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True, tag=lambda name: name.lower()
):
    """What a worker found. Defaults are left out on the wire, so an absent field is its default.

    `taken` says what of the question was taken as what else; the broker alone says it.
    """

    taken: Said | None = None


class Directory(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Totals below one directory; `path` ends in `/`, and `lines` is absent while they are being counted."""

    path: Path
    files: Count
    lines: Count | None = None
    languages: dict[Word, Count] = {}


class FileEntry(Struct, frozen=True, omit_defaults=True):
    """One file; `skipped` says why its content is not in the index, and `lines` is absent where nobody counted them."""

    path: Path
    language: Word | None = None
    lines: Count | None = None
    symbols: Count = 0
    skipped: Word | None = None


class Summary(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Totals below the explored path; `skipped` counts files without content by reason. `total_lines` is as `lines`."""

    total_files: Count
    total_lines: Count | None = None
    total_bytes: Count
    languages: dict[Word, Count]
    largest_file: Path | None = None
    skipped: dict[Word, Count] = {}


class Exploration(Answer, frozen=True):
    """Answer of explore."""

    path: Place
    directories: list[Directory]
    files: list[FileEntry]
    summary: Summary
    next: Next | None = None
    note: Said | None = None


class Summarized(Struct, frozen=True, omit_defaults=True):
    """What a directory, a file or a definition says of itself, as it stands there, and what it defines.

    `source` is where it says so: a docstring, a comment, a heading, a Markdown cell, or the file that speaks for a
    directory. `tags` say what makes a file have them.
    """

    path: Path
    name: str | None = None
    kind: Word | None = None
    lines: tuple[At, At] | None = None
    language: Word | None = None
    files: Count = 0
    says: Said | None = None
    source: Said | None = None
    defines: list[Shown] = []
    tags: list[Said] = []


class Summaries(Answer, frozen=True):
    """Answer of explore with `detail` summary: of a directory what is in it, of a file it and what it defines."""

    path: Place
    summaries: list[Summarized]
    total: Count
    next: Next | None = None
    note: Said | None = None


class Architecture(Answer, frozen=True):
    """Answer of explore with `detail` architecture: lines of text, some 800 tokens at most."""

    path: Place
    lines: list[Shown]
    tokens: Count
    next: Next | None = None  # never
    note: Said | None = None


class Excerpt(Answer, frozen=True):
    """Answer of read: consecutive lines, the first numbered `first`; `next` is set where the asked range was cut."""

    path: Path
    language: Word | None
    first: At
    lines: list[Shown]
    total_lines: Count
    enclosing: str | None = None
    next: Next | None = None
    note: Said | None = None


class FileHits(Struct, frozen=True, omit_defaults=True):
    """Hits in one file: matching line numbers, `[number, text]` with context, enclosing definition -> its hits."""

    path: Path
    hits: list[Line]
    lines: list[tuple[Line, Shown]]
    language: Word | None = None
    enclosing: dict[str, list[Line]] = {}


class Hits(Answer, frozen=True):
    """Answer of search. `total` counts matching lines in all pages, or at least so many where it is a lower bound."""

    files: list[FileHits]
    total: Count
    total_files: Count
    mode_used: Literal["text", "regex"]
    next: Next | None = None
    note: Said | None = None
    total_is_lower_bound: bool = False


class Why(Struct, frozen=True, omit_defaults=True):
    """Why a passage is where it is: where each word was found, `{"retry": ["name", "comment"]}`; ranks and scores by
    the text alone (`fts`), and by all there is; and the tags that were asked for, with what in the file says so.
    """

    words: dict[str, list[Word]]
    fts_rank: Count
    fts_score: Share
    meaning_rank: Count
    meaning_score: Share
    matched_tags: list[Said] = []


class Passage(Struct, frozen=True, omit_defaults=True):
    """Lines of a file that are about what was asked: a definition or a section, and its best lines; how much speaks for
    the file, from 0 to 1; and other definitions or sections of the file, the best first, each by its first line.
    """

    path: Path
    lines: tuple[At, At]
    score: Share
    language: Word | None = None
    kind: Kind | None = None
    name: str | None = None
    signature: Shown | None = None
    best: list[tuple[Line, Shown]] = []
    others: Annotated[list[tuple[At, Shown]], Meta(max_length=MAX_OTHERS)] = []
    why: Why | None = None


class Ranking(Answer, frozen=True):
    """Answer of search by meaning, and among documents: passages, the best first, of `total` that say anything, or of
    at least so many where it is a lower bound.
    """

    files: list[Passage]
    total: Count
    mode_used: Literal["meaning", "docs"]
    note: Said | None = None
    total_is_lower_bound: bool = False


class Symbol(Struct, frozen=True, omit_defaults=True):
    """One definition; `lines` are its first and last line, decorators included."""

    name: str
    kind: Kind
    lines: tuple[At, At]
    signature: Shown | None = None
    parent: str | None = None


class FileSymbols(Struct, frozen=True, omit_defaults=True):
    """Definitions of one file, in order."""

    path: Path
    symbols: list[Symbol]
    language: Word | None = None


class SymbolList(Answer, frozen=True):
    """Answer of symbols, and of search with `kind`. `total` counts those of all pages, or is a lower bound."""

    files: list[FileSymbols]
    total: Count
    next: Next | None = None
    note: Said | None = None
    total_is_lower_bound: bool = False


class Defined(Struct, frozen=True, omit_defaults=True):
    """A definition that was asked about."""

    path: Path
    name: str  # its qualified name
    kind: Kind
    lines: tuple[At, At]


class Related(Struct, frozen=True, omit_defaults=True):
    """A use of a definition, or a definition that is related to it: `line` is where it stands, or begins.

    `name` is the definition that a use is in, or the one that is related; it is absent where a use is in none. `at` are
    the lines of the definition that was asked about in which a callee is called. `confidence` is absent where a use is
    certain, and `distance` where it is one step.
    """

    line: At
    name: str | None = None
    how: Word = "call"
    text: Shown | None = None
    confidence: Word | None = None
    reason: Word | None = None
    distance: Annotated[int, Meta(ge=1, le=MAX_STEPS)] = 1
    at: list[Line] = []


class FileRelated(Struct, frozen=True, omit_defaults=True):
    """What is related in one file, in order."""

    path: Path
    related: list[Related]


class Relations(Answer, frozen=True):
    """Answer of symbols with `relation`. `account` says what became of every occurrence of the name.

    `total` counts entries: a callee whose calls are partly certain and partly likely has two.
    """

    relation: Relation
    definitions: list[Defined]
    files: list[FileRelated]
    total: Count
    account: Said
    next: Next | None = None
    note: Said | None = None


class Context(Answer, frozen=True):
    """Answer of read with `budget_tokens`: lines of text that are packed to the budget, headings included.

    `dropped` says what did not fit; it is among the lines.
    """

    path: Path
    symbol: str
    lines: list[Shown]
    tokens: Count
    budget: Count
    dropped: list[Said] = []
    next: Next | None = None  # never: what did not fit is in no further page
    note: Said | None = None


class Import(Struct, frozen=True, omit_defaults=True):
    """One import; either `resolved` names a file of the project or `unresolved` says why not.

    Of a package that several files declare, or that is a directory, `resolved` is the directory that they are in, and
    `files` says how many they are.
    """

    line: At
    module: str
    names: list[str] = []
    resolved: Path | None = None
    unresolved: Literal["stdlib", "external", "not found"] | None = None
    files: Count | None = None


class Importer(Struct, frozen=True):
    """One place that imports the file."""

    path: Path
    line: At


class FileImports(Struct, frozen=True, omit_defaults=True):
    """The adjacency list of one file reached at `distance` steps."""

    path: Path
    distance: Annotated[int, Meta(ge=0, le=10)]
    imports: list[Import] = []
    imported_by: list[Importer] = []


class DependencyGraph(Answer, frozen=True):
    """Answer of dependencies; `further` holds the files reached when depth > 1.

    Totals are those of the file itself, where this page has not all. A package that is a directory ends in `/`.
    """

    path: Path
    imports: list[Import] = []
    imported_by: list[Importer] = []
    further: list[FileImports] = []
    next: Next | None = None
    note: Said | None = None
    direction: Direction = "both"
    total_imports: Count | None = None
    total_importers: Count | None = None


class Table(Answer, frozen=True):
    """Answer of query. Values JSON cannot hold are text: timestamps ISO 8601, blobs hex, NaN and infinities by name."""

    columns: list[str]
    rows: list[list[Any]]  # a cell is any JSON value
    row_count: Count
    truncated: bool = False
    note: Said | None = None


AnyAnswer = (
    Exploration
    | Summaries
    | Architecture
    | Excerpt
    | Context
    | Hits
    | Ranking
    | SymbolList
    | Relations
    | DependencyGraph
    | Table
)


RefusalKind = Literal[
    "denied",
    "invalid",
    "not_found",
    "ambiguous",
    "not_indexed",  # the index does not hold it, and will not: skipped content, uses in some languages
    "timeout",
    "memory",
    "busy",
    "cancelled",
    "unavailable",  # for now
    "failed",
]


class Refusal(Struct, frozen=True, forbid_unknown_fields=True, tag="refusal"):
    """Why there is no answer, in words an agent can act on: what was wrong, and what to do next."""

    kind: RefusalKind
    reason: Said
    next_step: Said
