"""What an agent may ask: a Struct for each tool.

It is at once the JSON schema an agent sees, the check of its arguments, the message on the pipe, the type the handler
gets and the parameters of its SQL file. What decides a name, a default or a bound of a tool lives here.
"""

import re
from typing import Annotated, Any, Literal, get_args

import msgspec
from msgspec import Meta, Struct

from fledgling.messages.bounded import MAX_CANDIDATES, MAX_LINE
from fledgling.messages.cursors import place

MAX_ARGUMENT_CHARS = 4096  # a path may be PATH_MAX long; nothing an agent asks for needs more
MIN_BUDGET, MAX_BUDGET = 100, 50_000  # tokens of a context, a token for four characters
MAX_CONTEXT = 20  # lines around a hit, to each side; who wants more reads the file
MAX_ALSO = MAX_TAGS = 16  # other ways to say what is looked for; tags that a search asks for
MAX_SQL_CHARS = 16384  # the statement gate's worst case grows with the text: about 80 ms at this size

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
Relation = Literal["callers", "callees", "usages", "hierarchy", "overrides", "impact"]
Detail = Literal["map", "summary", "architecture"]
Mode = Literal["auto", "text", "regex", "meaning", "docs"]
DEFINITION_KINDS: tuple[str, ...] = tuple(kind for kind in get_args(Kind) if kind not in ("import", "export"))

Text = Annotated[str, Meta(max_length=MAX_ARGUMENT_CHARS)]
Line = Annotated[int, Meta(ge=1, le=MAX_LINE)]
PathFilter = Annotated[Text | None, Meta(description="directory, file or glob: `src`, `src/*`, `*.py` (in any)")]
Tags = Annotated[tuple[Text, ...], Meta(max_length=MAX_TAGS)]
Steps = Annotated[int, Meta(ge=1, le=10)]
Budget = Annotated[int, Meta(ge=MIN_BUDGET, le=MAX_BUDGET)]
Language = Annotated[Text | None, Meta(description="python, javascript, typescript, sql, ...")]
# "500", "17:500" where the project had changed, "2:17:500" of the third project; "500~9" where
# agents gave tags; cursors.py and merging.py read them.
CURSOR_PATTERN = "^([0-9]{1,9}:){0,2}[0-9]{1,9}(~[0-9]{1,10})?$"
Cursor = Annotated[Annotated[str, Meta(pattern=CURSOR_PATTERN)] | None, Meta(description="from `next`")]
# Of a map: "500.0" goes on where it began, before a file was read; "500" is of the whole index.
MAP_CURSOR_PATTERN = r"^([0-9]{1,9}:)?[0-9]{1,9}(\.[01])?$"
MapCursor = Annotated[Annotated[str, Meta(pattern=MAP_CURSOR_PATTERN)] | None, Meta(description="from `next`")]


def meaning(text: str) -> dict[str, str]:
    """Say what an argument means in docs/tools.md alone: a `description` would be in every agent's context."""
    return {"meaning": text}


# Tables and columns that are known with the graph.
_EDGES = re.compile(r"\b(?:calls|refs|inherits|cycles|hubs|unreachable|purity|purity_reason)\b", re.IGNORECASE)
_ASKS = re.compile(r"[^\W_]+(?:[ ,'-]+[^\W_]+)*[ ?.!]?")  # words, and what stands between them in a sentence
_WORD = re.compile(r"[a-z]{3,}")
# A question that names something, too: `where is app_config.json read`; but `from app.models import User` is code.
_NAMES = re.compile(r"\.?\w++(?:[./]\w++)*+(?:[ ,'-]++\.?\w++(?:[./]\w++)*+){2,}+[ ?.!]*+")
_ASKING = re.compile(r"(?i)(?<![\w./])(?:where|how|what|which|who|why|when|does|are|the)(?![\w./])")
# What is said in words, and names something else, as `convert snake_case to camelCase` does: half of it at least is
# words. A statement of a program begins with a word of its language, or has an operator, a call or a quote in it.
_PLAIN = re.compile(r"\(?[A-Za-z]?[a-z]+(?:['-][a-z]+)*[),.:?!]*")
_STATES = re.compile(
    r"(?i)(?:from|import|for|if|elif|while|with|return|raise|assert|def|class|struct|using|package|const|let|var|fn|func"
    r"|public|private|static|async|export|select|insert|delete)\b|.*(?:[\"`;]|\w\(|(?<!\S)[^\w\s]++(?!\S)|(?<!\w)')"
)
_LEAST_SAID = 3  # words of it
_NO_TEXT = re.compile("[\ud800-\udfff]")  # bytes of a command line that are not UTF-8, halves of pairs in JSON


