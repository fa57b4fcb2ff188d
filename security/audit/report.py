"""What an audit found: rows, counts, and the exit code that they mean."""

from collections import Counter
from collections.abc import Iterable

from msgspec import Struct

from fledgling.messages.profile import Embedding
from fledgling.security.audit.verdict import Status

HELD, GOT_THROUGH = 0, 1  # exit codes
FAMILIES = {
    "query": "SQL through the query tool",
    "arguments": "arguments of tools",
    "tree": "a hostile project",
    "stdio": "bytes on standard input",
    "process": "processes as /proc shows them",
    "syscalls": "system calls from inside a back process",
    "elsewhere": "threats that another test carries",
}
LAYERS = {
    "door": "the profile's allowlist, at the broker",
    "arguments": "the type of a tool's arguments, at the broker",
    "paths": "the rule that a path lies below the root, at the query worker",
    "gate": "the allow-list over the syntax tree of a statement, at the query worker",
    "engine": "the engine's locked settings and its read-only transaction",
    "image": "what is hidden is not in the index, and the index is sealed",
    "landlock": "Landlock: which files a process may open",
    "seccomp": "seccomp: which system calls a process may make",
    "privileges": "no root, no capabilities, no new privileges",
    "limits": "resource limits, deadlines, and the end of who does not keep them",
    "reader": "how the indexer opens files: below the root, never through a link",
    "output": "what is shown: escaped, cut, as data",
    "wire": "the check of every frame between the processes",
    "protocol": "the bounded reader of standard input, and the MCP SDK",
    "launch": "how a back process is started: bare",
    "loader": "how profiles and settings are read",
    "transport": "HTTP",
    "release": "checks before a release",
    "none": "nothing: it is allowed, or not promised",
}
STATUSES: dict[Status, str] = {
    "through": "got through",
    "unproven": "could not be proven",
    "held": "stopped",
    "works": "allowed, as it must be",
    "not run": "not tried on this machine",
    "elsewhere": "carried by a test, or not served",
}


class Result(Struct, frozen=True):
    """One row under one profile: what was tried, what was seen, and which layer gave it."""

    profile: str
    project: str
    family: str
    name: str
    tool: str
    threats: tuple[int, ...]
    source: str
    expected: str
    status: Status
    layer: str
    evidence: str


class Audited(Struct, frozen=True):
    """A profile that was audited."""

    name: str
    digest: str
    tools: tuple[str, ...]
    embedding: Embedding = "off"

    @property
    def leaves(self) -> str:
        """Say what it lets leave, in a sentence; "" for nothing."""
        where = {"off": "", "loopback": "on this machine", "anywhere": "on any machine"}[self.embedding]
        return f"Text that {self.name} shows may leave to an embedding endpoint {where}." if where else ""


class Report(Struct, frozen=True):
    """An audit: when, with what, of which profiles, and every row. `threats` are names by number."""

    version: str
    at: str
    machine: str
    seconds: float
    profiles: tuple[Audited, ...]
    threats: dict[int, str]
    results: tuple[Result, ...]

    @property
    def exit_code(self) -> int:
        """Return 1 where anything got through, or where what had to work did not."""
        return GOT_THROUGH if any(result.status in ("through", "unproven") for result in self.results) else HELD


def counted(results: Iterable[Result]) -> Counter[str]:
    """Return how many rows have each status."""
    return Counter(result.status for result in results)


def headline(report: Report) -> str:
    """Return the report in a sentence."""
    count = counted(report.results)
    said = [f"{count[status]} {words}" for status, words in STATUSES.items() if count[status]]
    verdict = "Nothing got through." if report.exit_code == HELD else "NOT PROVEN: see the rows below."
    return f"{verdict} {len(report.results)} rows: {'; '.join(said)}."


def by_layer(results: Iterable[Result]) -> list[tuple[str, int]]:
    """Return how many rows each layer has stopped, the most first."""
    return Counter(result.layer for result in results if result.status == "held").most_common()


def text(report: Report) -> str:
    """Return the report for a terminal: what got through in full, the rest in counts."""
    lines = [headline(report), *(profile.leaves for profile in report.profiles if profile.leaves), ""]
    bad = [result for result in report.results if result.status in ("through", "unproven")]
    for result in bad:
        lines += [f"{result.status.upper()}  {result.profile} ({result.project})  {result.family}: {result.name}"]
        lines += [f"    must be stopped by {result.expected}; {result.evidence}"]
    groups = sorted(
        {(r.profile, r.project, r.family) for r in report.results}, key=lambda g: (g[:2], [*FAMILIES].index(g[2]))
    )
    for profile, project, family in groups:
        rows = [r for r in report.results if (r.profile, r.project, r.family) == (profile, project, family)]
        count = counted(rows)
        layers = ", ".join(f"{layer} {number}" for layer, number in by_layer(rows))
        said = ", ".join(f"{count[status]} {status}" for status in STATUSES if count[status])
        lines.append(
            f"{profile or 'every profile':20} {project:8} {family:10} {said}" + (f"  ({layers})" if layers else "")
        )
    return "\n".join([*lines, "", f"{report.seconds:.0f} s, Fledgling {report.version}, {report.machine}"])
