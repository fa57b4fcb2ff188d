"""Every message that crosses a process boundary, one Struct each.

A question is at once the JSON schema an agent sees, the check of its arguments, the message on the pipe, the type the
handler gets and the parameters of its SQL file. What decides a name, a default or a bound of a tool lives here.
"""

import re
from typing import Annotated, Any, Final, Literal, get_args

from msgspec import Meta, Struct

from fledgling.plain import HIDDEN, MAX_SAID_CHARS
from fledgling.scope import Scope

MAX_ARGUMENT_CHARS = 4096  # a path may be PATH_MAX long; nothing an agent asks for needs more
MAX_SQL_CHARS = 16384  # the statement gate's worst case grows with the text: about 80 ms at this size
MAX_LINE = 2**31 - 1  # line numbers are INTEGER in the tables
MAX_COUNT = 2**53  # of files, lines and bytes: readers of JSON hold integers as doubles; beyond this they would round
MAX_PATH_CHARS = 2**17  # 128 directories in one another, names of 255 bytes, and four characters for each
MAX_WORD_CHARS = 256  # of a language, a reason, the name of a layer
MAX_SHOWN_CHARS = 2**12  # of a line of text: 2,000, and marks that count what is missing

Kind = Literal[
    "function",
    "class",
    "method",
    "variable",
    "constant",
    "interface",
    "enum",
    "type",
    "struct",
    "trait",
    "module",
    "table",
    "view",
    "index",
    "trigger",
    "procedure",
    "schema",
    "sequence",
    "property",
    "macro",
    "section",
    "key",
    "selector",
    "import",
    "export",
]
Direction = Literal["imports", "imported_by", "both"]
DEFINITION_KINDS: tuple[str, ...] = tuple(kind for kind in get_args(Kind) if kind not in ("import", "export"))

Text = Annotated[str, Meta(max_length=MAX_ARGUMENT_CHARS)]
Line = Annotated[int, Meta(ge=1, le=MAX_LINE)]
PathFilter = Annotated[
    Text | None, Meta(description="directory, file or glob: `src`, `src/core/*`, `**/*.py`, `*.py` (any directory)")
]
Language = Annotated[Text | None, Meta(description="python, javascript, typescript, sql, ...")]
Cursor = Annotated[Annotated[str, Meta(pattern="^[0-9]{1,9}$")] | None, Meta(description="from `next`")]
# Of a map: "500.0" goes on where it began, before a file was read; "500" is of the whole index.
MapCursor = Annotated[Annotated[str, Meta(pattern=r"^[0-9]{1,9}(\.[01])?$")] | None, Meta(description="from `next`")]


def meaning(text: str) -> dict[str, str]:
    """Say what an argument means in docs/tools.md alone: a `description` would be in every agent's context."""
    return {"meaning": text}


_NO_TEXT = re.compile("[\ud800-\udfff]")  # bytes of a command line that are not UTF-8, halves of pairs in JSON


# ---- questions ------------------------------------------------------------------------------------------------------


class Question(
    Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, tag_field="tool", tag=lambda name: name.lower()
):
    """What an agent may ask. `Search(query="timeout")` is `{"tool": "search", "query": "timeout"}` on the pipe."""

    def __post_init__(self) -> None:
        """Refuse control characters: no path, glob or name needs one, and terminals and logs obey them."""
        for field in self.__struct_fields__:
            value = getattr(self, field)
            if isinstance(value, str) and any((c < " " and c != "\t") or c == "\x7f" for c in value):
                raise ValueError(f"{field} holds a control character or a line break; ask for one line of plain text")
            if isinstance(value, str) and _NO_TEXT.search(value):
                raise ValueError(f"{field} holds what is not UTF-8; ask for one line of plain text")


class Explore(Question, frozen=True):
    """Directories and files with sizes, languages and symbol counts: the map of the project.

    Start here, and instead of ls, find or tree. Not for file contents (read) or text (search).
    Example: explore(path="src", depth=2, pattern="*.py")
    """

    path: Annotated[Text, Meta(description="directory relative to the root")] = ""
    depth: Annotated[int, Meta(ge=1, le=20, description="levels to show")] = 1
    pattern: Annotated[Text | None, Meta(description="glob the files must match, `*.py`")] = None
    cursor: MapCursor = None

    @property
    def continues(self) -> int | None:
        """The generation that the pages before were made of; None for a first page, which any may answer."""
        if self.cursor is None:
            return None
        number = self.cursor.partition(".")[2]
        return int(number) if number else CODE