class Question(
    Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, tag_field="tool", tag=lambda name: name.lower()
):
    """What an agent may ask. `Search(query="timeout")` is `{"tool": "search", "query": "timeout"}` on the pipe."""

    def __post_init__(self) -> None:
        """Refuse control characters: no path, glob or name needs one, and terminals and logs obey them."""
        for field in self.__struct_fields__:
            value = getattr(self, field)
            for text in value if isinstance(value, tuple) else (value,):
                if isinstance(text, str) and any((c < " " and c != "\t") or c == "\x7f" for c in text):
                    raise ValueError(
                        f"{field} holds a control character or a line break; ask for one line of plain text"
                    )
                if isinstance(text, str) and _NO_TEXT.search(text):
                    raise ValueError(f"{field} holds what is not UTF-8; ask for one line of plain text")


def name_of(question: type[Question]) -> str:
    """Return the name of a question's tool, which is its tag on the pipe: `name_of(Search)` is "search"."""
    return str(question.__struct_config__.tag)


class Explore(Question, frozen=True):
    """The map of the project: directories and files with sizes and languages.

    Start here, not with ls, find or tree. `detail`: "architecture", how it is built; "summary", what files say they
    are for. Not for contents (read) or text (search).
    Example: explore(path="src", depth=2, pattern="*.py")
    """

    path: Annotated[Text, Meta(description="directory relative to the root")] = ""
    depth: Annotated[int, Meta(ge=1, le=20, description="levels to show")] = 1
    pattern: Annotated[Text | None, Meta(description="glob of the files, `*.py`")] = None
    cursor: MapCursor = None
    detail: Annotated[Detail, Meta(extra=meaning("sizes, what files say of themselves, or how it is built"))] = "map"

    def __post_init__(self) -> None:
        """Refuse parts of a picture that is of the whole."""
        super().__post_init__()
        if self.detail == "architecture" and (self.pattern or self.cursor or self.depth > 1):
            raise ValueError('detail "architecture" takes path alone; leave out depth, pattern and cursor')

    @property
    def continues(self) -> int | None:
        """The generation that the pages before were made of; None for a first page, which any may answer."""
        return None if self.cursor is None else place(self.cursor).generation


class Read(Question, frozen=True):
    """A file, a range of its lines, or one definition, with line numbers.

    Use it instead of cat, head or sed; give `symbol` to get just that function or class. Not for finding things
    (search, symbols).
    Example: read(path="src/app.py", symbol="Engine.run")
    """

    path: Annotated[Text, Meta(description="file below the root, or directory with `symbol`")] = ""
    start_line: Annotated[Line | None, Meta(description="from 1")] = None
    end_line: Annotated[Line | None, Meta(description="included")] = None
    symbol: Annotated[Text | None, Meta(description="`name`, `Class.method` or a qualified name")] = None
    budget_tokens: Annotated[
        Budget | None,
        Meta(description="with `symbol`: callers, callees, types, tests and docs in so many tokens"),
    ] = None

    def __post_init__(self) -> None:
        """Refuse what names neither a file nor a definition; a definition that one file alone holds needs no path."""
        super().__post_init__()
        if self.budget_tokens and not self.symbol:
            raise ValueError("budget_tokens needs symbol; give the definition that the context is of")
        if not self.path and not self.symbol:
            raise ValueError(
                "path is missing; give a file, or a symbol that one file of the project or of a directory defines"
            )


