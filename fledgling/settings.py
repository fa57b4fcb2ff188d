"""Every setting: what it is called, its default, its bounds, and what it may be."""

from collections.abc import Mapping
from typing import Annotated, Literal, get_type_hints

from msgspec import Meta, Struct

from fledgling.scope import DEFAULT_EXCLUDES, DEFAULT_MAX_FILE_SIZE, DEFAULT_MAX_FILES, Scope

MAX_ADDRESS_CHARS = 64  # an IPv6 address of 39, its zone of 16, and brackets, colon and port of 8
NO_FILES = ("none", "stderr")  # what audit_log may be besides a path
NO_AGENTS = "none"  # what agents may be besides a path
NO_SESSION = "none"  # what session may be besides a path
NO_ISSUER = "none"  # what issuer and all that goes with it may be besides
NO_EMBEDDING = "none"  # what embedding_endpoint and embedding_model may be besides
NO_MONITOR = "none"  # what monitor may be besides an address
# Settings that are a path, and what they may be besides.
PATH_SETTINGS: Mapping[str, tuple[str, ...]] = {
    "audit_log": NO_FILES,
    "session": (NO_SESSION,),
    "agents": (NO_AGENTS,),
    "issuer_keys": (NO_ISSUER,),
}

Pattern = Annotated[str, Meta(min_length=1, max_length=256, pattern=r"\A[^\x00-\x1f\x7f]+\Z")]
Answers = Literal["structured", "text"]
NAMED_ROOT = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}="
NamedRoot = Annotated[str, Meta(max_length=4096, pattern=rf"\A{NAMED_ROOT}[^\x00-\x1f\x7f]+\Z")]
Authority = Annotated[str, Meta(max_length=256, pattern=r"\A[!-~]+\Z")]
Freshness = Literal["strict", "burst", "off"]


class Settings(Struct, frozen=True):
    """Everything that can be set, its default, its bounds, and in `description` what it may be."""

    root: Annotated[
        str,
        Meta(min_length=1, description="the directory to index, by default the project around the working directory"),
    ] = "."
    profile: Annotated[str, Meta(min_length=1, description="a shipped profile's name or a profile's path")] = (
        "fledgling-core"
    )
    transport: Annotated[Literal["stdio", "http", "sse"], Meta(description="stdio, http or sse")] = "stdio"
    port: Annotated[int, Meta(ge=1, le=65535, description="a port from 1 to 65535, for http and sse")] = 3000
    host: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=MAX_ADDRESS_CHARS,
            description="the IP address to listen on, of up to 64 characters, for http and sse",
        ),
    ] = "127.0.0.1"
    hosts: Annotated[
        tuple[Authority, ...],
        Meta(
            max_length=100,
            description="a list of further Host values that are served, as code.example.org:3000, for http and sse",
        ),
    ] = ()
    origins: Annotated[
        tuple[Authority, ...],
        Meta(
            max_length=100,
            description="a list of further Origin values that are served, as https://example.org, for http and sse",
        ),
    ] = ()
    answers: Annotated[
        Answers,
        Meta(description="structured, with the same as text beside it, or text alone, which is half as long as JSON"),
    ] = "structured"
    agents: Annotated[
        str, Meta(min_length=1, description="none, or the path of a file of agents, outside the root, for http and sse")
    ] = NO_AGENTS
    issuer: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=1024,
            description="none, or the URL of an OAuth issuer, as its tokens have it, for http and sse",
        ),
    ] = NO_ISSUER
    issuer_keys: Annotated[
        str,
        Meta(
            min_length=1,
            description="none, or the path of a file with the issuer's public keys, as JWKS, for http and sse",
        ),
    ] = NO_ISSUER
    resource: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=1024,
            description="none, or the URL of this server that tokens of the issuer name, for http and sse",
        ),
    ] = NO_ISSUER
    monitor: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=MAX_ADDRESS_CHARS,
            description="none, or ADDRESS:PORT of up to 64 characters on which /healthz, /readyz and /metrics answer, "
            "for http and sse",
        ),
    ] = NO_MONITOR
    projects: Annotated[
        tuple[NamedRoot, ...],
        Meta(max_length=100, description="a list of up to 100 NAME=DIRECTORY, served as directories of one tree"),
    ] = ()
    total_memory: Annotated[
        int,
        Meta(ge=0, le=2**50, description="bytes that all projects may hold together, 0 for as many as there are"),
    ] = 0
    embedding_endpoint: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=256,
            description="none, or the URL of an embedding endpoint, /api/embed or /v1/embeddings, for serve",
        ),
    ] = NO_EMBEDDING
    embedding_model: Annotated[
        str,
        Meta(min_length=1, max_length=256, description="none, or the name that the endpoint has for its model"),
    ] = NO_EMBEDDING
    embedding_seconds: Annotated[
        int, Meta(ge=1, le=60, description="seconds from 1 to 60 that a call waits for the endpoint")
    ] = 10
    extensions: Annotated[tuple[str, ...], Meta(description="an empty list: no extension of DuckDB is loaded")] = ()
    exclude_patterns: Annotated[
        tuple[Pattern, ...],
        Meta(max_length=1000, description="a list of up to 1000 ignore patterns of up to 256 characters"),
    ] = DEFAULT_EXCLUDES
    max_file_size: Annotated[int, Meta(ge=1, le=64 * 2**20, description="bytes, from 1 to 67108864")] = (
        DEFAULT_MAX_FILE_SIZE
    )
    max_files: Annotated[int, Meta(ge=1, le=1_000_000, description="a number of files from 1 to 1000000")] = (
        DEFAULT_MAX_FILES
    )
    freshness: Annotated[
        Freshness,
        Meta(
            description="strict, burst or off: look for changes before every call, share a look among calls that come "
            "within four times what it takes, or do not look"
        ),
    ] = "burst"
    index_content: Annotated[bool, Meta(description="true or false")] = True
    submodules: Annotated[
        bool, Meta(description="true or false: index submodules and nested repositories, each by its own rules")
    ] = False
    session: Annotated[
        str, Meta(min_length=1, description="none, or the path of a file outside the root that keeps tasks")
    ] = NO_SESSION
    audit_log: Annotated[
        str, Meta(min_length=1, description="none, stderr, or the path of a file outside the root")
    ] = "none"
    audit_arguments: Annotated[
        bool, Meta(description="true or false: arguments of calls in the audit log, not only their hash")
    ] = False
    log_format: Annotated[Literal["human", "json"], Meta(description="human or json, on standard error")] = "human"
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"], Meta(description="debug, info, warning or error")
    ] = "info"

    @property
    def roots(self) -> dict[str, str]:
        """The directories that are indexed, by name; "" is the name of one that stands alone."""
        named = [project.partition("=") for project in self.projects]
        return {name: root for name, _, root in named} or {"": self.root}

    @property
    def scope(self) -> Scope:
        """The part that the indexer needs."""
        return Scope(self.exclude_patterns, self.max_file_size, self.max_files, self.index_content, self.submodules)


KEYS = Settings.__struct_fields__


TYPES = get_type_hints(Settings, include_extras=True)
