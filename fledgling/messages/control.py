"""What broker, indexer and query worker say to each other: orders, reports, calls and replies."""

from typing import Literal

from msgspec import Struct

from fledgling.messages.answers import Hits, Refusal
from fledgling.messages.bounded import Count, Path, Said, Seconds, Word
from fledgling.messages.generations import CODE, EDGES, GRAPH, LISTING, TEXT, WORDS
from fledgling.messages.inner_answers import Found
from fledgling.messages.languages import Conventions, Modules, Unnamed
from fledgling.messages.profile import Profile
from fledgling.messages.questions import AnyQuestion, Asked, Search
from fledgling.scope import Scope


class Images(Struct, frozen=True):
    """The memory files of one index, as descriptors: `text` holds tables of files, `code` of what the parsers found.

    `blocks` and `signatures` go with the first: the text itself, and which blocks of it a search has to look at. With
    the second go `outlines`: what is defined where. Behind it come `words`: which files say what; `graph`: what uses
    that which is defined; and last `edges`, which holds the same as tables, where SQL is allowed. `listing` is there
    before all: what the names of files tell.
    """

    text: int
    code: int
    blocks: int
    signatures: int
    outlines: int
    words: int
    graph: int
    edges: int
    listing: int

    def of(self, generation: int) -> tuple[int, ...]:
        """Return those that are sealed with a generation: `images.of(LISTING)` is its one file."""
        text = (self.listing, self.text, self.blocks, self.signatures)
        code = (*text, self.code, self.outlines)
        words = (*code, self.words)
        graph = (*words, self.graph)
        edges = (*graph, self.edges)
        return {LISTING: (self.listing,), TEXT: text, CODE: code, WORDS: words, GRAPH: graph, EDGES: edges}[generation]


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
    """Broker to indexer, once: build the images of `root_fd`. `root` is set only for absolute_paths.

    `kept_fd` takes what a follower needs, if there will be one (worker/store/kept.py), and `findings_fd` and `facts_fd`
    what the next build need not find again (worker/store/facts.py): all but the graph, and what that is made of; those
    that are `known` are an earlier one's. `begun_ns` is now, since 1970.
    `tree` asks for the hash of what is indexed: nothing is built where it is this one, which an earlier index was of.
    Where something is `sought`, nothing is built, either: the indexer looks for it, and answers (indexer/seek.py).
    Nobody will ask for a graph if it is not `for_graph`, and nothing is loaded for one.
    """

    broker_pid: int
    images: Images
    root_fd: int
    profile: Profile
    scope: Scope
    root: str | None = None
    kept_fd: int | None = None
    findings_fd: int | None = None
    known_findings_fd: int | None = None
    facts_fd: int | None = None
    known_facts_fd: int | None = None
    begun_ns: int = 0
    confining: Confining = CONFINED
    tree: str | None = None
    sought: Search | None = None
    for_graph: bool = True


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


class ExtractorsConfined(Struct, frozen=True, forbid_unknown_fields=True, tag="extractors_confined"):
    """Indexer to broker, behind Accepted, where it reads while its extractors load: what holds those."""

    layers: tuple[Layer, ...]


class Relate(Struct, frozen=True, forbid_unknown_fields=True, tag="relate"):
    """Broker to indexer, behind Built: resolve the uses of what is defined, and seal the graph and its tables."""


class Progress(Struct, frozen=True, forbid_unknown_fields=True, tag="progress"):
    """Indexer to broker: `done` of `total` files in this stage, `at` one of them; total 0 while unknown."""

    stage: Literal["walk", "read", "extract", "seal", "words", "relate", "fill"]
    done: Count
    total: Count
    at: Path | None = None


class Generation(Struct, frozen=True, forbid_unknown_fields=True, tag="generation"):
    """Indexer to broker: this generation is sealed. A small project has no earlier ones than the third.

    `related` are the languages whose uses of names are resolved, with the graph those that are there, and
    `unrelated` says what the graph lacks; without languages there is none, and that is why.
    """

    number: Literal[0, 1, 2, 3, 4, 5]
    defined: tuple[Word, ...]  # languages whose definitions are extracted
    has_content: bool  # False: index_content is off, so there are definitions but no text
    undefined: tuple[Word, ...] = ()  # languages of code, whose definitions are not extracted
    documents: tuple[Word, ...] = ()  # languages of documents
    code: tuple[Word, ...] = ()  # languages of code
    modules: dict[Word, Modules] = {}  # by language, where it says anything
    conventions: dict[Word, Conventions] = {}  # likewise
    any_case: tuple[Word, ...] = ()  # languages in which a use may spell a name in another case
    infers_new: tuple[Word, ...] = ()  # languages in which `new()` may make an object of a type that is not written
    unnamed: dict[Word, Unnamed] = {}  # by language
    partial: Said | None = None  # what the index lacks, as sentences
    cut: Said | None = None  # the first of them, where files are missing: changes may make it another
    pending: Said | None = None  # what only a later generation has, likewise
    related: tuple[Word, ...] = ()
    unrelated: Said | None = None
    unfollowed: Said | None = None  # likewise, where what functions are given as arguments is not followed


