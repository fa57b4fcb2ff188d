"""Which embedding endpoint the operator names, and which profiles let text of a project go there."""

import ipaddress
import re
from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import urlsplit

from fledgling.config import ConfigError, Resolved
from fledgling.messages.embedding import Protocol
from fledgling.messages.profile import Profile
from fledgling.settings import NO_EMBEDDING

_PATHS: dict[str, Protocol] = {"/api/embed": "ollama", "/embeddings": "openai"}  # by how the URL's path ends
_PATH = re.compile(r"(?:/[A-Za-z0-9._~-]+)+")
_FIX = "give one such as http://127.0.0.1:11434/api/embed or http://127.0.0.1:8080/v1/embeddings"


class Endpoint(NamedTuple):
    """An endpoint: `Endpoint("127.0.0.1", 11434, "/api/embed", "ollama", "nomic-embed-text", 10)`."""

    address: str
    port: int
    path: str
    protocol: Protocol
    model: str
    seconds: int

    @property
    def is_on_loopback(self) -> bool:
        """Whether what goes there stays on this machine."""
        return ipaddress.ip_address(self.address).is_loopback

    def is_allowed_by(self, profile: Profile) -> bool:
        """Return whether text that a profile shows may go there."""
        return profile.embedding == "anywhere" or (profile.embedding == "loopback" and self.is_on_loopback)

    @property
    def url(self) -> str:
        """The endpoint as the operator may have named it: `http://127.0.0.1:11434/api/embed`."""
        host = f"[{self.address}]" if ":" in self.address else self.address
        return f"http://{host}:{self.port}{self.path}"


def endpoint_of(resolved: Resolved, profiles: Iterable[Profile]) -> Endpoint | None:
    """Return the endpoint of the settings, if there is one. Raises ConfigError; also where no profile allows it.

    >>> endpoint_of(resolved, [profile])
    Endpoint(address='127.0.0.1', port=11434, path='/api/embed', protocol='ollama', ...)
    """
    settings, source = resolved.settings, resolved.sources["embedding_endpoint"]
    if settings.embedding_endpoint == NO_EMBEDDING:
        return None
    if settings.embedding_model == NO_EMBEDDING:
        raise ConfigError(source, "embedding_endpoint is set, and embedding_model is not", "name the model")
    if settings.projects:
        raise ConfigError(
            source, "an embedding endpoint is for a server of one project", "give one root, or leave it out"
        )
    try:
        address, port, path = _parts(settings.embedding_endpoint)
    except ValueError as wrong:
        raise ConfigError(source, f"embedding_endpoint: {wrong}", _FIX) from None  # not the URL: it may have a password
    protocol = next(of for end, of in _PATHS.items() if path.endswith(end))
    found = Endpoint(address, port, path, protocol, settings.embedding_model, settings.embedding_seconds)
    if not any(found.is_allowed_by(profile) for profile in profiles):
        word = "loopback" if found.is_on_loopback else "anywhere"
        raise ConfigError(
            source,
            "no profile that is served lets text of the project go to this endpoint, and no shipped one does",
            f"serve a profile of your own with SET embedding = '{word}'",
        )
    return found


def _parts(url: str) -> tuple[str, int, str]:
    """Return address, port and path of a URL. Raises ValueError; no name but `localhost` is looked up by anybody."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise ValueError("it is not a URL, or its port is not one") from None
    if parts.scheme != "http":
        raise ValueError("it is not http; a proxy of yours on this machine may speak TLS to another")
    if parts.username is not None or parts.query or parts.fragment or not _PATH.fullmatch(parts.path):
        raise ValueError("it has more than an address, a port and a plain path")
    if not parts.path.endswith(tuple(_PATHS)):
        raise ValueError("its path ends neither with /api/embed, as Ollama's, nor with /embeddings, as OpenAI's")
    host = "127.0.0.1" if parts.hostname == "localhost" else parts.hostname or ""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        raise ValueError("its host is not an IP address; no name is looked up") from None
    if address.is_unspecified or address.is_multicast or getattr(address, "ipv4_mapped", None) or "%" in host:
        raise ValueError("its address is not that of one host")
    if port == 0:
        raise ValueError("nobody listens at port 0")
    return str(address), port or 80, parts.path