class Read(Question, frozen=True):
    """A file, a range of its lines, or one definition, with line numbers.

    Use it instead of cat, head or sed; give `symbol` to get just that function or class. A long file is cut and says
    how to go on. Not for finding things (search, symbols).
    Example: read(path="src/app.py", symbol="Engine.run")
    """

    path: Annotated[Text, Meta(description="file relative to the root")]
    start_line: Annotated[Line | None, Meta(description="first line, from 1")] = None
    end_line: Annotated[Line | None, Meta(description="last line, included")] = None
    symbol: Annotated[Text | None, Meta(description="`name`, `Class.method` or a qualified name")] = None


class Search(Question, frozen=True):
    """Lines of text that hold `query`, grouped by file with context and the enclosing definition.

    Use it instead of grep. Literal and case-insensitive unless said otherwise; `regex` is RE2 (no look-around, no
    back-references), matched within one line. With `kind`, finds definitions whose name holds `query`, best first.
    Example: search(query="timeout", path="src/**", language="python")
    """

    query: Annotated[Text, Meta(min_length=1, extra=meaning("the text, or the expression, or a part of a name"))]
    path: PathFilter = None
    language: Language = None
    kind: Annotated[Kind | None, Meta(extra=meaning("find definitions of this kind by name, not text"))] = None
    regex: Annotated[bool, Meta(extra=meaning("`query` is a regular expression of RE2"))] = False
    case_sensitive: Annotated[bool, Meta(extra=meaning("tell upper case from lower case"))] = False
    whole_word: Annotated[bool, Meta(description="no letter, digit or `_` (ASCII) beside the match")] = False
    context: Annotated[int, Meta(ge=0, le=20, description="lines around a hit")] = 2
    max_results: Annotated[int, Meta(ge=1, le=1000, description="hits a page")] = 50
    cursor: Cursor = None


class Symbols(Question, frozen=True):
    """Definitions (functions, classes, methods, tables, ...) with lines and signatures, grouped by file.

    Use it for the outline of a file or to list definitions by kind or name. Imports and exports are listed only when
    asked for by kind. Not for uses of a name (search).
    Example: symbols(path="src/core/*", kind="function", name_pattern="parse_*")
    """

    path: PathFilter = None
    kind: Annotated[Kind | None, Meta(extra=meaning("definitions of this kind only"))] = None
    language: Language = None
    name_pattern: Annotated[Text | None, Meta(description="glob on the name, `parse_*`")] = None
    max_results: Annotated[int, Meta(ge=1, le=1000, extra=meaning("definitions a page"))] = 100
    cursor: Cursor = None


class Dependencies(Question, frozen=True):
    """What a file imports, resolved to files of the project or with the reason why not, and what imports it.

    Use it before changing a module, to see what depends on it.
    Example: dependencies(path="src/api/routes.py", direction="imported_by")
    """

    path: Annotated[Text, Meta(description="file relative to the root")]
    direction: Annotated[Direction, Meta(extra=meaning("which way to follow imports"))] = "both"
    depth: Annotated[int, Meta(ge=1, le=10, description="steps to follow")] = 1
    cursor: Cursor = None


class Query(Question, frozen=True):
    """One SELECT over the index: files, content, symbols, imports (see DESCRIBE files).

    Use it when no other tool answers, for counts, joins and aggregates. Rows and bytes are capped and a cut says so.
    Example: query(sql="SELECT path, name, line_end - line_start AS length FROM symbols ORDER BY length DESC LIMIT 10")
    """

    sql: Annotated[str, Meta(min_length=1, max_length=MAX_SQL_CHARS, extra=meaning("one SELECT in DuckDB's dialect"))]

    def __post_init__(self) -> None:
        """SQL spans lines, so only NUL is refused here; the gate parses the rest."""
        if "\x00" in self.sql or _NO_TEXT.search(self.sql):
            raise ValueError("sql holds a NUL character, or what is not UTF-8; write one SELECT as plain text")


