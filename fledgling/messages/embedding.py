"""What goes between the broker, the connector and its embedders: one message a packet of their socket."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from fledgling.messages.control import CONFINED, Confining, Layer

PACKET_BYTES = 128 * 1024  # the longest; the kernel takes one of 200 KiB whole

Protocol = Literal["ollama", "openai"]
# Why there are no shares. Words of the broker's own are said for each: what an embedder sends, no agent reads.
Reason = Literal["unreachable", "silent", "cut", "busy", "status", "garbage", "too long", "dimensions"]
Share = Annotated[float, Meta(ge=-1.0, le=1.0)]


class Connect(Struct, frozen=True, forbid_unknown_fields=True, tag="connect"):
    """Broker to connector, once: the pipe that ties it, where embedders are to connect, and what they ask there."""

    lifeline: int
    address: str
    port: int
    path: str
    protocol: Protocol
    model: str
    confining: Confining = CONFINED


class Connecting(Struct, frozen=True, forbid_unknown_fields=True, tag="connecting"):
    """Connector to broker, first: it is confined by these layers, or has ended for a problem."""

    layers: tuple[Layer, ...] = ()
    problem: str | None = None


class Wanted(Struct, frozen=True, forbid_unknown_fields=True, tag="wanted"):
    """Broker to connector: something is to be asked, within so many seconds. The embedder that is forked reads it."""

    number: int
    seconds: float


class Connected(Struct, frozen=True, forbid_unknown_fields=True, tag="connected"):
    """Embedder to broker: it holds the connected socket, and is confined by these layers."""

    number: int
    pid: int
    layers: tuple[Layer, ...] = ()


class Embed(Struct, frozen=True, forbid_unknown_fields=True, tag="embed"):
    """Broker to embedder: how near is each text to the question?"""

    number: int
    query: str
    texts: tuple[str, ...]


class Similar(Struct, frozen=True, forbid_unknown_fields=True, tag="similar"):
    """Embedder to broker, last: the cosine of each text and the question."""

    number: int
    shares: tuple[Share, ...]


class NotSimilar(Struct, frozen=True, forbid_unknown_fields=True, tag="not similar"):
    """Embedder to broker, last: why it cannot say."""

    number: int
    reason: Reason


ToEmbedder = Connect | Wanted | Embed
FromEmbedder = Connecting | Connected | Similar | NotSimilar
