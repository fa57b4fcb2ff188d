"""The socket of the HTTP transports, and which Host and Origin are served on it: exact lists, nothing by pattern.

A web page anywhere can make a browser connect to this machine; what it cannot do is choose these two headers.
"""

import ipaddress
import socket
from typing import NamedTuple

from fledgling.config import ConfigError, Resolved
from fledgling.settings import NO_AGENTS, NO_MONITOR

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
BACKLOG = 256  # connections that the kernel holds before they are accepted; one more would wait a second for TCP


class Listening(NamedTuple):
    """A socket that listens, where, and the values of Host and Origin that are served on it, in lower case."""

    socket: socket.socket
    authority: str
    hosts: frozenset[str]
    origins: frozenset[str]


class _Bound(socket.socket):
    def listen(self, backlog: int = 0, /) -> None:
        """Do nothing: it listens already, by BACKLOG; what asyncio gives is how many it accepts at once."""


def opened(resolved: Resolved) -> Listening:
    """Listen where the settings say: `opened(resolved).authority` is `127.0.0.1:3000`.

    Anything but a loopback address needs agents, each with a token, and the hosts it is known by. Raises ConfigError.
    """
    settings, address = resolved.settings, served_at(resolved)
    name = f"[{address}]" if address.version == 6 else str(address)
    own = {_authority(known, settings.port) for known in (name, "localhost") if address.is_loopback}
    return Listening(
        _listening(resolved.sources["port"], address, settings.port),
        f"{name}:{settings.port}",
        frozenset(own | {host.lower() for host in settings.hosts}),
        frozenset({f"http://{host}" for host in own} | {origin.lower() for origin in settings.origins}),
    )


def served_at(resolved: Resolved) -> Address:
    """Return the address to listen on. Raises ConfigError."""
    settings, source = resolved.settings, resolved.sources["host"]
    try:
        address = ipaddress.ip_address(settings.host)
    except ValueError:
        raise ConfigError(source, f"host {settings.host!r} is not an address", "give an IP address") from None
    if not address.is_loopback and (settings.agents == NO_AGENTS or not settings.hosts):
        problem = f"{settings.host} can be reached from other machines"
        raise ConfigError(source, problem, "give --agents FILE and --hosts NAME:PORT with it, or leave it at 127.0.0.1")
    return address


def watched(resolved: Resolved) -> Listening | None:
    """Listen where those who watch may ask, if anywhere. Raises ConfigError."""
    if not (place := watched_at(resolved)):
        return None
    address, number = place
    name = f"[{address}]" if address.version == 6 else str(address)
    known = {f"localhost:{number}"} if address.is_loopback else set[str]()
    known |= {host.lower() for host in resolved.settings.hosts}
    listening = _listening(resolved.sources["monitor"], address, number)
    return Listening(listening, f"{name}:{number}", frozenset(known), frozenset())


def watched_at(resolved: Resolved) -> tuple[Address, int] | None:
    """Return the address and port where those who watch may ask, if there are any. Raises ConfigError."""
    given, source = resolved.settings.monitor, resolved.sources["monitor"]
    if given == NO_MONITOR:
        return None
    host, _, port = given.rpartition(":")
    try:
        address, number = ipaddress.ip_address(host.removeprefix("[").removesuffix("]")), int(port)
    except ValueError:
        raise ConfigError(source, f"monitor {given!r} is not an address and port", "give 127.0.0.1:9464") from None
    if not 0 < number < 65536:
        raise ConfigError(source, f"monitor {given!r} has no port", "give 127.0.0.1:9464")
    return address, number


def _authority(host: str, port: int) -> str:
    return host if port == 80 else f"{host}:{port}"  # a client leaves the default port out


def _listening(source: str, address: Address, port: int) -> socket.socket:
    family = socket.AF_INET6 if address.version == 6 else socket.AF_INET
    bound = _Bound(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # named, or asyncio leaves Nagle's algorithm on
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((str(address), port))
        socket.socket.listen(bound, BACKLOG)
    except OSError as refused:
        bound.close()
        problem = f"{address} port {port} cannot be used ({refused.strerror})"
        raise ConfigError(source, problem, "give another port or address") from None
    return bound