AnyQuestion = Explore | Read | Search | Symbols | Dependencies | Query
QUESTIONS: dict[str, type[AnyQuestion]] = {
    "explore": Explore,
    "read": Read,
    "search": Search,
    "symbols": Symbols,
    "dependencies": Dependencies,
    "query": Query,
}


class Survey(Question, frozen=True):
    """What a report shows of the whole index. No tool: a person asks it of a broker, and no agent can."""


Asked = AnyQuestion | Survey  # what goes to a worker


# ---- what answers are made of ---------------------------------------------------------------------------------------

# Back processes may lie: what a broker passes on is within these bounds, or its sender is killed (tests/test_wire.py).
# What fits a question, and what an answer says of itself, is in broker/fitting.py.

# No control or format character, no line break, no space but the plain one: it can neither be obeyed nor hidden.
_SEEN = rf"[^\x00-\x1f\xa0\u202f\u205f{HIDDEN}]"
_RELATIVE = r"^(?!/)(?!(?:.*/)?\.\.(?:/|\Z))" + _SEEN  # below the root: not absolute, and no `..` in it

Said = Annotated[str, Meta(max_length=MAX_SAID_CHARS, pattern=rf"^{_SEEN}*\Z")]  # a sentence of ours
Word = Annotated[str, Meta(max_length=MAX_WORD_CHARS, pattern=rf"^{_SEEN}*\Z")]
Path = Annotated[str, Meta(max_length=MAX_PATH_CHARS, pattern=rf"{_RELATIVE}+\Z")]
Place = Annotated[
    str, Meta(max_length=MAX_PATH_CHARS, pattern=rf"{_RELATIVE}*\Z")
]  # a path, or the root, which has none
Shown = Annotated[
    str, Meta(max_length=MAX_SHOWN_CHARS, pattern=r"^[^\n]*\Z")
]  # one line of text, as the project has it
Count = Annotated[int, Meta(ge=0, le=MAX_COUNT)]
At = Annotated[int, Meta(ge=0, le=MAX_LINE)]  # a line; a profile's view may say what is none, and that is 0
Seconds = Annotated[float, Meta(ge=0, le=1e9)]


# ---- answers --------------------------------------------------------------------------------------------------------


class Next(Struct, frozen=True):
    """The very call that continues a cut answer."""

    tool: str
    arguments: dict[str, str | int | bool]


class Answer(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, tag=lambda name: name.lower()):
    """What a worker found. Defaults are left out on the wire, so an absent field is its default."""