class Search(Question, frozen=True):
    """Lines of text that hold `query`, grouped by file with context and the enclosing definition.

    Use it instead of grep. Literal and case-insensitive unless said otherwise; `regex` is RE2, matched within one line.
    With `kind`, finds definitions whose name holds `query`, best first. Files are ranked by meaning where no line holds
    the words of `query`; `also` are synonyms. Tags: api/http, auth, caching, database, logging, metrics, payments.
    Example: search(query="timeout", path="src/**", language="python")
    """

    query: Annotated[Text, Meta(min_length=1, extra=meaning("the text, or the expression, or a part of a name"))]
    path: PathFilter = None
    language: Language = None
    kind: Annotated[Kind | None, Meta(extra=meaning("find definitions of this kind by name, not text"))] = None
    regex: Annotated[bool, Meta(extra=meaning("`query` is a regular expression of RE2"))] = False
    case_sensitive: Annotated[bool, Meta(extra=meaning("tell upper case from lower case"))] = False
    whole_word: Annotated[bool, Meta(description="no letter, digit or `_` beside the match")] = False
    context: Annotated[int, Meta(ge=0, le=MAX_CONTEXT, description="lines around a hit")] = 2
    max_results: Annotated[int, Meta(ge=1, le=1000, description="hits a page")] = 50
    cursor: Cursor = None
    mode: Annotated[Mode, Meta(extra=meaning("what to search by; `docs` ranks sections of documents"))] = "auto"
    also: Annotated[
        tuple[Text, ...], Meta(max_length=MAX_ALSO, extra=meaning("other ways to say it, for search by meaning"))
    ] = ()
    explain: Annotated[bool, Meta(extra=meaning("say which words were found where, and the ranks"))] = False
    tags_any: Annotated[Tags, Meta(extra=meaning("only files with one of these tags"))] = ()
    tags_all: Annotated[Tags, Meta(extra=meaning("only files with all of these tags"))] = ()

    def __post_init__(self) -> None:
        """Refuse what no mode takes: a search is of lines, of definitions, or by meaning."""
        super().__post_init__()
        if self.is_ranked and (self.kind or self.regex):
            raise ValueError(f'mode "{self.mode}" takes neither kind nor regex; leave them out, or the mode')
        if self.mode in ("text", "regex") and self.also:
            raise ValueError('also is for mode "meaning"; ask for another text by itself')
        if self.mode == "text" and self.regex:
            raise ValueError('mode "text" takes no regex; leave one of them out')
        if self.has_tags and (self.kind or self.mode == "docs"):
            raise ValueError("tags are of files of code; leave out kind, or mode docs")

    @property
    def is_regex(self) -> bool:
        """Whether the query is an expression."""
        return self.regex or self.mode == "regex"

    @property
    def has_tags(self) -> bool:
        """Whether tags say where it searches."""
        return bool(self.tags_any or self.tags_all)

    @property
    def is_ranked(self) -> bool:
        """Whether files or sections are to be ranked, and not lines found."""
        return self.mode in ("meaning", "docs") or (self.mode == "auto" and bool(self.also))

    @property
    def is_default_many(self) -> bool:
        """Whether no number of hits is asked for."""
        at = self.__struct_fields__.index("max_results") - len(self.__struct_fields__)
        return bool(self.max_results == self.__struct_defaults__[at])

    @property
    def may_mean(self) -> bool:
        """Whether it may be about something, where no line answers: words, and no code, path or expression.

        >>> Search("where uploads are retried").may_mean, Search("retry(").may_mean, Search("NoSuchName").may_mean
        (True, False, False)
        >>> Search("where is MAX_SIZE read").may_mean, Search("MAX_SIZE min_size read").may_mean
        (True, False)
        >>> Search("convert snake_case to camelCase").may_mean, Search("return snake_case or default").may_mean
        (True, False)
        """
        is_plain = self.mode == "auto" and not (self.is_regex or self.case_sensitive or self.whole_word or self.kind)
        if not is_plain or self.cursor:
            return False
        if not _ASKS.fullmatch(self.query):
            is_asked = _NAMES.fullmatch(self.query) is not None and _ASKING.search(self.query) is not None
            return is_asked or self._is_said
        return len(self.query.split()) > 1 or _WORD.fullmatch(self.query) is not None

    @property
    def _is_said(self) -> bool:
        said = self.query.split()
        plain = sum(_PLAIN.fullmatch(word) is not None for word in said)
        return len(said) >= _LEAST_SAID and plain * 2 >= len(said) and not _STATES.match(self.query)


