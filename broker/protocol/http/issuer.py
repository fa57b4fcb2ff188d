"""Tokens of an OAuth issuer, instead of those that `fledgling agents add` makes (RFC 7519, RFC 8707, RFC 9728).

A confined broker connects to nobody, so it does not ask the issuer: the operator gives its public keys as a file
(JWKS), and a token is a JWT that one of them has signed, for this server and not yet out of date. Whose it is says its
`sub`, which the file of agents names.
"""

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import jwt
import msgspec
from msgspec import Struct

from fledgling.config import ConfigError

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")  # public keys
MAX_KEYS_BYTES = 2**18  # of the file: a hundred of the longest keys
MAX_KEYS = 32  # an issuer has two or three at a time
MAX_TRIED = 4  # of them, against a token that names none: anybody may send one, and each takes a millisecond at most
LEEWAY_SECONDS = 10  # by which the clocks of issuer and server may differ
METADATA = "/.well-known/oauth-protected-resource"  # RFC 9728, 3.1: the path of the resource comes behind it


class Bearer(NamedTuple):
    """Whose a token is, and until when, in seconds since 1970."""

    subject: str
    until: float


class _Header(Struct):
    alg: str
    kid: str | None = None


class Issuer:
    """Whoever issues tokens for this server.

    >>> issuer = Issuer("https://login.example.org", "https://code.example.org/mcp", path_of_keys)
    >>> issuer.bearer("eyJhbGciOi...")
    Bearer(subject='reviewer', until=1795600000.0)
    """

    def __init__(self, url: str, resource: str, keys: Path) -> None:
        """Open the file of keys, which stays open for later keys. Raises ConfigError."""
        self.url, self.resource = _url("issuer", url), _url("resource", resource)
        self.name = str(keys)
        self._fd = _opened(keys)
        self._seen = os.fstat(self._fd).st_mtime_ns
        self._keys = _keys(self.name, self._data())
        if not self._keys:
            raise ConfigError(self.name, "it has no public key for signatures", "fetch it from the issuer's jwks_uri")

    @property
    def path(self) -> str:
        """Where the metadata of this server is."""
        path = urlsplit(self.resource).path
        return METADATA + ("" if path == "/" else path)

    def has_replacement(self) -> bool:
        """Return whether the file of keys was deleted, or another has its name, which this process cannot read."""
        return os.fstat(self._fd).st_nlink == 0

    def metadata(self) -> dict[str, object]:
        """Return what a client reads to learn who issues tokens for this server."""
        return {
            "resource": self.resource,
            "authorization_servers": [self.url],
            "bearer_methods_supported": ["header"],
        }

    def challenge(self, error: str | None = None) -> str:
        """Return what WWW-Authenticate says to a request without a token, or with one that is not taken."""
        at = urlsplit(self.resource)
        place = f'Bearer resource_metadata="{at.scheme}://{at.netloc}{self.path}"'
        return f'{place}, error="{error}"' if error else place

    def bearer(self, token: str) -> Bearer | None:
        """Return whose a token is; None of one that the issuer has not made for this server, or that is out of date."""
        self._look()
        try:
            header = msgspec.convert(jwt.get_unverified_header(token), _Header)
            if header.alg not in ALGORITHMS:
                return None
            for key in self._fitting(header):
                if claims := self._claims(token, key, header.alg):
                    return Bearer(str(claims["sub"]), float(claims["exp"]) + LEEWAY_SECONDS)
        except (jwt.PyJWTError, msgspec.ValidationError, ValueError, OverflowError):  # no JSON, no text, no time
            pass
        return None

    def _fitting(self, header: _Header) -> list[jwt.PyJWK]:
        """Return the keys that may have signed a token: of its name, or where it has none, those first in the file."""
        return [key for key in self._keys if header.kid is None or header.kid == key.key_id][:MAX_TRIED]

    def _claims(self, token: str, key: jwt.PyJWK, algorithm: str) -> dict[str, Any] | None:
        try:
            return jwt.decode(
                token,
                key.key,
                algorithms=[algorithm],
                audience=self.resource,
                issuer=self.url,
                leeway=LEEWAY_SECONDS,
                options={"require": ["exp", "iss", "aud", "sub"], "strict_aud": False},
            )
        except (jwt.PyJWTError, TypeError, ValueError):  # another key, or of a kind that cannot have signed it
            return None

    def _look(self) -> None:
        """Take over the keys of the file where it has changed, or none; what is half written is looked at again."""
        seen = os.fstat(self._fd).st_mtime_ns
        if seen != self._seen:
            with suppress(ConfigError):
                self._keys = _keys(self.name, self._data())
                self._seen = seen

    def _data(self) -> bytes:
        return os.pread(self._fd, MAX_KEYS_BYTES + 1, 0)


def _keys(name: str, data: bytes) -> tuple[jwt.PyJWK, ...]:
    """Return the public keys of a file. Raises ConfigError."""
    if len(data) > MAX_KEYS_BYTES:
        raise ConfigError(name, f"it is longer than {MAX_KEYS_BYTES} bytes", "give the issuer's keys alone")
    try:
        given = msgspec.json.decode(data, type=dict[str, Any])["keys"]
        usable = [key for key in given if key.get("kty") in ("RSA", "EC", "OKP") and key.get("use", "sig") == "sig"]
        if any("d" in key for key in usable):
            raise ConfigError(name, "it holds a private key", "give what the issuer publishes, and make that key anew")
        found = tuple(jwt.PyJWK(key) for key in usable[: MAX_KEYS + 1])
    except (msgspec.DecodeError, KeyError, TypeError, AttributeError, ValueError, jwt.PyJWTError):
        raise ConfigError(name, "it is not a JSON Web Key Set", "fetch it from the issuer's jwks_uri") from None
    if len(found) > MAX_KEYS:
        raise ConfigError(
            name,
            f"it has more than {MAX_KEYS} public keys for signatures",
            "leave out keys that no longer sign tokens",
        )
    return found


def _opened(path: Path) -> int:
    """Open a file that nobody else may write. Raises ConfigError."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as failed:
        reason = getattr(failed, "strerror", failed)
        raise ConfigError(str(path), f"it cannot be read ({reason})", "fetch it from the issuer's jwks_uri") from None
    status = os.fstat(fd)
    if not stat.S_ISREG(status.st_mode) or status.st_uid not in (0, os.geteuid()) or status.st_mode & 0o022:
        os.close(fd)
        raise ConfigError(str(path), "others may write it", "make yourself its owner, and chmod 644 it")
    return fd


def _url(setting: str, given: str) -> str:
    """Return a URL that a token can name. Raises ConfigError."""
    try:
        at = urlsplit(given)
        schemes = ("https", "http") if at.hostname in ("localhost", "127.0.0.1", "::1") else ("https",)
        is_plain = at.scheme in schemes and at.hostname and not (at.username or at.query or at.fragment)
    except ValueError:
        is_plain = False
    if not is_plain:
        raise ConfigError(
            setting, f"{given!r} is not an https URL", "give it as tokens have it, as https://example.org"
        )
    return given