class Directory(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Totals below one directory; `path` ends in `/`, and `lines` is absent while they are being counted."""

    path: Path
    files: Count
    lines: Count | None = None
    languages: dict[Word, Count] = {}


class File(Struct, frozen=True, omit_defaults=True):
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
    files: list[File]
    summary: Summary
    next: Next | None = None
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
    next: Next | None = None
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
    """Answer of symbols, and of search with `kind`."""

    files: list[FileSymbols]
    total: Count
    next: Next | None = None
    note: Said | None = None


class Import(Struct, frozen=True, omit_defaults=True):
    """One import; either `resolved` names a file of the project or `unresolved` says why not."""

    line: At
    module: str
    names: list[str] = []
    resolved: Path | None = None
    unresolved: Literal["stdlib", "external", "not found"] | None = None


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
    """Answer of dependencies; `further` holds the files reached when depth > 1."""

    path: Path
    imports: list[Import] = []
    imported_by: list[Importer] = []
    further: list[FileImports] = []
    next: Next | None = None
    note: Said | None = None


class Table(Answer, frozen=True):
    """Answer of query. Values JSON cannot hold are text: timestamps ISO 8601, blobs hex, NaN and infinities by name."""

    columns: list[str]
    rows: list[list[Any]]  # a cell is any JSON value
    row_count: Count
    truncated: bool = False
    note: Said | None = None


AnyAnswer = Exploration | Excerpt | Hits | SymbolList | DependencyGraph | Table
ANSWERS: dict[str, tuple[type[AnyAnswer], ...]] = {
    "explore": (Exploration,),
    "read": (Excerpt,),
    "search": (Hits, SymbolList),
    "symbols": (SymbolList,),
    "dependencies": (DependencyGraph,),
    "query": (Table,),
}


class Area(Struct, frozen=True):
    """The text of one language in one directory; without a directory, what was too small to be listed."""

    directory: Place | None
    language: Word | None
    files: Count
    lines: Count


class Hub(Struct, frozen=True):
    """A file that many files import; `imports` are the hubs it imports, as places in the list of hubs."""

    path: Path
    importers: Count
    imports: list[Count]


class LongFunction(Struct, frozen=True):
    """A function or method, and its first and last line."""

    path: Path
    name: str
    lines: tuple[At, At]


class Parsed(Struct, frozen=True):
    """How far the files of a language are understood, in files."""

    language: Word | None
    whole: Count
    in_part: Count
    given_up: Count
    without_parser: Count


class SkippedFiles(Struct, frozen=True):
    """How many files have no content for one reason, and the first of them."""

    reason: Word
    files: Count
    examples: list[Path]


class Overview(Answer, frozen=True):
    """Answer of survey: areas and functions the largest first, hubs by importers."""

    files: Count
    lines: Count
    areas: list[Area]
    hubs: list[Hub]
    functions: list[LongFunction]
    parsed: list[Parsed]
    skipped: list[SkippedFiles]


Found = AnyAnswer | Overview  # what comes from a worker

RefusalKind = Literal[
    "denied", "invalid", "not_found", "ambiguous", "timeout", "memory", "busy", "cancelled", "unavailable", "failed"
]


class Refusal(Struct, frozen=True, forbid_unknown_fields=True, tag="refusal"):
    """Why there is no answer, in words an agent can act on: what was wrong, and what to do next."""

    kind: RefusalKind
    reason: Said
    next_step: Said


# ---- profiles -------------------------------------------------------------------------------------------------------


class View(Struct, frozen=True):
    """`CREATE VIEW name AS select`, found at `line` of the profile file."""

    name: str
    select: str
    line: int


class Profile(Struct, frozen=True):
    """What one agent may do: the allowlist, the limits, and the views that narrow the tables."""

    name: str
    file: str
    digest: str
    tools: tuple[str, ...]
    memory_limit: int
    query_timeout: float
    max_rows: int
    max_result_bytes: int
    absolute_paths: bool
    views: tuple[View, ...]

    @property
    def narrows_files(self) -> bool:
        """Whether a view decides which files there are: nothing that an agent sees may then depend on the others."""
        return any(view.name in ("visible_files", "files") for view in self.views)

    def reads_all_of(self, table: str) -> bool:
        """Whether somebody may look at any column of a table: a statement, or a view of it. The tools know theirs."""
        return "query" in self.tools or any(view.name == table for view in self.views)


# ---- frames ---------------------------------------------------------------------------------------------------------


class Images(Struct, frozen=True):
    """The memory files of one index, as descriptors: `text` holds tables of files, `code` of what the parsers found.

    `blocks` and `signatures` go with the first: the text itself, and which blocks of it a search has to look at. With
    the second go `outlines`: what is defined where. `listing` is there before them: what the names of files tell.
    """

    text: int
    code: int
    blocks: int
    signatures: int
    outlines: int
    listing: int

    def of(self, generation: int) -> tuple[int, ...]:
        """Return those that are sealed with a generation: `images.of(LISTING)` is its one file."""
        text = (self.listing, self.text, self.blocks, self.signatures)
        return {LISTING: (self.listing,), TEXT: text, CODE: (*text, self.code, self.outlines)}[generation]


class Confining(Struct, frozen=True):
    """What a back process may do without: layers that its kernel lacks, if the operator allows it to.

    `without` names layers that a test switches off to see that the others hold, and `landlock_abi` the latest version
    of Landlock that it leaves, as an older kernel would; no setting leads to either.
    """

    allow_degraded: bool = False
    without: tuple[str, ...] = ()
    landlock_abi: int | None = None


CONFINED = Confining()  # by every layer that there is


class Layer(Struct, frozen=True):
    """One layer of a process's confinement, and why it is absent, if it is: security/confinement.py."""

    name: Word
    absent: Said | None = None


class Build(Struct, frozen=True, forbid_unknown_fields=True, tag="build"):
    """Broker to indexer, once: build the images of `root_fd`. `root` is set only for absolute_paths."""

    broker_pid: int
    images: Images
    root_fd: int
    profile: Profile
    scope: Scope
    root: str | None = None
    confining: Confining = CONFINED


class Accepted(Struct, frozen=True, forbid_unknown_fields=True, tag="accepted"):
    """Indexer to broker: it is confined and the profile's views hold.

    `scope` is what is left after the project's own file narrowed it; `layers` hold the indexer, `lister_layers` and
    `extractor_layers` those it forked.
    """

    scope: Scope
    narrowed: tuple[Word, ...] = ()
    notices: tuple[Said, ...] = ()
    layers: tuple[Layer, ...] = ()
    lister_layers: tuple[Layer, ...] = ()
    extractor_layers: tuple[Layer, ...] = ()


class Progress(Struct, frozen=True, forbid_unknown_fields=True, tag="progress"):
    """Indexer to broker: `done` of `total` files in this stage; total 0 while unknown."""

    stage: Literal["walk", "read", "extract", "seal"]
    done: Count
    total: Count


LISTING: Final = 0  # before the first generation of an index: what the names of files tell
TEXT: Final = 1  # the first generation of an index: files and text
CODE: Final = 2  # the second: the same, and what the parsers found in it


class Generation(Struct, frozen=True, forbid_unknown_fields=True, tag="generation"):
    """Indexer to broker: this generation is sealed. A small project has only the last: it takes no time."""

    number: Literal[0, 1, 2]
    defined: tuple[Word, ...]  # languages whose definitions are extracted
    has_content: bool  # False: index_content is off, so there are definitions but no text
    partial: Said | None = None  # what the index lacks, as a sentence


class LanguageStats(Struct, frozen=True):
    """Per language: files, lines, bytes, symbols, and seconds spent extracting them."""

    language: Word
    files: Count
    lines: Count
    bytes: Count
    symbols: Count = 0
    seconds: Seconds = 0.0


class Built(Struct, frozen=True, forbid_unknown_fields=True, tag="built"):
    """Indexer to broker, last: counts of the images, which hold what the profile lets the agent see."""

    files: Count
    lines: Count
    symbols: Count
    imports: Count
    image_bytes: Count
    seconds: dict[Word, Seconds]
    languages: tuple[LanguageStats, ...]
    skipped: dict[Word, Count]
    left_out: dict[Word, Count]
    slowest: tuple[tuple[Path, Seconds], ...]
    notices: tuple[Said, ...] = ()
    partial: Said | None = None
    sections: dict[Word, Count] = {}  # of each section of the index files its bytes


class Crashed(Struct, frozen=True, forbid_unknown_fields=True, tag="crashed"):
    """Indexer to broker, last: a process that it has forked has ended, and the build with it.

    `status` is the exit status of that process, negative for a signal.
    """

    process: Literal["lister", "extractors' parent"]
    status: int


class Open(Struct, frozen=True, forbid_unknown_fields=True, tag="open"):
    """Broker to query worker, once: serve the profile's tools from one generation of the index."""

    broker_pid: int
    images: Images
    profile: Profile
    generation: Generation
    confining: Confining = CONFINED


class Ready(Struct, frozen=True, forbid_unknown_fields=True, tag="ready"):
    """Query worker to broker: the image is open and these layers hold the process."""

    layers: tuple[Layer, ...] = ()


class Call(Struct, frozen=True, forbid_unknown_fields=True, tag="call"):
    """Broker to query worker: answer within `seconds`."""

    id: int
    seconds: float
    question: Asked


class Cancel(Struct, frozen=True, forbid_unknown_fields=True, tag="cancel"):
    """Broker to query worker: nobody waits for this call any more."""

    id: int


class Begun(Struct, frozen=True, forbid_unknown_fields=True, tag="begun"):
    """Query worker to broker: it works on this call now, and nobody else may be asked it if the worker ends."""

    id: int


class Reply(Struct, frozen=True, forbid_unknown_fields=True, tag="reply"):
    """Query worker to broker: exactly one for each Call."""

    id: int
    answer: Found | Refusal


FromIndexer = Accepted | Progress | Generation | Built | Crashed | Refusal
ToWorker = Open | Call | Cancel
FromWorker = Ready | Refusal | Begun | Reply