def lacking(partial: str | None, cut: str | None, now: str | None) -> str | None:
    """Return what an index lacks where another sentence says now which files are missing.

    >>> lacking("3 of 4 files. No room.", "3 of 4 files.", "3 of 5 files.")
    '3 of 5 files. No room.'
    """
    rest = (partial or "").removeprefix(cut or "").strip()
    return " ".join(filter(None, (now, rest))) or None


class LanguageStats(Struct, frozen=True):
    """Per language: files, lines, bytes, symbols, and seconds spent extracting them."""

    language: Word
    files: Count
    lines: Count
    bytes: Count
    symbols: Count = 0
    seconds: Seconds = 0.0


class Built(Struct, frozen=True, forbid_unknown_fields=True, tag="built"):
    """Indexer to broker, behind the third generation: counts of what the images hold, which the agent may see."""

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
    tree: Word | None = None  # the hash of what is indexed, where that was asked for
    contents: Word | None = None  # that of the paths of all files and of their contents, where status tells it


class Unchanged(Struct, frozen=True, forbid_unknown_fields=True, tag="unchanged"):
    """Indexer to broker, in place of an index: the tree has the hash that was asked about."""


class Sought(Struct, frozen=True, forbid_unknown_fields=True, tag="sought"):
    """Indexer to broker, in place of an index: what was sought, as a whole index would have answered.

    `taken` is the question that was answered, where that is not the very question that was put.
    """

    answer: Hits
    taken: Search | None = None
    notices: tuple[Said, ...] = ()
    partial: Said | None = None


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
    changes: int = 0  # the generation of changes that the index was built with


class StoredIndex(Struct, frozen=True, forbid_unknown_fields=True):
    """An index of several in one memory file: of each part, by its name in Images, where it begins and its length."""

    generation: Count  # the number of what it knows
    parts: dict[Word, tuple[Count, Count]]
    bundle: tuple[Count, Count] | None = None  # the number of its bundle, and its own in there


class StoredIndexes(Struct, frozen=True, forbid_unknown_fields=True):
    """What is in one memory file: indexes, and bundles over some of them, of which the parts are given likewise.

    `generations` are what indexes know, each once: most know the same, in five kilobytes.
    """

    indexes: list[StoredIndex]
    generations: list[Generation]
    bundles: list[dict[Word, tuple[Count, Count]]] = []


class OpenFleet(Struct, frozen=True, forbid_unknown_fields=True, tag="open fleet"):
    """Broker to query worker, in place of Open: serve the profile's tools from several indexes in one memory file.

    The last `table_bytes` of that are StoredIndexes as MessagePack.
    """

    broker_pid: int
    fd: int
    table_bytes: Count
    profile: Profile
    confining: Confining = CONFINED


class Ready(Struct, frozen=True, forbid_unknown_fields=True, tag="ready"):
    """Query worker or bundler to broker: what it serves or takes is open, and these layers hold the process.

    Of several indexes that are served some may not be open.
    """

    layers: tuple[Layer, ...] = ()
    unreadable: tuple[Count, ...] = ()


class TagByHand(Struct, frozen=True, forbid_unknown_fields=True):
    """A tag that an agent gave to a file, or to a definition in it."""

    name: Word
    path: Path
    symbol: str | None = None


class TagsByHand(Struct, frozen=True, forbid_unknown_fields=True):
    """Tags that agents gave in a project, as far as an answer may speak of them, and the names of all there are.

    A name may have no bearer in the project, or none any more: nothing has that tag, but it is one.
    """

    given: tuple[TagByHand, ...] = ()
    names: tuple[Word, ...] = ()


class Call(Struct, frozen=True, forbid_unknown_fields=True, tag="call"):
    """Broker to query worker: answer within `seconds`; of several indexes from that with the number `index`.

    `by_hand` are tags that the answer may speak of beside those of the rules.
    """

    id: int
    seconds: float
    question: Asked
    index: Count = 0
    by_hand: TagsByHand = TagsByHand()


class Cancel(Struct, frozen=True, forbid_unknown_fields=True, tag="cancel"):
    """Broker to query worker: nobody waits for this call any more."""

    id: int


class Begun(Struct, frozen=True, forbid_unknown_fields=True, tag="begun"):
    """Query worker to broker: it works on this call now, and nobody else may be asked it if the worker ends."""

    id: int


class Update(Struct, frozen=True, forbid_unknown_fields=True, tag="update"):
    """To the query worker: the project has changed, and calls that come behind this see it.

    `body` is packed Changes (worker/store/parts.py). What does not fit one frame comes in several, one after the other,
    of the same generation: they hold together from the one that `is_last`.
    """

    generation: int
    body: bytes
    is_last: bool = True


class Updated(Struct, frozen=True, forbid_unknown_fields=True, tag="updated"):
    """Query worker to broker: it answers from this generation of changes; or has not `has_room` for it."""

    generation: int
    has_room: bool = True


class Reply(Struct, frozen=True, forbid_unknown_fields=True, tag="reply"):
    """Query worker to broker: exactly one for each Call.

    `taken` is the question that was answered, where that is not the very question that was put.
    """

    id: int
    answer: Found | Refusal
    generation: int = 0  # of changes, which the answer is made of
    taken: AnyQuestion | None = None


FromIndexer = Accepted | ExtractorsConfined | Progress | Generation | Built | Unchanged | Sought | Crashed | Refusal
ToWorker = Open | OpenFleet | Call | Cancel | Update
FromWorker = Ready | Refusal | Begun | Reply | Updated
