"""What a server counts: calls and what became of them, how long they took, processes, memory, the index.

It hears what the audit log hears and keeps numbers alone. The labels are names of agents, tools, verdicts, kinds of
refusals and processes, each out of a list that we or the operator have made: no path, no query and no name that a
client made up.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping

from msgspec import UNSET, UnsetType

from fledgling.broker.audit_log.records import AnyRecord, CallRecord, KilledRecord, MessageRecord, ProcessRecord
from fledgling.broker.indexing.indexing import Indexing
from fledgling.broker.protocol.tools import TOOLS
from fledgling.messages.operations import OPERATIONS

# Seconds; a call from the mapped files takes 3 ms, one of SQL 20, the longest ends by query_timeout
BUCKETS = (0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
NO_TOOL = "unknown"  # stands for what a client called that is no tool
ALONE = "default"  # the agent of a server that has one
NOBODY = "-"  # whose the broker is, and a request that is refused before it has said its name; no agent is called so


class Latency:
    """How many calls took how long: for each bucket those that took no longer, and the sum of all, in seconds."""

    def __init__(self) -> None:
        self.counts = [0] * len(BUCKETS)
        self.count = 0
        self.sum = 0.0

    def add(self, seconds: float) -> None:
        """Count one call."""
        self.count += 1
        self.sum += seconds
        for number, bound in enumerate(BUCKETS):
            self.counts[number] += seconds <= bound


class Metrics:
    """The numbers of one server, in the text format of Prometheus.

    >>> metrics = Metrics()
    >>> metrics.hear(KilledRecord(process="query worker", pid=7, reason="signal 9"), "reviewer")
    >>> [line for line in metrics.text({}).splitlines() if "killed_total{" in line]
    ['fledgling_processes_killed_total{agent="reviewer",process="query worker"} 1']
    """

    def __init__(self) -> None:
        self._calls = Counter[tuple[str, str, str]]()  # agent, tool, verdict
        self._latencies = defaultdict[tuple[str, str], Latency](Latency)  # agent, tool
        self._refused = Counter[str]()  # messages that were no calls, by agent
        self._started = Counter[tuple[str, str]]()  # agent, process
        self._killed = Counter[tuple[str, str]]()

    def hear(self, record: AnyRecord, agent: str | UnsetType) -> None:
        """Count what the audit log is told."""
        name = NOBODY if agent is UNSET else agent
        match record:
            case CallRecord():
                tool = record.tool if record.tool in TOOLS or record.tool in OPERATIONS else NO_TOOL
                self._calls[name, tool, record.verdict] += 1
                self._latencies[name, tool].add(record.milliseconds / 1000)
            case MessageRecord():
                self._refused[name] += 1
            case ProcessRecord():
                self._started[name, record.process] += 1
            case KilledRecord():
                self._killed[name, record.process] += 1

    def text(self, indexings: Mapping[str, Indexing]) -> str:
        """Return all numbers, and what is known now of the index of each agent."""
        return "".join(f"{line}\n" for line in (*self._counted(), *_known(indexings)))

    def _counted(self) -> Iterator[str]:
        yield from _head("calls_total", "counter", "Calls of tools, by what became of them.")
        for (agent, tool, verdict), count in sorted(self._calls.items()):
            yield _sample("calls_total", count, agent=agent, tool=tool, verdict=verdict)
        yield from _head("call_seconds", "histogram", "How long calls took, from their arrival to their answer.")
        for (agent, tool), latency in sorted(self._latencies.items()):
            bounds = zip((*map(str, BUCKETS), "+Inf"), (*latency.counts, latency.count), strict=True)
            for bound, count in bounds:
                yield _sample("call_seconds_bucket", count, agent=agent, tool=tool, le=bound)
            yield _sample("call_seconds_sum", round(latency.sum, 6), agent=agent, tool=tool)
            yield _sample("call_seconds_count", latency.count, agent=agent, tool=tool)
        yield from _head("messages_refused_total", "counter", "Messages and requests that were refused before a call.")
        for agent, count in sorted(self._refused.items()):
            yield _sample("messages_refused_total", count, agent=agent)
        for name, counts, said in (
            ("processes_started_total", self._started, "Processes that began to work."),
            ("processes_killed_total", self._killed, "Processes that ended before their time, or were ended."),
        ):
            yield from _head(name, "counter", said)
            for (agent, process), count in sorted(counts.items()):
                yield _sample(name, count, agent=agent, process=process)


def _known(indexings: Mapping[str, Indexing]) -> Iterator[str]:
    """Yield what is measured now."""
    gauges: tuple[tuple[str, str, Callable[[Indexing], float]], ...] = (
        (
            "index_generation",
            "The newest generation: 0 names, 1 text, 2 definitions, 3 words, 4 uses, 5 tables of these; -1 before.",
            _generation,
        ),
        ("index_age_seconds", "Seconds since the last build of the index began.", Indexing.age),
        ("memory_bytes", "What the processes and memory files of an agent hold.", lambda of: of.memory.held()),
        ("memory_limit_bytes", "What they may hold, as the profile says.", lambda of: of.profile.memory_limit),
    )
    for name, said, value in gauges:
        yield from _head(name, "gauge", said)
        for agent, indexing in indexings.items():
            yield _sample(name, value(indexing), agent=agent)


def _generation(indexing: Indexing) -> int:
    newest = indexing.newest_or_none()
    return newest.number if newest else -1


def _head(name: str, kind: str, said: str) -> tuple[str, str]:
    return f"# HELP fledgling_{name} {said}", f"# TYPE fledgling_{name} {kind}"


def _sample(name: str, value: float, **labels: str) -> str:
    shown = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels.items())
    return f"fledgling_{name}{{{shown}}} {value}"


def _escaped(text: str) -> str:
    """Return a label's value as the format has it: no quotation mark or line break ends it."""
    return text.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")
