"""What a query worker answers to questions that no tool asks: of the broker itself, and of a person."""

from typing import Annotated

from msgspec import Meta, Struct

from fledgling.messages.answers import Answer, AnyAnswer
from fledgling.messages.bounded import (
    CANDIDATE_BYTES,
    MAX_CANDIDATES,
    At,
    Count,
    Path,
    Place,
    Said,
    Word,
)
from fledgling.messages.questions import Kind


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


class Neighbour(Struct, frozen=True, omit_defaults=True):
    """A definition that calls another or is called by it, or what is in a circle with others.

    Without a name it is a file: code of it that is in no definition. `confidence` is absent where a call is certain.
    """

    path: Path
    name: str | None = None
    line: At = 0
    confidence: Word | None = None


class CallHub(Struct, frozen=True, omit_defaults=True):
    """A definition that is called much, at so many sites: the first of those that call it, and of what it calls.

    `callers_at_least` says that there are so many callers among the sites that were looked at.
    """

    path: Path
    name: str
    kind: Kind
    line: At
    sites: Count
    certain_sites: Count
    total_callers: Count
    total_callees: Count
    callers: list[Neighbour]
    callees: list[Neighbour]
    callers_at_least: bool = False


class Circles(Struct, frozen=True, omit_defaults=True):
    """What leads to itself by way of others, the largest first: of `total` circles some, each with its first members.

    `sizes` has how many members each has; `missing` says why it is not known which circles there are.
    """

    total: Count = 0
    sizes: list[Count] = []
    members: list[list[Neighbour]] = []
    missing: Said | None = None


class CallGraph(Struct, frozen=True, omit_defaults=True):
    """What calls what in the project, in the languages whose calls are resolved; `missing` says what lacks, and why."""

    languages: list[Word] = []
    hubs: list[CallHub] = []
    circles: Circles = Circles()
    missing: Said | None = None


class Overview(Answer, frozen=True):
    """Answer of survey: areas and functions the largest first, hubs by importers, circles of files by imports."""

    files: Count
    lines: Count
    areas: list[Area]
    hubs: list[Hub]
    functions: list[LongFunction]
    parsed: list[Parsed]
    skipped: list[SkippedFiles]
    circles: Circles = Circles()
    calls: CallGraph = CallGraph()


class Sifted(Answer, frozen=True):
    """Answer of sift: the numbers of the indexes that may answer, in order; by meaning the best come first.

    Of those that cannot be read nobody knows.
    """

    indexes: list[Count]
    unreadable: tuple[Count, ...] = ()


class Candidate(Struct, frozen=True):
    """A file that answers a search by meaning, and of its text what tells most of it."""

    path: Path
    text: Annotated[str, Meta(max_length=CANDIDATE_BYTES)]


class CandidateTexts(Answer, frozen=True):
    """Answer of candidates: files, the best first; none where no file says what is asked."""

    files: Annotated[list[Candidate], Meta(max_length=MAX_CANDIDATES)]


InnerAnswer = Overview | Sifted | CandidateTexts  # no agent gets it


Found = AnyAnswer | InnerAnswer  # what comes from a worker