class Symbols(Question, frozen=True):
    """Definitions (functions, classes, methods, tables, ...) with lines and signatures, grouped by file.

    For the outline of a file, or definitions by kind or name; imports and exports only when asked for by kind. With
    `symbol` and `relation`: who calls or uses it, what it calls, what is derived from it, what breaks if it changes
    (impact), with an account of every occurrence of the name.
    Example: symbols(path="src/core/*", kind="function"); symbols(symbol="Engine.run", relation="callers")
    """

    path: PathFilter = None
    kind: Annotated[Kind | None, Meta(extra=meaning("definitions of this kind only"))] = None
    language: Language = None
    name_pattern: Annotated[Text | None, Meta(description="glob on the name, `parse_*`")] = None
    symbol: Annotated[
        Text | None,
        Meta(
            extra=meaning(
                "the definition that `relation` is about; path, kind and language say which where several have the name"
            )
        ),
    ] = None
    relation: Annotated[Relation | None, Meta(extra=meaning("what is asked of `symbol`"))] = None
    depth: Annotated[
        Steps | None, Meta(extra=meaning("steps to follow: 1, of impact 3, of hierarchy and overrides all"))
    ] = None
    possible: Annotated[bool, Meta(extra=meaning("add uses that only the name speaks for"))] = False
    max_results: Annotated[int, Meta(ge=1, le=1000, extra=meaning("definitions or uses a page"))] = 100
    cursor: Cursor = None

    def __post_init__(self) -> None:
        """Refuse half of a question about uses."""
        super().__post_init__()
        if self.relation and not self.symbol:
            raise ValueError("relation needs symbol; give the definition that it is about")
        if self.symbol and not self.relation:
            raise ValueError("symbol needs relation; give one, or name_pattern for definitions of a name")


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
    """One SELECT over the index: files, content, symbols, imports, calls, refs, inherits (see DESCRIBE calls).

    Use it when no other tool answers, for counts, joins and aggregates. Rows and bytes are capped and a cut says so.
    Example: query(sql="SELECT path, name, line_end - line_start AS length FROM symbols ORDER BY length DESC LIMIT 10")
    """

    sql: Annotated[str, Meta(min_length=1, max_length=MAX_SQL_CHARS, extra=meaning("one SELECT in DuckDB's dialect"))]

    def __post_init__(self) -> None:
        """SQL spans lines, so only NUL is refused here; the gate parses the rest."""
        if "\x00" in self.sql or _NO_TEXT.search(self.sql):
            raise ValueError("sql holds a NUL character, or what is not UTF-8; write one SELECT as plain text")


AnyQuestion = Explore | Read | Search | Symbols | Dependencies | Query
QUESTIONS: dict[str, type[AnyQuestion]] = {name_of(question): question for question in get_args(AnyQuestion)}


def arguments_of(question: Question) -> dict[str, Any]:
    """Return the arguments of a call, as JSON has them: `arguments_of(Search("timeout"))` is {"query": "timeout"}."""
    arguments: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(question))
    del arguments["tool"]
    return arguments


def asks_graph(question: Question) -> bool:
    """Return whether only the graph can answer: `asks_graph(Symbols(symbol="run", relation="callers"))` is True."""
    match question:
        case Symbols(relation=str()) | Read(budget_tokens=int()) | Survey(calls=True):
            return True
        case Query(sql):
            return _EDGES.search(sql) is not None
    return False


class Survey(Question, frozen=True):
    """What a report shows of the whole index. No tool: a person asks it of a broker, and no agent can.

    With `calls` it is asked of the graph as well.
    """

    calls: bool = False


class Sift(Question, frozen=True):
    """Which of several indexes may answer a question. No tool: a broker asks it before it asks those."""

    question: Read | Search | Symbols


class Candidates(Question, frozen=True):
    """What the best files say that answer a search by meaning. No tool: a broker asks it for an embedding endpoint."""

    question: Search


class Near(Struct, frozen=True):
    """How near a file is to a question, from -1 to 1, as an embedding endpoint says."""

    path: str
    share: Annotated[float, Meta(ge=-1, le=1)]


class Reordered(Question, frozen=True):
    """A search by meaning whose best files are put in order once more. No tool: a broker asks it for an agent."""

    question: Search
    near: Annotated[tuple[Near, ...], Meta(max_length=MAX_CANDIDATES)]


Inner = Survey | Sift | Candidates | Reordered  # no agent asks it
Asked = AnyQuestion | Inner  # what goes to a worker
