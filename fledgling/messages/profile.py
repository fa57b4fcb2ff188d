"""What one agent may do, as it goes to the processes that hold it to that."""

from typing import Literal

from msgspec import Struct

TAG = r"[a-z][a-z0-9/_-]{0,31}"  # the name of one, by a rule or by hand
Embedding = Literal["off", "loopback", "anywhere"]  # where the endpoint may be that text of the project goes to
Matcher = Literal["PATH", "IMPORT", "SYMBOL", "REGEX"]  # what of a file a rule of tags looks at


class View(Struct, frozen=True):
    """`CREATE VIEW name AS select`, found at `line` of the profile file."""

    name: str
    select: str
    line: int


class TagRule(Struct, frozen=True):
    """What a match of `pattern` (RE2) in a path, an import, a name or a line makes a file to be about, and how surely.

    `line` is that of the profile file; 0 of a rule that is shipped.
    """

    tag: str
    matcher: Matcher
    confidence: float
    pattern: str
    line: int = 0


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
    tags: tuple[TagRule, ...] = ()
    embedding: Embedding = "off"

    @property
    def narrows_files(self) -> bool:
        """Whether a view decides which files there are: nothing that an agent sees may then depend on the others."""
        return any(view.name in ("visible_files", "files") for view in self.views)

    @property
    def narrows_rows(self) -> bool:
        """Whether a view may leave out lines, definitions or imports of a file that is visible."""
        return any(view.name in ("content", "symbols", "imports") for view in self.views)

    def reads_all_of(self, table: str) -> bool:
        """Whether somebody may look at any column of a table: a statement, or a view of it. The tools know theirs."""
        return "query" in self.tools or any(view.name == table for view in self.views)

    @property
    def hashes_definitions(self) -> bool:
        """Whether the hash of a definition's text is made: where somebody may look at it, and at all of that text."""
        return self.reads_all_of("symbols") and not any(view.name == "content" for view in self.views)

    @property
    def reads_hashes(self) -> bool:
        """Whether somebody may look at the hash of a file: a statement and every view may, and a sum is of all."""
        return "query" in self.tools or self.sums_hashes or bool(self.views)

    @property
    def sums_hashes(self) -> bool:
        """Whether one hash of all files is made: where `status` tells it, and no line of them is hidden."""
        return "status" in self.tools and not any(view.name == "content" for view in self.views)
